//! What a task shares with its sub-tasks.

use std::sync::Arc;
use stepwell_protocol::Usage;
use stepwell_tool_runtime::{LoopGuard, LoopLimits};

use crate::budget::Ledger;
use crate::plan::PlanHolds;
use crate::workspace::AgentWorkspace;

/// A tree of tasks spends from one budget and is watched by one guard.
pub struct Tree {
    pub ledger: Ledger,
    pub loop_guard: Arc<LoopGuard>,
    pub plans: PlanHolds,
}

impl Tree {
    /// A tree that has used this much already.
    pub fn new(workspace: Option<&AgentWorkspace>, used: Usage) -> Self {
        let settings = workspace.map(|workspace| &workspace.settings);
        let budget = settings.map(|settings| settings.budget).unwrap_or_default();
        let limits = settings.map_or(LoopLimits::STANDARD, |settings| settings.loop_limits);
        Self {
            ledger: Ledger::new(budget, used),
            loop_guard: Arc::new(LoopGuard::new(limits)),
            plans: PlanHolds::default(),
        }
    }
}
