//! A log file of bounded size that several processes append to.
//!
//! Every append holds the file's lock, so lines of several processes neither mix nor exceed the bound. A process
//! that finds the file renamed by another one opens the new file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};

use crate::{Error, Result};

/// How long another process may hold the lock: it may be stopped, and would never give it back.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The bounds of a rotating file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationLimits {
    /// The number of files, the current one included; at least 1.
    pub files: u32,
    /// The maximum size of each file in bytes.
    pub bytes: u64,
}

/// A file that is renamed to `NAME.1`, `NAME.2` and so on before it exceeds its bound; the oldest is overwritten.
#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    limits: RotationLimits,
    file: Option<File>,
}

impl RotatingFile {
    /// Opens and creates nothing; the first append does.
    pub fn new(path: PathBuf, limits: RotationLimits) -> Self {
        Self { path, limits, file: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens or creates the file (mode 0600) to see whether it can be appended to.
    pub fn check(&mut self) -> Result<()> {
        let file = self.open()?;
        self.file = Some(file);
        Ok(())
    }

    /// Appends all of `bytes` or nothing.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let size = bytes.len() as u64;
        if size > self.limits.bytes {
            let path = self.path.clone();
            return Err(Error::TooLarge { path, bytes: size, limit: self.limits.bytes });
        }
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            let file = match self.file.take() {
                Some(file) => file,
                None => self.open()?,
            };
            self.lock(&file, deadline)?;
            if !self.is_current(&file)? {
                continue;
            }
            let failed = |error| Error::io("append to", &self.path, error);
            let length = file.metadata().map_err(failed)?.len();
            if length + size > self.limits.bytes {
                self.rotate(&file)?;
                continue;
            }
            let written = (&file).write_all(bytes);
            if written.is_err() {
                // A full disk takes a part of a line.
                file.set_len(length).ok();
            }
            rustix::fs::flock(&file, FlockOperation::Unlock).ok();
            written.map_err(failed)?;
            self.file = Some(file);
            return Ok(());
        }
    }

    fn open(&self) -> Result<File> {
        let failed = |error| Error::io("open", &self.path, error);
        // A link would lead elsewhere, and the opening of a pipe would wait for its reader.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags.cast_signed())
            .open(&self.path)
            .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: self.path.clone(), kind: "a special file" });
        }
        if metadata.mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
        }
        Ok(file)
    }

    fn lock(&self, file: &File, deadline: Instant) -> Result<()> {
        loop {
            match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if Instant::now() < deadline => {
                    // The kernel tells nobody that a file lock is free again.
                    std::thread::sleep(LOOK_AGAIN);
                }
                Err(errno) => return Err(Error::io("lock", &self.path, errno.into())),
            }
        }
    }

    /// Whether the path still names this file: another process may have rotated it.
    fn is_current(&self, file: &File) -> Result<bool> {
        let failed = |error| Error::io("look at", &self.path, error);
        let own = file.metadata().map_err(failed)?;
        match fs::symlink_metadata(&self.path) {
            Ok(named) => Ok((own.dev(), own.ino()) == (named.dev(), named.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    /// Renames all files by one, the current one last: who holds its lock is the only one to do so.
    fn rotate(&self, file: &File) -> Result<()> {
        let failed = |error| Error::io("rotate", &self.path, error);
        if self.limits.files <= 1 {
            return file.set_len(0).map_err(failed);
        }
        for number in (0..self.limits.files - 1).rev() {
            match fs::rename(self.numbered(number), self.numbered(number + 1)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    fn numbered(&self, number: u32) -> PathBuf {
        if number == 0 {
            return self.path.clone();
        }
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RotationLimits = RotationLimits { files: 3, bytes: 100 };

    fn files_in(folder: &Path) -> Vec<(String, u64)> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let paths = crate::files::list_dir(folder).unwrap();
        paths.iter().map(|path| (name(path), path.metadata().unwrap().len())).collect()
    }

    #[test]
    fn the_oldest_file_goes_and_none_exceeds_the_bound() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = RotatingFile::new(folder.path().join("log"), LIMITS);
        for number in 0..100 {
            file.append(format!("line {number:04}\n").as_bytes()).unwrap();
            assert!(files_in(folder.path()).iter().all(|(_, size)| *size <= 100));
        }
        let names: Vec<_> = files_in(folder.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["log", "log.1", "log.2"]);
        let newest = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(newest.ends_with("line 0099\n"), "{newest}");
        assert!(matches!(file.append(&[b'x'; 101]), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn writers_share_the_file_without_torn_lines() {
        let folder = tempfile::tempdir().unwrap();
        let limits = RotationLimits { files: 50, bytes: 1000 };
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let mut file = RotatingFile::new(folder.path().join("log"), limits);
                scope.spawn(move || {
                    for number in 0..100 {
                        let line = format!("writer {writer} line {number:03}\n");
                        // A busy machine may let a wait for the lock end; such a line is lost as a whole.
                        while file.append(line.as_bytes()).is_err() {}
                    }
                });
            }
        });
        let mut lines = Vec::new();
        for path in crate::files::list_dir(folder.path()).unwrap() {
            let text = fs::read_to_string(path).unwrap();
            assert!(text.len() <= 1000);
            lines.extend(text.lines().map(str::to_owned));
        }
        lines.sort();
        let mut expected: Vec<_> = (0..4)
            .flat_map(|writer| (0..100).map(move |number| format!("writer {writer} line {number:03}")))
            .collect();
        expected.sort();
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_file_is_private_and_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        RotatingFile::new(path.clone(), LIMITS).append(b"x\n").unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(RotatingFile::new(link, LIMITS).append(b"x\n").is_err());
    }

    #[test]
    fn a_lock_that_is_not_given_back_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = RotatingFile::new(folder.path().join("log"), LIMITS);
        file.check().unwrap();
        let other = File::open(folder.path().join("log")).unwrap();
        rustix::fs::flock(&other, FlockOperation::LockExclusive).unwrap();
        assert!(file.append(b"x\n").is_err());
        drop(other);
        file.append(b"y\n").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "y\n");
    }
}
