//! Writing files of the workspace: all or nothing, by renaming.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use crate::boundary::regular;
use crate::{Error, Inside, Result, Workspace};

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Created,
    Replaced,
}

/// Whether a file is a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executable {
    /// As it is; a new file is none.
    Keep,
    Yes,
    No,
}

impl Workspace {
    /// Replaces or creates a file; a reader sees the old content or the new, never a part. An existing file
    /// keeps its mode, its extended attributes and, where that is allowed, its owner. Hard links to it elsewhere keep
    /// the old content. A symbolic link is written through when its target lies in the workspace.
    pub fn write(&self, place: &Inside, content: &[u8]) -> Result<Written> {
        self.write_as(place, content, Executable::Keep)
    }

    /// The same, and says whether the file is a program.
    pub fn write_as(&self, place: &Inside, content: &[u8], executable: Executable) -> Result<Written> {
        let target = self.follow_link(place)?;
        let (folder, name) = self.open_parent(&target)?;
        let failed = |error| Error::io("write", target.absolute(), error);
        let old = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                regular(FileType::from_raw_mode(stat.st_mode), target.absolute())?;
                Some(stat)
            }
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(failed(errno.into())),
        };
        replace(&folder, name, content, old.as_ref(), executable).map_err(failed)?;
        Ok(if old.is_some() { Written::Replaced } else { Written::Created })
    }

    /// Whether a file is a program for its owner; what cannot be looked at is none.
    pub fn is_executable(&self, place: &Inside) -> bool {
        let file = self.open_file(place).ok();
        let stat = file.and_then(|file| rustix::fs::fstat(&file).ok());
        stat.is_some_and(|stat| stat.st_mode & 0o100 != 0)
    }

    /// Deletes a regular file. A symbolic link is not one: what it leads to was not meant.
    pub fn remove(&self, place: &Inside) -> Result<()> {
        let failed = |errno: Errno| Error::io("delete", place.absolute(), errno.into());
        let (folder, name) = self.open_existing_parent(place)?;
        let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        regular(FileType::from_raw_mode(stat.st_mode), place.absolute())?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(failed)
    }

    /// Where a path leads after all symbolic links, for who judges it by its name: the deepest folder of it that exists,
    /// resolved, and the rest as it was given. A path that leads out is given back as it is; opening it is refused.
    pub fn real_path(&self, place: &Inside) -> PathBuf {
        if let Ok(target) = self.follow_link(place)
            && target.absolute() != place.absolute()
        {
            return target.absolute().to_path_buf();
        }
        for folder in place.absolute().ancestors().skip(1) {
            let Ok(above) = self.place(&folder.to_string_lossy()) else { break };
            if let (Ok(real), Ok(rest)) = (self.folder_path(&above), place.absolute().strip_prefix(folder)) {
                return real.join(rest);
            }
        }
        place.absolute().to_path_buf()
    }

    /// Where a symbolic link leads, when it leads to a file in the workspace; the place itself otherwise. The
    /// link is resolved by the kernel beneath the root, so one that leads out is an error here.
    fn follow_link(&self, place: &Inside) -> Result<Inside> {
        let link = std::fs::symlink_metadata(place.absolute());
        if !link.is_ok_and(|metadata| metadata.file_type().is_symlink()) {
            return Ok(place.clone());
        }
        let failed = |error| Error::io("write", place.absolute(), error);
        let file = self.open_file(place)?;
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let path = std::fs::read_link(link).map_err(failed)?;
        let target = self.place(&path.to_string_lossy())?;
        // The kernel calls a file that was deleted meanwhile "name (deleted)", which is another file's name.
        let opened = rustix::fs::fstat(&file).map_err(|errno| failed(errno.into()))?;
        let (folder, name) = self.open_existing_parent(&target)?;
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if (stat.st_dev, stat.st_ino) == (opened.st_dev, opened.st_ino) => Ok(target),
            _ => Err(failed(io::Error::other("it was replaced while it was written; try again"))),
        }
    }
}

