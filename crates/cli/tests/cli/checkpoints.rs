//! What an agent did, seen and taken back from the command line.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// A task that edits a file, runs a command and writes another file.
fn worked() -> World {
    let world = World::new([
        Turn::calls([call("edit", json!({"file_path": "main.py", "old_str": "1 / 0", "new_str": "1"}))]),
        Turn::calls([call(
            "bash",
            json!({"command": "rm -r old; mkdir made; echo x > made/by_command.txt"}),
        )]),
        Turn::calls([call("write", json!({"file_path": "notes/new.txt", "content": "made\n"}))]),
        Turn::text("Done."),
    ]);
    world.write("main.py", "print(1 / 0)\n");
    world.write("old/data.txt", "precious\n");
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "work"]);
    assert!(output.status.success(), "{}", world.show(&output));
    world
}

fn read(world: &World, path: &str) -> Option<String> {
    std::fs::read_to_string(world.work().join(path)).ok()
}

#[test]
fn changes_are_listed_shown_undone_and_redone() {
    let world = worked();
    world.check(
        &["checkpoints", "list"],
        expect![[r#"
            exit code: 0
            --- stdout
                1  [DATE]  1 path     Edit `main.py`
                2  [DATE]  4 paths    Run `rm -r old; mkdir made; echo x > made/by_command.txt`
                3  [DATE]  2 paths    Create `notes/new.txt`
        "#]],
    );
    world.check(
        &["checkpoints", "diff", "3"],
        expect![[r#"
            exit code: 0
            --- stdout
            A notes/
            --- /dev/null
            +++ b/notes/new.txt
            @@ -0,0 +1 @@
            +made
        "#]],
    );
    world.check(
        &["undo", "2", "--dry-run"],
        expect![[r#"
            exit code: 0
            --- stdout
            D made/
            D made/by_command.txt
            D notes/
            D notes/new.txt
            A old/
            A old/data.txt
            nothing was touched (--dry-run)
            if you changed one of these files while it ran, that would be undone too: Run `rm -r old; mkdir made; echo x > made/by_command.txt`; `stepwell redo` brings it back
        "#]],
    );
    assert_eq!(read(&world, "old/data.txt"), None);
    world.check(
        &["undo", "2"],
        expect![[r#"
            exit code: 0
            --- stdout
            D made/
            D made/by_command.txt
            D notes/
            D notes/new.txt
            A old/
            A old/data.txt
            done; `stepwell redo` takes it back (checkpoint 4)
            if you changed one of these files while it ran, that was undone too: Run `rm -r old; mkdir made; echo x > made/by_command.txt`; `stepwell redo` brings it back
        "#]],
    );
    assert_eq!(read(&world, "old/data.txt").as_deref(), Some("precious\n"));
    assert_eq!(read(&world, "main.py").as_deref(), Some("print(1)\n"));
    assert!(!world.work().join("made").exists() && !world.work().join("notes").exists());
    world.check(
        &["redo"],
        expect![[r#"
            exit code: 0
            --- stdout
            A made/
            A made/by_command.txt
            A notes/
            A notes/new.txt
            D old/
            D old/data.txt
            done; `stepwell undo` takes it back (checkpoint 5)
        "#]],
    );
    assert_eq!(read(&world, "made/by_command.txt").as_deref(), Some("x\n"));
    world.check(
        &["redo"],
        expect![[r#"
        exit code: 0
        --- stdout
        there is nothing to redo
    "#]],
    );
    world.output(&["undo", "3"]);
    world.check(
        &["undo"],
        expect![[r#"
        exit code: 0
        --- stdout
        there is nothing to undo
    "#]],
    );
    assert_eq!(read(&world, "main.py").as_deref(), Some("print(1 / 0)\n"));
}

#[test]
fn one_file_or_hunk_goes_back_alone() {
    let world = worked();
    world.check(
        &["checkpoints", "restore", "1", "--path", "old"],
        expect![[r#"
            exit code: 0
            --- stdout
            A old/
            A old/data.txt
            done; `stepwell redo` takes it back (checkpoint 4)
            if you changed one of these files while it ran, that was undone too: Run `rm -r old; mkdir made; echo x > made/by_command.txt`; `stepwell redo` brings it back
        "#]],
    );
    assert_eq!(read(&world, "old/data.txt").as_deref(), Some("precious\n"));
    assert_eq!(read(&world, "main.py").as_deref(), Some("print(1)\n"));
    world.check(
        &["checkpoints", "restore", "1", "--path", "main.py", "--hunk", "7"],
        expect![[r#"
        exit code: 2
        --- stderr
        error: `main.py` has 1 hunks, and 7 is none of them

        hint: `stepwell checkpoints diff 1 --since` shows them in order
    "#]],
    );
    world.check(
        &["checkpoints", "restore", "1", "--path", "main.py", "--hunk", "1"],
        expect![[r#"
            exit code: 0
            --- stdout
            M main.py
            done; `stepwell redo` takes it back (checkpoint 5)
            if you changed one of these files while it ran, that was undone too: Run `rm -r old; mkdir made; echo x > made/by_command.txt`; `stepwell redo` brings it back
        "#]],
    );
    assert_eq!(read(&world, "main.py").as_deref(), Some("print(1 / 0)\n"));
    world.check(
        &["checkpoints", "restore", "1", "--path", "nowhere"],
        expect![[r#"
        exit code: 2
        --- stderr
        error: nothing to restore in nowhere

        hint: paths are relative to the folder the agent worked in; `stepwell checkpoints diff` shows them
    "#]],
    );
    world.check(
        &["checkpoints", "restore", "99"],
        expect![[r#"
        exit code: 1
        --- stderr
        error: there is no checkpoint 99 in this folder

        hint: `stepwell checkpoints list` lists the ones there are
    "#]],
    );
}

#[test]
fn what_the_person_changed_since_is_left_and_told() {
    let world = worked();
    world.write("main.py", "print(1)  # mine\n");
    world.check(
        &["checkpoints", "restore", "1"],
        expect![[r#"
            exit code: 0
            --- stdout
            D made/
            D made/by_command.txt
            D notes/
            D notes/new.txt
            A old/
            A old/data.txt
            ! main.py left as it is: changed by somebody else since; --force restores it too
            done; `stepwell redo` takes it back (checkpoint 5)
            if you changed one of these files while it ran, that was undone too: Run `rm -r old; mkdir made; echo x > made/by_command.txt`; `stepwell redo` brings it back
        "#]],
    );
    assert_eq!(read(&world, "main.py").as_deref(), Some("print(1)  # mine\n"));
    let output = world.output(&["checkpoints", "restore", "1", "--force", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["changes"][0]["path"], "main.py");
    assert_eq!(read(&world, "main.py").as_deref(), Some("print(1 / 0)\n"));
}

#[test]
fn the_conversation_goes_back_with_the_files() {
    let world = worked();
    let listed = world.output(&["checkpoints", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let command = listed.as_array().unwrap().iter().find(|one| one["kind"]["tool"] == "bash").unwrap();
    let id = command["id"].to_string();
    world.check(
        &["checkpoints", "restore", &id, "--what", "both"],
        expect![[r#"
            exit code: 0
            --- stdout
            D made/
            D made/by_command.txt
            D notes/
            D notes/new.txt
            A old/
            A old/data.txt
            done; `stepwell redo` takes it back (checkpoint 4)
            if you changed one of these files while it ran, that was undone too: Run `rm -r old; mkdir made; echo x > made/by_command.txt`; `stepwell redo` brings it back
            the conversation goes on from before that call ([TASK])
        "#]],
    );
    assert_eq!(read(&world, "old/data.txt").as_deref(), Some("precious\n"));

    world.server.script([Turn::text("Another way, then.")]);
    world.output(&["run", "--resume", "1", "do it differently"]);
    let last = world.server.requests().pop().unwrap();
    let results = last.tool_results();
    assert_eq!(results.len(), 1, "only the edit before the command is left: {results:?}");
}

#[test]
fn a_folder_without_checkpoints_says_so() {
    let world = World::new([]);
    world.check(
        &["undo"],
        expect![[r#"
        exit code: 1
        --- stderr
        error: `[ROOT]/work` has no checkpoints

        hint: they are made in the folder an agent works in, before each change
    "#]],
    );
    world.set_config("[checkpoints]\nenabled = false\n");
    let call = r#"{"file_path": "a.txt", "content": "x"}"#;
    let output = world.output(&["tool", "call", "write", call, "--permission-mode", "bypassPermissions"]);
    assert!(output.status.success(), "{}", world.show(&output));
    assert_eq!(read(&world, "a.txt").as_deref(), Some("x"));
    assert!(!world.data().join("checkpoints").exists());
}
