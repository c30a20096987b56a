//! Tools that run programs.

mod background;
mod bash;
pub(crate) mod confine;
pub(crate) mod environment;
mod folder;
mod output;
mod plain;
mod processes;
pub(crate) mod spare;
mod terminal;

pub use background::BackgroundCommands;
pub use bash::Bash;
pub use processes::{ProcessInput, ProcessKill, ProcessRead};
pub use terminal::run_shell;
