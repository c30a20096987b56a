//! The host of a single call: nobody to ask, no log, artifacts in a temporary folder.

use std::path::PathBuf;
use std::sync::Mutex;

use async_trait::async_trait;
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, Question, QuestionAnswer,
    TodoItem,
};
use stepwell_tool_runtime::{Host, HostError};

use crate::terminal::error_line;

pub struct CommandLineHost {
    todo: Mutex<Vec<TodoItem>>,
}

impl CommandLineHost {
    pub fn new() -> Self {
        Self { todo: Mutex::default() }
    }
}

#[async_trait]
impl Host for CommandLineHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        error_line(&format!("{}: {}", request.reason, request.preview.summary));
        let reason = "allow it with --permission-mode acceptEdits or bypassPermissions".to_owned();
        (ApprovalAnswer::No { reason: Some(reason) }, ApprovalSource::Policy)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        error_line(&format!("? {}", question.text));
        QuestionAnswer { option: question.default_option, text: None, by: AnsweredBy::Policy }
    }

    fn show(&self, _event: Event) {
        // The result is printed whole at the end.
    }

    async fn record(&self, event: Event) -> Result<(), HostError> {
        if let (Event::Todo { items }, Ok(mut todo)) = (event, self.todo.lock()) {
            *todo = items;
        }
        Ok(())
    }

    fn todo(&self) -> Vec<TodoItem> {
        self.todo.lock().map(|todo| todo.clone()).unwrap_or_default()
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        let folder = std::env::temp_dir().join(format!("stepwell-{}", std::process::id()));
        stepwell_workspace::files::create_private_dir(&folder)
            .map_err(|error| HostError(error.to_string()))?;
        Ok(folder)
    }

    fn artifact_added(&self, artifact: &Artifact) {
        error_line(&format!("the whole output is in {}", artifact.path));
    }

    fn complete(&self, _result: String) {
        // There is no run to end.
    }
}
