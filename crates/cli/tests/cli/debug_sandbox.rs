//! Debugged programs through the tools: confined without a question, attached to only with the person's word, and no
//! hidden file or secret in any answer.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::Talker;
use crate::world::World;

const SECRET: &str = "hunter2-of-the-person";

/// A world whose Python has debugpy; `None` says what is missing.
pub fn world() -> Option<World> {
    let found = Command::new("python3").args(["-c", "import debugpy"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "python3 with debugpy is missing");
        eprintln!("skipped: python3 with debugpy is missing");
        return None;
    }
    let world = World::new([]);
    world.set_config("[permissions]\nallow = [\"start_debugging\", \"debug_failure\", \"bash\"]\n");
    Some(world)
}

fn call(world: &World, tool: &str, input: &Value) -> (Option<i32>, String) {
    let mut command = world.command(&["tool", "call", tool, &input.to_string()]);
    let output = command.env("DEPLOY_TOKEN", SECRET).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_launch_needs_no_question_and_an_attach_does() {
    let Some(world) = world() else { return };
    world.write("a.py", "import time\nprint('up', flush=True)\ntime.sleep(60)\n");
    world.write("b.py", "print('it ran')\n");
    let (code, text) = call(&world, "start_debugging", &json!({ "program": "b.py" }));
    assert!(code == Some(0) && text.contains("it ran"), "{text}");
    let mut running =
        Command::new("python3").arg(world.work().join("a.py")).stdout(Stdio::null()).spawn().unwrap();
    for input in [
        json!({ "process_id": running.id() }),
        json!({ "configuration": { "type": "debugpy", "request": "attach", "name": "x", "connect": { "port": 5678 } } }),
        json!({ "configuration": { "type": "debugpy", "request": "launch", "name": "x", "program": "b.py", "debugServer": 5678 } }),
    ] {
        let (code, text) = call(&world, "start_debugging", &input);
        assert!(code == Some(3) && text.contains("outside the sandbox"), "{input}: {code:?} {text}");
    }
    assert!(running.try_wait().unwrap().is_none());
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn hidden_files_are_quoted_by_no_frame_and_take_no_breakpoint() {
    let Some(world) = world() else { return };
    let hidden = world.work().join("keys.py");
    world.write("keys.py", &format!("key = '{SECRET}'\n"));
    world.write(".stepwellignore", "keys.py\n");
    // A program can claim any file as its source.
    let claim = format!(
        "def claimed():\n    exec(compile('raise ValueError(1)', {:?}, 'exec'))\nclaimed()\n",
        hidden.to_string_lossy()
    );
    world.write("claim.py", &claim);
    world.write("opens.py", "print(open('keys.py').read())\n");
    for (tool, input) in [
        ("start_debugging", json!({ "program": "claim.py" })),
        ("debug_failure", json!({ "command": "python3 claim.py" })),
        ("debug_failure", json!({ "command": "python3 opens.py" })),
        ("start_debugging", json!({ "program": "opens.py" })),
        ("set_breakpoint", json!({ "file_path": "keys.py", "line": 1 })),
    ] {
        let (_, text) = call(&world, tool, &input);
        assert!(!text.contains(SECRET), "{tool} {input}: {text}");
    }
    // The twin: a file that is not hidden is quoted.
    world.write("claim.py", &claim.replace("keys.py", "shown.py"));
    world.write("shown.py", "shown = 'as it is'\n");
    let (_, text) = call(&world, "start_debugging", &json!({ "program": "claim.py" }));
    assert!(text.contains("as it is"), "{text}");
}

#[test]
fn secrets_of_a_configuration_reach_the_program_and_no_answer() {
    let Some(world) = world() else { return };
    world.write(
        "a.py",
        "import os, sys\nprint('got', len(sys.argv[1]), len(os.environ['FROM_FILE']))\n1 / 0\n",
    );
    world.write(".env", &format!("FROM_FILE={SECRET}-too\n"));
    let launch = json!({ "configurations": [{
        "name": "A", "type": "debugpy", "request": "launch", "program": "a.py",
        "args": ["${env:DEPLOY_TOKEN}"], "envFile": "${workspaceFolder}/.env",
    }] });
    world.write(".vscode/launch.json", &launch.to_string());
    assert_eq!(world.output(&["config", "trust"]).status.code(), Some(0));
    for tool in ["start_debugging", "debug_failure"] {
        let (_, text) = call(&world, tool, &json!({ "configuration_name": "A" }));
        let expected = format!("got {} {}", SECRET.len(), SECRET.len() + 4);
        assert!(text.contains(&expected) && !text.contains(SECRET), "{tool}: {text}");
    }
    // Asked about, it is shown as it is written.
    world.set_config("");
    let (code, text) = call(&world, "start_debugging", &json!({ "configuration_name": "A" }));
    assert!(code == Some(3) && !text.contains(SECRET), "{text}");
    // A model cannot name it.
    world.set_config("[permissions]\nallow = [\"start_debugging\"]\n");
    let own = json!({ "configuration": {
        "name": "B", "type": "debugpy", "request": "launch", "program": "a.py", "args": ["${env:DEPLOY_TOKEN}"],
    } });
    let (code, text) = call(&world, "start_debugging", &own);
    assert!(code != Some(0) && text.contains("it holds a secret"), "{text}");
}

#[test]
fn debugged_programs_are_confined_as_commands_are() {
    let Some(world) = world() else { return };
    world.write(
        "a.py",
        "import os\nfor path in ['/etc/outside', 'inside', '/tmp/inside', '.git/hooks/x', 'AGENTS.md']:\n    \
         try:\n        open(path, 'w').close()\n        print(path, 'written')\n    except OSError:\n        \
         print(path, 'refused')\nprint('home', os.path.exists(os.path.expanduser('~/.ssh/id')))\n",
    );
    world.write("AGENTS.md", "as it was\n");
    std::fs::create_dir_all(world.work().join(".git/hooks")).unwrap();
    std::fs::create_dir_all(world.work().parent().unwrap().join(".ssh")).unwrap();
    std::fs::write(world.work().parent().unwrap().join(".ssh/id"), SECRET).unwrap();
    for (tool, input) in [
        ("start_debugging", json!({ "program": "a.py" })),
        ("debug_failure", json!({ "command": "python3 a.py" })),
    ] {
        let (_, text) = call(&world, tool, &input);
        for line in [
            "/etc/outside refused",
            "inside written",
            "/tmp/inside written",
            ".git/hooks/x refused",
            "AGENTS.md refused",
            "home False",
        ] {
            assert!(text.contains(line), "{tool}: {line}: {text}");
        }
    }
}

#[test]
fn rules_for_commands_reach_what_debuggers_start() {
    let world = World::new([]);
    world.set_config(
        "[permissions]\nallow = [\"start_debugging\", \"debug_failure\", \"trace_execution\"]\ndeny = [\"bash(touch *)\", \"bash(bash *)\", \"start_debugging(ls *)\"]\n",
    );
    world.write("touching.sh", "touch made\n");
    let node = json!({ "type": "node", "request": "launch", "name": "x", "runtimeExecutable": "touch", "runtimeArgs": ["made"] });
    let python = json!({ "type": "debugpy", "request": "launch", "name": "x", "program": "made", "python": ["touch"] });
    let shell = json!({ "type": "lldb-dap", "request": "launch", "name": "x", "program": "/bin/true",
        "initCommands": ["platform shell touch made"] });
    for (tool, input, rule) in [
        ("start_debugging", json!({ "command": "touch made" }), "bash(touch *)"),
        ("start_debugging", json!({ "program": "/usr/bin/touch", "args": ["made"] }), "bash(touch *)"),
        ("start_debugging", json!({ "configuration": node }), "bash(touch *)"),
        ("start_debugging", json!({ "configuration": python }), "bash(touch *)"),
        ("start_debugging", json!({ "configuration": shell }), "bash(touch *)"),
        ("debug_failure", json!({ "command": "touch made" }), "bash(touch *)"),
        ("debug_failure", json!({ "command": "bash touching.sh" }), "bash(bash *)"),
        ("start_debugging", json!({ "command": "ls -l" }), "start_debugging(ls *)"),
    ] {
        let (code, text) = call(&world, tool, &input);
        assert!(code == Some(3) && text.contains(rule), "{input}: {code:?} {text}");
    }
    assert!(!world.work().join("made").exists());
}

/// The number by which this machine knows a process below another one whose command line ends so.
fn process_below(root: u32, ending: &str) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        let mut left = vec![root];
        while let Some(pid) = left.pop() {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.starts_with("python3") && line.trim_end().ends_with(ending) {
                return pid;
            }
            for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
                let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
                left.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            }
        }
    }
    panic!("{ending} does not run");
}

