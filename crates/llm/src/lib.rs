//! One stream of deltas from any model.
//!
//! The rest of Stepwell knows one kind of model: [`Model`], which takes a [`Request`] and yields [`Delta`]s.
//! Behind it stand four wire formats (Chat Completions, Responses, Anthropic, Gemini), dozens of servers that
//! are only data ([`Provider`], [`Preset`]), models that can call tools in no other way than by writing XML
//! ([`XmlToolCalls`]), lost connections and rate limits ([`RetryModel`]), prices ([`Catalog`]) and recorded
//! runs ([`Recorder`], [`Replay`]). [`EmbeddingModel`] makes vectors of texts.
//!
//! [`connect`](connect()) puts them together; nothing is connected before the first request:
//!
//! ```
//! use stepwell_llm::{Catalog, ConnectOptions, ModelFacts, Provider, RetryPolicy, connect};
//! use stepwell_net::{HttpClient, Timeouts};
//!
//! let model = connect(ConnectOptions {
//!     provider: Provider::resolve("ollama", None)?,
//!     model: "qwen3-coder:30b".into(),
//!     key: None,
//!     facts: ModelFacts::default(),
//!     catalog: Catalog::built_in(),
//!     client: HttpClient::new(Timeouts::STANDARD),
//!     retry: RetryPolicy::STANDARD,
//! })?;
//! assert_eq!(model.info().context_window, 262_144);
//! # Ok::<(), stepwell_llm::Error>(())
//! ```
//!
//! This crate touches no file and no process, and its connections are those of `stepwell-net`: texts come from the caller, recordings go to the caller's writer.

#![allow(clippy::format_push_string, reason = "`write!` to a string would need its result ignored")]

mod advice;
mod connect;
mod embeddings;
mod exchange;
mod model;
mod presets;
mod pricing;
mod probe;
mod providers;
mod replay;
mod retry;
mod tokens;
mod wire;
mod xml_tool_calls;

pub use connect::{ConnectOptions, connect};
pub use embeddings::{EmbeddingModel, EmbeddingOptions};
pub use model::{
    Delta, DeltaStream, Effort, Error, Model, ModelInfo, Price, Request, RequestOptions, StopReason,
    ToolChoice,
};
pub use presets::{
    EffortField, MaxTokensField, Preset, Provider, ProviderConfig, ProviderKind, QuirksConfig, SystemRole,
    ToolCallForm, preset, preset_names, split_model_name,
};
pub use pricing::{Catalog, ModelFacts};
pub use probe::{LocalServer, Validation, list_models, local_servers, validate};
pub use replay::{Matching, Normalizer, Recorder, Replay};
pub use retry::{RetryModel, RetryPolicy};
pub use tokens::{estimate_message, estimate_text, estimate_tool};
pub use xml_tool_calls::XmlToolCalls;
