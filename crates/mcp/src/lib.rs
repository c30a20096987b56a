//! The tools as an MCP server: any MCP client can use what the agent uses. The other way round, [`client`] uses the
//! servers of others.
//!
//! [`McpServer`] serves the tools of a workspace over stdio ([`McpServer::serve_stdio`]) or HTTP ([`http`]). A call goes
//! through the same executor as everything else; the client's person has been shown it, so it counts as asked for, and
//! what the judge wants to know beyond that is asked through the client (`asking`). Tools know nothing of MCP: what they
//! need is given by [`WorkspaceSource`], what else is served by [`Resources`](stepwell_tool_runtime::Resources) and
//! [`Prompts`], which whoever assembles the program implements.

mod asking;
mod call;
pub mod client;
mod connection;
mod host;
pub mod http;
mod offer;
mod parked;
mod ports;
mod prompts;
mod result;
mod server;
mod stdio;
mod tool_list;

pub use offer::Offer;
pub use ports::{PromptArgument, PromptEntry, Prompts, ServedWorkspace, WorkspaceSource};
pub use prompts::FilePrompts;
pub use server::{McpServer, ServerParts, WorkspaceChoice};
