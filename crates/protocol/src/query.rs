//! What a door may want to know, and the answers. Nothing here changes anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    BackgroundCommand, ChangedFile, DebugSessionSummary, DoctorCheck, ErrorReport, EventRecord, EvidenceCard,
    ExportFormat, FileDiff, FileView, McpServerItem, PlanView, ProviderItem, Risk, Seq, SettingsFile, TaskId,
    TaskInfo, TaskState, TaskTotals, TaskView, Timestamp, ToolCallId, WorkspaceItem, WorkspaceView,
};

/// A question. Each gets one [`QueryReply`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Query {
    /// Tasks, the ones changed last first.
    Tasks {
        #[serde(flatten)]
        filter: TaskFilter,
    },
    /// One task.
    Task {
        task: TaskId,
    },
    /// A page of a task's log, newest first: records before `before`, or the last ones.
    History {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Seq>,
        limit: u32,
    },
    /// The plan of a task, with its document.
    Plan {
        task: TaskId,
    },
    Models {
        workspace: String,
    },
    Modes {
        workspace: String,
    },
    Tools {
        workspace: String,
    },
    /// The commands of this protocol, for a palette.
    Commands,
    /// What can be run as `/NAME` in a message.
    SlashCommands {
        workspace: String,
    },
    /// What the agent can load.
    Skills {
        workspace: String,
    },
    /// The settings in force, and where each comes from.
    Settings {
        workspace: String,
    },
    Checkpoints {
        workspace: String,
        limit: u32,
    },
    /// What the call of a checkpoint changed, or everything since it.
    CheckpointDiff {
        workspace: String,
        #[ts(type = "number")]
        checkpoint: u64,
        #[serde(default)]
        since: bool,
    },
    /// Files whose path matches, the best first.
    Files {
        workspace: String,
        text: String,
        limit: u32,
    },
    /// Symbols whose name matches, the best first.
    Symbols {
        workspace: String,
        text: String,
        limit: u32,
    },
    DebugSessions {
        workspace: String,
    },
    BackgroundCommands {
        workspace: String,
    },
    /// A task as a screen begins with it: what is open, and the newest page of its log. Follow it after `last_seq`.
    TaskView {
        task: TaskId,
        limit: u32,
    },
    /// What was seen before and after the changes of a task.
    Evidence {
        task: TaskId,
    },
    /// A task in a form for others.
    ExportTask {
        task: TaskId,
        format: ExportFormat,
    },
    /// Folders that tasks worked in, the ones used last first.
    Workspaces,
    /// A folder as a new task would find it.
    Workspace {
        workspace: String,
    },
    /// The text of a file.
    File {
        workspace: String,
        path: String,
    },
    McpServers {
        workspace: String,
    },
    /// What works, what does not, and what to do about it.
    Doctor {
        workspace: String,
        /// Asks no server.
        #[serde(default)]
        offline: bool,
    },
    /// JSON schema of the settings.
    SettingsSchema,
    /// The files that hold settings, with their text.
    SettingsFiles {
        workspace: String,
    },
    /// Providers of models, and whether each has a key.
    Providers {
        workspace: String,
    },
    /// Sends a short request to a model.
    TestModel {
        workspace: String,
        model: String,
    },
}

impl Query {
    /// The workspace a query is about, where it is about one.
    pub fn workspace(&self) -> Option<&str> {
        match self {
            Self::Models { workspace }
            | Self::Modes { workspace }
            | Self::Tools { workspace }
            | Self::SlashCommands { workspace }
            | Self::Skills { workspace }
            | Self::Settings { workspace }
            | Self::Checkpoints { workspace, .. }
            | Self::CheckpointDiff { workspace, .. }
            | Self::Files { workspace, .. }
            | Self::Symbols { workspace, .. }
            | Self::DebugSessions { workspace }
            | Self::BackgroundCommands { workspace }
            | Self::Workspace { workspace }
            | Self::File { workspace, .. }
            | Self::McpServers { workspace }
            | Self::Doctor { workspace, .. }
            | Self::SettingsFiles { workspace }
            | Self::Providers { workspace }
            | Self::TestModel { workspace, .. } => Some(workspace),
            Self::Tasks { .. }
            | Self::Task { .. }
            | Self::History { .. }
            | Self::Plan { .. }
            | Self::TaskView { .. }
            | Self::Evidence { .. }
            | Self::ExportTask { .. }
            | Self::Workspaces
            | Self::SettingsSchema
            | Self::Commands => None,
        }
    }
}

/// Which tasks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct TaskFilter {
    /// Words that must occur in the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    pub favourites_only: bool,
    /// How many to pass over.
    pub offset: u32,
    /// How many to list; 0 stands for 50.
    pub limit: u32,
}

