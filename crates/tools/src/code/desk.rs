//! The index of a workspace, opened with the first question and shared by all tools that ask.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_code_intel::index::Index;
use stepwell_code_intel::{Error, Result};
use stepwell_protocol::ErrorClass;
use stepwell_tool_runtime::{ToolContext, ToolError, ToolOutput};
use stepwell_workspace::Workspace;
use tokio_util::sync::CancellationToken;

/// The first question reads the whole workspace.
pub const LONGEST_CALL: Duration = Duration::from_secs(300);

pub struct CodeDesk {
    pub workspace: Workspace,
    indexes: PathBuf,
    index: Mutex<Option<Index>>,
}

/// What is known, as the model reads it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Told {
    text: String,
}

impl Told {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The same with a line about how it was found.
    pub fn noted(self, note: &str) -> Self {
        if note.is_empty() { self } else { Self { text: format!("{}\n{note}", self.text) } }
    }
}

impl ToolOutput for Told {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

impl CodeDesk {
    pub fn new(workspace: Workspace, indexes: PathBuf) -> Self {
        Self { workspace, indexes, index: Mutex::default() }
    }

    /// Brings the index up to date and asks it, beside the rest of the program.
    pub async fn ask(
        self: &Arc<Self>,
        ctx: &ToolContext,
        question: impl FnOnce(&mut Index) -> Result<Told> + Send + 'static,
    ) -> std::result::Result<Told, ToolError> {
        let (desk, cancel) = (Arc::clone(self), ctx.cancel.clone());
        let asked = tokio::task::spawn_blocking(move || desk.ask_now(&cancel, question));
        asked.await.map_err(|error| ToolError::execution(format!("the code could not be read: {error}")))?
    }

    /// The same on a thread that may wait.
    pub fn ask_now<T>(
        &self,
        cancel: &CancellationToken,
        question: impl FnOnce(&mut Index) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        let mut held = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = || {
            if held.is_none() {
                *held = Some(Index::open(&self.indexes, &self.workspace)?);
            }
            let Some(index) = held.as_mut() else { return Err(Error::Cancelled) };
            index.refresh(&|_, _| {}, &|| cancel.is_cancelled())?;
            question(index)
        };
        answer().map_err(explained)
    }
}

/// An error of the index as the model reads it.
fn explained(error: Error) -> ToolError {
    match error {
        Error::Cancelled => ToolError::new(ErrorClass::Interrupted, error.to_string()),
        Error::NotIndexed { .. } | Error::NoName { .. } | Error::NoWords { .. } => {
            ToolError::parameter(error.to_string())
        }
        Error::Workspace(_) | Error::Database { .. } => ToolError::execution(error.to_string()),
    }
}
