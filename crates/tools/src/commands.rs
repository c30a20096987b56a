//! Tools that give the model texts to follow: `run_slash_command` and `fetch_instructions`.

mod fetch_instructions;
mod run_slash_command;

pub use fetch_instructions::FetchInstructions;
pub use run_slash_command::RunSlashCommand;
