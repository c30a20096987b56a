//! What is wrong with a file that describes modes or sub-agents.

use std::path::PathBuf;

/// A fault of a file. What it concerns is left out; the rest of the file is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    pub file: PathBuf,
    /// Counted from 1, where the place is known.
    pub line: Option<usize>,
    pub message: String,
}

impl std::fmt::Display for FileProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.message),
            None => write!(f, "{}: {}", self.file.display(), self.message),
        }
    }
}
