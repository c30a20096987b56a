//! Tools that run programs.

mod background;
mod bash;
pub(crate) mod confine;
mod confined_run;
pub(crate) mod environment;
mod folder;
mod output;
mod plain;
mod processes;
pub(crate) mod spare;
mod terminal;

pub use background::BackgroundCommands;
pub use bash::Bash;
pub(crate) use confined_run::run_confined;
pub(crate) use environment::for_commands as commands_environment;
pub use processes::{ProcessInput, ProcessKill, ProcessRead};
pub use terminal::run_shell;
