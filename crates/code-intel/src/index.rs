//! What all files of a workspace say, kept between runs.
//!
//! Each file's outline lies in SQLite beneath Stepwell's data folder, with the hash of the content it was made of.
//! [`Index::refresh`] looks at every file's size and time and reads what changed; a question is asked behind such a
//! look, so no answer is older than the files. Several processes share the file: each believes the disk first, and
//! what one has read the others need not read. A file that is damaged, or of another version, is built anew; where
//! it cannot be used at all, the index lives in memory.

mod codec;
mod compile;
mod contents;
mod database;
mod file_cache;
mod freshness;
mod names;
mod read;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use stepwell_workspace::files::FileStamp;
use stepwell_workspace::search::IsCancelled;
use stepwell_workspace::{Inside, Workspace};

use crate::error::{Error, Result};
use crate::facts::{self, Facts, Manifest};
use crate::languages::Language;
use crate::scip::Scip;
use crate::syntax::Skipped;
use compile::Commands;
use database::Database;
use file_cache::{Cache, FileCache, Key, OUTLINE_BYTES, ParsedFile};
use freshness::{Changes, FolderState};
use names::LookupCache;
pub(crate) use read::module_mark;

/// Id of a file in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// The clock of a file system may stand still for so long: a file that was changed within it before it was read may
/// have changed again without a sign.
const CLOCK_STEP: Duration = Duration::from_millis(50);

/// Why a file is not in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omission {
    TooLarge,
    TooSlow,
    TooDeep,
    Minified,
    /// Not text, or not readable.
    Unreadable,
}

impl Omission {
    const ALL: [Self; 5] = [Self::TooLarge, Self::TooSlow, Self::TooDeep, Self::Minified, Self::Unreadable];

    /// The reason in a few words, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => "it is larger than 2 MiB",
            Self::TooSlow => "parsing it took too long",
            Self::TooDeep => "it is nested too deeply",
            Self::Minified => "it is minified or generated: its lines are too long",
            Self::Unreadable => "it is no text that can be read",
        }
    }
}

impl From<Skipped> for Omission {
    fn from(skipped: Skipped) -> Self {
        match skipped {
            Skipped::TooLarge => Self::TooLarge,
            Skipped::TooSlow => Self::TooSlow,
            Skipped::TooDeep => Self::TooDeep,
            Skipped::Unparsed => Self::Unreadable,
        }
    }
}

/// Metadata of a file: what is known without reading its outline.
#[derive(Clone, Debug)]
pub struct FileEntry {
    /// Relative to the workspace, with `/`.
    pub path: String,
    pub language: Option<Language>,
    pub omission: Option<Omission>,
    stamp: FileStamp,
    hash: [u8; 16],
    /// Whether its clock may hide another change.
    is_fresh: bool,
    /// Hashes of the names it uses and of those it defines for others, in order.
    uses: Arc<[u32]>,
    defines: Arc<[u32]>,
    /// The modules it imports, as they are written, a line each: who follows includes needs nothing else of a file.
    imports: Arc<str>,
    outline: Outline,
}

/// Where the outline of a file is.
#[derive(Clone, Debug)]
enum Outline {
    /// In the file of the index.
    Stored,
    /// In memory: not written yet, or there is no file to write it to.
    Here(Arc<[u8]>),
}

impl FileEntry {
    /// The hash of the content it was read with.
    pub(crate) fn content(&self) -> [u8; 16] {
        self.hash
    }

    /// How long it was when it was last looked at.
    pub(crate) fn bytes(&self) -> u64 {
        self.stamp.len
    }

    /// Hashes of the names it defines for others.
    pub(crate) fn defined(&self) -> impl Iterator<Item = u32> {
        self.defines.iter().copied()
    }
}

/// Result of a refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    pub files: usize,
    pub read: usize,
    pub removed: usize,
    pub omitted: usize,
    /// The walk was stopped before its end: there are more files than can be looked at.
    pub is_cut: bool,
}

/// How far a refresh has come: files done, files to do.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(usize, usize) + Sync);

pub struct Index {
    workspace: Workspace,
    database: Database,
    entries: Vec<Option<FileEntry>>,
    by_path: HashMap<String, FileId>,
    sight: FolderState,
    omitted: usize,
    outlines: RefCell<Cache<Facts>>,
    wholes: FileCache,
    /// Files as far as the question at hand needs them.
    excerpts: RefCell<HashMap<Key, Arc<ParsedFile>>>,
    sources: RefCell<Cache<String>>,
    found: RefCell<LookupCache>,
    manifests: RefCell<Cache<Manifest>>,
    /// The files that describe packages of scripts; unknown after a file came or went.
    packages: RefCell<Option<Arc<[FileId]>>>,
    scip: Scip,
    commands: Commands,
}

