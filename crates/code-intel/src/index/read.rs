//! Reading many files at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use stepwell_workspace::files::FileStamp;
use stepwell_workspace::search::{IsCancelled, Seen};
use stepwell_workspace::{Inside, Workspace};

use super::file_cache::{self, ParsedFile};
use super::{FileEntry, Omission, OnProgress, Outline, codec, is_fresh, place};
use crate::error::Result;
use crate::facts::{self, Facts, ReadFacts, name_hash};
use crate::languages::Language;

const LARGEST: u64 = 2 * 1024 * 1024;

/// For the hash of a file that has no text.
const UNREAD: [u8; 16] = [0; 16];

pub(super) fn text(workspace: &Workspace, place: &Inside) -> Result<String> {
    Ok(workspace.read_text(place, LARGEST)?.text)
}

/// What was read: the files, those that are kept whole with the hashes of their texts, and whether it was stopped.
pub(super) type ReadAll = (Vec<FileEntry>, Vec<(String, [u8; 16], ParsedFile)>, bool);

/// Reads the files on all processors. What is known already by its content is not parsed again. As many of them as
/// have room in so many bytes are kept whole.
pub(super) fn all<'k>(
    workspace: &Workspace,
    paths: &[String],
    known: &(dyn Fn(&str) -> Option<&'k FileEntry> + Sync),
    room: usize,
    progress: OnProgress<'_>,
    is_cancelled: IsCancelled<'_>,
) -> ReadAll {
    const MOST_THREADS: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = threads.min(paths.len().div_ceil(4)).max(1);
    let (next, done, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let found = Mutex::new((Vec::with_capacity(paths.len()), Vec::new()));
    let kept = AtomicUsize::new(0);
    let work = || {
        let (mut mine, mut wholes) = (Vec::new(), Vec::new());
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            if is_cancelled() {
                stopped.store(true, Ordering::Relaxed);
                break;
            }
            let keeps = if kept.load(Ordering::Relaxed) < room { Keeps::Whole } else { Keeps::Outline };
            if let Some((entry, whole)) = one(workspace, path, known(path), keeps) {
                if let Some(whole) = whole {
                    kept.fetch_add(file_cache::weight(&whole), Ordering::Relaxed);
                    wholes.push((path.clone(), entry.hash, whole));
                }
                mine.push(entry);
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, paths.len());
        }
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.0.append(&mut mine);
        found.1.append(&mut wholes);
    };
    if threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }
    let (entries, wholes) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    (entries, wholes, stopped.into_inner())
}

/// A text with what it says, its place among those that are wanted, and whether it is all that it says.
pub(super) type ReadAbout = (usize, ParsedFile, bool);

/// Texts with what they say about some names, read by all cores at once.
pub(super) fn about(workspace: &Workspace, wanted: &[(&str, Language)], names: &[&str]) -> Vec<ReadAbout> {
    by_all_cores(wanted.len(), &|index| {
        let (path, language) = wanted.get(index)?;
        let text = self::text(workspace, &place(workspace, path).ok()?).ok()?;
        Some(match facts::read_about(*language, &text, names).ok()? {
            ReadFacts::Everything(facts) => (index, (text, facts), true),
            ReadFacts::Excerpt(facts) => (index, (text, facts), false),
        })
    })
}

/// What is made of the numbers below this one, in no order.
pub(super) fn by_all_cores<T: Send>(count: usize, make: &(dyn Fn(usize) -> Option<T> + Sync)) -> Vec<T> {
    const MOST_THREADS: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(count);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            mine.extend(make(number));
        }
        found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What is wanted of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Outline,
    Whole,
}

/// A file as it was when it had this hash.
pub(super) fn whole(
    workspace: &Workspace,
    path: &str,
    language: Language,
    hash: [u8; 16],
) -> Option<ParsedFile> {
    let text = text(workspace, &place(workspace, path).ok()?).ok()?;
    if hash_of(&text) != hash {
        return None;
    }
    let facts = facts::read(language, &text).ok()?;
    Some((text, facts))
}

fn hash_of(text: &str) -> [u8; 16] {
    let digest = Sha256::digest(text.as_bytes());
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    hash
}

