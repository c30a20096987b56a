//! Condensing a long task: what stays word for word, what can be undone, and what fails harmlessly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stepwell_llm::Request;
use stepwell_protocol::{
    Command, CondenseReason, Event, Hypothesis, HypothesisEvidence, HypothesisStatus, Part, TodoItem,
    TodoPriority, TodoStatus,
};

use crate::harness::{CountingServer, Ended, Harness, Setup, Step, call, say, text_argument};

const GOAL: &str = "Find out why totals are wrong and mend it. Never touch `billing/legacy`.";
const WINDOW: u64 = 8_000;

fn is_summary(request: &Request) -> bool {
    request.system.starts_with("You condense")
}

/// A long task: `turns` reads of files, then an answer. Requests for a summary get `summary`.
fn long_task(turns: usize, summary: impl Fn(usize) -> Vec<Step> + Send + Sync + 'static) -> Setup {
    reading(turns, 60, summary)
}

fn reading(
    turns: usize,
    words: usize,
    summary: impl Fn(usize) -> Vec<Step> + Send + Sync + 'static,
) -> Setup {
    let (asked, read) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answer = move |request: &Request| {
        if is_summary(request) {
            return Some(summary(asked.fetch_add(1, Ordering::SeqCst) + 1));
        }
        let number = read.fetch_add(1, Ordering::SeqCst);
        Some(if number < turns {
            call(&[("look", text_argument(&format!("{number} {}", "many words ".repeat(words))))])
        } else {
            say("done")
        })
    };
    Setup { answer: Some(Arc::new(answer)), window: WINDOW, condense_percent: 60, ..Setup::new(Vec::new()) }
}

fn condensings(log: &[Event]) -> usize {
    log.iter().filter(|event| matches!(event, Event::ContextCondensed { .. })).count()
}

async fn books(harness: &Harness) {
    let session = harness.engine.session(&harness.task).unwrap();
    let todo = TodoItem {
        id: "1".into(),
        content: "compare the sums of March".into(),
        status: TodoStatus::InProgress,
        priority: TodoPriority::High,
    };
    let refuted = Hypothesis {
        id: 1,
        claim: "the currency is wrong".into(),
        probe: "evaluate order.currency".into(),
        predicted: "'USD'".into(),
        observed: Some("'EUR'".into()),
        status: HypothesisStatus::Refuted,
        evidence: Some(HypothesisEvidence::Debugger { expression: "order.currency".into() }),
    };
    let events = vec![Event::Todo { items: vec![todo] }, Event::Hypotheses { items: vec![refuted] }];
    session.record(events).await.unwrap();
}

#[tokio::test]
async fn goal_and_books_stand_word_for_word_after_three_condensings() {
    let harness = Harness::new(long_task(60, |number| say(&format!("summary number {number} of the work"))));
    harness.model.hold();
    let session = harness.start(GOAL).await;
    books(&harness).await;
    let rule = Command::SendMessage {
        task: harness.task.clone(),
        parts: vec![Part::text("Rule: answer in French.")],
    };
    harness.engine.submit(rule).await.unwrap();
    harness.model.release();
    assert_eq!(harness.run_end(&session).await, Some(Ended::Answered("done".into())));
    let log = harness.log();
    let times = condensings(&log);
    assert!(times >= 3, "condensed {times} times");
    let requests = harness.model.requests.lock();
    let mut after = 0;
    for request in requests.iter().filter(|request| !is_summary(request)) {
        let tokens: u64 =
            request.messages.iter().map(|message| stepwell_llm::estimate_message(message)).sum();
        assert!(tokens < WINDOW, "{tokens} tokens in a window of {WINDOW}");
        assert_eq!(request.messages[0].text(), GOAL, "the goal is the first message of every request");
        let Some(summary) = request.messages.iter().find(|message| message.text().starts_with("[Condensed"))
        else {
            continue;
        };
        after += 1;
        let text = summary.text();
        for pinned in [
            "Rule: answer in French.",
            "[-] compare the sums of March",
            "the currency is wrong",
            "'EUR'",
            "REFUTED",
            "summary number",
        ] {
            assert!(text.contains(pinned), "`{pinned}` is missing in:\n{text}");
        }
    }
    assert!(after > 3, "{after} requests came after a condensing");
    for request in requests.iter().filter(|request| is_summary(request)) {
        let tokens: u64 =
            request.messages.iter().map(|message| stepwell_llm::estimate_message(message)).sum();
        assert!(tokens < WINDOW, "the request for a summary fits too: {tokens}");
    }
}

