//! From what is written to what starts: platform keys, variables, environment files, compounds.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::context::Context;
use super::env_file;
use super::error::{LaunchError, Result};
use super::file::{Compound, LaunchFile};
use super::inputs::InputRequest;
use super::secrets::Secrets;
use super::variables::Substitution;

/// A configuration ready to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    pub name: String,
    /// The `type` as it is written; its adapters are [`AdapterKind::from_type`](crate::adapters::AdapterKind::from_type).
    pub kind: String,
    pub request: Request,
    /// Everything that is the adapter's, with all variables resolved.
    pub arguments: Map<String, Value>,
    pub pre_launch_task: Option<TaskRef>,
    pub post_debug_task: Option<TaskRef>,
    pub server_ready: Option<ServerReady>,
    /// The port on which an adapter is already listening.
    pub debug_server: Option<u16>,
    pub presentation: Presentation,
    /// The workspace folder it belongs to.
    pub folder: PathBuf,
    /// The files of `envFile`; their variables are in `arguments.env` already.
    pub env_files: Vec<PathBuf>,
    /// Arguments that were added for a debugger: tests must not time out while they are stopped. A recorder leaves them out.
    pub only_for_debuggers: Vec<String>,
    /// The values of placeholders for variables of these files.
    pub secrets: Secrets,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Request {
    #[default]
    Launch,
    Attach,
}

impl Request {
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Attach => "attach",
        }
    }
}

/// How a configuration names a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskRef {
    Label(String),
    /// `${defaultBuildTask}`.
    DefaultBuild,
    /// A task by its properties, such as `{"type": "npm", "script": "build"}`.
    Properties(Map<String, Value>),
}

/// What to do when the program says where it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerReady {
    pub pattern: String,
    /// Where none is written, the address itself or that of a port of this machine.
    pub uri_format: Option<String>,
    pub action: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    pub hidden: bool,
    pub group: Option<String>,
    pub order: Option<f64>,
}

/// What a name starts: one session, or those of a compound side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub name: String,
    pub sessions: Vec<Resolved>,
    /// Whether the end of one session ends the others.
    pub stop_all: bool,
    /// A compound's own task, which runs before those of its configurations.
    pub pre_launch_task: Option<TaskRef>,
}

impl Launch {
    pub(super) fn single(session: Resolved) -> Self {
        Self { name: session.name.clone(), sessions: vec![session], stop_all: false, pre_launch_task: None }
    }
}

/// Resolves a configuration, from a file or given directly.
pub fn resolve_configuration(
    written: &Map<String, Value>,
    inputs: &[InputRequest],
    ctx: &Context,
) -> Result<Resolved> {
    let name = text(written, "name").unwrap_or_default();
    let bad = |problem: String| LaunchError::BadConfiguration { name: name.clone(), problem };
    let overlaid = with_platform(written, ctx).map_err(bad)?;
    let mut substitution = Substitution::new(ctx, inputs);
    let mut fields = substitution.map(&overlaid)?;
    substitution.finish()?;

    let mut take = |key: &str| fields.shift_remove(key).filter(|value| !value.is_null());
    take("name");
    let kind = match take("type") {
        Some(Value::String(kind)) if !kind.is_empty() => kind,
        _ => return Err(bad("has no `type`".to_owned())),
    };
    let request = match take("request").as_ref().and_then(Value::as_str) {
        Some("launch") => Request::Launch,
        Some("attach") => Request::Attach,
        _ => return Err(bad("needs a `request` that is `launch` or `attach`".to_owned())),
    };
    let pre_launch_task = task_ref(take("preLaunchTask"));
    let post_debug_task = task_ref(take("postDebugTask"));
    let server_ready = match take("serverReadyAction") {
        Some(value) => Some(
            server_ready(&value)
                .ok_or_else(|| bad("has a `serverReadyAction` that is no object".to_owned()))?,
        ),
        None => None,
    };
    let debug_server = match take("debugServer") {
        Some(value) => Some(
            port(&value).ok_or_else(|| bad(format!("has the `debugServer` `{value}`, which is no port")))?,
        ),
        None => None,
    };
    for editors_own in
        ["presentation", "internalConsoleOptions", "debugViewLocation", "suppressMultipleSessionWarning"]
    {
        take(editors_own);
    }
    let (env_files, secrets) = env_file::merge(&name, &kind, &mut fields, ctx)?;
    Ok(Resolved {
        presentation: presentation(&overlaid),
        name: name.clone(),
        kind,
        request,
        arguments: fields,
        pre_launch_task,
        post_debug_task,
        server_ready,
        debug_server,
        folder: ctx.folder.clone(),
        env_files,
        only_for_debuggers: Vec::new(),
        secrets,
    })
}

