//! What is repeated, how often, after which pauses, and what whoever follows sees of it.

#![allow(clippy::unnecessary_wraps, reason = "the items of a stream are results")]

use std::sync::Arc;

use expect_test::{Expect, expect};
use futures::stream;
use parking_lot::Mutex;

use super::*;
use crate::model::{RequestOptions, StopReason};

/// Serves scripted streams in order.
struct Scripted {
    info: ModelInfo,
    answers: Mutex<Vec<Vec<Result<Delta, Error>>>>,
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, _request: Request) -> DeltaStream {
        let answer = self.answers.lock().remove(0);
        Box::pin(stream::iter(answer))
    }
}

fn connection() -> Result<Delta, Error> {
    Err(Error::new(ErrorKind::LlmConnection, "gone"))
}

fn rate_limit(retry_after: Option<u64>) -> Result<Delta, Error> {
    let wait = retry_after.map(Duration::from_secs);
    Err(Error::new(ErrorKind::LlmRateLimit, "slow down").with_retry_after(wait))
}

fn text(text: &str) -> Result<Delta, Error> {
    Ok(Delta::Text(text.into()))
}

fn stop() -> Result<Delta, Error> {
    Ok(Delta::Stop(StopReason::EndTurn))
}

fn request() -> Request {
    Request {
        system: "".into(),
        messages: Vec::new(),
        tools: Arc::from([]),
        deferred: Arc::from([]),
        options: RequestOptions::default(),
    }
}

async fn check(answers: Vec<Vec<Result<Delta, Error>>>, expect: Expect) {
    let info = ModelInfo {
        provider: "p".into(),
        id: "m".into(),
        context_window: 1,
        window_source: crate::window::WindowSource::Assumed,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let inner = Arc::new(Scripted { info, answers: Mutex::new(answers) });
    let policy = RetryPolicy { jitter: 0.0, ..RetryPolicy::STANDARD };
    let started = tokio::time::Instant::now();
    let mut stream = RetryModel::new(inner, policy).stream(request());
    let mut out = String::new();
    while let Some(item) = stream.next().await {
        let line = match item {
            Ok(Delta::Retrying { attempt, limit, delay, reason }) => {
                format!("retrying {attempt}/{limit} in {delay:?}: {reason}")
            }
            Ok(delta) => format!("{delta:?}"),
            Err(error) => format!("error: {error}"),
        };
        out.push_str(&format!("{line}\n"));
    }
    out.push_str(&format!("after {:?}\n", started.elapsed()));
    expect.assert_eq(&out);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_tried_again_three_times() {
    check(
        vec![vec![connection()], vec![connection()], vec![connection()], vec![connection()]],
        expect![[r"
            retrying 1/3 in 500ms: gone
            retrying 2/3 in 1s: gone
            retrying 3/3 in 2s: gone
            error: gone
            after 3.5s
        "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_begins_anew_when_there_is_something_new() {
    check(
        vec![vec![text("Hel"), connection()], vec![connection()], vec![text("Hello"), stop()]],
        expect![[r#"
            Text("Hel")
            retrying 1/3 in 500ms: gone
            retrying 2/3 in 1s: gone
            Restarted
            Text("Hello")
            Stop(EndTurn)
            after 1.5s
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out() {
    check(
        vec![
            vec![rate_limit(None)],
            vec![rate_limit(Some(7))],
            vec![rate_limit(None)],
            vec![text("x"), stop()],
        ],
        expect![[r#"
            retrying 1/5 in 2s: slow down
            retrying 2/5 in 7s: slow down
            retrying 3/5 in 8s: slow down
            Text("x")
            Stop(EndTurn)
            after 17s
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_borne_five_times() {
    check(
        (0..6).map(|_| vec![rate_limit(Some(1))]).collect(),
        expect![[r"
            retrying 1/5 in 1s: slow down
            retrying 2/5 in 1s: slow down
            retrying 3/5 in 1s: slow down
            retrying 4/5 in 1s: slow down
            retrying 5/5 in 1s: slow down
            error: slow down
            after 5s
        "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_hour_is_not_waited_for() {
    check(
        vec![vec![rate_limit(Some(3600))]],
        expect![[r"
            error: slow down
            after 0ns
        "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_repeated() {
    check(
        vec![vec![Err(Error::new(ErrorKind::LlmAuthentication, "wrong key"))]],
        expect![[r"
            error: wrong key
            after 0ns
        "]],
    )
    .await;
}

#[test]
fn pauses_grow_and_vary_within_bounds() {
    let policy = RetryPolicy::STANDARD;
    let base = Duration::from_secs(2);
    assert_eq!(policy.pause(base, 0, 0.5), Duration::from_secs(2));
    assert_eq!(policy.pause(base, 1, 0.0), Duration::from_secs(3));
    assert_eq!(policy.pause(base, 1, 1.0), Duration::from_secs(5));
    assert_eq!(policy.pause(base, 20, 0.5), policy.longest_delay);
    assert_eq!(policy.pause(base, 63, 1.0), policy.longest_delay);
}
