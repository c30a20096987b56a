//! What git ignores, folder by folder, for a walk that must also see ignored files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Folders that programs make again; nobody misses them in a snapshot.
const MADE_AGAIN: &[&str] = &["node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache"];

/// The ignore files of a folder and of those above it.
#[derive(Debug)]
pub(super) struct Ignores {
    rules: Gitignore,
    /// The folder the rules are relative to.
    folder: PathBuf,
    above: Option<Arc<Ignores>>,
}

impl Ignores {
    /// The rules of a folder's own ignore file, above those that hold already.
    pub(super) fn below(above: Option<Arc<Self>>, folder: &Path, text: &str) -> Option<Arc<Self>> {
        let mut builder = GitignoreBuilder::new("");
        for line in text.lines() {
            // A line that is no pattern is passed over, as git does.
            builder.add_line(None, line).ok();
        }
        match builder.build() {
            Ok(rules) if !rules.is_empty() => {
                Some(Arc::new(Self { rules, folder: folder.to_path_buf(), above }))
            }
            _ => above,
        }
    }

    fn covers(&self, path: &Path, is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(current) = rules {
            let relative = path.strip_prefix(&current.folder).unwrap_or(path);
            match current.rules.matched(relative, is_folder) {
                ignore::Match::Ignore(_) => return true,
                ignore::Match::Whitelist(_) => return false,
                ignore::Match::None => rules = current.above.as_deref(),
            }
        }
        false
    }
}

pub(super) fn is_ignored(ignores: Option<&Arc<Ignores>>, path: &Path, is_folder: bool) -> bool {
    let made_again = is_folder
        && path.file_name().and_then(|name| name.to_str()).is_some_and(|name| MADE_AGAIN.contains(&name));
    made_again || ignores.is_some_and(|ignores| ignores.covers(path, is_folder))
}
