//! Changes of the list of tasks, for every door that shows one.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use stepwell_protocol::TaskId;
use tokio::sync::Notify;

/// Tells followers which tasks changed. A follower has each changed task once however often it changed, so a slow one
/// holds no more than the number of tasks.
#[derive(Default)]
pub struct TaskListFeed {
    followers: Mutex<Vec<Weak<Pending>>>,
}

#[derive(Default)]
struct Pending {
    tasks: Mutex<BTreeSet<TaskId>>,
    ready: Notify,
}

/// One reader of the changes.
pub struct TaskListFollower {
    pending: Arc<Pending>,
}

impl TaskListFeed {
    pub fn changed(&self, task: &TaskId) {
        self.followers.lock().retain(|follower| {
            let Some(pending) = follower.upgrade() else { return false };
            pending.tasks.lock().insert(task.clone());
            pending.ready.notify_one();
            true
        });
    }

    pub fn follow(&self) -> TaskListFollower {
        let pending = Arc::new(Pending::default());
        self.followers.lock().push(Arc::downgrade(&pending));
        TaskListFollower { pending }
    }
}

impl TaskListFollower {
    /// The next task that changed or was deleted.
    pub async fn next(&mut self) -> TaskId {
        loop {
            let ready = self.pending.ready.notified();
            if let Some(task) = self.pending.tasks.lock().pop_first() {
                return task;
            }
            ready.await;
        }
    }
}
