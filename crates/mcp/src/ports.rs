//! What the server is given by whoever assembles the program.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use stepwell_protocol::PermissionMode;
use stepwell_tool_runtime::{Hooks, PermissionJudge, WorkspaceServices};

/// A workspace that is served. It serves every client of the server: what tools keep between calls, such as debug
/// sessions, is found again by its own id.
pub struct ServedWorkspace {
    pub services: Arc<WorkspaceServices>,
    pub permission: Arc<dyn PermissionJudge>,
    pub permission_mode: PermissionMode,
    pub hooks: Arc<Hooks>,
}

/// Opens workspaces.
pub trait WorkspaceSource: Send + Sync {
    /// Opens a folder, or the one the server was started with. The error is for the person.
    fn open(&self, workspace: Option<&Path>) -> Result<ServedWorkspace, String>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptEntry {
    pub name: String,
    pub title: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

/// Jobs a person can start by name.
pub trait Prompts: Send + Sync {
    fn list(&self) -> Vec<PromptEntry>;

    /// The words of a prompt with its arguments in place. `None` when there is no such prompt; an error says which
    /// argument is missing or unknown.
    fn get(&self, name: &str, arguments: &Map<String, Value>) -> Result<Option<String>, String>;
}
