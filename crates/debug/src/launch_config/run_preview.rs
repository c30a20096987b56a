//! What a configuration would run, for the person who is asked about it.
//!
//! A repository's launch.json can start anything: not the program alone but the debugger, an interpreter, a task, a
//! command of the debugger's console. Each of these is a row; a key that looks as if it named a program is one too, even
//! if nobody here knows it.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::resolve::{Request, Resolved, TaskRef};
use super::shell_words;

/// One thing a configuration makes happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedRun {
    pub role: RunRole,
    /// The key it is written under.
    pub key: String,
    pub text: String,
    /// The command line that runs, as a shell would read it. `None` for what is no command.
    pub command: Option<PlannedCommand>,
    /// Why it deserves a second look.
    pub warning: Option<String>,
}

/// A command line and the folder it runs in. Rules judge the line alone; the folder is shown beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedCommand {
    pub line: String,
    pub folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunRole {
    /// The `type`, which decides on the adapter.
    Adapter,
    Program,
    Arguments,
    Folder,
    Environment,
    EnvironmentFile,
    /// A running process that is taken over.
    Process,
    /// A place to connect to.
    Address,
    /// An interpreter, debugger or other helper the configuration brings along.
    Helper,
    /// Lines a debugger runs; they can start programs.
    DebuggerCommands,
    Task,
    /// What is done when the program says it is ready.
    WhenReady,
}

/// Keys that name what is run, and what each is.
const KEYS: &[(&str, RunRole)] = &[
    ("program", RunRole::Program),
    ("module", RunRole::Program),
    ("code", RunRole::Program),
    ("command", RunRole::Program),
    ("script", RunRole::Program),
    ("mainClass", RunRole::Program),
    ("url", RunRole::Address),
    ("file", RunRole::Program),
    ("args", RunRole::Arguments),
    ("runtimeArgs", RunRole::Arguments),
    ("pythonArgs", RunRole::Arguments),
    ("vmArgs", RunRole::Arguments),
    ("buildFlags", RunRole::Arguments),
    ("dlvFlags", RunRole::Arguments),
    ("miDebuggerArgs", RunRole::Arguments),
    ("debugServerArgs", RunRole::Arguments),
    ("cargo", RunRole::Helper),
    ("classPaths", RunRole::Arguments),
    ("modulePaths", RunRole::Arguments),
    ("cwd", RunRole::Folder),
    ("dlvCwd", RunRole::Folder),
    ("processId", RunRole::Process),
    ("pid", RunRole::Process),
    ("coreDumpPath", RunRole::Process),
    ("coreFile", RunRole::Process),
    ("coreFilePath", RunRole::Process),
    ("connect", RunRole::Address),
    ("listen", RunRole::Address),
    ("host", RunRole::Address),
    ("hostName", RunRole::Address),
    ("address", RunRole::Address),
    ("port", RunRole::Address),
    ("target", RunRole::Address),
    ("miDebuggerServerAddress", RunRole::Address),
    ("gdb-remote-hostname", RunRole::Address),
    ("gdb-remote-port", RunRole::Address),
    ("debugPort", RunRole::Address),
    ("miDebuggerPath", RunRole::Helper),
    ("debuggerPath", RunRole::Helper),
    ("debugServerPath", RunRole::Helper),
    ("debugAdapterPath", RunRole::Helper),
    ("debugLauncherPath", RunRole::Helper),
    ("dlvToolPath", RunRole::Helper),
    ("runtimeExecutable", RunRole::Helper),
    ("runtimeVersion", RunRole::Helper),
    ("python", RunRole::Helper),
    ("pythonPath", RunRole::Helper),
    ("debugAdapterPython", RunRole::Helper),
    ("debugLauncherPython", RunRole::Helper),
    ("javaExec", RunRole::Helper),
    ("gdbpath", RunRole::Helper),
    ("gdb", RunRole::Helper),
    ("pipeTransport", RunRole::Helper),
    ("ssh", RunRole::Helper),
    ("useBundler", RunRole::Helper),
    ("sudo", RunRole::Helper),
    ("asRoot", RunRole::Helper),
    ("setupCommands", RunRole::DebuggerCommands),
    ("autorun", RunRole::DebuggerCommands),
    ("visualizerFile", RunRole::DebuggerCommands),
    ("sshfs", RunRole::Helper),
];

/// Endings of keys that name programs or commands somewhere.
const TELLING_ENDS: &[&str] = &[
    "path",
    "executable",
    "command",
    "commands",
    "program",
    "script",
    "python",
    "exec",
    "args",
    "flags",
    "transport",
];

/// Variables that decide which code a program loads or runs.
const CODE_LOADING: &[&str] = &[
    "BASH_ENV",
    "CLASSPATH",
    "ENV",
    "GIT_SSH_COMMAND",
    "GOFLAGS",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WRAPPER",
    "SHELL",
];

