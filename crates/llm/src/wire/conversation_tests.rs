//! Histories of all shapes become turns that every server accepts.

use expect_test::{Expect, expect};
use serde_json::json;
use stepwell_protocol::ErrorClass;

use super::*;

fn call(id: &str) -> Part {
    Part::ToolCall {
        call: ToolCall { id: id.into(), name: "bash".into(), arguments: json!({}), opaque: None },
    }
}

fn result(id: &str) -> Part {
    let call = ToolCall { id: id.into(), name: "bash".into(), arguments: json!({}), opaque: None };
    Part::ToolResult { result: ToolResult::failure(&call, ErrorClass::ExecutionError, format!("r{id}")) }
}

fn check(messages: Vec<(Role, Vec<Part>)>, expect: Expect) {
    let messages: Vec<_> =
        messages.into_iter().map(|(role, parts)| Arc::new(Message::new(role, parts))).collect();
    let mut out = String::new();
    for (_, turn) in turns(&messages) {
        let (name, messages, rest) = match &turn {
            Turn::Input { messages, unanswered, note } => {
                let ids: Vec<_> = unanswered.iter().map(|call| call.id.as_str()).collect();
                ("input", messages, format!(" unanswered={ids:?} note={note:?}"))
            }
            Turn::Assistant { messages } => ("assistant", messages, String::new()),
        };
        let parts: Vec<String> = messages
            .iter()
            .flat_map(|message| &message.parts)
            .map(|part| match part {
                Part::Text { text } => format!("{text:?}"),
                Part::ToolCall { call } => format!("call {}", call.id),
                Part::ToolResult { result } => format!("result {}", result.call_id),
                other => format!("{other:?}"),
            })
            .collect();
        out.push_str(&format!("{name}: {}{rest}\n", parts.join(", ")));
    }
    expect.assert_eq(&out);
}

#[test]
fn messages_of_one_side_are_one_turn() {
    check(
        vec![
            (Role::User, vec![Part::text("a")]),
            (Role::User, vec![Part::text("b")]),
            (Role::Assistant, vec![Part::text("c"), call("1"), call("2")]),
            (Role::Tool, vec![result("1")]),
            (Role::Tool, vec![result("2")]),
            (Role::User, vec![Part::text("d")]),
        ],
        expect![[r#"
            input: "a", "b" unanswered=[] note=None
            assistant: "c", call 1, call 2
            input: result 1, result 2, "d" unanswered=[] note=None
        "#]],
    );
}

#[test]
fn a_call_is_answered_before_the_model_speaks_again() {
    check(
        vec![
            (Role::User, vec![Part::text("a")]),
            (Role::Assistant, vec![call("1")]),
            (Role::Assistant, vec![Part::text("b")]),
            (Role::Tool, vec![result("1")]),
        ],
        expect![[r#"
            input: "a" unanswered=[] note=None
            assistant: call 1
            input:  unanswered=["1"] note=None
            assistant: "b"
            input: "[Result of an earlier call of `bash`]\nr1" unanswered=[] note=None
        "#]],
    );
}

#[test]
fn an_unanswered_call_is_answered() {
    check(
        vec![
            (Role::User, vec![Part::text("a")]),
            (Role::Assistant, vec![call("1"), call("2")]),
            (Role::Tool, vec![result("1")]),
            (Role::User, vec![Part::text("b")]),
            (Role::Assistant, vec![call("3")]),
        ],
        expect![[r#"
            input: "a" unanswered=[] note=None
            assistant: call 1, call 2
            input: result 1, "b" unanswered=["2"] note=None
            assistant: call 3
            input:  unanswered=["3"] note=None
        "#]],
    );
}

#[test]
fn a_result_without_its_call_is_told() {
    check(
        vec![(Role::Tool, vec![result("1")]), (Role::Assistant, vec![Part::text("x")])],
        expect![[r#"
            input: "[Result of an earlier call of `bash`]\nr1" unanswered=[] note=None
            assistant: "x"
            input:  unanswered=[] note=Some("Continue.")
        "#]],
    );
}

#[test]
fn an_answer_of_reasoning_only_is_left_out() {
    let reasoning = Part::Reasoning { text: "hm".into(), opaque: None };
    check(
        vec![
            (Role::User, vec![Part::text("a")]),
            (Role::Assistant, vec![reasoning, Part::text(" \n")]),
            (Role::User, vec![Part::text("b")]),
        ],
        expect![[r#"
            input: "a", "b" unanswered=[] note=None
        "#]],
    );
}

#[test]
fn a_history_may_begin_with_the_model() {
    check(
        vec![(Role::Assistant, vec![Part::text("a")]), (Role::User, vec![Part::text("b")])],
        expect![[r#"
            input:  unanswered=[] note=Some("(Earlier messages were left out.)")
            assistant: "a"
            input: "b" unanswered=[] note=None
        "#]],
    );
}
