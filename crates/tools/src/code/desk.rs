//! The index of a workspace, opened with the first question and shared by all tools that ask.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_code_intel::answer::Asked;
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Inquiry, Question, Reply, Servers};
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
    servers: Option<Arc<Servers>>,
}

/// Who answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Stepwell's own index, at once.
    #[default]
    Index,
    /// A language server of the machine, where the settings allow one; slower. The index answers where it cannot.
    Lsp,
}

/// An input that a language server can be asked about.
pub trait ForServers {
    fn question(&self) -> Question;
}

/// What a language server said: its answer, or why there is none. Nothing where none was to be asked.
pub type FromServer = Option<std::result::Result<Reply, String>>;

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
        Self { workspace, indexes, index: Mutex::default(), servers: None }
    }

    /// The same with language servers that may be asked.
    pub fn with_servers(mut self, servers: Option<Arc<Servers>>) -> Self {
        self.servers = servers;
        self
    }

    /// Asks a language server. The index is free meanwhile.
    pub async fn ask_server(
        self: &Arc<Self>,
        ctx: &ToolContext,
        source: Source,
        asked: impl Fn(&Index) -> Asked + Send + 'static,
        question: Question,
    ) -> std::result::Result<FromServer, ToolError> {
        if source == Source::Index {
            return Ok(None);
        }
        let Some(servers) = &self.servers else {
            let off = "language servers are off; the person can set `servers = \"auto\"` in `[code]` of the settings";
            return Ok(Some(Err(off.to_owned())));
        };
        let inquiry = self.ask(ctx, move |index| Ok(Inquiry::of(index, &asked(index)))).await?;
        Ok(Some(match inquiry {
            Ok(inquiry) => match servers.ask(&inquiry, question, &ctx.cancel).await {
                Ok(reply) => Ok(self.ask(ctx, move |index| Ok(reply.clone().known(index, question))).await?),
                Err(why) => Err(why),
            },
            Err(why) => Err(format!("no language server was asked: {why}")),
        }))
    }

    /// Brings the index up to date and asks it, beside the rest of the program.
    pub async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        ctx: &ToolContext,
        question: impl Fn(&mut Index) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, ToolError> {
        let (desk, cancel) = (Arc::clone(self), ctx.cancel.clone());
        let asked = tokio::task::spawn_blocking(move || desk.ask_now(&cancel, question));
        asked.await.map_err(|error| ToolError::execution(format!("the code could not be read: {error}")))?
    }

    /// The same on a thread that may wait.
    pub fn ask_now<T>(
        &self,
        cancel: &CancellationToken,
        question: impl Fn(&mut Index) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        let mut held = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = || {
            if held.is_none() {
                let mut index = Index::open(&self.indexes, &self.workspace)?;
                index.watch();
                *held = Some(index);
            }
            let Some(index) = held.as_mut() else { return Err(Error::Cancelled) };
            index.ask(&|| cancel.is_cancelled(), &question)?
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
