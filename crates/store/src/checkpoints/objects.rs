//! Contents by their hash: one growing pack, and an index of where each begins.
//!
//! An object is written once. The pack alone is enough: an index that is missing or behind is made from it. A
//! record that a crash cut off is cut away when the pack is next opened.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stepwell_workspace::files::{self, DataFile};

use crate::{Error, Result};

/// The hash of a content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId(pub(super) [u8; 32]);

impl ObjectId {
    pub(super) fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for ObjectId {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(format!("`{text}` is no content's name"));
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|error| error.to_string())?;
        }
        Ok(Self(bytes))
    }
}

/// Hash, how it is stored, length, stored length.
const HEADER: usize = 32 + 1 + 4 + 4;
/// A header and where the content begins in the pack.
const INDEX_ENTRY: usize = HEADER + 8;
const PLAIN: u8 = 0;
const LZ4: u8 = 1;

#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: u64,
    stored: u32,
    length: u32,
    form: u8,
}

#[derive(Debug)]
pub(super) struct Objects {
    folder: PathBuf,
    generation: u64,
    pack: DataFile,
    index: DataFile,
    slots: HashMap<ObjectId, Slot>,
    /// How much of the index file is in `slots`.
    indexed: u64,
}

/// A content on its way into the pack; making one is the work that can be done on several threads.
pub(super) struct Packed {
    pub id: ObjectId,
    header: [u8; HEADER],
    bytes: Vec<u8>,
}

impl Packed {
    pub(super) fn new(content: Vec<u8>) -> Self {
        let id = ObjectId::of(&content);
        let length = content.len() as u32;
        let squeezed = lz4_flex::block::compress(&content);
        let (form, bytes) = if squeezed.len() < content.len() { (LZ4, squeezed) } else { (PLAIN, content) };
        let mut header = [0; HEADER];
        header[..32].copy_from_slice(&id.0);
        header[32] = form;
        header[33..37].copy_from_slice(&length.to_le_bytes());
        header[37..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        Self { id, header, bytes }
    }
}

impl Objects {
    /// Opens the newest pack in a folder, or begins one.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let generation = newest_generation(folder)?;
        let pack = DataFile::open(&pack_path(folder, generation))?;
        let index = DataFile::open(&index_path(folder, generation))?;
        let mut objects =
            Self { folder: folder.to_path_buf(), generation, pack, index, slots: HashMap::new(), indexed: 0 };
        objects.read_index()?;
        Ok(objects)
    }

