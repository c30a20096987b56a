//! The words every part of Stepwell speaks.
//!
//! A door (terminal, HTTP, editor) sends a [`Command`] and follows a stream of [`EventRecord`]s; the engine
//! answers with [`Event`]s; the store keeps the durable ones, one JSON object per line. Nothing here does
//! anything: these are plain data with a stable JSON form, from which the JSON schema and the TypeScript types
//! are generated (`cargo xtask generate`).
//!
//! ```
//! use stepwell_protocol::{Event, MessageId};
//!
//! let event = Event::Token { message_id: MessageId::new("m1"), content: "Hel".into() };
//! assert!(!event.is_durable());
//! assert_eq!(serde_json::to_value(&event).unwrap()["type"], "token");
//! ```

mod approval;
mod command;
mod event;
mod ids;
mod message;
mod plan;
mod protected;
mod question;
mod schema;
mod task;
mod todo;
mod tool;
mod usage;

pub use approval::{
    ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalSource, PermissionMode, Preview, PreviewFile,
    Risk,
};
pub use command::Command;
pub use event::{
    AnswerOrigin, ChangedFile, ErrorKind, ErrorReport, Event, EventRecord, FileChange, OutputStream,
    PartialKind, SeenFile,
};
pub use ids::{ApprovalId, ArtifactId, MessageId, PlanId, QuestionId, Seq, TaskId, Timestamp, ToolCallId};
pub use message::{Image, Message, Part, Role};
pub use plan::{Plan, PlanStatus, PlanStep, StepStatus};
pub use protected::{PROTECTED_FILES, PROTECTED_FOLDERS, protected_part};
pub use question::{
    AnsweredBy, ClarificationKind, DecisionKind, Question, QuestionAnswer, QuestionKind, QuestionOption,
};
pub use schema::{json_schema, typescript};
pub use task::{AgentState, InterruptReason, TaskInfo, TaskState, TaskTotals};
pub use todo::{TodoItem, TodoPriority, TodoStatus};
pub use tool::{Artifact, ErrorClass, ToolCall, ToolDefinition, ToolFailure, ToolResult};
pub use usage::Usage;
