//! What a debugger could be made to run: expressions with effects, and what a repository's launch file names.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{call, is_untouched, world};
use crate::mcp::Talker;
use crate::mcp::debug::has_debugpy;

const PROGRAM: &str = "import os\ntotal = 0\nfor i in range(5):\n    total += i\nprint('total', total)\n";

fn answer(client: &mut Talker, tool: &str, arguments: Value) -> Value {
    let message = client.call(tool, arguments);
    let text = message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// Conditions, messages, values and expressions run in the program, which is confined; none reaches outside.
#[test]
fn d02_expressions_of_a_debugger_reach_nothing_outside() {
    if !has_debugpy() {
        return;
    }
    let world = world();
    world.write("a.py", PROGRAM);
    let path = world.work().with_file_name("out").join("pwn").display().to_string();
    let effects = [
        format!("os.system('touch {path}') + 1"),
        format!("__import__('subprocess').call(['touch', '{path}']) or True"),
        format!("open('{path}', 'w') and True"),
    ];
    for effect in &effects {
        let mut client = Talker::start(&world, &[]);
        client.hello("2025-06-18", json!({}));
        for arguments in [
            json!({"file_path": "a.py", "line_number": 4, "condition": effect}),
            json!({"file_path": "a.py", "line_number": 4, "log_message": format!("{{{effect}}}")}),
            json!({"file_path": "a.py", "line_number": 5}),
        ] {
            answer(&mut client, "set_breakpoint", arguments);
            answer(&mut client, "start_debugging", json!({"program": "a.py", "timeout": 60}));
            for (tool, arguments) in [
                ("evaluate_expression", json!({"expression": effect})),
                ("set_variable", json!({"name": "total", "value": effect})),
                ("debug_watch", json!({"expression": effect, "max_writes": 1})),
            ] {
                client.call(tool, arguments);
                assert!(is_untouched(&world), "{tool}: {effect}");
            }
            client.call("stop_debugging", json!({}));
            client.call("remove_breakpoint", json!({"all": true}));
        }
        client.end();
        assert!(is_untouched(&world), "{effect}");
    }
    // Where every evaluation needs the person's word, a condition that calls something needs it too.
    world.set_config("[permissions]\ndeny = [\"evaluate_expression\", \"set_breakpoint\"]\n");
    let (code, _) =
        call(&world, "set_breakpoint", &json!({"file_path": "a.py", "line_number": 4}), "default");
    assert_eq!(code, 3);
    world.set_config("");
    let mut client = Talker::start(&world, &[]);
    client.hello("2025-06-18", json!({}));
    let twin = json!({"file_path": "a.py", "line_number": 4, "condition": "i == 3"});
    answer(&mut client, "set_breakpoint", twin);
    let stopped = answer(&mut client, "start_debugging", json!({"program": "a.py"}));
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    let value = answer(&mut client, "evaluate_expression", json!({"expression": "total + i"}));
    assert!(value.to_string().contains('6'), "{value}");
    client.end();
}

/// A launch file's programs, helpers and tasks: listed, and not run before the folder is trusted.
#[test]
fn d03_nothing_that_a_launch_file_names_runs_before_it_is_trusted() {
    if !has_debugpy() {
        return;
    }
    let world = world();
    world.write("a.py", PROGRAM);
    world.write("evil", "#!/bin/sh\ntouch MARK\nexec \"$@\"\n");
    std::fs::set_permissions(world.work().join("evil"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let evil = "${workspaceFolder}/evil";
    let named = [
        ("program", json!({"type": "python", "program": "/bin/sh", "args": ["-c", "touch MARK"]})),
        ("task", json!({"type": "python", "program": "a.py", "preLaunchTask": "evil"})),
        ("after", json!({"type": "python", "program": "a.py", "postDebugTask": "evil"})),
        ("python", json!({"type": "python", "program": "a.py", "python": evil})),
        ("path", json!({"type": "python", "program": "a.py", "pythonPath": evil})),
        ("adapter", json!({"type": "python", "program": "a.py", "debugAdapterPython": evil})),
        ("node", json!({"type": "node", "program": "a.js", "runtimeExecutable": evil})),
        ("gdb", json!({"type": "cppdbg", "program": "a", "miDebuggerPath": evil})),
        ("commands", json!({"type": "lldb", "program": "a", "initCommands": ["platform shell touch MARK"]})),
        ("preload", json!({"type": "python", "program": "a.py", "env": {"LD_PRELOAD": "./evil"}})),
        ("file", json!({"type": "python", "program": "a.py", "envFile": "../out/canary.txt"})),
        ("folder", json!({"type": "python", "program": "a.py", "cwd": "../out"})),
        ("pipe", json!({"type": "cppdbg", "program": "a", "pipeTransport": {"pipeProgram": evil}})),
    ];
    let configurations: Vec<Value> = named
        .iter()
        .map(|(name, rest)| {
            let mut one = rest.clone();
            one["name"] = json!(name);
            one["request"] = json!("launch");
            one
        })
        .collect();
    world.write(".vscode/launch.json", &json!({"configurations": configurations}).to_string());
    let tasks = json!({"tasks": [{"label": "evil", "type": "shell", "command": "touch MARK"}]});
    world.write(".vscode/tasks.json", &tasks.to_string());
    let (code, text) = call(&world, "get_debugger_configurations", &json!({}), "bypassPermissions");
    assert_eq!(code, 0, "{text}");
    for (name, _) in &named {
        for tool in ["start_debugging", "debug_failure"] {
            let arguments = json!({"configuration_name": name});
            let (code, text) = call(&world, tool, &arguments, "bypassPermissions");
            assert!(code != 0 && text.contains("not trusted"), "{tool} {name}: {code} {text}");
        }
        assert!(!world.work().join("MARK").exists() && is_untouched(&world), "{name}");
    }
    // The twin: once it is trusted, the person's word decides.
    assert_eq!(world.output(&["config", "trust"]).status.code(), Some(0));
    let (_, text) =
        call(&world, "start_debugging", &json!({"configuration_name": "task"}), "bypassPermissions");
    assert!(text.contains("total 10") && world.work().join("MARK").exists(), "{text}");
    let (code, text) = call(&world, "start_debugging", &json!({"configuration_name": "preload"}), "dontAsk");
    assert!(code == 3, "{code} {text}");
}
