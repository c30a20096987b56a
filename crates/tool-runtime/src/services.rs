//! What every task and door of one workspace shares.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stepwell_protocol::{
    BackgroundCommand, BreakpointItem, DebugSessionSummary, FileView, SymbolItem, TaskId,
};
use tokio_util::sync::CancellationToken;

use crate::executor::Executor;
use crate::hooks::Hooks;
use crate::redact::Redactor;
use crate::resources::{NoResources, Resources};
use crate::{Checkpoints, JudgeOptions};

/// The long-lived services of a workspace: tools with their state, such as debug sessions, background commands and the
/// code index. Opened once per workspace and shared by all its tasks and doors; what runs in it ends when the last one
/// lets go.
pub struct WorkspaceServices {
    pub root: PathBuf,
    pub extra_roots: Vec<PathBuf>,
    pub executor: Arc<Executor>,
    pub redactor: Arc<Redactor>,
    /// Keeps the workspace's state before calls that may change it.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    pub resources: Arc<dyn Resources>,
    pub activity: Arc<dyn WorkspaceActivity>,
    pub lookup: Arc<dyn WorkspaceLookup>,
}

impl WorkspaceServices {
    /// Services with nothing but tools.
    pub fn new(root: PathBuf, executor: Arc<Executor>, redactor: Arc<Redactor>) -> Self {
        Self {
            root,
            extra_roots: Vec::new(),
            executor,
            redactor,
            checkpoints: None,
            resources: Arc::new(NoResources),
            activity: Arc::new(Quiet),
            lookup: Arc::new(Quiet),
        }
    }
}

/// What the settings of a workspace say about calls. Read anew for each run, so that an edited rule holds at once.
#[derive(Clone)]
pub struct WorkspacePolicy {
    pub judge: JudgeOptions,
    pub hooks: Arc<Hooks>,
}

/// What runs in a workspace beside calls.
#[async_trait]
pub trait WorkspaceActivity: Send + Sync {
    fn debug_sessions(&self) -> Vec<DebugSessionSummary>;

    fn background_commands(&self) -> Vec<BackgroundCommand>;

    /// Breakpoints that are set, a line each.
    fn breakpoints(&self) -> Vec<String> {
        Vec::new()
    }

    /// Breakpoints that are set, for screens.
    fn breakpoint_items(&self) -> Vec<BreakpointItem> {
        Vec::new()
    }

    /// Output of a background command that nobody has read yet; it stays unread.
    fn background_output(&self, _process_id: u32) -> Option<String> {
        None
    }

    /// Ends a background command; `false` when there is none of this number.
    async fn stop_background_command(&self, process_id: u32) -> bool;

    /// Ends every background command and waits for that, within its deadline.
    async fn close(&self);

    /// Ends the debug sessions that a client started who is gone.
    async fn client_gone(&self, task: &TaskId);
}

/// What is known of the files and the code of a workspace.
#[async_trait]
pub trait WorkspaceLookup: Send + Sync {
    /// An overview of the code, for a task that begins. `None` where there is nothing to say, or where it takes too long.
    async fn overview(&self, cancel: &CancellationToken) -> Option<String>;

    /// How long a task's first message waits for the overview. What takes longer comes with a later turn.
    fn overview_patience(&self) -> Duration {
        Duration::ZERO
    }

    /// Paths of files that match, the best first.
    async fn files(&self, text: &str, limit: usize) -> Result<Vec<String>, String>;

    /// Symbols whose name matches, the best first.
    async fn symbols(&self, text: &str, limit: usize) -> Result<Vec<SymbolItem>, String>;

    /// The text of a file, as far as it is not hidden.
    async fn file(&self, path: &str) -> Result<FileView, String> {
        Err(format!("`{path}` cannot be read here"))
    }

    /// What a path in the workspace is; `None` where nothing is there, or where it leads outside.
    async fn kind_of(&self, _path: &str) -> Option<PathKind> {
        None
    }

    /// The call of a tool that brings something for a person's message: its name and its arguments. It runs like a
    /// call of the model's.
    fn call_for(&self, _wanted: &Wanted) -> Option<(String, serde_json::Value)> {
        None
    }

    /// What the repository of the workspace says, without files that are hidden.
    async fn git(&self, _question: &GitQuestion, _cancel: &CancellationToken) -> Result<String, String> {
        Err("there is no repository here".to_owned())
    }
}

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind {
    File,
    Folder,
    /// By the ignore file or the rule of this name.
    Hidden(String),
}

/// Something that a person's message names and a tool can bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    File {
        path: String,
        /// First and last line; an open end is `None`.
        lines: Option<(u32, Option<u32>)>,
    },
    Folder {
        path: String,
    },
    Page {
        url: String,
    },
    /// The output of a command.
    Shell {
        command: String,
    },
}

/// A question to the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitQuestion {
    /// What is not committed.
    WorkingChanges,
    /// What a commit says and changes.
    Commit(String),
}

/// A workspace in which nothing runs and no code is known.
struct Quiet;

#[async_trait]
impl WorkspaceActivity for Quiet {
    fn debug_sessions(&self) -> Vec<DebugSessionSummary> {
        Vec::new()
    }

    fn background_commands(&self) -> Vec<BackgroundCommand> {
        Vec::new()
    }

    async fn stop_background_command(&self, _process_id: u32) -> bool {
        false
    }

    async fn close(&self) {}

    async fn client_gone(&self, _task: &TaskId) {}
}

#[async_trait]
impl WorkspaceLookup for Quiet {
    async fn overview(&self, _cancel: &CancellationToken) -> Option<String> {
        None
    }

    async fn files(&self, _text: &str, _limit: usize) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    async fn symbols(&self, _text: &str, _limit: usize) -> Result<Vec<SymbolItem>, String> {
        Ok(Vec::new())
    }
}
