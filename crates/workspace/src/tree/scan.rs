//! Walks a whole tree on a few threads and says what is in it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;

use super::{Seen, SeenKind, Tree, seen};
use crate::Result;
use crate::ignored::{Ignores, is_ignored};

/// Folders that could not be read, as far as they are named.
const NAMED_UNREADABLE: usize = 20;
/// More threads gain nothing: the kernel's locks on folders are what is waited for.
const MOST_THREADS: usize = 4;

pub struct ScanOptions<'a> {
    /// Entries at most; more make the scan stop.
    pub most_entries: usize,
    /// Ignored files up to this size are seen all the same, outside of ignored folders: a `.env` is one.
    pub largest_ignored: u64,
    /// Whether a path was in the last scan, and so needs no look at the ignore files.
    pub is_known: &'a (dyn Fn(&Path) -> bool + Sync),
}

#[derive(Debug, Default)]
pub struct Scanned {
    /// In no order.
    pub entries: Vec<(PathBuf, Seen)>,
    /// There are more than the limit.
    pub is_too_large: bool,
    pub unreadable: Vec<PathBuf>,
    /// Folders with a `.git`, which is not looked into.
    pub repositories: Vec<PathBuf>,
    /// Pipes, sockets and devices.
    pub special: Vec<PathBuf>,
}

struct Job {
    folder: PathBuf,
    ignores: Option<Arc<Ignores>>,
}

struct Queue {
    state: Mutex<(Vec<Job>, usize)>,
    wake: Condvar,
    entries: AtomicUsize,
}

impl Tree {
    /// Everything beneath the root but `.git` and ignored folders.
    pub fn scan(&self, options: &ScanOptions<'_>) -> Result<Scanned> {
        let first = Job { folder: PathBuf::new(), ignores: self.repository_ignores() };
        // That the root can be read is what a scan needs; anything below may be unreadable.
        self.open_at(Path::new(""), OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|errno| self.failed("open the folder", Path::new(""), errno))?;
        let queue =
            Queue { state: Mutex::new((vec![first], 0)), wake: Condvar::new(), entries: AtomicUsize::new(0) };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let mut scanned = Scanned::default();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.work(&queue, options))).collect();
            for worker in workers {
                // A worker that panicked loses its part: the scan then counts as too large to use.
                match worker.join() {
                    Ok(part) => {
                        scanned.entries.extend(part.entries);
                        scanned.unreadable.extend(part.unreadable);
                        scanned.repositories.extend(part.repositories);
                        scanned.special.extend(part.special);
                    }
                    Err(_) => scanned.is_too_large = true,
                }
            }
        });
        scanned.is_too_large |= scanned.entries.len() > options.most_entries;
        scanned.unreadable.truncate(NAMED_UNREADABLE);
        Ok(scanned)
    }

    fn repository_ignores(&self) -> Option<Arc<Ignores>> {
        let text = self.read(Path::new(".git/info/exclude"), 1 << 20).ok()?.0;
        Ignores::below(None, Path::new(""), &String::from_utf8_lossy(&text))
    }

    fn work(&self, queue: &Queue, options: &ScanOptions<'_>) -> Scanned {
        let mut part = Scanned::default();
        let mut found = Vec::new();
        while let Some(job) = queue.next() {
            if queue.entries.load(Ordering::Relaxed) <= options.most_entries {
                let before = part.entries.len();
                if self.folder(&job, options, &mut part, &mut found).is_err() {
                    part.unreadable.push(job.folder);
                }
                queue.entries.fetch_add(part.entries.len() - before, Ordering::Relaxed);
            }
            queue.done(&mut found);
        }
        part
    }

    fn folder(
        &self,
        job: &Job,
        options: &ScanOptions<'_>,
        part: &mut Scanned,
        found: &mut Vec<Job>,
    ) -> std::result::Result<(), Errno> {
        let folder = self.open_at(&job.folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        let mut has_ignore_file = false;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b".git" {
                part.repositories.push(job.folder.clone());
            }
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            has_ignore_file |= name == b".gitignore";
            names.push((OsStr::from_bytes(name).to_os_string(), entry.file_type()));
        }
        let mut ignores = job.ignores.clone();
        if has_ignore_file && let Ok((text, _)) = self.read(&job.folder.join(".gitignore"), 1 << 20) {
            ignores = Ignores::below(ignores, &job.folder, &String::from_utf8_lossy(&text));
        }
        for (name, kind) in names {
            let path = job.folder.join(&name);
            if kind == FileType::Directory && is_ignored(ignores.as_ref(), &path, true) {
                continue;
            }
            // What is gone again since the folder was read is not there.
            let Ok(stat) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let seen = seen(&stat);
            match seen.kind {
                SeenKind::Other => {
                    part.special.push(path);
                    continue;
                }
                SeenKind::Folder => found.push(Job { folder: path.clone(), ignores: ignores.clone() }),
                SeenKind::File | SeenKind::Link => {
                    if seen.size > options.largest_ignored
                        && !(options.is_known)(&path)
                        && is_ignored(ignores.as_ref(), &path, false)
                    {
                        continue;
                    }
                }
            }
            part.entries.push((path, seen));
        }
        Ok(())
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, (Vec<Job>, usize)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next folder, or `None` when all are done.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.0.pop() {
                state.1 += 1;
                return Some(job);
            }
            if state.1 == 0 {
                return None;
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A folder is done; these are the ones found in it.
    fn done(&self, found: &mut Vec<Job>) {
        let mut state = self.lock();
        state.1 -= 1;
        state.0.append(found);
        self.wake.notify_all();
    }
}