/// Everything the configuration would run or touch, the adapter first.
pub fn runs(resolved: &Resolved) -> Vec<PlannedRun> {
    let mut rows = Vec::new();
    let verb = resolved.request.name();
    push(&mut rows, RunRole::Adapter, "type", format!("{} ({verb})", resolved.kind), None);
    if let Some(port) = resolved.debug_server {
        let warning = Some("whatever listens there is taken for the debugger".to_owned());
        push(&mut rows, RunRole::Address, "debugServer", format!("port {port}"), warning);
    }
    for (key, value) in resolved.arguments.iter().filter(|(_, value)| !is_empty(value)) {
        match key.as_str() {
            "env" | "environment" => environment(&mut rows, key, value),
            _ => {
                if let Some(role) = role_of(key) {
                    push(&mut rows, role, key, shown(value), warning_for(role, key, value, resolved));
                    if let Some(row) = rows.last_mut() {
                        row.command = program_line(key, role, value)
                            .map(|line| PlannedCommand { folder: folder_of(&line, resolved), line })
                            .map(|command| with_arguments(command, key, resolved));
                    }
                }
            }
        }
    }
    for path in &resolved.env_files {
        let warning = outside(path, &resolved.folder);
        push(&mut rows, RunRole::EnvironmentFile, "envFile", path.display().to_string(), warning);
    }
    for (key, task) in
        [("preLaunchTask", &resolved.pre_launch_task), ("postDebugTask", &resolved.post_debug_task)]
    {
        if let Some(task) = task {
            push(&mut rows, RunRole::Task, key, task_name(task), None);
        }
    }
    if let Some(ready) = &resolved.server_ready {
        let address = ready.uri_format.as_deref().unwrap_or("the address");
        let text = format!("{} {address} when the output matches `{}`", ready.action, ready.pattern);
        push(&mut rows, RunRole::WhenReady, "serverReadyAction", text, None);
    }
    rows
}

fn push(rows: &mut Vec<PlannedRun>, role: RunRole, key: &str, text: String, warning: Option<String>) {
    rows.push(PlannedRun { role, key: key.to_owned(), text, command: None, warning });
}

/// Returns the command line of a key that names a program. `command` holds a line as it is typed; the code that Python is
/// given is no command line, and a task's name is none either: its commands have rows of their own.
fn program_line(key: &str, role: RunRole, value: &Value) -> Option<String> {
    match (role, key, value) {
        (RunRole::Program, "code", _) => None,
        (RunRole::Program, "command", Value::String(line)) => Some(line.clone()),
        (RunRole::Program, _, Value::String(program)) => Some(shell_words::quoted(program)),
        (RunRole::Program, _, other) => Some(shown(other)),
        _ => None,
    }
}

/// Adds a program's arguments: what it does depends on them.
fn with_arguments(command: PlannedCommand, key: &str, resolved: &Resolved) -> PlannedCommand {
    let line = match resolved.arguments.get("args") {
        // A line as it is typed has them already.
        Some(args) if key != "command" && !is_empty(args) => format!("{} {}", command.line, shown(args)),
        _ => command.line,
    };
    PlannedCommand { line, ..command }
}

/// Returns the folder that a program's name is relative to.
pub(super) fn folder_of(line: &str, resolved: &Resolved) -> PathBuf {
    match resolved.arguments.get("cwd").and_then(Value::as_str) {
        Some(cwd) if !line.starts_with(['/', '\'']) => resolved.folder.join(cwd),
        _ => resolved.folder.clone(),
    }
}

pub(super) fn role_of(key: &str) -> Option<RunRole> {
    if let Some((_, role)) = KEYS.iter().find(|(known, _)| *known == key) {
        return Some(*role);
    }
    let lower = key.to_ascii_lowercase();
    if lower.ends_with("commands") {
        return Some(RunRole::DebuggerCommands);
    }
    TELLING_ENDS.iter().any(|end| lower.ends_with(end)).then_some(RunRole::Helper)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// A list of words as a command line, anything else as it is written.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            shell_words::joined(items.iter().filter_map(Value::as_str))
        }
        other => other.to_string(),
    }
}

fn environment(rows: &mut Vec<PlannedRun>, key: &str, value: &Value) {
    let mut one = |name: &str, value: Option<&Value>| {
        let text = match value {
            None | Some(Value::Null) => format!("{name} is taken out"),
            Some(value) => format!("{name}={}", shown(value)),
        };
        let loads = CODE_LOADING.contains(&name)
            || name.starts_with("LD_")
            || name.starts_with("DYLD_")
            || name.ends_with("_WRAPPER");
        let warning = loads.then(|| "it decides which code is run".to_owned());
        push(rows, RunRole::Environment, key, text, warning);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| one(name, Some(value))),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(pair) => {
                        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                        one(name, Some(&Value::from(value)));
                    }
                    other => {
                        one(
                            other.get("name").and_then(Value::as_str).unwrap_or_default(),
                            other.get("value"),
                        );
                    }
                }
            }
        }
        other => one("", Some(other)),
    }
}

fn warning_for(role: RunRole, key: &str, value: &Value, resolved: &Resolved) -> Option<String> {
    match role {
        RunRole::Helper if matches!(key, "sudo" | "asRoot") => {
            Some("it runs with the rights of root".to_owned())
        }
        RunRole::Helper => Some("the configuration chooses this instead of what is installed".to_owned()),
        RunRole::DebuggerCommands => Some("a debugger's console can start programs".to_owned()),
        RunRole::Process if resolved.request == Request::Attach => {
            Some("everything in that process can be read and changed".to_owned())
        }
        RunRole::Folder => {
            value.as_str().and_then(|path| outside(&resolved.folder.join(path), &resolved.folder))
        }
        _ => None,
    }
}

fn outside(path: &Path, folder: &Path) -> Option<String> {
    let inside = lexically(path).starts_with(lexically(folder))
        && stepwell_workspace::files::resolved(path).starts_with(stepwell_workspace::files::resolved(folder));
    (!inside).then(|| "it lies outside of the workspace".to_owned())
}

fn lexically(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn task_name(task: &TaskRef) -> String {
    match task {
        TaskRef::Label(label) => label.clone(),
        TaskRef::DefaultBuild => "the default build task".to_owned(),
        TaskRef::Properties(properties) => Value::Object(properties.clone()).to_string(),
    }
}
