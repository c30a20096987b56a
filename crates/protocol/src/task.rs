//! What a task is, and how far it has come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{TaskId, Timestamp, Usage};

/// Where a task stands in its life; kept in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Created,
    Running,
    /// For a person's answer.
    Waiting,
    Paused,
    Completed,
    Aborted,
    Failed,
}

impl TaskState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
        }
    }
}

/// What the agent is doing at this moment; never kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum AgentState {
    #[default]
    Idle,
    Thinking,
    Acting {
        tools: Vec<String>,
    },
    Planning,
    Executing {
        step: u32,
        total: u32,
    },
    Waiting {
        reason: String,
    },
}

/// Why an answer or a call did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum InterruptReason {
    /// The person cancelled.
    Cancelled,
    /// The process ended in the middle; found at resume.
    Crashed,
    /// The connection to the model was lost for good.
    StreamFailed,
}

/// The facts a task is created with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TaskInfo {
    pub id: TaskId,
    /// The topmost task of the tree; the task itself when it has no parent.
    pub root: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// Where it was forked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<TaskId>,
    /// A small number people can say; unique on this machine.
    pub number: u32,
    pub title: String,
    pub mode: String,
    /// The sub-agent that works on it, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `PROVIDER/MODEL`.
    pub model: String,
    /// Absolute path of the workspace's root.
    pub workspace: String,
    pub created_at: Timestamp,
}

/// The sub-task that a request comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TaskOrigin {
    pub task: TaskId,
    pub number: u32,
    /// Its sub-agent, or its mode.
    pub name: String,
}

/// Sums over a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct TaskTotals {
    pub usage: Usage,
    #[ts(type = "number")]
    pub requests: u64,
    #[ts(type = "number")]
    pub messages: u64,
    #[ts(type = "number")]
    pub tool_calls: u64,
    #[ts(type = "number")]
    pub tool_errors: u64,
}
