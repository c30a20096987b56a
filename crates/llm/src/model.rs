//! The one kind of model the rest of the program knows.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stepwell_protocol::{ErrorKind, ErrorReport, Message, ToolCallId, ToolDefinition, Usage};

use crate::window::{WindowSize, WindowSource};

/// A model that answers. Dropping the stream cancels the request.
pub trait Model: Send + Sync {
    fn info(&self) -> &ModelInfo;

    /// The context window as it is known by now. A model on a server of one's own asks that server, once.
    fn window(&self) -> BoxFuture<'_, WindowSize> {
        let info = self.info();
        let size = WindowSize { tokens: info.context_window, source: info.window_source };
        Box::pin(std::future::ready(size))
    }

    /// Sends the request and yields the answer as it arrives. The stream ends after [`Delta::Stop`] or an error.
    fn stream(&self, request: Request) -> DeltaStream;
}

pub type DeltaStream = BoxStream<'static, Result<Delta, Error>>;

/// What is known about a model without asking it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The settings' name of the provider.
    pub provider: String,
    /// The model's own name.
    pub id: String,
    pub context_window: u64,
    /// Where the window is known from.
    #[serde(default)]
    pub window_source: WindowSource,
    pub max_output_tokens: Option<u64>,
    pub images: bool,
    pub price: Option<Price>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    #[serde(default)]
    pub cache_read: Option<f64>,
    #[serde(default)]
    pub cache_write: Option<f64>,
}

/// Everything a model is sent. Cheap to clone: the history is shared.
#[derive(Clone, Debug)]
pub struct Request {
    pub system: Arc<str>,
    pub messages: Vec<Arc<Message>>,
    pub tools: Arc<[ToolDefinition]>,
    /// Tools that are not described to the model but may be called, so that a call written as text is known as one.
    pub deferred: Arc<[ToolDefinition]>,
    pub options: RequestOptions,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestOptions {
    pub max_output_tokens: Option<u64>,
    pub temperature: Option<f64>,
    pub stop: Vec<String>,
    pub effort: Option<Effort>,
    pub tool_choice: ToolChoice,
    /// Stays the same for a task, so that a provider can route its requests to a warm cache.
    pub cache_key: Option<String>,
    /// The JSON Schema that the final answer must fit, for wire formats that can say so beside tools.
    pub answer_schema: Option<Arc<Value>>,
}

/// How hard the model should think, where it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    None,
    Low,
    Medium,
    High,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// The reasoning block so far is finished; `opaque` must be sent back unchanged with it.
    ReasoningEnd {
        opaque: Option<Value>,
    },
    CallStart {
        /// Calls of one answer are numbered from 0 in order of appearance.
        index: usize,
        id: ToolCallId,
        name: String,
    },
    /// A piece of the arguments' JSON text.
    CallArguments {
        index: usize,
        json: String,
    },
    CallEnd {
        index: usize,
        opaque: Option<Value>,
    },
    /// Counts for the whole request; a later one replaces an earlier one. The cost is filled in.
    Usage(Usage),
    /// The request is sent again after `delay`.
    Retrying {
        attempt: u32,
        limit: u32,
        delay: Duration,
        reason: String,
    },
    /// What was streamed so far is void; the answer begins anew.
    Restarted,
    Stop(StopReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolCalls,
    MaxTokens,
    StopSequence,
    Refusal,
}

/// Why a model did not answer. The message names the cause; [`Error::hint`] says what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    pub hint: Option<String>,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
    /// The HTTP status, where the server answered with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the server said about a conversation that is too long.
    #[serde(default, skip_serializing_if = "Overflow::is_empty")]
    pub overflow: Overflow,
}

/// The numbers of a conversation that is too long, as the server counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    /// Tokens the server has room for.
    pub limit: Option<u64>,
    /// Tokens of the request.
    pub sent: Option<u64>,
}

impl Overflow {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            retry_after: None,
            status: None,
            overflow: Overflow::default(),
        }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.retry_after = delay;
        self
    }

    pub fn report(&self) -> ErrorReport {
        ErrorReport { kind: self.kind, message: self.message.clone(), hint: self.hint.clone() }
    }
}
