//! What screens begin with: a task, a workspace, a file, and how the machine is set up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    ApprovalRequest, BackgroundCommand, DebugSessionSummary, EventRecord, Hypothesis, Message,
    PermissionMode, Plan, Question, Seq, TaskListItem, Timestamp, TodoItem, Usage,
};

/// A task at one moment: everything that a screen shows beside the conversation, and the newest page of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TaskView {
    pub item: TaskListItem,
    /// The record up to which this is true. What comes after is followed.
    pub last_seq: Seq,
    /// Where the person chose one for this task; else that of the workspace holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    pub todo: Vec<TodoItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    pub hypotheses: Vec<Hypothesis>,
    /// Files that calls of this task changed, the last ones last.
    pub edited: Vec<String>,
    /// Messages that wait for the next turn.
    pub queued: Vec<Message>,
    pub open_approvals: Vec<ApprovalRequest>,
    pub open_questions: Vec<Question>,
    /// The tasks that work for this one, and theirs, in the order in which they began.
    pub subtasks: Vec<TaskListItem>,
    /// Usage of each request to the model, oldest first. Bounded to the newest requests of a very long task.
    pub requests: Vec<RequestUsage>,
    /// How many tokens the model's window has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "number | null")]
    pub context_window: Option<u64>,
    pub debug_sessions: Vec<DebugSessionSummary>,
    pub background: Vec<BackgroundCommand>,
    /// The newest records, oldest first.
    pub records: Vec<EventRecord>,
    /// Whether there are older ones.
    pub more: bool,
}

/// What one request to the model used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RequestUsage {
    pub ts: Timestamp,
    pub model: String,
    pub usage: Usage,
}

/// A folder that tasks worked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct WorkspaceItem {
    /// Absolute.
    pub path: String,
    #[ts(type = "number")]
    pub tasks: u64,
    pub used_at: Timestamp,
}

/// A folder as a new task would find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct WorkspaceView {
    /// Absolute, without links.
    pub path: String,
    /// Whether the folder's own settings, hooks and programs may be used.
    pub trusted: bool,
    /// What the folder's settings want and do not get without trust.
    pub withheld: Vec<String>,
    /// Files that trust is about, as they are now.
    pub trust_files: Vec<String>,
    pub mode: String,
    /// Absent where none is set or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub permission_mode: PermissionMode,
    /// Layers of the sandbox that this machine lacks.
    pub sandbox_gaps: Vec<String>,
    /// Breakpoints that are set.
    pub breakpoints: Vec<BreakpointItem>,
}

/// A breakpoint of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct BreakpointItem {
    pub id: String,
    /// Absolute.
    pub file: String,
    pub line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

/// A file as the inspector shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileView {
    /// As it was asked for.
    pub path: String,
    /// The beginning where the file is too long.
    pub text: String,
    #[ts(type = "number")]
    pub bytes: u64,
    pub truncated: bool,
    /// `rust`, `python`, ... where the language is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// A configured MCP server and how its connection stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct McpServerItem {
    pub name: String,
    /// The program or the address.
    pub target: String,
    /// The file that names it.
    pub source: String,
    pub state: McpServerState,
    /// Why it is not connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Names of its tools.
    pub tools: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum McpServerState {
    Connecting,
    Connected,
    /// It could not be reached, or has ended; it is tried again.
    Failed,
    /// It needs a login.
    NeedsLogin,
    /// The settings say so, or the folder is not trusted.
    Disabled,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DoctorCheck {
    pub check: String,
    pub state: CheckState,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Ok,
    /// Not set up, which is no fault.
    Absent,
    Failed,
}

/// A file that holds settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SettingsFile {
    pub scope: SettingScope,
    pub path: String,
    /// Empty where the file does not exist.
    pub text: String,
    /// Why it cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Whose settings a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SettingScope {
    User,
    Project,
}

/// A provider of models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ProviderItem {
    pub name: String,
    /// Where its key comes from, such as `$OPENAI_API_KEY`; `missing` where there is none.
    pub key: String,
    /// Whether requests can be sent: a key is there, or none is needed and the server answers.
    pub usable: bool,
    /// Whether it is a server on this machine.
    pub local: bool,
    /// The model that is used where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Json,
    Markdown,
}

/// A text that no log and no `Debug` output shows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(...)")
    }
}
