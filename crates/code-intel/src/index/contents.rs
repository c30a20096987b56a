//! What files say: from the file of the index, from memory, or from the source.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::file_cache::ParsedFile;
use super::{FileEntry, FileId, Index, Outline, codec, file_cache, read};
use crate::facts::{self, Facts, Manifest};

impl Index {
    /// Returns the facts of a file without its local names.
    pub fn outline(&self, id: FileId) -> Arc<Facts> {
        self.sight.touch(id);
        let Some(entry) = self.entry_in(id) else { return Arc::default() };
        let key = (id, entry.hash);
        if let Some(known) = self.outlines.borrow().values.get(&key) {
            return Arc::clone(known);
        }
        let decoded = match &entry.outline {
            Outline::Here(bytes) => codec::decode(bytes),
            Outline::Stored => self.database.outline(&entry.path, entry.hash),
        };
        let facts = decoded.unwrap_or_else(|| codec::outline(self.whole(id).1.clone()));
        let weight = file_cache::facts_weight(&facts);
        self.outlines.borrow_mut().put_heavy(key, facts, weight)
    }

    /// The text of a file with all its facts.
    pub fn whole(&self, id: FileId) -> Arc<ParsedFile> {
        self.sight.touch(id);
        let Some(entry) = self.entry_in(id) else { return Arc::default() };
        let key = (id, entry.hash);
        if let Some(known) = self.wholes.get(&key) {
            return known;
        }
        if let Some(excerpt) = self.excerpts.borrow().get(&key) {
            return Arc::clone(excerpt);
        }
        let read = || {
            let place = self.workspace.place(&entry.path).ok()?;
            let text = read::text(&self.workspace, &place).ok()?;
            let facts = facts::read(entry.language?, &text).ok()?;
            Some((text, facts))
        };
        let whole = read().unwrap_or_default();
        self.wholes.put(key, whole)
    }

    /// Reads files that a question is about to need, by all cores at once, as far as they are about some names: until
    /// the next time, that is what [`Index::whole`] gives of those that are not known whole.
    pub(crate) fn preload(&self, ids: &[FileId], names: &[&str]) {
        self.excerpts.borrow_mut().clear();
        let is_known = |key: &(FileId, [u8; 16])| self.wholes.contains(key);
        let missing = ids.iter().filter_map(|id| {
            let entry = self.entry_in(*id)?;
            let key = (*id, entry.hash);
            Some((key, (entry.path.as_str(), entry.language?))).filter(|(key, _)| !is_known(key))
        });
        let (keys, wanted): (Vec<_>, Vec<_>) = missing.unzip();
        if wanted.len() < 2 {
            return;
        }
        for (index, said, is_whole) in read::about(&self.workspace, &wanted, names) {
            if is_whole {
                self.wholes.put(keys[index], said);
            } else {
                self.excerpts.borrow_mut().insert(keys[index], Arc::new(said));
            }
        }
    }

    /// What a look at the text of each file gives, by all cores and without parsing, until this time; and whether it was
    /// enough for all of them.
    pub(crate) fn each_text<T: Send>(
        &self,
        until: Instant,
        look: &(dyn Fn(FileId, &str) -> Option<T> + Sync),
    ) -> (Vec<T>, bool) {
        let files: Vec<(FileId, &FileEntry)> =
            self.entries().filter(|(_, entry)| entry.omission.is_none()).collect();
        let (workspace, wholes, is_late) = (&self.workspace, &self.wholes, AtomicBool::new(false));
        let found = read::by_all_cores(files.len(), &|number| {
            let (id, entry) = files.get(number)?;
            if is_late.load(Ordering::Relaxed) {
                return None;
            }
            is_late.fetch_or(Instant::now() >= until, Ordering::Relaxed);
            if let Some(whole) = wholes.get(&(*id, entry.hash)) {
                return look(*id, &whole.0);
            }
            let text = read::text(workspace, &workspace.place(&entry.path).ok()?).ok()?;
            look(*id, &text)
        });
        (found, !is_late.into_inner())
    }

    /// The text of a file alone, which takes no parsing.
    pub(crate) fn source(&self, id: FileId) -> Arc<String> {
        self.sight.touch(id);
        let Some(entry) = self.entry(id) else { return Arc::default() };
        let key = (id, entry.hash);
        if let Some(known) = self.sources.borrow().values.get(&key) {
            return Arc::clone(known);
        }
        let known = self.wholes.get(&key).map(|whole| whole.0.clone());
        let text = known.or_else(|| {
            let place = self.workspace.place(&entry.path).ok()?;
            read::text(&self.workspace, &place).ok()
        });
        self.sources.borrow_mut().put(key, text.unwrap_or_default())
    }

    /// What a `package.json` or the settings of a project say.
    pub(crate) fn manifest(&self, id: FileId) -> Arc<Manifest> {
        self.sight.touch(id);
        let Some(entry) = self.entry(id) else { return Arc::default() };
        let key = (id, entry.hash);
        if let Some(known) = self.manifests.borrow().values.get(&key) {
            return Arc::clone(known);
        }
        let text =
            self.workspace.place(&entry.path).ok().and_then(|place| read::text(&self.workspace, &place).ok());
        let manifest = text.map(|text| Manifest::read(&text)).unwrap_or_default();
        self.manifests.borrow_mut().put(key, manifest)
    }

    /// The `-D`, `-U` and `-std` that a file of C or C++ is compiled with, where a `compile_commands.json` says so.
    pub(crate) fn compile_flags(&self, id: FileId) -> Arc<[String]> {
        self.commands.flags(&self.workspace, self.path(id))
    }

    /// The files that describe packages of scripts.
    pub(crate) fn packages(&self) -> Arc<[FileId]> {
        if let Some(known) = self.packages.borrow().as_ref() {
            return Arc::clone(known);
        }
        let is_package = |path: &str| path.rsplit('/').next() == Some("package.json");
        let found = self.entries().filter(|(_, entry)| is_package(&entry.path)).map(|(id, _)| id);
        let found: Arc<[FileId]> = found.collect();
        *self.packages.borrow_mut() = Some(Arc::clone(&found));
        found
    }

    /// A line of a file, without the white space around it and no longer than anyone reads.
    pub(crate) fn source_line(&self, id: FileId, line: u32) -> String {
        const LONGEST: usize = 200;
        let source = self.source(id);
        let line = source.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        line.trim().chars().take(LONGEST).collect()
    }
}
