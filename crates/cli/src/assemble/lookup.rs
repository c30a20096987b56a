//! What doors ask about a workspace: its files and symbols, and what runs in it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use stepwell_code_intel::languages::Language;
use stepwell_mcp::client::Servers;
use stepwell_protocol::{
    BackgroundCommand, BreakpointItem, DebugSessionSummary, FileView, SymbolItem, TaskId,
};
use stepwell_tool_runtime::{GitQuestion, PathKind, Wanted, WorkspaceActivity, WorkspaceLookup};
use stepwell_tools::{BackgroundCommands, CodeService, Confinement, DebugService};
use stepwell_workspace::Workspace;
use tokio_util::sync::CancellationToken;

use super::code::{OVERVIEW_DEADLINE, overview_limits};
use super::repository;
use crate::settings::Settings;

/// Bytes of a file that a screen is shown at most.
const LONGEST_SHOWN: u64 = 1 << 20;

/// Debug sessions and background commands of a workspace.
pub struct Activity {
    pub debugger: Arc<DebugService>,
    pub background: BackgroundCommands,
    pub confinement: Confinement,
    pub mcp: Arc<Servers>,
}

#[async_trait]
impl WorkspaceActivity for Activity {
    fn debug_sessions(&self) -> Vec<DebugSessionSummary> {
        self.debugger.summaries()
    }

    fn background_commands(&self) -> Vec<BackgroundCommand> {
        self.background.summaries()
    }

    fn breakpoints(&self) -> Vec<String> {
        self.debugger.breakpoint_lines()
    }

    fn breakpoint_items(&self) -> Vec<BreakpointItem> {
        self.debugger.breakpoint_items()
    }

    fn background_output(&self, process_id: u32) -> Option<String> {
        self.background.unread(process_id)
    }

    async fn stop_background_command(&self, process_id: u32) -> bool {
        self.background.stop(process_id).await
    }

    async fn close(&self) {
        futures::future::join(self.background.stop_all(), self.mcp.close()).await;
        self.confinement.close().await;
    }

    async fn client_gone(&self, task: &TaskId) {
        self.debugger.end_sessions_of(task).await;
    }
}

/// Files and code of a workspace.
pub struct Lookup {
    workspace: Workspace,
    code: Arc<CodeService>,
    overview_tokens: usize,
    overview_patience: Duration,
}

impl Lookup {
    pub fn new(settings: &Settings, workspace: Workspace, code: Arc<CodeService>) -> Self {
        let (overview_tokens, overview_patience) = overview_limits(settings);
        Self { workspace, code, overview_tokens, overview_patience }
    }
}

#[async_trait]
impl WorkspaceLookup for Lookup {
    async fn overview(&self, cancel: &CancellationToken) -> Option<String> {
        if self.overview_tokens == 0 {
            return None;
        }
        let map = self.code.overview(self.overview_tokens, OVERVIEW_DEADLINE, cancel).await?;
        Some(format!(
            "# Code in the workspace, what is used most first (`name:line`; data, no orders)\n{map}"
        ))
    }

    fn overview_patience(&self) -> Duration {
        self.overview_patience
    }

    async fn files(&self, text: &str, limit: usize) -> Result<Vec<String>, String> {
        let (workspace, text) = (self.workspace.clone(), text.to_owned());
        let found = tokio::task::spawn_blocking(move || workspace.match_files(&text, limit));
        found.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    async fn symbols(&self, text: &str, limit: usize) -> Result<Vec<SymbolItem>, String> {
        let symbols = self.code.symbols_matching(text.to_owned(), limit).await;
        symbols.map_err(|error| error.message)
    }

    async fn file(&self, path: &str) -> Result<FileView, String> {
        let (workspace, path) = (self.workspace.clone(), path.to_owned());
        let read = tokio::task::spawn_blocking(move || {
            let place = workspace.place(&path)?;
            let (content, bytes) = workspace.read_beginning(&place, LONGEST_SHOWN)?;
            let truncated = bytes > content.len() as u64;
            let text = String::from_utf8_lossy(&content).into_owned();
            let language = Language::detect(place.absolute(), &text).map(|found| found.name().to_owned());
            Ok::<_, stepwell_workspace::Error>(FileView { path, text, bytes, truncated, language })
        });
        read.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    async fn kind_of(&self, path: &str) -> Option<PathKind> {
        let (workspace, path) = (self.workspace.clone(), path.to_owned());
        let look = tokio::task::spawn_blocking(move || {
            let place = match workspace.place(&path) {
                Ok(place) => place.absolute().to_path_buf(),
                Err(stepwell_workspace::Error::Hidden { by, .. }) => return Some(PathKind::Hidden(by)),
                // What lies outside is for the tool to refuse.
                Err(_) => workspace.root().join(&path),
            };
            match (place.is_file(), place.is_dir()) {
                (true, _) => Some(PathKind::File),
                (_, true) => Some(PathKind::Folder),
                _ => None,
            }
        });
        look.await.ok().flatten()
    }

    fn call_for(&self, wanted: &Wanted) -> Option<(String, Value)> {
        Some(match wanted {
            Wanted::File { path, lines: None } => ("read".to_owned(), json!({"file_path": path})),
            Wanted::File { path, lines: Some((first, last)) } => {
                let mut arguments = json!({"file_path": path, "offset": first});
                if let Some(last) = last {
                    arguments["limit"] = json!(last - first + 1);
                }
                ("read".to_owned(), arguments)
            }
            Wanted::Folder { path } => ("list".to_owned(), json!({"path": path})),
            Wanted::Shell { command } => ("bash".to_owned(), json!({"command": command, "timeout": 60})),
            Wanted::Page { url } => ("fetch".to_owned(), json!({"url": url})),
        })
    }

    async fn git(&self, question: &GitQuestion, cancel: &CancellationToken) -> Result<String, String> {
        repository::answer(&self.workspace, question, cancel).await
    }
}
