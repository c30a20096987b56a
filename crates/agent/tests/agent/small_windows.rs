//! Servers whose window is smaller than what is sent.

use std::time::Duration;

use stepwell_protocol::{ErrorKind, Event};
use stepwell_tool_runtime::LoopLimits;

use crate::harness::{CountingServer, Ended as RunEnd, Harness, Setup, call, say, text_argument};

#[tokio::test]
async fn a_task_on_a_server_of_2048_tokens_recovers() {
    for (tells_limit, tells_sent) in [(true, true), (true, false), (false, true), (false, false)] {
        let server = CountingServer { limit: 2_048, tells_limit, tells_sent };
        let told = "word ".repeat(150);
        let look = |number: usize| call(&[("look", text_argument(&format!("{number} {told}")))]);
        let mut turns: Vec<_> = (0..12).map(look).collect();
        turns.push(say("done"));
        // The window is not known: far more is assumed than there is.
        let harness = Harness::new(Setup { window: 128_000, server: Some(server), ..Setup::new(turns) });
        let (end, _) = harness.run(&"please look ".repeat(1_000)).await;
        assert_eq!(end, RunEnd::Answered("done".into()), "limit told {tells_limit}, sent told {tells_sent}");
        let sent: Vec<u64> = harness.model.requests.lock().iter().map(CountingServer::count).collect();
        for pair in sent.windows(2).filter(|pair| pair[0] > server.limit) {
            assert!(pair[1] < pair[0], "not shortened: {sent:?}");
        }
        let refused = sent.iter().filter(|tokens| **tokens > server.limit).count();
        let most = if tells_sent { 4 } else { 8 };
        assert!(refused <= most, "{refused} refusals: {sent:?}");
    }
}

#[tokio::test]
async fn requests_the_server_refused_are_no_turns() {
    let server = CountingServer { limit: 2_048, tells_limit: false, tells_sent: false };
    let turns = vec![call(&[("look", text_argument("a"))]), say("done")];
    let harness = Harness::new(Setup { max_turns: Some(2), server: Some(server), ..Setup::new(turns) });
    let (end, _) = harness.run(&"word ".repeat(9_000)).await;
    assert_eq!(end, RunEnd::Answered("done".into()));
    assert!(harness.model.requests.lock().len() > 2);
}

#[tokio::test]
async fn a_window_that_nothing_fits_into_is_an_error_and_no_endless_loop() {
    let server = CountingServer { limit: 10, tells_limit: true, tells_sent: true };
    let harness = Harness::new(Setup { server: Some(server), ..Setup::new(vec![say("never")]) });
    let (end, _) = harness.run("go").await;
    assert!(matches!(&end, RunEnd::Failed(error) if error.kind == ErrorKind::LlmContextTooLong), "{end:?}");
    assert!(harness.model.requests.lock().len() <= 9);
}

/// The note about messages that were left out says that files can be read again; the loop guard lets the model do it.
#[tokio::test]
async fn what_was_left_out_of_the_context_may_be_read_again() {
    let filler =
        |number: usize| call(&[("look", text_argument(&format!("{number} {}", "word ".repeat(180))))]);
    let mut turns = Vec::new();
    for round in 0..5 {
        turns.push(call(&[("look", text_argument("the plan"))]));
        turns.extend((0..6).map(|number| filler(round * 10 + number)));
    }
    turns.push(say("done"));
    let loop_limits = LoopLimits { repetitions: 3, window: Duration::from_secs(600) };
    let harness = Harness::new(Setup { window: 1_500, loop_limits, ..Setup::new(turns) });
    let (end, _) = harness.run("go").await;
    assert_eq!(end, RunEnd::Answered("done".into()));
    let is_refusal = |event: &Event| matches!(event, Event::Observation { result } if result.output.contains("call number"));
    assert!(!harness.log().iter().any(is_refusal), "the guard refused what the note offered");
}

#[tokio::test]
async fn a_model_that_reads_the_same_for_ever_in_a_small_window_is_stopped() {
    let turn = |number: usize| {
        let long = format!("{number} {}", "word ".repeat(180));
        call(&[("look", text_argument("the plan")), ("look", text_argument(&long))])
    };
    let harness = Harness::new(Setup { window: 1_500, ..Setup::new((0..100).map(turn).collect()) });
    let (end, _) = harness.run("go").await;
    assert!(matches!(&end, RunEnd::Stopped(error) if error.kind == ErrorKind::Loop), "{end:?}");
}

#[tokio::test]
async fn a_small_window_gets_a_short_prompt_and_stays_with_it() {
    let turns = vec![call(&[("look", text_argument("a"))]), say("done")];
    let harness = Harness::new(Setup { window: 800, ..Setup::new(turns) });
    harness.run("go").await;
    let requests = harness.model.requests.lock();
    assert!(requests[0].system.len() < 1_500, "{}", requests[0].system);
    assert_eq!(requests[0].system, requests[1].system);
    let notices = harness.log().iter().filter(|event| matches!(event, Event::Notice { .. })).count();
    assert_eq!(notices, 1);
}
