//! Sub-agents, evidence and condensing through the binary.

use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

const BYPASS: [&str; 2] = ["--permission-mode", "bypassPermissions"];

/// Answers by what the conversation begins with, and how far it is.
fn scripted(world: &World, scripts: Vec<(&'static str, Vec<Turn>)>) {
    world.server.respond_with(move |request| {
        let messages = request.messages();
        let text = format!("{messages:?}");
        let said = messages.iter().filter(|message| message.role == "assistant").count();
        let script = scripts.iter().find(|(begins, _)| text.contains(begins));
        let turn = script.and_then(|(_, turns)| turns.get(said).cloned());
        turn.unwrap_or_else(|| Turn::text("nothing more"))
    });
}

#[test]
fn an_agent_of_the_project_works_for_the_task_and_its_answer_comes_back() {
    let world = World::new([]);
    world.write(
        ".claude/agents/counter.md",
        "---\nname: counter\ndescription: Counts lines\ntools: Read\n---\nYou count lines.\n",
    );
    world.write("poem.txt", "one\ntwo\nthree\n");
    let task = call("task", json!({"agent": "counter", "prompt": "PART count poem.txt"}));
    scripted(
        &world,
        vec![
            ("WHOLE", vec![Turn::calls([task]), Turn::text("It has three lines.")]),
            (
                "PART",
                vec![
                    Turn::calls([
                        call("read", json!({"file_path": "poem.txt"})),
                        call("bash", json!({"command": "touch made"})),
                    ]),
                    Turn::text("three lines"),
                ],
            ),
        ],
    );
    let output = world.output(&["run", BYPASS[0], BYPASS[1], "WHOLE: how long is the poem?"]);
    let shown = world.show(&output);
    assert!(shown.contains("It has three lines."), "{shown}");
    let requests = world.server.requests();
    let of_agent =
        requests.iter().find(|request| request.body.to_string().contains("You count lines")).unwrap();
    let tools = of_agent.body["tools"].to_string();
    assert!(tools.contains("\"read\"") && !tools.contains("\"bash\""), "{tools}");
    assert!(!world.work().join("made").exists(), "a tool that it does not have was run");
    let told = requests.last().unwrap().body.to_string();
    assert!(told.contains("three lines"), "{told}");
    let listed = world.show(&world.output(&["agents", "list"]));
    assert!(listed.contains("counter") && listed.contains("debugger"), "{listed}");
    let tasks = world.show(&world.output(&["tasks", "list"]));
    assert!(tasks.contains("PART count poem.txt"), "the sub-task is a task: {tasks}");
}

#[test]
fn the_proof_of_a_fix_is_what_the_same_command_showed_before_and_after() {
    let fails = call("bash", json!({"command": "sh check.sh"}));
    let fix = call("edit", json!({"file_path": "check.sh", "old_str": "exit 3", "new_str": "exit 0"}));
    let suppose = call(
        "hypothesis",
        json!({"claim": "the script exits itself", "probe": "sh check.sh", "predicted": "exit code 3"}),
    );
    let seen = call("hypothesis", json!({"id": 1, "observed": "exit code 3"}));
    let world = World::new([
        Turn::calls([suppose]),
        Turn::calls([fails.clone()]),
        Turn::calls([seen]),
        Turn::calls([call("read", json!({"file_path": "check.sh"}))]),
        Turn::calls([fix]),
        Turn::calls([fails]),
        Turn::text("Mended."),
    ]);
    world.write("check.sh", "echo total is wrong\nexit 3\n");
    let output = world.output(&["run", BYPASS[0], BYPASS[1], "mend check.sh"]);
    assert!(output.status.success(), "{}", world.show(&output));
    let card = world.output(&["tasks", "evidence", "latest", "--format", "json"]);
    let card: serde_json::Value = serde_json::from_slice(&card.stdout).unwrap();
    assert_eq!(card["probes"][0]["what"], "sh check.sh", "{card:#}");
    assert_eq!(card["probes"][0]["before"]["succeeded"], false, "{card:#}");
    assert_eq!(card["probes"][0]["after"]["succeeded"], true, "{card:#}");
    assert_eq!(card["hypotheses"][0]["status"], "confirmed", "{card:#}");
    assert_eq!(card["hypotheses"][0]["evidence"]["from"], "call", "the value stands in a result: {card:#}");
    assert!(card["files"][0]["diff"].as_str().unwrap().contains("+exit 0"), "{card:#}");
    let text = world.show(&world.output(&["tasks", "evidence", "latest"]));
    assert!(text.contains("✗ before") && text.contains("✓ after"), "{text}");
}

#[test]
fn condensing_by_hand_says_what_it_did_and_can_be_undone() {
    let read = |number: usize| Turn::calls([call("read", json!({"file_path": format!("{number}.txt")}))]);
    let mut turns: Vec<Turn> = (0..8).map(read).collect();
    turns.extend([Turn::text("All are read."), Turn::text("Eight files were read; nothing was changed.")]);
    let world = World::new(turns);
    for number in 0..8 {
        world.write(&format!("{number}.txt"), &format!("line of {number}\n").repeat(200));
    }
    assert!(world.output(&["run", BYPASS[0], BYPASS[1], "read the files"]).status.success());
    let condensed = world.show(&world.output(&["tasks", "condense", "latest"]));
    assert!(condensed.contains("large outputs are left out"), "{condensed}");
    assert!(condensed.contains("became a summary"), "{condensed}");
    let undone = world.show(&world.output(&["tasks", "condense", "latest", "--undo"]));
    assert!(undone.contains("the last condensing is undone"), "{undone}");
}
