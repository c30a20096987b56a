//! A file of records that only grows and is read at any place.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Who writes it holds a lock elsewhere; who reads it need not.
#[derive(Debug)]
pub struct DataFile {
    file: File,
    path: PathBuf,
    length: u64,
}

impl DataFile {
    /// Opens or creates the file, mode 0600.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("open", path, error);
        let file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        Ok(Self { file, path: path.to_path_buf(), length })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length when it was last looked at.
    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Looks at the length again: another process may have written.
    pub fn refresh(&mut self) -> Result<u64> {
        self.length = self.file.metadata().map_err(|error| self.failed("look at", error))?.len();
        Ok(self.length)
    }

    /// Appends all of `bytes`, or nothing, and says where they begin.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let start = self.length;
        if let Err(error) = self.file.write_all(bytes) {
            // Whoever opens it next cuts off what this could not.
            self.file.set_len(start).ok();
            return Err(self.failed("append to", error));
        }
        self.length += bytes.len() as u64;
        Ok(start)
    }

    pub fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).map_err(|error| self.failed("read", error))?;
        Ok(bytes)
    }

    pub fn truncate(&mut self, length: u64) -> Result<()> {
        self.file.set_len(length).map_err(|error| self.failed("cut", error))?;
        self.length = length;
        Ok(())
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.failed("sync", error))
    }

    fn failed(&self, action: &'static str, error: std::io::Error) -> Error {
        Error::io(action, &self.path, error)
    }
}
