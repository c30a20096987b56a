//! `stepwell tool`: the executor by hand.

use serde_json::Value;

use crate::world::World;

fn call(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    let output = world.output(&[&["tool", "call"][..], arguments].concat());
    (output.status.code(), world.show(&output))
}

#[test]
fn tools_are_listed_and_shown() {
    let world = World::new([]);
    let output = world.output(&["tool", "list", "--json"]);
    let tools: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in [
        "read",
        "write",
        "edit",
        "list",
        "bash",
        "todoread",
        "todowrite",
        "ask_clarification",
        "request_decision",
        "attempt_completion",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let shown = world.show(&world.output(&["tool", "show", "read_file"]));
    assert!(shown.contains("file_path"), "{shown}");
    let wrong = world.show(&world.output(&["tool", "show", "rad"]));
    assert!(wrong.contains("did you mean read"), "{wrong}");
}

#[test]
fn exit_codes_follow_the_class_of_the_error() {
    let world = World::new([]);
    world.write("a.txt", "hello\n");
    let (code, text) = call(&world, &["read", r#"{"file_path": "a.txt"}"#]);
    assert!(code == Some(0) && text.contains("hello"), "{text}");
    let (code, text) = call(&world, &["read", r#"{"file_path": "../../etc/passwd"}"#]);
    assert!(code != Some(0) && !text.contains("root:"), "{text}");
    let (code, text) = call(&world, &["read", r#"{"limit": 5}"#]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = call(&world, &["bash", r#"{"command": "echo hi > b.txt"}"#]);
    assert!(code == Some(3) && text.contains("--permission-mode"), "{text}");
    // A rule that would do is named, and does.
    let (code, text) = call(&world, &["bash", r#"{"command": "touch made"}"#]);
    let rules = r#"allow = ["bash(touch *)"]"#;
    assert!(code == Some(3) && text.contains(rules), "{text}");
    world.set_config(&format!("[permissions]\n{rules}\n"));
    let (code, text) = call(&world, &["bash", r#"{"command": "touch made"}"#]);
    assert!(code == Some(0) && world.work().join("made").exists(), "{text}");
    world.set_config("");
    let (code, text) = call(
        &world,
        &["bash", r#"{"command": "echo hi > b.txt; cat b.txt"}"#, "--permission-mode", "bypassPermissions"],
    );
    assert!(code == Some(0) && text.contains("hi"), "{text}");
    // What only reads needs no asking.
    let (code, text) = call(&world, &["bash", r#"{"command": "cat a.txt"}"#]);
    assert!(code == Some(0) && text.contains("hello"), "{text}");
    // A key in use is shown by no tool, whatever prints it.
    let (_, text) = call(
        &world,
        &["bash", r#"{"command": "echo mock-key-value"}"#, "--permission-mode", "bypassPermissions"],
    );
    assert!(!text.contains("mock-key-value") && text.contains("redacted"), "{text}");
    let (code, text) = call(&world, &["no_such_tool", "{}"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn malformed_arguments_are_repaired_or_explained() {
    let world = World::new([]);
    world.write("a.txt", "hello\n");
    let (code, text) = call(&world, &["read", "```json\n{file_path: 'a.txt', limit: \"1\",}\n```"]);
    assert!(code == Some(0) && text.contains("hello"), "{text}");
    let cut_off = r#"{"file_path": "a.txt", "content": "half of i"#;
    let (code, text) = call(&world, &["write", cut_off, "--permission-mode", "bypassPermissions"]);
    assert_eq!(code, Some(2), "{text}");
    assert_eq!(std::fs::read_to_string(world.work().join("a.txt")).unwrap(), "hello\n");
}
