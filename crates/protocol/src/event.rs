//! What happened in a task.
//!
//! Durable events are the task's log and the only truth about it: the model's history, the person's history,
//! the todo list and the totals are folds over them. Transient events (tokens, live output) are only for who
//! is looking at the moment; what they add up to arrives later in a durable one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    AgentState, ApprovalAnswer, ApprovalId, ApprovalRequest, ApprovalSource, BackgroundCommand, Condensing,
    DebugSessionSummary, DroppedOutput, Hypothesis, InterruptReason, Message, MessageId, Part,
    PermissionMode, Plan, Question, QuestionAnswer, QuestionId, RunEnd, Seq, StepStatus, TaskId, TaskInfo,
    TaskState, Timestamp, TodoItem, ToolCall, ToolCallId, ToolResult, Usage,
};

/// An event with its place in the task's log. A transient event carries the number of the last durable one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct EventRecord {
    pub seq: Seq,
    pub ts: Timestamp,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    // ---- the task itself
    TaskCreated {
        info: TaskInfo,
    },
    TaskRenamed {
        title: String,
    },
    FavouriteChanged {
        favourite: bool,
    },
    StateChanged {
        state: TaskState,
    },
    ModelChanged {
        model: String,
    },
    ModeChanged {
        mode: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    PermissionModeChanged {
        permission_mode: PermissionMode,
    },
    /// Everything from this message on was taken back by the person; the originals stay in the log.
    HistoryRewound {
        to_before: MessageId,
    },

    // ---- the conversation
    UserMessage {
        message: Message,
    },
    /// A user message waits for the next turn.
    MessageQueued {
        message: Message,
    },
    /// What the model is told about its surroundings between two messages, such as an overview of the code. Nobody said
    /// it, so screens leave it out.
    EnvironmentDetails {
        message_id: MessageId,
        text: String,
    },
    /// Instructions of folders that a tool has touched, such as a nested `AGENTS.md`. Kept, so that a resumed task knows
    /// which it was given.
    InstructionsGiven {
        message_id: MessageId,
        text: String,
        /// The files the text is made of, as they were.
        files: Vec<SeenFile>,
    },
    /// What the model said before acting, or its reasoning before an answer. Comes before every action, also
    /// when the model said nothing.
    Thought {
        message_id: MessageId,
        parts: Vec<Part>,
    },
    Action {
        message_id: MessageId,
        call: ToolCall,
    },
    Observation {
        result: ToolResult,
    },
    /// The end of a run of the loop.
    Answer {
        message_id: MessageId,
        content: String,
        origin: AnswerOrigin,
    },
    /// A stretch of an answer that is still streaming, kept so that a crash does not lose it. `offset` counts
    /// bytes of the same kind already kept for this message.
    PartialAnswer {
        message_id: MessageId,
        kind: PartialKind,
        #[ts(type = "number")]
        offset: u64,
        content: String,
    },
    /// What was received of this message so far is void: the connection was lost and the request is sent again.
    AnswerRestarted {
        message_id: MessageId,
    },
    /// The answer above ends here; what was received of it stands.
    AnswerInterrupted {
        message_id: MessageId,
        reason: InterruptReason,
    },
    /// Older messages were left out of the context because the model's window is full.
    ContextTruncated {
        #[ts(type = "number")]
        dropped_messages: u64,
        #[ts(type = "number")]
        estimated_tokens: u64,
    },

    /// Large outputs of older calls are left out of the context; each can be read again from its file.
    OutputsDropped {
        outputs: Vec<DroppedOutput>,
    },
    /// Older messages are sent as a summary from here on.
    ContextCondensed {
        #[serde(flatten)]
        condensing: Condensing,
    },
    /// The last summary, or the outputs that were left out last, are sent as they were again.
    CondensingUndone,

    // ---- asking
    ApprovalRequested {
        request: ApprovalRequest,
    },
    ApprovalResolved {
        id: ApprovalId,
        #[serde(flatten)]
        answer: ApprovalAnswer,
        source: ApprovalSource,
    },
    QuestionAsked {
        question: Question,
    },
    QuestionAnswered {
        id: QuestionId,
        answer: QuestionAnswer,
    },

    // ---- books
    Usage {
        model: String,
        usage: Usage,
    },
    Todo {
        items: Vec<TodoItem>,
    },
    Hypotheses {
        items: Vec<Hypothesis>,
    },
    Plan {
        plan: Plan,
        /// The text of the plan document, where it is another one than before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document: Option<String>,
    },
    /// A step of the plan ended. The plan of the task holds the same.
    StepComplete {
        step: u32,
        result: String,
        #[serde(default)]
        status: StepStatus,
        /// How the expected outcome was checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<String>,
    },
    Error {
        error: ErrorReport,
    },
    /// A call changed files; their state before it is kept under this number, for `undo` and `checkpoints`.
    CheckpointSaved {
        #[ts(type = "number")]
        checkpoint: u64,
        call_id: ToolCallId,
        folder: String,
        /// How many files changed.
        #[ts(type = "number")]
        changed: u64,
        /// The first of them.
        files: Vec<ChangedFile>,
    },
    /// Files the agent was shown or wrote, and what they held: so a change behind its back is noticed, after a restart
    /// too.
    FilesSeen {
        files: Vec<SeenFile>,
    },
    /// Something the person should know, such as a hook's message.
    Notice {
        text: String,
    },
    /// A task was started that works for this one.
    SubtaskStarted {
        task: TaskId,
        number: u32,
        title: String,
        mode: String,
        /// The sub-agent that works on it, where one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The call that waits for its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<ToolCallId>,
    },
    /// Its run ended.
    SubtaskEnded {
        task: TaskId,
        end: RunEnd,
    },

    // ---- transient
    /// More text of a streaming answer. `offset` counts the bytes of text before it in the same message.
    Token {
        message_id: MessageId,
        #[ts(type = "number")]
        offset: u64,
        content: String,
    },
    /// More reasoning of a streaming answer. `offset` counts the bytes of reasoning before it in the same message.
    ReasoningToken {
        message_id: MessageId,
        #[ts(type = "number")]
        offset: u64,
        content: String,
    },
    /// More of the arguments of a call that the model is writing. `offset` counts the bytes before it.
    CallForming {
        message_id: MessageId,
        call_id: ToolCallId,
        name: String,
        #[ts(type = "number")]
        offset: u64,
        /// JSON as far as it has come.
        arguments: String,
    },
    ToolProgress {
        call_id: ToolCallId,
        text: String,
    },
    ToolOutput {
        call_id: ToolCallId,
        stream: OutputStream,
        chunk: String,
    },
    AgentStateChanged {
        state: AgentState,
    },
    /// The run is over; the durable events before say what came of it.
    RunEnded {
        end: RunEnd,
    },
    /// A debug session began, stopped, went on or ended.
    DebugSession {
        session: DebugSessionSummary,
    },
    /// A command was started in the background, or ended there.
    BackgroundCommand {
        command: BackgroundCommand,
    },
    /// The reader was too slow. Transient events were left out; durable ones and the text of a streaming answer follow
    /// from the log.
    Lagged,
    Retrying {
        attempt: u32,
        limit: u32,
        #[ts(type = "number")]
        delay_ms: u64,
        reason: String,
    },
}

