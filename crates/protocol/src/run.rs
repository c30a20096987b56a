//! How a run of the loop ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ErrorReport, TaskState};

/// The end of a run. The log says the same in durable events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RunEnd {
    /// With an answer, which is the last durable event.
    Answered,
    /// A limit was reached; what was done stands and can be resumed.
    Stopped {
        error: ErrorReport,
    },
    Paused,
    Cancelled,
    Failed {
        error: ErrorReport,
    },
}

impl RunEnd {
    /// The state a run that ended like this leaves its task in.
    pub fn task_state(&self) -> TaskState {
        match self {
            Self::Answered => TaskState::Completed,
            Self::Stopped { .. } | Self::Paused => TaskState::Paused,
            Self::Cancelled => TaskState::Aborted,
            Self::Failed { .. } => TaskState::Failed,
        }
    }
}