#[tokio::test]
async fn undoing_gives_back_the_same_bytes() {
    let harness =
        Harness::new(Setup { condense_percent: 0, ..long_task(12, |_| say("everything in one line")) });
    harness.run(GOAL).await;
    let harness = harness.restart(Setup {
        answer: Some(Arc::new(|_: &Request| Some(say("everything in one line")))),
        window: WINDOW,
        ..Setup::new(Vec::new())
    });
    let session = harness.engine.open(&harness.task).await.unwrap();
    let sent = |session: &stepwell_agent::Session| serde_json::to_string(&session.messages()).unwrap();
    let before = sent(&session);
    harness.engine.submit(Command::CondenseTask { task: harness.task.clone() }).await.unwrap();
    session.run_end().await;
    let condensed = sent(&session);
    assert!(condensed.len() < before.len() / 2 && condensed.contains("everything in one line"));
    let is_step =
        |event: &Event| matches!(event, Event::ContextCondensed { .. } | Event::OutputsDropped { .. });
    let steps = harness.log().into_iter().filter(is_step).count();
    for _ in 0..steps {
        harness.engine.submit(Command::UndoCondensing { task: harness.task.clone() }).await.unwrap();
    }
    assert_eq!(sent(&session), before);
    let more = harness.engine.submit(Command::UndoCondensing { task: harness.task.clone() }).await;
    assert!(more.is_err(), "there is nothing left to undo");
    drop(session);
    // The same from the log, by another process.
    let harness = harness.restart(Setup::new(Vec::new()));
    let session = harness.engine.open(&harness.task).await.unwrap();
    assert_eq!(sent(&session), before);
}

#[tokio::test]
async fn a_broken_or_empty_summary_changes_nothing_and_never_loops() {
    type Summary = fn(usize) -> Vec<Step>;
    let failing: [Summary; 3] = [
        |_| say("   "),
        |_| vec![Step::Fail(stepwell_llm::Error::new(stepwell_protocol::ErrorKind::LlmProtocol, "broken"))],
        |_| say(&"longer than what it stands for ".repeat(2_000)),
    ];
    for summary in failing {
        let harness = Harness::new(long_task(40, summary));
        let (end, _) = harness.run(GOAL).await;
        assert_eq!(end, Ended::Answered("done".into()));
        assert_eq!(condensings(&harness.log()), 0);
        let asked = harness.model.requests.lock().iter().filter(|request| is_summary(request)).count();
        assert!((1..=12).contains(&asked), "a summary was asked for {asked} times in 41 turns");
    }
}

#[tokio::test]
async fn an_overflow_told_by_the_server_condenses() {
    let server = CountingServer { limit: 6_000, tells_limit: true, tells_sent: true };
    let setup = Setup {
        window: 128_000,
        server: Some(server),
        condense_percent: 75,
        ..long_task(40, |_| say("what was found so far"))
    };
    let harness = Harness::new(setup);
    let (end, _) = harness.run(GOAL).await;
    assert_eq!(end, Ended::Answered("done".into()));
    let by_overflow = harness.log().iter().any(|event| {
        matches!(event, Event::ContextCondensed { condensing } if condensing.reason == CondenseReason::Overflow)
    });
    let dropped = harness.log().iter().any(|event| matches!(event, Event::OutputsDropped { .. }));
    assert!(by_overflow || dropped);
}

#[tokio::test]
async fn what_was_left_out_can_be_read_again() {
    let harness = Harness::new(reading(20, 200, |_| say("in short")));
    harness.run(GOAL).await;
    let mut dropped = 0;
    for event in harness.log() {
        if let Event::OutputsDropped { outputs } = event {
            for output in outputs {
                let kept = stepwell_workspace::files::read(std::path::Path::new(&output.path)).unwrap();
                assert_eq!(kept.len() as u64, output.bytes);
                dropped += 1;
            }
        }
    }
    assert!(dropped > 5, "{dropped} outputs were left out");
}
