//! What can go wrong with stored tasks, and what to do about it.

use std::path::PathBuf;

use stepwell_protocol::{MessageId, TaskId};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("`{name}`: {reason}")]
    Variable { name: String, reason: &'static str },
    #[error(transparent)]
    Files(#[from] stepwell_workspace::Error),

    // ---- which task
    #[error("there is no task `{reference}`")]
    UnknownTask { reference: String },
    #[error("`{reference}` could be any of these tasks:\n  {}", .candidates.join("\n  "))]
    /// The candidates are lines to read, at most ten and a word that there are more.
    AmbiguousTask { reference: String, candidates: Vec<String> },
    #[error("`{id}` cannot be a task's id")]
    InvalidTaskId { id: TaskId },
    #[error("the task `{id}` exists already")]
    TaskExists { id: TaskId },
    #[error("the task `{id}` is open in another process{}", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Busy { id: TaskId, pid: Option<u32> },
    #[error("the task `{task}` has no message `{message}`")]
    UnknownMessage { task: TaskId, message: MessageId },

    // ---- the log
    #[error("`{}` holds no complete record", .path.display())]
    NoRecords { path: PathBuf },
    #[error("`{}` is damaged at line {line}: {problem}; {good_records} records before it are whole", .path.display())]
    Damaged { path: PathBuf, line: u64, problem: String, good_records: u64 },
    #[error("`{}` has format {found}; this program reads up to {supported}", .path.display())]
    NewerFormat { path: PathBuf, found: u64, supported: u64 },
    #[error("line {line} of `{}` is whole but holds an event this program does not know: {detail}", .path.display())]
    UnknownEvent { path: PathBuf, line: u64, detail: String },
    #[error("the task's data is damaged: blob `{sha256}` is missing from `{}`", .path.display())]
    BlobMissing { sha256: String, path: PathBuf },
    #[error("the task's data is damaged: the content of blob `{}` is not what was written", .path.display())]
    BlobCorrupt { path: PathBuf },
    #[error("a `{kind}` event is transient and does not belong in the log")]
    TransientEvent { kind: String },
    #[error("an event cannot be written as JSON: {0}")]
    Encode(#[source] serde_json::Error),

    // ---- export and import
    #[error("{subject} is not valid JSON: {detail} (line {line}, column {column})")]
    InvalidJson { subject: String, line: usize, column: usize, detail: String },
    #[error("{subject} has version {found}; this program reads versions 1 to {supported}")]
    SchemaVersion { subject: String, found: String, supported: u64 },
    #[error("{subject} is damaged: {problem}")]
    DataCorruption { subject: String, problem: String },

    // ---- checkpoints
    #[error("there is no checkpoint {id} in this folder")]
    UnknownCheckpoint { id: u64 },
    #[error("`{}` is too large for checkpoints: {reason}", .path.display())]
    TooLargeForCheckpoints { path: PathBuf, reason: String },
    #[error("the checkpoints are damaged: content `{id}` is missing or not what was written")]
    CheckpointContent { id: String },
    #[error("`{}` changed while it was being restored; nothing of it was touched", .path.display())]
    ChangedMeanwhile { path: PathBuf },

    // ---- the index (never reaches a person: the index is rebuilt or bypassed)
    #[error("the task index failed: {0}")]
    Index(#[from] rusqlite::Error),
}

impl Error {
    /// What to do next, where that can be said.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Files(error) => error.hint(),
            Self::UnknownTask { .. } => Some("`stepwell tasks list --all` lists the tasks there are"),
            Self::AmbiguousTask { .. } => Some("give more of the id, or the task's number"),
            Self::InvalidTaskId { .. } => Some("an id has 1 to 64 letters, digits, `-` and `_`"),
            Self::TaskExists { .. } => Some("choose another id"),
            Self::Busy { .. } => Some(
                "`stepwell tasks show TASK` shows how far it is; to go on with it here, end that process first",
            ),
            Self::UnknownMessage { .. } => {
                Some("it may have been taken back; export the task to see its messages")
            }
            Self::NoRecords { .. } => Some(
                "the program ended before the task was created; nothing was acknowledged, delete the folder",
            ),
            Self::Damaged { good_records: 0, .. } => {
                Some("restore the file from a backup; there is no whole record before the damage")
            }
            Self::Damaged { .. } => Some(
                "restore the file from a backup, or go on with the records before the damage: `stepwell tasks repair TASK` (the rest is kept beside the log)",
            ),
            Self::NewerFormat { .. } | Self::UnknownEvent { .. } => {
                Some("a newer Stepwell wrote this task; update Stepwell to open it")
            }
            Self::BlobMissing { .. } | Self::BlobCorrupt { .. } => Some(
                "restore the task's `blobs` folder from a backup, or go on without the lost content: `stepwell tasks repair TASK`",
            ),
            Self::InvalidJson { .. } => Some("check that the file was copied whole and is the exported file"),
            Self::SchemaVersion { .. } => Some("update Stepwell, or export again with the version you have"),
            Self::DataCorruption { .. } => Some("import it again from a backup or a fresh export"),
            Self::UnknownCheckpoint { .. } => Some("`stepwell checkpoints list` lists the ones there are"),
            Self::TooLargeForCheckpoints { .. } => {
                Some("add large folders to .gitignore, or raise `checkpoints.max_disk_mb`")
            }
            Self::CheckpointContent { .. } => Some("that state cannot be restored any more; others can"),
            Self::ChangedMeanwhile { .. } => Some("try it again when nothing else writes there"),
            Self::Variable { .. } => {
                Some("`stepwell env list` shows what is kept; `stepwell env set NAME` sets a value")
            }
            Self::TransientEvent { .. } | Self::Encode(_) | Self::Index(_) => None,
        }
    }

    /// Whether trying again later, with nothing else changed, can succeed.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}
