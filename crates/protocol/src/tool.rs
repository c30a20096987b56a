//! Tool calls, their results, and how failures are classed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{ArtifactId, Image, ToolCallId, ToolDetail};

/// What the model asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolCall {
    pub id: ToolCallId,
    pub name: String,
    /// The arguments as JSON. Where the model sent text that is no JSON, this is that text as a string; the
    /// executor repairs it or tells the model what is wrong.
    pub arguments: Value,
    /// What the provider wants back unchanged with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// What came of a call. Success means `error` is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolResult {
    pub call_id: ToolCallId,
    pub tool: String,
    /// The text the model reads.
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whole outputs that were too long for `output`, and files made for the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What a front end shows of it; never sent to the model.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::detail::tolerant")]
    pub detail: Option<ToolDetail>,
    #[serde(default)]
    #[ts(type = "number")]
    pub duration_ms: u64,
}

impl ToolResult {
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }

    /// A result that reports a failure; the message is what the model reads.
    pub fn failure(call: &ToolCall, class: ErrorClass, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            output: message.clone(),
            error: Some(ToolFailure { class, message }),
            images: Vec::new(),
            artifacts: Vec::new(),
            detail: None,
            duration_ms: 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolFailure {
    pub class: ErrorClass,
    pub message: String,
}

/// Why a tool failed; retry and wording follow from it, never from the text of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorClass {
    ConnectionError,
    TimeoutError,
    /// The arguments are no JSON object, or cannot be read as the tool's input.
    ParameterError,
    /// The arguments are well formed and still not acceptable.
    ValidationError,
    PermissionError,
    ExecutionError,
    SandboxNotFound,
    SandboxTerminated,
    /// The person or the engine stopped the call; it may have had effects.
    Interrupted,
}

/// Something kept in full outside the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Artifact {
    pub id: ArtifactId,
    /// What it is, in a few words: "the whole output of bash".
    pub label: String,
    /// Where it can be read; a path the `read` tool accepts.
    pub path: String,
    #[ts(type = "number")]
    pub bytes: u64,
    pub media_type: String,
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    /// JSON schema (2020-12) of the arguments; always an object.
    pub input_schema: Value,
    /// How calls are understood beyond that; never sent to a provider.
    #[serde(skip)]
    #[ts(skip)]
    pub forms: CallForms,
}

/// Forms of a call that are understood and not offered, and a call that shows how it is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallForms {
    /// Other names of the tool.
    pub aliases: Vec<String>,
    /// Other names of arguments with the argument each stands for. An argument that is not offered stands for itself.
    pub parameters: BTreeMap<String, String>,
    /// Arguments of a call that could be made.
    pub example: Option<Value>,
}
