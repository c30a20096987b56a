//! The sandbox by its effects: what a command can read, write and reach, and what is left when it has ended.
//!
//! Each attack has a harmless twin that must succeed, so that a sandbox in which nothing works fails too. The
//! numbers are those of the project's list of attacks.

mod debuggers;
mod destruction;
mod files;
mod limits;
mod network;
mod prepared;
mod privileges;
mod processes;

use std::path::PathBuf;
use std::process::Output;

use crate::world::World;

/// A world with a canary beside the workspace.
fn world() -> World {
    let world = World::new([]);
    std::fs::create_dir(out(&world)).unwrap();
    std::fs::write(out(&world).join("canary.txt"), "alive\n").unwrap();
    world
}

fn out(world: &World) -> PathBuf {
    world.work().with_file_name("out")
}

fn canary_lives(world: &World) -> bool {
    std::fs::read_to_string(out(world).join("canary.txt")).is_ok_and(|text| text == "alive\n")
}

/// A script in the sandbox.
fn sandboxed(world: &World, script: &str) -> Output {
    world.output(&["sandbox", "run", "--", "bash", "-c", script])
}

/// Both streams of a script in the sandbox, and its exit code.
fn told(world: &World, script: &str) -> (i32, String) {
    let output = sandboxed(world, script);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// The script ends well; gives what it printed.
fn succeeds(world: &World, script: &str) -> String {
    let (code, text) = told(world, script);
    assert_eq!(code, 0, "{script}: {text}");
    text
}

fn fails(world: &World, script: &str) -> String {
    let (code, text) = told(world, script);
    assert_ne!(code, 0, "{script}: {text}");
    text
}

/// Whether a program is there. In continuous integration all of them are; elsewhere the test says what it lacks.
fn has(program: &str) -> bool {
    let found = on_path(program);
    if !found {
        assert!(!in_ci(), "{program} is missing");
        eprintln!("skipped: {program} is not installed");
    }
    found
}

fn on_path(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|folder| folder.join(program).is_file())
}

fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}
