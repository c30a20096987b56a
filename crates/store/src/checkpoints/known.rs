//! The last known state of a folder, so that a file that did not change is not read again.
//!
//! It is a cache with a place in the journal: what the journal says after that place is applied when it is loaded.
//! Where it is lost, files are read again and found to have the contents that are kept already.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::tree::Stamp;

use super::objects::ObjectId;
use super::state::{Change, EntryKind, EntryState};
use crate::Result;
use crate::log::checksum;

const MAGIC: &[u8; 8] = b"stpwell1";

#[derive(Debug, Default)]
pub(super) struct Known {
    pub entries: HashMap<PathBuf, KnownEntry>,
    /// Whether the whole folder was looked at, not only single paths.
    pub is_complete: bool,
    /// How much of the journal is in it.
    pub journal_position: u64,
    /// Changes since it was last saved.
    pub unsaved: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct KnownEntry {
    pub state: EntryState,
    /// Absent where the file may have changed without a trace in its times.
    pub stamp: Option<Stamp>,
    /// The scan it was last seen in.
    pub round: u32,
}

impl Known {
    /// What was saved; nothing where there is nothing usable.
    pub(super) fn load(path: &Path) -> Self {
        files::read(path).ok().and_then(|bytes| read(&bytes)).unwrap_or_default()
    }

    pub(super) fn save(&mut self, path: &Path) -> Result<()> {
        let mut bytes = Vec::with_capacity(64 + self.entries.len() * 160);
        bytes.extend_from_slice(MAGIC);
        bytes.push(u8::from(self.is_complete));
        bytes.extend_from_slice(&self.journal_position.to_le_bytes());
        bytes.extend_from_slice(&(self.entries.len() as u64).to_le_bytes());
        for (path, entry) in &self.entries {
            write_entry(&mut bytes, path, entry);
        }
        let sum = checksum(&[&bytes]);
        bytes.extend_from_slice(&sum.to_le_bytes());
        files::write_atomic(path, &bytes, Privacy::Private)?;
        self.unsaved = 0;
        Ok(())
    }

    /// Takes over what the journal says; the files are read again when they are next looked at.
    pub(super) fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match change.after {
                Some(state) => {
                    let entry = KnownEntry { state, stamp: None, round: 0 };
                    self.entries.insert(change.path.clone(), entry);
                }
                None => drop(self.entries.remove(&change.path)),
            }
        }
        self.unsaved += changes.len();
    }
}

fn write_entry(bytes: &mut Vec<u8>, path: &Path, entry: &KnownEntry) {
    let name = path.as_os_str().as_bytes();
    bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
    bytes.extend_from_slice(name);
    let kind = match entry.state.kind {
        EntryKind::File => 0,
        EntryKind::Link => 1,
        EntryKind::Folder => 2,
    };
    let flags = kind
        | u8::from(entry.state.content.is_some()) << 2
        | u8::from(entry.stamp.is_some()) << 3
        | u8::from(entry.state.modified_ns.is_some()) << 4;
    bytes.push(flags);
    bytes.extend_from_slice(&entry.state.mode.to_le_bytes());
    bytes.extend_from_slice(&entry.state.size.to_le_bytes());
    if let Some(id) = entry.state.content {
        bytes.extend_from_slice(&id.0);
    }
    if let Some(stamp) = entry.stamp {
        bytes.extend_from_slice(&stamp.modified_ns.to_le_bytes());
        bytes.extend_from_slice(&stamp.changed_ns.to_le_bytes());
        bytes.extend_from_slice(&stamp.inode.to_le_bytes());
    }
    if let Some(modified) = entry.state.modified_ns {
        bytes.extend_from_slice(&modified.to_le_bytes());
    }
}

/// Takes values off the front; `None` once there is too little.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
}

fn read(bytes: &[u8]) -> Option<Known> {
    let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    if checksum(&[content]).to_le_bytes() != sum {
        return None;
    }
    let mut reader = Reader(content);
    if reader.array()? != *MAGIC {
        return None;
    }
    let is_complete = reader.array()? == [1];
    let journal_position = u64::from_le_bytes(reader.array()?);
    let count = u64::from_le_bytes(reader.array()?) as usize;
    let mut entries = HashMap::with_capacity(count.min(content.len() / 16));
    for _ in 0..count {
        let length = u32::from_le_bytes(reader.array()?) as usize;
        let path = PathBuf::from(OsString::from_vec(reader.bytes(length)?.to_vec()));
        let [flags] = reader.array()?;
        let kind = match flags & 3 {
            0 => EntryKind::File,
            1 => EntryKind::Link,
            2 => EntryKind::Folder,
            _ => return None,
        };
        let mode = u32::from_le_bytes(reader.array()?);
        let size = u64::from_le_bytes(reader.array()?);
        let content = if flags & 4 == 0 { None } else { Some(ObjectId(reader.array()?)) };
        let stamp = if flags & 8 == 0 {
            None
        } else {
            Some(Stamp {
                modified_ns: i64::from_le_bytes(reader.array()?),
                changed_ns: i64::from_le_bytes(reader.array()?),
                inode: u64::from_le_bytes(reader.array()?),
            })
        };
        let modified_ns = if flags & 16 == 0 { None } else { Some(i64::from_le_bytes(reader.array()?)) };
        let state = EntryState { kind, mode, size, content, modified_ns };
        entries.insert(path, KnownEntry { state, stamp, round: 0 });
    }
    Some(Known { entries, is_complete, journal_position, unsaved: 0 })
}
