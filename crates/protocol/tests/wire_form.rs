//! The JSON form of the words is a promise to every door and every log on a disk.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use expect_test::{Expect, expect};
use serde_json::json;
use stepwell_protocol::{
    AnswerOrigin, ApprovalAnswer, ApprovalId, ApprovalSource, Command, ErrorClass, Event, EventRecord,
    Message, MessageId, Part, Role, Seq, StepStatus, TaskId, Timestamp, ToolCall, ToolCallId, ToolResult,
    Usage, json_schema, typescript,
};

/// Shows the JSON of an event, and that it reads back as the same event.
fn check(event: &Event, expected: Expect) {
    let record = EventRecord { seq: Seq(7), ts: Timestamp(1_760_000_000_000), event: event.clone() };
    let text = serde_json::to_string(&record).unwrap();
    expected.assert_eq(&text);
    assert_eq!(serde_json::from_str::<EventRecord>(&text).unwrap(), record);
}

fn call() -> ToolCall {
    ToolCall {
        id: ToolCallId::new("call_1"),
        name: "bash".into(),
        arguments: json!({"command": "ls"}),
        opaque: None,
    }
}

#[test]
fn the_events_of_a_turn() {
    check(
        &Event::UserMessage {
            message: Message {
                id: MessageId::new("m1"),
                role: Role::User,
                parts: vec![Part::text("你好")],
                ts: Timestamp(1),
                interrupted: false,
            },
        },
        expect![[
            r#"{"seq":7,"ts":1760000000000,"event":{"type":"user_message","message":{"id":"m1","role":"user","parts":[{"type":"text","text":"你好"}],"ts":1}}}"#
        ]],
    );
    check(
        &Event::Action { message_id: MessageId::new("m2"), call: call() },
        expect![[
            r#"{"seq":7,"ts":1760000000000,"event":{"type":"action","message_id":"m2","call":{"id":"call_1","name":"bash","arguments":{"command":"ls"}}}}"#
        ]],
    );
    check(
        &Event::Observation { result: ToolResult::failure(&call(), ErrorClass::TimeoutError, "too slow") },
        expect![[
            r#"{"seq":7,"ts":1760000000000,"event":{"type":"observation","result":{"call_id":"call_1","tool":"bash","output":"too slow","error":{"class":"TIMEOUT_ERROR","message":"too slow"},"duration_ms":0}}}"#
        ]],
    );
    check(
        &Event::Answer {
            message_id: MessageId::new("m3"),
            content: "done".into(),
            origin: AnswerOrigin::Text,
        },
        expect![[
            r#"{"seq":7,"ts":1760000000000,"event":{"type":"answer","message_id":"m3","content":"done","origin":"text"}}"#
        ]],
    );
    check(
        &Event::ApprovalResolved {
            id: ApprovalId::new("a1"),
            answer: ApprovalAnswer::no(Some("not now".into())),
            source: ApprovalSource::Person,
        },
        expect![[
            r#"{"seq":7,"ts":1760000000000,"event":{"type":"approval_resolved","id":"a1","answer":"no","reason":"not now","source":"person"}}"#
        ]],
    );
}

#[test]
fn a_command_reads_back() {
    let command = Command::Approve {
        task: TaskId::new("t"),
        approval: ApprovalId::new("a"),
        answer: ApprovalAnswer::yes_for_session(),
    };
    let text = serde_json::to_string(&command).unwrap();
    expect![[r#"{"type":"approve","task":"t","approval":"a","answer":"yes_for_session"}"#]].assert_eq(&text);
    assert_eq!(serde_json::from_str::<Command>(&text).unwrap(), command);
}

#[test]
fn usage_adds_up_and_a_price_that_is_not_known_stays_unknown() {
    let mut sum = Usage { input_tokens: 1, ..Usage::default() };
    sum += Usage { output_tokens: 2, cache_read_tokens: 3, ..Usage::default() };
    assert_eq!((sum.total_input(), sum.total(), sum.cost_usd), (4, 6, None));
    sum += Usage { cost_usd: Some(0.5), ..Usage::default() };
    assert_eq!(sum.cost_usd, Some(0.5));
}

#[test]
fn task_ids_that_could_leave_their_folder_are_not_valid() {
    for (id, valid) in
        [("01a1-b_c", true), ("", false), ("../x", false), ("a/b", false), (".", false), ("ü", false)]
    {
        assert_eq!(TaskId::new(id).is_valid(), valid, "{id:?}");
    }
    assert!(!TaskId::new("x".repeat(65)).is_valid());
    assert!(TaskId::generate().is_valid());
}

#[test]
fn every_type_that_is_named_is_also_declared() {
    let text = typescript();
    for name in
        ["Command", "EventRecord", "Event", "Message", "Part", "ToolCall", "Plan", "TodoItem", "Question"]
    {
        assert!(text.contains(&format!("export type {name} =")), "{name} is missing");
    }
    let schema = json_schema();
    assert!(schema["$defs"]["Event"].is_object() && schema["$defs"]["Command"].is_object());
}

#[test]
fn plans_of_older_logs_are_read() {
    let plan = json!({"type": "plan", "plan": {
        "id": "plan_1", "goal": "g", "status": "executing", "created_at": 1, "updated_at": 2,
        "steps": [{"id": 1, "description": "d", "expected_outcome": "e", "status": "running"}],
    }});
    let Event::Plan { plan, document: None } = serde_json::from_value(plan).unwrap() else {
        panic!("a plan")
    };
    assert!(plan.explored_files.is_empty() && !plan.forbids_changes());
    let step = json!({"type": "step_complete", "step": 1, "result": "done"});
    let Event::StepComplete { status, evidence: None, .. } = serde_json::from_value(step).unwrap() else {
        panic!("a step")
    };
    assert_eq!(status, StepStatus::Completed);
}
