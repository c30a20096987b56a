//! Folders of people who come from other agents work unchanged: one of Roo-Code, one of Claude Code.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// A copy of a folder of `fixtures/folders` as the workspace, with a repository around it.
fn world(name: &str, turns: impl IntoIterator<Item = Turn>) -> World {
    let world = World::new(turns);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/folders").join(name);
    let mut folders = vec![from.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let relative = path.strip_prefix(&from).unwrap().to_str().unwrap().to_owned();
                world.write(&relative, &std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    std::fs::create_dir(world.work().join(".git")).unwrap();
    world
}

/// Everything the model was sent in one request.
fn sent(world: &World, request: usize) -> String {
    let requests = world.server.requests();
    format!("{}\n{}", requests[request].system_text(), requests[request].body["messages"])
}

fn run(world: &World, arguments: &[&str]) -> String {
    let mut all = vec!["run", "--permission-mode", "bypassPermissions"];
    all.extend(arguments);
    let output = world.output(&all);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    world.show(&output)
}

fn json_of(world: &World, arguments: &[&str]) -> Value {
    let output = world.output(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_folder_of_roo_code_works_unchanged() {
    let read = |path: &str| call("read_file", json!({"path": path}));
    let world = world("roo", [Turn::calls([read("secret-plans.txt")]), Turn::text("done")]);
    let shown = run(&world, &["/greet Mia"]);
    let first = sent(&world, 0);
    for expected in [
        "Prices are in cents.",
        "/greet Mia",
        "Write a greeting for Mia into greetings.md",
        "The shop opens at nine.",
        "`changelog`: Writes the change log",
    ] {
        assert!(first.contains(expected), "{expected}: {first}");
    }
    for unexpected in ["Never read me", "Write for beginners.", "buy the other shop"] {
        assert!(!first.contains(unexpected), "{unexpected}: {first}");
    }
    // The mode of a project's command waits for trust.
    assert!(shown.contains("is meant for the mode `docs`"), "{shown}");
    assert!(!sent(&world, 1).contains("buy the other shop"));
    assert!(first.contains("Use tabs."), "{first}");

    let world = self::world("roo", [Turn::text("done")]);
    assert_eq!(world.output(&["config", "trust"]).status.code(), Some(0));
    run(&world, &["--quiet", "/greet Mia"]);
    let first = sent(&world, 0);
    assert!(
        first.contains("You are a technical writer of the tea shop.") && first.contains("Mode: docs"),
        "{first}"
    );
    assert!(first.contains("Write for beginners.") && !first.contains("Use tabs."), "{first}");
    let modes = json_of(&world, &["modes", "list", "--json"]);
    assert!(modes.to_string().contains("\"docs\""), "{modes}");
    let servers = json_of(&world, &["mcp", "list", "--json"]);
    assert!(servers.to_string().contains("clock"), "{servers}");
}

#[test]
fn a_folder_of_claude_code_works_unchanged() {
    let world = world(
        "claude",
        [
            Turn::calls([call("read", json!({"file_path": "src/api/forecast.py"}))]),
            Turn::calls([call("skill_loader", json!({"skill_name": "release-notes"}))]),
            Turn::text("done"),
        ],
    );
    // A hook is a program: it waits for trust.
    assert!(run(&world, &["/git:summary rain"]).contains("hooks of .claude/settings.json"));
    assert!(!world.work().join("hook-was-here").exists());
    let first = sent(&world, 0);
    for expected in [
        "# The weather service",
        "Use the metric system.",
        "Temperatures are in kelvin.",
        "Be kind to beginners.",
        "with regard to rain",
        "branch-main",
        "`release-notes`: Writes release notes.",
    ] {
        assert!(first.contains(expected), "{expected}: {first}");
    }
    for unexpected in ["never imported", "Python code has type hints.", "Answers of the API are JSON."] {
        assert!(!first.contains(unexpected), "{unexpected}: {first}");
    }
    // Both come when a file is touched for which they are.
    let second = sent(&world, 1);
    assert!(second.contains("Python code has type hints."), "{second}");
    assert!(second.contains("Answers of the API are JSON."), "{second}");
    let third = sent(&world, 2);
    assert!(third.contains("Follow references/form.md.") && third.contains("references/form.md"), "{third}");
    assert_eq!(third.matches("Answers of the API are JSON.").count(), 1, "{third}");
    let skills = json_of(&world, &["skills", "list", "--json"]);
    assert_eq!(skills[0]["name"], "release-notes");
    let commands = json_of(&world, &["commands", "list", "--json"]);
    assert!(commands.to_string().contains("git:summary"), "{commands}");
}

#[test]
fn hooks_of_claude_code_run_once_the_folder_is_trusted() {
    let read = Turn::calls([call("read", json!({"file_path": "docs/units.md"}))]);
    let world = world("claude", [read, Turn::text("done")]);
    assert_eq!(world.output(&["config", "trust"]).status.code(), Some(0));
    run(&world, &["--quiet", "look"]);
    assert_eq!(std::fs::read_to_string(world.work().join("hook-was-here")).unwrap(), "told\n");
}

#[test]
fn a_resumed_task_is_not_given_the_same_instructions_again() {
    let read = || Turn::calls([call("read", json!({"file_path": "src/api/forecast.py"}))]);
    let world = world("claude", [read(), Turn::text("done"), read(), Turn::text("again")]);
    run(&world, &["--quiet", "look"]);
    run(&world, &["--quiet", "--resume", "latest", "look again"]);
    let last = sent(&world, 3);
    assert_eq!(last.matches("Answers of the API are JSON.").count(), 1, "{last}");
}

#[test]
fn the_persons_words_bring_a_skill() {
    let world = world("claude", [Turn::text("done")]);
    run(&world, &["--quiet", "Please write the Release Notes now"]);
    let first = sent(&world, 0);
    assert!(first.contains("Follow references/form.md."), "{first}");
    assert!(first.contains("brings the skill `release-notes`"), "{first}");
}
