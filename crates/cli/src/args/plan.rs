//! Arguments of `stepwell plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Show the plan of a task: its steps, how far they are, and what was seen
    Show {
        #[command(flatten)]
        task: PlanTask,
        /// Print the whole document
        #[arg(long, conflicts_with = "json")]
        document: bool,
    },
    /// Approve a plan; `stepwell run --resume TASK` then carries it out
    Approve(PlanTask),
    /// Edit the plan document in $VISUAL or $EDITOR, or replace it with a file
    Edit {
        #[command(flatten)]
        task: PlanTask,
        /// Take the document from this file; `-` reads standard input
        #[arg(short, long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Send a plan back with a reason, which the model reads when the task goes on
    Reject {
        #[command(flatten)]
        task: PlanTask,
        /// What is wrong with it
        #[arg(short, long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let a failed step be tried again
    Retry(PlanTask),
    /// Leave out the failed step, or the next one
    Skip(PlanTask),
    /// End a plan where it is; the task can go on without it
    Stop(PlanTask),
}

#[derive(Debug, Args)]
pub struct PlanTask {
    /// Number, id, or the start of an id; without one, the newest task of this folder
    #[arg(default_value = "latest", hide_default_value = true)]
    pub task: String,
    #[arg(long)]
    pub json: bool,
}
