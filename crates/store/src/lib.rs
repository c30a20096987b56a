//! Stores tasks on disk.
//!
//! A task is a folder, `<home>/tasks/<id>/`. Its append-only log `log.jsonl`, one durable event per line, is the only
//! truth. The model's history, the totals and what is still open are folds of it. [`TaskLog`] writes the log,
//! [`LogReader`] reads it from other processes, and [`resume`](resume()) completes a task that was interrupted.
//!
//! ```
//! use stepwell_protocol::{Event, Message, TaskId, TaskInfo, Timestamp};
//! use stepwell_store::{Home, OpenedLog, TaskFolds, TaskLog};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let home = Home::new(folder.path());
//! let id = TaskId::generate();
//! let OpenedLog { mut log, records } = TaskLog::create(&home, TaskInfo {
//!     root: id.clone(),
//!     id,
//!     parent: None,
//!     forked_from: None,
//!     number: home.allocate_number()?,
//!     title: String::new(),
//!     mode: "code".into(),
//!     agent: None,
//!     model: "openai/gpt-5".into(),
//!     workspace: "/work/project".into(),
//!     created_at: Timestamp::now(),
//! })?;
//! let mut folds = TaskFolds::of(&records);
//! for record in log.append(&[Event::UserMessage { message: Message::user("why does it fail?") }])? {
//!     folds.apply(&record);
//! }
//! assert_eq!(folds.model.messages()[0].text(), "why does it fail?");
//! # Ok(())
//! # }
//! ```

pub mod checkpoints;
mod error;
mod export;
mod fold;
mod fork;
mod home;
mod import;
mod index;
mod interrupted;
mod log;
mod manage;
mod repair;
mod resume;
mod variables;

pub use error::{Error, Result};
pub use export::{
    CONVERSATION_VERSION, Conversation, ConversationMessage, ConversationMetadata, ConversationRole,
    ConversationToolCall, ConversationToolResult, MarkdownOptions, RooTask, export_roo, import_roo,
    to_markdown, to_markdown_with,
};
pub use fold::{HalfAnswer, HistoryFault, ModelHistory, TaskFolds, check_history, results_id};
pub use fork::fork;
pub use home::Home;
pub use import::{ImportedTask, import_task};
pub use index::{Index, Refreshed, SearchHit, SortOrder, TaskQuery, TaskRow, TaskSort, WorkspaceRow};
pub use interrupted::{is_interrupted, shown_state};
pub use log::{LogReader, OnDamage, OpenedLog, TaskLog, read_info, read_log, read_log_prefix};
pub use manage::{delete_task, rename_task, rewind_task, set_favourite};
pub use repair::{RepairedTask, repair_task};
pub use resume::{ResumedTask, repair_events, resume, resume_except};
pub use variables::{StoredVariable, VariableScope, VariableStore, is_variable_name};
