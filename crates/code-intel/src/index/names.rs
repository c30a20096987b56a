//! Files by what they are called, and by the names in them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{FileEntry, FileId, Index};
use crate::facts;

/// Files at most of which it is remembered what they include.
const MOST_INCLUDING: usize = 20_000;

/// Names that are remembered at most.
const MOST_NAMES: usize = 100_000;

/// What was looked up, as long as no file changes.
#[derive(Default)]
pub(super) struct LookupCache {
    /// Files by the last part of their paths.
    by_name: Option<HashMap<String, Vec<FileId>>>,
    /// Files by the folder they lie in.
    by_folder: Option<HashMap<String, Vec<FileId>>>,
    included: HashMap<FileId, Arc<[FileId]>>,
    /// Files by the hash of a name they define, for the names that were asked for.
    defining: HashMap<u32, Vec<FileId>>,
    /// The root files of the Rust crates, by name.
    crates: Option<Arc<HashMap<String, FileId>>>,
}

impl LookupCache {
    /// A file has another content: what was looked up in the old one is forgotten, the rest still holds.
    pub fn forget(&mut self, old: &FileEntry, new: &FileEntry) {
        for hash in old.defines.iter().chain(new.defines.iter()) {
            self.defining.remove(hash);
        }
        if old.imports != new.imports {
            self.included.clear();
        }
        if new.path.ends_with("Cargo.toml") {
            self.crates = None;
        }
    }
}

impl Index {
    /// The files whose paths end in this name.
    pub(crate) fn files_called(&self, name: &str) -> Vec<FileId> {
        let mut found = self.found.borrow_mut();
        let by_name = found.by_name.get_or_insert_with(|| self.files_by(|path| split_path(path).1));
        by_name.get(name).cloned().unwrap_or_default()
    }

    /// The files that lie in this folder, not in one beneath it.
    pub(crate) fn files_in(&self, folder: &str) -> Vec<FileId> {
        let mut found = self.found.borrow_mut();
        let by_folder = found.by_folder.get_or_insert_with(|| self.files_by(|path| split_path(path).0));
        by_folder.get(folder).cloned().unwrap_or_default()
    }

    fn files_by(&self, part: impl Fn(&str) -> &str) -> HashMap<String, Vec<FileId>> {
        let mut files: HashMap<String, Vec<FileId>> = HashMap::new();
        for (id, entry) in self.entries() {
            let part = part(&entry.path);
            match files.get_mut(part) {
                Some(known) => known.push(id),
                None => drop(files.insert(part.to_owned(), vec![id])),
            }
        }
        // Files are numbered as they were read, which differs between runs.
        for together in files.values_mut() {
            together.sort_unstable_by(|left, right| self.path(*left).cmp(self.path(*right)));
        }
        files
    }

    /// What a file includes, directly or not, in order; found once.
    pub(crate) fn included_by(&self, id: FileId, find: impl FnOnce() -> HashSet<FileId>) -> Arc<[FileId]> {
        if let Some(known) = self.found.borrow().included.get(&id) {
            return Arc::clone(known);
        }
        let mut included: Vec<FileId> = find().into_iter().collect();
        included.sort_unstable();
        let included: Arc<[FileId]> = included.into();
        let known = &mut self.found.borrow_mut().included;
        if known.len() >= MOST_INCLUDING {
            known.clear();
        }
        known.insert(id, Arc::clone(&included));
        included
    }

    /// The modules that a file imports, as they are written.
    pub(crate) fn imports(&self, id: FileId) -> impl Iterator<Item = &str> {
        self.sight.touch(id);
        self.entry(id).into_iter().flat_map(|entry| entry.imports.lines())
    }

    /// The root files of Rust crates by their names, found once.
    pub(crate) fn crates(
        &self,
        find: impl FnOnce() -> HashMap<String, FileId>,
    ) -> Arc<HashMap<String, FileId>> {
        if let Some(known) = &self.found.borrow().crates {
            return Arc::clone(known);
        }
        let crates = Arc::new(find());
        self.found.borrow_mut().crates = Some(Arc::clone(&crates));
        crates
    }

    /// The files that define a name for others.
    pub(crate) fn defining(&self, name: &str) -> Vec<FileId> {
        let hash = facts::name_hash(name);
        if let Some(known) = self.found.borrow().defining.get(&hash) {
            return known.clone();
        }
        let found = self.entries().filter(|(_, entry)| entry.defines.binary_search(&hash).is_ok());
        let found: Vec<FileId> = found.map(|(id, _)| id).collect();
        let mut looked = self.found.borrow_mut();
        if looked.defining.len() >= MOST_NAMES {
            looked.defining.clear();
        }
        looked.defining.insert(hash, found.clone());
        found
    }

    /// The files in which a name stands.
    pub(crate) fn using(&self, name: &str) -> Vec<FileId> {
        let hash = facts::name_hash(name);
        let found = self.entries().filter(|(_, entry)| entry.uses.binary_search(&hash).is_ok());
        found.map(|(id, _)| id).collect()
    }

    /// How many names the files define for others, about.
    pub(crate) fn defined_count(&self) -> usize {
        self.entries().map(|(_, entry)| entry.defines.len()).sum()
    }

    /// How many files use each of some names, by the hashes of [`FileEntry`].
    pub(crate) fn use_counts_of(&self, names: impl Iterator<Item = u32>) -> HashMap<u32, u32> {
        let mut counts: HashMap<u32, u32> = names.map(|name| (name, 0)).collect();
        // There are many more names than these: most of them are told apart by a few bits.
        let mut may_be = vec![false; 1 << 16];
        for name in counts.keys() {
            may_be[(name & 0xffff) as usize] = true;
        }
        for (_, entry) in self.entries() {
            for hash in entry.uses.iter().filter(|hash| may_be[(**hash & 0xffff) as usize]) {
                counts.entry(*hash).and_modify(|count| *count += 1);
            }
        }
        counts
    }

    /// How many files use each name, about: names whose hashes end alike are counted together.
    pub(crate) fn rough_use_counts(&self) -> RoughCounts {
        let mut counts = RoughCounts(vec![0; 1 << RoughCounts::BITS]);
        for (_, entry) in self.entries() {
            for hash in entry.uses.iter() {
                counts.0[RoughCounts::place(*hash)] += 1;
            }
        }
        counts
    }
}

/// Counts of very many names in a few megabytes.
pub(crate) struct RoughCounts(Vec<u32>);

impl RoughCounts {
    const BITS: u32 = 21;

    fn place(hash: u32) -> usize {
        (hash & ((1 << Self::BITS) - 1)) as usize
    }

    pub fn of(&self, hash: u32) -> f64 {
        f64::from(self.0[Self::place(hash)])
    }
}

/// The folder of a path and the name in it.
pub(super) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
