//! The correctness properties of a run, each under its number.

use std::sync::atomic::Ordering;

use proptest::prelude::*;
use stepwell_llm::{Delta, StopReason};
use stepwell_protocol::{AnswerOrigin, Event, EventRecord, InterruptReason, Role, ToolCallId};

use stepwell_tool_runtime::LoopLimits;

use crate::harness::{Ended as RunEnd, Harness, Setup, Step, call, say, text_argument, usage};

const TOOLS: [&str; 5] = ["look", "touch", "fail", "no_such_tool", "rm -rf"];

/// Scripts: turns of text, reasoning and calls, ended by an answer or by `finish`.
fn script() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let text = proptest::option::of("[a-z<>/ \n\u{4e00}-\u{4e20}]{1,40}");
    let calls = proptest::collection::vec((0..TOOLS.len(), "[a-z]{1,12}"), 1..4);
    let turn = (text, proptest::option::of("[a-z ]{1,20}"), calls).prop_map(|(text, reasoning, calls)| {
        let mut steps = Vec::new();
        if let Some(reasoning) = reasoning {
            steps.push(Step::Give(Delta::Reasoning(reasoning)));
            steps.push(Step::Give(Delta::ReasoningEnd { opaque: None }));
        }
        if let Some(text) = text {
            steps.push(Step::Give(Delta::Text(text)));
        }
        for (index, (tool, argument)) in calls.into_iter().enumerate() {
            let id = ToolCallId::generate();
            steps.push(Step::Give(Delta::CallStart { index, id, name: TOOLS[tool].into() }));
            steps
                .push(Step::Give(Delta::CallArguments { index, json: text_argument(&argument).to_string() }));
            steps.push(Step::Give(Delta::CallEnd { index, opaque: None }));
        }
        steps.push(usage(10, 5));
        steps.push(Step::Give(Delta::Stop(StopReason::ToolCalls)));
        steps
    });
    let end = prop_oneof![
        "[a-zA-Z\u{4e00}-\u{4e20}]{1,60}".prop_map(|text| say(&text)),
        "[a-z]{1,20}".prop_map(|text| call(&[("finish", text_argument(&text))])),
    ];
    (proptest::collection::vec(turn, 0..6), end).prop_map(|(mut turns, end)| {
        turns.push(end);
        turns
    })
}