/// Files that are read before what they say is written: so much of it is in memory, and so much is lost when a build
/// is ended.
const READ_AT_ONCE: usize = 2_000;

impl Index {
    /// Opens the index of a workspace, stored in `folder`. Reads no file of the workspace yet.
    pub fn open(folder: &Path, workspace: &Workspace) -> Result<Self> {
        let (database, rows) = Database::open(folder, workspace.root());
        let mut index = Self {
            workspace: workspace.clone(),
            database,
            entries: Vec::new(),
            by_path: HashMap::new(),
            sight: FolderState::default(),
            omitted: usize::MAX,
            outlines: RefCell::new(Cache::new(OUTLINE_BYTES)),
            wholes: FileCache::default(),
            excerpts: RefCell::default(),
            sources: RefCell::new(Cache::new(100)),
            found: RefCell::default(),
            manifests: RefCell::new(Cache::new(5_000)),
            packages: RefCell::default(),
            scip: Scip::default(),
            commands: Commands::default(),
        };
        for entry in rows {
            index.put(entry);
        }
        Ok(index)
    }

    fn put(&mut self, entry: FileEntry) -> FileId {
        if let Some(id) = self.by_path.get(&entry.path) {
            let id = *id;
            if let Some(slot) = self.entries.get_mut(id.0 as usize) {
                match slot {
                    Some(old) => {
                        self.found.get_mut().forget(old, &entry);
                        if old.hash != entry.hash {
                            self.wholes.remove(&(id, old.hash));
                        }
                    }
                    None => *self.found.get_mut() = LookupCache::default(),
                }
                *slot = Some(entry);
            }
            return id;
        }
        *self.found.get_mut() = LookupCache::default();
        *self.packages.borrow_mut() = None;
        let id = FileId(self.entries.len() as u32);
        self.by_path.insert(entry.path.clone(), id);
        self.entries.push(Some(entry));
        id
    }

    /// Brings the index up to date. Where nothing changed, costs one `stat` per file and folder.
    pub fn refresh(&mut self, progress: OnProgress<'_>, is_cancelled: IsCancelled<'_>) -> Result<Refreshed> {
        let started = std::time::Instant::now();
        let Changes { changed, gone, is_cut } = self.changes(is_cancelled)?;
        let mut refreshed = Refreshed { is_cut, ..Refreshed::default() };
        if is_cancelled() {
            self.sight.forget();
            return Err(Error::Cancelled);
        }
        self.remove(&gone);
        refreshed.removed = gone.len();
        for (number, some) in changed.chunks(READ_AT_ONCE).enumerate() {
            let done = number * READ_AT_ONCE;
            let progress = |more: usize, _: usize| progress(done + more, changed.len());
            let (mut entries, wholes, was_cancelled) = self.read_all(some, &progress, is_cancelled);
            refreshed.read += entries.len();
            if !was_cancelled && entries.len() < some.len() {
                // Gone since it was looked at, a link that leads nowhere, or no longer of any language.
                let read: HashSet<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
                let unread = some.iter().filter(|path| !read.contains(path.as_str()));
                let unread: Vec<String> =
                    unread.filter(|path| self.by_path.contains_key(*path)).cloned().collect();
                self.remove(&unread);
                refreshed.removed += unread.len();
            }
            self.database.write(&mut entries);
            for entry in entries {
                self.put(entry);
            }
            for (path, hash, whole) in wholes {
                if let Some(id) = self.file(&path) {
                    self.wholes.put_spare((id, hash), whole);
                }
            }
            if was_cancelled {
                // The next look must be a walk: what was not read yet is known by no other sign.
                self.sight.forget();
                return Err(Error::Cancelled);
            }
        }
        refreshed.files = self.by_path.len();
        if refreshed.read + refreshed.removed > 0 || self.omitted == usize::MAX {
            self.omitted = self.entries().filter(|(_, entry)| entry.omission.is_some()).count();
        }
        refreshed.omitted = self.omitted;
        if refreshed.read + refreshed.removed > 0 {
            let Refreshed { files, read, removed, .. } = refreshed;
            tracing::info!(
                files,
                read,
                removed,
                ms = started.elapsed().as_millis() as u64,
                "code index updated"
            );
        }
        Ok(refreshed)
    }

