//! What the folds make of records, case by case.

use expect_test::{Expect, expect};
use serde_json::json;
use stepwell_protocol::{
    AnswerOrigin, Event, EventRecord, InterruptReason, Message, Part, PartialKind, Role, Seq, TaskState,
    Timestamp,
};
use stepwell_store::{TaskFolds, repair_events};
use stepwell_transcript::Entry;

use crate::runs::{action, answer, call, info, partial, success, thought, user};

fn folds(events: &[Event]) -> TaskFolds {
    let created = Event::TaskCreated { info: info("t") };
    let records: Vec<EventRecord> = std::iter::once(&created)
        .chain(events)
        .zip(1..)
        .map(|(event, seq)| EventRecord { seq: Seq(seq), ts: Timestamp(seq as i64), event: event.clone() })
        .collect();
    TaskFolds::of(&records)
}

fn show(message: &Message) -> String {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let parts: Vec<String> = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => format!("{text:?}"),
            Part::Reasoning { text, .. } => format!("({text})"),
            Part::Image { .. } => "image".into(),
            Part::ToolCall { call } => format!("{}->{}", call.id, call.name),
            Part::ToolResult { result } => format!("{}<-{:?}", result.call_id, result.output),
        })
        .collect();
    let mark = if message.interrupted { " (interrupted)" } else { "" };
    format!("{} {role}: {}{mark}\n", message.id, parts.join(" "))
}

fn check(events: &[Event], expected: Expect) {
    let folds = folds(events);
    let text: String = folds.model.messages().iter().map(|message| show(message)).collect();
    expected.assert_eq(&text);
}

#[test]
fn results_stand_right_after_their_calls_in_any_order() {
    let (first, second) = (call("c1", "read", json!({})), call("c2", "bash", json!({})));
    check(
        &[
            user("u1", "go"),
            thought("a1", "looking"),
            action("a1", first.clone()),
            action("a1", second.clone()),
            success(&second, "two"),
            user("u2", "hurry"),
            success(&first, "one"),
            success(&first, "again"),
        ],
        expect![[r#"
            u1 user: "go"
            a1 assistant: "looking" c1->read c2->bash
            a1.results tool: c2<-"two" c1<-"one"
            u2 user: "hurry"
        "#]],
    );
}

#[test]
fn call_ids_may_repeat_from_message_to_message() {
    let same = call("call_0", "read", json!({}));
    check(
        &[
            user("u1", "go"),
            thought("a1", ""),
            action("a1", same.clone()),
            success(&same, "one"),
            thought("a2", ""),
            action("a2", same.clone()),
            success(&same, "two"),
        ],
        expect![[r#"
            u1 user: "go"
            a1 assistant: call_0->read
            a1.results tool: call_0<-"one"
            a2 assistant: call_0->read
            a2.results tool: call_0<-"two"
        "#]],
    );
}

#[test]
fn a_half_answer_stands_until_the_whole_one_comes() {
    let reasoning = Event::Thought {
        message_id: "a1".into(),
        parts: vec![Part::Reasoning { text: "hm".into(), opaque: None }],
    };
    let begun = [user("u1", "go"), partial("a1", 0, "The s"), partial("a1", 5, "um is")];
    check(
        &begun,
        expect![[r#"
            u1 user: "go"
            a1 assistant: "The sum is" (interrupted)
        "#]],
    );
    let restarted = [&begun[..], &[partial("a1", 0, "A new"), reasoning]].concat();
    check(
        &restarted,
        expect![[r#"
            u1 user: "go"
            a1 assistant: (hm) "A new" (interrupted)
        "#]],
    );
    check(
        &[&restarted[..], &[answer("a1", "A new start")]].concat(),
        expect![[r#"
            u1 user: "go"
            a1 assistant: (hm) "A new start"
        "#]],
    );
    check(
        &[&begun[..], &[user("u2", "go on"), answer("a2", "sure")]].concat(),
        expect![[r#"
            u1 user: "go"
            a1 assistant: "The sum is" (interrupted)
            u2 user: "go on"
            a2 assistant: "sure"
        "#]],
    );
}

#[test]
fn an_interrupted_answer_is_marked_and_reasoning_alone_is_left_out() {
    let interrupted =
        Event::AnswerInterrupted { message_id: "a1".into(), reason: InterruptReason::Cancelled };
    check(
        &[user("u1", "go"), partial("a1", 0, "half"), interrupted.clone(), user("u2", "on")],
        expect![[r#"
            u1 user: "go"
            a1 assistant: "half" (interrupted)
            u2 user: "on"
        "#]],
    );
    let thinking = Event::PartialAnswer {
        message_id: "a1".into(),
        kind: PartialKind::Reasoning,
        offset: 0,
        content: "hm".into(),
    };
    check(
        &[user("u1", "go"), thinking, interrupted],
        expect![[r#"
            u1 user: "go"
        "#]],
    );
}

#[test]
fn what_was_taken_back_is_gone_from_both_histories() {
    let call = call("c1", "read", json!({}));
    let events = [
        user("u1", "one"),
        answer("a1", "first"),
        user("u2", "two"),
        thought("a2", "hm"),
        action("a2", call),
        Event::HistoryRewound { to_before: "u2".into() },
        user("u3", "better"),
    ];
    check(
        &events,
        expect![[r#"
            u1 user: "one"
            a1 assistant: "first"
            u3 user: "better"
        "#]],
    );
    let folds = folds(&events);
    assert!(folds.model.open_calls().is_empty());
    assert_eq!(folds.transcript.items().len(), 3);
}

#[test]
fn completions_and_stops_are_only_for_the_person() {
    let stopped = |origin| Event::Answer { message_id: "a9".into(), content: "so far".into(), origin };
    let events = [user("u1", "go"), stopped(AnswerOrigin::Completion), stopped(AnswerOrigin::Stopped)];
    check(
        &events,
        expect![[r#"
            u1 user: "go"
        "#]],
    );
    let shown = folds(&events);
    let answers = shown.transcript.items().iter().filter(|item| matches!(item.entry, Entry::Answer { .. }));
    assert_eq!(answers.count(), 2);
}

#[test]
fn a_queued_message_waits_until_it_is_delivered() {
    let Event::UserMessage { message } = user("u2", "also this") else { panic!() };
    let queued = [user("u1", "go"), Event::MessageQueued { message: message.clone() }];
    assert_eq!(folds(&queued).transcript.summary.queued, std::slice::from_ref(&message));
    let delivered = [&queued[..], &[Event::UserMessage { message }]].concat();
    assert!(folds(&delivered).transcript.summary.queued.is_empty());
}

#[test]
fn repairs_say_what_happened() {
    let call = call("c1", "bash", json!({"command": "make"}));
    let cut = folds(&[
        Event::StateChanged { state: TaskState::Running },
        user("u1", "go"),
        thought("a1", ""),
        action("a1", call),
    ]);
    let repairs: Vec<String> =
        repair_events(&cut).iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    expect![[r#"
        {"type":"observation","result":{"call_id":"c1","tool":"bash","output":"`bash` was interrupted: Stepwell stopped before its result was recorded. It may have had effects; check what it changed before you run it again.","error":{"class":"INTERRUPTED","message":"`bash` was interrupted: Stepwell stopped before its result was recorded. It may have had effects; check what it changed before you run it again."},"duration_ms":0}}
        {"type":"state_changed","state":"paused"}"#]]
    .assert_eq(&repairs.join("\n"));
}
