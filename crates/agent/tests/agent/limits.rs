//! The error table: what each failure of a run looks like from outside.

use expect_test::{Expect, expect};
use stepwell_agent::Budget;
use stepwell_llm::{Delta, Error};
use stepwell_protocol::{ErrorKind, Event, InterruptReason, TaskState};

use crate::harness::{Ended as RunEnd, Harness, Setup, Step, call, say, text_argument};

/// Runs a setup and shows its durable events, one word each, and the last error.
async fn check(setup: Setup, expected: Expect) {
    let harness = Harness::new(setup);
    let (end, _) = harness.run("go").await;
    let mut shown = String::new();
    for event in harness.log() {
        let value = serde_json::to_value(&event).unwrap();
        shown.push_str(value["type"].as_str().unwrap());
        match &event {
            Event::StateChanged { state } => shown.push_str(&format!(" {}", state.name())),
            Event::Error { error } => {
                shown.push_str(&format!(
                    " {:?}: {}\n  hint: {}",
                    error.kind,
                    error.message,
                    error.hint.as_deref().unwrap_or("-")
                ));
            }
            Event::Answer { content, .. } => shown.push_str(&format!(" {content:?}")),
            Event::Observation { result } => shown.push_str(&format!(" {:?}", result.output)),
            _ => {}
        }
        shown.push('\n');
    }
    shown.push_str(match end {
        RunEnd::Answered(_) => "answered\n",
        RunEnd::Stopped(_) => "stopped\n",
        RunEnd::Paused => "paused\n",
        RunEnd::Cancelled => "cancelled\n",
        RunEnd::Failed(_) => "failed\n",
    });
    expected.assert_eq(&shown.replace(harness.task.as_str(), "TASK"));
}

#[tokio::test]
async fn a_connection_that_stays_lost_fails_with_advice_and_keeps_the_half_answer() {
    let lost = Error::new(ErrorKind::LlmConnection, "cannot reach 127.0.0.1:1").with_hint("start the server");
    check(
        Setup::new(vec![vec![Step::Give(Delta::Text("half an ans".into())), Step::Fail(lost)]]),
        expect![[r#"
            task_created
            user_message
            state_changed running
            partial_answer
            answer_interrupted
            error LlmConnection: cannot reach 127.0.0.1:1
              hint: start the server
            state_changed failed
            failed
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_tools_failure_is_an_observation_and_the_run_goes_on() {
    check(
        Setup::new(vec![call(&[("fail", text_argument("open it"))]), say("it failed")]),
        expect![[r#"
            task_created
            user_message
            state_changed running
            usage
            thought
            action
            observation "cannot open it"
            usage
            state_changed completed
            answer "it failed"
            answered
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_turn_limit_stops_with_the_progress_and_can_be_resumed() {
    let turns =
        vec![call(&[("look", text_argument("a"))]), call(&[("look", text_argument("b"))]), say("end")];
    check(
        Setup { max_turns: Some(2), ..Setup::new(turns) },
        expect![[r#"
            task_created
            user_message
            state_changed running
            usage
            thought
            action
            observation "saw a"
            usage
            thought
            action
            observation "saw b"
            error MaxIterations: stopped after 2 turns, the most this run may take
              hint: go on with `stepwell run --resume 1`
            state_changed paused
            answer "stopped after 2 turns, the most this run may take\n\n2 tool calls so far, 0 failed."
            stopped
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_budget_stops_before_the_next_request() {
    let turns = vec![call(&[("look", text_argument("a"))]), say("never said")];
    check(
        Setup { budget: Budget { max_tokens: Some(15), max_cost_usd: None }, ..Setup::new(turns) },
        expect![[r#"
            task_created
            user_message
            state_changed running
            usage
            thought
            action
            observation "saw a"
            question_asked
            question_answered
            error TokenBudget: the budget is used up: 15 of 15 tokens are used
              hint: raise it and go on with `stepwell run --resume 1 --max-tokens AMOUNT`
            state_changed paused
            answer "the budget is used up: 15 of 15 tokens are used\n\n1 tool call so far, 0 failed."
            stopped
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_model_that_repeats_itself_for_ever_is_stopped() {
    let again = || call(&[("look", text_argument("the same place"))]);
    let harness = Harness::new(Setup::new((0..50).map(|_| again()).collect()));
    let (end, _) = harness.run("go").await;
    assert!(matches!(&end, RunEnd::Stopped(error) if error.kind == ErrorKind::Loop), "{end:?}");
    let calls = harness.log().iter().filter(|event| matches!(event, Event::Action { .. })).count();
    assert!(calls <= 6, "{calls} calls before the end");
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_again_and_then_an_error() {
    let nothing = || vec![Step::Give(Delta::Stop(stepwell_llm::StopReason::EndTurn))];
    let harness = Harness::new(Setup::new(vec![nothing(), say("there it is")]));
    let (end, _) = harness.run("go").await;
    assert_eq!(end, RunEnd::Answered("there it is".into()));

    let harness = Harness::new(Setup::new(vec![nothing(), nothing(), nothing(), nothing()]));
    let (end, _) = harness.run("go").await;
    assert!(matches!(end, RunEnd::Failed(error) if error.kind == ErrorKind::LlmProtocol));
}

#[tokio::test]
async fn a_context_the_server_finds_too_long_is_shortened() {
    let too_long = || vec![Step::Fail(Error::new(ErrorKind::LlmContextTooLong, "too long"))];
    let harness = Harness::new(Setup { window: 4_000, ..Setup::new(vec![too_long(), say("fits")]) });
    let (end, _) = harness.run(&"word ".repeat(2_600)).await;
    assert_eq!(end, RunEnd::Answered("fits".into()));
    let requests = harness.model.requests.lock();
    assert!(requests[1].messages[0].text().len() < requests[0].messages[0].text().len());
}

#[tokio::test]
async fn cancel_stops_at_once_and_the_task_can_go_on() {
    let harness = Harness::new(Setup::new(vec![
        vec![Step::Give(Delta::Text("so f".into())), Step::Hang],
        say("here is the rest"),
    ]));
    let session = harness.start("go").await;
    harness.reached.notified().await;
    harness.engine.submit(stepwell_protocol::Command::Cancel { task: harness.task.clone() }).await.unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Cancelled));
    assert!(harness.log().iter().any(|event| {
        matches!(event, Event::AnswerInterrupted { reason: InterruptReason::Cancelled, .. })
    }));
    assert_eq!(session.read_summary(|summary| summary.state), TaskState::Aborted);
    harness
        .engine
        .submit(stepwell_protocol::Command::ResumeTask { task: harness.task.clone() })
        .await
        .unwrap();
    assert_eq!(harness.run_end(&session).await, Some(RunEnd::Answered("here is the rest".into())));
}
