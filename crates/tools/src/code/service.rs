//! The index of a workspace, opened with the first question and shared by all tools that ask.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::ask::{Ask, SearchHit, SearchRequest, ServerQuestion, ServerReply, Target};
use stepwell_code_intel::embeddings::{Embeddings, QueryVector, SymbolText};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Question, Servers};
use stepwell_code_intel::{Error, Result};
use stepwell_protocol::{ErrorClass, SymbolItem};
use stepwell_tool_runtime::{ToolContext, ToolError};
use stepwell_workspace::Workspace;
use tokio_util::sync::CancellationToken;

/// The first question reads the whole workspace.
pub const LONGEST_CALL: Duration = Duration::from_secs(300);

pub struct CodeService {
    pub workspace: Workspace,
    indexes: PathBuf,
    index: Mutex<Option<Index>>,
    servers: Option<Arc<Servers>>,
    embeddings: Option<Arc<Embeddings>>,
    /// Vectors are made by one task at a time.
    is_making: AtomicBool,
}

/// `lsp` asks a language server, where the person allows one: slower.
// Its variants have no descriptions of their own: they would be in every request of every task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceChoice {
    #[default]
    Index,
    Lsp,
}

/// Vectors that are made while a question waits.
const FEW: usize = 128;
/// How long a question waits for them.
const FEW_DEADLINE: Duration = Duration::from_secs(8);

/// The vector of a search with those of the code, or why there is none.
pub struct QueryVectors {
    pub vector: Option<(Arc<Embeddings>, QueryVector)>,
    pub note: Option<String>,
}

impl CodeService {
    pub fn new(workspace: Workspace, indexes: PathBuf) -> Self {
        Self {
            workspace,
            indexes,
            index: Mutex::default(),
            servers: None,
            embeddings: None,
            is_making: AtomicBool::new(false),
        }
    }

    /// The same with language servers that may be asked, and with vectors of the code.
    pub fn with(mut self, servers: Option<Arc<Servers>>, embeddings: Option<Arc<Embeddings>>) -> Self {
        self.servers = servers;
        self.embeddings = embeddings;
        self
    }

    /// Prepares the vectors for a search: a few missing ones are made now, many in the background. `None` where the
    /// settings name no server for embeddings.
    pub async fn query_vector(
        self: &Arc<Self>,
        ctx: &ToolContext,
        words: &str,
    ) -> std::result::Result<Option<QueryVectors>, ToolError> {
        let Some(embeddings) = self.embeddings.clone() else { return Ok(None) };
        let vector = match embeddings.question(words).await {
            Ok(vector) => vector,
            Err(why) => return Ok(Some(QueryVectors { vector: None, note: Some(why) })),
        };
        let own = Arc::clone(&embeddings);
        let missing = self.ask(ctx, move |index| Ok(own.missing(index))).await?;
        let note = if missing.count > FEW {
            Arc::clone(self).make_all();
            let (made, all) = (missing.all - missing.count, missing.all);
            Some(format!("embeddings are being made: {made} of {all} symbols have one"))
        } else {
            let made = tokio::time::timeout(FEW_DEADLINE, embeddings.make(missing.symbols, |_| {})).await;
            if let Ok((made, failure)) = made {
                embeddings.keep(made);
                failure.map(|why| format!("embeddings of what changed could not be made: {why}"))
            } else {
                Arc::clone(self).make_all();
                Some("embeddings of what changed take long; they are being made".to_owned())
            }
        };
        Ok(Some(QueryVectors { vector: Some((embeddings, vector)), note }))
    }

