//! What may not appear in a folder is noticed at once, and moved away when the command has ended.
//!
//! A name that does not exist cannot be mounted over without leaving a file of that name behind, so the command can
//! make it. It gains nothing: the command is ended when the name appears, and nobody finds it there afterwards.

use std::ffi::OsString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{Dir, Mode, OFlags, RenameFlags, open, renameat_with};

use super::{Setup, at};
use crate::plan::{HostPath, Watched};
use crate::protect::is_steering;

pub(super) struct Watch {
    folders: Vec<Folder>,
    queue: Option<OwnedFd>,
    withheld: Option<PathBuf>,
}

struct Folder {
    watched: Watched,
    /// Opened before the command runs; links that it makes lead nowhere.
    handle: OwnedFd,
}

impl Watch {
    pub(super) fn start(watched: &[Watched], withheld: Option<&HostPath>) -> Setup<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        let mut folders = Vec::new();
        for watched in watched {
            let step = || format!("watch `{}`", watched.folder.display());
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let handle = open(&watched.folder.0, flags, Mode::empty()).map_err(at(step()))?;
            if let Some(queue) = &queue {
                // Without a watch, which are limited in number, the look at the end still finds everything.
                inotify::add_watch(queue, &watched.folder.0, WatchFlags::CREATE | WatchFlags::MOVED_TO).ok();
            }
            folders.push(Folder { watched: watched.clone(), handle });
        }
        Ok(Self { folders, queue, withheld: withheld.map(|path| path.0.clone()) })
    }

    pub(super) fn descriptor(&self) -> Option<&OwnedFd> {
        self.queue.as_ref()
    }

    /// Takes the news and says whether something forbidden is there.
    pub(super) fn has_found(&mut self) -> bool {
        if let Some(queue) = &self.queue {
            let mut space = [MaybeUninit::uninit(); 4096];
            let mut news = inotify::Reader::new(queue, &mut space);
            while news.next().is_ok() {}
        }
        self.folders.iter().any(|folder| !folder.forbidden().is_empty())
    }

    /// Moves everything forbidden away; says what, in lines. Only after the last process of the command.
    pub(super) fn sweep(&self) -> Vec<String> {
        let mut told = Vec::new();
        for folder in &self.folders {
            for name in folder.forbidden() {
                let path = folder.watched.folder.join(&name);
                told.push(match self.move_away(folder, &name) {
                    Ok(place) => {
                        format!("stepwell: `{}` was moved to `{}`", path.display(), place.display())
                    }
                    Err(error) => format!("stepwell: `{}` could not be moved away: {error}", path.display()),
                });
            }
        }
        told
    }

    /// Moves an entry to where the person can look at it; beside its place under a harmless name where that lies
    /// on another disk.
    fn move_away(&self, folder: &Folder, name: &OsString) -> rustix::io::Result<PathBuf> {
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        if let Some(withheld) = &self.withheld {
            let place = withheld.join(stamp.to_string());
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&place);
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            if made.is_ok()
                && let Ok(target) = open(&place, flags, Mode::empty())
                && renameat_with(&folder.handle, name, &target, name, RenameFlags::NOREPLACE).is_ok()
            {
                return Ok(place.join(name));
            }
        }
        let mut harmless = OsString::from(format!("withheld-{stamp}-"));
        harmless.push(Path::new(name));
        renameat_with(&folder.handle, name, &folder.handle, &harmless, RenameFlags::NOREPLACE)?;
        Ok(folder.watched.folder.join(harmless))
    }
}

impl Folder {
    /// Names that were not there before and may not be.
    fn forbidden(&self) -> Vec<OsString> {
        use std::os::unix::ffi::OsStrExt;
        let Ok(entries) = Dir::read_from(&self.handle) else { return Vec::new() };
        entries
            .flatten()
            .map(|entry| std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned())
            .filter(|name| name != "." && name != "..")
            .filter(|name| is_steering(self.watched.kind, name))
            .filter(|name| !self.watched.present.iter().any(|known| known.0.as_os_str() == name))
            .collect()
    }
}
