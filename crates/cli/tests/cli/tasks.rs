//! `stepwell tasks` from the outside.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::{Event, Message, TaskId, TaskInfo, TaskState, Timestamp};
use stepwell_store::TaskLog;
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
             task  updated           state          tokens       cost  title
                1  [DATE]  completed          30          -  what does a.txt say?
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
    let output = world.output(&["tasks", "delete", "--yes", "1", "77"]);
    assert_eq!(output.status.code(), Some(1), "{}", world.show(&output));
    assert_eq!(world.home().task_ids().unwrap().len(), 2, "one wrong name and nothing is deleted");
    world.output(&["tasks", "delete", "--yes", "1", "2"]);
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

/// A task with a title, its log as events; what runs is not told from what a killed process left behind.
fn add_task(world: &World, number: u32, title: &str, events: &[Event]) -> TaskId {
    let id = TaskId::generate();
    let info = TaskInfo {
        root: id.clone(),
        id: id.clone(),
        parent: None,
        forked_from: None,
        number,
        title: title.into(),
        mode: "code".into(),
        agent: None,
        model: "mock/mock-model".into(),
        workspace: world.work().display().to_string(),
        created_at: Timestamp::now(),
    };
    let mut log = TaskLog::create(&world.home(), info).unwrap().log;
    log.append(events).unwrap();
    id
}

fn said(text: &str) -> Event {
    Event::UserMessage { message: Message::user(text) }
}

#[test]
fn a_task_whose_process_is_gone_is_interrupted() {
    let world = World::new([]);
    let id = add_task(&world, 1, "cut off", &[Event::StateChanged { state: TaskState::Running }]);
    let state = || -> Value {
        let output = world.output(&["tasks", "list", "--json"]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()[0]["state"].clone()
    };
    assert_eq!(state(), "interrupted");
    for arguments in [&["tasks", "list"][..], &["tasks", "show", "1"]] {
        let text = world.show(&world.output(arguments));
        assert!(text.contains("interrupted"), "{text}");
    }
    let held = TaskLog::open(&world.home(), &id).unwrap();
    assert_eq!(state(), "running");
    let text = world.show(&world.output(&["tasks", "rename", "1", "x"]));
    let pid = std::process::id();
    assert!(text.contains(&format!("pid {pid}")) && text.contains("`stepwell tasks show TASK`"), "{text}");
    drop(held);
}

#[test]
fn a_search_lists_a_task_once() {
    let world = World::new([]);
    add_task(&world, 7, "find the needle", &[said("find the needle"), said("where is\nthe needle?")]);
    let output = world.output(&["tasks", "search", "needle"]);
    let text = world.show(&output);
    assert_eq!(text.matches("    7 find the needle").count(), 1, "{text}");
    assert_eq!(text.lines().count(), 5, "{text}");
    let output = world.output(&["tasks", "search", "needle", "--json"]);
    let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(hits.as_array().unwrap().len(), 2, "{hits}");
    assert_eq!(hits[0]["number"], 7);
}

#[test]
fn a_list_says_what_it_leaves_out() {
    let world = World::new([]);
    for number in 1..=3 {
        add_task(&world, number, "two\nlines \u{1b}[2J", &vec![said("more"); number as usize]);
    }
    world.check(
        &["tasks", "list", "--limit", "1", "--sort", "size"],
        expect![[r#"
        exit code: 0
        --- stdout
         task  updated           state          tokens       cost  title
            3  [DATE]  created             0          -  two lines �[2J
        … and 2 more; --limit 3 shows them
    "#]],
    );
    world.check(
        &["tasks", "list", "--favourites"],
        expect![[r#"
        exit code: 0
        --- stdout
        no favourites in this folder; --all lists those of every folder
    "#]],
    );
    world.check(
        &["tasks", "list", "--favourites", "--all"],
        expect![[r#"
        exit code: 0
        --- stdout
        no favourites
    "#]],
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let world = World::new([]);
    let id = add_task(&world, 1, "kept", &[said("hello")]);
    for title in ["", "  "] {
        assert_eq!(world.output(&["tasks", "rename", "1", title]).status.code(), Some(2), "`{title}`");
    }
    world.check(
        &["tasks", "rename", "1", ""],
        expect![[r#"
        exit code: 2
        --- stderr
        error: a task's title cannot be empty

        hint: give the words: `stepwell tasks rename TASK TITLE`
    "#]],
    );
    world.check(
        &["tasks", "export", "1", "--format", "roo", "-o", "-"],
        expect![[r#"
        exit code: 2
        --- stderr
        error: Roo-Code's layout is a folder, which cannot go to standard output

        hint: name one with --output FOLDER
    "#]],
    );
    world.check(
        &["tasks", "show", "77"],
        expect![[r#"
        exit code: 1
        --- stderr
        error: there is no task `77`

        hint: `stepwell tasks list --all` lists the tasks there are
    "#]],
    );
    let output = world.output(&["tasks", "export", "1", "-o", "-"]);
    let exported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(exported["title"], "kept");
    assert!(!world.work().join("-").exists());

    add_task(&world, 2, "other", &[]);
    let text = world.show(&world.output(&["tasks", "show", &id.as_str()[..1]]));
    assert!(text.contains("\n  #2 [TASK] other\n") && text.contains("\n  #1 [TASK] kept\n"), "{text}");
}

#[test]
fn a_damaged_task_is_repaired_as_the_hint_says() {
    let world = World::new([]);
    let id = add_task(&world, 1, "damaged", &[said("one"), said("two")]);
    let path = world.home().log_path(&id).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(2, "junk");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let text = world.show(&world.output(&["tasks", "show", "1"]));
    assert!(text.contains("exit code: 1") && text.contains("`stepwell tasks repair TASK`"), "{text}");
    let text = world.show(&world.output(&["tasks", "repair", "1"]));
    assert!(text.contains("repaired [TASK]: 4 records are kept\n"), "{text}");
    assert!(text.contains("1 of them stood behind the damage"), "{text}");
    assert!(text.contains("lies as it was in [ROOT]/data/tasks/[TASK]/log.cut-at-"), "{text}");
    // The task, two messages, and a sentence where the damage was.
    assert_eq!(world.log(&id).len(), 4);
    world.check(
        &["tasks", "repair", "1"],
        expect![[r#"
        exit code: 0
        --- stdout
        [TASK] is whole: 4 records, nothing to repair
    "#]],
    );
}

#[test]
fn a_pipe_gets_the_content_as_it_is() {
    let world = World::new([]);
    add_task(&world, 1, "colours", &[said("red \u{1b}[31mtext")]);
    let output = world.output(&["tasks", "show", "1"]);
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("red \u{1b}[31mtext"),
        "{}",
        world.show(&output)
    );
}

#[test]
fn an_import_is_among_the_recent_tasks() {
    let world = World::new([]);
    let old = include_str!("../../../store/tests/fixtures/conversation-version-1.json");
    world.write("old.json", old);
    add_task(&world, 1, "here before", &[said("hello")]);
    assert_eq!(world.output(&["tasks", "import", "old.json"]).status.code(), Some(0));
    let first = |sort: &str| -> Value {
        let output = world.output(&["tasks", "list", "--all", "--json", "--sort", sort]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()[0].clone()
    };
    assert_ne!(first("updated")["number"], 1);
    assert_eq!(first("created")["number"], 1);
    assert_eq!(first("updated")["created_at"], 1_760_000_000_000_i64);
}
