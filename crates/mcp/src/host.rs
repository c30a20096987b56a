//! The host of one call: what the tool shows and asks goes to whoever drives the call.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use parking_lot::Mutex;
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, Question, QuestionAnswer,
    TodoItem,
};
use stepwell_tool_runtime::{Host, HostError};
use stepwell_workspace::files;
use tokio::sync::{mpsc, oneshot};

/// What a running call says and asks.
pub(crate) enum Signal {
    /// The last thing that happened, on one line.
    Progress(String),
    /// Something the person should know.
    Notice(String),
    Approve(Box<ApprovalRequest>, oneshot::Sender<(ApprovalAnswer, ApprovalSource)>),
    Ask(Box<Question>, oneshot::Sender<QuestionAnswer>),
}

/// Signals that wait to be told on; more than these are left out, because the newest line counts.
pub(crate) const WAITING_SIGNALS: usize = 64;

/// Where whole outputs are kept while the server runs. The folder is made when it is first needed and removed with the
/// server.
pub(crate) struct ArtifactFolder {
    path: PathBuf,
    made: OnceLock<()>,
}

impl ArtifactFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, made: OnceLock::new() }
    }

    fn open(&self) -> Result<PathBuf, HostError> {
        files::create_private_dir(&self.path).map_err(|error| HostError(error.to_string()))?;
        self.made.get_or_init(|| ());
        Ok(self.path.clone())
    }
}

impl Drop for ArtifactFolder {
    fn drop(&mut self) {
        if self.made.get().is_some() {
            // What cannot be removed is small and private; the next start removes what dead servers left.
            files::remove_dir_all(&self.path).ok();
        }
    }
}

pub(crate) struct CallHost {
    signals: mpsc::Sender<Signal>,
    artifacts: Arc<ArtifactFolder>,
    todo: Mutex<Vec<TodoItem>>,
}

impl CallHost {
    pub(crate) fn new(signals: mpsc::Sender<Signal>, artifacts: Arc<ArtifactFolder>) -> Self {
        Self { signals, artifacts, todo: Mutex::default() }
    }

    fn progress(&self, text: &str) {
        if let Some(line) = last_line(text) {
            self.signals.try_send(Signal::Progress(line)).ok();
        }
    }
}

#[async_trait]
impl Host for CallHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        let (reply, answer) = oneshot::channel();
        if self.signals.send(Signal::Approve(Box::new(request), reply)).await.is_ok()
            && let Ok(answer) = answer.await
        {
            return answer;
        }
        let why = "the client is gone".to_owned();
        (ApprovalAnswer::no(Some(why)), ApprovalSource::Policy)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        let default = question.default_option.clone();
        let (reply, answer) = oneshot::channel();
        if self.signals.send(Signal::Ask(Box::new(question), reply)).await.is_ok()
            && let Ok(answer) = answer.await
        {
            return answer;
        }
        QuestionAnswer::new(default, None, AnsweredBy::Timeout)
    }

    fn show(&self, event: Event) {
        match event {
            Event::ToolProgress { text, .. } => self.progress(&text),
            Event::ToolOutput { chunk, .. } => self.progress(&chunk),
            Event::Retrying { reason, .. } => self.progress(&reason),
            _ => {}
        }
    }

    async fn record(&self, event: Event) -> Result<(), HostError> {
        match event {
            Event::Notice { text } => {
                self.signals.try_send(Signal::Notice(text)).ok();
            }
            Event::Todo { items } => *self.todo.lock() = items,
            // There is no task and no log: the client keeps the conversation.
            _ => {}
        }
        Ok(())
    }

    fn todo(&self) -> Vec<TodoItem> {
        self.todo.lock().clone()
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        self.artifacts.open()
    }

    fn artifact_added(&self, _artifact: &Artifact) {
        // The result names it.
    }

    fn complete(&self, _result: String) {
        // There is no run to end.
    }
}

/// The last line that says something, short enough to be shown while a call runs.
fn last_line(text: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|character| !character.is_control()).take(LONGEST).collect())
}
