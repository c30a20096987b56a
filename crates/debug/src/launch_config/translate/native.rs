//! C, C++, Rust: between the keys of cpptools, CodeLLDB, lldb-dap and gdb.

use serde_json::{Map, Value, json};

use super::{Translated, arguments_list, bad, environment, process_id};
use crate::adapters::AdapterKind;
use crate::launch_config::error::Result;
use crate::launch_config::resolve::{Request, Resolved, text};

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
        "cppdbg" => read_cppdbg(resolved, &mut notes)?,
        "gdb" => read_gdb(resolved)?,
        "lldb-dap" | "lldb-vscode" => read_lldb_dap(resolved)?,
        _ => read_codelldb(resolved)?,
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
        AdapterKind::Gdb => write_gdb(resolved, native, &mut notes)?,
        AdapterKind::LldbDap => write_lldb_dap(native, &mut notes),
        _ => write_codelldb(native, &mut notes),
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

fn read_codelldb(resolved: &Resolved) -> Result<Native> {
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
    let mut words = crate::launch_config::words::split(line)?;
    let at = words.iter().position(|word| word == "-c" || word == "--core")?;
    let core = words.drain(at..).nth(1)?;
    let behind = crate::launch_config::words::split(line)?.split_off(at + 2);
    let program = words.into_iter().skip(2).chain(behind).find(|word| !word.starts_with('-'));
    Some((core, program))
}

fn read_lldb_dap(resolved: &Resolved) -> Result<Native> {
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

fn read_gdb(resolved: &Resolved) -> Result<Native> {
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

fn read_cppdbg(resolved: &Resolved, notes: &mut Vec<String>) -> Result<Native> {
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
            Language::Lldb => init.push(format!("settings append target.exec-search-paths {path}")),
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

/// The keys that LLDB's two adapters share.
fn write_lldb(native: &mut Native, notes: &mut Vec<String>) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut put = |key: &str, value: Value| {
        arguments.insert(key.to_owned(), value);
    };
    if let Some(program) = &native.program {
        put("program", json!(program));
    }
    if !native.args.is_empty() {
        put("args", json!(native.args));
    }
    if let Some(cwd) = &native.cwd {
        put("cwd", json!(cwd));
    }
    match native.stop {
        Stop::No => {}
        Stop::AtEntry => put("stopOnEntry", json!(true)),
        Stop::AtMain => native.commands.pre_run.push("breakpoint set --one-shot true --name main".to_owned()),
    }
    if let Some(process) = native.process {
        put("pid", json!(process));
    }
    if native.wait_for {
        put("waitFor", json!(true));
    }
    if native.commands.language == Language::Gdb && !native.commands.init.is_empty() {
        notes.push(format!("commands for gdb are left out: {}", native.commands.init.join("; ")));
        native.commands.init.clear();
    }
    let (taken_out, set): (Vec<_>, Vec<_>) =
        std::mem::take(&mut native.env).into_iter().partition(|(_, value)| value.is_none());
    native.env = set;
    let unset =
        taken_out.into_iter().map(|(name, _)| format!("settings append target.unset-env-vars {name}"));
    native.commands.init.extend(unset);
    let commands = &native.commands;
    for (key, lines) in [
        ("initCommands", &commands.init),
        ("preRunCommands", &commands.pre_run),
        ("exitCommands", &commands.exit),
    ] {
        if !lines.is_empty() {
            put(key, json!(lines));
        }
    }
    arguments
}

fn write_lldb_dap(mut native: Native, notes: &mut Vec<String>) -> Translated {
    let mut arguments = write_lldb(&mut native, notes);
    if !native.env.is_empty() {
        // Releases before 21 take a list alone.
        let pairs: Vec<_> = native
            .env
            .iter()
            .map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or_default()))
            .collect();
        arguments.insert("env".to_owned(), json!(pairs));
    }
    if native.terminal {
        arguments.insert("runInTerminal".to_owned(), json!(true));
    }
    if !native.source_map.is_empty() {
        arguments.insert("sourceMap".to_owned(), json!(native.source_map));
    }
    if let Some(core) = native.core {
        arguments.insert("coreFile".to_owned(), json!(core));
    } else if let Some(remote) = native.remote {
        arguments.insert("attachCommands".to_owned(), json!([format!("gdb-remote {remote}")]));
    } else if !native.commands.instead.is_empty() {
        let key = if native.process.is_some() { "attachCommands" } else { "launchCommands" };
        arguments.insert(key.to_owned(), json!(native.commands.instead));
    }
    Translated { arguments, debugger: native.debugger, ..Translated::default() }
}

