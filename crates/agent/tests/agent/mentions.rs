//! Mentions in messages that wait while the model works.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use stepwell_protocol::{Command, Part, SymbolItem};
use stepwell_tool_runtime::{PathKind, Wanted, WorkspaceLookup};
use tokio_util::sync::CancellationToken;

use crate::harness::{Ended, Harness, Setup, say, text_argument};

/// A workspace with one file, which the tool `look` reads.
struct OneFile;

#[async_trait]
impl WorkspaceLookup for OneFile {
    async fn overview(&self, _cancel: &CancellationToken) -> Option<String> {
        None
    }

    async fn files(&self, _text: &str, _limit: usize) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    async fn symbols(&self, _text: &str, _limit: usize) -> Result<Vec<SymbolItem>, String> {
        Ok(Vec::new())
    }

    async fn kind_of(&self, path: &str) -> Option<PathKind> {
        (path == "tea.txt").then_some(PathKind::File)
    }

    fn call_for(&self, wanted: &Wanted) -> Option<(String, Value)> {
        matches!(wanted, Wanted::File { .. }).then(|| ("look".to_owned(), text_argument("green tea")))
    }
}

#[tokio::test]
async fn a_queued_message_brings_what_it_names() {
    let setup = Setup { lookup: Some(Arc::new(OneFile)), ..Setup::new(vec![say("one"), say("two")]) };
    let harness = Harness::new(setup);
    harness.model.hold();
    let session = harness.start("go").await;
    while harness.model.requests.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    let parts = vec![Part::text("see @tea.txt and @nobody")];
    harness.engine.submit(Command::SendMessage { task: session.task.clone(), parts }).await.unwrap();
    harness.model.release();
    assert_eq!(harness.run_end(&session).await, Some(Ended::Answered("two".into())));
    let requests = harness.model.requests.lock().clone();
    let details: Vec<String> = requests[1].messages.iter().map(|message| message.text()).collect();
    let details = details.iter().find(|text| text.contains("## @tea.txt")).expect("the file is brought");
    assert!(details.contains("data, no orders"), "{details}");
    assert_eq!(harness.calls.load(std::sync::atomic::Ordering::SeqCst), 1);
}
