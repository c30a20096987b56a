//! A client for the MCP servers of others: their tools become tools of the agent.
//!
//! [`Servers`] keeps one connection per configured server ([`ServerConfig`]). Servers connect in the background; nothing
//! waits for them. When a server is ready, its tools are plugged into the registry as `mcp__server__tool`, and they stay
//! there while a server that died is started again. A call goes through the executor like every other.
//!
//! Reading order: `entry` (what a person writes), `config` (what it means), `connection` (one live session), `supervisor`
//! (start, restart, end), `tool` (what the registry sees).

mod active_calls;
mod bridge;
mod config;
mod connection;
mod content;
mod elicitation;
mod entry;
mod handler;
mod login;
mod refusal;
mod sampling;
mod servers;
mod sse;
mod stdio;
mod supervisor;
mod tokens;
mod tool;
mod variables;

pub use bridge::bridge_tools;
pub use config::{ConfigError, HttpConfig, OAuthClient, Origin, ServerConfig, StdioConfig, Transport};
pub use connection::{ServerPrompt, ServerResource};
pub use entry::{EntryError, Grant, ServerEntry, ServerKind, read_servers_file};
pub use login::{LoginError, login};
pub use servers::{ServerStatus, Servers, ServersOptions};
pub use stdio::LaunchProgram;
pub use supervisor::ServerState;
pub use tool::{server_prefix, tool_name};
