//! What a door may ask of the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    ApprovalAnswer, ApprovalId, ApprovalRequest, ErrorReport, MessageId, Part, PermissionMode, Plan,
    QuestionAnswer, QuestionId, SecretText, SettingScope, TaskId, TerminalId, ToolResult,
};

/// Something to do. Each command gets one [`CommandReply`]; what takes long goes on after the reply, and events tell of
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Starts a task with its first message. Mode, model and permission mode default to the workspace's settings.
    StartTask {
        task: TaskId,
        prompt: Vec<Part>,
        workspace: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<PermissionMode>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<TaskId>,
    },
    /// Says something in a task. While the agent works the message is queued and delivered at the next turn;
    /// it never answers an approval or a question.
    SendMessage { task: TaskId, parts: Vec<Part> },
    /// Goes on with a task that was cut off, paused or stopped at a limit, without a new message.
    ResumeTask { task: TaskId },
    /// Stops at once and keeps what was received.
    Cancel { task: TaskId },
    /// Stops before the next request to the model.
    Pause { task: TaskId },
    /// Answers a request for approval.
    Approve {
        task: TaskId,
        approval: ApprovalId,
        #[serde(flatten)]
        answer: ApprovalAnswer,
    },
    /// Answers a question.
    AnswerQuestion { task: TaskId, question: QuestionId, answer: QuestionAnswer },
    /// Makes a new task that shares the history up to and including `message` (all of it when absent).
    ForkTask {
        task: TaskId,
        new_task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
    },
    /// Takes back everything from a user message on and says it anew.
    EditMessage { task: TaskId, message: MessageId, parts: Vec<Part> },
    /// Gives a task another title.
    RenameTask { task: TaskId, title: String },
    /// Marks a task as a favourite, or no longer.
    SetFavourite { task: TaskId, favourite: bool },
    /// Uses another model from the next request on.
    SetModel { task: TaskId, model: String },
    /// Changes the mode from the next turn on.
    SetMode { task: TaskId, mode: String },
    /// Changes what needs approval, from the next call on.
    SetPermissionMode { task: TaskId, permission_mode: PermissionMode },
    /// Decides about the plan of a task.
    DecidePlan { task: TaskId, decision: PlanDecision },
    /// Shortens what the model is sent of a task.
    CondenseTask { task: TaskId },
    /// Sends what the last condensing left out again.
    UndoCondensing { task: TaskId },
    /// Takes back the file changes of the last calls of a workspace.
    Undo {
        workspace: String,
        /// How many calls.
        count: u32,
        #[serde(default)]
        force: bool,
    },
    /// Takes back the last undo or restore of a workspace.
    Redo {
        workspace: String,
        #[serde(default)]
        force: bool,
    },
    /// Brings a workspace, a conversation or both back to a checkpoint.
    Restore {
        workspace: String,
        #[ts(type = "number")]
        checkpoint: u64,
        what: RestoreWhat,
        #[serde(default)]
        force: bool,
    },
    /// Ends a command that runs in the background.
    StopBackgroundCommand { workspace: String, process_id: u32 },
    /// Deletes a task with everything kept of it.
    DeleteTask { task: TaskId },
    /// Runs a tool for the person, such as a step of the debugger or a search in the code, with the rules of the
    /// workspace. A call that would ask replies [`CommandReply::NeedsConfirmation`] first.
    CallTool {
        workspace: String,
        /// The task whose followers see what happens meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        name: String,
        arguments: Value,
        /// Whether the person has seen what the call does and wants it.
        #[serde(default)]
        confirmed: bool,
    },
    /// Opens a shell on a pseudo-terminal. Its output comes as [`crate::ServerMessage::TerminalOutput`] to this
    /// connection, and it ends with the connection.
    OpenTerminal {
        workspace: String,
        columns: u16,
        rows: u16,
        #[serde(default)]
        confirmed: bool,
    },
    /// Types into a terminal.
    WriteTerminal { terminal: TerminalId, data: String },
    /// Tells a terminal how large its window is.
    ResizeTerminal { terminal: TerminalId, columns: u16, rows: u16 },
    /// Ends a terminal and what runs in it.
    CloseTerminal { terminal: TerminalId },
    /// Changes a setting in one of the files, or removes it from there.
    SetSetting {
        workspace: String,
        scope: SettingScope,
        /// Dotted, as in the file.
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// Keeps the key of a model's provider in a file that only the person can read.
    SetModelKey { provider: String, key: SecretText },
    /// Says whether the folder's own settings, hooks and programs may be used.
    TrustWorkspace { workspace: String, trusted: bool },
    /// Ends the connection to an MCP server and connects anew.
    RestartMcpServer { workspace: String, server: String },
    /// Makes a task from an exported one.
    ImportTask { workspace: String, content: String },
}

