//! Every answer of every debugger tool, errors included, against schemas that were written by hand from the documents the
//! tools were designed from. Driven through the server with debugpy, and with a native debugger where a tool needs one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::debug::has_debugpy;
use super::talker::Talker;
use crate::world::World;

const PYTHON: &str = include_str!("../../../../../fixtures/debug/python/shop.py");
const C: &str = "#include <stdio.h>\nint add(int a, int b) {\n  int c = a + b;\n  return c;\n}\nint main(void) {\n  int total = 0;\n  for (int i = 0; i < 3; i++)\n    total = add(total, i);\n  printf(\"%d\\n\", total);\n  return 0;\n}\n";

/// The line of the Python program with this mark.
fn line(mark: &str) -> usize {
    let mark = format!("MARK:{mark}");
    1 + PYTHON.lines().position(|line| line.ends_with(&mark)).unwrap()
}

/// The schema of each tool's answers.
fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests/debugger-answers");
    let read = |path: &Path| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let shared = read(&folder.join("definitions.json"));
    let mut schemas = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name != "definitions" {
            let mut schema = read(&path);
            schema["$defs"] = shared["$defs"].clone();
            schemas.insert(name, schema);
        }
    }
    schemas
}

/// A client whose answers are all checked.
struct Checked {
    client: Talker,
    schemas: BTreeMap<String, Value>,
    /// The statuses that each tool has answered with.
    seen: BTreeMap<String, BTreeSet<String>>,
}

impl Checked {
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let message = self.client.call(tool, arguments.clone());
        let text = message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
        let value: Value =
            serde_json::from_str(text).unwrap_or_else(|_| panic!("{tool} answers no JSON: {text}"));
        let validator = jsonschema::validator_for(&self.schemas[tool]).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{tool} {arguments}: {error} at {}\n{value:#}", error.instance_path());
        }
        let is_error = value["status"] == "error";
        assert_eq!(message["result"]["isError"] == true, is_error, "{tool}: {message}");
        if !is_error {
            assert_eq!(message["result"]["structuredContent"], value, "{tool}");
        }
        let status = value["status"].as_str().unwrap().to_owned();
        self.seen.entry(tool.to_owned()).or_default().insert(status);
        value
    }
}

