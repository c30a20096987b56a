//! Debug configurations as VS Code resolves them: launch.json, tasks.json, and what they would run.
//!
//! [`LaunchFile::read`] finds the configurations of a folder, [`LaunchFile::resolve`] puts values for their variables,
//! [`runs()`] says what would be run so that a person can judge it, and [`translate()`] turns the keys of one debugger into
//! those of another. Nothing here starts a program but [`tasks::run_task`].

mod context;
mod env_file;
mod error;
mod file;
mod inputs;
mod jsonc;
mod python;
pub(crate) mod resolve;
mod runs;
mod server_ready;
mod settings;
pub mod tasks;
pub(crate) mod translate;
mod variables;
pub(crate) mod words;

#[cfg(test)]
pub(crate) mod tests;

pub use context::{Context, Editor, Platform, WorkspaceFolder};
pub(crate) use context::{is_dir, is_file};
pub use error::{LaunchError, Result};
pub use file::{Compound, Configuration, LaunchFile};
pub use inputs::{InputKind, InputRequest, PickOption};
pub(crate) use jsonc::read as read_jsonc;
pub use python::find_python;
pub use resolve::{Launch, Presentation, Request, Resolved, ServerReady, TaskRef, resolve_configuration};
pub use runs::{RunRole, RunsWhat, runs};
pub use server_ready::ServerReadyWatch;
pub use settings::{Settings, user_settings_files};
pub use translate::{Translated, adapters_for, translate};
