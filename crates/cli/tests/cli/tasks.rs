//! `stepwell tasks` from the outside.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

fn world_with_a_task() -> World {
    let world = World::new([
        Turn::calls([call("read", json!({"file_path": "a.txt"}))]).with_text("Looking."),
        Turn::text("The file says **hello**, 你好世界."),
    ]);
    world.write("a.txt", "hello\n");
    assert_eq!(world.output(&["run", "what does a.txt say?"]).status.code(), Some(0));
    world
}

#[test]
fn list_show_and_search() {
    let world = world_with_a_task();
    world.check(
        &["tasks", "list"],
        expect![[r#"
            exit code: 0
            --- stdout
             task  updated           state        tokens       cost  title
                1  [DATE]  completed        30          -  what does a.txt say?
        "#]],
    );
    let text = world.show(&world.output(&["tasks", "show", "1"]));
    assert!(text.contains("what does a.txt say?") && text.contains("**hello**"), "{text}");
    for (words, found) in [("hello", true), ("你好", true), ("世界", true), ("absent", false)] {
        let text = world.show(&world.output(&["tasks", "search", words]));
        assert_eq!(!text.contains("nothing found"), found, "{words}: {text}");
    }
    let output = world.output(&["tasks", "list", "--json"]);
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows[0]["number"], 1);
    assert_eq!(rows[0]["state"], "completed");
}

#[test]
fn every_export_can_be_imported_and_gone_on_with() {
    let world = world_with_a_task();
    for (format, path) in [("json", "task.json"), ("roo", "task-folder")] {
        let output = world.output(&["tasks", "export", "1", "--format", format, "-o", path]);
        assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
        let output = world.output(&["tasks", "import", path, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
        let made: Value = serde_json::from_slice(&output.stdout).unwrap();
        world.server.script([Turn::text("go on")]);
        let output = world.output(&[
            "run",
            "--quiet",
            "--model",
            "mock/mock-model",
            "--resume",
            made["task"].as_str().unwrap(),
            "more",
        ]);
        assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ngo on\n", "{format}");
        let request = world.server.last_request();
        assert_eq!(request.tool_results().len(), 1, "{format}");
        assert!(request.messages().iter().any(|message| message.text.contains("**hello**")), "{format}");
    }
    let text = world.show(&world.output(&["tasks", "export", "1", "--format", "markdown"]));
    assert!(text.contains("what does a.txt say?"), "{text}");
}

#[test]
fn what_cannot_be_imported_is_told_apart() {
    let world = World::new([]);
    let mut texts = Vec::new();
    for content in ["{\"version\": 2, ", "{\"version\": 99}", "{\"version\": 2, \"messages\": 5}"] {
        world.write("bad.json", content);
        let output = world.output(&["tasks", "import", "bad.json"]);
        assert_eq!(output.status.code(), Some(1), "{}", world.show(&output));
        texts.push(world.show(&output));
    }
    texts.dedup();
    assert_eq!(texts.len(), 3, "{texts:#?}");
    assert!(texts[1].contains("99"), "{}", texts[1]);
}

#[test]
fn rename_favourite_fork_delete() {
    let world = world_with_a_task();
    for arguments in
        [&["tasks", "rename", "1", "Reading"][..], &["tasks", "favourite", "1"], &["tasks", "fork", "1"]]
    {
        let output = world.output(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    }
    let text = world.show(&world.output(&["tasks", "list", "--sort", "created"]));
    assert!(text.contains("★ Reading"), "{text}");
    assert_eq!(text.matches("Reading").count(), 2, "{text}");
    let output = world.output(&["tasks", "delete", "1", "77"]);
    assert_eq!(output.status.code(), Some(1), "{}", world.show(&output));
    assert_eq!(world.home().task_ids().unwrap().len(), 2, "one wrong name and nothing is deleted");
    world.output(&["tasks", "delete", "1", "2"]);
    assert!(world.home().task_ids().unwrap().is_empty());
    assert!(world.show(&world.output(&["tasks", "list"])).contains("no tasks"));
}

#[test]
fn the_index_can_be_lost() {
    let world = world_with_a_task();
    world.output(&["tasks", "list"]);
    let index = world.home().index_path();
    std::fs::write(&index, "this is no database").unwrap();
    let text = world.show(&world.output(&["tasks", "list"]));
    assert!(text.contains("what does a.txt say?"), "{text}");
    std::fs::remove_file(&index).unwrap();
    let output = world.output(&["tasks", "rebuild-index"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nindexed 1 tasks\n");
}