fn write_codelldb(mut native: Native, notes: &mut Vec<String>) -> Translated {
    let mut arguments = write_lldb(&mut native, notes);
    if !native.env.is_empty() {
        let fields: Map<_, _> = native.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        arguments.insert("env".to_owned(), Value::Object(fields));
    }
    arguments.insert("terminal".to_owned(), json!(if native.terminal { "integrated" } else { "console" }));
    if !native.source_map.is_empty() {
        let fields: Map<_, _> =
            native.source_map.iter().map(|(from, to)| (from.clone(), json!(to))).collect();
        arguments.insert("sourceMap".to_owned(), Value::Object(fields));
    }
    let quoted = crate::launch_config::words::quoted;
    let program = native.program.as_deref().map(quoted).unwrap_or_default();
    if !native.commands.instead.is_empty() {
        let of_process = |line: &String| {
            line.starts_with("process ") || line.starts_with("gdb-remote") || line.starts_with("run")
        };
        let (process, create): (Vec<_>, Vec<_>) =
            native.commands.instead.iter().partition(|line| of_process(line));
        arguments.insert("targetCreateCommands".to_owned(), json!(create));
        arguments.insert("processCreateCommands".to_owned(), json!(process));
    } else if let Some(core) = &native.core {
        let create = format!("target create --core {} {program}", quoted(core));
        arguments.insert("targetCreateCommands".to_owned(), json!([create.trim_end()]));
        arguments.insert("processCreateCommands".to_owned(), json!([]));
    } else if let Some(remote) = &native.remote {
        arguments.insert(
            "targetCreateCommands".to_owned(),
            json!([format!("target create {program}").trim_end()]),
        );
        arguments.insert("processCreateCommands".to_owned(), json!([format!("gdb-remote {remote}")]));
    }
    Translated { arguments, debugger: native.debugger, ..Translated::default() }
}

fn write_gdb(resolved: &Resolved, native: Native, notes: &mut Vec<String>) -> Result<Translated> {
    let mut arguments = Map::new();
    let mut put = |key: &str, value: Value| {
        arguments.insert(key.to_owned(), value);
    };
    if let Some(program) = &native.program {
        put("program", json!(program));
    }
    if !native.args.is_empty() {
        put("args", json!(native.args));
    }
    if let Some(cwd) = &native.cwd {
        put("cwd", json!(cwd));
    }
    match native.stop {
        Stop::No => {}
        Stop::AtEntry => put("stopOnEntry", json!(true)),
        Stop::AtMain => put("stopAtBeginningOfMainSubprogram", json!(true)),
    }
    if let Some(process) = native.process {
        put("pid", json!(process));
    }
    if let Some(remote) = &native.remote {
        put("target", json!(remote));
    }
    if let Some(core) = &native.core {
        put("coreFile", json!(core));
        notes.push("gdb opens core files from release 17 on; lldb-dap does in every release".to_owned());
    }
    if native.wait_for {
        return Err(bad(resolved, "uses `waitFor`, which gdb cannot; start the program first".to_owned()));
    }
    if native.terminal {
        notes.push("gdb cannot run the program in a terminal of its own".to_owned());
    }
    let mut commands = Vec::new();
    // gdb's own key `env` would replace the whole environment.
    for (name, value) in &native.env {
        commands.push(match value {
            Some(value) => format!("set environment {name}={value}"),
            None => format!("unset environment {name}"),
        });
    }
    commands.extend(native.source_map.iter().map(|(from, to)| format!("set substitute-path {from} {to}")));
    if commands.iter().any(|line| line.contains(['\n', '\r'])) {
        return Err(bad(
            resolved,
            "has a variable or path of more than one line, which gdb cannot be told".to_owned(),
        ));
    }
    match native.commands.language {
        Language::Gdb => commands.extend(native.commands.init),
        Language::Lldb => {
            let all = [
                &native.commands.init,
                &native.commands.pre_run,
                &native.commands.exit,
                &native.commands.instead,
            ];
            let left: Vec<_> = all.into_iter().flatten().map(String::as_str).collect();
            if !left.is_empty() && native.core.is_none() {
                notes.push(format!("commands for LLDB are left out: {}", left.join("; ")));
            }
        }
    }
    Ok(Translated {
        arguments,
        debugger_commands: commands,
        debugger: native.debugger,
        ..Translated::default()
    })
}
