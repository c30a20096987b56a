//! Finds what changed on the disk since the last look, and keeps the contents that are new.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use stepwell_workspace::tree::{ScanOptions, Seen, SeenKind, Tree};
use stepwell_workspace::writer_of_temporary;

use super::known::KnownEntry;
use super::objects::Packed;
use super::state::{Change, EntryKind, EntryState};
use super::uncovered::Uncovered;
use super::{Checkpoints, Scope, is_gone};
use crate::{Error, Result};

/// Ignored files up to this size are kept: a `.env` matters, a build's output does not.
const LARGEST_IGNORED: u64 = 256 * 1024;
/// A file that changed within this time before it was read may change again without a trace in its times.
const RACY_NS: i64 = 50_000_000;
/// Files read before their contents are written, so that memory stays small.
const BATCH_FILES: usize = 512;
const BATCH_BYTES: u64 = 32 * 1024 * 1024;
const MOST_THREADS: usize = 4;

/// An entry that was looked at closely.
struct Looked {
    path: PathBuf,
    /// Nothing where it is gone.
    found: Option<(EntryState, Seen)>,
    packed: Option<Packed>,
}

impl Checkpoints {
    /// Brings the known state up to date and gives what changed, by path.
    pub(super) fn refresh(&mut self, scope: &Scope) -> Result<Vec<Change>> {
        let mut changes = match scope {
            Scope::Everything => self.refresh_everything()?,
            Scope::Paths(paths) => {
                let mut suspects = Vec::new();
                for path in paths {
                    self.suspect_with_parents(path, &mut suspects)?;
                }
                self.take_in(suspects)?
            }
        };
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.known.unsaved += changes.len();
        Ok(changes)
    }

    /// A path, and the folders on the way to it that may be made with it.
    fn suspect_with_parents(&self, path: &Path, suspects: &mut Vec<(PathBuf, Option<Seen>)>) -> Result<()> {
        let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        for path in parents.chain([path]) {
            if !suspects.iter().any(|(known, _)| known == path) {
                suspects.push((path.to_path_buf(), self.tree.look(path)?));
            }
        }
        Ok(())
    }

    fn refresh_everything(&mut self) -> Result<Vec<Change>> {
        self.round += 1;
        let round = self.round;
        let known = &self.known.entries;
        let options = ScanOptions {
            most_entries: self.limits.most_entries,
            largest_ignored: LARGEST_IGNORED,
            is_known: &|path| known.contains_key(path),
        };
        let scanned = self.tree.scan(&options)?;
        if scanned.is_too_large {
            let reason = format!("it has more than {} files", self.limits.most_entries);
            return Err(Error::TooLargeForCheckpoints { path: self.tree.path().to_path_buf(), reason });
        }
        self.uncovered = Uncovered::of(&self.tree, &scanned.repositories, scanned.special);
        let mut suspects = Vec::new();
        let mut bytes = 0;
        for (path, seen) in scanned.entries {
            if let Some(writer) = path.file_name().and_then(writer_of_temporary) {
                // What a killed process was writing; what a living one writes is no entry yet.
                if is_gone(writer) {
                    self.tree.remove(&path, seen.kind).ok();
                }
                continue;
            }
            match self.known.entries.get_mut(&path) {
                Some(entry) if is_same(entry, &seen) => entry.round = round,
                entry => {
                    if let Some(entry) = entry {
                        entry.round = round;
                    }
                    if seen.size <= self.limits.largest_file {
                        bytes += seen.size;
                    }
                    suspects.push((path, Some(seen)));
                }
            }
        }
        if bytes > self.limits.disk {
            let reason = format!("it has {} MB of files", bytes >> 20);
            return Err(Error::TooLargeForCheckpoints { path: self.tree.path().to_path_buf(), reason });
        }
        // What cannot be read now is not gone.
        let is_hidden = |path: &Path| scanned.unreadable.iter().any(|folder| path.starts_with(folder));
        let gone = self.known.entries.iter().filter(|(path, entry)| entry.round != round && !is_hidden(path));
        suspects.extend(gone.map(|(path, _)| (path.clone(), None)));
        let changes = self.take_in(suspects)?;
        self.known.is_complete = true;
        Ok(changes)
    }

