//! What the binary says about itself.

use expect_test::expect;

use crate::world::World;

#[test]
fn version_is_one_line() {
    let world = World::new([]);
    world.check(
        &["--version"],
        expect![[r"
            exit code: 0
            --- stdout
            stepwell 0.1.0
        "]],
    );
}

#[test]
fn help_lists_the_doors_and_the_exit_codes() {
    let world = World::new([]);
    let text = world.show(&world.output(&["--help"]));
    for word in
        ["run", "tasks", "tool", "models", "doctor", "mcp", "config", "completions", "Exit codes:", "130"]
    {
        assert!(text.contains(word), "`{word}` is missing in:\n{text}");
    }
}

#[test]
fn help_is_in_the_language_of_the_person() {
    let world = World::new([]);
    for (variable, value, word) in [
        ("LANG", "zh_CN.UTF-8", "用法："),
        ("STEPWELL_LANGUAGE", "Chinese", "用法："),
        ("LANG", "en_US.UTF-8", "Usage:"),
    ] {
        for arguments in [&["--help"][..], &["run", "--help"], &["tasks", "list", "-h"], &["help", "tasks"]] {
            let output = world.command(arguments).env(variable, value).output().unwrap();
            let text = world.show(&output);
            assert!(output.status.code() == Some(0) && text.contains(word), "{value} {arguments:?}: {text}");
        }
    }
    let output = world.command(&["run", "--help"]).env("LC_ALL", "zh_CN.UTF-8").output().unwrap();
    let text = world.show(&output);
    assert!(
        text.contains("选项") && text.contains("从文件读取请求") && text.contains("130  被中断"),
        "{text}"
    );
    let output = world.command(&["tasks", "list"]).env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
}

#[test]
fn asking_for_help_creates_nothing() {
    let world = World::new([]);
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["config", "schema"],
        &["man"],
        &["completions", "bash"],
    ] {
        let output = world.output(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty(), "{arguments:?}");
    }
    assert!(crate::world::files_below(&world.data()).is_empty());
    assert!(crate::world::files_below(&world.work()).is_empty());
}

#[test]
fn a_wrong_command_line_is_told_and_has_its_own_exit_code() {
    let world = World::new([]);
    for arguments in [
        &["runn"][..],
        &["run", "--max-turns", "0", "x"],
        &["run", "--permission-mode", "yolo", "x"],
        &["run", "--max-cost", "-1", "x"],
    ] {
        let output = world.output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", world.show(&output));
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error:"), "{}", world.show(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    use std::process::{Command, Stdio};
    let world = World::new([]);
    // `true` reads nothing and ends; the schema is larger than a pipe's buffer would hide.
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let pipe = reader.stdin.take().unwrap();
    reader.wait().unwrap();
    let output = world.command(&["config", "schema"]).stdout(Stdio::from(pipe)).output().unwrap();
    assert_eq!(world.show(&output), "exit code: 0\n");
}
