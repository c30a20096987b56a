//! What can go wrong between a question about a program and its answer.

use std::time::Duration;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the adapter refused `{command}`: {reason}")]
    Refused { command: String, reason: String },
    #[error("the adapter did not answer `{command}` within {waited:?}")]
    NoAnswer { command: String, waited: Duration },
    #[error("`{command}` was not answered: {reason}")]
    Closed { command: String, reason: String },
    #[error("the adapter does not read what it is sent; `{command}` was not asked")]
    NotReading { command: String },
    #[error("the adapter's answer has {length} bytes, which is too much")]
    TooLong { length: u64 },
    #[error("the answer to `{command}` cannot be understood: {source}")]
    Answer { command: String, source: serde_json::Error },
    #[error("{adapter} cannot be used: {reason}")]
    NoAdapter { adapter: String, reason: String, hint: String },
    #[error("{reason}")]
    Launch { reason: String, hint: Option<String> },
    #[error("there is no session `{id}`")]
    NoSession { id: crate::ids::SessionId, hint: String },
    #[error("there is no session")]
    NoSessionAtAll,
    #[error("{what}")]
    State { what: String, hint: String },
    #[error("{what}")]
    Expired { what: String, hint: String },
    #[error("{what}")]
    Parameter { what: String, hint: Option<String> },
    #[error("{adapter} cannot {what}")]
    Unable { adapter: String, what: String, hint: Option<String> },
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
}

impl Error {
    pub fn parameter(what: impl Into<String>) -> Self {
        Self::Parameter { what: what.into(), hint: None }
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NoAdapter { hint, .. }
            | Self::NoSession { hint, .. }
            | Self::State { hint, .. }
            | Self::Expired { hint, .. } => Some(hint),
            Self::Launch { hint, .. } | Self::Parameter { hint, .. } | Self::Unable { hint, .. } => {
                hint.as_deref()
            }
            Self::NoSessionAtAll => Some("start one with `start_debugging`"),
            Self::NoAnswer { .. } => Some(
                "the program may be running: `pause_debugging` stops it; `stop_debugging` ends the session",
            ),
            _ => None,
        }
    }
}
