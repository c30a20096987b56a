//! Record and replay.

use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

fn record(world: &World) {
    let output = world.output(&[
        "run",
        "--quiet",
        "--permission-mode",
        "bypassPermissions",
        "--record",
        "run.cassette",
        "count the files",
    ]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nThere is one.\n");
}

fn world() -> World {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "ls *.txt | wc -l"}))]),
        Turn::text("There is one."),
    ]);
    world.write("a.txt", "a\n");
    world
}

const REPLAY: [&str; 6] =
    ["run", "--quiet", "--permission-mode", "bypassPermissions", "--model", "replay:run.cassette"];

#[test]
fn a_recorded_run_plays_without_a_network() {
    let world = world();
    record(&world);
    let requests = world.server.requests().len();
    let cassette = std::fs::read_to_string(world.work().join("run.cassette")).unwrap();
    assert!(!cassette.contains("mock-key-value"));
    let output = world.output(&[&REPLAY[..], &["count the files"]].concat());
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nThere is one.\n");
    assert_eq!(world.server.requests().len(), requests, "nothing was sent");
}

#[test]
fn another_course_is_an_error_that_says_what_differs() {
    let world = world();
    record(&world);
    world.write("b.txt", "b\n");
    let output = world.output(&[&REPLAY[..], &["count the files"]].concat());
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains('1') && text.contains('2') && text.contains("hint:"), "{text}");
    let output = world.output(&[&REPLAY[..], &["count the folders"]].concat());
    let text = world.show(&output);
    assert!(text.contains("count the files") && text.contains("count the folders"), "{text}");
}

#[test]
fn a_cassette_that_is_not_there_or_not_one() {
    let world = world();
    let output = world.output(&[&REPLAY[..], &["x"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(world.show(&output).contains("does not exist"), "{}", world.show(&output));
    world.write("run.cassette", "this is no cassette\n");
    let output = world.output(&[&REPLAY[..], &["x"]].concat());
    let text = world.show(&output);
    assert!(output.status.code() == Some(2) && text.contains("cassette"), "{text}");
}
