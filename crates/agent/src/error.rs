//! What can go wrong between a door and the engine.

use stepwell_protocol::{ErrorKind, ErrorReport, TaskId, TerminalId};
use stepwell_tool_runtime::near_names;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] stepwell_store::Error),
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
    #[error(transparent)]
    Model(#[from] stepwell_llm::Error),
    #[error("task `{task}` is not open here")]
    NotOpen { task: TaskId },
    #[error("task `{task}` is working; wait for it or cancel it first")]
    Working { task: TaskId },
    #[error("there is no open request `{id}` in task `{task}`")]
    NoSuchRequest { task: TaskId, id: String },
    #[error("there is no background command {process_id} in this workspace")]
    NoSuchProcess { process_id: u32 },
    #[error("there is no terminal `{terminal}` on this connection")]
    NoSuchTerminal { terminal: TerminalId },
    #[error("{most} terminals are open; close one first")]
    TooManyTerminals { most: usize },
    #[error("`{}` has no checkpoints; they are made in the folder an agent works in, before each change", folder.display())]
    NoCheckpoints { folder: std::path::PathBuf },
    #[error("checkpoint {checkpoint} belongs to no conversation; restore the files alone")]
    NoConversation { checkpoint: u64 },
    #[error("nothing of task `{task}` is condensed")]
    NothingCondensed { task: TaskId },
    #[error("unknown mode `{mode}`; known: {known}")]
    UnknownMode { mode: String, known: String },
    #[error("{what} is not possible in this version")]
    Unsupported { what: &'static str },
    #[error("{message}")]
    Plan { message: String, hint: Option<String> },
    #[error("{message}")]
    Setup { message: String, hint: Option<String> },
}

/// A task of the runtime that broke off, which is a bug.
pub(crate) fn broken(error: tokio::task::JoinError) -> Error {
    Error::Setup { message: format!("a part of Stepwell broke off: {error}"), hint: None }
}

impl Error {
    pub fn report(&self) -> ErrorReport {
        let (kind, hint) = match self {
            Self::Store(error) => (ErrorKind::Store, error.hint().map(str::to_owned)),
            Self::Workspace(error) => (ErrorKind::Store, error.hint().map(str::to_owned)),
            Self::Model(error) => return error.report(),
            Self::Setup { hint, .. } => (ErrorKind::Internal, hint.clone()),
            Self::Plan { hint, .. } => (ErrorKind::Rejected, hint.clone()),
            Self::UnknownMode { mode, known } => {
                let near = near_names(mode, known.split(", "));
                let hint = near.first().map(|name| format!("did you mean `{name}`?"));
                (ErrorKind::Rejected, hint)
            }
            Self::NotOpen { .. }
            | Self::Working { .. }
            | Self::NoSuchRequest { .. }
            | Self::NoSuchProcess { .. }
            | Self::NoSuchTerminal { .. }
            | Self::TooManyTerminals { .. }
            | Self::NoCheckpoints { .. }
            | Self::NothingCondensed { .. }
            | Self::NoConversation { .. } => (ErrorKind::Rejected, None),
            Self::Unsupported { .. } => (ErrorKind::Unsupported, None),
        };
        ErrorReport { kind, message: self.to_string(), hint }
    }
}
