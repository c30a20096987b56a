//! A folder with everything in it, as snapshots see it: no symbolic link is followed, names are bytes.
//!
//! [`Tree::scan`] says what is there; the other methods look at, read, make and remove single entries. Every path
//! is resolved by the kernel beneath the root and without links, so a folder that was swapped for a link is an
//! error and never a way out.

mod scan;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::write::replace_by;
use crate::{Error, Result};

pub use scan::{ScanOptions, Scanned};

#[derive(Debug)]
pub struct Tree {
    path: PathBuf,
    root: OwnedFd,
}

/// An entry, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub kind: SeenKind,
    /// Permission bits.
    pub mode: u32,
    pub size: u64,
    pub stamp: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenKind {
    File,
    Link,
    Folder,
    /// A socket, a device, a FIFO.
    Other,
}

/// What changes when a file does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub modified_ns: i64,
    pub changed_ns: i64,
    pub inode: u64,
}

impl Tree {
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| Error::io("open", path, errno.into()))?;
        Ok(Self { path: path.to_path_buf(), root })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is at a path; `None` when nothing is, or when the way to it is not one of folders.
    pub fn look(&self, relative: &Path) -> Result<Option<Seen>> {
        let (folder, name) = match self.parent(relative) {
            Ok(found) => found,
            Err(error) if is_gone(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(seen(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(self.failed("look at", relative, errno)),
        }
    }

    /// The content of a regular file of at most `limit` bytes, with what it was when it was opened.
    pub fn read(&self, relative: &Path, limit: u64) -> Result<(Vec<u8>, Seen)> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open_at(relative, flags).map_err(|errno| self.failed("read", relative, errno))?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| self.failed("read", relative, errno))?;
        crate::boundary::regular(FileType::from_raw_mode(stat.st_mode), &self.path.join(relative))?;
        let seen = seen(&stat);
        let mut content = Vec::with_capacity(seen.size.min(limit) as usize + 1);
        let mut file = File::from(file).take(limit + 1);
        file.read_to_end(&mut content)
            .map_err(|error| Error::io("read", &self.path.join(relative), error))?;
        if content.len() as u64 > limit {
            let path = self.path.join(relative);
            return Err(Error::TooLarge { path, bytes: seen.size.max(content.len() as u64), limit });
        }
        Ok((content, seen))
    }

    /// Where a symbolic link points, as it is written.
    pub fn read_link(&self, relative: &Path) -> Result<Vec<u8>> {
        let (folder, name) = self.parent(relative)?;
        let target = rustix::fs::readlinkat(&folder, name, Vec::new())
            .map_err(|errno| self.failed("read the link", relative, errno))?;
        Ok(target.into_bytes())
    }

    /// Makes or replaces a file, all or nothing.
    pub fn put_file(&self, relative: &Path, content: &[u8], mode: u32) -> Result<()> {
        let (folder, name) = self.parent(relative)?;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let fresh = mode & Mode::from_raw_mode(0o777);
        replace_by(&folder, name, content, fresh, |file| Ok(rustix::fs::fchmod(file, mode)?))
            .map_err(|error| Error::io("write", &self.path.join(relative), error))
    }

    pub fn put_link(&self, relative: &Path, target: &[u8]) -> Result<()> {
        let (folder, name) = self.parent(relative)?;
        rustix::fs::symlinkat(OsString::from_vec(target.to_vec()), &folder, name)
            .map_err(|errno| self.failed("make the link", relative, errno))
    }

    /// Makes a folder, or gives the one that is there these permissions.
    pub fn put_folder(&self, relative: &Path, mode: u32) -> Result<()> {
        let (folder, name) = self.parent(relative)?;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let made = match rustix::fs::mkdirat(&folder, name, mode) {
            Err(Errno::EXIST) => Ok(()),
            made => made,
        };
        made.and_then(|()| self.open_at(relative, OFlags::RDONLY | OFlags::DIRECTORY))
            .and_then(|folder| rustix::fs::fchmod(folder, mode))
            .map_err(|errno| self.failed("make the folder", relative, errno))
    }

    pub fn set_mode(&self, relative: &Path, mode: u32) -> Result<()> {
        self.open_at(relative, OFlags::RDONLY | OFlags::NONBLOCK)
            .and_then(|file| rustix::fs::fchmod(file, Mode::from_raw_mode(mode & 0o7777)))
            .map_err(|errno| self.failed("set the permissions of", relative, errno))
    }

    /// Removes a file or a link, or a folder that is empty.
    pub fn remove(&self, relative: &Path, kind: SeenKind) -> Result<()> {
        let (folder, name) = self.parent(relative)?;
        let flags = if kind == SeenKind::Folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(&folder, name, flags).map_err(|errno| self.failed("remove", relative, errno))
    }

    /// The folder that holds an entry, and the entry's name.
    fn parent<'a>(&self, relative: &'a Path) -> Result<(OwnedFd, &'a OsStr)> {
        let name = relative.file_name().ok_or_else(|| Error::BadPath {
            path: relative.to_path_buf(),
            reason: "it names no entry of the folder",
        })?;
        let parent = relative.parent().unwrap_or(Path::new(""));
        let folder = self
            .open_at(parent, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|errno| self.failed("open the folder", parent, errno))?;
        Ok((folder, name))
    }

    fn open_at(&self, relative: &Path, flags: OFlags) -> std::result::Result<OwnedFd, Errno> {
        const TRIES: usize = 64;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let path = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let mut opened = Err(Errno::AGAIN);
        for _ in 0..TRIES {
            opened = rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
            if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
                break;
            }
        }
        opened
    }

    fn failed(&self, action: &'static str, relative: &Path, errno: Errno) -> Error {
        let path = self.path.join(relative);
        match errno {
            Errno::LOOP | Errno::XDEV => Error::BadPath { path, reason: "a symbolic link is in the way" },
            errno => Error::io(action, &path, errno.into()),
        }
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. } | Error::NotAFolder { .. } | Error::BadPath { .. })
}

fn seen(stat: &Stat) -> Seen {
    let nanoseconds =
        |seconds: i64, rest: u64| seconds.saturating_mul(1_000_000_000).saturating_add(rest as i64);
    Seen {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => SeenKind::File,
            FileType::Symlink => SeenKind::Link,
            FileType::Directory => SeenKind::Folder,
            _ => SeenKind::Other,
        },
        mode: stat.st_mode & 0o7777,
        size: stat.st_size as u64,
        stamp: Stamp {
            modified_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
        },
    }
}

#[cfg(test)]
#[path = "tree/tests.rs"]
mod tests;
