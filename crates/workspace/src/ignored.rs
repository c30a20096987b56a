//! What git ignores, folder by folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::patterns;

/// Folders that programs make again; nobody misses them in a snapshot.
const MADE_AGAIN: &[&str] = &["node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache"];

/// The ignore files of a folder and of those above it.
#[derive(Debug)]
pub(crate) struct Ignores {
    rules: Gitignore,
    /// The folder the rules are relative to.
    folder: PathBuf,
    above: Option<Arc<Ignores>>,
}

impl Ignores {
    /// The rules of a folder's own ignore file, above those that hold already.
    pub(crate) fn below(above: Option<Arc<Self>>, folder: &Path, text: &str) -> Option<Arc<Self>> {
        let mut builder = GitignoreBuilder::new("");
        for line in patterns::lines(text) {
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

/// The files that hold rules in a folder; those of the later one are stronger.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules that hold for the folders of a walk, each read when it is first needed. The walker of the `ignore` crate reads
/// ignore files itself, without bounds.
#[derive(Debug)]
pub(crate) struct WalkIgnores {
    top: PathBuf,
    known: RwLock<HashMap<PathBuf, Option<Arc<Ignores>>>>,
}

impl WalkIgnores {
    pub(crate) fn new(top: &Path) -> Self {
        Self { top: top.to_path_buf(), known: RwLock::default() }
    }

    /// Whether a path below the top is ignored; its folder is not.
    pub(crate) fn covers(&self, path: &Path, is_folder: bool) -> bool {
        let rules = path.parent().and_then(|folder| self.rules_of(folder));
        rules.is_some_and(|rules| rules.covers(path, is_folder))
    }

    fn rules_of(&self, folder: &Path) -> Option<Arc<Ignores>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.get(folder) {
            return rules.clone();
        }
        drop(known);
        let above = match folder.parent() {
            Some(parent) if folder.starts_with(&self.top) && folder != self.top => self.rules_of(parent),
            _ => rules_above(folder),
        };
        let rules = rules_in(above, folder);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(folder.to_path_buf(), rules.clone());
        rules
    }
}

/// The rules of the folders above one, from its repository on.
fn rules_above(folder: &Path) -> Option<Arc<Ignores>> {
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists());
    let mut above: Vec<&Path> = folder.ancestors().skip(1).collect();
    if let Some(repository) = repository {
        above.retain(|ancestor| ancestor.starts_with(repository));
    }
    let excluded = repository.and_then(|repository| {
        Some((repository, patterns::read_ignore_file(&repository.join(".git/info/exclude"))?))
    });
    let first = excluded.and_then(|(repository, text)| Ignores::below(None, repository, &text));
    above.into_iter().rev().fold(first, rules_in)
}

fn rules_in(above: Option<Arc<Ignores>>, folder: &Path) -> Option<Arc<Ignores>> {
    IGNORE_FILES.iter().fold(above, |above, name| match patterns::read_ignore_file(&folder.join(name)) {
        Some(text) => Ignores::below(above, folder, &text),
        None => above,
    })
}

pub(crate) fn is_ignored(ignores: Option<&Arc<Ignores>>, path: &Path, is_folder: bool) -> bool {
    let made_again = is_folder
        && path.file_name().and_then(|name| name.to_str()).is_some_and(|name| MADE_AGAIN.contains(&name));
    made_again || ignores.is_some_and(|ignores| ignores.covers(path, is_folder))
}
