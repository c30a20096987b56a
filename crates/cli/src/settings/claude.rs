//! Hooks that a project keeps in the settings of Claude Code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use stepwell_tool_runtime::Hooks;
use stepwell_tools::ports::HookProcesses;
use stepwell_workspace::files;

use super::{SettingsLayer, Source};

const LONGEST: u64 = 1024 * 1024;

/// What the files of a project say about hooks.
#[derive(Debug, Default)]
pub(super) struct ProjectHooks {
    pub layers: Vec<(Source, SettingsLayer)>,
    /// Files whose hooks are not run because the folder is not trusted.
    pub withheld: Vec<String>,
    pub problems: Vec<String>,
}

/// The settings files of Claude Code in a project that have hooks.
pub fn hook_files(project: &Path) -> Vec<PathBuf> {
    let files = ["settings.json", "settings.local.json"].map(|name| project.join(".claude").join(name));
    files.into_iter().filter(|path| !matches!(hooks_of(path), Ok(None))).collect()
}

/// The hooks of a file; `None` where there are none.
fn hooks_of(path: &Path) -> Result<Option<Value>, String> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = files::read_beginning(path, LONGEST).map_err(|error| error.to_string())?;
    let mut settings: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let hooks = settings.get_mut("hooks").map(Value::take);
    Ok(hooks.filter(|hooks| hooks.as_object().is_some_and(|hooks| !hooks.is_empty())))
}

/// Reads the hooks of a project. They are programs, so without trust they are only named.
pub(super) fn project_hooks(project: &Path, trusted: bool) -> ProjectHooks {
    let mut found = ProjectHooks::default();
    for path in hook_files(project) {
        let name = path.strip_prefix(project).unwrap_or(&path).display().to_string();
        let read = hooks_of(&path).and_then(|hooks| {
            let hooks = hooks.unwrap_or_default();
            let tried = Hooks::from_json(&hooks, Arc::new(HookProcesses));
            tried.map(|_| hooks).map_err(|error| error.to_string())
        });
        match read {
            Err(problem) => found.problems.push(format!("{name} cannot be used: {problem}")),
            Ok(hooks) if trusted => {
                let layer = SettingsLayer { hooks: Some(hooks), ..SettingsLayer::default() };
                found.layers.push((Source::File(path), layer));
            }
            Ok(_) => found.withheld.push(format!("hooks of {name}")),
        }
    }
    found
}
