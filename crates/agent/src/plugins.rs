//! Plug-in folders of Claude Code's shape: `.claude-plugin/plugin.json` beside `skills/`, `commands/`, `agents/`.
//!
//! Only folders that the person names in the settings are read.

use std::path::Path;

use serde::Deserialize;
use stepwell_workspace::files;

use crate::library::Plugin;

const LARGEST: u64 = 256 * 1024;

#[derive(Deserialize)]
struct Manifest {
    name: String,
}

impl Plugin {
    /// Reads the manifest of a plug-in folder. A folder without one is known by its own name.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let shown = folder.display();
        if !folder.is_dir() {
            return Err(format!("the plug-in `{shown}` is no folder"));
        }
        let path = folder.join(".claude-plugin/plugin.json");
        let name = if path.is_file() {
            let bytes = files::read_beginning(&path, LARGEST).map_err(|error| error.to_string())?;
            let manifest: Manifest =
                serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            manifest.name
        } else {
            folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        let is_name = !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        if !is_name {
            return Err(format!("the plug-in `{shown}` has no usable name (letters, digits and hyphens)"));
        }
        Ok(Self { name, folder: folder.to_path_buf() })
    }
}