fn play(turns: Vec<Vec<Step>>) -> (Harness, RunEnd, Vec<EventRecord>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Scripts may repeat themselves; the guard against that has tests of its own.
    let setup = Setup { loop_limits: LoopLimits::OFF, ..Setup::new(turns) };
    let harness = runtime.block_on(async { Harness::new(setup) });
    let (end, events) = runtime.block_on(harness.run("go"));
    (harness, end, events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A thought of the same message stands before every action, and one observation after it.
    #[test]
    fn property_2_thought_action_observation(turns in script()) {
        let (_harness, _end, events) = play(turns);
        let mut thought = None;
        let mut open: Vec<ToolCallId> = Vec::new();
        for record in &events {
            match &record.event {
                Event::Thought { message_id, .. } => {
                    prop_assert!(open.is_empty(), "a thought before all observations");
                    thought = Some(message_id.clone());
                }
                Event::Action { message_id, call } => {
                    prop_assert_eq!(thought.as_ref(), Some(message_id));
                    open.push(call.id.clone());
                }
                Event::Observation { result } => {
                    let place = open.iter().position(|id| *id == result.call_id);
                    prop_assert!(place.is_some(), "an observation without an action");
                    open.remove(place.unwrap());
                }
                _ => {}
            }
        }
        prop_assert!(open.is_empty(), "actions without observation: {open:?}");
    }

    /// Only tools that are registered run; a call of another is an observation that says so.
    #[test]
    fn property_3_only_registered_tools_run(turns in script()) {
        let (harness, _end, events) = play(turns);
        let known = ["look", "touch", "fail", "finish"];
        let mut ran = 0;
        for record in &events {
            if let Event::Observation { result } = &record.event {
                if known.contains(&result.tool.as_str()) {
                    ran += usize::from(result.error.as_ref().is_none_or(|error| error.message.starts_with("cannot")));
                } else {
                    let error = result.error.as_ref().unwrap();
                    prop_assert_eq!(error.class, stepwell_protocol::ErrorClass::ParameterError);
                }
            }
        }
        prop_assert_eq!(harness.calls.load(Ordering::SeqCst), ran);
    }

    /// A run that succeeds ends with an answer that has content, and it is the last event.
    #[test]
    fn property_4_success_ends_with_an_answer(turns in script()) {
        let (_harness, end, events) = play(turns);
        prop_assert!(matches!(end, RunEnd::Answered(_)), "{end:?}");
        // Behind it only doors are told that the run is over.
        let mut events = events.iter().map(|record| &record.event);
        let last = events.rfind(|event| !matches!(event, Event::RunEnded { .. })).unwrap();
        let answered = matches!(
            last,
            Event::Answer { content, origin: AnswerOrigin::Text | AnswerOrigin::Completion, .. } if !content.is_empty()
        );
        prop_assert!(answered, "{last:?}");
    }

    /// Every message before and every result is in the next request, in order.
    #[test]
    fn property_12_the_context_is_complete(turns in script()) {
        let (harness, _end, events) = play(turns);
        let requests = harness.model.requests.lock();
        let mut before: Vec<String> = Vec::new();
        for request in requests.iter() {
            let ids: Vec<String> = request.messages.iter().map(|message| message.id.to_string()).collect();
            prop_assert_eq!(&ids[..before.len()], before.as_slice(), "the beginning changed");
            before = ids;
            for message in request.messages.iter().filter(|message| message.role == Role::Assistant) {
                for call in message.tool_calls() {
                    let answered = request.messages.iter().any(|other| {
                        other.tool_results().any(|result| result.call_id == call.id)
                    });
                    prop_assert!(answered, "call {} was sent without its result", call.id);
                }
            }
        }
        let results = events.iter().filter(|record| matches!(record.event, Event::Observation { .. })).count();
        let sent: usize = requests.last().unwrap().messages.iter().map(|message| message.tool_results().count()).sum();
        // `finish` ends the run, so its own turn's results are not sent any more.
        let finished = harness.log().iter().any(|event| {
            matches!(event, Event::Answer { origin: AnswerOrigin::Completion, .. })
        });
        prop_assert_eq!(sent + usize::from(finished), results);
    }

    /// A new task knows nothing of the one before it.
    #[test]
    fn property_14_a_new_task_starts_empty(first in "[a-z]{8,20}", second in "[A-Z]{8,20}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let harness = runtime.block_on(async { Harness::new(Setup::new(vec![say("one"), say("two")])) });
        runtime.block_on(harness.run(&first));
        let other = Harness { task: stepwell_protocol::TaskId::generate(), ..harness };
        runtime.block_on(other.run(&second));
        let requests = other.model.requests.lock();
        let messages = &requests.last().unwrap().messages;
        prop_assert_eq!(messages.len(), 1);
        prop_assert_eq!(messages[0].text(), second);
    }

    /// Tokens arrive as they come, and put together they are the answer.
    #[test]
    fn property_15_tokens_add_up_to_the_answer(pieces in proptest::collection::vec("[a-z\u{4e00}-\u{4e20} ]{1,9}", 1..40)) {
        let whole: String = pieces.concat();
        prop_assume!(!whole.trim().is_empty());
        let mut turn: Vec<Step> = pieces.into_iter().map(|piece| Step::Give(Delta::Text(piece))).collect();
        turn.push(Step::Give(Delta::Stop(StopReason::EndTurn)));
        let (_harness, end, events) = play(vec![turn]);
        let mut shown = String::new();
        for record in &events {
            match &record.event {
                Event::Token { content, .. } => shown.push_str(content),
                Event::Answer { content, .. } => prop_assert_eq!(content, &shown, "the answer came before its tokens"),
                _ => {}
            }
        }
        prop_assert_eq!(&shown, &whole);
        prop_assert_eq!(end, RunEnd::Answered(whole));
    }

    /// What was received before a cancel is kept, marked, and part of what the model sees next.
    #[test]
    fn property_16_cancel_keeps_what_was_received(pieces in proptest::collection::vec("[a-z\u{4e00}-\u{4e20}]{1,9}", 1..20)) {
        let whole: String = pieces.concat();
        let mut turn: Vec<Step> = pieces.into_iter().map(|piece| Step::Give(Delta::Text(piece))).collect();
        turn.push(Step::Hang);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let harness = runtime.block_on(async { Harness::new(Setup::new(vec![turn, say("again")])) });
        runtime.block_on(async {
            let session = harness.start("go").await;
            harness.reached.notified().await;
            session.cancel();
            assert_eq!(harness.run_end(&session).await, Some(RunEnd::Cancelled));
        });
        let interrupted = harness.log().iter().any(|event| {
            matches!(event, Event::AnswerInterrupted { reason: InterruptReason::Cancelled, .. })
        });
        prop_assert!(interrupted);
        let session = harness.engine.session(&harness.task).unwrap();
        let kept = session.messages().last().unwrap().clone();
        prop_assert_eq!(kept.text(), whole);
        prop_assert!(kept.interrupted);
    }
}
