//! Cache of parsed files, with reading ahead in the background.
//!
//! Programs that ask more than once keep what they read, and read the rest on a thread of their own while nobody asks,
//! so that a question finds the files it needs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use stepwell_workspace::Workspace;

use super::{FileId, read};
use crate::facts::{Context, Facts, Occurrence};
use crate::languages::Language;

/// The text of a file with all its facts.
pub(crate) type ParsedFile = (String, Facts);

/// A file with the hash of what was read of it.
pub(super) type Key = (FileId, [u8; 16]);

/// Bytes that outlines may take in memory, about. A tree of many large headers has gigabytes of them.
pub(super) const OUTLINE_BYTES: usize = 128 << 20;
/// Bytes that files read whole may take in memory, about.
const WHOLE_BYTES: usize = 192 << 20;
/// How much of it is filled with files that nobody has asked for yet.
const SPARE_BYTES: usize = WHOLE_BYTES / 4 * 3;

/// Values by file, thrown away all at once when they weigh too much.
pub(super) struct Cache<T> {
    most: usize,
    weight: usize,
    pub values: HashMap<Key, Arc<T>>,
}

impl<T> Cache<T> {
    pub fn new(most: usize) -> Self {
        Self { most, weight: 0, values: HashMap::new() }
    }

    /// Keeps a value where only the number of them counts.
    pub fn put(&mut self, key: Key, value: T) -> Arc<T> {
        self.put_heavy(key, value, 1)
    }

    pub(crate) fn put_heavy(&mut self, key: Key, value: T, weight: usize) -> Arc<T> {
        if self.weight + weight > self.most {
            self.values.clear();
            self.weight = 0;
        }
        let value = Arc::new(value);
        self.weight += weight;
        self.values.insert(key, Arc::clone(&value));
        value
    }
}

/// The memory that a file read whole takes, about.
pub(super) fn weight((text, facts): &ParsedFile) -> usize {
    text.len() + facts_weight(facts)
}

/// The memory that what a file says takes, about.
pub(super) fn facts_weight(facts: &Facts) -> usize {
    /// A definition with the short texts it holds and its part of the tables.
    const DEFINITION: usize = 400;
    size_of::<ParsedFile>()
        + facts.occurrences.len() * size_of::<Occurrence>()
        + facts.contexts.len() * size_of::<Context>()
        + facts.definitions.len() * DEFINITION
}

/// The files that were read whole, and the thread that reads more of them.
pub(super) struct FileCache {
    kept: Arc<Mutex<Cache<ParsedFile>>>,
    reader: Option<Reader>,
}

/// Ends when it is dropped.
struct Reader {
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // It looks after each file, and no file takes longer than its limit.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl Default for FileCache {
    fn default() -> Self {
        Self { kept: Arc::new(Mutex::new(Cache::new(WHOLE_BYTES))), reader: None }
    }
}

fn lock(kept: &Mutex<Cache<ParsedFile>>) -> MutexGuard<'_, Cache<ParsedFile>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FileCache {
    pub fn get(&self, key: &Key) -> Option<Arc<ParsedFile>> {
        lock(&self.kept).values.get(key).map(Arc::clone)
    }

    pub fn contains(&self, key: &Key) -> bool {
        lock(&self.kept).values.contains_key(key)
    }

    pub fn put(&self, key: Key, whole: ParsedFile) -> Arc<ParsedFile> {
        let weight = weight(&whole);
        lock(&self.kept).put_heavy(key, whole, weight)
    }

    /// Forgets a file as it no longer is.
    pub fn remove(&self, key: &Key) {
        let mut kept = lock(&self.kept);
        if let Some(whole) = kept.values.remove(key) {
            kept.weight = kept.weight.saturating_sub(weight(&whole));
        }
    }

    /// Keeps what may be asked for later, where there is room.
    pub(crate) fn put_spare(&self, key: Key, whole: ParsedFile) {
        let weight = weight(&whole);
        let mut kept = lock(&self.kept);
        if kept.weight + weight <= SPARE_BYTES {
            kept.put_heavy(key, whole, weight);
        }
    }

    /// The bytes that may be filled before anybody asks.
    pub fn room(&self) -> usize {
        SPARE_BYTES.saturating_sub(lock(&self.kept).weight)
    }

    /// Whether a thread has been reading files, and is done.
    pub(crate) fn is_filled(&self) -> bool {
        let reader = self.reader.as_ref();
        reader.is_some_and(|reader| reader.thread.as_ref().is_none_or(JoinHandle::is_finished))
    }

    /// Begins to read files on a thread, once.
    pub fn fill(&mut self, workspace: &Workspace, wanted: impl FnOnce() -> Vec<(Key, String, Language)>) {
        if self.reader.is_some() {
            return;
        }
        let (kept, workspace) = (Arc::clone(&self.kept), workspace.clone());
        let is_stopped = Arc::new(AtomicBool::new(false));
        let mut wanted = wanted();
        wanted.retain(|(key, ..)| !lock(&kept).values.contains_key(key));
        let is_ended = Arc::clone(&is_stopped);
        let work = move || {
            for (key, path, language) in wanted {
                let is_known = lock(&kept).values.contains_key(&key);
                if is_known || is_ended.load(Ordering::Relaxed) {
                    continue;
                }
                let Some(whole) = read::whole(&workspace, &path, language, key.1) else { continue };
                let weight = weight(&whole);
                let mut kept = lock(&kept);
                if kept.weight + weight > SPARE_BYTES {
                    return;
                }
                kept.put_heavy(key, whole, weight);
            }
        };
        // Where there can be no thread, files are read when they are asked for.
        let thread = std::thread::Builder::new().name("code-reader".to_owned()).spawn(work).ok();
        self.reader = Some(Reader { is_stopped, thread });
    }
}
