//! `stepwell skills` and `stepwell commands`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum CommandsCommand {
    /// List the commands of this folder and your own
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show one command: its text and where it comes from
    Show {
        /// The command, with or without the slash
        command: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// List the skills of this folder and your own
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show one skill as the agent loads it
    Show {
        /// The skill, as `stepwell skills list` names it
        skill: String,
        #[arg(long)]
        json: bool,
    },
    /// Check a skill against the Agent Skills specification
    Validate {
        /// The folder of its SKILL.md
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Also refuse what only Stepwell understands
        #[arg(long)]
        strict: bool,
        #[arg(long)]
        json: bool,
    },
    /// Install a skill from a folder, `owner/repo` or an https address
    Install {
        /// The folder, `owner/repo` or https address
        source: String,
        /// Which skill, where the source has several
        #[arg(long)]
        skill: Option<String>,
        /// For this project, or for all of yours
        #[arg(long, value_enum, default_value_t = SkillLocation::Project)]
        location: SkillLocation,
        /// The branch to take instead of the default one
        #[arg(long)]
        branch: Option<String>,
        /// Do not ask after showing what would be installed
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove a skill that was installed
    Remove {
        /// The skill, as `stepwell skills list` names it
        skill: String,
    },
}

/// Where a skill is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SkillLocation {
    Project,
    Global,
}