/// The whole story of a Python program: every tool that works without a native debugger.
fn drive_python(checked: &mut Checked, world: &World) {
    let started = checked.call("start_debugging", json!({"program": "shop.py", "no_debug": true}));
    assert_eq!(started["status"], "completed", "{started}");
    checked.call("set_function_breakpoint", json!({"function_name": "no_such_function"}));
    checked.call(
        "set_breakpoint",
        json!({"file_path": "shop.py", "line_number": line("loop"), "column_number": 1,
        "condition": "i >= 0", "hit_condition": "> 0"}),
    );
    checked.call(
        "set_breakpoint",
        json!({"file_path": "shop.py", "line_number": line("after"), "log_message": "at {total}"}),
    );
    checked.call("get_breakpoints", json!({}));
    let stop = checked.call("start_debugging", json!({"program": "shop.py"}));
    let data = &stop["stop_event_data"];
    assert_eq!(stop["status"], "stopped", "{stop}");
    let (thread, frame) = (data["thread_id"].clone(), data["call_stack"][0]["frame_id"].clone());
    let rows = data["top_frame_variables"]["variables"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["evaluate_name"].is_string()), "{data}");
    checked.call("list_sessions", json!({}));
    checked.call("get_threads", json!({}));
    checked.call("get_call_stack", json!({"source": true}));
    let scopes = checked.call("get_scopes", json!({"frame_id": frame}));
    let reference = scopes["scopes"][0]["variables_reference"].clone();
    checked.call("get_variables", json!({"variables_reference": reference}));
    for context in ["watch", "repl", "hover", "clipboard"] {
        checked.call(
            "evaluate_expression",
            json!({"expression": "numbers", "frame_id": frame, "context": context}),
        );
    }
    checked.call("set_variable", json!({"name": "total", "value": "3"}));
    checked.call("set_exception_breakpoints", json!({"filters": ["raised"]}));
    for (step, brief) in [("over", false), ("into", true), ("out", true)] {
        checked.call("step_execution", json!({"thread_id": thread, "step_type": step, "brief": brief}));
    }
    checked.call("continue_debugging", json!({"thread_id": thread, "brief": true}));
    checked.call("wait_for_stop", json!({}));
    checked.call("pause_debugging", json!({}));
    checked.call("debug_watch", json!({"expression": "total", "max_writes": 1}));
    checked.call("run_to_location", json!({"file_path": "shop.py", "line_number": line("loop")}));
    checked.call("debug_tracepoints", json!({"points": [{"file_path": "shop.py", "line_number": line("add"), "expressions": ["number"]}], "max_hits": 1}));
    checked.call("get_output", json!({}));
    checked.call("remove_breakpoint", json!({"clear_all": true}));
    checked.call("continue_debugging", json!({}));
    checked.call("restart_debugging", json!({"timeout": 20}));
    checked.call("debug_trace", json!({"command": "python3 shop.py", "function": "add"}));
    checked.call(
        "debug_trace",
        json!({"command": "python3 shop.py", "function": "no_such_function", "timeout": 20}),
    );
    let point =
        json!([{"file_path": "shop.py", "line_number": line("add"), "expressions": ["total", "missing"]}]);
    checked.call("debug_tracepoints", json!({"command": "python3 shop.py", "points": point}));
    let runs = json!({"points": point, "first": {"command": "python3 shop.py"}, "second": {"command": "python3 shop.py exit"}});
    checked.call("debug_compare", runs);
    checked.call("debug_failure", json!({"command": "python3 shop.py fail"}));
    let asks = checked.call("start_debugging", json!({"command": "python3 ask.py", "timeout": 8}));
    assert_eq!(asks["status"], "timeout", "{asks}");
    checked.call("send_input", json!({"text": "Ada\n"}));
    let ended = checked.call("wait_for_stop", json!({}));
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("completed"), &json!(0)), "{ended}");
    checked.call("start_debugging", json!({"program": "shop.py", "stop_on_entry": true, "brief": true}));
    checked.call("stop_debugging", json!({}));
    world.write(
        ".vscode/launch.json",
        r#"{"configurations": [{"name": "A", "type": "python", "request": "launch"}]}"#,
    );
    checked.call("get_debugger_configurations", json!({}));
    world.write(".vscode/launch.json", "{ this is no JSON");
    checked.call("get_debugger_configurations", json!({}));
}

/// What the tools answer where there is no session, where they are called wrongly, and where a call is refused.
fn drive_errors(checked: &mut Checked) {
    let names: Vec<String> = checked.schemas.keys().cloned().collect();
    for tool in names.iter().map(String::as_str) {
        // Arguments of a wrong type never reach the tool.
        let wrong = json!({"timeout": {"a": 1}, "file_path": 7, "frame_id": "x", "variables_reference": [], "points": 3,
            "expression": {}, "step_type": 0, "count": "many", "session_id": 9, "limit": {}, "text": 1, "name": 4,
            "breakpoint_id": "b", "filters": 5, "function_name": {}, "address": 6, "first": 1, "command": 8});
        checked.call(tool, wrong);
        if !matches!(tool, "get_debugger_configurations" | "get_breakpoints" | "list_sessions") {
            checked.call(tool, json!({"session_id": "s99", "frame_id": 99, "variables_reference": 99, "breakpoint_id": 99,
                "file_path": "no.py", "line_number": 1, "expression": "x", "step_type": "over", "name": "x", "value": "1",
                "text": "x", "function_name": "f", "address": "0x1", "command": "no-such-program", "configuration_name": "N",
                "filters": ["none"], "points": [], "first": {"command": "no-such-program"}, "second": {"command": "no"}}));
        }
    }
    for (tool, arguments) in [
        ("stop_debugging", json!({})),
        ("get_debugger_configurations", json!({})),
        ("start_debugging", json!({"configuration_name": "None"})),
        ("set_breakpoint", json!({"file_path": "shop.py", "line_number": 1, "column_number": 0})),
        ("set_function_breakpoint", json!({})),
        ("get_output", json!({})),
    ] {
        assert_eq!(checked.call(tool, arguments)["status"], "error", "{tool}");
    }
}

