//! Arguments of `stepwell tasks`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum TasksCommand {
    /// List tasks, the newest first
    #[command(visible_alias = "ls")]
    List(TasksListArgs),
    /// Show a task as the person saw it
    Show {
        /// Number, id, or the start of an id; `latest` for the newest of this folder
        task: String,
        /// Only the last N entries
        #[arg(long, value_name = "N")]
        tail: Option<usize>,
        /// Name each message by its id, for `tasks edit`, `tasks fork` and `run --fork`
        #[arg(long)]
        ids: bool,
        /// Print everything at once, also on a terminal
        #[arg(long)]
        no_pager: bool,
        #[arg(long)]
        json: bool,
    },
    /// Say a message of a task anew, and go on from there
    Edit(TasksEditArgs),
    /// Find tasks by what was said in them
    Search {
        text: Vec<String>,
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u32,
        #[arg(long)]
        json: bool,
    },
    /// Write a task to a file others can read
    Export {
        task: String,
        /// Format; taken from the file name when not given
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: Option<ExportFormat>,
        /// File (a folder for `roo`); standard output when not given
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
    },
    /// Make a task of an exported one (JSON, or a Roo-Code task folder)
    Import {
        path: PathBuf,
        #[arg(long)]
        json: bool,
    },
    /// Delete tasks for good
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true)]
        tasks: Vec<String>,
        /// Do not ask; needed where there is no terminal to ask on
        #[arg(short, long)]
        yes: bool,
    },
    /// Copy a task, whole or up to a message
    Fork {
        task: String,
        /// The last message to copy
        #[arg(long, value_name = "MESSAGE")]
        message: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Give a task another title
    Rename { task: String, title: String },
    /// Mark a task as a favourite, or take the mark away
    Favourite {
        task: String,
        #[arg(long)]
        off: bool,
    },
    /// Show what was seen before and after the changes of a task
    Evidence {
        /// Number, id, or the start of an id; `latest` for the newest of this folder
        task: String,
        #[arg(long, value_enum, default_value_t = EvidenceFormat::Text, value_name = "FORMAT")]
        format: EvidenceFormat,
    },
    /// List the files that a task exported
    Artifacts {
        /// Number, id, or the start of an id; `latest` for the newest of this folder
        task: String,
        #[arg(long)]
        json: bool,
    },
    /// Make what the model is sent of a task shorter; the task itself stays whole
    Condense {
        /// Number, id, or the start of an id; `latest` for the newest of this folder
        task: String,
        /// Send what the last condensing left out again
        #[arg(long)]
        undo: bool,
    },
    /// Go on with what is whole of a damaged task; the rest is kept beside it
    Repair { task: String },
    /// Build the search index anew from the logs
    RebuildIndex,
}

#[derive(Debug, Args)]
pub struct TasksEditArgs {
    /// Number, id, or the start of an id; `latest` for the newest of this folder
    pub task: String,
    /// The id of the message, or its start; `tasks show --ids` lists them
    pub message: String,
    /// The new words; standard input when none are given
    pub prompt: Vec<String>,
}

impl TasksEditArgs {
    /// The run that does it.
    pub fn into_run(self) -> Vec<String> {
        let words = ["stepwell", "run", "--resume", &self.task, "--edit", &self.message, "--"];
        words.iter().map(|word| (*word).to_owned()).chain(self.prompt).collect()
    }
}

#[derive(Debug, Args)]
pub struct TasksListArgs {
    /// Tasks of every folder, not only of this one
    #[arg(short, long)]
    pub all: bool,
    #[arg(long)]
    pub favourites: bool,
    #[arg(long, value_enum, default_value_t = TaskSort::Updated, value_name = "ORDER")]
    pub sort: TaskSort,
    #[arg(short = 'n', long, default_value_t = 30, value_name = "N")]
    pub limit: u32,
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TaskSort {
    Updated,
    Created,
    Cost,
    Tokens,
    Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Versioned JSON that can be imported again
    Json,
    /// Markdown to read
    Markdown,
    /// A task folder in Roo-Code's layout
    Roo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceFormat {
    /// To read in a terminal
    Text,
    /// To paste into a review
    Markdown,
    Json,
}