    fn take_in(&mut self, suspects: Vec<(PathBuf, Option<Seen>)>) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        let mut rest = suspects.into_iter().peekable();
        while rest.peek().is_some() {
            let mut batch = Vec::new();
            let mut bytes = 0;
            while let Some(suspect) = rest.next_if(|_| batch.len() < BATCH_FILES && bytes < BATCH_BYTES) {
                bytes += suspect.1.map_or(0, |seen| seen.size.min(self.limits.largest_file));
                batch.push(suspect);
            }
            let looked = look_at(&self.tree, self.limits.largest_file, batch);
            let mut packed = Vec::new();
            for mut looked in looked {
                packed.extend(looked.packed.take().filter(|packed| !self.objects.has(&packed.id)));
                changes.extend(self.note(looked));
            }
            if !packed.is_empty() {
                self.objects.add(packed)?;
                self.needs_sync = true;
            }
        }
        Ok(changes)
    }

    fn note(&mut self, looked: Looked) -> Option<Change> {
        let before = self.known.entries.get(&looked.path).map(|entry| entry.state);
        let after = looked.found.map(|(state, _)| state);
        match looked.found {
            Some((state, seen)) => {
                let is_settled = now_ns().saturating_sub(seen.stamp.changed_ns) > RACY_NS;
                let stamp = (is_settled || state.kind == EntryKind::Folder).then_some(seen.stamp);
                let entry = KnownEntry { state, stamp, round: self.round };
                self.known.entries.insert(looked.path.clone(), entry);
            }
            None => drop(self.known.entries.remove(&looked.path)),
        }
        (before != after).then_some(Change { path: looked.path, before, after })
    }
}

/// Whether an entry is still what it was, as far as its times tell. A folder's times change with its entries,
/// which are looked at for themselves.
fn is_same(entry: &KnownEntry, seen: &Seen) -> bool {
    let state = &entry.state;
    if SeenKind::from(state.kind) != seen.kind || state.mode != seen.mode {
        return false;
    }
    state.kind == EntryKind::Folder || (state.size == seen.size && entry.stamp == Some(seen.stamp))
}

/// Reads, hashes and packs on a few threads where there is much to do.
fn look_at(tree: &Tree, largest: u64, batch: Vec<(PathBuf, Option<Seen>)>) -> Vec<Looked> {
    let count = batch.len();
    if count < 16 {
        return batch.into_iter().map(|(path, seen)| look_closely(tree, largest, path, seen)).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let waiting = Mutex::new(batch.into_iter());
    let done = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
                while let Some((path, seen)) = next() {
                    let looked = look_closely(tree, largest, path, seen);
                    if let Ok(mut done) = done.lock() {
                        done.push(looked);
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

fn look_closely(tree: &Tree, largest: u64, path: PathBuf, seen: Option<Seen>) -> Looked {
    let gone = |path| Looked { path, found: None, packed: None };
    let Some(seen) = seen else { return gone(path) };
    let state = |kind, seen: &Seen| EntryState {
        kind,
        mode: seen.mode,
        size: seen.size,
        content: None,
        modified_ns: None,
    };
    match seen.kind {
        SeenKind::Other => gone(path),
        SeenKind::Folder => {
            let state = EntryState { size: 0, ..state(EntryKind::Folder, &seen) };
            Looked { path, found: Some((state, seen)), packed: None }
        }
        SeenKind::Link => match tree.read_link(&path) {
            Ok(target) => {
                let packed = Packed::new(target);
                // A link has no permissions of its own.
                let state =
                    EntryState { content: Some(packed.id), mode: 0o777, ..state(EntryKind::Link, &seen) };
                Looked { path, found: Some((state, seen)), packed: Some(packed) }
            }
            Err(_) => gone(path),
        },
        SeenKind::File => match tree.read(&path, largest) {
            Ok((content, seen)) => {
                let size = content.len() as u64;
                let packed = Packed::new(content);
                let state = EntryState { content: Some(packed.id), size, ..state(EntryKind::File, &seen) };
                Looked { path, found: Some((state, seen)), packed: Some(packed) }
            }
            Err(error) if error.is_not_found() => gone(path),
            // Too large, or not ours to read: known, but not kept.
            Err(_) => {
                let state =
                    EntryState { modified_ns: Some(seen.stamp.modified_ns), ..state(EntryKind::File, &seen) };
                Looked { path, found: Some((state, seen)), packed: None }
            }
        },
    }
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64)
}
