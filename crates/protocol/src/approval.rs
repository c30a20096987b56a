//! Asking the person before something happens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ApprovalId, TaskOrigin, ToolCall};

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

    /// The one of two that allows less without the person's word.
    pub fn narrower(self, other: Self) -> Self {
        let rank = |mode: Self| match mode {
            Self::Plan => 0,
            Self::DontAsk => 1,
            Self::Default => 2,
            Self::AcceptEdits => 3,
            Self::BypassPermissions => 4,
        };
        if rank(self) <= rank(other) { self } else { other }
    }

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
    /// The sub-task that asks, where it is not the task itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TaskOrigin>,
}

/// What will happen if the person says yes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Preview {
    /// One line: "Run `cargo test`".
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The same file by file, where one can be refused and the others approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PreviewFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What the person should know before saying yes: hidden characters, a very long line, a protected file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether it only moves or ends a program whose start was approved, such as a step in a debug session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues_approved: bool,
    /// Whether it starts a sub-task that may do no more than the task that starts it. Its calls are judged one by one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within_rights: bool,
    /// Why the command would run without a sandbox, or without a part of it. Nothing but the person's word, or
    /// the mode in which nothing asks, allows such a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfined: Option<String>,
}

/// One file of a call that concerns several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewFile {
    /// As it stands in [`Preview::paths`].
    pub path: String,
    /// What would change in it; absent for one that is only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// The person's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ApprovalAnswer {
    #[serde(rename = "answer")]
    pub decision: ApprovalDecision,
    /// What the model reads: why the call was refused, or what to mind from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Paths of [`Preview::files`] that are left out of what is approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_files: Vec<String>,
    /// Hunks of [`PreviewFile::diff`] that are left out of what is approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_hunks: Vec<RefusedHunk>,
    /// The front end that answered, as it calls itself; the engine fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_from: Option<String>,
}

/// One hunk of a file's diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RefusedHunk {
    /// As it stands in [`PreviewFile::path`].
    pub path: String,
    /// Its place in the diff, from 0.
    pub hunk: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    Yes,
    /// Also for later calls of this kind in this task.
    YesForSession,
    /// Also in later tasks.
    Always,
    No,
}

impl ApprovalAnswer {
    pub fn new(decision: ApprovalDecision) -> Self {
        Self {
            decision,
            reason: None,
            refused_files: Vec::new(),
            refused_hunks: Vec::new(),
            answered_from: None,
        }
    }

    pub fn yes() -> Self {
        Self::new(ApprovalDecision::Yes)
    }

    pub fn yes_for_session() -> Self {
        Self::new(ApprovalDecision::YesForSession)
    }

    pub fn always() -> Self {
        Self::new(ApprovalDecision::Always)
    }

    pub fn no(reason: Option<String>) -> Self {
        Self { reason, ..Self::new(ApprovalDecision::No) }
    }

    pub fn is_yes(&self) -> bool {
        self.decision != ApprovalDecision::No
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