    /// Takes over what another process has written. The caller holds the lock.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        if newest_generation(&self.folder)? != self.generation {
            *self = Self::open(&self.folder)?;
            return Ok(());
        }
        let (pack, index) = (self.pack.len(), self.indexed);
        if self.pack.refresh()? != pack || self.index.refresh()? != index {
            self.read_index()?;
        }
        Ok(())
    }

    fn read_index(&mut self) -> Result<()> {
        let whole = self.index.len() - self.index.len() % INDEX_ENTRY as u64;
        let bytes = self.index.read_at(self.indexed, (whole - self.indexed) as usize)?;
        for entry in bytes.chunks_exact(INDEX_ENTRY) {
            let (id, slot) = read_header(entry, u64::from_le_bytes(array(&entry[HEADER..])));
            if slot.offset + u64::from(slot.stored) <= self.pack.len() {
                self.slots.insert(id, slot);
            }
        }
        self.indexed = whole;
        self.index_the_rest()
    }

    /// Indexes what the pack has beyond the index, and cuts off a record that is not whole.
    fn index_the_rest(&mut self) -> Result<()> {
        let mut at =
            self.slots.values().map(|slot| slot.offset + u64::from(slot.stored)).max().unwrap_or_default();
        let mut entries = Vec::new();
        while at + HEADER as u64 <= self.pack.len() {
            let header = self.pack.read_at(at, HEADER)?;
            let (id, slot) = read_header(&header, at + HEADER as u64);
            let end = slot.offset + u64::from(slot.stored);
            if end > self.pack.len() {
                break;
            }
            entries.extend_from_slice(&header);
            entries.extend_from_slice(&slot.offset.to_le_bytes());
            self.slots.insert(id, slot);
            at = end;
        }
        if at < self.pack.len() {
            self.pack.truncate(at)?;
        }
        if self.index.len() > self.indexed {
            self.index.truncate(self.indexed)?;
        }
        self.append_to_index(&entries)
    }

    fn append_to_index(&mut self, entries: &[u8]) -> Result<()> {
        if !entries.is_empty() {
            self.index.append(entries)?;
            self.indexed = self.index.len();
        }
        Ok(())
    }

    pub(super) fn has(&self, id: &ObjectId) -> bool {
        self.slots.contains_key(id)
    }

    /// Writes those that are new.
    pub(super) fn add(&mut self, batch: Vec<Packed>) -> Result<()> {
        let mut pack = Vec::new();
        let mut entries = Vec::new();
        let mut slots = Vec::new();
        let start = self.pack.len();
        for packed in batch {
            if self.has(&packed.id) || slots.iter().any(|(id, _)| *id == packed.id) {
                continue;
            }
            pack.extend_from_slice(&packed.header);
            let offset = start + pack.len() as u64;
            pack.extend_from_slice(&packed.bytes);
            entries.extend_from_slice(&packed.header);
            entries.extend_from_slice(&offset.to_le_bytes());
            slots.push(read_header(&packed.header, offset));
        }
        if slots.is_empty() {
            return Ok(());
        }
        self.pack.append(&pack)?;
        self.slots.extend(slots);
        self.append_to_index(&entries)
    }

    pub(super) fn sync(&self) -> Result<()> {
        Ok(self.pack.sync()?)
    }

    pub(super) fn get(&self, id: &ObjectId) -> Result<Vec<u8>> {
        let damaged = || Error::CheckpointContent { id: id.to_string() };
        let slot = self.slots.get(id).ok_or_else(damaged)?;
        let stored = self.pack.read_at(slot.offset, slot.stored as usize).map_err(|_| damaged())?;
        let content = match slot.form {
            PLAIN => stored,
            LZ4 => lz4_flex::block::decompress(&stored, slot.length as usize).map_err(|_| damaged())?,
            _ => return Err(damaged()),
        };
        if ObjectId::of(&content) == *id { Ok(content) } else { Err(damaged()) }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.pack.len() + self.index.len()
    }

    /// Copies the objects that are still wanted into a new pack and removes the old one.
    pub(super) fn keep_only(&mut self, wanted: impl Fn(&ObjectId) -> bool) -> Result<()> {
        let next = self.generation + 1;
        // Written under another name first: a pack counts once it is complete.
        let (unfinished, unfinished_index) =
            (self.folder.join("unfinished.pack"), self.folder.join("unfinished.index"));
        for path in [&unfinished, &unfinished_index] {
            if let Err(error) = files::remove_file(path)
                && !error.is_not_found()
            {
                return Err(error.into());
            }
        }
        let mut pack = DataFile::open(&unfinished)?;
        let mut kept: Vec<(&ObjectId, &Slot)> = self.slots.iter().filter(|(id, _)| wanted(id)).collect();
        kept.sort_by_key(|(_, slot)| slot.offset);
        for (_, slot) in kept {
            let length = HEADER + slot.stored as usize;
            pack.append(&self.pack.read_at(slot.offset - HEADER as u64, length)?)?;
        }
        pack.sync()?;
        files::rename(&unfinished, &pack_path(&self.folder, next))?;
        files::sync_dir(&self.folder)?;
        let (old_pack, old_index) = (self.pack.path().to_path_buf(), self.index.path().to_path_buf());
        *self = Self::open(&self.folder)?;
        files::remove_file(&old_pack)?;
        files::remove_file(&old_index)?;
        Ok(())
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

fn pack_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("{generation:08}.pack"))
}

fn index_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("{generation:08}.index"))
}

fn newest_generation(folder: &Path) -> Result<u64> {
    let paths = files::list_dir(folder)?;
    let packs = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "pack"));
    Ok(packs.filter_map(|path| path.file_stem()?.to_str()?.parse().ok()).max().unwrap_or(0))
}

fn read_header(header: &[u8], offset: u64) -> (ObjectId, Slot) {
    let id = ObjectId(array(header));
    let length = u32::from_le_bytes(array(&header[33..]));
    let stored = u32::from_le_bytes(array(&header[37..]));
    (id, Slot { offset, stored, length, form: header[32] })
}

/// The first bytes of a slice; missing ones are zero, which no caller lets happen.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let length = N.min(bytes.len());
    out[..length].copy_from_slice(&bytes[..length]);
    out
}
