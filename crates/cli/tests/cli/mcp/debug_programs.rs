//! What the debugger does over MCP with programs of several languages: builds and tasks, names in any language, input,
//! attached processes, calls that are cancelled, clients that vanish.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::debug::has_debugpy;
use super::talker::Talker;
use super::{is_alive, number_outside, until_gone};
use crate::world::World;

/// Whether a program is there; says that a test is skipped where it is not.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = found.is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "{program} is missing");
    if !is_there {
        eprintln!("skipped: {program} is missing");
    }
    is_there
}

fn client(world: &World) -> Talker {
    let mut client = Talker::start(world, &[]);
    client.hello("2025-06-18", json!({}));
    client
}

#[track_caller]
fn answer(client: &mut Talker, tool: &str, arguments: Value) -> Value {
    let message = client.call(tool, arguments);
    let text = message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

/// A program that counts for ever and says its number in a file.
const FOREVER: &str =
    "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nwhile True:\n    time.sleep(0.02)\n";

/// The process in a sandbox that wrote its number.
fn process_of(world: &World) -> String {
    let start = Instant::now();
    loop {
        if let Ok(number) = std::fs::read_to_string(world.work().join("pid"))
            && !number.is_empty()
            && let Some(process) = number_outside(&number, &world.work())
        {
            return process;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the program does not start");
        std::thread::yield_now();
    }
}

#[test]
fn names_in_any_language_are_debugged() {
    if !has_debugpy() || !has("node") || !has("cc") {
        return;
    }
    let world = World::new([]);
    world.write(
        "项目 一/主程序.py",
        "def 计算(数):\n    结果 = 数 * 2\n    return 结果\n\n总数 = 计算(21)\nprint(总数)\n",
    );
    world.write(
        "项目 一/加法.js",
        "function 相加(甲, 乙) {\n  const 和 = 甲 + 乙;\n  return 和;\n}\nconsole.log(相加(1, 2));\n",
    );
    world.write("项目 一/程序.c", "#include <stdio.h>\nint main(void) {\n  int total = 42;\n  printf(\"%d\\n\", total);\n  return 0;\n}\n");
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O0", "-o", "程序", "程序.c"]).current_dir(world.work().join("项目 一"));
    assert!(compiler.status().unwrap().success());
    let mut client = client(&world);
    for (program, breakpoint, expression, value) in [
        ("项目 一/主程序.py", ("项目 一/主程序.py", 3), "结果", "42"),
        ("项目 一/加法.js", ("项目 一/加法.js", 3), "和", "3"),
        ("项目 一/程序", ("项目 一/程序.c", 4), "total", "42"),
    ] {
        let (file, line) = breakpoint;
        answer(&mut client, "set_breakpoint", json!({"file_path": file, "line_number": line}));
        let stop = answer(&mut client, "start_debugging", json!({"program": program}));
        assert_eq!(stop["stop_event_data"]["line"], line, "{program}: {stop}");
        let found = answer(&mut client, "evaluate_expression", json!({"expression": expression}));
        assert_eq!(found["result"], value, "{program}: {found}");
        answer(&mut client, "stop_debugging", json!({}));
    }
    for (command, function, shows) in
        [("python3 主程序.py", "计算", "结果=42"), ("node 加法.js", "相加", "和=3")]
    {
        let traced = answer(
            &mut client,
            "debug_trace",
            json!({"command": command, "function": function, "cwd": "项目 一"}),
        );
        // The breakpoints that are still set do not end it.
        assert!(traced["trace"].as_str().is_some_and(|trace| trace.contains(shows)), "{command}: {traced}");
        assert!(!traced.to_string().contains("breakpoint"), "{traced}");
    }
    client.end();
}

#[test]
fn builds_and_tasks_run_before_the_program_and_stop_it_where_they_fail() {
    if !has_debugpy() || !has("cargo") {
        return;
    }
    let world = World::new([]);
    let package = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n")
    };
    world.write("good/Cargo.toml", &package("good"));
    world.write("good/src/main.rs", "fn main() {\n    println!(\"built\");\n}\n");
    world.write("bad/Cargo.toml", &package("bad"));
    world.write("bad/src/main.rs", "fn main() {\n    let x: i32 = \"a\";\n}\n");
    world.write("a.py", "print(open('made.txt').read())\n");
    world.write(".vscode/launch.json", r#"{"configurations": [
        {"name": "Good", "type": "python", "request": "launch", "program": "${workspaceFolder}/a.py", "preLaunchTask": "make"},
        {"name": "Bad", "type": "python", "request": "launch", "program": "${workspaceFolder}/a.py", "preLaunchTask": "fail"}]}"#);
    world.write(
        ".vscode/tasks.json",
        r#"{"tasks": [
        {"label": "make", "type": "shell", "command": "echo made > made.txt"},
        {"label": "fail", "type": "shell", "command": "echo oops; exit 3"}]}"#,
    );
    assert!(world.command(&["config", "trust"]).status().unwrap().success());
    let mut client = client_with_home(&world);
    let point = |file: &str| json!([{"file_path": file, "line_number": 2, "expressions": ["1"]}]);
    let good = [
        ("start_debugging", json!({"configuration_name": "Good"}), "made"),
        ("start_debugging", json!({"command": "cargo run", "cwd": "good", "timeout": 120}), "built"),
        ("start_debugging", json!({"command": "cd good && cargo run"}), "built"),
    ];
    for (tool, arguments, printed) in good {
        let ended = answer(&mut client, tool, arguments.clone());
        assert_eq!(ended["status"], "completed", "{arguments}: {ended}");
        assert!(ended["new_output"].as_str().unwrap().contains(printed), "{ended}");
    }
    let bad = json!({"command": "cargo run", "cwd": "bad"});
    for (tool, arguments, says) in [
        ("start_debugging", json!({"configuration_name": "Bad"}), "exit code 3"),
        ("start_debugging", bad.clone(), "mismatched types"),
        (
            "debug_tracepoints",
            json!({"command": "cd bad && cargo run", "points": point("bad/src/main.rs")}),
            "mismatched types",
        ),
        ("debug_trace", json!({"command": "cd bad && cargo run", "function": "main"}), "mismatched types"),
        (
            "debug_compare",
            json!({"points": point("bad/src/main.rs"), "first": {"command": "cd good && cargo run"},
            "second": {"command": "cd bad && cargo run"}}),
            "mismatched types",
        ),
    ] {
        let failed = answer(&mut client, tool, arguments);
        assert_eq!(failed["status"], "error", "{tool}: {failed}");
        assert!(failed["message"].as_str().unwrap().contains(says), "{tool}: {failed}");
    }
    client.end();
}

