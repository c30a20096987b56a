//! The same in the keys of each adapter.

use serde_json::{Map, Value, json};

use super::{Language, Native, Stop};
use crate::launch_config::error::Result;
use crate::launch_config::resolve::Resolved;
use crate::launch_config::translate::{Translated, bad};
use crate::launch_config::words;

/// The keys that LLDB's two adapters share.
fn write_lldb(native: &mut Native, more_init: Vec<String>, notes: &mut Vec<String>) -> Map<String, Value> {
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
    native.commands.init.extend(more_init);
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

pub(super) fn lldb_dap(mut native: Native, notes: &mut Vec<String>) -> Translated {
    let taken_out = native.env.iter().filter(|(_, value)| value.is_none());
    let unset = taken_out
        .map(|(name, _)| format!("settings append target.unset-env-vars {name}"))
        .collect::<Vec<_>>();
    native.env.retain(|(_, value)| value.is_some());
    let mut arguments = write_lldb(&mut native, unset, notes);
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

pub(super) fn codelldb(mut native: Native, notes: &mut Vec<String>) -> Translated {
    let mut arguments = write_lldb(&mut native, Vec::new(), notes);
    if !native.env.is_empty() {
        // CodeLLDB 1.11 makes the environment itself and has no way to take something out of it.
        let taken_out = native.env.iter().filter(|(_, value)| value.is_none());
        notes.extend(taken_out.map(|(name, _)| {
            format!("codelldb cannot take `{name}` out of the environment; it is set to nothing")
        }));
        let text = |value: &Option<String>| json!(value.as_deref().unwrap_or_default());
        let fields: Map<_, _> = native.env.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        arguments.insert("env".to_owned(), Value::Object(fields));
    }
    arguments.insert("terminal".to_owned(), json!(if native.terminal { "integrated" } else { "console" }));
    if !native.source_map.is_empty() {
        let fields: Map<_, _> =
            native.source_map.iter().map(|(from, to)| (from.clone(), json!(to))).collect();
        arguments.insert("sourceMap".to_owned(), Value::Object(fields));
    }
    let quoted = words::quoted;
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

pub(super) fn gdb(resolved: &Resolved, native: Native, notes: &mut Vec<String>) -> Result<Translated> {
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
        put("console", json!("integratedTerminal"));
    }
    let mut commands = Vec::new();
    // gdb's own key `env` would replace the whole environment.
    for (name, value) in &native.env {
        commands.push(match value {
            Some(value) => format!("set environment {name}={value}"),
            None => format!("unset environment {name}"),
        });
    }
    commands.extend(
        native
            .source_map
            .iter()
            .map(|(from, to)| format!("set substitute-path {} {}", words::quoted(from), words::quoted(to))),
    );
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
