//! Undo for everything an agent does to a folder.
//!
//! Before a call that may change files the folder is looked at, and after it again: what differs is what the call
//! did, what differed before is somebody else's work. The contents are kept by their hash in a store of our own,
//! away from the folder and from any repository in it, which is never written to. The journal only grows, and a
//! restore is a record like any other, so it can be taken back too.

mod collect;
mod hunks;
mod journal;
mod known;
mod objects;
mod refresh;
mod restore;
mod state;
mod uncovered;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use stepwell_protocol::Timestamp;
use stepwell_workspace::files::{self, DataFile, LockFile};
use stepwell_workspace::tree::Tree;

use crate::{Error, Home, Result};
use journal::{Changes, Record};
use known::Known;
use objects::{Objects, Packed};

pub use hunks::{Hunk, unified_diff};
pub use journal::{Cause, Checkpoint, CheckpointKind};
pub use objects::ObjectId;
pub use restore::{Obstacle, RestorePlan, RestoreStep, Restored, Selection};
pub use state::{Change, EntryKind, EntryState};
use uncovered::Uncovered;
pub use uncovered::{Lost, RepositoryDamage};

/// Longer lists of changes are kept among the contents.
const LONGEST_INLINE: usize = 40;
/// The known state is saved when this much of it is new; the journal has the rest.
const SAVE_AFTER: usize = 500;
/// Another process may be at its first look at a large folder.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub struct CheckpointLimits {
    /// Files larger than this are not kept, and it is said so.
    pub largest_file: u64,
    pub most_entries: usize,
    /// What the store may take on the disk; old checkpoints are given up beyond it.
    pub disk: u64,
    /// Days after which a checkpoint may be given up.
    pub days: u32,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self { largest_file: 16 << 20, most_entries: 300_000, disk: 2 << 30, days: 30 }
    }
}

/// What a call may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A command: anything.
    Everything,
    /// A file tool: these paths, relative to the folder.
    Paths(Vec<PathBuf>),
}

/// A checkpoint that was made before a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    pub id: u64,
    scope: Scope,
    /// Files of the folder that are too large to keep, the first time they are seen.
    pub too_large: Vec<(PathBuf, u64)>,
    uncovered: Uncovered,
}

/// What a call did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallEnded {
    pub changes: Vec<Change>,
    pub lost: Lost,
}

/// The checkpoints of one folder.
#[derive(Debug)]
pub struct Checkpoints {
    store: PathBuf,
    tree: Tree,
    limits: CheckpointLimits,
    objects: Objects,
    journal: DataFile,
    records: Vec<Record>,
    known: Known,
    /// Of the last look at the whole folder.
    uncovered: Uncovered,
    round: u32,
    needs_sync: bool,
}

impl Checkpoints {
    /// Opens the checkpoints of a folder; cheap, nothing is looked at yet.
    pub fn open(home: &Home, folder: &Path, limits: CheckpointLimits) -> Result<Self> {
        let store = home.checkpoints_dir(folder);
        files::create_private_dir(&store)?;
        let named = store.join("folder");
        if files::read_if_exists(&named)?.is_none() {
            let text = folder.to_string_lossy();
            files::write_atomic(&named, text.as_bytes(), files::Privacy::Private)?;
        }
        let _lock = LockFile::take_within(&store.join("lock"), LONGEST_WAIT)?;
        let mut checkpoints = Self {
            tree: Tree::open(folder)?,
            limits,
            objects: Objects::open(&store)?,
            journal: DataFile::open(&store.join("journal.jsonl"))?,
            records: Vec::new(),
            known: Known::load(&store.join("known")),
            uncovered: Uncovered::default(),
            round: 0,
            needs_sync: false,
            store,
        };
        checkpoints.read_journal(0)?;
        checkpoints.collect_if_needed()?;
        Ok(checkpoints)
    }

    /// Whether a folder has any.
    pub fn exist(home: &Home, folder: &Path) -> bool {
        files::metadata(&home.checkpoints_dir(folder).join("journal.jsonl")).is_ok()
    }

    pub fn folder(&self) -> &Path {
        self.tree.path()
    }

    /// Makes a checkpoint before a call. When this returns, whatever the call changes can be brought back.
    pub fn begin(&mut self, cause: Cause, scope: Scope) -> Result<Begun> {
        let _lock = self.lock()?;
        let too_large = self.look_outside(&scope)?;
        if self.has_long_journal() {
            self.collect_if_needed()?;
        }
        let id = self.next_id();
        let process = std::process::id();
        let is_command = scope == Scope::Everything;
        self.append(Record::Begun { id, at: Timestamp::now(), process, is_command, cause })?;
        let uncovered = if is_command { self.uncovered.clone() } else { Uncovered::default() };
        Ok(Begun { id, scope, too_large, uncovered })
    }

    /// Notes what the call did.
    pub fn end(&mut self, begun: &Begun) -> Result<CallEnded> {
        let _lock = self.lock()?;
        let changes = self.refresh(&begun.scope)?;
        let stored = self.stored(&changes)?;
        self.append(Record::Ended { id: begun.id, changes: stored })?;
        self.save_if_much()?;
        let lost = match begun.scope {
            Scope::Everything => begun.uncovered.lost(&self.uncovered, &changes),
            Scope::Paths(_) => Lost::default(),
        };
        Ok(CallEnded { changes, lost })
    }

    /// All checkpoints, oldest first.
    pub fn list(&mut self) -> Result<Vec<Checkpoint>> {
        let _lock = self.lock()?;
        Ok(journal::checkpoints(&self.records))
    }

