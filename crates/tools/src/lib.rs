//! The concrete tools.
//!
//! Each tool is one file that holds all of it: the input whose doc comment the model reads, the output, what it
//! may do ([`stepwell_tool_runtime::ToolSpec`]), how it is shown and how it runs. [`catalog`] lists them. The
//! module [`ports`] has what the runtime needs of the world: keeping artifacts, running hooks.

pub mod artifacts;
mod ask;
pub mod catalog;
mod chain;
mod code;
mod commands;
mod complete;
mod debug;
mod environment;
mod files;
mod git;
mod hypothesis;
mod images;
pub mod library;
mod plan;
pub mod ports;
mod shell;
pub mod skills;
mod subtasks;
mod switch_mode;
mod testing;
mod todo;
mod tool_search;
mod web;

pub use code::CodeService;
pub use debug::{DebugOptions, DebugService, LaunchSandboxes, SyntaxFunctions};
pub use environment::{TaskVariables, VariableKeeper};
pub use files::{PDF_TEXT_WORD, end_of_line, patched_paths, pdf_text_main};
pub use images::{ImageMaker, MadeImage};
pub use shell::BackgroundCommands;
pub use shell::confine::{Confinement, Walls};
pub use shell::environment::{is_secret_name, is_secret_value, secret_variables};
pub use shell::run_shell;
pub use shell::spare::SpareSlot;
