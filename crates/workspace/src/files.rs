//! Stepwell's own files: settings, task logs, blobs. Host paths, never a model's.

mod data;
mod lock;
mod reader;
mod rotating;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation};

use crate::{Error, Result};

pub use data::DataFile;
pub use lock::{LockAttempt, LockFile};
pub use reader::{FileStamp, ReadFile, link_or_copy, stamp};
pub use rotating::{RotatingFile, RotationLimits};

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// Mode 0600: keys, conversations.
    Private,
    /// As the umask says.
    Shared,
}

pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Error::io("read", path, error))
}

/// The first bytes of a file, at most so many.
pub fn read_beginning(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    file.take(most).read_to_end(&mut bytes).map_err(|error| Error::io("read", path, error))?;
    Ok(bytes)
}

pub fn read_to_string(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::io("read", path, error))
}

/// The file's text, or `None` when there is no such file.
pub fn read_if_exists(path: &Path) -> Result<Option<String>> {
    match read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

pub fn metadata(path: &Path) -> Result<fs::Metadata> {
    fs::metadata(path).map_err(|error| Error::io("look at", path, error))
}

/// The path with every symbolic link followed; of one that does not exist, as far as it does.
pub fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_path_buf()
}

/// Creates the folder and its parents with mode 0700.
pub fn create_private_dir(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| Error::io("create the folder", path, error))
}

/// Writes a file so that a reader sees the old content or the new, never a part, also after a crash.
pub fn write_atomic(path: &Path, content: &[u8], privacy: Privacy) -> Result<()> {
    // The parent of a bare file name is the empty path.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error| Error::io("write", path, error);
    let mut file = tempfile::Builder::new()
        .prefix(".stepwell-")
        .permissions(fs::Permissions::from_mode(match privacy {
            Privacy::Private => 0o600,
            Privacy::Shared => 0o666,
        }))
        .tempfile_in(parent)
        .map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    sync_dir(parent)
}

/// Makes a new file only its owner can read; fails when there is one already.
pub fn create_private(path: &Path) -> Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| Error::io("create", path, error))
}

/// The last bytes of a file, at most so many.
pub fn read_end(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |error| Error::io("read", path, error);
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most))).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Gives the disk space of a file's beginning back and keeps its last bytes where they are. The file keeps its length;
/// what was freed reads as zeros. Fails where the file system has no holes.
pub fn free_beginning(path: &Path, keep: u64) -> Result<()> {
    let failed = |error| Error::io("free the beginning of", path, error);
    let file = File::options().write(true).open(path).map_err(|error| Error::io("open", path, error))?;
    let length = file.metadata().map_err(failed)?.len();
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, flags, 0, length.saturating_sub(keep).max(1))
        .map_err(|error| failed(error.into()))
}

/// Empties a file in place. A program that appends to it goes on at its beginning.
pub fn empty(path: &Path) -> Result<()> {
    let file = File::options().write(true).open(path).map_err(|error| Error::io("open", path, error))?;
    file.set_len(0).map_err(|error| Error::io("empty", path, error))
}

/// Makes the creation or renaming of files in a folder survive a power loss.
pub fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(|error| Error::io("sync the folder", path, error))
}

pub fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::io("delete", path, error))
}

pub fn remove_dir_all(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(|error| Error::io("delete", path, error))
}

pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io("rename", from, error))
}

/// The entries of a folder, sorted by name; empty when there is no such folder.
pub fn list_dir(path: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", path, error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| Error::io("list", path, error))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// The entries of a folder with their kinds, in no order. Nothing is looked up for an entry: links are links.
pub fn list_kinds(path: &Path) -> Result<Vec<(PathBuf, fs::FileType)>> {
    let told = |error| Error::io("list", path, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(told)? {
        let entry = entry.map_err(told)?;
        entries.push((entry.path(), entry.file_type().map_err(told)?));
    }
    Ok(entries)
}

/// A file that only grows, with an exclusive lock that dies with the process.
#[derive(Debug)]
pub struct AppendFile {
    file: File,
    path: PathBuf,
    len: u64,
    /// A failed append may have left a part behind that could not be cut off yet.
    torn: bool,
}

impl AppendFile {
    /// Opens or creates the file (mode 0600) and takes its lock; `None` when another process holds it.
    pub fn open_locked(path: &Path) -> Result<Option<Self>> {
        let failed = |error| Error::io("open", path, error);
        let file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(failed(errno.into())),
        }
        let len = file.metadata().map_err(failed)?.len();
        Ok(Some(Self { file, path: path.to_path_buf(), len, torn: false }))
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends all of `bytes` or nothing: a short write (a full disk) is cut off again.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.torn {
            self.truncate(self.len)?;
        }
        if let Err(error) = self.file.write_all(bytes) {
            let failure = Error::io("append to", &self.path, error);
            // If the cut fails too, it is tried again before the next append and when the log is next opened.
            self.torn = self.file.set_len(self.len).is_err();
            return Err(failure);
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::io("sync", &self.path, error))
    }

    /// Cuts the file to `len` bytes. Should that fail, it is tried again before the next append.
    pub fn truncate(&mut self, len: u64) -> Result<()> {
        self.len = len;
        self.torn = true;
        self.file.set_len(len).map_err(|error| Error::io("cut", &self.path, error))?;
        self.torn = false;
        Ok(())
    }

    pub fn read_all(&mut self) -> Result<Vec<u8>> {
        let failed = |error| Error::io("read", &self.path, error);
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut bytes = Vec::with_capacity(self.len as usize);
        self.file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}
