//! Reading a file that another process may be appending to.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A file opened for reading at any place.
#[derive(Debug)]
pub struct ReadFile {
    file: File,
    path: PathBuf,
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    pub len: u64,
    /// Changes when the file is replaced by another of the same name.
    pub inode: u64,
    /// Nanoseconds since 1970 of the last change.
    pub modified_ns: i64,
}

impl FileStamp {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Self {
            len: metadata.len(),
            inode: metadata.ino(),
            modified_ns: metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()),
        }
    }
}

impl ReadFile {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    pub fn stamp(&self) -> Result<FileStamp> {
        let metadata = self.file.metadata().map_err(|error| Error::io("look at", &self.path, error))?;
        Ok(FileStamp::of(&metadata))
    }

    /// Everything from `offset` to the end of the file as it is now; empty when the file is shorter.
    pub fn read_from(&self, offset: u64) -> Result<Vec<u8>> {
        self.read_range(offset, u64::MAX)
    }

    /// At most `limit` bytes from `offset` on.
    pub fn read_range(&self, offset: u64, limit: u64) -> Result<Vec<u8>> {
        let failed = |error| Error::io("read", &self.path, error);
        let len = self.file.metadata().map_err(failed)?.len();
        let mut bytes = vec![0; len.saturating_sub(offset).min(limit) as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The state of a file, or `None` when there is no such file.
pub fn stamp(path: &Path) -> Result<Option<FileStamp>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(FileStamp::of(&metadata))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("look at", path, error)),
    }
}

/// Gives `to` the content of `from` without copying where the file system can; for files that never change.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::io("copy", from, error));
        }
        Err(_) => {}
    }
    let content = super::read(from)?;
    super::write_atomic(to, &content, super::Privacy::Private)
}
