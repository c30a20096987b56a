//! Detects changed files, so that no answer is older than they are.
//!
//! A walk finds all files; afterwards a look at the states of the known files and folders tells whether another one
//! is needed. For who asks more than once, the folders are watched besides: when the queue of events is empty,
//! nothing needs to be looked at but the few files that can be changed by other paths. A watch counts from the first
//! walk on that found no folder which was not watched before the walk began. Whatever it cannot tell (events that
//! were lost, folders that moved, new files, changed ignore files) is found by a walk.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use stepwell_workspace::files::FileStamp;
use stepwell_workspace::search::{IsCancelled, Seen, WalkRules};
use stepwell_workspace::watch::{News, Unwatchable, Watcher};

use super::{FileId, Index, is_fresh, may_be_source};
use crate::error::{Error, Result};

/// Folders that programs make again, also where no ignore file names them.
const MADE_AGAIN: &[&str] =
    &["!**/node_modules/**", "!**/__pycache__/**", "!**/.venv/**", "!**/.tox/**", "!**/.git/**"];

/// Files that say which others are ignored.
const RULES: &[&str] = &[".gitignore", ".ignore"];

/// Walks that one look takes at most until all folders are watched.
const MOST_WALKS: usize = 3;
/// Looks after which a watch is given up that never covers all folders.
const MOST_ATTEMPTS: u32 = 5;
/// Ignored files that are remembered, so that a change of one does not lead to a walk.
const MOST_IGNORED: usize = 10_000;

/// What a look found.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// New, or not known as they are now.
    pub changed: Vec<String>,
    pub gone: Vec<String>,
    /// The walk was stopped before its end: there are more files than can be looked at.
    pub is_cut: bool,
}

/// What was seen of the folders.
#[derive(Default)]
pub(super) struct FolderState {
    /// Folders with the state they had before they were listed; `None` where that is so young that it tells nothing.
    folders: HashMap<PathBuf, Option<FileStamp>>,
    /// Ignore files, likewise.
    rules: HashMap<PathBuf, Option<FileStamp>>,
    /// The ignore file of git itself, which lies in no folder that is watched.
    exclude: Option<FileStamp>,
    /// Files that can be changed by other paths.
    shared: HashSet<String>,
    /// Files of watched folders that no walk shows.
    ignored: HashSet<PathBuf>,
    /// Whether somebody asked for a watch; it may be off all the same.
    is_wanted: bool,
    watch: Watch,
    /// Files that an answer was made of and that are not as they were when they were read.
    suspects: RefCell<Vec<String>>,
    touched: RefCell<FilesRead>,
}

#[derive(Default)]
enum Watch {
    #[default]
    Off,
    /// Not all folders are watched yet. How often that may be tried.
    Wanted(Option<Watcher>, u32),
    On(Watcher),
}

/// The files that were looked into since the last refresh, each once.
#[derive(Default)]
struct FilesRead {
    files: Vec<FileId>,
    is_touched: Vec<bool>,
}

impl FolderState {
    /// The next look is a walk.
    pub fn forget(&mut self) {
        self.folders.clear();
        self.touched.get_mut().clear();
        if let Watch::On(_) | Watch::Wanted(..) = self.watch {
            self.watch = Watch::Wanted(None, MOST_ATTEMPTS);
        }
    }

    /// A file is looked into for an answer.
    pub fn touch(&self, id: FileId) {
        let mut touched = self.touched.borrow_mut();
        let place = id.0 as usize;
        if touched.is_touched.len() <= place {
            touched.is_touched.resize(place + 1, false);
        }
        if !std::mem::replace(&mut touched.is_touched[place], true) {
            touched.files.push(id);
        }
    }

    fn is_any_folder_changed(&self) -> bool {
        let mut known = self.folders.iter().chain(&self.rules);
        known.any(|(path, known)| known.is_none() || stamp_of(path) != *known)
    }

    /// Notes which of the files that were told of a walk does not show.
    fn note_ignored(&mut self, told: HashSet<PathBuf>) {
        if self.ignored.len() + told.len() > MOST_IGNORED {
            self.ignored.clear();
        }
        self.ignored.extend(told);
    }

