//! The command line of `stepwell index`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct IndexArgs {
    #[command(subcommand)]
    pub command: IndexCommand,
    /// Give JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// The folder to look at
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Read what changed, or everything
    Build {
        /// Forget what is known and read every file
        #[arg(long)]
        fresh: bool,
    },
    /// Say what the index holds and what it leaves out
    Status,
    /// Where a name is defined
    Def(IndexTarget),
    /// Where a name is used
    Refs(IndexTarget),
    /// Who calls a function, and whom it calls
    Calls {
        #[command(flatten)]
        target: IndexTarget,
        #[arg(long, value_enum, default_value_t = CallsArg::Callers)]
        direction: CallsArg,
        /// Steps from the function
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
        depth: u32,
        #[arg(long, value_enum, default_value_t = GraphArg::Text)]
        format: GraphArg,
    },
    /// What files import from each other
    Deps {
        /// Only this file
        file: Option<String>,
        #[arg(long, value_enum, default_value_t = GraphArg::Text)]
        format: GraphArg,
    },
    /// What a file defines
    Symbols {
        file: String,
        /// Only these kinds, such as `function` or `class` (may be given several times)
        #[arg(long, value_name = "KIND")]
        kind: Vec<String>,
    },
    /// Find code by what it is about
    Search {
        #[arg(required = true)]
        words: Vec<String>,
        /// Results at most
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
        /// A file at hand, as often as wanted: what is near it comes first
        #[arg(long, value_name = "FILE")]
        near: Vec<String>,
    },
    /// The most important symbols of every file, within a number of tokens
    Map {
        /// About how many tokens it may have
        #[arg(long, default_value_t = 2000, value_name = "N")]
        tokens: usize,
    },
    /// Answer questions from standard input, one JSON object a line
    Serve {
        /// One question and one answer a line; there is no other form
        #[arg(long, required = true)]
        jsonl: bool,
        /// Only files of this language, such as `python`
        language: Option<String>,
        /// The folder to look at, instead of --cwd
        root: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct IndexTarget {
    /// A name, `Type.member`, FILE:LINE:COLUMN, or FILE:LINE for what the line defines
    pub target: String,
    /// Who answers; `lsp` is a language server of the machine, where the settings allow one
    #[arg(long, value_enum, default_value_t = SourceArg::Index)]
    pub source: SourceArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    Index,
    Lsp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CallsArg {
    Callers,
    Callees,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphArg {
    Text,
    Json,
    Mermaid,
    Dot,
}
