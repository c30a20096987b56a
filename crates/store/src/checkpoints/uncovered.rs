//! What a command changes although it is not kept: repositories, pipes and sockets, files that are too large. It can only be
//! told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use stepwell_workspace::files;
use stepwell_workspace::tree::{SeenKind, Tree};

use super::state::Change;

/// Packs of a repository that are remembered.
const MOST_PACKS: usize = 10_000;

/// The parts of a folder that are not kept, as a look at it found them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Uncovered {
    repositories: BTreeMap<PathBuf, Repository>,
    special: BTreeSet<PathBuf>,
}

/// What of a call's work `undo` cannot take back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Files that were changed, made or deleted and are too large to keep.
    pub too_large: Vec<PathBuf>,
    /// Pipes, sockets and devices that are new.
    pub special: Vec<PathBuf>,
    /// Repositories that are damaged, by the folder of their work tree.
    pub repositories: Vec<(PathBuf, RepositoryDamage)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryDamage {
    /// `.git` is gone.
    Removed,
    /// Its `HEAD` is missing or cannot be understood.
    Head,
    /// Its objects are gone, or packs of them.
    Objects,
}

/// What tells a whole repository from a damaged one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repository {
    has_head: bool,
    has_objects: bool,
    packs: BTreeSet<PathBuf>,
}

impl Uncovered {
    pub(super) fn of(tree: &Tree, repositories: &[PathBuf], special: Vec<PathBuf>) -> Self {
        let found =
            repositories.iter().filter_map(|folder| Some((folder.clone(), Repository::of(tree, folder)?)));
        Self { repositories: found.collect(), special: special.into_iter().collect() }
    }

    /// What a call did that ended in another state.
    pub(super) fn lost(&self, after: &Self, changes: &[Change]) -> Lost {
        let is_lost =
            |change: &&Change| [change.before, change.after].iter().flatten().any(|state| !state.is_kept());
        let damage = |(folder, before): (&PathBuf, &Repository)| {
            Some((folder.clone(), before.damage(after.repositories.get(folder))?))
        };
        Lost {
            too_large: changes.iter().filter(is_lost).map(|change| change.path.clone()).collect(),
            special: after.special.difference(&self.special).cloned().collect(),
            repositories: self.repositories.iter().filter_map(damage).collect(),
        }
    }
}

impl Repository {
    /// `None` where there is none, or where a file or a link leads to it.
    fn of(tree: &Tree, folder: &Path) -> Option<Self> {
        let git = folder.join(".git");
        let kind = |path: &Path| tree.look(path).ok().flatten().map(|seen| seen.kind);
        if kind(&git) != Some(SeenKind::Folder) {
            return None;
        }
        let head = tree.read(&git.join("HEAD"), 4096).map(|(text, _)| text).unwrap_or_default();
        let is_pack = |path: &PathBuf| path.extension().is_some_and(|end| end == "pack");
        let packs = files::list_dir(&tree.path().join(&git).join("objects/pack")).unwrap_or_default();
        Some(Self {
            has_head: is_head(&String::from_utf8_lossy(&head)),
            has_objects: kind(&git.join("objects")) == Some(SeenKind::Folder),
            packs: packs.into_iter().filter(is_pack).take(MOST_PACKS).collect(),
        })
    }

    fn damage(&self, after: Option<&Self>) -> Option<RepositoryDamage> {
        let Some(after) = after else { return Some(RepositoryDamage::Removed) };
        // Packing anew makes a pack for those that go.
        let lost_packs = !after.packs.is_superset(&self.packs) && self.packs.is_superset(&after.packs);
        if self.has_objects && !after.has_objects || lost_packs {
            return Some(RepositoryDamage::Objects);
        }
        (self.has_head && !after.has_head).then_some(RepositoryDamage::Head)
    }
}

/// `ref: refs/heads/main`, or the hash of a commit.
fn is_head(text: &str) -> bool {
    let text = text.trim_end();
    text.strip_prefix("ref: refs/").is_some_and(|name| !name.is_empty())
        || text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
