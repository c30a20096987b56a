//! The part of the workspace that a question is about.

use stepwell_code_intel::Result;
use stepwell_code_intel::index::Index;

/// A folder or a file, relative to the workspace.
pub struct Below {
    path: String,
}

impl Below {
    /// The place a model names; refuses one outside the workspace.
    pub fn named(index: &Index, path: &str) -> Result<Self> {
        let place = index.workspace().place(if path.trim().is_empty() { "." } else { path })?;
        let path = place.relative().to_string_lossy().replace('\\', "/");
        Ok(Self { path: if path == "." { String::new() } else { path } })
    }

    /// Whether a file is it or lies in it.
    pub fn has(&self, file: &str) -> bool {
        self.path.is_empty()
            || file.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether a file lies in it and in none of its subfolders.
    pub fn has_directly(&self, file: &str) -> bool {
        let rest =
            if self.path.is_empty() { Some(file) } else { file.strip_prefix(&format!("{}/", self.path)) };
        rest.is_some_and(|rest| !rest.contains('/'))
    }
}