impl Resolved {
    /// The process that it attaches to.
    pub fn process(&self) -> Option<u32> {
        let pid = ["processId", "pid"].iter().find_map(|key| self.arguments.get(*key))?;
        let pid = pid.as_u64().or_else(|| pid.as_str()?.parse().ok())?;
        u32::try_from(pid).ok()
    }
}

pub(super) fn resolve_compound(compound: &Compound, file: &LaunchFile, ctx: &Context) -> Result<Launch> {
    if compound.configurations.is_empty() {
        return Err(LaunchError::BadConfiguration {
            name: compound.name.clone(),
            problem: "is a compound without `configurations`".to_owned(),
        });
    }
    let mut sessions = Vec::new();
    let mut missing: Vec<InputRequest> = Vec::new();
    for part in &compound.configurations {
        let configuration = file.configuration(part).ok_or_else(|| file.unknown(part))?;
        match resolve_configuration(&configuration.fields, &file.inputs, ctx) {
            Ok(session) => sessions.push(session),
            // Those of the other parts are asked for together with these.
            Err(LaunchError::MissingInputs { inputs }) => {
                missing
                    .extend(inputs.into_iter().filter(|input| !missing.contains(input)).collect::<Vec<_>>());
            }
            Err(error) => return Err(error),
        }
    }
    if !missing.is_empty() {
        return Err(LaunchError::MissingInputs { inputs: missing });
    }
    Ok(Launch {
        name: compound.name.clone(),
        sessions,
        stop_all: compound.stop_all,
        pre_launch_task: task_ref(compound.fields.get("preLaunchTask").cloned()),
    })
}

/// Lays the platform's keys over the others and takes the platforms out.
pub(super) fn with_platform(
    written: &Map<String, Value>,
    ctx: &Context,
) -> std::result::Result<Map<String, Value>, String> {
    let mut fields = written.clone();
    for key in ["windows", "osx", "linux"] {
        match fields.shift_remove(key) {
            Some(Value::Object(overlay)) if key == ctx.platform.key() => fields.extend(overlay),
            None | Some(Value::Object(_) | Value::Null) => {}
            Some(_) => return Err(format!("has a `{key}` that is no object")),
        }
    }
    Ok(fields)
}

pub(super) fn task_ref(value: Option<Value>) -> Option<TaskRef> {
    match value {
        Some(Value::String(label)) if label == "${defaultBuildTask}" => Some(TaskRef::DefaultBuild),
        Some(Value::String(label)) if !label.is_empty() => Some(TaskRef::Label(label)),
        Some(Value::Object(properties)) => Some(TaskRef::Properties(properties)),
        _ => None,
    }
}

fn server_ready(value: &Value) -> Option<ServerReady> {
    let fields = value.as_object()?;
    Some(ServerReady {
        // What VS Code takes where nothing is written.
        pattern: text(fields, "pattern")
            .unwrap_or_else(|| "listening on.* (https?://\\S+|[0-9]+)".to_owned()),
        uri_format: text(fields, "uriFormat").filter(|format| !format.is_empty()),
        action: text(fields, "action").unwrap_or_else(|| "openExternally".to_owned()),
    })
}

/// A port, written as a number or as its digits.
pub(crate) fn port(value: &Value) -> Option<u16> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

pub(super) fn presentation(fields: &Map<String, Value>) -> Presentation {
    let of = |key: &str| fields.get("presentation").and_then(|presentation| presentation.get(key));
    Presentation {
        hidden: of("hidden").and_then(Value::as_bool).unwrap_or(false),
        group: of("group").and_then(Value::as_str).map(ToOwned::to_owned),
        order: of("order").and_then(Value::as_f64),
    }
}

pub(crate) fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned)
}
