//! The port to whoever keeps the state of the workspace before calls that may change it.

use async_trait::async_trait;
use stepwell_protocol::{Event, TaskId, ToolCallId};

/// A call that is about to run.
#[derive(Clone, Debug)]
pub struct CheckpointCall {
    pub task: TaskId,
    pub call_id: ToolCallId,
    pub tool: String,
    pub summary: String,
    pub reach: CheckpointReach,
}

/// What a call may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointReach {
    /// A command: anything in the workspace.
    Anything,
    /// These files, as the call names them.
    Paths(Vec<String>),
}

#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// Called before the call runs; once this returns, what the call changes can be brought back. An error says why
    /// that cannot be, and the call does not run.
    async fn before(&self, call: CheckpointCall) -> Result<Kept, String>;
}

/// The state before a call.
pub struct Kept {
    /// What the person should know: files that are too large to keep, a folder that is.
    pub notices: Vec<String>,
    /// Told when the call is over.
    pub after: Option<Box<dyn AfterCall>>,
}

#[async_trait]
pub trait AfterCall: Send {
    /// Looks at what the call changed.
    async fn done(self: Box<Self>) -> CallChanges;
}

/// What a call changed.
#[derive(Debug, Default)]
pub struct CallChanges {
    /// Tells of the files, where any changed.
    pub event: Option<Event>,
    /// What the person should know: changes that cannot be undone.
    pub notices: Vec<String>,
}
