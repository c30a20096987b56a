//! Reading many files at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use stepwell_workspace::files::{self, FileStamp};
use stepwell_workspace::search::IsCancelled;
use stepwell_workspace::{Inside, Workspace};

use super::{FileEntry, Omission, OnProgress, codec, is_fresh, place};
use crate::error::Result;
use crate::facts::{self, Facts};
use crate::languages::Language;

const LARGEST: u64 = 2 * 1024 * 1024;
/// Lines that no person writes: a file with one this long, or with many half as long, is made by a program.
const LONGEST_LINE: usize = 20_000;
const LONGEST_AVERAGE: usize = 400;

/// A short hash of a name, to find the files that may have it.
pub(super) fn name_hash(name: &str) -> u32 {
    // FNV-1a.
    name.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

pub(super) fn text(workspace: &Workspace, place: &Inside) -> Result<String> {
    Ok(workspace.read_text(place, LARGEST)?.text)
}

/// Reads the files on all processors. What is known already by its content is not parsed again.
pub(super) fn all<'k>(
    workspace: &Workspace,
    paths: &[String],
    known: &(dyn Fn(&str) -> Option<&'k FileEntry> + Sync),
    progress: OnProgress<'_>,
    is_cancelled: IsCancelled<'_>,
) -> (Vec<FileEntry>, bool) {
    const MOST_THREADS: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = threads.min(paths.len().div_ceil(4)).max(1);
    let (next, done, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let found = Mutex::new(Vec::with_capacity(paths.len()));
    let work = || {
        let mut mine = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            if is_cancelled() {
                stopped.store(true, Ordering::Relaxed);
                break;
            }
            mine.extend(one(workspace, path, known(path)));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, paths.len());
        }
        found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
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
    (found.into_inner().unwrap_or_else(PoisonError::into_inner), stopped.into_inner())
}

/// Texts with everything they say, read by all cores at once, each with its place among those that are wanted.
pub(super) fn wholes(workspace: &Workspace, wanted: &[(&str, Language)]) -> Vec<(usize, (String, Facts))> {
    const MOST_THREADS: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((path, language)) = wanted.get(index) else { break };
            let read = || {
                let text = self::text(workspace, &place(workspace, path).ok()?).ok()?;
                let facts = facts::read(*language, &text).ok()?;
                Some((text, facts))
            };
            mine.extend(read().map(|whole| (index, whole)));
        }
        found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(wanted.len()) {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// One file; `None` when it is gone or of no language.
fn one(workspace: &Workspace, path: &str, known: Option<&FileEntry>) -> Option<FileEntry> {
    let place = place(workspace, path).ok()?;
    // Looked at before it is read: a change in between is seen the next time.
    let stamp = files::stamp(place.absolute()).ok().flatten()?;
    let is_fresh = is_fresh(stamp);
    let omitted = |omission, language| Some(omitted(path, stamp, omission, language));
    let text = match workspace.read_text(&place, LARGEST) {
        Ok(file) => file.text,
        Err(stepwell_workspace::Error::TooLarge { .. }) => {
            return omitted(Omission::TooLarge, Language::detect(place.relative(), ""));
        }
        Err(error) if error.is_not_found() => return None,
        Err(_) => return omitted(Omission::Unreadable, None),
    };
    let digest = Sha256::digest(text.as_bytes());
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    if let Some(known) = known.filter(|known| known.hash == hash) {
        return Some(FileEntry { stamp, is_fresh, ..known.clone() });
    }
    let language = Language::detect(place.relative(), &text)?;
    if is_minified(&text) {
        return omitted(Omission::Minified, Some(language));
    }
    let facts = match facts::read(language, &text) {
        Ok(facts) => facts,
        Err(skipped) => return omitted(skipped.into(), Some(language)),
    };
    let uses = facts.occurrences.iter().map(|occurrence| name_hash(occurrence.span.of(&text)));
    let uses = sorted(uses.collect());
    let outline = codec::outline(&facts);
    let names = outline.definitions.iter().map(|definition| name_hash(&definition.name));
    let aliases = outline.imports.iter().filter(|import| import.is_reexport).flat_map(|import| &import.names);
    let defines = sorted(names.chain(aliases.map(|name| name_hash(&name.alias))).collect());
    Some(FileEntry {
        path: path.to_owned(),
        language: Some(language),
        omission: None,
        stamp,
        hash,
        is_fresh,
        uses,
        defines,
        outline: codec::encode(&outline).into(),
    })
}

fn omitted(path: &str, stamp: FileStamp, omission: Omission, language: Option<Language>) -> FileEntry {
    FileEntry {
        path: path.to_owned(),
        language,
        omission: Some(omission),
        stamp,
        hash: [0; 16],
        is_fresh: is_fresh(stamp),
        uses: Arc::default(),
        defines: Arc::default(),
        outline: Arc::default(),
    }
}

fn sorted(mut hashes: Vec<u32>) -> Arc<[u32]> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into()
}

fn is_minified(text: &str) -> bool {
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let longest = text.lines().map(str::len).max().unwrap_or_default();
    longest > LONGEST_LINE || text.len() > 10_000 && text.len() / lines > LONGEST_AVERAGE
}
