//! The host of a single call: nobody to ask, no log, artifacts in a temporary folder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use async_trait::async_trait;
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, Question, QuestionAnswer,
    TodoItem,
};
use stepwell_tool_runtime::{Host, HostError};
use stepwell_workspace::files;

use crate::language::Language;
use crate::needed::Needed;
use crate::terminal::{error_line, visible};

pub struct CommandLineHost {
    todo: Mutex<Vec<TodoItem>>,
    /// Made when the call first asks for it.
    folder: OnceLock<PathBuf>,
    /// Whether something in the folder is for the person to keep.
    kept: AtomicBool,
}

impl CommandLineHost {
    pub fn new() -> Self {
        Self { todo: Mutex::default(), folder: OnceLock::new(), kept: AtomicBool::new(false) }
    }
}

#[async_trait]
impl Host for CommandLineHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        error_line(&format!("{}: {}", visible(&request.reason), request.preview.summary));
        for warning in &request.preview.warnings {
            error_line(&format!("  {}", visible(warning)));
        }
        let mut needed = Needed::default();
        needed.add(&request);
        let reason = needed.told(Language::English);
        (ApprovalAnswer::no(Some(reason)), ApprovalSource::Policy)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        error_line(&format!("? {}", question.text));
        QuestionAnswer::new(question.default_option, None, AnsweredBy::Policy)
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
        files::create_private_dir(&folder).map_err(|error| HostError(error.to_string()))?;
        Ok(self.folder.get_or_init(|| folder).clone())
    }

    fn artifact_added(&self, artifact: &Artifact) {
        self.kept.store(true, Ordering::Relaxed);
        error_line(&format!("{} is in {}", artifact.label, artifact.path));
    }

    fn complete(&self, _result: String) {
        // There is no run to end.
    }
}

impl Drop for CommandLineHost {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.get()
            && !self.kept.load(Ordering::Relaxed)
        {
            // What cannot be removed is in the folder for temporary files.
            files::remove_dir_all(folder).ok();
        }
    }
}
