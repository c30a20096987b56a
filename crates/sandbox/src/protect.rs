//! What in a writable folder stays as it is: everything that steers tools, editors and agents.
//!
//! What exists is made read-only and cannot be renamed, because it is a mount point inside. A repository's data
//! stays writable, so that `git commit` works, but for what git runs programs from. What does not exist has no
//! place where something could be mounted; such folders are watched instead.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use stepwell_protocol::protected_part;
use stepwell_workspace::files;

use crate::nested::Nested;
use crate::plan::{Watched, WatchedKind};

/// What git runs programs from, or finds such settings by, in a repository's data.
const GIT_STEERING: &[&str] =
    &["hooks", "config", "config.worktree", "info", "commondir", "gitdir", "attributes"];
/// Repositories in the folder of a repository's submodules that are looked at.
const MOST_SUBMODULES: usize = 64;
/// Repositories deeper in a folder whose data is taken care of.
const MOST_REPOSITORIES: usize = 64;

/// What is protected in some writable folders.
#[derive(Debug, Default)]
pub struct Protections {
    /// Writable data of a repository outside the writable folders: that of a linked work tree.
    pub repositories: Vec<PathBuf>,
    pub pinned: Vec<PathBuf>,
    pub locked: Vec<PathBuf>,
    pub watched: Vec<Watched>,
}

/// Whether nobody may make a file of this name in such a folder.
pub fn is_steering(kind: WatchedKind, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    match kind {
        WatchedKind::Root => protected_part(&name).is_some(),
        WatchedKind::Git => {
            let folded = name.to_lowercase();
            GIT_STEERING.contains(&folded.as_str())
        }
    }
}

impl Protections {
    pub fn of(roots: &[PathBuf], nested: &Nested) -> stepwell_workspace::Result<Self> {
        let mut found = Self::default();
        for root in roots {
            found.add_root(root)?;
            found.add_nested(root, nested)?;
        }
        for paths in [&mut found.repositories, &mut found.pinned, &mut found.locked] {
            paths.sort();
            paths.dedup();
        }
        Ok(found)
    }

    fn add_root(&mut self, root: &Path) -> stepwell_workspace::Result<()> {
        let entries = files::list_dir(root)?;
        for path in &entries {
            let Some(name) = path.file_name() else { continue };
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            if name == ".git" {
                if is_folder {
                    self.add_git(path)?;
                } else {
                    self.locked.push(path.clone());
                    self.add_linked_work_tree(path)?;
                }
            } else if is_steering(WatchedKind::Root, name) {
                self.lock(path, root);
            } else if is_folder && path.join(".git").symlink_metadata().is_ok_and(|found| found.is_dir()) {
                // Also where git ignores it, as it does a repository that was cloned to be looked at.
                self.add_git(&path.join(".git"))?;
            }
        }
        self.watch(root, WatchedKind::Root, &entries);
        Ok(())
    }

    /// What lies deeper. The folders there are not watched: programs make such files there in the course of their
    /// work, as when packages are unpacked.
    fn add_nested(&mut self, root: &Path, nested: &Nested) -> stepwell_workspace::Result<()> {
        let mut repositories = MOST_REPOSITORIES;
        for path in nested.below(root) {
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            if path.ends_with(".git") && is_folder {
                if let Some(left) = repositories.checked_sub(1) {
                    repositories = left;
                    self.add_git(&path)?;
                }
            } else {
                self.lock(&path, root);
            }
        }
        Ok(())
    }

    /// Locks files that have harmless names, and keeps the folders around them from being renamed.
    pub fn lock_named(&mut self, named: &[PathBuf], roots: &[PathBuf]) {
        // A link decides as well as what it leads to, also where that lies outside.
        let itself = |path: &PathBuf| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
        let links = named.iter().filter(|path| path.is_symlink()).filter_map(itself);
        let targets = named.iter().filter_map(|path| path.canonicalize().ok());
        for path in links.chain(targets) {
            let Some(root) = roots.iter().find(|root| path.starts_with(root)) else { continue };
            let around = path.ancestors().skip(1).take_while(|folder| *folder != root);
            self.pinned.extend(around.map(Path::to_path_buf));
            self.locked.push(path);
        }
        for paths in [&mut self.pinned, &mut self.locked] {
            paths.sort();
            paths.dedup();
        }
    }

    /// A link steers as well as what it leads to, which may have a harmless name.
    fn lock(&mut self, path: &Path, root: &Path) {
        let target = path.canonicalize().ok().filter(|target| target.starts_with(root) && target != path);
        self.locked.extend(target);
        self.locked.push(path.to_path_buf());
    }

    /// A repository's data: writable, but not what git takes its programs from.
    fn add_git(&mut self, folder: &Path) -> stepwell_workspace::Result<()> {
        if self.pinned.iter().any(|known| known == folder) {
            return Ok(());
        }
        let entries = files::list_dir(folder)?;
        self.pinned.push(folder.to_path_buf());
        let steering =
            |path: &&PathBuf| path.file_name().is_some_and(|name| is_steering(WatchedKind::Git, name));
        self.locked.extend(entries.iter().filter(steering).cloned());
        self.watch(folder, WatchedKind::Git, &entries);
        let mut left = MOST_SUBMODULES;
        self.add_submodules(&folder.join("modules"), &mut left)
    }

    fn add_submodules(&mut self, folder: &Path, left: &mut usize) -> stepwell_workspace::Result<()> {
        for path in files::list_dir(folder)? {
            if *left == 0 || !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                continue;
            }
            *left -= 1;
            if path.join("HEAD").is_file() {
                self.add_git(&path)?;
            } else {
                // The name of a submodule may have slashes.
                self.add_submodules(&path, left)?;
            }
        }
        Ok(())
    }

    /// The repository a linked work tree belongs to, where that repository says so too: a file in the workspace
    /// alone must not open a folder elsewhere.
    fn add_linked_work_tree(&mut self, file: &Path) -> stepwell_workspace::Result<()> {
        let own = |path: &Path| -> Option<PathBuf> {
            let text = files::read_to_string(path).ok()?;
            let text = text.strip_prefix("gitdir:").unwrap_or(&text).trim();
            path.parent()?.join(text).canonicalize().ok()
        };
        let Some(data) = own(file) else { return Ok(()) };
        let agrees = own(&data.join("gitdir")).is_some_and(|back| back == file);
        let Some(common) = own(&data.join("commondir")).filter(|_| agrees) else { return Ok(()) };
        if common.file_name().is_some_and(|name| name == ".git") && data.starts_with(&common) {
            self.repositories.push(common.clone());
            self.add_git(&common)?;
            self.add_git(&data)?;
        }
        Ok(())
    }

    fn watch(&mut self, folder: &Path, kind: WatchedKind, entries: &[PathBuf]) {
        let present = entries
            .iter()
            .filter_map(|path| path.file_name())
            .filter(|name| is_steering(kind, name))
            .map(|name| PathBuf::from(name).into())
            .collect();
        self.watched.push(Watched { folder: folder.into(), kind, present });
    }
}
