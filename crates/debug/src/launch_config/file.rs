//! Where configurations are written: `.vscode/launch.json`, and the `launch` key of settings and workspace files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stepwell_workspace::files;

use super::context::{Context, WorkspaceFolder};
use super::error::{LaunchError, Result};
use super::inputs::InputRequest;
use super::resolve::{Launch, resolve_compound, resolve_configuration};
use super::{jsonc, resolve};

/// All configurations of a folder, in the order of their files.
#[derive(Clone, Debug, Default)]
pub struct LaunchFile {
    pub configurations: Vec<Configuration>,
    pub compounds: Vec<Compound>,
    pub inputs: Vec<InputRequest>,
    /// The folders a workspace file names; empty without one.
    pub folders: Vec<WorkspaceFolder>,
    /// Whether any file has a place for configurations.
    pub exists: bool,
}

/// A configuration as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    pub name: String,
    /// Every field, `name` included, in the order of the file.
    pub fields: Map<String, Value>,
    pub source: PathBuf,
}

/// Configurations that start together.
#[derive(Clone, Debug, PartialEq)]
pub struct Compound {
    pub name: String,
    pub configurations: Vec<String>,
    /// Whether the end of one session ends the others.
    pub stop_all: bool,
    pub fields: Map<String, Value>,
    pub source: PathBuf,
}

impl LaunchFile {
    /// Reads what there is; no file is an empty list.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut all = Self::default();
        let launch = folder.join(".vscode/launch.json");
        if let Some(value) = jsonc::read(&launch)? {
            all.add(&value, &launch)?;
        }
        let settings = folder.join(".vscode/settings.json");
        if let Some(value) = jsonc::read(&settings)?
            && let Some(launch) = value.get("launch")
        {
            all.add(launch, &settings)?;
        }
        for path in files::list_dir(folder)? {
            if path.extension().is_some_and(|extension| extension == "code-workspace")
                && let Some(value) = jsonc::read(&path)?
            {
                all.folders.extend(workspace_folders(&value, folder));
                if let Some(launch) = value.get("launch") {
                    all.add(launch, &path)?;
                }
            }
        }
        Ok(all)
    }

    /// Adds the content of one file.
    fn add(&mut self, launch: &Value, source: &Path) -> Result<()> {
        self.exists = true;
        let shape = |problem: String| LaunchError::Shape { path: source.to_path_buf(), problem };
        let fields = launch.as_object().ok_or_else(|| shape("its content is no object".to_owned()))?;
        for fields in objects(fields, "configurations").map_err(shape)? {
            let name = resolve::text(fields, "name").unwrap_or_default();
            self.configurations.push(Configuration {
                name,
                fields: fields.clone(),
                source: source.to_path_buf(),
            });
        }
        for fields in objects(fields, "compounds").map_err(shape)? {
            self.compounds.push(Compound {
                name: resolve::text(fields, "name").unwrap_or_default(),
                configurations: compound_parts(fields),
                stop_all: fields.get("stopAll").and_then(Value::as_bool).unwrap_or(false),
                fields: fields.clone(),
                source: source.to_path_buf(),
            });
        }
        let inputs = objects(fields, "inputs").map_err(shape)?;
        self.inputs.extend(inputs.into_iter().filter_map(InputRequest::from_json));
        Ok(())
    }

    /// Names of everything that can be started, as an editor would sort them: by group and order, hidden ones left out.
    pub fn names(&self) -> Vec<&str> {
        let all = self.configurations.iter().map(|found| (&found.name, &found.fields));
        let all = all.chain(self.compounds.iter().map(|found| (&found.name, &found.fields)));
        let mut shown: Vec<_> = all
            .map(|(name, fields)| (name.as_str(), resolve::presentation(fields)))
            .filter(|(_, presentation)| !presentation.hidden)
            .collect();
        // The sort is stable: what has no group or order stays where it was written, behind what has one.
        shown.sort_by(|(_, one), (_, other)| {
            let group = |group: &Option<String>| (group.is_none(), group.clone());
            let order = |order: Option<f64>| order.unwrap_or(f64::INFINITY);
            group(&one.group).cmp(&group(&other.group)).then(order(one.order).total_cmp(&order(other.order)))
        });
        shown.into_iter().map(|(name, _)| name).collect()
    }

    /// The configuration or compound of that name with all its variables resolved.
    pub fn resolve(&self, name: &str, ctx: &Context) -> Result<Launch> {
        if let Some(configuration) = self.configuration(name) {
            let session = resolve_configuration(&configuration.fields, &self.inputs, ctx)?;
            return Ok(Launch::single(session));
        }
        match self.compounds.iter().find(|compound| compound.name == name) {
            Some(compound) => resolve_compound(compound, self, ctx),
            None => Err(self.unknown(name)),
        }
    }

    pub fn configuration(&self, name: &str) -> Option<&Configuration> {
        self.configurations.iter().find(|configuration| configuration.name == name)
    }

    pub(super) fn unknown(&self, name: &str) -> LaunchError {
        let configurations = self.configurations.iter().map(|found| found.name.clone());
        let compounds = self.compounds.iter().map(|found| found.name.clone());
        LaunchError::UnknownConfiguration {
            name: name.to_owned(),
            known: configurations.chain(compounds).filter(|name| !name.is_empty()).collect(),
        }
    }
}

/// The objects of a list; a missing list is an empty one.
pub(super) fn objects<'a>(
    fields: &'a Map<String, Value>,
    key: &str,
) -> std::result::Result<Vec<&'a Map<String, Value>>, String> {
    let list = match fields.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(format!("`{key}` is no list")),
    };
    let each = list.iter().enumerate();
    each.map(|(index, entry)| entry.as_object().ok_or_else(|| format!("`{key}[{index}]` is no object")))
        .collect()
}

/// A part is a name, or an object with a name and the folder it is from.
fn compound_parts(fields: &Map<String, Value>) -> Vec<String> {
    let parts = fields.get("configurations").and_then(Value::as_array);
    let name = |part: &Value| part.as_str().or_else(|| part.get("name")?.as_str()).map(ToOwned::to_owned);
    parts.into_iter().flatten().filter_map(name).collect()
}

fn workspace_folders(value: &Value, folder: &Path) -> Vec<WorkspaceFolder> {
    let folders = value.get("folders").and_then(Value::as_array);
    let read = |entry: &Value| {
        let path = files::resolved(&folder.join(entry.get("path")?.as_str()?));
        let named = entry.get("name").and_then(Value::as_str);
        Some(match named {
            Some(name) => WorkspaceFolder { name: name.to_owned(), path },
            None => WorkspaceFolder::at(&path),
        })
    };
    folders.into_iter().flatten().filter_map(read).collect()
}
