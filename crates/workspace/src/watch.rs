//! What the kernel says of changes in folders, so that files need not be looked at one by one.
//!
//! An event is in the queue before the call that changed the file returns, so a queue that is found empty says that
//! nothing changed, on the file systems for which the kernel makes every change itself. On others (network mounts,
//! FUSE, `/proc`) somebody else changes files without a word; these are refused, as is a folder when there are more
//! than may be watched. Who is refused looks at the files instead. Stores into mapped memory make no event either:
//! what an answer is made of is looked at besides.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

/// Folders that are watched at most, however many the machine would allow.
const MOST_FOLDERS: usize = 100_000;
/// Where the kernel does not say how many folders a person may watch.
const USUAL_LIMIT: usize = 8192;

/// The file systems on which all changes are made by this kernel, by the numbers `statfs` has for them.
const TOLD: &[u32] = &[
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs
    0xF2F5_2010, // F2FS
    0x2FC1_2FC1, // ZFS
    0xCA45_1A4E, // bcachefs
    0x3153_464A, // JFS
    0x3434,      // NILFS
    0x4D44,      // FAT
    0x2011_BAB0, // exFAT
    0x7366_746E, // NTFS
    0x7371_7368, // SquashFS
    0xE0F5_E1E2, // EROFS
];

/// Why a folder cannot be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatchable {
    /// There is no such folder, or it may not be read.
    Missing,
    /// Its file system does not tell of all changes, or it is there twice.
    Untold,
    /// There are more folders than may be watched.
    TooMany,
}

/// What was told since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Files that came, went or changed.
    pub files: HashSet<PathBuf>,
    /// Whether a folder was made: it is not watched yet.
    pub has_new_folder: bool,
    /// Whether events were lost or folders moved: a new watch is needed, and a look at everything.
    pub is_lost: bool,
}

impl News {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.has_new_folder && !self.is_lost
    }
}

/// A watch over folders, each by itself.
#[derive(Debug)]
pub struct Watcher {
    queue: OwnedFd,
    most: usize,
    paths: HashMap<i32, PathBuf>,
    folders: HashSet<PathBuf>,
    is_lost: bool,
}

impl Watcher {
    pub fn new() -> Result<Self, Unwatchable> {
        // Half of what the person may watch: editors and others need some, too.
        let allowed = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
        let allowed = allowed.ok().and_then(|text| text.trim().parse::<usize>().ok());
        Self::with_limit((allowed.unwrap_or(USUAL_LIMIT) / 2).min(MOST_FOLDERS))
    }

    /// Watches so many folders at most.
    pub fn with_limit(most: usize) -> Result<Self, Unwatchable> {
        let queue =
            inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|_| Unwatchable::TooMany)?;
        Ok(Self { queue, most, paths: HashMap::new(), folders: HashSet::new(), is_lost: false })
    }

    pub fn is_watching(&self, folder: &Path) -> bool {
        self.folders.contains(folder)
    }

    /// Watches a folder, not what is beneath it. The folder above must be watched first: else one could be put in
    /// the place of the other unseen.
    pub fn add(&mut self, folder: &Path) -> Result<(), Unwatchable> {
        if self.is_watching(folder) {
            return Ok(());
        }
        if self.paths.len() >= self.most {
            return Err(Unwatchable::TooMany);
        }
        let system = rustix::fs::statfs(folder).map_err(|_| Unwatchable::Missing)?;
        // The number has 32 bits, whatever the type it is given in.
        if !TOLD.contains(&(system.f_type as u32)) {
            return Err(Unwatchable::Untold);
        }
        let flags = WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVE_SELF
            | WatchFlags::DELETE_SELF
            | WatchFlags::EXCL_UNLINK
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let watch = inotify::add_watch(&self.queue, folder, flags).map_err(|errno| match errno {
            Errno::NOSPC | Errno::NOMEM => Unwatchable::TooMany,
            _ => Unwatchable::Missing,
        })?;
        // A folder that is mounted in two places has one watch, and its events could be of either.
        if self.paths.insert(watch, folder.to_path_buf()).is_some() {
            return Err(Unwatchable::Untold);
        }
        self.folders.insert(folder.to_path_buf());
        Ok(())
    }

    /// Takes everything that was told; never waits.
    pub fn news(&mut self) -> News {
        let mut news = News { is_lost: self.is_lost, ..News::default() };
        let mut space = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(&self.queue, &mut space);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    news.is_lost = true;
                    break;
                }
            };
            let what = event.events();
            if what.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT | ReadFlags::MOVE_SELF) {
                news.is_lost = true;
                continue;
            }
            if what.contains(ReadFlags::IGNORED) {
                // The folder is gone, and the kernel with it forgot the watch.
                if let Some(folder) = self.paths.remove(&event.wd()) {
                    self.folders.remove(&folder);
                }
                continue;
            }
            let (Some(folder), Some(name)) = (self.paths.get(&event.wd()), event.file_name()) else {
                continue;
            };
            if !what.contains(ReadFlags::ISDIR) {
                news.files.insert(folder.join(OsStr::from_bytes(name.to_bytes())));
            } else if what.intersects(ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO) {
                // What is beneath it has other paths now than those it was watched by.
                news.is_lost = true;
            } else if what.contains(ReadFlags::CREATE) {
                news.has_new_folder = true;
            }
        }
        self.is_lost |= news.is_lost;
        news
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
