//! What can go wrong between a door and the engine.

use stepwell_protocol::{ErrorKind, ErrorReport, TaskId};

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
    #[error("unknown mode `{mode}`; known: {known}")]
    UnknownMode { mode: String, known: String },
    #[error("{message}")]
    Setup { message: String, hint: Option<String> },
}

impl Error {
    pub fn report(&self) -> ErrorReport {
        let (kind, hint) = match self {
            Self::Store(error) => (ErrorKind::Store, error.hint().map(str::to_owned)),
            Self::Workspace(error) => (ErrorKind::Store, error.hint().map(str::to_owned)),
            Self::Model(error) => return error.report(),
            Self::Setup { hint, .. } => (ErrorKind::Internal, hint.clone()),
            Self::NotOpen { .. }
            | Self::Working { .. }
            | Self::NoSuchRequest { .. }
            | Self::UnknownMode { .. } => (ErrorKind::Internal, None),
        };
        ErrorReport { kind, message: self.to_string(), hint }
    }
}
