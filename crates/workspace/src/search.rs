//! Finding files by name and by content, as quickly as the machine can, within bounds.
//!
//! One walk serves all: on several threads, as git sees the tree, without what the person hides. What is found is put
//! into an order afterwards, so that the same question has the same answer.

mod fuzzy;
mod names;
mod survey;
mod text;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::ignored::WalkIgnores;
use crate::{Error, Inside, Result, Workspace, patterns};

pub use names::{Found, FoundFiles, NameQuery};
pub use survey::{Seen, Survey, SurveyedFile};
pub use text::{FileMatches, MatchedLine, TextFound, TextQuery};

/// Entries looked at before a walk gives up.
const LONGEST_WALK: usize = 2_000_000;
/// Entries after which a thread looks whether it should stop.
const LOOK_UP: usize = 64;

/// Which files a walk comes by.
#[derive(Clone, Debug, Default)]
pub struct WalkRules {
    /// `None` for all levels.
    pub depth: Option<usize>,
    /// Also what git ignores. What the person hides stays hidden.
    pub include_ignored: bool,
    /// Only files that match one of these; `!` before a pattern leaves files out.
    pub globs: Vec<String>,
    /// Only files of these kinds, by the names ripgrep has for them: `rust`, `py`, `js`.
    pub types: Vec<String>,
}

/// Whether a search should stop.
pub type IsCancelled<'a> = &'a (dyn Fn() -> bool + Sync);

impl Workspace {
    /// Calls `visit` for everything beneath a folder, on several threads; each has its own state, and all of them
    /// come back. Says whether the walk was cut short.
    fn walk<S: Send>(
        &self,
        place: &Inside,
        rules: &WalkRules,
        is_cancelled: IsCancelled<'_>,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &DirEntry, &Path) + Sync,
    ) -> Result<(Vec<S>, bool)> {
        let folder = self.folder_path(place)?;
        let hidden = self.hidden(place);
        let from_root = place.relative();
        let mut builder = WalkBuilder::new(&folder);
        let wanted = overrides(&folder, &rules.globs)?;
        builder
            .max_depth(rules.depth)
            .standard_filters(false)
            .follow_links(false)
            .overrides(wanted.clone())
            .types(types(&rules.types)?)
            .threads(std::thread::available_parallelism().map_or(1, usize::from).min(8));
        let ignores = (!rules.include_ignored).then(|| WalkIgnores::new(&folder));
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            // What a pattern asks for is found even where git ignores it.
            let is_ignored = || {
                ignores.as_ref().is_some_and(|ignores| ignores.covers(entry.path(), is_folder))
                    && !wanted.matched(entry.path(), is_folder).is_whitelist()
            };
            entry.file_name() != ".git" && (entry.depth() == 0 || !is_ignored())
        });
        let seen = AtomicUsize::new(0);
        let is_cut = AtomicBool::new(false);
        let states = Mutex::new(Vec::new());
        builder.build_parallel().run(|| {
            let mut mine = Collected { state: Some(state()), count: 0, all: &states };
            let (folder, visit, seen, is_cut) = (&folder, &visit, &seen, &is_cut);
            Box::new(move |entry| {
                // What cannot be read is passed over; the rest is found.
                let Ok(entry) = entry else { return WalkState::Continue };
                mine.count += 1;
                // Both cost more than looking at an entry.
                if mine.count % LOOK_UP == 1
                    && (seen.fetch_add(LOOK_UP, Ordering::Relaxed) > LONGEST_WALK || is_cancelled())
                {
                    is_cut.store(true, Ordering::Relaxed);
                    return WalkState::Quit;
                }
                let Ok(relative) = entry.path().strip_prefix(folder) else { return WalkState::Continue };
                if relative.as_os_str().is_empty() {
                    return WalkState::Continue;
                }
                if !hidden.is_empty() && hidden.by(&from_root.join(relative)).is_some() {
                    return WalkState::Skip;
                }
                if let Some(state) = &mut mine.state {
                    visit(state, &entry, relative);
                }
                WalkState::Continue
            })
        });
        let states = states.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((states, is_cut.into_inner()))
    }
}

/// Hands a thread's findings over when the thread is done.
struct Collected<'a, S> {
    state: Option<S>,
    count: usize,
    all: &'a Mutex<Vec<S>>,
}

impl<S> Drop for Collected<'_, S> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(self.state.take());
    }
}

fn overrides(folder: &Path, globs: &[String]) -> Result<Override> {
    let mut builder = OverrideBuilder::new(folder);
    for glob in globs {
        patterns::check(glob).map_err(|problem| bad_pattern(glob, &problem))?;
        builder.add(glob).map_err(|error| bad_pattern(glob, &error))?;
    }
    builder.build().map_err(|error| bad_pattern(&globs.join(", "), &error))
}

fn types(names: &[String]) -> Result<Types> {
    if names.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in names {
        builder.select(name);
    }
    builder.build().map_err(|error| bad_pattern(&names.join(", "), &error))
}

fn bad_pattern(pattern: &str, problem: &impl ToString) -> Error {
    Error::BadPattern { pattern: pattern.chars().take(200).collect(), problem: problem.to_string() }
}

/// Sorts by path, folders and files alike, as people list them.
fn by_path(left: &PathBuf, right: &PathBuf) -> std::cmp::Ordering {
    left.cmp(right)
}

#[cfg(test)]
#[path = "search/tests.rs"]
mod tests;
