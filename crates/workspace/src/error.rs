//! What can go wrong with a file or a process, with the path and what to do.

use std::io;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot {action} `{path}`: {source}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot {action} `{path}`: the disk is full")]
    DiskFull { action: &'static str, path: PathBuf },
    #[error("cannot {action} `{path}`: the file system is read-only")]
    ReadOnly { action: &'static str, path: PathBuf },
    #[error("`{path}` does not exist")]
    NotFound { path: PathBuf },
    #[error("no permission to {action} `{path}`")]
    Denied { action: &'static str, path: PathBuf },
    #[error("`{path}` lies outside the workspace")]
    OutsideWorkspace { path: PathBuf },
    #[error("`{path}` leads outside the workspace through a symbolic link")]
    LinkOutside { path: PathBuf },
    #[error("`{path}` is hidden by {by}")]
    Hidden { path: PathBuf, by: String },
    #[error("`{pattern}` cannot be searched for: {problem}")]
    BadPattern { pattern: String, problem: String },
    #[error("`{path}` is no path: {reason}")]
    BadPath { path: PathBuf, reason: &'static str },
    #[error("`{path}` is a folder")]
    IsAFolder { path: PathBuf },
    #[error("`{path}` is no folder")]
    NotAFolder { path: PathBuf },
    #[error("`{path}` is {kind}, not a regular file")]
    NotAFile { path: PathBuf, kind: &'static str },
    #[error("`{path}` has {bytes} bytes; the limit is {limit}")]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("`{path}` is not text")]
    Binary { path: PathBuf },
    #[error("the archive is refused: {reason}")]
    BadArchive { reason: String },
    #[error("git is not run in `{path}`: {reason}")]
    Repository { path: PathBuf, reason: String },
    #[error("cannot start `{program}`: {source}")]
    Spawn { program: String, source: io::Error },
}

impl Error {
    /// Sorts an I/O error by what the person can do about it.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::PermissionDenied => Self::Denied { action, path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { action, path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { action, path },
            io::ErrorKind::IsADirectory => Self::IsAFolder { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            _ => Self::Io { action, path, source },
        }
    }

    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// What to do next, where that can be said.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::DiskFull { .. } => Some("free some space and run the same command again; nothing was lost"),
            Self::ReadOnly { .. } => {
                Some("make the file system writable, or set STEPWELL_HOME to a folder that is")
            }
            Self::Denied { .. } => Some("check the owner and mode of the path"),
            Self::Hidden { .. } => Some("the person keeps it from you; go on without it"),
            Self::BadPattern { .. } => Some("mend the pattern, or search for plain text instead"),
            Self::OutsideWorkspace { .. } | Self::LinkOutside { .. } => {
                Some("only paths in the workspace may be used")
            }
            Self::Spawn { .. } => Some("check that the program is installed and on the PATH"),
            Self::Repository { .. } => Some("look at the repository's `.git/config` and hooks"),
            Self::Io { .. }
            | Self::NotFound { .. }
            | Self::BadPath { .. }
            | Self::IsAFolder { .. }
            | Self::NotAFolder { .. }
            | Self::NotAFile { .. }
            | Self::TooLarge { .. }
            | Self::Binary { .. }
            | Self::BadArchive { .. } => None,
        }
    }
}