    /// What a checkpoint's call changed.
    pub fn changes_of(&self, id: u64) -> Result<Vec<Change>> {
        let mut found = false;
        for record in self.records.iter().rev().filter(|record| record.id() == id) {
            found = true;
            if let Some(changes) = record.changes() {
                return self.listed(changes);
            }
        }
        if found { Ok(Vec::new()) } else { Err(Error::UnknownCheckpoint { id }) }
    }

    /// The content of a file or link in some state; `None` where it was not kept.
    pub fn content(&self, state: &EntryState) -> Result<Option<Vec<u8>>> {
        state.content.map(|id| self.objects.get(&id)).transpose()
    }

    /// Bytes on the disk.
    pub fn disk_bytes(&self) -> u64 {
        self.objects.bytes() + self.journal.len()
    }

    /// Saves what makes the next start quick. Losing it costs time, not safety.
    pub fn save(&mut self) -> Result<()> {
        let _lock = self.lock()?;
        if self.known.unsaved > 0 {
            self.known.save(&self.store.join("known"))?;
        }
        Ok(())
    }

    fn lock(&mut self) -> Result<LockFile> {
        let lock = LockFile::take_within(&self.store.join("lock"), LONGEST_WAIT)?;
        let read = self.journal.len();
        if self.journal.refresh()? != read {
            self.objects.catch_up()?;
            if self.journal.len() < read {
                // Another process gave up old checkpoints.
                self.records.clear();
                self.known = Known::load(&self.store.join("known"));
                self.read_journal(0)?;
            } else {
                self.read_journal(read)?;
            }
        }
        Ok(lock)
    }

    /// Looks at what changed since the last call, which none of the agent's calls did.
    fn look_outside(&mut self, scope: &Scope) -> Result<Vec<(PathBuf, u64)>> {
        let was_complete = self.known.is_complete;
        let changes = self.refresh(scope)?;
        let too_large = changes
            .iter()
            .filter_map(|change| Some((change, change.after?)))
            .filter(|(change, after)| !after.is_kept() && change.before.is_none_or(|before| before.is_kept()))
            .map(|(change, after)| (change.path.clone(), after.size))
            .collect();
        // The first look at a path says nothing about who made it.
        let (changed, found): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| was_complete || change.before.is_some());
        if !changed.is_empty() {
            let changes = self.stored(&changed)?;
            let record = match journal::unfinished(&self.records) {
                // Nobody else will say what that call did: its process was killed.
                Some((id, process)) if is_gone(process) => Record::Ended { id, changes },
                _ => Record::Outside { id: self.next_id(), at: Timestamp::now(), changes },
            };
            self.append(record)?;
        }
        if self.known.is_complete && !was_complete {
            // Without this a process that is killed would leave nothing to compare with.
            self.known.save(&self.store.join("known"))?;
        } else if !found.is_empty() {
            let changes = self.stored(&found)?;
            self.append(Record::Found { changes })?;
        }
        if self.needs_sync {
            self.objects.sync()?;
            self.needs_sync = false;
        }
        self.save_if_much()?;
        Ok(too_large)
    }

    fn save_if_much(&mut self) -> Result<()> {
        if self.known.unsaved >= SAVE_AFTER {
            self.known.save(&self.store.join("known"))?;
        }
        Ok(())
    }

    fn next_id(&self) -> u64 {
        self.records.iter().map(Record::id).max().unwrap_or(0) + 1
    }

    fn stored(&mut self, changes: &[Change]) -> Result<Changes> {
        let count = changes.len();
        if count <= LONGEST_INLINE {
            return Ok(Changes { count, list: changes.to_vec(), object: None });
        }
        let packed = Packed::new(serde_json::to_vec(changes).map_err(Error::Encode)?);
        let object = Some(packed.id);
        self.objects.add(vec![packed])?;
        Ok(Changes { count, list: Vec::new(), object })
    }

    fn listed(&self, changes: &Changes) -> Result<Vec<Change>> {
        let Some(id) = changes.object else { return Ok(changes.list.clone()) };
        let text = self.objects.get(&id)?;
        serde_json::from_slice(&text).map_err(|_| Error::CheckpointContent { id: id.to_string() })
    }

    fn append(&mut self, record: Record) -> Result<()> {
        let mut line = serde_json::to_vec(&record).map_err(Error::Encode)?;
        line.push(b'\n');
        self.journal.append(&line)?;
        // What this process writes is in the known state already.
        self.known.journal_position = self.journal.len();
        self.records.push(record);
        Ok(())
    }

    /// Reads the records from a place on and takes over what the known state does not have. A last line that is
    /// not whole is cut off.
    fn read_journal(&mut self, from: u64) -> Result<()> {
        let bytes = self.journal.read_at(from, (self.journal.len() - from) as usize)?;
        let mut at = from;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let record = serde_json::from_slice::<Record>(line).ok().filter(|_| line.ends_with(b"\n"));
            let end = at + line.len() as u64;
            let Some(record) = record else {
                if end == self.journal.len() {
                    self.journal.truncate(at)?;
                }
                // A damaged line in the middle loses its checkpoint; the others stand.
                at = end;
                continue;
            };
            if end > self.known.journal_position
                && let Some(changes) = record.changes()
                && let Ok(changes) = self.listed(changes)
            {
                self.known.apply(&changes);
            }
            self.records.push(record);
            at = end;
        }
        self.known.journal_position = self.journal.len();
        Ok(())
    }
}

fn is_gone(process: u32) -> bool {
    process != std::process::id() && files::metadata(Path::new(&format!("/proc/{process}"))).is_err()
}

impl Home {
    /// Where the checkpoints of a folder are kept.
    pub fn checkpoints_dir(&self, folder: &Path) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        let hash = Sha256::digest(folder.as_os_str().as_bytes());
        self.root().join("checkpoints").join(objects::hexadecimal(&hash[..12]))
    }
}

#[cfg(test)]
#[path = "checkpoints/tests.rs"]
mod tests;
