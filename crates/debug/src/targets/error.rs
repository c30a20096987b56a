//! Why something cannot be debugged, and what to name instead.

use crate::launch_config::LaunchError;

pub type Result<T> = std::result::Result<T, TargetError>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
    #[error("no command is given")]
    Empty,
    #[error("`{line}` has a quote that is not closed")]
    OpenQuote { line: String },
    #[error("`{line}` is a line for a shell: `{operator}` joins several commands")]
    ShellLine { line: String, operator: String },
    #[error("there is no program `{program}`")]
    NotFound { program: String },
    #[error("`{program}` is not run: it lies in this folder, which is not trusted")]
    Untrusted { program: String },
    #[error("`{what}` cannot be debugged: {reason}")]
    NotDebuggable { what: String, reason: String },
    #[error("{what} could be several: {}", choices.join(", "))]
    Ambiguous { what: String, choices: Vec<String> },
    #[error("the build made no program to debug{detail}")]
    NothingBuilt { detail: String },
}

impl TargetError {
    pub(super) fn not_debuggable(what: &str, reason: &str) -> Self {
        Self::NotDebuggable { what: what.to_owned(), reason: reason.to_owned() }
    }

    /// What to do next, where that can be said.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Launch(error) => return error.hint(),
            Self::Workspace(error) => return error.hint(),
            Self::Empty => "name a program, a test or a command to debug",
            Self::OpenQuote { .. } => "close the quote",
            Self::ShellLine { .. } => "name the one command to debug, without pipes and redirections",
            Self::NotFound { .. } => "check the spelling, or give the path of the program",
            Self::Untrusted { .. } => {
                "look at it and run `stepwell config trust`, or name the program by its path"
            }
            Self::NotDebuggable { .. } => return None,
            Self::Ambiguous { .. } => "name one of them",
            Self::NothingBuilt { .. } => "check the names and filters of the command",
        })
    }
}