fn replace(
    folder: &OwnedFd,
    name: &OsStr,
    content: &[u8],
    old: Option<&Stat>,
    executable: Executable,
) -> io::Result<()> {
    // What only its owner may read is never readable to others, not even while it is written.
    let kept = old.map(|stat| Mode::from_raw_mode(stat.st_mode & 0o7777));
    let fresh = kept.unwrap_or(Mode::from_raw_mode(0o666)) & Mode::from_raw_mode(0o777);
    replace_by(folder, name, content, with_executable(fresh, executable), |file| {
        if let (Some(stat), Some(mode)) = (old, kept) {
            keep_owner(file, stat);
            keep_attributes(folder, name, stat, file)?;
            rustix::fs::fchmod(file, with_executable(mode, executable))?;
        }
        Ok(())
    })
}

/// How names of files that are not written to their end begin. The number of the writing process and a counter follow.
const TEMPORARY: &str = ".stepwell-";

/// Returns the process that made a temporary file of this name.
pub fn writer_of_temporary(name: &OsStr) -> Option<u32> {
    let (process, count) = name.to_str()?.strip_prefix(TEMPORARY)?.split_once('-')?;
    count.parse::<u64>().ok()?;
    process.parse().ok()
}

/// Puts a new file in the place of a name, all or nothing. `finish` gives it what else it needs before that.
pub(crate) fn replace_by(
    folder: &OwnedFd,
    name: &OsStr,
    content: &[u8],
    mode: Mode,
    finish: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let temporary = format!("{TEMPORARY}{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = match rustix::fs::openat(folder, temporary.as_str(), flags, mode) {
        // Left behind by a process of the same number that was killed.
        Err(Errno::EXIST) => {
            rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty())?;
            File::from(rustix::fs::openat(folder, temporary.as_str(), flags, mode)?)
        }
        opened => File::from(opened?),
    };
    let written = file.write_all(content).and_then(|()| {
        finish(&file)?;
        rustix::fs::renameat(folder, temporary.as_str(), folder, name).map_err(io::Error::from)
    });
    if written.is_err() {
        // The first failure is the one to tell.
        rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty()).ok();
    }
    written
}

/// Who may read a program may run it, as git has it.
fn with_executable(mode: Mode, executable: Executable) -> Mode {
    let bits = mode.as_raw_mode();
    Mode::from_raw_mode(match executable {
        Executable::Keep => bits,
        Executable::Yes => bits | (bits & 0o444) >> 2,
        Executable::No => bits & !0o111,
    })
}

/// Gives the new file the owner of the old. Only root may give files away; for others it stays theirs.
fn keep_owner(file: &File, old: &Stat) {
    let Ok(new) = rustix::fs::fstat(file) else { return };
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        rustix::fs::fchown(file, Some(owner), Some(group)).ok();
    }
}

/// Copies the extended attributes of the file that is replaced.
fn keep_attributes(folder: &OwnedFd, name: &OsStr, stat: &Stat, to: &File) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let old = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(old) => old,
        // A file that may be replaced and not read has attributes that cannot be read either.
        Err(Errno::ACCESS) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    let opened = rustix::fs::fstat(&old)?;
    if (opened.st_dev, opened.st_ino) != (stat.st_dev, stat.st_ino) {
        return Err(io::Error::other("it was replaced while it was written; try again"));
    }
    let names = match attribute(|buffer| rustix::fs::flistxattr(old.as_fd(), buffer)) {
        Ok(names) => names,
        Err(Errno::OPNOTSUPP) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let value = attribute(|buffer| rustix::fs::fgetxattr(old.as_fd(), name, buffer))?;
        match rustix::fs::fsetxattr(to.as_fd(), name, &value, XattrFlags::empty()) {
            Ok(()) => {}
            // Those of the system (labels, access lists) are not ours to set on every machine.
            Err(Errno::PERM | Errno::OPNOTSUPP) if !name.starts_with(b"user.") => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Reads a value whose size is not known beforehand; the kernel allows 64 KB.
fn attribute(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    let mut buffer = vec![0; 64 * 1024];
    let length = read(&mut buffer)?;
    buffer.truncate(length);
    Ok(buffer)
}
