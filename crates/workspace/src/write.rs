//! Writing files of the workspace: all or nothing, by renaming.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::boundary::regular;
use crate::{Error, Inside, Result, Workspace};

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Created,
    Replaced,
}

impl Workspace {
    /// Replaces or creates a file; a reader sees the old content or the new, never a part. An existing file
    /// keeps its mode. Hard links to it elsewhere keep the old content. A symbolic link is written through
    /// when its target lies in the workspace.
    pub fn write(&self, place: &Inside, content: &[u8]) -> Result<Written> {
        let target = self.follow_link(place)?;
        let (folder, name) = self.open_parent(&target)?;
        let mode = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                regular(FileType::from_raw_mode(stat.st_mode), target.absolute())?;
                Some(Mode::from_raw_mode(stat.st_mode & 0o7777))
            }
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(Error::io("write", target.absolute(), errno.into())),
        };
        replace(&folder, name, content, mode)
            .map_err(|error| Error::io("write", target.absolute(), error))?;
        Ok(if mode.is_some() { Written::Replaced } else { Written::Created })
    }

    /// Where a symbolic link leads, when it leads to a file in the workspace; the place itself otherwise. The
    /// link is resolved by the kernel beneath the root, so one that leads out is an error here.
    fn follow_link(&self, place: &Inside) -> Result<Inside> {
        let link = std::fs::symlink_metadata(place.absolute());
        if !link.is_ok_and(|metadata| metadata.file_type().is_symlink()) {
            return Ok(place.clone());
        }
        let file = self.open_file(place)?;
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let target = std::fs::read_link(link).map_err(|error| Error::io("write", place.absolute(), error))?;
        self.place(&target.to_string_lossy())
    }
}

pub(crate) fn replace(
    folder: &OwnedFd,
    name: &OsStr,
    content: &[u8],
    mode: Option<Mode>,
) -> std::io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let temporary = format!(".stepwell-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What only its owner may read is never readable to others, not even while it is written.
    let fresh = mode.unwrap_or(Mode::from_raw_mode(0o666)) & Mode::from_raw_mode(0o777);
    let mut file = match rustix::fs::openat(folder, temporary.as_str(), flags, fresh) {
        // Left behind by a process of the same number that was killed.
        Err(Errno::EXIST) => {
            rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty())?;
            File::from(rustix::fs::openat(folder, temporary.as_str(), flags, fresh)?)
        }
        opened => File::from(opened?),
    };
    let written = file.write_all(content).and_then(|()| {
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        rustix::fs::renameat(folder, temporary.as_str(), folder, name).map_err(std::io::Error::from)
    });
    if written.is_err() {
        // The first failure is the one to tell.
        rustix::fs::unlinkat(folder, temporary.as_str(), AtFlags::empty()).ok();
    }
    written
}
