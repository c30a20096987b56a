//! Fakes that stand in for the world in tests. They enter the product through its constructors and settings,
//! never through conditional compilation.
//!
//! [`ModelServer`] is a model's server on a real socket that says what a test tells it to say, in whichever of
//! the four wire formats it is asked:
//!
//! ```
//! use stepwell_test_support::{ModelServer, Turn, call};
//! use serde_json::json;
//!
//! let server = ModelServer::start();
//! server.script([
//!     Turn::calls([call("bash", json!({ "command": "ls" }))]).with_reasoning("Let me look."),
//!     Turn::text("Two files.").with_usage(120, 9),
//! ]);
//! // ... run the program against `server.openai_url()` ...
//! assert_eq!(server.requests().len(), 0);
//! ```
//!
//! [`FakeAdapter`] is a debug adapter that behaves, or misbehaves, as its [`AdapterScript`] says. [`LANGUAGE_SERVER`] is
//! a program that does the same for language servers, [`MCP_SERVER`] one for MCP servers, [`EmbeddingServer`] a server
//! that makes vectors of texts.
#![allow(clippy::format_push_string, reason = "`write!` to a string would need its result ignored")]
#![allow(clippy::expect_used, clippy::panic, reason = "a fake that cannot go on fails its test, loudly")]

mod debug_adapter;
mod embedding_server;
mod model_server;

/// A language server in Python: `python3 FILE SCRIPT LOG`. Its own first lines tell what a script is.
pub const LANGUAGE_SERVER: &str = include_str!("language_server.py");

/// An MCP server in Python: `python3 FILE SCRIPT LOG`. Its own first lines tell what a script is.
pub const MCP_SERVER: &str = include_str!("mcp_server.py");

pub use debug_adapter::{Act, AdapterScript, FakeAdapter};
pub use embedding_server::{Embedded, EmbeddingRequest, EmbeddingServer};
pub use model_server::{
    Gate, ModelServer, RecordedRequest, ScriptedCall, SeenCall, SeenMessage, SeenResult, Turn, WireFormat,
    call,
};
