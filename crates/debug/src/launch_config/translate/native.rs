//! C, C++, Rust: between the keys of cpptools, CodeLLDB, lldb-dap and gdb.

mod read;

use serde_json::{Map, Value, json};

use super::{Translated, bad};
use crate::launch_config::error::Result;
use crate::launch_config::resolve::{Request, Resolved};

/// A native adapter's way to write a configuration.
pub(crate) struct Dialect {
    pub name: &'static str,
    /// The `type`s whose keys are the adapter's own.
    pub own_types: &'static [&'static str],
    /// Core files and remote targets are launched, not attached to.
    pub launches_without_program: bool,
    /// The configuration may name the debugger's own program.
    pub takes_debugger_path: bool,
    pub write: fn(&Resolved, Native, &mut Vec<String>) -> Result<Translated>,
}

/// What a configuration says, in whichever dialect it is written.
#[derive(Default)]
pub(crate) struct Native {
    pub program: Option<String>,
    pub args: Vec<String>,
    pub cwd: Option<String>,
    pub env: Vec<(String, Option<String>)>,
    pub stop: Stop,
    pub terminal: bool,
    pub process: Option<u32>,
    pub wait_for: bool,
    pub core: Option<String>,
    /// `host:port` of a gdb server.
    pub remote: Option<String>,
    /// From the path in the debug information to the one on the disk.
    pub source_map: Vec<(String, String)>,
    pub commands: Commands,
    pub debugger: Option<String>,
    /// What is left, for an adapter whose own keys they are.
    pub rest: Map<String, Value>,
}

impl Native {
    /// Writes the keys that all dialects share: program, arguments, folder.
    pub(crate) fn program_arguments(&self) -> Map<String, Value> {
        let mut arguments = Map::new();
        if let Some(program) = &self.program {
            arguments.insert("program".to_owned(), json!(program));
        }
        if !self.args.is_empty() {
            arguments.insert("args".to_owned(), json!(self.args));
        }
        if let Some(cwd) = &self.cwd {
            arguments.insert("cwd".to_owned(), json!(cwd));
        }
        arguments
    }
}

/// Where the program stops at its beginning.
#[derive(Default, PartialEq, Eq)]
pub(crate) enum Stop {
    #[default]
    No,
    /// At the first instruction, before `main`.
    AtEntry,
    AtMain,
}

/// Lines for the debugger, in the debugger's own language.
#[derive(Default)]
pub(crate) struct Commands {
    pub language: Language,
    pub init: Vec<String>,
    pub pre_run: Vec<String>,
    pub exit: Vec<String>,
    /// Instead of what the adapter would do to launch or attach.
    pub instead: Vec<String>,
}

/// The command language of a debugger.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Language {
    #[default]
    Lldb,
    Gdb,
}

/// Reads a configuration of any native type and writes it in an adapter's dialect.
pub(crate) fn translate(resolved: &Resolved, dialect: &Dialect) -> Result<Translated> {
    let mut notes = Vec::new();
    let mut native = match resolved.kind.as_str() {
        "cppdbg" => read::cppdbg(resolved, &mut notes)?,
        "gdb" => read::gdb(resolved)?,
        "lldb-dap" | "lldb-vscode" => read::lldb_dap(resolved)?,
        _ => read::codelldb(resolved)?,
    };
    native.program =
        native.program.map(|program| resolved.folder.join(program).to_string_lossy().into_owned());
    let runs_program = native.core.is_none() && native.remote.is_none();
    if native.cwd.is_none() && resolved.request == Request::Launch && runs_program {
        native.cwd = Some(resolved.folder.to_string_lossy().into_owned());
    }
    if resolved.request == Request::Launch
        && native.program.is_none()
        && native.core.is_none()
        && native.commands.instead.is_empty()
    {
        return Err(bad(resolved, "names no `program`".to_owned()));
    }
    let own = dialect.own_types.contains(&resolved.kind.as_str());
    let rest = std::mem::take(&mut native.rest);
    let request =
        if runs_program || dialect.launches_without_program { resolved.request } else { Request::Attach };
    if !dialect.takes_debugger_path {
        native.debugger = None;
    }
    if !own {
        let dropped = rest.keys().filter(|key| !MEANS_NOTHING_ELSEWHERE.contains(&key.as_str()));
        notes.extend(
            dropped.map(|key| format!("`{key}` has no counterpart in {} and is left out", dialect.name)),
        );
    }
    let mut translated = (dialect.write)(resolved, native, &mut notes)?;
    if own {
        for (key, value) in rest {
            translated.arguments.entry(key).or_insert(value);
        }
    }
    translated.request = request;
    translated.notes = notes;
    Ok(translated)
}

/// Keys about an editor's display or the original adapter's own upkeep.
const MEANS_NOTHING_ELSEWHERE: &[&str] = &[
    "MIMode",
    "avoidWindowsConsoleRedirection",
    "breakpointMode",
    "cargo",
    "console",
    "dumpPath",
    "filterStderr",
    "filterStdout",
    "hardwareBreakpoints",
    "launchCompleteCommand",
    "logging",
    "requireExactSource",
    "showDisplayString",
    "sourceLanguages",
    "stopAtConnect",
    "symbolLoadInfo",
    "targetArchitecture",
    "trace",
    "useExtendedRemote",
    "visualizerFile",
];