    /// Watches all known folders; whether they are.
    fn watch_folders(&mut self) -> bool {
        let (watcher, attempts) = match std::mem::take(&mut self.watch) {
            Watch::Off => return false,
            Watch::Wanted(watcher, attempts) => (watcher, attempts),
            Watch::On(watcher) => (Some(watcher), MOST_ATTEMPTS),
        };
        let Some(mut watcher) = watcher.or_else(|| Watcher::new().ok()) else { return false };
        // Those above first.
        let mut folders: Vec<&PathBuf> =
            self.folders.keys().filter(|folder| !watcher.is_watching(folder)).collect();
        folders.sort();
        for folder in folders {
            match watcher.add(folder) {
                // Of one that is gone, or cannot be read, the walk knows more.
                Ok(()) | Err(Unwatchable::Missing) => {}
                Err(Unwatchable::Untold | Unwatchable::TooMany) => return false,
            }
        }
        self.watch = Watch::Wanted(Some(watcher), attempts);
        true
    }

    /// A walk was made after folders were watched: whether that were all of them.
    fn settle(&mut self) -> bool {
        let Watch::Wanted(Some(watcher), attempts) = std::mem::take(&mut self.watch) else { return false };
        let is_covered = self.folders.keys().all(|folder| watcher.is_watching(folder));
        self.watch = if is_covered { Watch::On(watcher) } else { Watch::Wanted(Some(watcher), attempts) };
        is_covered
    }

    /// Another look ended without all folders being watched.
    fn count_failure(&mut self) {
        if let Watch::Wanted(_, attempts) = &mut self.watch {
            *attempts = attempts.saturating_sub(1);
            if *attempts == 0 {
                self.watch = Watch::Off;
            }
        }
    }
}

impl FilesRead {
    fn clear(&mut self) {
        for id in self.files.drain(..) {
            self.is_touched[id.0 as usize] = false;
        }
    }
}

impl Index {
    /// Watches the workspace from the next refresh on, where the kernel supports it. For programs that ask more than once.
    pub fn watch(&mut self) {
        if !self.sight.is_wanted {
            self.sight.is_wanted = true;
            self.sight.watch = Watch::Wanted(None, MOST_ATTEMPTS);
        }
    }

    /// Whether this is a program that asks more than once.
    pub(super) fn is_asked_often(&self) -> bool {
        self.sight.is_wanted
    }

    /// Whether all folders are watched, so that a refresh without changes costs next to nothing.
    pub fn is_watched(&self) -> bool {
        matches!(self.sight.watch, Watch::On(_))
    }

    /// Refreshes the index and answers a question from it. Answers again if a file behind the answer changed meanwhile: no
    /// watch reports a store into mapped memory.
    pub fn ask<T>(&mut self, is_cancelled: IsCancelled<'_>, question: impl Fn(&mut Self) -> T) -> Result<T> {
        const TRIES: usize = 3;
        let mut tries = 0;
        loop {
            self.refresh(&|_, _| {}, is_cancelled)?;
            let answer = question(self);
            tries += 1;
            // A file that changes all the time is answered of as it was.
            if self.is_current() || tries == TRIES {
                return Ok(answer);
            }
        }
    }

    /// Whether the files that were looked into since the last refresh are as they were when they were read.
    pub(crate) fn is_current(&self) -> bool {
        if !self.is_watched() {
            // All of them were looked at before the question.
            return true;
        }
        let mut suspects = self.sight.suspects.borrow_mut();
        for id in &self.sight.touched.borrow().files {
            if let Some(entry) = self.entry(*id)
                && self.stamp_now(&entry.path) != Some(entry.stamp)
            {
                suspects.push(entry.path.clone());
            }
        }
        suspects.is_empty()
    }

