//! Plans, as far as calls are concerned: what a plan that is not approved forbids, and what tools ask of the task's plan.
//!
//! A [`PlanHold`] belongs to a task and follows its log. The [`ToolGate`](crate::ToolGate) asks it about every call, so
//! that nothing is changed before the plan is approved, nor between two of its steps. A sub-task is held by the plans of
//! all tasks above it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;
use stepwell_protocol::{CriticalFile, Plan, PlanId, PlanStatus, StepStatus, ToolCallId};

use crate::registry::RegisteredTool;
use crate::{CallFacts, EditScope, ModeLimits, ToolGroup, WorkspaceAccess};

/// How far a task is with planning. Tools can ask to be offered in some phases only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanPhase {
    /// There is no plan, or it has ended.
    #[default]
    None,
    /// The plan is being made.
    Draft,
    /// The steps of the plan are being carried out.
    Executing,
}

impl PlanPhase {
    pub fn of(plan: Option<&Plan>) -> Self {
        match plan.map(|plan| plan.status) {
            Some(PlanStatus::Draft) => Self::Draft,
            Some(PlanStatus::Approved | PlanStatus::Executing) => Self::Executing,
            Some(PlanStatus::Completed | PlanStatus::Failed) | None => Self::None,
        }
    }
}

/// Keeps a task from changing anything while its plan does not allow it.
#[derive(Debug, Default)]
pub struct PlanHold {
    /// That of the task this one works for.
    parent: Option<Arc<PlanHold>>,
    state: RwLock<HoldState>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HoldState {
    phase: PlanPhase,
    forbids_changes: bool,
}

/// Why nothing may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Unapproved,
    BetweenSteps,
}

impl Held {
    fn reason(self) -> &'static str {
        match self {
            Self::Unapproved => "nothing is changed before the plan is approved",
            Self::BetweenSteps => "no step of the plan is under way, and nothing is changed between steps",
        }
    }
}

/// What a plan that is not approved leaves: reading, and programs that cannot write in the workspace.
static LIMITS: LazyLock<ModeLimits> = LazyLock::new(|| {
    let groups = [ToolGroup::Read, ToolGroup::Command, ToolGroup::Debug, ToolGroup::Browser, ToolGroup::Mcp];
    ModeLimits::new("plan", groups, EditScope::Nothing).with_reading_mcp()
});

impl PlanHold {
    /// The hold of a task that works for another one.
    pub fn below(parent: Option<Arc<Self>>) -> Self {
        Self { parent, state: RwLock::default() }
    }

    /// Follows the plan as the log has it.
    pub fn follow(&self, plan: Option<&Plan>) {
        let forbids_changes = plan.is_some_and(Plan::forbids_changes);
        *self.state.write() = HoldState { phase: PlanPhase::of(plan), forbids_changes };
    }

    pub fn phase(&self) -> PlanPhase {
        self.state.read().phase
    }

    /// Whether nothing may be changed, by the task's own plan or by one above it.
    pub fn is_held(&self) -> bool {
        self.held().is_some()
    }

    /// Why a tool may not be called at all.
    pub fn refuses(&self, tool: &RegisteredTool) -> Option<String> {
        let held = self.held()?;
        LIMITS.refuses(tool).map(|reason| format!("{}: {reason}", held.reason()))
    }

    /// Why a planned call may not run.
    pub fn refuses_call(&self, facts: &CallFacts, root: &Path) -> Option<String> {
        let held = self.held()?;
        LIMITS.refuses_call(facts, root).map(|reason| format!("{}: {reason}", held.reason()))
    }

    /// Whether programs may write in the workspace.
    pub fn access(&self) -> WorkspaceAccess {
        if self.is_held() { WorkspaceAccess::ReadOnly } else { WorkspaceAccess::Full }
    }

    /// Whether a model is offered a tool now.
    pub(crate) fn offers(&self, tool: &RegisteredTool) -> bool {
        let in_phase = tool.tool().plan_phases().is_none_or(|phases| phases.contains(&self.phase()));
        // Between two steps the tools stay as they are: the next request already belongs to the next step.
        let hides = self.held() == Some(Held::Unapproved) && LIMITS.refuses(tool).is_some();
        in_phase && !hides
    }

    /// What is offered changes when this does.
    pub(crate) fn offered_state(&self) -> (PlanPhase, bool) {
        (self.phase(), self.held() == Some(Held::Unapproved))
    }

    fn held(&self) -> Option<Held> {
        let state = *self.state.read();
        match (state.forbids_changes, state.phase) {
            // A sub-task is part of the step that started it; where it outlives that step, it changes nothing.
            (false, _) => self.parent.as_ref().and_then(|parent| parent.held()),
            (true, PlanPhase::Draft) => Some(Held::Unapproved),
            (true, _) => Some(Held::BetweenSteps),
        }
    }
}

/// What a tool wants of the plan of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanRequest {
    /// Begins a plan, or goes back to planning.
    Enter { title: String, description: Option<String> },
    /// Changes the document of a plan that is not approved.
    Update(PlanUpdate),
    /// Asks the person to approve the plan, or leaves it as a draft.
    Exit { call_id: ToolCallId, plan_id: Option<PlanId>, approve: bool, summary: Option<String> },
    /// Ends the step that is under way.
    EndStep { status: StepStatus, result: String, evidence: Option<String> },
}

/// A change of a plan document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanUpdate {
    pub plan_id: Option<PlanId>,
    pub content: Option<String>,
    pub part: UpdatedPart,
    pub explored_files: Vec<String>,
    pub critical_files: Vec<CriticalFile>,
}

/// Which part of the document an update writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdatedPart {
    /// All of it.
    Whole,
    /// After its end.
    End,
    /// The section of this heading, which is added where there is none.
    Section(String),
}

/// What came of a [`PlanRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanReply {
    pub plan: Plan,
    /// Where the document lies.
    pub document: PathBuf,
    /// What the model is told.
    pub text: String,
}
