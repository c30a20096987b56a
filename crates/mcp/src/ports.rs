//! What the server is given by whoever assembles the program.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use stepwell_tool_runtime::{Checkpoints, Executor, HookFacts, Hooks, PermissionJudge, Redactor};

/// The tools of one workspace and what their calls are run with. One bench serves every client of the server: what
/// tools keep between calls, such as debug sessions, is found again by its own id.
pub struct Bench {
    pub executor: Arc<Executor>,
    pub permission: Arc<dyn PermissionJudge>,
    pub hooks: Arc<Hooks>,
    pub hook_facts: HookFacts,
    pub redactor: Arc<Redactor>,
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    pub resources: Arc<dyn Resources>,
}

/// Makes benches.
pub trait Benches: Send + Sync {
    /// The bench of a folder, or of the one the server was started with. The error is for the person.
    fn open(&self, workspace: Option<&Path>) -> Result<Bench, String>;
}

/// Something that can be read by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceEntry {
    pub uri: String,
    pub name: String,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

/// A family of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTemplateEntry {
    /// As in RFC 6570: `stepwell://output/{session}`.
    pub uri_template: String,
    pub name: String,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

/// What stands behind an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    Text {
        text: String,
        mime_type: Option<String>,
    },
    /// Bytes as base64.
    Binary {
        base64: String,
        mime_type: Option<String>,
    },
}

/// What can be read besides calling tools: a program's output, a source file as a debugger knows it.
#[async_trait]
pub trait Resources: Send + Sync {
    async fn list(&self) -> Vec<ResourceEntry>;

    async fn templates(&self) -> Vec<ResourceTemplateEntry>;

    /// `None` when there is nothing of this address. An error says why it cannot be read.
    async fn read(&self, uri: &str) -> Result<Option<ResourceBody>, String>;
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
