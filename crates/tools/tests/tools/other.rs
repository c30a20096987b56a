//! Plans, questions, chains, and what models are offered.

use expect_test::expect;
use serde_json::json;
use stepwell_protocol::PermissionMode;

use crate::bench::{self, free};

#[tokio::test]
async fn the_todo_list_takes_both_forms() {
    let bench = free();
    let list = json!({"todos": [{"content": "one", "status": "completed"}, "two"]});
    bench.check("todowrite", list, expect!["[x] 1. one\n[ ] 2. two"]).await;
    bench.check("todoread", json!({"status": "Pending"}), expect!["[ ] 2. two"]).await;
    bench
        .check(
            "update_todo_list",
            json!({"todos": "[x] one\n[-] two\n[ ] three"}),
            expect!["[x] 1. one\n[-] 2. two\n[ ] 3. three"],
        )
        .await;
    bench.check("todowrite", json!({"todos": []}), expect!["the todo list is empty"]).await;
}

#[tokio::test]
async fn questions_reach_the_person_in_every_form() {
    let bench = free();
    bench
        .check(
            "ask_clarification",
            json!({"question": "Which cache?", "clarification_type": "approach", "options": [{"id": "redis", "label": "Redis", "recommended": true}, {"label": "Memory"}]}),
            expect!["Redis (option `redis`)"],
        )
        .await;
    bench
        .check(
            "ask_followup_question",
            json!({"question": "Which?", "follow_up": [{"text": "This one", "mode": null}, "That one"]}),
            expect!["This one (option `option_1`)"],
        )
        .await;
    bench.check("ask_clarification", json!({"question": "Why?"}), expect!["nobody can answer. Choose the safest reading yourself and say which one you chose, or end the task if no choice is safe"]).await;
    bench
        .check(
            "request_decision",
            json!({"question": "Delete?", "decision_type": "confirmation", "options": [{"id": "cancel", "label": "Cancel"}], "default_option": "cancle"}),
            expect!["ValidationError: `default_option` must be the id of an option (cancel), got `cancle`; did you mean `cancel`?"],
        )
        .await;
    bench
        .check(
            "request_decision",
            json!({"question": "Delete?", "options": [{"id": "cancel", "label": "Cancel", "risks": "none"}], "default_option": "cancel", "timeout": 60}),
            expect!["Cancel (option `cancel`)"],
        )
        .await;
    let asked = bench.host.asked.lock();
    assert_eq!(asked.last().and_then(|question| question.timeout_seconds), Some(60));
    assert_eq!(asked.last().map(|question| question.options[0].risks.clone()), Some(vec!["none".to_owned()]));
}

#[tokio::test]
async fn completion_reaches_the_host() {
    let bench = free();
    bench.check("attempt_completion", json!({"result": "done"}), expect!["the task is complete"]).await;
    assert_eq!(bench.host.completed.lock().as_deref(), Some("done"));
}

#[tokio::test]
async fn a_chain_runs_as_one_call_and_each_step_is_judged() {
    let bench = free();
    bench.put("docs/a.txt", b"hello\n");
    let steps = json!({"steps": [
        {"tool": "list", "arguments": {"path": "docs"}},
        {"tool": "bash", "arguments": {}, "transform": {"extract_path": "entries[0].path", "field_mapping": {}}, "into": "command"}
    ]});
    bench
        .check("tool_chain", steps, expect!["bash: line 1: a.txt: command not found\n[exit code 127]"])
        .await;
    let copy = json!({"steps": [
        {"tool": "bash", "arguments": {"command": "echo hello"}},
        {"tool": "write", "arguments": {"file_path": "copy.txt"}, "transform": {"field_mapping": {"output": "content"}}}
    ]});
    bench.check("tool_chain", copy.clone(), expect!["created `copy.txt` (1 line)"]).await;
    assert_eq!(bench.content("copy.txt"), "hello\n");
    bench
        .check(
            "tool_chain",
            json!({"steps": [{"tool": "list"}, {"tool": "read"}]}),
            expect!["ParameterError: step 2 (`read`) failed: the arguments do not fit: no file is named; give `file_path`, or `files` for several"],
        )
        .await;
    let asking = bench::bench(PermissionMode::Plan);
    asking
        .check(
            "tool_chain",
            copy,
            expect!["PermissionError: step 1 (`bash`) failed: not allowed: plan mode allows no commands: only read, and describe what you would do"],
        )
        .await;
}

#[test]
fn the_definitions_stay_small_and_hide_nothing_of_ours() {
    let bench = free();
    let definitions = stepwell_tool_runtime::ToolGate::default().definitions(bench.executor.registry());
    let text = serde_json::to_string(&definitions).expect("JSON");
    println!("{} bytes of definitions", text.len());
    assert!(text.len() < 800 * definitions.len(), "{} bytes for {} tools", text.len(), definitions.len());
    assert!(!text.contains("x-aliases") && !text.contains("$schema"));
    for definition in definitions.iter() {
        assert!(!definition.description.is_empty(), "{}", definition.name);
        assert_eq!(definition.input_schema["type"], "object", "{}", definition.name);
    }
    let bash = definitions.iter().find(|definition| definition.name == "bash").expect("bash");
    expect![[r#"{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer","minimum":0,"description":"Seconds until it is stopped; 300 by default, at most 600."},"working_dir":{"type":"string","description":"Folder to run in, within the workspace; where the last command ended when not given."},"background":{"type":"boolean","description":"Returns at once and lets it run on; `process_read`, `process_input` and `process_kill` go on with it."},"on_timeout":{"type":"string","enum":["kill","background"],"description":"What happens at the time limit: `kill` (the default) or `background`, which lets it run on."},"pty":{"type":"boolean","description":"Gives it a terminal, for programs that want one. Both streams are then one."}},"required":["command"]}"#]]
        .assert_eq(&bash.input_schema.to_string());
}

/// Rules about reading and changing files stand for classes of tools, so their names and aliases are known where rules
/// are read.
#[test]
fn every_alias_of_a_class_in_rules_stands_for_the_class() {
    use stepwell_tool_runtime::{DeniedReads, Effect, JudgePlaces, Rule, RuleSource};
    let bench = free();
    let registry = bench.executor.registry();
    let rule = |text: &str| {
        Rule::parse(Effect::Deny, text, RuleSource::User, &JudgePlaces::default()).expect("a rule")
    };
    for tool in registry.list(None, None) {
        for name in tool.spec().aliases.iter().chain([&tool.name()]) {
            assert_eq!(rule(name).unknown_tool(registry), None, "{name}");
            let hides = DeniedReads::of(&[rule(&format!("{name}(x/**)"))]).is_some();
            assert_eq!(hides, tool.name() == "read", "{name}");
            let is_command = Rule::parse(
                Effect::Deny,
                &format!("{name}(a | b)"),
                RuleSource::User,
                &JudgePlaces::default(),
            )
            .is_err();
            assert_eq!(is_command, tool.name() == "bash", "{name}");
        }
    }
    assert_eq!(rule("readd").unknown_tool(registry), Some("readd"));
    assert_eq!(rule("mcp__files__delete").unknown_tool(registry), None);
}
