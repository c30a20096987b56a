//! Finding entries by their names.

use std::path::PathBuf;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};

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
        let (found, is_cut) = self.walk(place, rules, is_cancelled, Vec::new, |found, entry, path| {
            let kind = match entry.file_type() {
                Some(kind) if kind.is_dir() => EntryKind::Folder,
                Some(kind) if kind.is_symlink() => EntryKind::Link,
                Some(kind) if kind.is_file() => EntryKind::File { bytes: 0 },
                _ => EntryKind::Other,
            };
            found.push((path.to_path_buf(), kind));
        })?;
        let mut entries: Vec<(PathBuf, EntryKind)> = found.into_iter().flatten().collect();
        let more = is_cut || entries.len() > limit;
        if entries.len() > limit {
            // The first ones by path are wanted, in order; the rest need no order.
            entries.select_nth_unstable_by(limit, |left, right| by_path(&left.0, &right.0));
            entries.truncate(limit);
        }
        entries.sort_unstable_by(|left, right| by_path(&left.0, &right.0));
        Ok((entries, more))
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let everywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&everywhere).literal_separator(true).backslash_escape(true).build();
    Ok(glob.map_err(|error| bad_pattern(pattern, &error))?.compile_matcher())
}
