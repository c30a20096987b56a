//! Skills and commands by their command line, and the tools for them (attack T10).

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

const TEA: &str = "---\nname: tea\ndescription: Brews tea. Use it for guests.\n---\nBoil the water.\n";

fn stdout(world: &World, arguments: &[&str], code: i32) -> String {
    let output = world.output(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", world.show(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_skill_is_installed_shown_and_removed() {
    let world = World::new([]);
    world.write("vendor/tea/SKILL.md", TEA);
    world.write("vendor/tea/scripts/boil.sh", "echo hot\n");
    world.write("vendor/coffee/SKILL.md", &TEA.replace("tea", "coffee"));
    let output = world.output(&["skills", "install", "./vendor"]);
    assert_eq!(output.status.code(), Some(2), "{}", world.show(&output));
    assert!(world.show(&output).contains("there are: coffee, tea"), "{}", world.show(&output));
    // Without a terminal to ask on nothing is installed, and what would be is shown.
    let output = world.output(&["skills", "install", "./vendor", "--skill", "tea"]);
    assert_eq!(output.status.code(), Some(2), "{}", world.show(&output));
    let shown = world.show(&output);
    assert!(
        shown.contains("Boil the water.") && shown.contains("scripts/boil.sh") && shown.contains("sha256"),
        "{shown}"
    );
    assert!(!world.work().join(".stepwell").exists());
    stdout(&world, &["skills", "install", "./vendor", "--skill", "tea", "--yes"], 0);
    assert!(world.work().join(".stepwell/skills/tea/scripts/boil.sh").is_file());
    assert!(stdout(&world, &["skills", "list"], 0).contains("Brews tea."));
    assert!(stdout(&world, &["skills", "show", "tea"], 0).contains("scripts/boil.sh"));
    stdout(&world, &["skills", "validate", ".stepwell/skills/tea", "--strict"], 0);
    world.write(".stepwell/skills/tea/SKILL.md", &TEA.replace("Boil", "Freeze"));
    assert!(
        stdout(&world, &["skills", "list"], 0).contains("has changed since it was installed from ./vendor")
    );
    // A new version leaves nothing of the old one behind.
    std::fs::remove_dir_all(world.work().join("vendor/tea/scripts")).unwrap();
    stdout(&world, &["skills", "install", "./vendor/tea", "--yes"], 0);
    assert!(!world.work().join(".stepwell/skills/tea/scripts").exists());
    assert!(!stdout(&world, &["skills", "list"], 0).contains("has changed"));
    stdout(&world, &["skills", "install", ".stepwell/skills/tea", "--yes"], 1);
    assert!(world.work().join(".stepwell/skills/tea/SKILL.md").is_file());
    stdout(&world, &["skills", "remove", "tea"], 0);
    assert!(!world.work().join(".stepwell/skills/tea").exists());
    stdout(&world, &["skills", "show", "tea"], 2);
}

#[test]
fn validate_says_what_is_wrong() {
    let world = World::new([]);
    world.write("Bad/SKILL.md", "---\nname: bad\ndescription: x\ntriggers:\n  - y\n---\n");
    let said = stdout(&world, &["skills", "validate", "Bad"], 1);
    assert!(said.contains("error: the folder is called `Bad` and the skill `bad`"), "{said}");
    assert!(said.contains("warning: only Stepwell reads `triggers`"), "{said}");
    let found: Value =
        serde_json::from_str(&stdout(&world, &["skills", "validate", "nowhere", "--json"], 1)).unwrap();
    assert_eq!(found["valid"], false);
}

#[test]
fn the_installer_asks_and_takes_nothing_from_outside() {
    let install = |source: &str| call("skill_installer", json!({"skill_source": source}));
    let turns = || {
        [
            Turn::calls([install("./vendor/tea"), install("../outside"), install("http://example.org/a")]),
            Turn::text("done"),
        ]
    };
    let world = World::new(turns());
    world.write("vendor/tea/SKILL.md", TEA);
    world.write("../outside/SKILL.md", TEA);
    let output = world.output(&["run", "--quiet", "install it"]);
    assert_eq!(output.status.code(), Some(3), "{}", world.show(&output));
    assert!(!world.work().join(".stepwell").exists());

    let world = World::new(turns());
    world.write("vendor/tea/SKILL.md", TEA);
    world.write("../outside/SKILL.md", TEA);
    world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "install it"]);
    let results: Vec<String> =
        world.server.last_request().tool_results().iter().map(|result| result.text.clone()).collect();
    assert!(results[0].contains("the skill `tea` is installed"), "{results:?}");
    assert!(results[1].contains("outside"), "{results:?}");
    assert!(results[2].contains("no https address"), "{results:?}");
    assert_eq!(std::fs::read_to_string(world.work().join(".stepwell/skills/tea/SKILL.md")).unwrap(), TEA);
}

