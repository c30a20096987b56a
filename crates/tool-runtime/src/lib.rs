//! How tools are declared, registered, permitted and run.

mod host;
mod tool;

pub use host::{Host, HostError};
pub use tool::{Category, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
