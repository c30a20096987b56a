//! The debugger as an MCP client uses it, with debugpy and a real program.

use serde_json::{Value, json};

use super::is_alive;
use super::talker::Talker;
use crate::world::World;

const PROGRAM: &str = include_str!("../../../../../fixtures/debug/python/shop.py");

/// The line with this mark.
fn line(mark: &str) -> i64 {
    let mark = format!("MARK:{mark}");
    let at = PROGRAM.lines().position(|line| line.ends_with(&mark)).unwrap();
    i64::try_from(at + 1).unwrap()
}

/// Whether debugpy is there; says that a test is skipped where it is not.
pub fn has_debugpy() -> bool {
    let found = std::process::Command::new("python3").args(["-c", "import debugpy"]).status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "debugpy is missing");
        eprintln!("skipped: debugpy is missing");
    }
    is_there
}

/// A client in a workspace with the program; `None` where debugpy is missing.
fn client(world: &World) -> Option<Talker> {
    if !has_debugpy() {
        return None;
    }
    world.write("shop.py", PROGRAM);
    let mut client = Talker::start(world, &[]);
    client.hello("2025-06-18", json!({}));
    Some(client)
}

/// Returns the output schema of a tool as `tools/list` shows it.
#[track_caller]
fn output_schema(client: &mut Talker, tool: &str) -> Value {
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let tool = tools.iter().find(|one| one["name"] == tool).unwrap_or_else(|| panic!("no tool {tool}"));
    tool["outputSchema"].clone()
}

/// A call's answer, which is the same as text and as data, and valid by the tool's output schema.
#[track_caller]
fn answer(client: &mut Talker, tool: &str, arguments: Value) -> Value {
    let schema = output_schema(client, tool);
    let message = client.call(tool, arguments);
    let text = message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
    let value: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    if message["result"]["isError"] == true {
        assert_eq!(value["status"], "error", "{value}");
    } else {
        assert_eq!(message["result"]["structuredContent"], value);
        jsonschema::validate(&schema, &value)
            .unwrap_or_else(|error| panic!("{tool}: {error}\n{value}\n{schema}"));
    }
    value
}

#[test]
fn a_program_is_stopped_looked_into_and_ended() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    let set = answer(
        &mut client,
        "set_breakpoint",
        json!({"file_path": "shop.py", "line_number": line("loop"), "hit_condition": "3"}),
    );
    assert_eq!((&set["status"], &set["breakpoint"]["verified"]), (&json!("success"), &json!(false)), "{set}");
    let id = set["breakpoint"]["id"].clone();

    let stopped = answer(&mut client, "start_debugging", json!({"program": "shop.py"}));
    let stop = &stopped["stop_event_data"];
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    for field in [
        "timestamp",
        "reason",
        "thread_id",
        "description",
        "text",
        "all_threads_stopped",
        "source",
        "line",
        "column",
        "call_stack",
        "top_frame_variables",
        "hit_breakpoint_ids",
        "session_id",
    ] {
        assert!(stop.get(field).is_some(), "{field} in {stop}");
    }
    assert_eq!((&stop["line"], &stop["hit_breakpoint_ids"]), (&json!(line("loop")), &json!([id])), "{stop}");
    assert_eq!(stop["new_output"], "begin\n");
    let listed = answer(&mut client, "get_breakpoints", json!({}));
    assert_eq!(listed["breakpoints"][0]["verified"], true, "{listed}");

    let frame = stop["call_stack"][0]["frame_id"].clone();
    let scopes = answer(&mut client, "get_scopes", json!({"frame_id": frame}));
    let reference = scopes["scopes"][0]["variables_reference"].clone();
    let variables = answer(&mut client, "get_variables", json!({"variables_reference": reference}));
    let names: Vec<&str> =
        variables["variables"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"total") && names.contains(&"numbers"), "{names:?}");
    let value =
        answer(&mut client, "evaluate_expression", json!({"expression": "total + i", "frame_id": frame}));
    assert_eq!((&value["result"], &value["type"]), (&json!("3"), &json!("int")), "{value}");
    let set = answer(&mut client, "set_variable", json!({"name": "total", "value": "40"}));
    assert_eq!(set["value"], "40", "{set}");

    let stepped =
        answer(&mut client, "step_execution", json!({"step_type": "into", "thread_id": stop["thread_id"]}));
    assert_eq!(stepped["stop_event_data"]["call_stack"][0]["function_name"], "add", "{stepped}");
    let old = answer(&mut client, "get_scopes", json!({"frame_id": frame}));
    assert!(old["message"].as_str().unwrap().contains("a stop that is over"), "{old}");
    let reached =
        answer(&mut client, "run_to_location", json!({"file_path": "shop.py", "line_number": line("after")}));
    assert_eq!(reached["stop_event_data"]["line"], line("after"), "{reached}");
    let total = answer(&mut client, "evaluate_expression", json!({"expression": "total"}));
    assert_eq!(total["result"], "54", "{total}");

    let ended = answer(&mut client, "continue_debugging", json!({"thread_id": stop["thread_id"]}));
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("completed"), &json!(0)), "{ended}");
    let again = answer(&mut client, "restart_debugging", json!({}));
    assert_eq!(again["status"], "stopped", "{again}");
    assert_eq!(answer(&mut client, "stop_debugging", json!({}))["status"], "success");
    assert_eq!(answer(&mut client, "remove_breakpoint", json!({"breakpoint_id": id}))["removed"], 1);
    client.end();
}

