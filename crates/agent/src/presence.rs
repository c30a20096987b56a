//! Who is there to answer for a task.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stepwell_protocol::TaskId;

/// Counts the people at each task. A task can be attended before it exists: a door says so before it starts one.
#[derive(Default)]
pub struct Attendance {
    people: Mutex<HashMap<TaskId, usize>>,
}

/// A person at a task, for as long as this is held.
pub struct Presence {
    attendance: Arc<Attendance>,
    task: TaskId,
}

impl Attendance {
    pub fn attend(self: &Arc<Self>, task: &TaskId) -> Presence {
        *self.people.lock().entry(task.clone()).or_default() += 1;
        Presence { attendance: Arc::clone(self), task: task.clone() }
    }

    pub fn is_attended(&self, task: &TaskId) -> bool {
        self.people.lock().contains_key(task)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut people = self.attendance.people.lock();
        if let Some(count) = people.get_mut(&self.task) {
            *count -= 1;
            if *count == 0 {
                people.remove(&self.task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_attended_until_the_last_person_leaves() {
        let attendance = Arc::new(Attendance::default());
        let task = TaskId::new("t");
        let (first, second) = (attendance.attend(&task), attendance.attend(&task));
        drop(first);
        assert!(attendance.is_attended(&task));
        drop(second);
        assert!(!attendance.is_attended(&task));
    }
}