/// What a person decides about a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum PlanDecision {
    Approve,
    Reject {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Replaces the steps that are not completed.
    Edit {
        plan: Plan,
    },
    /// Runs a failed step again.
    RetryStep,
    SkipStep,
    /// Ends the plan where it is.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RestoreWhat {
    Files,
    Conversation,
    Both,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CommandReply {
    /// It was carried out, or has begun.
    Done,
    /// A task was made.
    Task {
        task: TaskId,
        number: u32,
    },
    /// Files were restored, or none because something stands in the way.
    Restored {
        files: Vec<RestoredFile>,
        /// Files that were changed by others since; nothing was restored while there are any.
        obstacles: Vec<RestoreObstacle>,
    },
    /// A tool ran for the person.
    Tool {
        outcome: Box<ToolResult>,
        /// The structured answer, where the tool has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// Nothing was done yet: the person has to see this first and send the command again, confirmed.
    NeedsConfirmation {
        request: Box<ApprovalRequest>,
    },
    /// A terminal was opened.
    Terminal {
        terminal: TerminalId,
    },
    Failed {
        error: ErrorReport,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RestoredFile {
    /// Relative to the workspace.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RestoreObstacle {
    pub path: String,
    pub reason: String,
}

impl Command {
    /// Says in an answer which front end gave it, whatever the answer said before.
    pub fn answered_from(mut self, name: Option<&str>) -> Self {
        let slot = match &mut self {
            Self::Approve { answer, .. } => Some(&mut answer.answered_from),
            Self::AnswerQuestion { answer, .. } => Some(&mut answer.answered_from),
            _ => None,
        };
        if let Some(slot) = slot {
            *slot = name.map(str::to_owned);
        }
        self
    }

    /// The task a command is about, where it is about one.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::StartTask { task, .. }
            | Self::SendMessage { task, .. }
            | Self::ResumeTask { task }
            | Self::Cancel { task }
            | Self::Pause { task }
            | Self::Approve { task, .. }
            | Self::AnswerQuestion { task, .. }
            | Self::ForkTask { task, .. }
            | Self::EditMessage { task, .. }
            | Self::RenameTask { task, .. }
            | Self::SetFavourite { task, .. }
            | Self::SetModel { task, .. }
            | Self::SetMode { task, .. }
            | Self::SetPermissionMode { task, .. }
            | Self::DecidePlan { task, .. }
            | Self::CondenseTask { task }
            | Self::UndoCondensing { task }
            | Self::DeleteTask { task } => Some(task),
            Self::Undo { .. }
            | Self::Redo { .. }
            | Self::Restore { .. }
            | Self::StopBackgroundCommand { .. }
            | Self::CallTool { .. }
            | Self::OpenTerminal { .. }
            | Self::WriteTerminal { .. }
            | Self::ResizeTerminal { .. }
            | Self::CloseTerminal { .. }
            | Self::SetSetting { .. }
            | Self::SetModelKey { .. }
            | Self::TrustWorkspace { .. }
            | Self::RestartMcpServer { .. }
            | Self::ImportTask { .. } => None,
        }
    }
}
