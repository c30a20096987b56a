//! Streams answers from any model as one kind of delta.
//!
//! The rest of Stepwell knows one trait: a [`Model`] takes a [`Request`] and yields [`Delta`]s. This crate implements
//! it for four wire formats (Chat Completions, Responses, Anthropic, Gemini) and many servers that are only data
//! ([`Provider`], [`Preset`]). Wrappers add XML tool calls for models without native ones ([`XmlToolCalls`]), retries
//! ([`RetryModel`]), and record and replay ([`Recorder`], [`Replay`]). [`Catalog`] knows prices and context windows;
//! [`EmbeddingModel`] computes embedding vectors.
//!
//! [`connect`](connect()) combines them. It opens no connection before the first request:
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
//! The crate uses no files and no processes; recordings go to a writer the caller provides. Connections are made by
//! `stepwell-net`.

#![allow(clippy::format_push_string, reason = "`write!` to a string would need its result ignored")]

mod advice;
mod connect;
mod embeddings;
mod exchange;
mod images;
mod model;
mod presets;
mod pricing;
mod probe;
mod providers;
mod replay;
mod retry;
mod tokens;
mod window;
mod wire;
mod xml_tool_calls;

pub use connect::{ConnectOptions, connect};
pub use embeddings::{EmbeddingModel, EmbeddingOptions};
pub use images::{ImageKind, ImageModel, ImageOptions, MadeBytes};
pub use model::{
    Delta, DeltaStream, Effort, Error, Model, ModelInfo, Overflow, Price, Request, RequestOptions,
    StopReason, ToolChoice,
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
pub use window::{WindowSize, WindowSource};
pub use xml_tool_calls::XmlToolCalls;