impl Event {
    /// Whether the event belongs in the log.
    pub fn is_durable(&self) -> bool {
        !matches!(
            self,
            Self::Token { .. }
                | Self::ReasoningToken { .. }
                | Self::CallForming { .. }
                | Self::ToolProgress { .. }
                | Self::ToolOutput { .. }
                | Self::AgentStateChanged { .. }
                | Self::RunEnded { .. }
                | Self::DebugSession { .. }
                | Self::BackgroundCommand { .. }
                | Self::Lagged
                | Self::Retrying { .. }
        )
    }

    /// Whether the event must be on the disk, not only written, before anything follows from it.
    pub fn must_sync(&self) -> bool {
        matches!(
            self,
            Self::TaskCreated { .. }
                | Self::UserMessage { .. }
                | Self::MessageQueued { .. }
                | Self::Observation { .. }
                | Self::ApprovalResolved { .. }
                | Self::QuestionAnswered { .. }
                | Self::HistoryRewound { .. }
                | Self::Answer { .. }
        )
    }
}

/// A file as the agent last saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SeenFile {
    /// Absolute.
    pub path: String,
    #[ts(type = "number")]
    pub bytes: u64,
    /// Of its content; absent for a file that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ChangedFile {
    /// Relative to the folder.
    pub path: String,
    pub change: FileChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Created,
    Modified,
    Deleted,
}

/// Where the final words came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AnswerOrigin {
    /// The model's text; part of its history.
    Text,
    /// The result given to `attempt_completion`; the model's history has it in the call already.
    Completion,
    /// The engine stopped the run (turns, budget) and says how far it came.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PartialKind {
    Text,
    Reasoning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// An error as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ErrorReport {
    pub kind: ErrorKind,
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The errors of a run, by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The model's server cannot be reached, also after retries.
    LlmConnection,
    LlmRateLimit,
    /// Wrong or missing key.
    LlmAuthentication,
    /// No credit or quota left.
    LlmQuota,
    LlmUnknownModel,
    LlmContextTooLong,
    /// The server refused the request or sent what cannot be understood.
    LlmProtocol,
    MaxIterations,
    /// The money is spent.
    Budget,
    /// The tokens are used.
    TokenBudget,
    /// The same call again and again.
    Loop,
    Cancelled,
    /// An approval or answer was needed that nobody could give.
    NeedsPerson,
    /// A step of the plan failed.
    StepFailed,
    /// What was asked for does not exist, or is in no state in which it can be done.
    Rejected,
    /// This build cannot do it.
    Unsupported,
    Store,
    Internal,
}
