//! Listing folders of the workspace, without what git ignores, within bounds.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::ignored::WalkIgnores;
use crate::search::{IsCancelled, WalkRules};
use crate::{Inside, Result, Workspace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Folder,
    File {
        bytes: u64,
    },
    /// A symbolic link, not followed.
    Link,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the folder that was listed.
    pub path: PathBuf,
    pub kind: EntryKind,
}

#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Whether there was more than the limit.
    pub more: bool,
}

impl Workspace {
    /// Lists a folder. Symbolic links are shown and not followed, so the walk stays beneath the root.
    pub fn list(
        &self,
        place: &Inside,
        rules: &WalkRules,
        limit: usize,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Listing> {
        let (entries, more) = self.entries(place, rules, limit, is_cancelled)?;
        // Only what is shown is looked at closely.
        let entries = entries.into_iter().map(|(path, kind)| {
            let kind = match kind {
                EntryKind::File { .. } => {
                    let metadata = std::fs::symlink_metadata(place.absolute().join(&path));
                    EntryKind::File { bytes: metadata.map_or(0, |metadata| metadata.len()) }
                }
                kind => kind,
            };
            Entry { path, kind }
        });
        Ok(Listing { entries: entries.collect(), more })
    }

    /// Files whose name is like that of a path that does not exist, best first, at most three.
    pub fn similar_files(&self, missing: &Inside) -> Vec<String> {
        const LOOK_AT: usize = 20_000;
        let Some(name) = missing.relative().file_name().map(|name| name.to_string_lossy().to_lowercase())
        else {
            return Vec::new();
        };
        let mut found: Vec<(usize, String)> = Vec::new();
        let Ok(root) = self.place(".") else { return Vec::new() };
        for entry in walker(self.root()).build().take(LOOK_AT).flatten() {
            let is_hidden = || {
                let relative = entry.path().strip_prefix(self.root());
                relative.is_ok_and(|relative| self.hidden(&root).by(relative).is_some())
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) || is_hidden() {
                continue;
            }
            let candidate = entry.file_name().to_string_lossy().to_lowercase();
            let Some(distance) = distance(&name, &candidate) else { continue };
            if let Ok(relative) = entry.path().strip_prefix(self.root()) {
                found.push((distance, relative.display().to_string()));
            }
        }
        found.sort();
        found.truncate(3);
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// What to tell about a path that does not exist.
    pub fn not_found_help(&self, missing: &Inside) -> String {
        match self.similar_files(missing).as_slice() {
            [] => "list the folder or search for the file by name".to_owned(),
            similar => format!("similar files: {}", similar.join(", ")),
        }
    }

    /// The same for a folder: the nearest one above it that there is.
    pub fn missing_folder_help(&self, missing: &Inside) -> String {
        let above = missing.absolute().ancestors().skip(1).find_map(|path| {
            let place = self.place(&path.to_string_lossy()).ok()?;
            self.open_folder(&place).is_ok().then(|| place.display())
        });
        format!("list `{}` to see which folders there are", above.unwrap_or_else(|| ".".to_owned()))
    }
}

fn walker(folder: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(folder);
    let ignores = WalkIgnores::new(folder);
    builder.standard_filters(false).follow_links(false).sort_by_file_name(std::cmp::Ord::cmp).filter_entry(
        move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.file_name() != ".git" && (entry.depth() == 0 || !ignores.covers(entry.path(), is_folder))
        },
    );
    builder
}

/// How far two names are apart: 0 the same, 1 the same but for the ending, more by differing characters;
/// `None` for too far.
fn distance(wanted: &str, candidate: &str) -> Option<usize> {
    if wanted == candidate {
        return Some(0);
    }
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    if stem(wanted) == stem(candidate) {
        return Some(1);
    }
    let (left, right): (Vec<char>, Vec<char>) = (wanted.chars().collect(), candidate.chars().collect());
    let allowed = left.len().max(right.len()) / 3;
    if left.len().abs_diff(right.len()) > allowed {
        return None;
    }
    let prefix = left.iter().zip(&right).take_while(|(one, other)| one == other).count();
    let suffix =
        left[prefix..].iter().rev().zip(right[prefix..].iter().rev()).take_while(|(a, b)| a == b).count();
    let differing = left.len().max(right.len()) - prefix - suffix;
    (differing <= allowed).then_some(1 + differing)
}