#[test]
fn commands_of_the_project_stand_before_those_of_the_person() {
    let world = World::new([
        Turn::calls([call("run_slash_command", json!({"command": "tidy", "args": "src"}))]),
        Turn::text("done"),
    ]);
    world.write(
        ".stepwell/commands/tidy.md",
        "---\ndescription: Tidies\nmodel: other/model\n---\nTidy $1 well.",
    );
    let own = world.config().join("commands");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("tidy.md"), "never").unwrap();
    std::fs::write(own.join("mine.md"), "---\ndescription: Mine\n---\nDo mine.").unwrap();
    let listed = stdout(&world, &["commands", "list"], 0);
    assert!(listed.contains("/init") && listed.contains("/mine") && listed.contains("Tidies"), "{listed}");
    let shown = stdout(&world, &["commands", "show", "/tidy"], 0);
    assert!(shown.contains("Tidy $1 well.") && shown.contains(".stepwell/commands/tidy.md"), "{shown}");
    stdout(&world, &["run", "--quiet", "go"], 0);
    let result = world.server.last_request().tool_results()[0].text.clone();
    assert!(result.contains("Tidy src well."), "{result}");
}

#[test]
fn shell_parts_of_a_command_need_permission() {
    let world = World::new([Turn::text("done")]);
    world.write(".claude/commands/state.md", "State: !`touch made-by-command`");
    let output = world.output(&["run", "/state"]);
    let shown = world.show(&output);
    assert!(shown.contains("`touch made-by-command` was not run"), "{shown}");
    assert!(!world.work().join("made-by-command").exists());
}

#[test]
fn doors_are_told_commands_and_skills() {
    let world = World::new([]);
    world.write(".stepwell/skills/tea/SKILL.md", TEA);
    let mut child = world.command(&["serve", "--stdio"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let workspace = world.work();
    for (id, name) in [(1, "slash_commands"), (2, "skills")] {
        let query = json!({"type": "query", "id": id, "query": {"type": name, "workspace": workspace}});
        writeln!(input, "{query}").unwrap();
    }
    drop(input);
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    child.wait().unwrap();
    let all = lines.join("\n");
    assert!(all.contains("\"init\"") && all.contains("Brews tea."), "{all}");
}

#[test]
fn an_image_is_made_and_written_into_the_workspace() {
    let world = World::new([
        Turn::calls([call("generate_image", json!({"prompt": "a pot of tea", "path": "docs/tea.png"}))]),
        Turn::text("done"),
    ]);
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    world.server.set_answer("/v1/images/generations", json!({"data": [{"b64_json": png}]}));
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!("image_model = \"mock/gpt-image-1\"\n{config}"));
    let output = world.output(&["run", "--quiet", "paint"]);
    assert_eq!(output.status.code(), Some(3), "nobody allowed it: {}", world.show(&output));

    world.server.script([
        Turn::calls([call("generate_image", json!({"prompt": "a pot of tea", "path": "docs/tea.png"}))]),
        Turn::text("done"),
    ]);
    let output = world.output(&["run", "--quiet", "--permission-mode", "acceptEdits", "paint"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let written = std::fs::read(world.work().join("docs/tea.png")).unwrap();
    assert!(written.starts_with(&[0x89, b'P', b'N', b'G']));
}
