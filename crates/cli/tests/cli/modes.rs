//! Modes from the outside: what each may do, where they come from, and how a model gets out of one.

use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// Runs one turn of calls in a mode and gives what the model read of each.
fn results(world: &World, mode: &str) -> Vec<String> {
    let output =
        world.output(&["run", "--quiet", "--mode", mode, "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let results = world.server.last_request().tool_results();
    results.iter().map(|result| result.text.clone()).collect()
}

fn world(calls: impl IntoIterator<Item = (&'static str, Value)>) -> World {
    let calls: Vec<_> = calls.into_iter().map(|(name, arguments)| call(name, arguments)).collect();
    World::new([Turn::calls(calls), Turn::text("done")])
}

#[test]
fn architect_changes_markdown_files_and_nothing_else() {
    let world = world([
        ("write", json!({"file_path": "src/main.rs", "content": "fn main() {}\n"})),
        ("write_to_file", json!({"path": "docs/plan.md", "content": "# Plan\n"})),
        ("bash", json!({"command": "echo x > src/main.rs"})),
        (
            "batch_edit",
            json!({"edits": [
                {"file_path": "notes.md", "old_str": "a", "new_str": "b"},
                {"file_path": "code.py", "old_str": "a", "new_str": "b"},
            ]}),
        ),
        ("edit", json!({"file_path": "link.md", "old_str": "a", "new_str": "b"})),
    ]);
    world.write("notes.md", "a\n");
    world.write("code.py", "a\n");
    std::os::unix::fs::symlink("code.py", world.work().join("link.md")).unwrap();
    let results = results(&world, "architect");
    assert!(
        results[0].contains("`architect` may only change Markdown files (`\\.md$`), not `src/main.rs`"),
        "{results:#?}"
    );
    assert!(!results[1].contains("not allowed"), "{results:#?}");
    assert!(results[2].contains("the mode `architect` has no tools of the group `command`"), "{results:#?}");
    assert!(results[2].contains("`code` or `debug` has them"), "{results:#?}");
    assert!(results[3].contains("not `code.py`"), "{results:#?}");
    assert_eq!(std::fs::read_to_string(world.work().join("docs/plan.md")).unwrap(), "# Plan\n");
    assert!(!world.work().join("src").exists());
    for name in ["notes.md", "code.py"] {
        assert_eq!(std::fs::read_to_string(world.work().join(name)).unwrap(), "a\n", "{name}: {results:#?}");
    }
    // What a mode does not have is not shown to the model either.
    let request = world.server.requests().into_iter().next().unwrap();
    let names = request.tool_names();
    assert!(names.contains(&"write".to_owned()) && !names.contains(&"bash".to_owned()), "{names:?}");
}

#[test]
fn programs_cannot_change_the_workspace_in_a_mode_that_may_not_edit() {
    let world = world([
        (
            "bash",
            json!({"command": "cat a.txt; echo new > a.txt; rm -f a.txt; mkdir made; echo in > /tmp/t && cat /tmp/t"}),
        ),
        ("bash", json!({"command": "sleep 0.1; touch later", "background": true})),
        ("write", json!({"file_path": "b.txt", "content": "b"})),
    ]);
    world.write("a.txt", "old\n");
    world.write(
        ".roomodes",
        "customModes:\n  - slug: runner\n    name: Runner\n    roleDefinition: You run things.\n    groups: [read, command]\n",
    );
    let results = results(&world, "runner");
    assert!(results[0].contains("old") && results[0].contains("Read-only file system"), "{results:#?}");
    assert!(results[0].contains("in\n") || results[0].contains("\nin"), "{results:#?}");
    assert!(results[2].contains("the mode `runner` has no tools of the group `edit`"), "{results:#?}");
    assert_eq!(std::fs::read_to_string(world.work().join("a.txt")).unwrap(), "old\n");
    for name in ["made", "later", "b.txt"] {
        assert!(!world.work().join(name).exists(), "{name}");
    }
    let request = world.server.requests().into_iter().next().unwrap();
    assert!(request.system_text().contains("You run things."), "{}", request.system_text());
}

#[test]
fn a_model_leaves_its_mode_only_with_approval() {
    let write = || call("write", json!({"file_path": "a.txt", "content": "a"}));
    let turns = || {
        [
            Turn::calls([call("switch_mode", json!({"mode_slug": "code", "reason": "to write"})), write()]),
            Turn::calls([write()]),
            Turn::text("done"),
        ]
    };
    let world = World::new(turns());
    // Nobody is there to ask.
    let output = world.output(&["run", "--quiet", "--mode", "ask", "go"]);
    assert_eq!(output.status.code(), Some(3), "{}", world.show(&output));
    assert!(!world.work().join("a.txt").exists());

    let world = World::new(turns());
    let output =
        world.output(&["run", "--quiet", "--mode", "ask", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let requests = world.server.requests();
    let second: Vec<String> = requests[1].tool_results().iter().map(|result| result.text.clone()).collect();
    assert!(second[0].contains("the mode is `code` from your next turn on"), "{second:?}");
    assert!(second[1].contains("the mode `ask` has no tools of the group `edit`"), "{second:?}");
    assert!(requests[1].tool_names().contains(&"write".to_owned()));
    assert!(requests[1].system_text().contains("Mode: code"), "{}", requests[1].system_text());
    assert!(world.work().join("a.txt").exists());
}

#[test]
fn a_folder_that_is_not_trusted_adds_modes_and_replaces_none() {
    let world = world([("write", json!({"file_path": "a.txt", "content": "a"}))]);
    world.write(
        ".roomodes",
        r#"{"customModes": [
            {"slug": "ask", "name": "Ask", "roleDefinition": "You do all.", "groups": ["read", "edit", "command"]},
            {"slug": "docs", "name": "Docs", "roleDefinition": "You write.", "groups": ["read", ["edit", {"fileRegex": "\\.md$"}]],
             "model": "elsewhere/expensive"},
            {"slug": "odd", "name": "Odd", "roleDefinition": "x", "groups": ["magic"]}
        ]}"#,
    );
    let output = world.output(&["modes", "list"]);
    let shown = world.show(&output);
    for part in ["docs", "edit (\\.md$)", "`ask` would replace another one", "no group `magic`"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let output = world.output(&["modes", "show", "docs", "--json"]);
    let mode: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(mode["model"], Value::Null, "{mode}");
    let results = results(&world, "ask");
    assert!(results[0].contains("the mode `ask` has no tools of the group `edit`"), "{results:?}");
    let output = world.output(&["modes", "show", "ar"]);
    assert_eq!(output.status.code(), Some(2), "{}", world.show(&output));
    let output = world.output(&["run", "--mode", "architct", "go"]);
    assert!(world.show(&output).contains("did you mean `architect`?"), "{}", world.show(&output));
}

#[test]
fn settings_add_modes_of_the_person() {
    let world = world([("write", json!({"file_path": "a.txt", "content": "a"}))]);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!(
        "{config}\n[modes.notes]\nrole = \"You take notes.\"\ngroups = [\"read\", \"edit\"]\nfiles = '\\.txt$'\ninstructions = \"Be short.\"\n"
    ));
    let results = results(&world, "notes");
    assert!(!results[0].contains("not allowed"), "{results:?}");
    let request = world.server.requests().into_iter().next().unwrap();
    let system = request.system_text();
    assert!(
        system.starts_with("You take notes.") && system.contains("From the mode `notes`\nBe short."),
        "{system}"
    );
}

#[test]
fn a_mode_speaks_the_words_of_roo_code() {
    let turns = [
        Turn::calls([call("write_to_file", json!({"path": "a.txt", "content": "hello\n"}))]),
        Turn::calls([call("execute_command", json!({"command": "cat a.txt", "cwd": "."}))]),
        Turn::text("done"),
    ];
    let world = World::new(turns);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    let mode = "[modes.roo]\ngroups = [\"read\", \"edit\", \"command\"]\nvocabulary = \"roo\"\n";
    world.set_config(&format!("{config}\n{mode}"));
    let run = ["run", "--mode", "roo", "--quiet", "--permission-mode", "bypassPermissions", "go"];
    let output = world.output(&run);
    assert!(output.status.success(), "{}", world.show(&output));
    let request = world.server.last_request();
    let names = request.tool_names();
    for shown in ["read_file", "write_to_file", "search_files", "execute_command"] {
        assert!(names.iter().any(|name| name == shown), "{shown} in {names:?}");
    }
    assert!(!names.iter().any(|name| name == "read" || name == "bash"), "{names:?}");
    assert!(request.tool_results()[1].text.contains("hello"), "{:?}", request.tool_results());

    world.set_config(&format!("{config}\n{}", mode.replace("\"roo\"", "\"klingon\"")));
    let told = world.show(&world.output(&["modes", "list"]));
    assert!(told.contains("there is no vocabulary `klingon`"), "{told}");
}
