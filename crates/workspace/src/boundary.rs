//! The wall around the workspace: every path a model gives is resolved by the kernel beneath a root.
//!
//! `openat2` with `RESOLVE_BENEATH` refuses `..` and symbolic links that lead out, at the moment of opening, so
//! nothing can be swapped between a check and its use. Absolute paths are accepted when they begin with a root.
//! Everything else the path may be (a FIFO, a device) is opened without blocking and refused by its type.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::hidden::{Denial, Hidden};
use crate::{Error, Result};

/// A root folder and the descriptor all paths beneath it are resolved from.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    /// As it was named; a model may use this spelling where it has symbolic links.
    named: PathBuf,
    folder: OwnedFd,
    hidden: Hidden,
}

/// The folders tools may work in. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace {
    roots: Arc<Vec<Root>>,
}

/// A path beneath a root, by name only: it need not exist, and only opening it decides whether it may be used.
#[derive(Clone, Debug)]
pub struct Inside {
    root: usize,
    /// Relative to the root, without `.`; empty for the root itself.
    relative: PathBuf,
    absolute: PathBuf,
}

impl Inside {
    pub fn relative(&self) -> &Path {
        &self.relative
    }

    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Returns what a walk found beneath this place, by its bytes; the place itself for an empty path.
    pub fn join(&self, found: &Path) -> Self {
        if found.as_os_str().is_empty() {
            return self.clone();
        }
        Self { root: self.root, relative: self.relative.join(found), absolute: self.absolute.join(found) }
    }

    /// As people and models are shown it: relative in the first root, absolute in others.
    pub fn display(&self) -> String {
        if self.root != 0 {
            self.absolute.display().to_string()
        } else if self.relative.as_os_str().is_empty() {
            ".".to_owned()
        } else {
            self.relative.display().to_string()
        }
    }
}

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

impl Workspace {
    /// Opens the workspace. Relative paths are resolved in `root`; `extra_roots` are reached by absolute paths.
    pub fn open(root: &Path, extra_roots: &[PathBuf]) -> Result<Self> {
        Self::open_without(root, extra_roots, &Denial::default())
    }

    /// The same, without what the person's rules deny reading: no tool finds, lists or opens it.
    pub fn open_without(root: &Path, extra_roots: &[PathBuf], denial: &Denial) -> Result<Self> {
        let mut roots = Vec::new();
        for path in std::iter::once(root).chain(extra_roots.iter().map(PathBuf::as_path)) {
            let named = path.to_path_buf();
            let path = path.canonicalize().map_err(|error| Error::io("open the workspace", path, error))?;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let folder = rustix::fs::open(&path, flags, Mode::empty())
                .map_err(|errno| Error::io("open the workspace", &path, errno.into()))?;
            let hidden = Hidden::read(&path, denial)?;
            roots.push(Root { path, named, folder, hidden });
        }
        Ok(Self { roots: Arc::new(roots) })
    }

