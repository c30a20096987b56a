//! `.vscode/tasks.json`, and the tasks nobody wrote down: scripts of package.json, builds of tsconfig.json.

use std::path::Path;

use serde_json::{Map, Value, json};
use stepwell_workspace::files;

use crate::launch_config::context::{Context, is_file};
use crate::launch_config::error::{LaunchError, Result};
use crate::launch_config::file::objects;
use crate::launch_config::inputs::InputRequest;
use crate::launch_config::jsonc;
use crate::launch_config::resolve::{TaskRef, text};

/// All tasks of a folder as they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskFile {
    pub tasks: Vec<Map<String, Value>>,
    pub inputs: Vec<InputRequest>,
    /// What is written beside the tasks and holds for each of them, such as `options`.
    pub(super) common: Map<String, Value>,
}

impl TaskFile {
    /// Reads what there is; no file is an empty list.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut all = Self::default();
        let path = folder.join(".vscode/tasks.json");
        if let Some(value) = jsonc::read(&path)? {
            all.add(&value, &path)?;
        }
        for path in files::list_dir(folder)? {
            if path.extension().is_some_and(|extension| extension == "code-workspace")
                && let Some(value) = jsonc::read(&path)?
                && let Some(tasks) = value.get("tasks")
            {
                all.add(tasks, &path)?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, value: &Value, path: &Path) -> Result<()> {
        let shape = |problem: String| LaunchError::Shape { path: path.to_path_buf(), problem };
        let mut fields =
            value.as_object().cloned().ok_or_else(|| shape("its content is no object".to_owned()))?;
        if fields.get("version").and_then(Value::as_str).is_some_and(|version| version.starts_with("0.")) {
            return Err(shape("it is of version 0.1.0, which is no longer supported; 2.0.0 is".to_owned()));
        }
        self.tasks.extend(objects(&fields, "tasks").map_err(shape)?.into_iter().cloned());
        let inputs = objects(&fields, "inputs").map_err(shape)?;
        self.inputs.extend(inputs.into_iter().filter_map(InputRequest::from_json));
        for key in ["tasks", "inputs", "version"] {
            fields.shift_remove(key);
        }
        for (key, value) in fields {
            self.common.entry(key).or_insert(value);
        }
        Ok(())
    }

    /// The names a configuration can use.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.tasks.iter().map(label_of).filter(|label| !label.is_empty()).collect()
    }

    /// The task a configuration means.
    pub(super) fn find(&self, task: &TaskRef, ctx: &Context) -> Result<Map<String, Value>> {
        let found = match task {
            TaskRef::Label(label) => self
                .tasks
                .iter()
                .find(|task| label_of(task) == *label)
                .cloned()
                .or_else(|| detected(label, ctx)),
            TaskRef::DefaultBuild => self.default_build().cloned(),
            TaskRef::Properties(wanted) => {
                let fits = |task: &&Map<String, Value>| {
                    wanted.iter().all(|(key, value)| task.get(key) == Some(value))
                };
                self.tasks.iter().find(fits).cloned().or_else(|| can_be_made(wanted).then(|| wanted.clone()))
            }
        };
        found.ok_or_else(|| LaunchError::UnknownTask {
            label: match task {
                TaskRef::Label(label) => label.clone(),
                TaskRef::DefaultBuild => "${defaultBuildTask}".to_owned(),
                TaskRef::Properties(properties) => Value::Object(properties.clone()).to_string(),
            },
            known: self.labels(),
        })
    }

    /// The task marked as default of the build group; the only one of the group where none is marked.
    fn default_build(&self) -> Option<&Map<String, Value>> {
        let group = |task: &Map<String, Value>| match task.get("group") {
            Some(Value::String(kind)) if kind == "build" => Some(false),
            Some(Value::Object(group)) if text(group, "kind").as_deref() == Some("build") => {
                // The mark may also be a pattern of files; without an editor's file it holds for all.
                Some(!matches!(group.get("isDefault"), None | Some(Value::Null | Value::Bool(false))))
            }
            _ => None,
        };
        let marked = self.tasks.iter().find(|task| group(task) == Some(true));
        marked.or_else(|| {
            let mut build = self.tasks.iter().filter(|task| group(task).is_some());
            build.next().filter(|_| build.next().is_none())
        })
    }
}

/// The name as it is written, or as VS Code makes it.
pub(super) fn label_of(task: &Map<String, Value>) -> String {
    if let Some(label) = text(task, "label").or_else(|| text(task, "taskName")) {
        return label;
    }
    let kind = text(task, "type").unwrap_or_default();
    match kind.as_str() {
        "npm" => {
            let place = text(task, "path")
                .map(|path| format!(" - {}", path.trim_end_matches('/')))
                .unwrap_or_default();
            format!("npm: {}{place}", text(task, "script").unwrap_or_default())
        }
        "typescript" => {
            let option = text(task, "option").unwrap_or_else(|| "build".to_owned());
            format!(
                "tsc: {option} - {}",
                text(task, "tsconfig").unwrap_or_else(|| "tsconfig.json".to_owned())
            )
        }
        "gulp" | "grunt" | "jake" => format!("{kind}: {}", text(task, "task").unwrap_or_default()),
        "cargo" => format!("rust: cargo {}", text(task, "command").unwrap_or_default()),
        _ => text(task, "command").unwrap_or_default(),
    }
}

fn can_be_made(properties: &Map<String, Value>) -> bool {
    match text(properties, "type").as_deref() {
        Some("npm") => properties.contains_key("script"),
        Some("typescript") => properties.contains_key("tsconfig"),
        Some("cargo") => properties.contains_key("command"),
        Some("gulp" | "grunt" | "jake") => properties.contains_key("task"),
        _ => false,
    }
}

/// A task that VS Code finds by itself.
fn detected(label: &str, ctx: &Context) -> Option<Map<String, Value>> {
    let task = if let Some(script) = label.strip_prefix("npm: ") {
        let package = jsonc::read(&ctx.folder.join("package.json")).ok()??;
        package.get("scripts")?.get(script)?;
        json!({"type": "npm", "script": script})
    } else {
        let (option, tsconfig) = label.strip_prefix("tsc: ")?.split_once(" - ")?;
        is_file(&ctx.folder.join(tsconfig)).then_some(())?;
        json!({"type": "typescript", "tsconfig": tsconfig, "option": option})
    };
    task.as_object().cloned()
}