    /// Makes the vectors that are missing, round by round, until there are none or something fails.
    fn make_all(self: Arc<Self>) {
        let Some(embeddings) = self.embeddings.clone() else { return };
        if self.is_making.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            // Ends with the runtime: what was made until then is kept.
            let mut left = usize::MAX;
            loop {
                let (service, own) = (Arc::clone(&self), Arc::clone(&embeddings));
                let look = move || service.ask_now(&CancellationToken::new(), |index| Ok(own.missing(index)));
                let Ok(Ok(missing)) = tokio::task::spawn_blocking(look).await else { break };
                if missing.symbols.is_empty() || missing.count >= left {
                    break;
                }
                left = missing.count;
                if make_round(&embeddings, &missing.symbols).await.is_err() {
                    break;
                }
            }
            self.is_making.store(false, Ordering::Relaxed);
        });
    }

    /// The symbols that matter most, in about so many tokens; nothing where there are none, or where finding out takes
    /// longer than this. What was read until then is kept for the next question.
    pub async fn overview(
        self: &Arc<Self>,
        tokens: usize,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Option<String> {
        let (service, cancel) = (Arc::clone(self), cancel.child_token());
        // Nobody waits for it once this is dropped.
        let ended = cancel.clone().drop_guard();
        let question = move || service.ask_now(&cancel, |index| Ok(Ask::new(index).overview(tokens).map));
        let told = tokio::time::timeout(patience, tokio::task::spawn_blocking(question)).await;
        drop(ended);
        told.ok()?.ok()?.ok().filter(|map| !map.is_empty())
    }

    /// Asks a language server, where one is chosen. The index is free meanwhile.
    pub async fn ask_server(
        self: &Arc<Self>,
        ctx: &ToolContext,
        source: SourceChoice,
        target: Target,
        question: Question,
    ) -> std::result::Result<Option<ServerReply>, ToolError> {
        if source == SourceChoice::Index {
            return Ok(None);
        }
        let prepare = move |index: &mut Index| Ok(ServerQuestion::prepare(index, &target, question));
        let prepared = self.ask(ctx, prepare).await?;
        Ok(Some(prepared.send(self.servers.as_deref(), &ctx.cancel).await))
    }

    /// Brings the index up to date and asks it, beside the rest of the program.
    pub async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        ctx: &ToolContext,
        question: impl Fn(&mut Index) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, ToolError> {
        let (service, cancel) = (Arc::clone(self), ctx.cancel.clone());
        let asked = tokio::task::spawn_blocking(move || service.ask_now(&cancel, question));
        asked.await.map_err(|error| ToolError::execution(format!("the code could not be read: {error}")))?
    }

    /// Symbols whose name matches a text, the best first.
    pub async fn symbols_matching(
        self: &Arc<Self>,
        text: String,
        limit: usize,
    ) -> std::result::Result<Vec<SymbolItem>, ToolError> {
        let service = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || {
            service.ask_now(&CancellationToken::new(), |index| {
                let request = SearchRequest { words: &text, vector: None, open_files: &[], limit };
                let item = |hit: SearchHit| SymbolItem {
                    name: hit.path,
                    kind: hit.kind.to_owned(),
                    path: hit.file,
                    line: hit.line,
                };
                let hits = match Ask::new(index).search(&request) {
                    // Nobody has typed a name yet.
                    Err(Error::NoWords { .. }) => Vec::new(),
                    found => found?.hits,
                };
                Ok(hits.into_iter().map(item).collect())
            })
        });
        asked.await.map_err(|error| ToolError::execution(format!("the index could not be asked: {error}")))?
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

/// Makes and keeps vectors of symbols, some at a time, so that little is lost when it is cut short.
async fn make_round(embeddings: &Embeddings, symbols: &[SymbolText]) -> std::result::Result<(), String> {
    for some in symbols.chunks(FEW) {
        let (made, failure) = embeddings.make(some.to_vec(), |_| {}).await;
        embeddings.keep(made);
        failure.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// An error of the index as the model reads it.
fn explained(error: Error) -> ToolError {
    match error {
        Error::Cancelled => ToolError::new(ErrorClass::Interrupted, error.to_string()),
        Error::NotIndexed { .. } | Error::NoName { .. } | Error::NotThere { .. } | Error::NoWords { .. } => {
            ToolError::parameter(error.to_string())
        }
        Error::Workspace(_) | Error::Database { .. } => ToolError::execution(error.to_string()),
    }
}
