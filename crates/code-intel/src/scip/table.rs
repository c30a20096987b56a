//! Where in an `index.scip` each document lies, and which symbols it has.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

use stepwell_workspace::Workspace;
use stepwell_workspace::files::{self, FileStamp};

use super::FILE;
use super::wire::{Damaged, Document, Fields, Part, is_local, names};
use crate::index::name_hash;

/// A larger file is not read.
const LARGEST: u64 = 1024 * 1024 * 1024;
/// Of one document at most so much is in memory.
const LARGEST_DOCUMENT: u64 = 64 * 1024 * 1024;
/// Pairs of symbols that belong together, at most.
const MOST_PAIRS: usize = 200_000;

/// A document's place in the file.
pub(crate) struct Entry {
    offset: u64,
    length: u64,
    /// Hashes of the symbols that stand in it and of the names it defines, in order.
    symbols: Box<[u32]>,
    defines: Box<[u32]>,
}

/// The file, read once to know where everything is. Documents are read when they are asked for.
pub(crate) struct Table {
    pub stamp: FileStamp,
    file: File,
    entries: HashMap<String, Entry>,
    together: HashMap<String, Vec<String>>,
}

/// What is known of a workspace's `index.scip`.
#[derive(Default)]
pub(crate) enum State {
    #[default]
    Absent,
    Read(std::sync::Arc<Table>),
    /// There is one that cannot be used, and why; of which state of the file that is so.
    Unusable(Option<FileStamp>, String),
}

impl State {
    /// The state now, read again only where the file changed.
    pub(crate) fn renew(&mut self, workspace: &Workspace) {
        // Hidden by a rule: as if there were none.
        let Ok(place) = workspace.place(FILE) else { return *self = Self::Absent };
        let stamp = match files::stamp(place.absolute()) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => return *self = Self::Absent,
            Err(error) => return *self = Self::Unusable(None, error.to_string()),
        };
        let known = match self {
            Self::Absent => None,
            Self::Read(table) => Some(table.stamp),
            Self::Unusable(stamp, _) => *stamp,
        };
        if known == Some(stamp) {
            return;
        }
        let read = || {
            if stamp.len > LARGEST {
                return Err(format!("it is larger than {} MiB", LARGEST / (1024 * 1024)));
            }
            let file = workspace.open_file(&place).map_err(|error| error.to_string())?;
            Table::read(file, stamp)
        };
        *self = match read() {
            Ok(table) => Self::Read(std::sync::Arc::new(table)),
            Err(reason) => Self::Unusable(Some(stamp), reason),
        };
    }
}

