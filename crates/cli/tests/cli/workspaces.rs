//! What belongs to a workspace: its rules and trust, and what runs in it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use stepwell_protocol::Event;
use stepwell_test_support::{Turn, call};

use crate::served::Served;
use crate::world::World;

fn touch(file: &str) -> Turn {
    Turn::calls([call("bash", json!({"command": format!("touch {file}")}))])
}

/// The binary in another folder of the same world.
fn from(world: &World, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.current_dir(folder);
    command
}

fn refusals(world: &World) -> Vec<String> {
    let log = world.log(&world.only_task());
    let failed = log.into_iter().filter_map(|record| match record.event {
        Event::Observation { result } => result.error.map(|error| error.message),
        _ => None,
    });
    failed.collect()
}

#[test]
fn resume_uses_rules_of_the_task_workspace() {
    let elsewhere = tempfile::tempdir().unwrap();
    // From another folder, from none of ours, and from one within the workspace.
    for place in ["elsewhere", "root", "nested"] {
        let world = World::new([Turn::text("one"), touch("made"), Turn::text("two")]);
        world.write(".stepwell/config.toml", "[permissions]\ndeny = [\"bash(touch *)\"]\n");
        world.write("nested/inner.txt", "");
        assert!(world.output(&["run", "--quiet", "first"]).status.success());
        let nested = world.work().join("nested");
        let folder = match place {
            "elsewhere" => elsewhere.path(),
            "root" => Path::new("/"),
            _ => &nested,
        };
        let arguments =
            ["run", "--quiet", "--permission-mode", "bypassPermissions", "--resume", "1", "touch it"];
        let output = from(&world, folder, &arguments).output().unwrap();
        assert!(output.status.success(), "{place}: {}", world.show(&output));
        let refused = refusals(&world);
        assert!(
            refused.len() == 1 && refused[0].contains("project rule bash(touch *)"),
            "{place}: {refused:?}"
        );
        assert!(!world.work().join("made").exists());
    }
}

#[test]
fn resume_uses_trust_of_the_task_workspace() {
    let world = World::new([Turn::text("one"), touch("made"), Turn::text("two")]);
    assert!(world.output(&["run", "--quiet", "first"]).status.success());
    // Another folder is trusted and allows the command; the task's own folder says nothing about it.
    let trusted = tempfile::tempdir().unwrap();
    std::fs::create_dir(trusted.path().join(".stepwell")).unwrap();
    let settings = "[permissions]\nallow = [\"bash(touch *)\"]\n";
    std::fs::write(trusted.path().join(".stepwell/config.toml"), settings).unwrap();
    assert!(from(&world, trusted.path(), &["config", "trust"]).output().unwrap().status.success());
    let arguments = ["run", "--quiet", "--permission-mode", "dontAsk", "--resume", "1", "touch it"];
    from(&world, trusted.path(), &arguments).output().unwrap();
    let refused = refusals(&world);
    assert!(refused.len() == 1 && refused[0].contains("dontAsk"), "{refused:?}");
    assert!(!world.work().join("made").exists() && !trusted.path().join("made").exists());
}

