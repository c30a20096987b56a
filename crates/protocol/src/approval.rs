//! Asking the person before something happens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ApprovalId, ToolCall};

/// How much a tool can change. Permission modes decide by it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Talks to the person or keeps the task's own books; never asks.
    Control,
    /// Reads the workspace.
    Read,
    /// Changes files in the workspace.
    Write,
    /// Runs programs.
    Execute,
    /// Reaches other machines.
    Network,
}

/// How approvals are decided when nothing more specific speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Reading is free; changes and commands ask.
    #[default]
    Default,
    /// Reading and editing in the workspace are free; commands ask.
    AcceptEdits,
    /// Only reading; everything else is refused.
    Plan,
    /// Reading is free; what would ask is refused.
    DontAsk,
    /// Nothing asks. For machines that can be thrown away.
    BypassPermissions,
}

impl PermissionMode {
    pub const ALL: [Self; 5] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::DontAsk, Self::BypassPermissions];

    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// A call that waits for the person's word. The answer holds for exactly these arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ApprovalRequest {
    pub id: ApprovalId,
    pub call: ToolCall,
    pub risk: Risk,
    /// Why it asks: "default mode asks before commands".
    pub reason: String,
    pub preview: Preview,
    /// What "for this session" and "always" would allow, word for word as it is kept. Absent where only a yes to
    /// this one call is possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

/// What will happen if the person says yes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Preview {
    /// One line: "Run `cargo test`".
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What the person should know before saying yes: hidden characters, a very long line, a protected file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why the command would run without a sandbox, or without a part of it. Nothing but the person's word, or
    /// the mode in which nothing asks, allows such a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfined: Option<String>,
}

/// The person's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    Yes,
    /// Also for later calls of this kind in this task.
    YesForSession,
    /// Also in later tasks.
    Always,
    No {
        /// What the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl ApprovalAnswer {
    pub fn is_yes(&self) -> bool {
        !matches!(self, Self::No { .. })
    }
}

/// Who gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalSource {
    Person,
    /// The declared policy of a headless run.
    Policy,
    Hook,
    Timeout,
}
