//! Making a task of a file: what it is, is seen from the file itself.

use std::path::Path;

use stepwell_protocol::TaskId;
use stepwell_store::Home;
use stepwell_workspace::files;

pub fn import(home: &Home, path: &Path, workspace: &Path) -> anyhow::Result<TaskId> {
    let workspace = workspace.display().to_string();
    if path.is_dir() {
        return Ok(stepwell_store::export::import_roo(home, path, &workspace)?);
    }
    let text = files::read_to_string(path)?;
    Ok(stepwell_store::export::import_conversation(home, &text, &workspace)?)
}