    /// What changed since the last time.
    pub(super) fn changes(&mut self, is_cancelled: IsCancelled<'_>) -> Result<Changes> {
        self.sight.touched.get_mut().clear();
        let mut unknown = HashSet::new();
        if let Watch::On(watcher) = &mut self.sight.watch {
            let news = watcher.news();
            if news.is_lost {
                self.sight.watch = Watch::Wanted(None, MOST_ATTEMPTS);
            } else if !news.has_new_folder && !self.are_rules_changed(&news) {
                let (changes, new) = self.told(&news);
                if new.is_empty() {
                    return Ok(changes);
                }
                unknown = new;
            } else {
                self.sight.ignored.clear();
            }
        }
        self.sight.suspects.get_mut().clear();
        // Most programs ask once; the watch begins with the second question.
        let is_first = self.sight.folders.is_empty();
        if !is_first && self.sight.is_wanted {
            self.read_ahead();
        }
        if is_first || matches!(self.sight.watch, Watch::Off) {
            let is_known = !is_first && self.exclude() == self.sight.exclude;
            if !is_known || self.sight.is_any_folder_changed() {
                return self.walk(is_cancelled);
            }
            return Ok(self.look());
        }
        let mut changes = Changes::default();
        for _ in 0..MOST_WALKS {
            let may_settle = self.sight.watch_folders();
            changes = self.walk(is_cancelled)?;
            if changes.is_cut {
                // Folders that were not walked through cannot be watched.
                self.sight.watch = Watch::Off;
            }
            if !may_settle || self.sight.settle() {
                let own = self.workspace.root();
                unknown.retain(|path| {
                    let path = path.strip_prefix(own).ok().and_then(Path::to_str);
                    path.is_some_and(|path| changes.changed.iter().all(|changed| changed != path))
                });
                self.sight.note_ignored(unknown);
                return Ok(changes);
            }
        }
        self.sight.count_failure();
        Ok(changes)
    }

    /// Reads on a thread what questions may need.
    fn read_ahead(&mut self) {
        let (entries, workspace) = (&self.entries, &self.workspace);
        let wanted = || {
            let known = entries.iter().enumerate().filter_map(|(id, entry)| Some((id, entry.as_ref()?)));
            let known = known.filter(|(_, entry)| entry.omission.is_none());
            let wanted = known.filter_map(|(id, entry)| {
                Some(((FileId(id as u32), entry.hash), entry.path.clone(), entry.language?))
            });
            wanted.collect()
        };
        self.wholes.fill(workspace, wanted);
    }

    /// Whether reading ahead has finished or filled its memory.
    pub fn has_read_ahead(&self) -> bool {
        self.wholes.is_filled()
    }

    /// Whether other files are ignored now than at the last walk.
    fn are_rules_changed(&self, news: &News) -> bool {
        news.files.iter().any(|path| is_rules(path)) || self.exclude() != self.sight.exclude
    }

    fn exclude(&self) -> Option<FileStamp> {
        stamp_of(&self.workspace.root().join(".git/info/exclude"))
    }

    /// What the news say of the files that are known, and the others, of which only a walk can tell.
    fn told(&mut self, news: &News) -> (Changes, HashSet<PathBuf>) {
        let (mut changes, mut unknown) = (Changes::default(), HashSet::new());
        for path in &news.files {
            let Some(relative) = path.strip_prefix(self.workspace.root()).ok().and_then(Path::to_str) else {
                continue;
            };
            let seen = Seen::at(path);
            if self.by_path.contains_key(relative) {
                // Read also where its state is the same: the clock may not have moved on.
                let is_there = seen.is_some_and(|seen| seen.stamp.is_some());
                let list = if is_there { &mut changes.changed } else { &mut changes.gone };
                list.push(relative.to_owned());
                if seen.is_some_and(|seen| seen.is_shared) {
                    self.sight.shared.insert(relative.to_owned());
                }
            } else if seen.is_some()
                && may_be_source(Path::new(relative))
                && !self.sight.ignored.contains(path)
            {
                // Also a link that leads nowhere: where it does one day, no folder that is watched may tell.
                unknown.insert(path.clone());
            }
        }
        let suspects = self.sight.suspects.take();
        for path in self.sight.shared.iter().chain(&suspects) {
            match self.stamp_now(path) {
                Some(stamp) if !self.differs(path, Some(stamp)) => {}
                Some(_) => changes.changed.push(path.clone()),
                None if self.by_path.contains_key(path) => changes.gone.push(path.clone()),
                // A link that leads nowhere, as before.
                None => {}
            }
        }
        changes.changed.sort();
        changes.changed.dedup();
        changes.gone.sort();
        changes.gone.dedup();
        (changes, unknown)
    }

