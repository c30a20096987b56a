//! Mistakes are met with what was meant, and what cannot be undone is asked about first.

use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

#[test]
fn a_misspelt_name_is_told_with_what_was_meant() {
    let world = World::new([]);
    for (arguments, meant) in [
        (&["rnu"][..], "run"),
        (&["tasks", "lits"], "list"),
        (&["config", "shwo"], "show"),
        (&["man", "taks"], "tasks"),
        (&["tool", "show", "bahs"], "bash"),
        (&["tool", "call", "raed"], "read"),
        (&["run", "--mode", "coed", "x"], "code"),
        (&["run", "--permission-mode", "acceptEdit", "x"], "acceptEdits"),
        (&["run", "--premission-mode", "plan", "x"], "'--permission-mode'"),
        (&["config", "show", "-c", "sandbox.netwrok=[]"], "sandbox.network"),
    ] {
        let output = world.output(arguments);
        let text = world.show(&output);
        assert_ne!(output.status.code(), Some(0), "{arguments:?}: {text}");
        assert!(text.contains(meant), "{arguments:?}: {text}");
    }
    world.set_config("max_turn = 5\n");
    let text = world.show(&world.output(&["config", "show"]));
    assert!(text.contains("did you mean `max_turns`"), "{text}");
}

#[test]
fn doctor_tells_of_broken_settings_and_checks_the_rest() {
    let world = World::new([]);
    for (file, text) in [
        ("config", "modle = \"x\"\n"),
        ("config", "not toml"),
        ("config", "[permissions]\nallow = [\"bash(\"]\n"),
        ("project", "max_turns = \"many\"\n"),
        ("environment", "yolo"),
    ] {
        let mut command = world.command(&["doctor", "--offline", "--json"]);
        world.set_config("");
        std::fs::remove_dir_all(world.work().join(".stepwell")).ok();
        match file {
            "config" => world.set_config(text),
            "project" => world.write(".stepwell/config.toml", text),
            _ => drop(command.env("STEPWELL_PERMISSION_MODE", text)),
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}: {}", world.show(&output));
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        let state =
            |check: &str| rows.iter().find(|row| row["check"] == check).map(|row| row["state"].clone());
        assert_eq!(state("settings"), Some(json!("failed")), "{text}");
        assert_eq!(state("data folder"), Some(json!("ok")), "{text}");
        assert!(state("git").is_some() && state("model").is_some(), "{text}");
    }
}

#[test]
fn tasks_are_deleted_only_by_a_plain_word() {
    let world = World::new([Turn::text("one")]);
    world.output(&["run", "first"]);
    let output = world.output(&["tasks", "delete", "1"]);
    let text = world.show(&output);
    assert!(output.status.code() == Some(2) && text.contains("--yes"), "{text}");
    assert_eq!(world.home().task_ids().unwrap().len(), 1);
    assert_eq!(world.output(&["tasks", "delete", "1", "--yes"]).status.code(), Some(0));
    assert!(world.home().task_ids().unwrap().is_empty());
}

/// The message ids that `tasks show --ids` prints.
fn ids(world: &World) -> Vec<String> {
    let output = world.output(&["tasks", "show", "1", "--ids"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let id =
        |line: &str| line.strip_prefix("`msg_").map(|rest| format!("msg_{}", rest.trim_end_matches('`')));
    text.lines().filter_map(id).collect()
}

#[test]
fn a_message_is_said_anew_and_the_task_goes_on_from_there() {
    let world = World::new([Turn::text("one"), Turn::text("two"), Turn::text("other"), Turn::text("piped")]);
    world.output(&["run", "first"]);
    world.output(&["run", "--resume", "1", "second"]);
    let messages = ids(&world);
    assert_eq!(messages.len(), 4, "{messages:?}");
    let output = world.output(&["tasks", "edit", "1", &messages[2], "something", "else"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "other\n");
    let texts = || -> Vec<String> {
        world.server.last_request().messages().iter().map(|message| message.text.clone()).collect()
    };
    assert_eq!(texts()[texts().len() - 3..], ["first", "one", "something else"]);
    let output = world.given(&["tasks", "edit", "1", &messages[0]], "from a pipe");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "piped\n", "{}", world.show(&output));
    assert_eq!(texts().last().unwrap(), "from a pipe");
    assert_eq!(texts().iter().filter(|text| text.contains("first")).count(), 0);

    let before = world.log(&world.only_task()).len();
    for message in ["msg_absent", messages[1].as_str(), ""] {
        let output = world.output(&["tasks", "edit", "1", message, "x"]);
        let text = world.show(&output);
        assert!(output.status.code() == Some(2) && text.contains("--ids"), "`{message}`: {text}");
    }
    assert_eq!(world.output(&["tasks", "edit", "1", &ids(&world)[0]]).status.code(), Some(2), "no words");
    assert_eq!(world.log(&world.only_task()).len(), before, "nothing was taken back");
}

#[test]
fn the_end_of_a_task_can_be_shown_alone() {
    let world =
        World::new([Turn::calls([call("bash", json!({"command": "echo a"}))]), Turn::text("the answer")]);
    world.output(&["run", "--permission-mode", "bypassPermissions", "the question"]);
    let text = world.show(&world.output(&["tasks", "show", "1", "--tail", "1"]));
    assert!(text.contains("the answer") && text.contains("earlier entries are left out"), "{text}");
    assert!(!text.contains("## User"), "{text}");
    let whole = world.show(&world.output(&["tasks", "show", "1", "--tail", "99"]));
    assert!(whole.contains("## User") && !whole.contains("left out"), "{whole}");
    let output = world.output(&["tasks", "show", "1", "--json", "--tail", "2"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
}

#[test]
fn a_finished_task_of_roo_code_is_imported_as_finished() {
    let world = World::new([Turn::text("more")]);
    let history = json!([
        {"role": "user", "content": [{"type": "text", "text": "<task>\nfix it\n</task>"}], "ts": 1_760_000_000_000_i64},
        {"role": "assistant", "ts": 1_760_000_001_000_i64, "content": [
            {"type": "text", "text": "All done."},
            {"type": "tool_use", "id": "t1", "name": "attempt_completion", "input": {"result": "I fixed the parser."}},
        ]},
    ]);
    world.write("roo/api_conversation_history.json", &history.to_string());
    let item = json!({"id": "x", "number": 1, "ts": 1_760_000_001_000_i64, "task": "fix it", "tokensIn": 1, "tokensOut": 1,
        "totalCost": 0.0, "status": "completed"});
    world.write("roo/history_item.json", &item.to_string());
    let output = world.output(&["tasks", "import", "roo"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let text = world.show(&world.output(&["tasks", "show", "1"]));
    assert!(text.contains("## Result\n\nI fixed the parser.") && text.contains("completed"), "{text}");
    assert!(!text.contains("interrupted"), "{text}");
    let output =
        world.output(&["run", "--quiet", "--model", "mock/mock-model", "--resume", "1", "and tests"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nmore\n");
}
