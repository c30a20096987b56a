//! What keeps a command from being confined.

use std::path::PathBuf;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{}` cannot be a folder that commands write to: {reason}", path.display())]
    Writable { path: PathBuf, reason: &'static str },
    #[error("commands cannot be kept from changing `{}`: this machine offers no mount namespaces", path.display())]
    NotReadOnly { path: PathBuf },
    #[error("`{}` is to be hidden, but the folder `{}` that commands work in lies in it", hidden.display(), writable.display())]
    HiddenAround { hidden: PathBuf, writable: PathBuf },
    #[error("{count} files and folders are to be hidden from a command, {most} is the most")]
    TooManyHidden { count: usize, most: usize },
    #[error("the ignore file `{}` cannot be used: {problem}", path.display())]
    IgnoreFile { path: PathBuf, problem: String },
    #[error("`{}` has more than {most} files, too many to look for those its ignore file hides", root.display())]
    IgnoredTooMany { root: PathBuf, most: usize },
    #[error("the sandbox cannot be described to its launcher: {0}")]
    Plan(String),
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
    #[error("the proxy of the sandbox cannot be started: {0}")]
    Proxy(#[source] std::io::Error),
    #[error("the sandbox cannot be opened: {0}")]
    Open(String),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Writable { .. } => Some("work in a folder of your own, such as the project's"),
            Self::NotReadOnly { .. } => Some("switch to a mode that may edit, or work outside /tmp"),
            Self::HiddenAround { .. } => Some("hide less in the settings, or work elsewhere"),
            Self::IgnoreFile { .. } => Some("correct the line; the rules are those of .gitignore"),
            Self::TooManyHidden { .. } | Self::IgnoredTooMany { .. } => {
                Some("hide whole folders instead of single files in .stepwellignore")
            }
            Self::Plan(_) => Some("rename files whose names are extremely long, or hide fewer"),
            Self::Workspace(error) => error.hint(),
            Self::Open(_) => Some("`stepwell sandbox status` shows what this machine offers"),
            Self::Proxy(_) => Some("check that Stepwell's data folder can be written"),
        }
    }
}