/// One file; `None` when it is gone or of no language.
fn one(
    workspace: &Workspace,
    path: &str,
    known: Option<&FileEntry>,
    keeps: Keeps,
) -> Option<(FileEntry, Option<ParsedFile>)> {
    let place = place(workspace, path).ok()?;
    // LookupCache at before it is read: a change in between is seen the next time.
    let stamp = Seen::at(place.absolute())?.stamp?;
    let is_fresh = is_fresh(stamp);
    let omitted = |hash, omission, language| Some((omitted(path, stamp, hash, omission, language), None));
    let text = match workspace.read_text(&place, LARGEST) {
        Ok(file) => file.text,
        Err(stepwell_workspace::Error::TooLarge { .. }) => {
            return omitted(UNREAD, Omission::TooLarge, Language::detect(place.relative(), ""));
        }
        Err(error) if error.is_not_found() => return None,
        Err(_) => return omitted(UNREAD, Omission::Unreadable, None),
    };
    let hash = hash_of(&text);
    if let Some(known) = known.filter(|known| known.hash == hash) {
        return Some((FileEntry { stamp, is_fresh, ..known.clone() }, None));
    }
    let language = Language::detect(place.relative(), &text)?;
    if is_minified(&text) {
        return omitted(hash, Omission::Minified, Some(language));
    }
    let facts = match facts::read(language, &text) {
        Ok(facts) => facts,
        Err(skipped) => return omitted(hash, skipped.into(), Some(language)),
    };
    let uses = facts.occurrences.iter().map(|occurrence| name_hash(occurrence.span.of(&text)));
    let modules = facts.imports.iter().filter_map(|import| module_mark(&import.module));
    let uses = sorted(uses.chain(modules.map(|mark| name_hash(&mark))).collect());
    let (outline, whole) = match keeps {
        Keeps::Whole => (codec::outline(facts.clone()), Some((text, facts))),
        Keeps::Outline => (codec::outline(facts), None),
    };
    let names = outline.definitions.iter().map(|definition| name_hash(&definition.name));
    let aliases = outline.imports.iter().filter(|import| import.is_reexport).flat_map(|import| &import.names);
    let defines = sorted(names.chain(aliases.map(|name| name_hash(&name.alias))).collect());
    let entry = FileEntry {
        path: path.to_owned(),
        language: Some(language),
        omission: None,
        stamp,
        hash,
        is_fresh,
        uses,
        defines,
        imports: imports_of(&outline),
        outline: Outline::Here(codec::encode(&outline).into()),
    };
    Some((entry, whole))
}

fn omitted(
    path: &str,
    stamp: FileStamp,
    hash: [u8; 16],
    omission: Omission,
    language: Option<Language>,
) -> FileEntry {
    FileEntry {
        path: path.to_owned(),
        language,
        omission: Some(omission),
        stamp,
        hash,
        is_fresh: is_fresh(stamp),
        uses: Arc::default(),
        defines: Arc::default(),
        imports: Arc::default(),
        outline: Outline::Here(Arc::default()),
    }
}

fn imports_of(outline: &Facts) -> Arc<str> {
    let modules: Vec<&str> = outline.imports.iter().map(|import| import.module.as_str()).collect();
    modules.join("\n").into()
}

/// What stands among the names a file uses for a module that it imports by its path: no name, but the last part of the
/// path without its ending, as `./part`.
pub(crate) fn module_mark(module: &str) -> Option<String> {
    let last = module.rsplit('/').next().filter(|_| module.starts_with('.'))?;
    let part = last.split('.').next().filter(|part| !part.is_empty())?;
    Some(format!("./{part}"))
}

fn sorted(mut hashes: Vec<u32>) -> Arc<[u32]> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into()
}

/// Whether nearly all of a text stands in lines that no person writes. One such line in a source that is otherwise
/// written by hand, say a picture in a test, changes nothing.
fn is_minified(text: &str) -> bool {
    /// What is so short may have any lines.
    const SHORT: usize = 10_000;
    const LONGEST_LINE: usize = 500;
    if text.len() <= SHORT {
        return false;
    }
    let written: usize = text.split('\n').map(str::len).filter(|length| *length <= LONGEST_LINE).sum();
    written < text.len() / 10
}
