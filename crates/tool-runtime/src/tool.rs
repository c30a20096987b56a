//! A tool: a typed input, a typed output, and what must be known to run it safely.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stepwell_protocol::{Artifact, ErrorClass, Image, Preview, Risk, TaskId, ToolCallId};
use tokio_util::sync::CancellationToken;

use crate::{Host, Invoker, NetworkGate, Redactor};

/// One ability. The description a model reads is the doc comment of `Input`; the schema comes from its fields.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: ToolOutput;

    fn spec(&self) -> ToolSpec;

    /// What the person is shown before the call is allowed.
    async fn preview(&self, ctx: &ToolContext, input: &Self::Input) -> Preview;

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError>;
}

/// What a tool gives back, for programs (its JSON) and for the model (its text).
pub trait ToolOutput: Serialize + JsonSchema + Send + 'static {
    /// The text the model reads.
    fn for_model(&self) -> Cow<'_, str>;

    fn images(&self) -> Vec<Image> {
        Vec::new()
    }

    fn artifacts(&self) -> Vec<Artifact> {
        Vec::new()
    }

    /// Small facts for a front end, such as a diff.
    fn detail(&self) -> Option<Value> {
        None
    }
}

/// What the runtime must know about a tool.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub name: &'static str,
    /// Other names a call, a mode or a rule may use.
    pub aliases: &'static [&'static str],
    pub category: Category,
    pub risk: Risk,
    /// `Duration::MAX` for tools that wait for a person: their host sets the deadline.
    pub time_limit: Duration,
    /// Bytes of text the model is given at most; the rest is kept as an artifact.
    pub output_limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Files,
    Shell,
    Debug,
    Code,
    Interaction,
    Planning,
    Composition,
    External,
}

/// What a call is run with.
#[derive(Clone)]
pub struct ToolContext {
    pub task: TaskId,
    pub call_id: ToolCallId,
    pub cancel: CancellationToken,
    pub host: Arc<dyn Host>,
    /// For what a tool writes to the disk itself, and for lines it numbers or marks, which the executor would not
    /// know any more as those of a key; what else it returns or shows is redacted by the executor.
    pub redactor: Arc<Redactor>,
    /// How a tool calls other tools; each such call is judged like any other.
    pub invoker: Arc<dyn Invoker>,
    /// Asked before a tool, or what it runs, reaches another machine.
    pub network: Arc<dyn NetworkGate>,
}

/// A failure with its class; the class decides about retries and wording.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub class: ErrorClass,
    pub message: String,
}

impl ToolError {
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    pub fn execution(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ExecutionError, message)
    }

    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ParameterError, message)
    }

    pub fn permission(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::PermissionError, message)
    }

    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Interrupted, message)
    }

    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ValidationError, message)
    }
}
