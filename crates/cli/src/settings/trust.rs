//! Which folders' own settings may take effect in full. Kept by the person, outside every project.

use std::path::Path;

use stepwell_workspace::files::{self, Privacy};

use super::Places;

pub fn is_trusted(places: &Places, workspace: &Path) -> anyhow::Result<bool> {
    let list = files::read_if_exists(&places.trusted_folders())?.unwrap_or_default();
    let workspace = workspace.to_string_lossy();
    Ok(list.lines().any(|line| line == workspace))
}

pub fn set_trusted(places: &Places, workspace: &Path, trusted: bool) -> anyhow::Result<()> {
    let list = files::read_if_exists(&places.trusted_folders())?.unwrap_or_default();
    let workspace = workspace.to_string_lossy();
    let mut lines: Vec<&str> = list.lines().filter(|line| *line != workspace && !line.is_empty()).collect();
    if trusted {
        lines.push(&workspace);
    }
    files::create_private_dir(&places.config)?;
    let mut text = lines.join("\n");
    text.push('\n');
    files::write_atomic(&places.trusted_folders(), text.as_bytes(), Privacy::Private)?;
    Ok(())
}
