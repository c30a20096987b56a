//! The settings `${config:...}` reads: the workspace's, its folder's, the person's.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stepwell_workspace::files;

use super::error::Result;
use super::jsonc;

/// Layers of settings, the one that holds first.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    layers: Vec<Map<String, Value>>,
}

/// What a setting's name leads to.
#[derive(Debug, PartialEq)]
pub(super) enum Setting {
    Value(Value),
    /// The name of a group of settings.
    Structured,
    Missing,
}

impl Settings {
    /// Reads `.vscode/settings.json` of the folder, then its workspace files, then the person's own files.
    pub fn read(folder: &Path, user_files: &[PathBuf]) -> Result<Self> {
        let mut layers = Vec::new();
        if let Some(Value::Object(fields)) = jsonc::read(&folder.join(".vscode/settings.json"))? {
            layers.push(fields);
        }
        for path in files::list_dir(folder)? {
            if path.extension().is_some_and(|extension| extension == "code-workspace")
                && let Some(value) = jsonc::read(&path)?
                && let Some(Value::Object(fields)) = value.get("settings")
            {
                layers.push(fields.clone());
            }
        }
        for path in user_files {
            if let Some(Value::Object(fields)) = jsonc::read(path)? {
                layers.push(fields);
            }
        }
        Ok(Self { layers })
    }

    /// Adds settings that hold where the others say nothing.
    pub fn push(&mut self, fields: Map<String, Value>) {
        self.layers.push(fields);
    }

    pub(super) fn get(&self, name: &str) -> Setting {
        let mut structured = false;
        for layer in &self.layers {
            match find(layer, name) {
                Some(Value::Null) | None => {}
                Some(Value::Object(_)) => structured = true,
                Some(value) => return Setting::Value(value.clone()),
            }
            let group = format!("{name}.");
            structured |= layer.keys().any(|key| key.starts_with(&group));
        }
        if structured { Setting::Structured } else { Setting::Missing }
    }
}

/// Where editors keep a person's settings below their home.
pub(crate) fn user_settings_files(home: &Path) -> Vec<PathBuf> {
    let base = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    ["Code", "VSCodium", "Code - OSS", "Cursor"]
        .iter()
        .map(|editor| home.join(base).join(editor).join("User/settings.json"))
        .collect()
}

/// A name may be one dotted key, nested objects, or a mixture.
fn find<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(value) = fields.get(name) {
        return Some(value);
    }
    name.match_indices('.').find_map(|(dot, _)| {
        let inner = fields.get(&name[..dot])?.as_object()?;
        find(inner, &name[dot + 1..])
    })
}
