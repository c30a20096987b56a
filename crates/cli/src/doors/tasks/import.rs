//! Making a task of a file: what it is, is seen from the file itself.

use std::path::Path;

use stepwell_protocol::TaskId;
use stepwell_store::{Conversation, Home, RooTask};
use stepwell_workspace::files;

pub fn import(home: &Home, path: &Path, workspace: &Path) -> anyhow::Result<TaskId> {
    let mut task = if path.is_dir() {
        stepwell_store::import_roo(&RooTask::read(path)?)?
    } else {
        Conversation::deserialize(&files::read_to_string(path)?)?.into_task()
    };
    // A task belongs to a folder of this machine; one from elsewhere belongs to where it is imported.
    if !Path::new(&task.workspace).is_dir() {
        task.workspace = workspace.display().to_string();
    }
    Ok(stepwell_store::import_task(home, &TaskId::generate(), task)?.id)
}