/// The answer to a [`Query`], under the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum QueryReply {
    Tasks {
        tasks: Vec<TaskListItem>,
        /// How many there are in all.
        #[ts(type = "number")]
        total: u64,
    },
    Task {
        task: Box<TaskListItem>,
    },
    History {
        /// Oldest first within the page.
        records: Vec<EventRecord>,
        /// Whether there are older ones.
        more: bool,
    },
    /// Nothing where the task has no plan.
    Plan {
        plan: Option<Box<PlanView>>,
    },
    Models {
        models: Vec<ModelItem>,
    },
    Modes {
        modes: Vec<ModeItem>,
    },
    Tools {
        tools: Vec<ToolItem>,
    },
    Commands {
        commands: Vec<CommandItem>,
    },
    SlashCommands {
        commands: Vec<SlashCommandItem>,
    },
    Skills {
        skills: Vec<SkillItem>,
    },
    Settings {
        settings: Vec<SettingItem>,
    },
    Checkpoints {
        checkpoints: Vec<CheckpointItem>,
    },
    CheckpointDiff {
        files: Vec<FileDiff>,
    },
    Files {
        files: Vec<String>,
    },
    Symbols {
        symbols: Vec<SymbolItem>,
    },
    DebugSessions {
        sessions: Vec<DebugSessionSummary>,
    },
    BackgroundCommands {
        commands: Vec<BackgroundCommand>,
    },
    TaskView {
        view: Box<TaskView>,
    },
    /// Empty where nothing was changed.
    Evidence {
        card: Box<EvidenceCard>,
    },
    ExportTask {
        /// What to call the file.
        file_name: String,
        media_type: String,
        content: String,
    },
    Workspaces {
        workspaces: Vec<WorkspaceItem>,
    },
    Workspace {
        workspace: Box<WorkspaceView>,
    },
    File {
        file: Box<FileView>,
    },
    McpServers {
        servers: Vec<McpServerItem>,
    },
    Doctor {
        checks: Vec<DoctorCheck>,
    },
    SettingsSchema {
        schema: Value,
    },
    SettingsFiles {
        files: Vec<SettingsFile>,
    },
    Providers {
        providers: Vec<ProviderItem>,
    },
    TestModel {
        #[ts(type = "number")]
        duration_ms: u64,
    },
    Failed {
        error: ErrorReport,
    },
}

/// A task in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TaskListItem {
    pub info: TaskInfo,
    pub title: String,
    pub state: TaskState,
    pub mode: String,
    pub model: String,
    pub favourite: bool,
    pub totals: TaskTotals,
    pub updated_at: Timestamp,
    /// The log says that the task is at work, but the process that ran it has ended.
    pub interrupted: bool,
    /// The newest record; 0 for a task that is not open.
    pub last_seq: Seq,
    /// Approvals and questions that wait for the person.
    pub waiting: u32,
    /// Size of the log.
    #[ts(type = "number")]
    pub bytes: u64,
    /// What was found, where words were searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ModelItem {
    /// `PROVIDER/MODEL`.
    pub name: String,
    #[ts(type = "number")]
    pub context_window: u64,
    /// Whether nobody told how large the window is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub window_assumed: bool,
    pub images: bool,
    /// Dollars for a million tokens, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_price: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ModeItem {
    pub slug: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Groups of tools it has, such as `read`, or `edit (\.md$)` where only some files may be changed.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The model that is used with it, where it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `built in`, `settings`, or the path of a file.
    #[serde(default)]
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolItem {
    pub name: String,
    pub aliases: Vec<String>,
    pub category: String,
    pub risk: Risk,
    pub description: String,
    pub enabled: bool,
    /// The server or plug-in that brought it; absent for a built-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub input_schema: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CommandItem {
    /// The `type` of the command.
    pub name: String,
    pub description: String,
    /// JSON schema of its fields.
    pub parameters: Value,
}

/// A command that people run by its name in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SlashCommandItem {
    /// Without the slash.
    pub name: String,
    pub description: String,
    /// What to write behind the name, such as `[issue]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// `built in`, `plugin`, `user` or `project`.
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SkillItem {
    pub name: String,
    pub description: String,
    /// `plugin`, `user` or `project`.
    pub source: String,
    pub folder: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SettingItem {
    /// Dotted, as in the file.
    pub name: String,
    pub value: Value,
    /// The file, variable or option it comes from; `default` for none.
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CheckpointItem {
    #[ts(type = "number")]
    pub checkpoint: u64,
    pub ts: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<ToolCallId>,
    pub summary: String,
    pub files: Vec<ChangedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SymbolItem {
    pub name: String,
    /// `function`, `class`, ...
    pub kind: String,
    pub path: String,
    pub line: u32,
}