/// Whether a process with this in its command line lives.
fn lives(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
fn a_background_command_lives_from_message_to_message_and_ends_with_the_last_door() {
    let mark = format!("7{}", std::process::id());
    let start = json!({"command": format!("echo started; exec sleep {mark}.5"), "background": true});
    let world = World::new([
        Turn::calls([call("bash", start)]),
        Turn::text("started"),
        Turn::calls([call("process_read", json!({}))]),
        Turn::text("it runs"),
        Turn::calls([call("process_read", json!({}))]),
        Turn::text("here too"),
    ]);
    let mut served = Served::start(&world);
    served.start_task(&world, "one", "start it");
    assert!(served.run_ended("one")[0].contains("runs in the background as 1"));
    served.say("one", "does it run?");
    assert!(served.run_ended("one")[0].contains("sleep"), "the next message finds it");
    // Another task of the same workspace sees the same command, and so does a list.
    served.start_task(&world, "two", "does it run?");
    assert!(served.run_ended("two")[0].contains("sleep"), "another task finds it");
    let listed = served.ask("query", json!({"type": "background_commands", "workspace": world.work()}));
    assert_eq!(listed["commands"][0]["process_id"], 1, "{listed}");
    assert_eq!(listed["commands"][0]["task"], "one");
    assert!(listed["commands"][0].get("ended").is_none());
    assert!(lives(&mark));
    let tasks = served.ask("query", json!({"type": "tasks"}));
    assert_eq!((&tasks["total"], &tasks["tasks"][0]["interrupted"]), (&json!(2), &json!(false)), "{tasks}");
    served.close();
    assert!(!lives(&mark), "nothing runs when the last door is closed");
}

#[test]
fn a_debug_session_lives_from_message_to_message() {
    if !crate::mcp::debug::has_debugpy() {
        return;
    }
    let program = "def add(a, b):\n    total = a + b\n    return total\n\nprint(add(1, 2))\n";
    let breakpoint = json!({"file": "main.py", "line": 3});
    let world = World::new([
        Turn::calls([call("set_breakpoint", breakpoint)]),
        Turn::calls([call("start_debugging", json!({"program": "main.py"}))]),
        Turn::text("stopped"),
        Turn::calls([call("evaluate_expression", json!({"expression": "total * 100"}))]),
        Turn::text("300"),
    ]);
    world.write("main.py", program);
    let mut served = Served::start(&world);
    served.start_task(&world, "one", "stop in add");
    let outputs = served.run_ended("one");
    assert!(outputs[1].contains("\"stopped\""), "{outputs:?}");
    let listed = served.ask("query", json!({"type": "debug_sessions", "workspace": world.work()}));
    let session = &listed["sessions"][0];
    assert_eq!(session["state"], "stopped", "{listed}");
    assert_eq!(
        (&session["stop"]["line"], &session["stop"]["reason"]),
        (&json!(3), &json!("breakpoint")),
        "{listed}"
    );
    let variables = session["stop"]["variables"].as_array().unwrap();
    assert!(variables.iter().any(|row| row["name"] == "total" && row["value"] == "3"), "{listed}");
    served.say("one", "what is total?");
    let outputs = served.run_ended("one");
    assert!(outputs[0].contains("300"), "{outputs:?}");
    served.close();
}

#[test]
fn a_front_end_undoes_redoes_and_restores_files_and_conversation() {
    let write = |text: &str| Turn::calls([call("bash", json!({"command": format!("echo {text} > a.txt")}))]);
    let world = World::new([write("one"), Turn::text("done"), write("two"), Turn::text("done")]);
    world.write("a.txt", "zero\n");
    let mut served = Served::start(&world);
    served.start_task(&world, "one", "change it");
    served.run_ended("one");
    served.say("one", "again");
    served.run_ended("one");
    let content = || std::fs::read_to_string(world.work().join("a.txt")).unwrap();
    assert_eq!(content(), "two\n");
    let workspace = world.work();
    let undone = served.command(json!({"type": "undo", "workspace": workspace, "count": 1}));
    assert_eq!(undone, json!({"result": "restored", "files": [{"path": "a.txt"}], "obstacles": []}));
    assert_eq!(content(), "one\n");
    served.command(json!({"type": "redo", "workspace": workspace}));
    assert_eq!(content(), "two\n");
    let listed = served.ask("query", json!({"type": "checkpoints", "workspace": workspace, "limit": 20}));
    let first =
        listed["checkpoints"].as_array().unwrap().iter().filter_map(|one| one["checkpoint"].as_u64()).min();
    served.command(json!({"type": "restore", "workspace": workspace, "checkpoint": first, "what": "both"}));
    assert_eq!(content(), "zero\n");
    let history = served.ask("query", json!({"type": "history", "task": "one", "limit": 50}));
    assert!(history.to_string().contains("history_rewound"), "{history}");
    // What the person changed meanwhile stands in the way, and nothing is lost.
    served.command(json!({"type": "redo", "workspace": workspace}));
    world.write("a.txt", "mine\n");
    let refused = served.command(json!({"type": "undo", "workspace": workspace, "count": 1}));
    assert_eq!(refused["obstacles"][0]["path"], "a.txt", "{refused}");
    assert_eq!(content(), "mine\n");
    served.close();
}

#[test]
fn a_line_that_is_no_message_is_refused_and_the_next_one_is_read() {
    let world = World::new([]);
    let mut served = Served::start(&world);
    served.send(&json!({"type": "nonsense"}));
    let refused = served.receive();
    assert_eq!(refused["type"], "rejected", "{refused}");
    let reply = served.ask("query", json!({"type": "commands"}));
    assert!(reply["commands"].as_array().unwrap().len() > 20, "{reply}");
    served.close();
}

#[test]
fn questions_are_answered_although_the_input_ends_at_once() {
    let world = World::new([]);
    let output = world
        .given(&["serve", "--stdio"], "{\"type\":\"query\",\"id\":7,\"query\":{\"type\":\"commands\"}}\n");
    assert!(output.status.success(), "{}", world.show(&output));
    let line = String::from_utf8(output.stdout).unwrap();
    let reply: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!((&reply["id"], &reply["type"]), (&json!(7), &json!("query_reply")));
}
