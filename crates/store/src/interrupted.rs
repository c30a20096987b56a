//! Tasks whose process ended in the middle of its work.
//!
//! Nobody was left to write that down, so the log of such a task goes on saying that it runs. Whether that is true
//! is seen from the task's lock, which ends with the process that holds it.

use stepwell_protocol::{TaskId, TaskState};
use stepwell_workspace::files;

use crate::Home;
use crate::log::take_lock;

/// The name of the state that is shown; it never stands in a log.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Whether the log says that the task is at work although no process has it open. Costs nothing for a task that
/// does not claim to be at work.
pub fn is_interrupted(home: &Home, id: &TaskId, state: TaskState) -> bool {
    if !matches!(state, TaskState::Running | TaskState::Waiting) {
        return false;
    }
    // Asking for a lock makes its file; where there never was one, nobody holds it.
    match home.lock_path(id).map(|path| files::stamp(&path)) {
        Ok(Ok(Some(_))) => take_lock(home, id).is_ok(),
        Ok(Ok(None)) => true,
        // A folder that cannot be looked into says nothing, and then the log is believed.
        _ => false,
    }
}

/// The state to show for a task, by its name.
pub fn shown_state(home: &Home, id: &TaskId, state: TaskState) -> &'static str {
    if is_interrupted(home, id, state) { INTERRUPTED } else { state.name() }
}
