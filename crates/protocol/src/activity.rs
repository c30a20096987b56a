//! What lives beside a task's messages: debug sessions and background commands of its workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{TaskId, Timestamp};

/// A debug session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DebugSessionSummary {
    pub session_id: String,
    pub name: String,
    /// `debugpy`, `lldb-dap`, ...
    pub adapter: String,
    pub state: DebugSessionState,
    /// Where it is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopSummary>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DebugSessionState {
    Starting,
    Running,
    Stopped,
    Terminated,
}

/// Why and where a program stopped, short enough for a card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct StopSummary {
    pub session_id: String,
    /// `breakpoint`, `step`, `exception`, ... as the Debug Adapter Protocol names it.
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "number | undefined")]
    pub thread_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The innermost frame first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameSummary>,
    /// Variables of the innermost frame, as the debugger prints them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableSummary>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FrameSummary {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct VariableSummary {
    pub name: String,
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
}

/// A command that runs on after the call that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct BackgroundCommand {
    pub process_id: u32,
    /// The task that started it.
    pub task: TaskId,
    /// The first line of the command.
    pub command: String,
    pub started_at: Timestamp,
    /// Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<CommandEnd>,
}

/// How a background command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum CommandEnd {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    /// It was ended by us: at its limit, by the person, or with the workspace.
    Stopped,
}