/// Every stop has the whole stack and all variables. On request, while it stays in one call, an answer holds what is new.
#[test]
fn brief_steps_tell_what_is_new() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    answer(&mut client, "set_breakpoint", json!({"file_path": "shop.py", "line_number": line("loop")}));
    let first = answer(&mut client, "start_debugging", json!({"program": "shop.py"}));
    let names = |answer: &Value| -> Vec<String> {
        let rows = answer["stop_event_data"]["top_frame_variables"]["variables"].as_array().cloned();
        rows.unwrap_or_default().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&first).contains(&"numbers".to_owned()), "{first}");
    assert!(first["stop_event_data"]["call_stack"].as_array().unwrap().len() > 1, "{first}");
    let mut news = Value::Null;
    for _ in 0..2 {
        news = answer(&mut client, "continue_debugging", json!({"brief": true}));
    }
    let stop = &news["stop_event_data"];
    assert_eq!(names(&news), ["i", "total"], "{news}");
    assert_eq!(stop["unchanged"], json!(["account", "count", "numbers"]), "{news}");
    assert_eq!(
        (stop["call_stack"].as_array().unwrap().len(), &stop["same_callers"]),
        (1, &json!(2)),
        "{news}"
    );
    let whole = answer(&mut client, "continue_debugging", json!({}));
    assert_eq!(names(&whole), names(&first), "{whole}");
    assert!(whole["stop_event_data"]["call_stack"].as_array().unwrap().len() > 1, "{whole}");
    let all = answer(&mut client, "wait_for_stop", json!({}));
    assert_eq!(names(&all), names(&first), "{all}");
    // Another call is told whole.
    let into = answer(&mut client, "step_execution", json!({"step_type": "into"}));
    assert_eq!(names(&into), ["number", "total"], "{into}");
    assert!(into["stop_event_data"]["call_stack"].as_array().unwrap().len() > 1, "{into}");
    client.end();
}

#[test]
fn output_and_sources_can_be_read() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    answer(&mut client, "set_breakpoint", json!({"file_path": "shop.py", "line_number": line("after")}));
    let stopped = answer(&mut client, "start_debugging", json!({"program": "shop.py"}));
    let session = stopped["session_id"].as_str().unwrap().to_owned();
    let listed = client.ask("resources/list", json!({}));
    let uris: Vec<String> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["uri"].as_str().unwrap().to_owned())
        .collect();
    let source = format!("stepwell://source/{session}{}", world.work().join("shop.py").display());
    assert!(uris.contains(&source), "{uris:?}");
    let templates = client.ask("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 2, "{templates}");
    let mut read = |uri: &str| client.ask("resources/read", json!({ "uri": uri }));
    let output = read(&format!("stepwell://output/{session}"));
    assert_eq!(output["result"]["contents"][0]["text"], "begin\n", "{output}");
    assert_eq!(read(&source)["result"]["contents"][0]["text"], PROGRAM);
    for nothing in [
        "stepwell://output/s99".to_owned(),
        format!("stepwell://source/{session}/etc/passwd"),
        format!("stepwell://source/{session}{}/../../etc/passwd", world.work().display()),
        "stepwell://source/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let refused = read(&nothing);
        assert!(refused.get("error").is_some(), "{nothing}: {refused}");
    }
    client.end();
}

#[test]
fn a_wait_ends_in_time_and_by_request_and_the_session_goes_on() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    let late =
        answer(&mut client, "start_debugging", json!({"program": "shop.py", "args": ["wait"], "timeout": 8}));
    assert_eq!((&late["status"], &late["state"]), (&json!("timeout"), &json!("Running")), "{late}");
    let waiting = client.request("tools/call", json!({"name": "wait_for_stop", "arguments": {}}));
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}}),
    );
    let paused = answer(&mut client, "pause_debugging", json!({}));
    assert_eq!(
        (&paused["status"], &paused["stop_event_data"]["reason"]),
        (&json!("stopped"), &json!("pause")),
        "{paused}"
    );
    let sessions = answer(&mut client, "list_sessions", json!({}));
    let process = sessions["sessions"][0]["process_id"].to_string();
    let process = super::number_outside(&process, &world.work()).unwrap();
    assert!(is_alive(&process), "{sessions}");
    client.end();
    super::until_gone(&process);
}

