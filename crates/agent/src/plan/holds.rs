//! The holds of a tree of tasks: what the plan of a task forbids holds for every task below it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stepwell_protocol::{TaskId, TaskInfo};
use stepwell_store::Home;
use stepwell_tool_runtime::PlanHold;
use stepwell_transcript::TaskSummary;

/// Tasks above one another at most; a longer chain is refused everything.
const DEEPEST: usize = 64;

/// The holds of a tree's tasks.
#[derive(Default)]
pub struct PlanHolds(Mutex<HashMap<TaskId, Arc<PlanHold>>>);

impl PlanHolds {
    /// The hold of a task. Tasks above it that are not open are read from their logs.
    pub fn of(&self, home: &Home, info: &TaskInfo) -> Arc<PlanHold> {
        self.at_depth(home, info, 0)
    }

    fn at_depth(&self, home: &Home, info: &TaskInfo, depth: usize) -> Arc<PlanHold> {
        if let Some(known) = self.0.lock().get(&info.id) {
            return Arc::clone(known);
        }
        let parent = info.parent.as_ref().filter(|_| depth < DEEPEST);
        let parent = parent.and_then(|parent| self.above(home, parent, depth));
        let hold = Arc::new(PlanHold::below(parent));
        Arc::clone(self.0.lock().entry(info.id.clone()).or_insert(hold))
    }

    /// The hold of a task by its log; none where the task was deleted.
    fn above(&self, home: &Home, task: &TaskId, depth: usize) -> Option<Arc<PlanHold>> {
        if let Some(known) = self.0.lock().get(task) {
            return Some(Arc::clone(known));
        }
        let summary = TaskSummary::of(&stepwell_store::read_log(home, task).ok()?);
        let hold = self.at_depth(home, summary.info.as_ref()?, depth + 1);
        hold.follow(summary.plan.as_ref());
        Some(hold)
    }
}
