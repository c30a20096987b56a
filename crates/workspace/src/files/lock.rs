//! A lock between processes that frees itself when its holder ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

use crate::{Error, Result};

/// An exclusive lock on a small file (mode 0600) that holds the process id of who has it.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    path: PathBuf,
}

/// What came of asking for a lock.
#[derive(Debug)]
pub enum LockAttempt {
    Taken(LockFile),
    /// Someone else has it; `pid` is who, where the file says so.
    Busy {
        pid: Option<u32>,
    },
}

impl LockFile {
    /// Takes the lock, or says at once that someone else has it.
    pub fn try_take(path: &Path) -> Result<LockAttempt> {
        let mut lock = Self::open(path)?;
        match rustix::fs::flock(&lock.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                lock.write_holder()?;
                Ok(LockAttempt::Taken(lock))
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(LockAttempt::Busy { pid: lock.read_holder() }),
            Err(errno) => Err(Error::io("lock", path, errno.into())),
        }
    }

    /// Waits for the lock. Only for locks that are held for the length of a few file operations.
    pub fn take(path: &Path) -> Result<Self> {
        let lock = Self::open(path)?;
        loop {
            match rustix::fs::flock(&lock.file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(lock),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(Error::io("lock", path, errno.into())),
            }
        }
    }

    /// Waits for the lock until the time is over: whoever has it may be stopped, and would never give it back.
    pub fn take_within(path: &Path, time: Duration) -> Result<Self> {
        const LOOK_AGAIN: Duration = Duration::from_millis(5);
        let deadline = Instant::now() + time;
        loop {
            let holder = match Self::try_take(path)? {
                LockAttempt::Taken(lock) => return Ok(lock),
                LockAttempt::Busy { pid } => pid,
            };
            if Instant::now() >= deadline {
                let who = holder.map(|pid| format!(" (process {pid})")).unwrap_or_default();
                let reason = format!("another process{who} has held it for {} s", time.as_secs());
                return Err(Error::io("lock", path, io::Error::new(io::ErrorKind::TimedOut, reason)));
            }
            // The kernel tells nobody that a file lock is free again.
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(|error| Error::io("open", path, error))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// The process id is only for the message that a second process shows: on a full disk the lock still holds.
    fn write_holder(&mut self) -> Result<()> {
        let text = format!("{:<10}\n", std::process::id());
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(text.as_bytes()));
        match written.map_err(|error| Error::io("write", &self.path, error)) {
            Ok(()) | Err(Error::DiskFull { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read_holder(&mut self) -> Option<u32> {
        let mut text = String::new();
        self.file.read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_not_given_back_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = LockFile::take_within(&path, Duration::ZERO).unwrap();
        let error = LockFile::take_within(&path, Duration::from_millis(20)).unwrap_err().to_string();
        assert!(error.contains(&format!("another process (process {})", std::process::id())), "{error}");
        drop(held);
        assert!(LockFile::take_within(&path, Duration::ZERO).is_ok());
    }
}
