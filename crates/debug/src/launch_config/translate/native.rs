//! C, C++, Rust: between the keys of cpptools, CodeLLDB, lldb-dap and gdb.

mod read;
mod write;

use serde_json::{Map, Value};

use super::{Translated, bad};
use crate::adapters::AdapterKind;
use crate::launch_config::error::Result;
use crate::launch_config::resolve::{Request, Resolved};

/// What all these dialects can say.
#[derive(Default)]
struct Native {
    program: Option<String>,
    args: Vec<String>,
    cwd: Option<String>,
    env: Vec<(String, Option<String>)>,
    stop: Stop,
    terminal: bool,
    process: Option<u32>,
    wait_for: bool,
    core: Option<String>,
    /// `host:port` of a gdb server.
    remote: Option<String>,
    /// From the path in the debug information to the one on the disk.
    source_map: Vec<(String, String)>,
    commands: Commands,
    debugger: Option<String>,
    /// What is left, for an adapter whose own keys they are.
    rest: Map<String, Value>,
}

#[derive(Default, PartialEq, Eq)]
enum Stop {
    #[default]
    No,
    /// At the first instruction, before `main`.
    AtEntry,
    AtMain,
}

/// Lines for the debugger, in the debugger's own language.
#[derive(Default)]
struct Commands {
    language: Language,
    init: Vec<String>,
    pre_run: Vec<String>,
    exit: Vec<String>,
    /// Instead of what the adapter would do to launch or attach.
    instead: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Language {
    #[default]
    Lldb,
    Gdb,
}

pub(super) fn translate(resolved: &Resolved, adapter: AdapterKind) -> Result<Translated> {
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
    let own = match adapter {
        AdapterKind::Gdb => resolved.kind == "gdb",
        AdapterKind::LldbDap => matches!(resolved.kind.as_str(), "lldb-dap" | "lldb-vscode"),
        _ => matches!(resolved.kind.as_str(), "lldb" | "codelldb"),
    };
    let rest = std::mem::take(&mut native.rest);
    // CodeLLDB takes both as a launch with commands of its own.
    let request =
        if runs_program || adapter == AdapterKind::CodeLldb { resolved.request } else { Request::Attach };
    if adapter != AdapterKind::Gdb {
        native.debugger = None;
    }
    if !own {
        let dropped = rest.keys().filter(|key| !MEANS_NOTHING_ELSEWHERE.contains(&key.as_str()));
        notes.extend(dropped.map(|key| format!("`{key}` has no counterpart in {adapter} and is left out")));
    }
    let mut translated = match adapter {
        AdapterKind::Gdb => write::gdb(resolved, native, &mut notes)?,
        AdapterKind::LldbDap => write::lldb_dap(native, &mut notes),
        _ => write::codelldb(native, &mut notes),
    };
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
