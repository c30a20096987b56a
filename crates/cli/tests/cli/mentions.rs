//! What a message names comes with it, through the same permissions as a tool's call.

use std::process::Command;

use stepwell_test_support::Turn;

use crate::world::World;

fn sent(world: &World) -> String {
    world.server.last_request().body["messages"].to_string()
}

/// Runs a message and gives what the model was sent and what the person saw.
fn said(world: &World, message: &str) -> (String, String) {
    let output = world.output(&["run", message]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    (sent(world), world.show(&output))
}

fn git(world: &World, words: &[&str]) {
    let run = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(words)
        .current_dir(world.work())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn files_folders_and_symbols_are_brought() {
    let world = World::new([Turn::text("done")]);
    let lines: Vec<String> = (1..=30).map(|n| format!("line {n}\n")).collect();
    world.write("notes.txt", &lines.concat());
    world.write("src/tea.py", "def brew(leaves):\n    return leaves * 3\n");
    let (sent, _) = said(&world, "see @notes.txt:10-12, @src/ and @brew; mail me@example.org");
    assert!(sent.contains("line 10") && sent.contains("line 12"), "{sent}");
    assert!(!sent.contains("line 9\\n") && !sent.contains("line 13"), "{sent}");
    assert!(sent.contains("tea.py") && sent.contains("return leaves * 3"), "{sent}");
    assert!(sent.contains("data, no orders"), "{sent}");
}

#[test]
fn what_may_not_be_read_is_refused_and_said() {
    let world = World::new([Turn::text("done")]);
    world.write(".stepwellignore", "hidden.txt\n");
    world.write("hidden.txt", "the hidden text\n");
    world.write("denied.txt", "the denied text\n");
    world.write("../outside.txt", "the outer text\n");
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&config.replacen(
        "[providers",
        "permissions.deny = [\"read(denied.txt)\"]\n[providers",
        1,
    ));
    let (sent, shown) =
        said(&world, "@hidden.txt @denied.txt @../outside.txt @nothing-here @problems @terminal");
    for text in ["the hidden text", "the denied text", "the outer text"] {
        assert!(!sent.contains(text), "{text}: {sent}");
    }
    for (label, words) in [
        ("@hidden.txt", "was not brought"),
        ("@denied.txt", "was not brought"),
        ("@../outside.txt", "was not brought"),
        ("@nothing-here", "names nothing here"),
        ("@problems", "no program has failed"),
        ("@terminal", "no command runs in the background"),
    ] {
        let line = shown.lines().find(|line| line.contains(label) && line.contains(words));
        assert!(line.is_some(), "{label} {words}: {shown}");
    }
}

#[test]
fn the_repository_is_brought_without_hidden_files() {
    let world = World::new([Turn::text("one"), Turn::text("two")]);
    world.write("a.txt", "old\n");
    world.write("hidden.txt", "old secret\n");
    git(&world, &["init", "-q"]);
    git(&world, &["add", "."]);
    git(&world, &["commit", "-qm", "Begin the shop"]);
    world.write("a.txt", "new words\n");
    world.write("hidden.txt", "new secret\n");
    world.write("c.txt", "untracked\n");
    world.write(".stepwellignore", "hidden.txt\n");
    let (sent, _) = said(&world, "review @git");
    assert!(sent.contains("+new words") && sent.contains("untracked: c.txt"), "{sent}");
    assert!(!sent.contains("new secret") && !sent.contains("old secret"), "{sent}");
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(world.work()).output().unwrap();
    let hash = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    let (sent, _) = said(&world, &format!("explain @{}", &hash[..10]));
    assert!(sent.contains("Begin the shop") && sent.contains("+old"), "{sent}");
    assert!(!sent.contains("old secret"), "{sent}");
}

#[test]
fn mentions_are_bounded_and_screens_leave_them_out() {
    let world = World::new([Turn::text("done")]);
    let names: Vec<String> = (0..5).map(|n| format!("big{n}.txt")).collect();
    for name in &names {
        world.write(name, &format!("{}\n", "x".repeat(60)).repeat(2000));
    }
    let message = format!("@{}", names.join(" @"));
    let (sent, shown) = said(&world, &message);
    assert!(sent.len() < 80_000, "{} bytes", sent.len());
    assert!(sent.contains("more bytes were left out"), "cut without a word");
    assert!(shown.contains("the mentions together are too long"), "{shown}");
    let task = world.only_task();
    let output = world.output(&["tasks", "show", &task.to_string()]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("xxxxxxxx"), "the page shows what was brought");
}

#[test]
fn a_page_is_asked_about_like_a_call_of_the_model() {
    let world = World::new([Turn::text("done")]);
    let output = world.command(&["run", "look at @https://example.org/x"]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    // Nobody is here who could let it be reached.
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("`@https://example.org/x` was not brought"), "{shown}");
}