    fn remove(&mut self, paths: &[String]) {
        if paths.is_empty() {
            return;
        }
        *self.found.get_mut() = LookupCache::default();
        *self.packages.borrow_mut() = None;
        for path in paths {
            if let Some(id) = self.by_path.remove(path)
                && let Some(slot) = self.entries.get_mut(id.0 as usize)
            {
                *slot = None;
            }
        }
        self.database.remove(paths);
    }

    /// Forgets everything, so that the next refresh reads every file.
    pub fn clear(&mut self) {
        self.database.clear();
        self.entries.clear();
        self.by_path.clear();
        self.sight.forget();
        *self.found.get_mut() = LookupCache::default();
        *self.outlines.borrow_mut() = Cache::new(OUTLINE_BYTES);
        self.wholes = FileCache::default();
        *self.sources.borrow_mut() = Cache::new(100);
        *self.packages.borrow_mut() = None;
    }

    /// Whether the index is stored on disk for the next process.
    pub fn is_kept(&self) -> bool {
        self.database.is_kept()
    }

    /// Size of the index on disk, in bytes.
    pub fn size(&self) -> u64 {
        self.database.size()
    }

    /// A file beside the one the index is kept in, for what belongs to the same workspace.
    pub(crate) fn beside(&self, ending: &str) -> std::path::PathBuf {
        self.database.beside(ending)
    }

    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn scip(&self) -> &Scip {
        &self.scip
    }

    /// All files, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (FileId, &FileEntry)> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(index, entry)| Some((FileId(index as u32), entry.as_ref()?)))
    }

    pub fn entry(&self, id: FileId) -> Option<&FileEntry> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    /// The entry of a file that was not left out.
    fn entry_in(&self, id: FileId) -> Option<&FileEntry> {
        self.entry(id).filter(|entry| entry.omission.is_none())
    }

    pub fn path(&self, id: FileId) -> &str {
        self.entry(id).map_or("", |entry| entry.path.as_str())
    }

    pub fn file(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// Finds the file that a person or a model names; the error says why it is not in the index.
    pub fn named(&self, path: &str) -> Result<FileId> {
        let place = self.workspace.place(path)?;
        let relative = place.relative().to_string_lossy().into_owned();
        let missing = |reason: &str| Error::NotIndexed { path: relative.clone(), reason: reason.to_owned() };
        let id = self.file(&relative).ok_or_else(|| {
            missing(match place.absolute() {
                path if path.is_dir() => "it is a folder, and one file is asked about",
                path if path.exists() => "it is ignored, or of no language that can be parsed",
                _ => "it does not exist",
            })
        })?;
        match self.entry(id).and_then(|entry| entry.omission) {
            Some(omission) => Err(missing(omission.reason())),
            None => Ok(id),
        }
    }

    fn read_all(
        &self,
        paths: &[String],
        progress: OnProgress<'_>,
        is_cancelled: IsCancelled<'_>,
    ) -> read::ReadAll {
        let (by_path, entries) = (&self.by_path, &self.entries);
        let known = |path: &str| entries.get(by_path.get(path)?.0 as usize)?.as_ref();
        // Who asks more than once will need them again.
        let room = if self.is_asked_often() { self.wholes.room() } else { 0 };
        read::all(&self.workspace, paths, &known, room, progress, is_cancelled)
    }
}

pub(crate) fn name_hash(name: &str) -> u32 {
    facts::name_hash(name)
}

/// Whether a file can be of a language, by its name alone; one without an ending may be a script.
fn may_be_source(path: &Path) -> bool {
    const SCRIPT: &str = "#!/bin/sh";
    Language::detect(path, "").is_some()
        || path.extension().is_none() && Language::detect(path, SCRIPT).is_some()
}

/// Whether a time is so near that the clock may not have moved on since.
fn is_fresh(stamp: FileStamp) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let modified = Duration::from_nanos(stamp.modified_ns.max(0) as u64);
    now.saturating_sub(modified) < CLOCK_STEP
}

/// Where a file of the workspace lies.
fn place(workspace: &Workspace, path: &str) -> Result<Inside> {
    Ok(workspace.place(path)?)
}

#[cfg(test)]
#[path = "index/tests.rs"]
pub(crate) mod tests;
