//! What is remembered of a plan while its task is open. Nothing here outlives the process: the log has the plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use stepwell_protocol::{ApprovalId, QuestionId};
use stepwell_tool_runtime::PlanHold;

/// Who approves a plan when its maker asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanApproval {
    /// The person. Without one the run ends and the plan waits.
    #[default]
    Ask,
    /// Nobody: the run ends with the plan.
    Keep,
    /// The policy, at once.
    Approve,
}

/// Why a run ends with a plan that is not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanEnd {
    /// Somebody must approve it.
    Waits,
    /// The plan is what was wanted.
    Kept,
}

/// The plan of an open task.
#[derive(Default)]
pub struct PlanState {
    pub hold: Arc<PlanHold>,
    /// Held while the plan is read, changed and recorded.
    pub changing: tokio::sync::Mutex<()>,
    approval: Mutex<PlanApproval>,
    /// The open request to approve the plan.
    pub request: Mutex<Option<ApprovalId>>,
    /// The open question about a failed step.
    pub question: Mutex<Option<QuestionId>>,
    end: Mutex<Option<PlanEnd>>,
    /// A document with faults that the person was told of.
    told: Mutex<Option<String>>,
    reminders: AtomicU32,
}

impl PlanState {
    pub fn new(hold: Arc<PlanHold>) -> Self {
        Self { hold, ..Self::default() }
    }

    pub fn use_approval(&self, approval: PlanApproval) {
        *self.approval.lock() = approval;
    }

    pub fn approval(&self) -> PlanApproval {
        *self.approval.lock()
    }

    pub fn end_run(&self, end: PlanEnd) {
        *self.end.lock() = Some(end);
    }

    pub fn take_end(&self) -> Option<PlanEnd> {
        self.end.lock().take()
    }

    /// Whether the person has not been told of the faults of this document yet.
    pub fn is_new_fault(&self, text: &str) -> bool {
        let mut told = self.told.lock();
        let is_new = told.as_deref() != Some(text);
        *told = Some(text.to_owned());
        is_new
    }

    /// Counts how often the model was reminded of what it owes.
    pub fn remind(&self) -> u32 {
        self.reminders.fetch_add(1, Ordering::Relaxed)
    }

    pub fn forget_reminders(&self) {
        self.reminders.store(0, Ordering::Relaxed);
    }
}
