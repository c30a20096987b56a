//! When a task gets the overview of the code.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stepwell_protocol::{Event, Message, Part, SymbolItem};
use stepwell_tool_runtime::WorkspaceLookup;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::harness::{Ended, Harness, Setup, call, say, text_argument};

/// An overview that is ready when the test says so.
struct GatedOverview {
    gate: watch::Sender<bool>,
    finished: watch::Sender<bool>,
    patience: Duration,
}

impl GatedOverview {
    fn new(is_open: bool, patience: Duration) -> Arc<Self> {
        Arc::new(Self { gate: watch::Sender::new(is_open), finished: watch::Sender::new(false), patience })
    }
}

#[async_trait]
impl WorkspaceLookup for GatedOverview {
    async fn overview(&self, _cancel: &CancellationToken) -> Option<String> {
        self.gate.subscribe().wait_for(|open| *open).await.ok()?;
        self.finished.send_replace(true);
        Some("shop.py: Order:1".into())
    }

    fn overview_patience(&self) -> Duration {
        self.patience
    }

    async fn files(&self, _text: &str, _limit: usize) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    async fn symbols(&self, _text: &str, _limit: usize) -> Result<Vec<SymbolItem>, String> {
        Ok(Vec::new())
    }
}

fn details(messages: &[Arc<Message>]) -> usize {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts.filter(|part| part.is_surroundings()).count()
}

/// The first request does not wait for an overview; the next one has it, behind what was sent before.
#[tokio::test]
async fn a_slow_overview_comes_with_a_later_turn() {
    let lookup = GatedOverview::new(false, Duration::ZERO);
    let turns = vec![call(&[("look", text_argument("x"))]), say("done")];
    let setup = Setup { lookup: Some(lookup.clone()), ..Setup::new(turns) };
    let harness = Harness::new(setup);
    harness.model.hold();
    let session = harness.start("go").await;
    while harness.model.requests.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    lookup.gate.send_replace(true);
    lookup.finished.subscribe().wait_for(|finished| *finished).await.unwrap();
    harness.model.release();
    assert_eq!(harness.run_end(&session).await, Some(Ended::Answered("done".into())));
    let requests = harness.model.requests.lock().clone();
    let [first, second] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((details(&first.messages), details(&second.messages)), (0, 1));
    assert_eq!(second.messages[..first.messages.len()], first.messages[..]);
    assert!(second.messages.last().unwrap().is_environment_details());
    let mut log = harness.log().into_iter();
    assert!(
        log.any(|event| matches!(event, Event::EnvironmentDetails { text, .. } if text.contains("Order")))
    );
}

/// A task that ended before its overview was ready gets it with the next message, once.
#[tokio::test]
async fn an_overview_is_given_once_however_many_messages_there_are() {
    let lookup = GatedOverview::new(true, Duration::from_secs(60));
    let setup = Setup { lookup: Some(lookup.clone()), ..Setup::new(vec![say("one")]) };
    let harness = Harness::new(setup);
    harness.run("go").await;
    let first = harness.model.requests.lock()[0].messages.clone();
    assert_eq!(details(&first), 1);
    assert_eq!(first[0].said(), "go");
    let harness = harness.restart(Setup { lookup: Some(lookup), ..Setup::new(vec![say("two")]) });
    let parts = vec![Part::text("and now?")];
    let command = stepwell_protocol::Command::SendMessage { task: harness.task.clone(), parts };
    harness.engine.submit(command).await.unwrap();
    let session = harness.engine.session(&harness.task).unwrap();
    harness.run_end(&session).await;
    assert_eq!(details(&harness.model.requests.lock()[0].messages), 1);
}
