//! The words every part of Stepwell speaks.
//!
//! A door (terminal, HTTP, editor) sends [`ClientMessage`]s: commands, queries, tasks to follow. It gets
//! [`ServerMessage`]s: replies and [`EventRecord`]s. The store keeps the durable events, one JSON object per line.
//! Nothing here does anything: these are plain data with a stable JSON form, from which the JSON schema and the
//! TypeScript types are generated (`cargo xtask generate`).
//!
//! ```
//! use stepwell_protocol::{Event, MessageId};
//!
//! let event = Event::Token { message_id: MessageId::new("m1"), offset: 0, content: "Hel".into() };
//! assert!(!event.is_durable());
//! assert_eq!(serde_json::to_value(&event).unwrap()["type"], "token");
//! ```

mod activity;
mod approval;
mod command;
mod condensing;
mod connection;
mod detail;
mod event;
mod evidence;
mod hypothesis;
mod ids;
mod message;
mod observation;
mod plan;
mod protected;
mod query;
mod question;
mod run;
mod schema;
mod task;
mod todo;
mod tool;
mod usage;
mod view;

pub use activity::{
    BackgroundCommand, CommandEnd, DebugSessionState, DebugSessionSummary, FrameSummary, StopSummary,
    VariableSummary,
};
pub use approval::{
    ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalSource, PermissionMode, Preview, PreviewFile,
    RefusedHunk, Risk,
};
pub use command::{Command, CommandReply, PlanDecision, RestoreObstacle, RestoreWhat, RestoredFile};
pub use condensing::{CondenseReason, Condensing, DroppedOutput};
pub use connection::{ClientMessage, RequestId, ServerMessage};
pub use detail::{CommandDetail, FileDiff, ToolDetail};
pub use event::{
    AnswerOrigin, ChangedFile, ErrorKind, ErrorReport, Event, EventRecord, FileChange, OutputStream,
    PartialKind, SeenFile,
};
pub use evidence::{EvidenceCard, EvidenceProbe, Observed};
pub use hypothesis::{Hypothesis, HypothesisEvidence, HypothesisStatus};
pub use ids::{
    ApprovalId, ArtifactId, MessageId, PlanId, QuestionId, Seq, TaskId, TerminalId, Timestamp, ToolCallId,
};
pub use message::{Image, Message, Part, Role};
pub use observation::{
    ExplainedValue, FailureDetail, FailureFrameDetail, FailureItem, GraphEdge, GraphNode, ObservedHit,
    ObservedPoint, ObservedRun, ObservedWrite, TraceDetail, TracedLine,
};
pub use plan::{CriticalFile, Plan, PlanFault, PlanStatus, PlanStep, PlanView, PlannedChange, StepStatus};
pub use protected::{PROTECTED_FILES, PROTECTED_FOLDERS, protected_part};
pub use query::{
    CheckpointItem, CommandItem, ModeItem, ModelItem, Query, QueryReply, SettingItem, SkillItem,
    SlashCommandItem, SymbolItem, TaskFilter, TaskListItem, ToolItem,
};
pub use question::{
    AnsweredBy, ClarificationKind, DecisionKind, Question, QuestionAnswer, QuestionKind, QuestionOption,
};
pub use run::RunEnd;
pub use schema::{command_items, json_schema, typescript, typescript_calls};
pub use task::{AgentState, InterruptReason, TaskInfo, TaskOrigin, TaskState, TaskTotals};
pub use todo::{TodoItem, TodoPriority, TodoStatus};
pub use tool::{Artifact, CallForms, ErrorClass, ToolCall, ToolDefinition, ToolFailure, ToolResult};
pub use usage::Usage;
pub use view::{
    BreakpointItem, CheckState, DoctorCheck, ExportFormat, FileView, McpServerItem, McpServerState,
    ProviderItem, RequestUsage, SecretText, SettingScope, SettingsFile, TaskView, WorkspaceItem,
    WorkspaceView,
};