#[test]
fn process_of_a_background_command_is_attached_to_without_a_question() {
    let Some(world) = world() else { return };
    world.set_config("[permissions]\nallow = [\"bash\"]\n");
    world.write("own.py", "import time\nprint('up', flush=True)\ntime.sleep(60)\n");
    world.write("other.py", "import time\ntime.sleep(60)\n");
    let mut client = Talker::start(&world, &["--tools", "shell,debug"]);
    client.hello("2025-06-18", json!({}));
    let started = client.call("bash", json!({ "command": "python3 own.py", "background": true }));
    assert_eq!(started["result"]["isError"], false, "{started}");
    let own = process_below(client.id(), "own.py");
    let answer = client.call("start_debugging", json!({ "process_id": own, "timeout": 20 }));
    assert!(!answer.to_string().contains("cannot ask the person"), "{answer}");
    let mut other = Command::new("python3").arg(world.work().join("other.py")).spawn().unwrap();
    let answer = client.call("start_debugging", json!({ "process_id": other.id() }));
    assert!(answer.to_string().contains("cannot ask the person"), "{answer}");
    other.kill().unwrap();
    other.wait().unwrap();
    client.end();
}

#[test]
fn js_debug_has_a_terminal_in_the_sandbox() {
    let adapters = std::env::var_os("STEPWELL_TEST_ADAPTERS").map(PathBuf::from);
    let Some(adapters) = adapters.filter(|folder| folder.join("js-debug").is_dir()) else {
        assert!(std::env::var_os("CI").is_none(), "js-debug is missing");
        eprintln!("skipped: STEPWELL_TEST_ADAPTERS has no js-debug");
        return;
    };
    let world = World::new([]);
    world.set_config("[permissions]\nallow = [\"start_debugging\"]\n");
    // The folder may be a link to another disk.
    std::os::unix::fs::symlink(adapters, world.data().join("adapters")).unwrap();
    world.write("a.js", "console.log('terminal', process.stdout.isTTY, process.argv[2])\n");
    let configuration = json!({ "type": "js-debug", "request": "launch", "name": "x", "program": "a.js",
        "args": ["two words"], "console": "integratedTerminal" });
    let (code, text) =
        call(&world, "start_debugging", &json!({ "configuration": configuration, "timeout": 60 }));
    assert!(code == Some(0) && text.contains("terminal true two words"), "{code:?} {text}");
    assert!(text.contains("completed") && !text.contains("Debugger attached"), "{text}");
}
