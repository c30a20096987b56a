//! A plan: a goal, its steps, and how far they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{PlanId, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Plan {
    pub id: PlanId,
    pub goal: String,
    pub steps: Vec<PlanStep>,
    pub status: PlanStatus,
    /// Files that were read to make the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explored_files: Vec<String>,
    /// Files that the plan is going to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_files: Vec<CriticalFile>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PlanStep {
    /// Its place in the plan, from 1. That of a completed step never changes.
    pub id: u32,
    pub description: String,
    pub expected_outcome: String,
    pub status: StepStatus,
    /// What was done, or why it failed or was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How the expected outcome was checked: what was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Pending,
    Running,
    #[default]
    Completed,
    Failed,
    Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not approved: nothing in the workspace is changed.
    Draft,
    Approved,
    Executing,
    Completed,
    /// Stopped before its end.
    Failed,
}

/// A file that a plan is going to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CriticalFile {
    pub path: String,
    #[serde(rename = "type")]
    pub change: PlannedChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlannedChange {
    Create,
    Modify,
    Delete,
}

/// A plan with its document, as [`crate::Query::Plan`] tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PlanView {
    pub plan: Plan,
    /// The Markdown document that the person can edit. It is read again before each step.
    pub path: String,
    /// What stands in the document now.
    pub document: String,
    /// Whether the document holds edits that are not part of the plan yet.
    pub edited: bool,
    /// Why those edits cannot be used.
    pub faults: Vec<PlanFault>,
}

/// A fault of a plan document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PlanFault {
    /// From 1.
    pub line: u32,
    pub message: String,
}

impl std::fmt::Display for PlanFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl StepStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The letter in the brackets before a step: `[x]`.
    pub fn mark(self) -> char {
        match self {
            Self::Pending => ' ',
            Self::Running => '>',
            Self::Completed => 'x',
            Self::Failed => '!',
            Self::Skipped => '-',
        }
    }

    /// Whether nothing more is done about the step.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped)
    }
}

impl PlanStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Approved => "approved",
            Self::Executing => "executing",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl PlannedChange {
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Delete => "delete",
        }
    }
}

impl Plan {
    pub fn step(&self, status: StepStatus) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.status == status)
    }

    /// Whether the plan was approved and has not ended.
    pub fn is_under_way(&self) -> bool {
        matches!(self.status, PlanStatus::Approved | PlanStatus::Executing)
    }

    /// Whether nothing may be changed now: the plan is not approved, or none of its steps is being carried out.
    pub fn forbids_changes(&self) -> bool {
        match self.status {
            PlanStatus::Draft => true,
            PlanStatus::Approved | PlanStatus::Executing => self.step(StepStatus::Running).is_none(),
            PlanStatus::Completed | PlanStatus::Failed => false,
        }
    }
}
