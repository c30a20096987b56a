//! The settings form, what hooks are told, and how their answers add up.

use expect_test::expect;
use parking_lot::Mutex;

use super::*;

/// Answers by the hook's command and notes what each was told.
#[derive(Default)]
struct Script {
    told: Mutex<Vec<Value>>,
}

#[async_trait]
impl HookRunner for Script {
    async fn run(&self, process: HookProcess) -> HookExit {
        self.told.lock().push(serde_json::from_slice(&process.stdin).expect("JSON"));
        let exited = |code, stdout: &str, stderr: &str| HookExit::Exited {
            code,
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        match process.command.as_str() {
            "ok" => exited(0, "", ""),
            "say" => exited(0, "remember the milk\n", ""),
            "allow" => exited(0, r#"{"decision": "approve", "systemMessage": "fine by me"}"#, ""),
            "ask" => exited(
                0,
                r#"{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look first"}}"#,
                "",
            ),
            "deny" => exited(
                0,
                r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "never"}}"#,
                "",
            ),
            "block" => exited(2, "", ""),
            "garbage" => exited(0, "{not json", ""),
            "fail" => exited(1, "", "no luck"),
            "slow" => HookExit::TimedOut,
            code if code.parse::<i32>().is_ok() => exited(code.parse().expect("a number"), "", "no luck"),
            _ => HookExit::Failed { reason: "no such program".into() },
        }
    }
}

fn hooks(event: &str, matcher: &str, commands: &[&str]) -> (Hooks, Arc<Script>) {
    let script = Arc::new(Script::default());
    let commands: Vec<Value> =
        commands.iter().map(|command| json!({"type": "command", "command": command})).collect();
    let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": commands}]}});
    (Hooks::from_json(&settings, Arc::clone(&script) as Arc<dyn HookRunner>).expect("hooks"), script)
}

async fn fire(hooks: &Hooks, call: HookCall) -> HookOutcome {
    let facts = HookFacts {
        session_id: "s1".into(),
        transcript_path: "/t".into(),
        cwd: "/w".into(),
        ..HookFacts::default()
    };
    hooks.fire(&facts, &call, &CancellationToken::new()).await
}

fn before(tool: &str) -> HookCall {
    HookCall::PreToolUse {
        tool: HookTool { name: tool.into(), aliases: &[] },
        input: json!({"command": "ls"}),
        call_id: "c1".into(),
    }
}

#[tokio::test]
async fn hooks_are_told_what_happens_under_the_name_they_asked_for() {
    let (ours, script) = hooks("PreToolUse", "Bash|Edit", &["ok"]);
    fire(&ours, before("bash")).await;
    fire(&ours, before("read")).await;
    let told: Vec<String> = script.told.lock().iter().map(ToString::to_string).collect();
    expect![[r#"{"session_id":"s1","transcript_path":"/t","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1"}"#]]
        .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn the_strongest_word_wins() {
    for (commands, expected) in [
        (&["ok"][..], "None None"),
        (&["allow"], "Some(Allow) None"),
        (&["allow", "ask"], "Some(Ask) Some(\"look first\")"),
        (&["deny", "allow", "ask"], "Some(Deny) Some(\"never\")"),
        (&["block"], "Some(Deny) Some(\"the hook `block` blocked it\")"),
        (&["garbage", "fail"], "None None"),
        (&["allow", "slow"], "Some(Deny) Some(\"the hook `slow` ran into its time limit and was stopped\")"),
        (&["missing"], "Some(Deny) Some(\"the hook `missing` could not be run: no such program\")"),
        (&["127"], "Some(Deny) Some(\"the hook `127` ended with exit code 127: no luck\")"),
        (&["139"], "Some(Deny) Some(\"the hook `139` ended with exit code 139: no luck\")"),
    ] {
        let (hooks, _) = hooks("PreToolUse", "*", commands);
        let outcome = fire(&hooks, before("bash")).await;
        assert_eq!(format!("{:?} {:?}", outcome.permission, outcome.reason), expected, "{commands:?}");
        let trouble =
            commands.iter().filter(|command| ["garbage", "fail", "allow"].contains(command)).count();
        assert_eq!(outcome.notices.len(), trouble, "{:?}", outcome.notices);
    }
}

#[tokio::test]
async fn where_nothing_can_be_held_back_a_broken_hook_is_only_told() {
    let (hooks, _) = hooks("PostToolUse", "*", &["slow", "missing", "127"]);
    let call = HookCall::PostToolUse {
        tool: HookTool { name: "bash".into(), aliases: &[] },
        input: json!({}),
        call_id: "c1".into(),
        response: json!("x"),
    };
    let outcome = fire(&hooks, call).await;
    assert_eq!((outcome.blocked, outcome.notices.len()), (false, 3));
}

#[tokio::test]
async fn plain_output_is_context_where_that_is_the_custom() {
    let (prompt, _) = hooks("UserPromptSubmit", "", &["say"]);
    let outcome = fire(&prompt, HookCall::UserPromptSubmit { prompt: "hi".into() }).await;
    assert_eq!(outcome.additional_context, ["remember the milk"]);
    let (tool, _) = hooks("PreToolUse", "", &["say"]);
    assert_eq!(fire(&tool, before("bash")).await, HookOutcome::default());
}

#[test]
fn settings_are_read_and_what_is_not_supported_is_told() {
    let runner: Arc<dyn HookRunner> = Arc::new(Script::default());
    let settings = json!({
        "PreToolUse": [{"hooks": [{"type": "http", "url": "x"}, {"type": "command", "command": "a", "if": "Bash(git *)"}]}],
        "PreCompact": []
    });
    let hooks = Hooks::from_json(&settings, Arc::clone(&runner)).expect("read");
    expect![[r"
        a hook of `PreToolUse` is left out: the type `http` is not supported
        the hook `a` of `PreToolUse` is left out: its condition `Bash(git *)` is not supported
        hooks of `PreCompact` are not called: Stepwell has no such event"]]
    .assert_eq(&hooks.warnings().join("\n"));
    for (settings, expected) in [
        (json!([]), "hooks must be an object of event names, got []"),
        (
            json!({"hooks": {"Nonsense": []}}),
            "there is no hook event `Nonsense`; events: PreToolUse, PostToolUse, PostToolUseFailure, \
             UserPromptSubmit, Stop, SubagentStart, SubagentStop, SessionStart, SessionEnd, Notification",
        ),
        (json!({"hooks": {"Stop": 1}}), "hooks of `Stop`: invalid type: integer `1`, expected a sequence"),
    ] {
        let error = Hooks::from_json(&settings, Arc::clone(&runner)).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected));
    }
    let matcher = json!({"hooks": {"Stop": [{"matcher": "("}]}});
    assert!(Hooks::from_json(&matcher, runner).is_err());
}