#[test]
fn whole_stories_in_one_answer() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    let trace = answer(
        &mut client,
        "debug_trace",
        json!({"command": "python3 shop.py", "function": "run", "file_path": "shop.py"}),
    );
    let text = trace["trace"].as_str().unwrap();
    assert!(text.contains("→ total=15") && text.contains("more rounds"), "{text}");
    assert!(trace.to_string().len() < 1500, "{}", trace.to_string().len());

    let point =
        json!([{"file_path": "shop.py", "line_number": line("add"), "expressions": ["number", "total"]}]);
    let table =
        answer(&mut client, "debug_tracepoints", json!({"command": "python3 shop.py", "points": point}));
    let values = &table["points"][0]["values"];
    assert_eq!(
        (&table["points"][0]["hits"], &values[0]["last"], &values[1]["last"]),
        (&json!(6), &json!("5"), &json!("10")),
        "{table}"
    );

    let point =
        json!([{"file_path": "shop.py", "line_number": line("main") + 2, "expressions": ["sys.argv[1:]"]}]);
    let runs = json!({"points": point, "first": {"command": "python3 shop.py"}, "second": {"command": "python3 shop.py exit"}});
    let compared = answer(&mut client, "debug_compare", runs);
    assert_eq!(compared["difference_at_hit"], 1, "{compared}");
    assert!(compared["second"].as_str().unwrap().contains("exit"), "{compared}");

    let failure = answer(&mut client, "debug_failure", json!({"command": "python3 shop.py fail"}));
    let failure = &failure["failure"];
    assert_eq!(
        (&failure["verdict"], &failure["place"]["line"]),
        (&json!("failed"), &json!(line("fail"))),
        "{failure}"
    );
    assert!(failure["values"].to_string().contains("secret = None"), "{failure}");

    answer(&mut client, "set_breakpoint", json!({"file_path": "shop.py", "line_number": line("loop")}));
    answer(&mut client, "start_debugging", json!({"program": "shop.py"}));
    let writes = answer(&mut client, "debug_watch", json!({"expression": "total", "max_writes": 2}));
    assert_eq!(writes["writes"].as_array().unwrap().len(), 2, "{writes}");
    assert!(writes["writes"][0].as_str().unwrap().contains("0 -> 1"), "{writes}");
    client.end();
}

#[test]
fn d03_a_launch_file_runs_nothing_before_the_folder_is_trusted() {
    let world = World::new([]);
    world.write(".vscode/launch.json", r#"{ // one
        "configurations": [{ "name": "Shop", "type": "python", "request": "launch", "program": "${workspaceFolder}/shop.py", }],
    }"#);
    let Some(mut client) = client(&world) else { return };
    let listed = answer(&mut client, "get_debugger_configurations", json!({}));
    assert_eq!(listed["configurations"][0]["program"], "${workspaceFolder}/shop.py", "{listed}");
    let refused = answer(&mut client, "start_debugging", json!({"configuration_name": "Shop"}));
    assert!(refused["message"].as_str().unwrap().contains("not trusted"), "{refused}");
    client.end();

    assert!(world.command(&["config", "trust"]).status().unwrap().success());
    let mut client = Talker::start(&world, &[]);
    client.hello("2025-06-18", json!({}));
    let ended = answer(&mut client, "start_debugging", json!({"configuration_name": "Shop"}));
    assert_eq!(ended["status"], "completed", "{ended}");
    client.end();
}

#[test]
fn d09_stepwell_and_its_parents_are_not_attached_to() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    let own = std::process::id();
    for pid in [1, own] {
        let refused = answer(&mut client, "start_debugging", json!({"process_id": pid}));
        assert_eq!(refused["status"], "error", "{refused}");
    }
    client.end();
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let world = World::new([]);
    let Some(mut client) = client(&world) else { return };
    let rows = [
        ("start_debugging", json!({}), "exactly one of"),
        ("start_debugging", json!({"configuration_name": "None"}), "there is no configuration `None`"),
        ("start_debugging", json!({"program": "no.py"}), "no.py"),
        ("set_breakpoint", json!({"file_path": "no.py", "line_number": 1}), "there is no file"),
        ("set_breakpoint", json!({"file_path": "shop.py", "line_number": 9999}), "has no line"),
        (
            "set_breakpoint",
            json!({"file_path": "shop.py", "line_number": 1, "hit_condition": "often"}),
            "no hit condition",
        ),
        ("continue_debugging", json!({}), "there is no session"),
        ("step_execution", json!({"step_type": "over", "session_id": "s9"}), "there is no session `s9`"),
        ("get_variables", json!({"variables_reference": 77}), "there is no variables reference 77"),
        ("remove_breakpoint", json!({}), "exactly one of"),
    ];
    for (tool, arguments, says) in rows {
        let refused = answer(&mut client, tool, arguments);
        let message = refused["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert!(message.contains(says), "{tool}: {message}");
    }
    client.end();
}