    /// The main root, absolute and without symbolic links.
    pub fn root(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), |root| root.path.as_path())
    }

    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Places a path a model gave. Nothing is touched; `..` is followed by name and may not lead out.
    pub fn place(&self, path: &str) -> Result<Inside> {
        let given = Path::new(path);
        let bad = |reason| Error::BadPath { path: given.to_path_buf(), reason };
        if path.is_empty() {
            return Err(bad("it is empty"));
        }
        if path.contains('\0') {
            return Err(bad("it contains a NUL character"));
        }
        if path.len() > 4096 {
            return Err(Error::BadPath {
                path: PathBuf::from("…"), reason: "it is longer than 4096 bytes"
            });
        }
        let outside = || Error::OutsideWorkspace { path: given.to_path_buf() };
        let (root, rest) = if given.is_absolute() {
            let absolute = normalized(given).ok_or_else(outside)?;
            let beneath = |root: &Root| {
                let rest =
                    absolute.strip_prefix(&root.path).or_else(|_| absolute.strip_prefix(&root.named)).ok()?;
                Some(rest.to_path_buf())
            };
            let found =
                self.roots.iter().enumerate().filter_map(|(index, root)| Some((index, beneath(root)?)));
            // The innermost root: the one that leaves the shortest rest.
            found.min_by_key(|(_, rest)| rest.as_os_str().len()).ok_or_else(outside)?
        } else {
            (0, normalized(given).ok_or_else(outside)?)
        };
        let base = self.roots.get(root).ok_or_else(outside)?;
        let absolute = if rest.as_os_str().is_empty() { base.path.clone() } else { base.path.join(&rest) };
        if let Some(by) = base.hidden.by(&rest) {
            return Err(Error::Hidden { path: given.to_path_buf(), by });
        }
        Ok(Inside { root, relative: rest, absolute })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, place: &Inside) -> Result<File> {
        let fd = self.open_at(place, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, "read")?;
        let stat =
            rustix::fs::fstat(&fd).map_err(|errno| Error::io("read", &place.absolute, errno.into()))?;
        regular(FileType::from_raw_mode(stat.st_mode), &place.absolute)?;
        Ok(File::from(fd))
    }

    /// Opens a folder, to list it, to work in it or to make entries in it.
    pub fn open_folder(&self, place: &Inside) -> Result<OwnedFd> {
        self.open_at(place, OFlags::RDONLY | OFlags::DIRECTORY, "open the folder")
    }

    /// The folder's path after all symbolic links, which lies beneath a root: for child processes.
    pub fn folder_path(&self, place: &Inside) -> Result<PathBuf> {
        let folder = self.open_folder(place)?;
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder));
        std::fs::read_link(link).map_err(|error| Error::io("open the folder", &place.absolute, error))
    }

    /// Opens the folder that holds `place`, making it and its parents where they are missing, and gives the
    /// last name of the path.
    pub fn open_parent<'a>(&self, place: &'a Inside) -> Result<(OwnedFd, &'a OsStr)> {
        let (parent_place, name) = self.parent(place)?;
        let parent = parent_place.relative.as_path();
        match self.open_folder(&parent_place) {
            Err(error) if error.is_not_found() => {}
            opened => return Ok((opened?, name)),
        }
        // Each step is opened beneath the root again: a link swapped in between is refused like any other.
        let mut reached = PathBuf::new();
        for component in parent.components() {
            let above = Inside {
                root: place.root,
                relative: reached.clone(),
                absolute: self.join(place.root, &reached),
            };
            let folder = self.open_folder(&above)?;
            reached.push(component);
            let mode = Mode::from_raw_mode(0o777);
            match rustix::fs::mkdirat(&folder, component.as_os_str(), mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => {
                    return Err(Error::io(
                        "create the folder",
                        &self.join(place.root, &reached),
                        errno.into(),
                    ));
                }
            }
        }
        Ok((self.open_folder(&parent_place)?, name))
    }

    /// The same without making anything.
    pub(crate) fn open_existing_parent<'a>(&self, place: &'a Inside) -> Result<(OwnedFd, &'a OsStr)> {
        let (parent, name) = self.parent(place)?;
        Ok((self.open_folder(&parent)?, name))
    }

    fn parent<'a>(&self, place: &'a Inside) -> Result<(Inside, &'a OsStr)> {
        let name =
            place.relative.file_name().ok_or_else(|| Error::IsAFolder { path: place.absolute.clone() })?;
        let parent = place.relative.parent().unwrap_or(Path::new(""));
        let absolute = self.join(place.root, parent);
        Ok((Inside { root: place.root, relative: parent.to_path_buf(), absolute }, name))
    }

    fn join(&self, root: usize, relative: &Path) -> PathBuf {
        let base = self.roots.get(root).map_or(Path::new("/"), |root| root.path.as_path());
        if relative.as_os_str().is_empty() { base.to_path_buf() } else { base.join(relative) }
    }

    fn open_at(&self, place: &Inside, flags: OFlags, action: &'static str) -> Result<OwnedFd> {
        let root = self
            .roots
            .get(place.root)
            .ok_or_else(|| Error::OutsideWorkspace { path: place.absolute.clone() })?;
        let relative = if place.relative.as_os_str().is_empty() { Path::new(".") } else { &place.relative };
        let opened = open_beneath(root.folder.as_fd(), relative, flags)
            .map_err(|errno| refusal(errno, action, &place.absolute))?;
        root.refuse_hidden(&opened, place)?;
        Ok(opened)
    }

    pub(crate) fn hidden(&self, place: &Inside) -> &Hidden {
        // Every place was made with one of the roots.
        &self.roots[place.root.min(self.roots.len() - 1)].hidden
    }
}

impl Root {
    /// A link may lead to what is hidden: the real path of what was opened is looked at too.
    fn refuse_hidden(&self, opened: &OwnedFd, place: &Inside) -> Result<()> {
        if self.hidden.is_empty() {
            return Ok(());
        }
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(opened));
        let real = std::fs::read_link(link).map_err(|error| Error::io("open", &place.absolute, error))?;
        match real.strip_prefix(&self.path).ok().and_then(|relative| self.hidden.by(relative)) {
            Some(by) => Err(Error::Hidden { path: place.absolute.clone(), by }),
            None => Ok(()),
        }
    }
}

fn open_beneath(
    folder: std::os::fd::BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
) -> std::result::Result<OwnedFd, Errno> {
    // The kernel answers EAGAIN when a rename elsewhere could have raced with the resolution.
    const TRIES: usize = 64;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = rustix::fs::openat2(folder, path, flags | OFlags::CLOEXEC, Mode::empty(), RESOLVE);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

fn refusal(errno: Errno, action: &'static str, path: &Path) -> Error {
    match errno {
        // The path itself was placed beneath the root by name, so only a link can lead out of it.
        Errno::XDEV => Error::LinkOutside { path: path.to_path_buf() },
        Errno::LOOP => {
            Error::BadPath { path: path.to_path_buf(), reason: "its symbolic links go in a circle" }
        }
        // A FIFO without a reader, a socket, a device without a driver.
        Errno::NXIO => Error::NotAFile { path: path.to_path_buf(), kind: "a special file" },
        _ => Error::io(action, path, io::Error::from(errno)),
    }
}

/// Refuses what is no regular file.
pub(crate) fn regular(kind: FileType, path: &Path) -> Result<()> {
    let path = path.to_path_buf();
    let kind = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(Error::IsAFolder { path }),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a symbolic link",
        FileType::Unknown => "a special file",
    };
    Err(Error::NotAFile { path, kind })
}

/// Removes `.` and follows `..` by name; `None` when that leads above the start.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    let mut depth = 0usize;
    for component in path.components() {
        match component {
            Component::CurDir | Component::Prefix(_) => {}
            Component::RootDir => out.push("/"),
            Component::Normal(name) => {
                out.push(name);
                depth += 1;
            }
            Component::ParentDir => {
                depth = depth.checked_sub(1)?;
                out.pop();
            }
        }
    }
    Some(out)
}

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;
