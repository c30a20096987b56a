//! What the keys of each dialect say.

use serde_json::{Map, Value};

use super::{Commands, Language, Native, Stop};
use crate::launch_config::error::Result;
use crate::launch_config::resolve::{Request, Resolved, text};
use crate::launch_config::shell_words;
use crate::launch_config::translate::{arguments_list, bad, environment, process_id};

/// Takes what every dialect writes alike.
fn read_common(resolved: &Resolved, fields: &mut Map<String, Value>) -> Result<Native> {
    let take_text = |fields: &mut Map<String, Value>, key: &str| match fields.shift_remove(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    let mut env = environment(resolved, fields.shift_remove("env"))?;
    env.extend(environment(resolved, fields.shift_remove("environment"))?);
    let process = match fields.shift_remove("pid").or_else(|| fields.shift_remove("processId")) {
        Some(value) if !value.is_null() => Some(process_id(resolved, &value)?),
        _ => None,
    };
    Ok(Native {
        program: take_text(fields, "program"),
        args: arguments_list(resolved, fields.shift_remove("args"))?,
        cwd: take_text(fields, "cwd"),
        env,
        process,
        wait_for: flag(fields.shift_remove("waitFor")),
        ..Native::default()
    })
}

fn flag(value: Option<Value>) -> bool {
    value.and_then(|value| value.as_bool()).unwrap_or(false)
}

fn entry(stop: bool) -> Stop {
    if stop { Stop::AtEntry } else { Stop::No }
}

fn lines(value: Option<Value>) -> Vec<String> {
    match value {
        Some(Value::String(line)) => vec![line],
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn codelldb(resolved: &Resolved) -> Result<Native> {
    let mut fields = resolved.arguments.clone();
    let mut native = read_common(resolved, &mut fields)?;
    native.stop = entry(flag(fields.shift_remove("stopOnEntry")));
    let terminal = fields.shift_remove("terminal").or_else(|| fields.get("console").cloned());
    native.terminal = terminal.is_some_and(|value| {
        matches!(value.as_str(), Some("integrated" | "external" | "integratedTerminal" | "externalTerminal"))
    });
    native.source_map = source_map(fields.shift_remove("sourceMap"));
    let create = lines(fields.shift_remove("targetCreateCommands"));
    let process = lines(fields.shift_remove("processCreateCommands"));
    if let Some((core, program)) = create.iter().find_map(|line| core_of(line)) {
        native.core = Some(core);
        native.program = native.program.or(program);
    }
    native.commands = Commands {
        language: Language::Lldb,
        init: lines(fields.shift_remove("initCommands")),
        pre_run: lines(fields.shift_remove("preRunCommands")),
        exit: lines(fields.shift_remove("exitCommands")),
        instead: create.into_iter().chain(process).collect(),
    };
    native.rest = fields;
    Ok(native)
}

/// The core file of a `target create --core FILE [PROGRAM]`, and the program.
fn core_of(line: &str) -> Option<(String, Option<String>)> {
    let mut words = shell_words::split(line)?;
    let at = words.iter().position(|word| word == "-c" || word == "--core")?;
    let core = words.drain(at..).nth(1)?;
    let behind = shell_words::split(line)?.split_off(at + 2);
    let program = words.into_iter().skip(2).chain(behind).find(|word| !word.starts_with('-'));
    Some((core, program))
}

pub(super) fn lldb_dap(resolved: &Resolved) -> Result<Native> {
    let mut fields = resolved.arguments.clone();
    let mut native = read_common(resolved, &mut fields)?;
    native.stop = entry(flag(fields.shift_remove("stopOnEntry")));
    native.terminal = flag(fields.shift_remove("runInTerminal"))
        || fields.get("console").and_then(Value::as_str).is_some_and(|console| console.ends_with("Terminal"));
    native.source_map = source_map(fields.shift_remove("sourceMap"));
    native.core = text(&fields, "coreFile");
    let host = text(&fields, "gdb-remote-hostname").unwrap_or_else(|| "localhost".to_owned());
    native.remote =
        fields.get("gdb-remote-port").map(|port| format!("{host}:{}", port.to_string().trim_matches('"')));
    for key in ["coreFile", "gdb-remote-port", "gdb-remote-hostname"] {
        fields.shift_remove(key);
    }
    let instead = match resolved.request {
        Request::Launch => fields.shift_remove("launchCommands"),
        Request::Attach => fields.shift_remove("attachCommands"),
    };
    native.commands = Commands {
        language: Language::Lldb,
        init: lines(fields.shift_remove("initCommands")),
        pre_run: lines(fields.shift_remove("preRunCommands")),
        exit: lines(fields.shift_remove("exitCommands")),
        instead: lines(instead),
    };
    native.rest = fields;
    Ok(native)
}

pub(super) fn gdb(resolved: &Resolved) -> Result<Native> {
    let mut fields = resolved.arguments.clone();
    let mut native = read_common(resolved, &mut fields)?;
    native.stop = entry(flag(fields.shift_remove("stopOnEntry")));
    if flag(fields.shift_remove("stopAtBeginningOfMainSubprogram")) {
        native.stop = Stop::AtMain;
    }
    native.remote = text(&fields, "target");
    native.core = text(&fields, "coreFile");
    native.debugger = text(&fields, "gdbpath").or_else(|| text(&fields, "gdb"));
    for key in ["target", "coreFile", "gdbpath", "gdb"] {
        fields.shift_remove(key);
    }
    native.commands.language = Language::Gdb;
    native.rest = fields;
    Ok(native)
}

pub(super) fn cppdbg(resolved: &Resolved, notes: &mut Vec<String>) -> Result<Native> {
    let mut fields = resolved.arguments.clone();
    if fields.get("pipeTransport").is_some_and(|value| !value.is_null()) {
        return Err(bad(
            resolved,
            "uses `pipeTransport`, which is not supported; start a gdb server there instead".to_owned(),
        ));
    }
    let mut native = read_common(resolved, &mut fields)?;
    if flag(fields.shift_remove("stopAtEntry")) {
        native.stop = Stop::AtMain;
    }
    native.terminal = flag(fields.shift_remove("externalConsole"));
    native.core = text(&fields, "coreDumpPath").filter(|path| !path.is_empty());
    native.remote = text(&fields, "miDebuggerServerAddress");
    native.debugger = text(&fields, "miDebuggerPath").filter(|path| !path.is_empty());
    native.source_map = source_map(fields.shift_remove("sourceFileMap"));
    let language =
        if text(&fields, "MIMode").as_deref() == Some("lldb") { Language::Lldb } else { Language::Gdb };
    let mut init = Vec::new();
    for key in ["setupCommands", "customLaunchSetupCommands", "postRemoteConnectCommands"] {
        let entries = fields.shift_remove(key);
        let entries = entries.as_ref().and_then(Value::as_array).into_iter().flatten();
        for command in entries.filter_map(|entry| entry.get("text")?.as_str()) {
            match console_command(command) {
                MiCommand::Console(line) => init.push(line),
                MiCommand::NotNeeded => {}
                MiCommand::Unknown => {
                    notes.push(format!("`{command}` cannot be given to a console and is left out"));
                }
            }
        }
    }
    if let Some(path) = text(&fields, "additionalSOLibSearchPath").filter(|path| !path.is_empty()) {
        match language {
            Language::Gdb => init.push(format!("set solib-search-path {path}")),
            Language::Lldb => {
                init.push(format!("settings append target.exec-search-paths {}", shell_words::quoted(&path)));
            }
        }
    }
    native.commands = Commands { language, init, ..Commands::default() };
    for key in ["coreDumpPath", "miDebuggerServerAddress", "miDebuggerPath", "additionalSOLibSearchPath"] {
        fields.shift_remove(key);
    }
    native.rest = fields;
    Ok(native)
}

enum MiCommand {
    Console(String),
    NotNeeded,
    Unknown,
}

/// cpptools talks to gdb's machine interface; we talk to its console.
fn console_command(command: &str) -> MiCommand {
    let command = command.trim();
    if command.is_empty() || command == "-enable-pretty-printing" {
        return MiCommand::NotNeeded;
    }
    if let Some(rest) = command.strip_prefix("-gdb-set ") {
        return MiCommand::Console(format!("set {}", rest.trim()));
    }
    if let Some(rest) = command.strip_prefix("-interpreter-exec console ") {
        let rest = rest.trim();
        let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(rest);
        return MiCommand::Console(inner.replace("\\\"", "\""));
    }
    if command.starts_with('-') { MiCommand::Unknown } else { MiCommand::Console(command.to_owned()) }
}

/// Pairs, from an object, from a list of pairs, or from cpptools' objects with an `editorPath`.
fn source_map(value: Option<Value>) -> Vec<(String, String)> {
    match value {
        Some(Value::Object(fields)) => fields
            .iter()
            .filter_map(|(from, to)| {
                let to = to.as_str().or_else(|| to.get("editorPath")?.as_str())?;
                Some((from.clone(), to.to_owned()))
            })
            .collect(),
        Some(Value::Array(pairs)) => pairs
            .iter()
            .filter_map(|pair| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned())))
            .collect(),
        _ => Vec::new(),
    }
}