impl Table {
    fn read(file: File, stamp: FileStamp) -> Result<Self, String> {
        let broken = |_: Damaged| "it is damaged".to_owned();
        let failed = |error: std::io::Error| format!("it could not be read: {error}");
        let mut entries = HashMap::new();
        let mut together: HashMap<String, Vec<String>> = HashMap::new();
        let mut pairs = 0;
        let mut source = Counted { source: BufReader::with_capacity(256 * 1024, &file), offset: 0 };
        let mut bytes = Vec::new();
        while !source.is_at_end().map_err(failed)? {
            let tag = source.varint().map_err(failed)?.ok_or(Damaged).map_err(broken)?;
            let length = source.varint().map_err(failed)?.ok_or(Damaged).map_err(broken)?;
            // All fields of an index are messages.
            if tag & 7 != 2 || length > stamp.len.saturating_sub(source.offset) {
                return Err(broken(Damaged));
            }
            let offset = source.offset;
            if tag >> 3 != 2 {
                source.skip(length).map_err(failed)?;
                continue;
            }
            if length > LARGEST_DOCUMENT {
                return Err(format!(
                    "one of its documents is larger than {} MiB",
                    LARGEST_DOCUMENT / (1024 * 1024)
                ));
            }
            source.fill(&mut bytes, length).map_err(failed)?;
            let document = Document::decode(&bytes).map_err(broken)?;
            for (one, other) in &document.together {
                pairs += 1;
                if pairs <= MOST_PAIRS {
                    together.entry((*one).to_owned()).or_default().push((*other).to_owned());
                    together.entry((*other).to_owned()).or_default().push((*one).to_owned());
                }
            }
            entries.insert(document.path.to_owned(), Entry::new(&document, offset, length));
        }
        Ok(Self { stamp, file, entries, together })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// The bytes of a document; `None` where the file has none of that name or has changed under our hands.
    pub(crate) fn document(&self, path: &str) -> Option<Vec<u8>> {
        let entry = self.entries.get(path)?;
        let mut bytes = vec![0; entry.length as usize];
        self.file.read_exact_at(&mut bytes, entry.offset).ok()?;
        Some(bytes)
    }

    /// The documents in which a symbol may stand, in order.
    pub(crate) fn with_symbol(&self, symbol: &str) -> Vec<&str> {
        self.paths(|entry| entry.symbols.binary_search(&name_hash(symbol)).is_ok())
    }

    /// The documents that may define a name for others, in order.
    pub(crate) fn with_name(&self, name: &str) -> Vec<&str> {
        self.paths(|entry| entry.defines.binary_search(&name_hash(name)).is_ok())
    }

    fn paths(&self, is_wanted: impl Fn(&Entry) -> bool) -> Vec<&str> {
        let wanted = self.entries.iter().filter(|(_, entry)| is_wanted(entry));
        let mut paths: Vec<&str> = wanted.map(|(path, _)| path.as_str()).collect();
        paths.sort_unstable();
        paths
    }

    /// The symbols whose uses are told with those of this one.
    pub(crate) fn together(&self, symbol: &str) -> &[String] {
        self.together.get(symbol).map_or(&[], Vec::as_slice)
    }
}

impl Entry {
    fn new(document: &Document<'_>, offset: u64, length: u64) -> Self {
        let (mut symbols, mut defines) = (Vec::new(), Vec::new());
        for occurrence in document.occurrences.iter().filter(|one| !is_local(one.symbol)) {
            symbols.push(name_hash(occurrence.symbol));
            if occurrence.is_definition()
                && let Some((name, part)) = names(occurrence.symbol).last()
                && *part != Part::Inner
            {
                defines.push(name_hash(name));
            }
        }
        let distinct = |mut hashes: Vec<u32>| {
            hashes.sort_unstable();
            hashes.dedup();
            hashes.into_boxed_slice()
        };
        Self { offset, length, symbols: distinct(symbols), defines: distinct(defines) }
    }
}

/// A stream that knows how far it was read.
struct Counted<R> {
    source: R,
    offset: u64,
}

impl<R: BufRead> Counted<R> {
    fn is_at_end(&mut self) -> std::io::Result<bool> {
        Ok(self.source.fill_buf()?.is_empty())
    }

    /// A number; `None` where there is none.
    fn varint(&mut self) -> std::io::Result<Option<u64>> {
        let mut bytes = Vec::with_capacity(10);
        while bytes.len() < 10 {
            let mut next = [0];
            if self.source.read(&mut next)? == 0 {
                return Ok(None);
            }
            self.offset += 1;
            bytes.push(next[0]);
            if next[0] & 0x80 == 0 {
                return Ok(Fields(&bytes).varint().ok());
            }
        }
        Ok(None)
    }

    fn fill(&mut self, bytes: &mut Vec<u8>, length: u64) -> std::io::Result<()> {
        bytes.clear();
        bytes.resize(length as usize, 0);
        self.source.read_exact(bytes)?;
        self.offset += length;
        Ok(())
    }

    fn skip(&mut self, length: u64) -> std::io::Result<()> {
        std::io::copy(&mut (&mut self.source).take(length), &mut std::io::sink())?;
        self.offset += length;
        Ok(())
    }
}