/// A client whose server finds the toolchain of whoever runs the tests.
fn client_with_home(world: &World) -> Talker {
    let home = std::env::var("HOME").unwrap_or_default();
    let variable = |name: &str, folder: &str| {
        (name.to_owned(), std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}")))
    };
    let variables = [variable("CARGO_HOME", ".cargo"), variable("RUSTUP_HOME", ".rustup")];
    let mut client = Talker::start_with(world, &[], &variables);
    client.hello("2025-06-18", json!({}));
    client
}

#[test]
fn input_reaches_a_command_and_is_not_printed_again() {
    if !has_debugpy() || !has("node") || !has("cc") {
        return;
    }
    let world = World::new([]);
    world.write("ask.py", "print('hi', input('name? '))\n");
    world.write("ask.js", "process.stdin.once('data', (text) => { console.log('hi ' + text.toString().trim()); process.exit(0); });\n");
    world.write("ask.c", "#include <stdio.h>\nint main(void) {\n  char name[40];\n  if (scanf(\"%39s\", name) == 1) printf(\"hi %s\\n\", name);\n  return 0;\n}\n");
    let built =
        Command::new("cc").args(["-g", "-o", "ask", "ask.c"]).current_dir(world.work()).status().unwrap();
    assert!(built.success());
    let mut client = client(&world);
    for command in ["python3 ask.py", "node ask.js", "./ask"] {
        let ended = answer(&mut client, "start_debugging", json!({"command": command, "stdin": "Ada\n"}));
        assert_eq!(ended["status"], "completed", "{command}: {ended}");
        let printed = ended["new_output"].as_str().unwrap();
        assert_eq!(printed.matches("Ada").count(), 1, "{command}: {printed:?}");
        answer(&mut client, "start_debugging", json!({"command": command, "timeout": 2}));
        let sent = answer(&mut client, "send_input", json!({"text": "Bob\n"}));
        assert_eq!(sent["status"], "success", "{command}: {sent}");
        let ended = answer(&mut client, "wait_for_stop", json!({}));
        let output = answer(&mut client, "get_output", json!({"session_id": ended["session_id"]}));
        assert_eq!(output["output"].as_str().unwrap().matches("Bob").count(), 1, "{command}: {output}");
    }
    client.end();
}

