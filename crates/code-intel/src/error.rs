//! Errors of the index.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
    #[error("the code index `{}` cannot be used: {source}", path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
    #[error("`{path}` is not in the code index: {reason}")]
    NotIndexed { path: String, reason: String },
    #[error("`{path}` has no name at line {line}, column {column}")]
    NoName { path: String, line: u32, column: u32 },
    #[error("{what}; {near}")]
    NotThere { what: String, near: String },
    #[error("`{question}` has no word that could be searched for")]
    NoWords { question: String },
    #[error("the index was not finished: it was cancelled")]
    Cancelled,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
