//! Finding entries by their names.

use std::path::PathBuf;
use std::time::SystemTime;

use globset::GlobMatcher;

use super::{IsCancelled, WalkRules, bad_pattern, by_path};
use crate::{EntryKind, Inside, Result, Workspace};

/// What is looked for.
#[derive(Clone, Debug)]
pub struct NameQuery {
    /// `*.rs`, `src/**/*.{ts,tsx}`. A pattern without a slash holds for names in every folder.
    pub pattern: String,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Relative to the folder that was searched.
    pub path: PathBuf,
    pub modified: Option<SystemTime>,
}

#[derive(Clone, Debug, Default)]
pub struct FoundFiles {
    /// The newest first.
    pub files: Vec<Found>,
    pub total: usize,
    /// The walk was stopped before its end.
    pub is_cut: bool,
}

impl Workspace {
    /// Files whose path matches, the most recently changed first.
    pub fn find_files(
        &self,
        place: &Inside,
        query: &NameQuery,
        rules: &WalkRules,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<FoundFiles> {
        let matcher = matcher(&query.pattern)?;
        let (found, is_cut) = self.walk(place, rules, is_cancelled, Vec::new, |found, entry, path| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            if !is_folder && matcher.is_match(path) {
                let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                found.push(Found { path: path.to_path_buf(), modified });
            }
        })?;
        let mut files: Vec<Found> = found.into_iter().flatten().collect();
        let total = files.len();
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| by_path(&a.path, &b.path)));
        files.truncate(query.limit);
        Ok(FoundFiles { files, total, is_cut })
    }

    /// Everything in a folder, by path, without sizes; at most `limit` entries.
    pub(crate) fn entries(
        &self,
        place: &Inside,
        rules: &WalkRules,
        limit: usize,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<(Vec<(PathBuf, EntryKind)>, bool)> {
        let first = || First { entries: Vec::new(), limit, bound: None, total: 0 };
        let (found, is_cut) = self.walk(place, rules, is_cancelled, first, |first, entry, path| {
            first.total += 1;
            if first.bound.as_deref().is_some_and(|bound| path > bound) {
                return;
            }
            let kind = match entry.file_type() {
                Some(kind) if kind.is_dir() => EntryKind::Folder,
                Some(kind) if kind.is_symlink() => EntryKind::Link,
                Some(kind) if kind.is_file() => EntryKind::File { bytes: 0 },
                _ => EntryKind::Other,
            };
            first.entries.push((path.to_path_buf(), kind));
            if first.entries.len() >= 2 * limit + MOST_SPARE {
                first.cut();
            }
        })?;
        let total: usize = found.iter().map(|first| first.total).sum();
        let mut entries: Vec<(PathBuf, EntryKind)> =
            found.into_iter().flat_map(|first| first.entries).collect();
        entries.sort_unstable_by(|left, right| by_path(&left.0, &right.0));
        entries.truncate(limit);
        Ok((entries, is_cut || total > limit))
    }
}

/// Entries a thread keeps beyond what is wanted before it looks which ones that are.
const MOST_SPARE: usize = 1000;

/// The first entries by path that a thread has seen.
struct First {
    entries: Vec<(PathBuf, EntryKind)>,
    limit: usize,
    /// What comes behind it is not among the first.
    bound: Option<PathBuf>,
    total: usize,
}

impl First {
    fn cut(&mut self) {
        if let Some(last) = self.limit.checked_sub(1) {
            let (_, last, _) =
                self.entries.select_nth_unstable_by(last, |left, right| by_path(&left.0, &right.0));
            self.bound = Some(last.0.clone());
        }
        self.entries.truncate(self.limit);
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher> {
    crate::patterns::glob(pattern).map_err(|problem| bad_pattern(pattern, &problem))
}
