//! The log: `--verbose`, `STEPWELL_LOG`, the rotating file, redaction.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

const BOUND: usize = 5_000_000;

fn state(world: &World) -> PathBuf {
    world.data().parent().unwrap().join(".local/state/stepwell")
}

fn log_text(world: &World) -> String {
    std::fs::read_to_string(state(world).join("stepwell.log")).unwrap_or_default()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn answering() -> World {
    World::new([Turn::text("Hello.")])
}

/// Runs with `STEPWELL_LOG` set.
fn filtered(world: &World, directives: &str, arguments: &[&str]) -> Output {
    world.command(arguments).env("STEPWELL_LOG", directives).output().unwrap()
}

#[test]
fn important_moments_are_in_a_private_file_without_their_contents() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "echo argument-of-the-call"}))]),
        Turn::text("The answer text."),
    ]);
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "the request text"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(!said(&output).contains("INFO"), "{}", said(&output));
    let log = log_text(&world);
    for wanted in ["run begins", "model request", "tool call ends", "tool=\"bash\"", "run ends"] {
        assert!(log.contains(wanted), "`{wanted}` is missing in:\n{log}");
    }
    for kept_out in ["argument-of-the-call", "The answer text", "the request text", "mock-key-value"] {
        assert!(!log.contains(kept_out), "`{kept_out}` is in:\n{log}");
    }
    let mode = state(&world).join("stepwell.log").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn verbose_reports_on_standard_error_in_three_levels() {
    for (flag, shows_debug) in [("-v", false), ("--verbose", false), ("-vv", true), ("-vvv", true)] {
        let world = answering();
        let output = world.output(&["run", flag, "hi"]);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello.\n");
        let text = said(&output);
        assert!(text.contains("INFO") && text.contains("model request"), "{flag}: {text}");
        assert_eq!(text.contains("DEBUG"), shows_debug, "{flag}: {text}");
        assert!(!log_text(&world).contains("DEBUG"), "{flag}");
    }
}

#[test]
fn directives_filter_the_file_or_standard_error_with_verbose() {
    let world = answering();
    filtered(&world, "stepwell=debug", &["run", "hi"]);
    assert!(log_text(&world).contains("DEBUG"), "{}", log_text(&world));

    let world = answering();
    filtered(&world, "off", &["run", "hi"]);
    assert!(!state(&world).exists());

    let world = answering();
    let output = filtered(&world, "stepwell_llm=info", &["run", "-v", "hi"]);
    assert!(said(&output).contains("model request"), "{}", said(&output));
    assert!(!said(&output).contains("run begins"), "{}", said(&output));
    assert!(log_text(&world).contains("run begins"));
}

#[test]
fn directives_that_cannot_be_used_are_told_and_ignored() {
    for (locale, warning) in
        [("C", "warning: STEPWELL_LOG cannot be used"), ("zh_CN.UTF-8", "警告： STEPWELL_LOG 无法使用")]
    {
        let world = answering();
        let mut command = world.command(&["run", "hi"]);
        let output = command.env("STEPWELL_LOG", "stepwell=loud").env("LC_ALL", locale).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(said(&output).contains(warning), "{}", said(&output));
        assert!(log_text(&world).contains("model request"));
    }
}

#[test]
fn keys_are_redacted_in_the_file_and_on_standard_error() {
    let world = answering();
    // The name of the model is logged; here it is also the key.
    let output = world.output(&["run", "-v", "--model", "mock/mock-key-value", "hi"]);
    for text in [said(&output), log_text(&world)] {
        let line = text.lines().find(|line| line.contains("model request")).unwrap();
        assert!(line.contains("[redacted:MOCK_KEY]") && !line.contains("mock-key-value"), "{line}");
    }
}

#[test]
fn files_never_exceed_their_bound() {
    let world = answering();
    std::fs::create_dir_all(state(&world)).unwrap();
    for name in ["stepwell.log", "stepwell.log.1", "stepwell.log.2", "stepwell.log.3", "stepwell.log.4"] {
        std::fs::write(state(&world).join(name), vec![b'x'; BOUND - 10]).unwrap();
    }
    world.output(&["run", "hi"]);
    let mut sizes = Vec::new();
    for entry in std::fs::read_dir(state(&world)).unwrap() {
        let entry = entry.unwrap();
        sizes.push((entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()));
    }
    sizes.sort();
    let names: Vec<_> = sizes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["stepwell.log", "stepwell.log.1", "stepwell.log.2", "stepwell.log.3", "stepwell.log.4"]
    );
    assert!(sizes.iter().all(|(_, size)| *size <= BOUND as u64), "{sizes:?}");
    assert!(log_text(&world).contains("model request"));
}

#[test]
fn several_processes_write_whole_lines() {
    let worlds: Vec<_> = (0..4).map(|_| answering()).collect();
    let shared = tempfile::tempdir().unwrap();
    let start =
        |world: &World| world.command(&["run", "hi"]).env("XDG_STATE_HOME", shared.path()).spawn().unwrap();
    let children: Vec<_> = worlds.iter().map(start).collect();
    for child in children {
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
    let text = std::fs::read_to_string(shared.path().join("stepwell/stepwell.log")).unwrap();
    let line = regex::Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \d+ +(INFO|WARN|ERROR) ").unwrap();
    assert!(text.lines().all(|found| line.is_match(found)), "{text}");
    assert_eq!(text.matches("run begins").count(), 4, "{text}");
}

#[test]
fn a_folder_that_cannot_be_written_fails_no_command() {
    let world = answering();
    let above = state(&world).parent().unwrap().to_path_buf();
    std::fs::create_dir_all(above.parent().unwrap()).unwrap();
    std::fs::write(&above, "not a folder").unwrap();
    let output = world.output(&["run", "-v", "hi"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        said(&output).matches("warning: the log file cannot be written").count(),
        1,
        "{}",
        said(&output)
    );
    let text = world.show(&world.output(&["doctor", "--offline"]));
    assert!(text.contains("log ") && text.contains("stepwell.log cannot be written"), "{text}");
}

#[test]
fn doctor_names_the_log_file() {
    let world = World::new([]);
    let text = world.show(&world.output(&["doctor", "--offline"]));
    assert!(text.contains("[ROOT]/.local/state/stepwell/stepwell.log"), "{text}");
}

#[test]
fn commands_that_log_nothing_create_no_file() {
    let world = World::new([]);
    for arguments in [&["--version"][..], &["config", "schema"], &["tasks", "list"], &["man"]] {
        world.output(arguments);
    }
    assert!(!state(&world).exists());
}
