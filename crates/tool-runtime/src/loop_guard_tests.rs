//! Sequences of calls and the place where the guard stops them.

use serde_json::json;
use stepwell_protocol::{Artifact, ErrorClass, ToolCall};

use super::*;

/// Runs a script of `task:call=result` steps (`call!` writes) and returns the index of the first one stopped.
fn stopped_at(script: &str) -> Option<usize> {
    let guard = LoopGuard::new(LoopLimits::STANDARD);
    for (index, step) in script.split_whitespace().enumerate() {
        let (task, rest) = step.split_once(':').unwrap_or(("t", step));
        let (name, output) = rest.split_once('=').unwrap_or((rest, "same"));
        let risk = if name.ends_with('!') { Risk::Write } else { Risk::Read };
        let call = call(name);
        let key = key(&call);
        if guard.check(&task.into(), key).is_some() {
            return Some(index);
        }
        let mut result = ToolResult::failure(&call, ErrorClass::ExecutionError, output);
        result.error = None;
        guard.note(&task.into(), key, risk, &result);
    }
    None
}

fn key(call: &ToolCall) -> CallKey {
    CallKey::new(&call.name, &call.arguments)
}

fn call(name: &str) -> ToolCall {
    ToolCall { id: "c".into(), name: name.into(), arguments: json!({"a": 1, "b": [2]}), opaque: None }
}

#[tokio::test(start_paused = true)]
async fn loops_are_seen_and_progress_is_not_taken_for_one() {
    for (script, expected) in [
        ("a a a", Some(2)),
        ("a b a b a", Some(4)),
        ("a b c a b c a", Some(6)),
        ("a! a! a!", Some(2)),
        // Only the time moves.
        ("a=2026-11-17 a=2026-11-18 a=2026-11-19", Some(2)),
        // Polling: the result moves.
        ("a=1 a=2 a=3 a=4", None),
        // Edit and test: every edit is another call, the test fails the same way.
        ("e1! t e2! t e3! t e4! t", None),
        // The same two edits over and over are a loop.
        ("e! t e! t e! t", Some(4)),
        // Four subtasks may each look at the same thing.
        ("w:a x:a y:a z:a w:a", None),
        ("t:a u:a t:a t:a", Some(3)),
    ] {
        assert_eq!(stopped_at(script), expected, "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn old_calls_are_forgotten_and_forgiven_ones_count_anew() {
    let guard = LoopGuard::new(LoopLimits::STANDARD);
    let task = TaskId::from("t");
    let call = call("a");
    let key = key(&call);
    let result = ToolResult::failure(&call, ErrorClass::ExecutionError, "no");
    for _ in 0..2 {
        guard.note(&task, key, Risk::Read, &result);
    }
    assert_eq!(guard.check(&task, key), Some(LoopReport { times: 3, window: Some(Duration::from_secs(30)) }));
    guard.forgive(key);
    assert_eq!(guard.check(&task, key), None);
    for _ in 0..2 {
        guard.note(&task, key, Risk::Read, &result);
    }
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(guard.check(&task, key), None);
}

#[tokio::test(start_paused = true)]
async fn results_that_left_the_context_may_be_read_again_but_not_for_ever() {
    let guard = LoopGuard::new(LoopLimits::STANDARD);
    let (task, call) = (TaskId::from("t"), call("a"));
    let key = key(&call);
    let mut result = ToolResult::failure(&call, ErrorClass::ExecutionError, "the file");
    result.error = None;
    let mut rounds = 0;
    // A window so small that each result is cut away before the next question.
    while guard.check(&task, key).is_none() {
        guard.note(&task, key, Risk::Read, &result);
        guard.left_context(&task, &[key].into());
        rounds += 1;
        assert!(rounds < 100, "never stopped");
    }
    assert_eq!(rounds, 11);
}

#[tokio::test(start_paused = true)]
async fn a_slow_model_goes_round_in_circles_too() {
    let guard = LoopGuard::new(LoopLimits::STANDARD);
    let (task, call) = (TaskId::from("t"), call("a"));
    let key = key(&call);
    let result = ToolResult::failure(&call, ErrorClass::ExecutionError, "no");
    let mut rounds = 0;
    while guard.check(&task, key).is_none() {
        guard.note(&task, key, Risk::Read, &result);
        tokio::time::advance(Duration::from_secs(40)).await;
        rounds += 1;
        assert!(rounds < 100, "never stopped");
    }
    assert_eq!(rounds, 11);
}

#[test]
fn the_order_of_fields_does_not_matter() {
    let mut other = call("a");
    other.arguments = json!({"b": [2], "a": 1});
    assert_eq!(key(&call("a")), key(&other));
    other.arguments = json!({"b": [2], "a": "1"});
    assert_ne!(key(&call("a")), key(&other));
}

#[tokio::test(start_paused = true)]
async fn the_name_of_a_kept_output_makes_no_difference() {
    let guard = LoopGuard::new(LoopLimits::STANDARD);
    let call = call("a");
    for number in 0..2 {
        assert_eq!(guard.check(&"t".into(), key(&call)), None);
        let path = format!("/artifacts/{number}.txt");
        let mut result =
            ToolResult::failure(&call, ErrorClass::ExecutionError, format!("the whole is in {path}"));
        result.error = None;
        result.artifacts = vec![Artifact {
            id: "x".into(),
            label: String::new(),
            path,
            bytes: 1,
            media_type: "text/plain".into(),
        }];
        guard.note(&"t".into(), key(&call), Risk::Read, &result);
    }
    assert!(guard.check(&"t".into(), key(&call)).is_some());
}
