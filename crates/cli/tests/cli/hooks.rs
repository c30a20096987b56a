//! Hooks of the settings, as real programs.

use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// A world whose hook of one event is this shell line.
fn world(event: &str, command: &str, turns: impl IntoIterator<Item = Turn>) -> World {
    let world = World::new(turns);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    let hook = format!("[[hooks.{event}]]\nhooks = [{{ type = \"command\", command = '''{command}''' }}]\n");
    world.set_config(&format!("{config}\n{hook}"));
    world
}

const BYPASS: [&str; 4] = ["run", "--quiet", "--permission-mode", "bypassPermissions"];

fn run(world: &World) -> String {
    world.show(&world.output(&[&BYPASS[..], &["go"]].concat()))
}

#[test]
fn exit_code_two_blocks_a_call_and_the_model_reads_why() {
    let turns = [Turn::calls([call("bash", json!({"command": "touch made"}))]), Turn::text("I was stopped.")];
    let world = world("PreToolUse", "echo not on a Sunday >&2; exit 2", turns);
    assert_eq!(run(&world), "exit code: 0\n--- stdout\nI was stopped.\n");
    assert!(!world.work().join("made").exists());
    let told = &world.server.last_request().tool_results()[0].text;
    assert!(told.contains("not on a Sunday"), "{told}");
}

#[test]
fn a_hook_reads_the_call_as_json() {
    let turns = [Turn::calls([call("bash", json!({"command": "echo hi"}))]), Turn::text("done")];
    let world = world("PostToolUse", "cat > seen.json", turns);
    run(&world);
    let seen: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.work().join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen["hook_event_name"], "PostToolUse");
    assert_eq!(seen["tool_input"]["command"], "echo hi");
    assert_eq!(seen["session_id"], world.only_task().as_str());
}

#[test]
fn a_prompt_can_be_refused_or_added_to() {
    let refused = world("UserPromptSubmit", "echo no prompts today >&2; exit 2", []);
    let text = run(&refused);
    assert!(text.starts_with("exit code: 2") && text.contains("no prompts today"), "{text}");
    assert!(refused.server.requests().is_empty());

    let added = world("UserPromptSubmit", "echo the branch is main", [Turn::text("noted")]);
    run(&added);
    let said = added.server.last_request().last_user_text();
    assert!(said.contains("go") && said.contains("the branch is main"), "{said}");
}

#[test]
fn a_stop_hook_sends_the_model_back_to_work_but_not_for_ever() {
    let turns =
        [Turn::text("done"), Turn::text("done now"), Turn::text("really done"), Turn::text("truly done")];
    let world = world("Stop", "echo run the tests >&2; exit 2", turns);
    assert_eq!(run(&world), "exit code: 0\n--- stdout\ntruly done\n");
    let texts: Vec<String> =
        world.server.requests()[1].messages().iter().map(|message| message.text.clone()).collect();
    assert!(texts.last().unwrap().contains("run the tests"), "{texts:?}");
}

#[test]
fn a_session_is_told_of_its_start_and_end() {
    for (event, word) in [("SessionStart", "\"startup\""), ("SessionEnd", "\"reason\"")] {
        let world = world(event, "cat >> told.json", [Turn::text("done")]);
        run(&world);
        let told = std::fs::read_to_string(world.work().join("told.json")).unwrap();
        assert!(told.contains(word) && told.lines().count() == 1, "{event}: {told}");
    }
}

#[test]
fn hooks_of_a_project_that_is_not_trusted_do_not_run() {
    let world = World::new([Turn::text("done")]);
    world.write(
        ".stepwell/config.toml",
        "[[hooks.SessionStart]]\nhooks = [{ type = \"command\", command = \"touch ran\" }]\n",
    );
    run(&world);
    assert!(!world.work().join("ran").exists());
}

#[test]
fn sub_agents_begin_and_end_with_hooks_of_their_own() {
    let start = call("task", json!({"agent": "explorer", "description": "look", "prompt": "look around"}));
    let turns = [Turn::calls([start]), Turn::text("there is nothing"), Turn::text("done")];
    let world = World::new(turns);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    let hook = |event: &str| {
        format!(
            "[[hooks.{event}]]\nhooks = [{{ type = \"command\", command = '''cat >> seen.jsonl; echo >> seen.jsonl''' }}]\n"
        )
    };
    let hooks: String = ["SubagentStart", "SubagentStop", "Stop", "SessionStart"].map(hook).concat();
    world.set_config(&format!("{config}\n{hooks}"));
    run(&world);
    let seen = std::fs::read_to_string(world.work().join("seen.jsonl")).unwrap();
    let seen: Vec<serde_json::Value> = seen
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<(&str, &str)> = seen
        .iter()
        .map(|one| (one["hook_event_name"].as_str().unwrap(), one["agent_type"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        told,
        [("SessionStart", ""), ("SubagentStart", "explorer"), ("SubagentStop", "explorer"), ("Stop", "")]
    );
    assert_eq!(seen[1]["agent_id"], seen[2]["agent_id"]);
    assert!(std::path::Path::new(seen[2]["agent_transcript_path"].as_str().unwrap()).is_file());
}