    /// All files by a walk: those that changed or are new, and those that are gone.
    fn walk(&mut self, is_cancelled: IsCancelled<'_>) -> Result<Changes> {
        let root = self.workspace.place(".")?;
        let rules =
            WalkRules { globs: MADE_AGAIN.iter().map(ToString::to_string).collect(), ..WalkRules::default() };
        let own = self.workspace.root().to_path_buf();
        let steady = |stamp: Option<FileStamp>| stamp.filter(|stamp| !is_fresh(*stamp));
        let mut folders = HashMap::from([(own.clone(), steady(stamp_of(&own)))]);
        let is_wanted = |path: &Path| may_be_source(path) || is_rules(path);
        let exclude = self.exclude();
        let survey = self.workspace.survey(&root, &rules, &is_wanted, is_cancelled)?;
        if is_cancelled() {
            self.sight.forget();
            return Err(Error::Cancelled);
        }
        folders.extend(survey.folders.into_iter().map(|(path, stamp)| (own.join(path), steady(stamp))));
        let sight = &mut self.sight;
        sight.folders = folders;
        sight.exclude = exclude;
        sight.rules.clear();
        sight.shared.clear();
        let mut seen = HashSet::with_capacity(survey.files.len());
        let mut changed = Vec::new();
        for file in survey.files {
            let Seen { stamp, is_shared } = file.seen;
            if is_rules(&file.path) {
                self.sight.rules.insert(own.join(&file.path), steady(stamp));
            }
            let Some(path) = file.path.to_str().filter(|_| may_be_source(&file.path)) else { continue };
            if is_shared {
                self.sight.shared.insert(path.to_owned());
            }
            if self.differs(path, stamp) {
                changed.push(path.to_owned());
            }
            seen.insert(path.to_owned());
        }
        changed.sort();
        // Of a walk that was cut short it is not known what is gone.
        let gone = if survey.is_cut {
            Vec::new()
        } else {
            self.by_path.keys().filter(|path| !seen.contains(*path)).cloned().collect()
        };
        Ok(Changes { changed, gone, is_cut: survey.is_cut })
    }

    /// The files that are known: which changed, which are gone.
    fn look(&self) -> Changes {
        let mut changes = Changes::default();
        for path in self.by_path.keys() {
            match self.stamp_now(path) {
                Some(stamp) if !self.differs(path, Some(stamp)) => {}
                Some(_) => changes.changed.push(path.clone()),
                None => changes.gone.push(path.clone()),
            }
        }
        // A link that led nowhere may lead somewhere now, without a change of any folder that is looked at.
        let dangling = self.sight.shared.iter().filter(|path| !self.by_path.contains_key(*path));
        changes.changed.extend(dangling.filter(|path| self.stamp_now(path).is_some()).cloned());
        changes.changed.sort();
        changes
    }

    fn stamp_now(&self, path: &str) -> Option<FileStamp> {
        stamp_of(&self.workspace.root().join(path))
    }

    /// Whether a file is not known as it is now.
    fn differs(&self, path: &str, stamp: Option<FileStamp>) -> bool {
        let Some(entry) = self.by_path.get(path).and_then(|id| self.entry(*id)) else { return true };
        entry.is_fresh || stamp != Some(entry.stamp)
    }
}

fn stamp_of(path: &Path) -> Option<FileStamp> {
    Seen::at(path)?.stamp
}

fn is_rules(path: &Path) -> bool {
    path.file_name().is_some_and(|name| RULES.iter().any(|rules| name == *rules))
}

#[cfg(test)]
#[path = "freshness_tests.rs"]
mod tests;
