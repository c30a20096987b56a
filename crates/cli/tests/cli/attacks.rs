//! Attacks on the product as a whole, each beside a harmless twin that must succeed. The ids are those of the project's
//! list of attacks; `crates/cli/tests/attacks.toml` says which test covers which id.

mod commands;
mod debugger;
mod outside_text;
mod repositories;

use serde_json::Value;

use crate::world::World;

/// A world with a canary beside the workspace.
fn world() -> World {
    let world = World::new([]);
    std::fs::create_dir(world.work().with_file_name("out")).unwrap();
    std::fs::write(world.work().with_file_name("out").join("canary.txt"), "alive\n").unwrap();
    world.write("README.md", "harmless\n");
    world
}

/// Calls a tool by hand. Returns the exit code, 3 where the call was refused, and both streams.
fn call(world: &World, tool: &str, arguments: &Value, mode: &str) -> (i32, String) {
    let arguments = arguments.to_string();
    let output = world.output(&["tool", "call", tool, &arguments, "--permission-mode", mode]);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Whether nothing beside the workspace was changed or made.
fn is_untouched(world: &World) -> bool {
    let out = world.work().with_file_name("out");
    crate::world::files_below(&out) == [(out.join("canary.txt"), b"alive\n".to_vec())]
}
