//! The error table, row by row: what happens, what is kept, what the person or the model is told.

use serde_json::{Value, json};
use stepwell_protocol::Event;
use stepwell_test_support::{Turn, call};

use crate::world::World;

const BYPASS: [&str; 3] = ["run", "--permission-mode", "bypassPermissions"];

fn run(world: &World) -> (Option<i32>, String) {
    let output = world.output(&[&BYPASS[..], &["go"]].concat());
    (output.status.code(), world.show(&output))
}

/// Calls one tool and gives its result.
fn tool(world: &World, name: &str, arguments: &Value, mode: &str) -> Value {
    let arguments = arguments.to_string();
    let output = world.output(&["tool", "call", name, &arguments, "--json", "--permission-mode", mode]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["result"].clone()
}

#[test]
fn llm_connection_error_is_tried_three_more_times_and_then_says_what_to_check() {
    let world = World::new([]);
    // A port nobody listens on: it was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.set_config(&format!(
        "model = \"mock/m\"\n[providers.mock]\nkind = \"openai-chat\"\nbase_url = \"http://{free}/v1\"\napi_key_env = \"MOCK_KEY\"\n"
    ));
    let (code, text) = run(&world);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("retry 3 of 3") && !text.contains("retry 4"), "{text}");
    assert!(text.contains(&free.to_string()) && text.contains("hint:"), "{text}");
    assert!(
        world.log(&world.only_task()).iter().any(|record| matches!(record.event, Event::UserMessage { .. }))
    );
}

#[test]
fn llm_rate_limit_error_is_backed_off_five_times() {
    let limited = || Turn::error(429, "slow down").retry_after("0");
    let world = World::new([limited(), limited(), limited(), limited(), limited(), Turn::text("at last")]);
    let (code, text) = run(&world);
    assert!(code == Some(0) && text.contains("at last") && text.contains("retry 5 of 5"), "{text}");

    let world = World::new([limited(), limited(), limited(), limited(), limited(), limited()]);
    let (code, text) = run(&world);
    assert!(code == Some(1) && text.contains("hint:"), "{text}");
    world.server.finish();
}

#[test]
fn tool_execution_error_goes_back_to_the_model() {
    let world = World::new([
        Turn::calls([call("edit", json!({"file_path": "a.txt", "old_str": "x", "new_str": "y"}))]),
        Turn::text("the file is not there"),
    ]);
    let (code, text) = run(&world);
    assert!(code == Some(0) && text.contains("the file is not there"), "{text}");
    assert!(world.server.last_request().tool_results()[0].text.contains("does not exist"));
}

#[test]
fn max_iterations_error_stops_and_returns_the_progress() {
    let world =
        World::new([Turn::calls([call("bash", json!({"command": "echo a"}))]).with_text("first I look")]);
    let output = world.output(&[&BYPASS[..], &["--max-turns", "1", "go"]].concat());
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(
        text.contains("1 tool call so far") && text.contains("first I look") && text.contains("--resume"),
        "{text}"
    );
}

#[test]
fn file_not_found_error_suggests_where_to_look() {
    let world = World::new([]);
    world.write("src/parser.rs", "fn parse() {}\n");
    let result = tool(&world, "read", &json!({"file_path": "src/praser.rs"}), "default");
    assert!(result["output"].as_str().unwrap().contains("src/parser.rs"), "{result}");
}

#[test]
fn permission_denied_error_says_what_was_not_permitted() {
    let world = World::new([]);
    let result = tool(&world, "write", &json!({"file_path": "a.txt", "content": "x"}), "plan");
    assert_eq!(result["error"]["class"], "PERMISSION_ERROR");
    assert!(result["output"].as_str().unwrap().contains("plan"), "{result}");
    assert!(!world.work().join("a.txt").exists());
}

#[test]
fn command_timeout_error_ends_the_command_and_returns_what_it_printed() {
    let world = World::new([]);
    let arguments = json!({"command": "echo before; sleep 600", "timeout": 1});
    let result = tool(&world, "bash", &arguments, "bypassPermissions");
    assert_eq!(result["error"]["class"], "TIMEOUT_ERROR");
    assert!(result["output"].as_str().unwrap().contains("before"), "{result}");
}

#[test]
fn workspace_boundary_error_refuses() {
    let world = World::new([]);
    let outside = world.config().join("config.toml").display().to_string();
    for path in ["../config/config.toml", &outside, "/etc/passwd", "/proc/self/environ"] {
        let result = tool(&world, "read", &json!({"file_path": path}), "bypassPermissions");
        assert!(!result["error"].is_null(), "{path}: {result}");
        assert!(!result.to_string().contains("api_key_env"), "{path}: {result}");
    }
}

#[test]
fn serialization_errors_are_told_apart_and_say_what_to_do() {
    let world = World::new([]);
    for (content, word) in [
        ("{\"version\": 2,", "line 1"),
        ("{\"version\": 99}", "99"),
        ("{\"version\": 2, \"messages\": 5}", "damaged"),
    ] {
        world.write("bad.json", content);
        let output = world.output(&["tasks", "import", "bad.json"]);
        let text = world.show(&output);
        assert!(
            output.status.code() == Some(1) && text.contains(word) && text.contains("hint:"),
            "{content}: {text}"
        );
    }
}