/// The tools that need a native debugger.
fn drive_native(checked: &mut Checked) {
    checked.call("set_function_breakpoint", json!({"function_name": "add"}));
    let stop = checked.call("start_debugging", json!({"program": "sum"}));
    assert_eq!(stop["status"], "stopped", "{stop}");
    checked.call("disassemble", json!({"count": 4}));
    checked.call("set_data_breakpoint", json!({"expression": "c"}));
    checked.call("continue_debugging", json!({"thread_id": stop["stop_event_data"]["thread_id"]}));
    for (tool, arguments) in [
        ("continue_debugging", json!({"thread_id": 99_999_999})),
        ("step_execution", json!({"thread_id": 99_999_999, "step_type": "over"})),
        ("pause_debugging", json!({"thread_id": 99_999_999})),
        ("get_call_stack", json!({"thread_id": 99_999_999})),
        ("read_memory", json!({"address": "add(1, 2)"})),
    ] {
        assert_eq!(checked.call(tool, arguments)["status"], "error", "{tool}");
    }
    checked.call("stop_debugging", json!({}));
}

/// lldb-dap 19 cannot read memory; gdb can.
fn drive_gdb(checked: &mut Checked, world: &World) {
    let program = world.work().join("sum");
    let configuration = json!({"name": "sum", "type": "gdb", "request": "launch", "program": program});
    let stop = checked.call("start_debugging", json!({"configuration": configuration}));
    assert_eq!(stop["status"], "stopped", "{stop}");
    let memory = checked.call("read_memory", json!({"address": "c", "count": 4}));
    assert_eq!(memory["count"], 4, "{memory}");
    checked.call("stop_debugging", json!({}));
}

#[test]
fn every_answer_of_every_tool_fits_its_schema() {
    if !has_debugpy() {
        return;
    }
    let world = World::new([]);
    world.write("shop.py", PYTHON);
    world.write("ask.py", "print('hello', input('name? '))\n");
    world.write("sum.c", C);
    let built =
        Command::new("cc").args(["-g", "-O0", "-o", "sum", "sum.c"]).current_dir(world.work()).status();
    let has_native = built.is_ok_and(|status| status.success());
    assert!(has_native || std::env::var_os("CI").is_none(), "a C compiler is missing");
    let gdb = std::env::var("STEPWELL_TEST_GDB").ok().filter(|path| !path.is_empty());
    assert!(gdb.is_some() || std::env::var_os("CI").is_none(), "STEPWELL_TEST_GDB names no gdb");
    if let Some(gdb) = &gdb {
        world.set_config(&format!("[debug.adapters]\ngdb = {gdb:?}\n"));
    }
    let mut client = Talker::start(&world, &[]);
    client.hello("2025-06-18", json!({}));
    let mut checked = Checked { client, schemas: schemas(), seen: BTreeMap::new() };
    drive_errors(&mut checked);
    drive_python(&mut checked, &world);
    if has_native {
        drive_native(&mut checked);
    }
    if gdb.is_some() {
        drive_gdb(&mut checked, &world);
    }
    let listed = checked.client.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let seen = checked.seen.get(name).cloned().unwrap_or_default();
        let never_fails = matches!(name, "list_sessions" | "get_breakpoints");
        assert!(seen.contains("error") || never_fails, "{name} was never seen to fail: {seen:?}");
        let cannot_succeed = name == "read_memory" && gdb.is_none();
        assert!(
            seen.iter().any(|status| status != "error") || cannot_succeed,
            "{name} was never seen to succeed: {seen:?}"
        );
    }
    assert_eq!(checked.seen.len(), 31);
    checked.client.end();
}

/// The tool itself says nothing about a call that is not allowed.
#[test]
fn a_refused_call_has_a_status_too() {
    let world = World::new([]);
    world.set_config("permission_mode = \"plan\"\n");
    world.write("a.py", "open('ran', 'w')\n");
    let mut client = Talker::start(&world, &[]);
    client.hello("2025-06-18", json!({}));
    let mut checked = Checked { client, schemas: schemas(), seen: BTreeMap::new() };
    let refused = checked.call("start_debugging", json!({"program": "a.py"}));
    assert_eq!(refused["status"], "error", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("not allowed"), "{refused}");
    assert!(!world.work().join("ran").exists());
    checked.client.end();
}