#[test]
fn the_debugger_is_not_in_the_output_of_a_program() {
    if !has_debugpy() {
        return;
    }
    let world = World::new([]);
    world.write("fail.py", "def f(x):\n    return 1 / x\n\nf(0)\n");
    let mut client = client(&world);
    let stop = answer(&mut client, "start_debugging", json!({"command": "python3 fail.py"}));
    assert_eq!(stop["stop_event_data"]["reason"], "exception", "{stop}");
    let ended = answer(&mut client, "continue_debugging", json!({}));
    let printed = ended["new_output"].as_str().unwrap();
    assert!(
        printed.starts_with("Traceback (most recent call last):\n  File \"") && !printed.contains("debugpy"),
        "{printed}"
    );
    assert!(printed.ends_with("ZeroDivisionError: division by zero\n"), "{printed}");
    client.end();
}

#[test]
fn a_program_that_only_runs_ends_well_every_time() {
    if !has_debugpy() {
        return;
    }
    let world = World::new([]);
    world.write("a.py", "print('a')\n");
    let mut client = client(&world);
    for round in 0..8 {
        let ended = answer(&mut client, "start_debugging", json!({"program": "a.py", "no_debug": true}));
        assert_eq!(
            (&ended["status"], &ended["exit_code"]),
            (&json!("completed"), &json!(0)),
            "{round}: {ended}"
        );
        assert_eq!(ended["new_output"], "a\n", "{round}: {ended}");
    }
    client.end();
}

#[test]
fn an_attached_program_runs_on_and_is_let_go() {
    if !has_debugpy() {
        return;
    }
    let world = World::new([]);
    world.write("forever.py", FOREVER);
    let mut program = Command::new("python3")
        .arg("forever.py")
        .current_dir(world.work())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = program.id().to_string();
    while !world.work().join("pid").exists() {
        assert!(program.try_wait().unwrap().is_none(), "the program does not start");
        std::thread::yield_now();
    }
    // Nobody is asked; a client that cannot ask would be refused.
    world.set_config("permission_mode = \"bypassPermissions\"\n");
    let mut client = client(&world);
    let attached =
        answer(&mut client, "start_debugging", json!({"process_id": program.id(), "timeout": 600}));
    assert_eq!(
        (&attached["status"], &attached["state"]),
        (&json!("timeout"), &json!("Running")),
        "{attached}"
    );
    assert_eq!(answer(&mut client, "pause_debugging", json!({}))["status"], "stopped");
    assert_eq!(answer(&mut client, "stop_debugging", json!({}))["status"], "success");
    assert!(is_alive(&process));
    client.end();
    program.kill().unwrap();
    program.wait().unwrap();
}

#[test]
fn a_cancelled_start_ends_the_program() {
    if !has_debugpy() {
        return;
    }
    let world = World::new([]);
    world.write("forever.py", FOREVER);
    let mut client = client(&world);
    for tool in ["start_debugging", "debug_trace", "debug_tracepoints", "debug_failure"] {
        std::fs::remove_file(world.work().join("pid")).ok();
        let arguments = match tool {
            "debug_trace" => json!({"command": "python3 forever.py", "function": "never"}),
            "debug_tracepoints" => json!({"command": "python3 forever.py",
                "points": [{"file_path": "forever.py", "line_number": 1, "expressions": ["1"]}]}),
            _ => json!({"command": "python3 forever.py"}),
        };
        let call = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let process = process_of(&world);
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}),
        );
        until_gone(&process);
    }
    client.end();
}

/// A client over HTTP that starts a program and goes without a word ends it.
#[test]
fn the_sessions_of_a_vanished_http_client_end() {
    if !has_debugpy() {
        return;
    }
    let world = World::new([]);
    world.write("forever.py", FOREVER);
    let mut child = world.command(&["mcp", "--http"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let token = std::fs::read_to_string(world.data().join("mcp-token")).unwrap();
    let send = |method: &str, session: &str, body: &str| -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n{session}Content-Type: \
            application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            token.trim(), body.len()).unwrap();
        BufReader::new(stream)
    };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let session = send("POST", "", &hello.to_string())
        .lines()
        .map_while(Result::ok)
        .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"))
        .unwrap();
    let session = format!("{session}\r\nMCP-Protocol-Version: 2025-06-18\r\n");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    send("POST", &session, &ready.to_string()).lines().for_each(drop);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "start_debugging", "arguments": {"command": "python3 forever.py", "timeout": 1}}});
    send("POST", &session, &call.to_string()).lines().for_each(drop);
    let process = process_of(&world);
    assert!(is_alive(&process));
    // The call is answered and the program runs; the client ends its session.
    send("DELETE", &session, "").lines().for_each(drop);
    until_gone(&process);
    let sent = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(sent.success() && child.wait().unwrap().success());
}
