//! Debug configurations as VS Code resolves them: launch.json, tasks.json, and what they would run.
//!
//! [`LaunchFile::read`] finds the configurations of a folder, [`LaunchFile::resolve`] puts values for their variables,
//! [`runs()`] says what would be run so that a person can judge it, and `translate` turns the keys of one debugger into
//! those of another. Nothing here starts a program but `tasks::run_task`.

mod context;
mod env_file;
mod error;
mod file;
mod helper_commands;
mod inputs;
mod jsonc;
mod python;
pub(crate) mod resolve;
mod run_preview;
mod secrets;
mod server_ready;
mod settings;
pub(crate) mod shell_words;
pub mod tasks;
pub(crate) mod translate;
mod variables;

#[cfg(test)]
pub(crate) mod tests;

pub use context::Context;
pub use context::{Editor, Platform, WorkspaceFolder};
pub(crate) use context::{is_dir, is_file};
pub use error::LaunchError;
pub use error::Result;
pub use file::LaunchFile;
pub use file::{Compound, Configuration};
pub use helper_commands::helper_commands;
pub use inputs::InputKind;
pub use inputs::InputRequest;
pub use inputs::PickOption;
pub(crate) use jsonc::read as read_jsonc;
pub(crate) use python::{find_python, unused_environment};
pub use resolve::{Launch, Request, Resolved, resolve_configuration};
pub use resolve::{Presentation, ServerReady, TaskRef};
pub use run_preview::{PlannedCommand, PlannedRun, RunRole, runs};
pub use secrets::{SecretUse, Secrets};
pub use server_ready::ServerReadyWatch;
pub use settings::Settings;
pub(crate) use settings::user_settings_files;
pub use translate::Translated;
pub(crate) use translate::{adapters_for, translate};
