//! Files deeper in a writable folder that steer tools and agents: `sub/AGENTS.md`, `sub/.vscode`, a repository in a
//! repository.
//!
//! Looking through a whole tree for every command would cost more than the sandbox. A folder whose time of change
//! is the same holds the same names, so after the first look only the times of folders are asked for. What git
//! ignores is passed over: packages that were installed bring such files by the hundred, and nobody reads them.

use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ignore::gitignore::Gitignore;
use stepwell_workspace::{files, patterns};

use crate::plan::WatchedKind;
use crate::protect::is_steering;

/// Folders that are looked at, the nearest first.
const MOST_FOLDERS: usize = 20_000;
/// Each is a mount.
const MOST_FOUND: usize = 1_000;
/// A folder that changed this recently may change again without its time telling.
const UNSETTLED: Duration = Duration::from_secs(2);
/// Folders of installed packages, whether git ignores them or not.
const PASSED_OVER: &[&str] = &["node_modules", ".venv", "__pycache__"];

/// What was found in folders so far.
#[derive(Debug, Default)]
pub(crate) struct Nested {
    known: Mutex<HashMap<PathBuf, Folder>>,
}

#[derive(Clone, Debug)]
struct Folder {
    stamp: (u64, i64, i64),
    folders: Vec<PathBuf>,
    steering: Vec<PathBuf>,
    ignoring: Option<Arc<Gitignore>>,
}

impl Nested {
    /// What steers below a root's own folders. A folder that cannot be read holds nothing a command could change.
    pub(crate) fn below(&self, root: &Path) -> Vec<PathBuf> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        let mut left: VecDeque<(PathBuf, Vec<Arc<Gitignore>>)> = [(root.to_path_buf(), Vec::new())].into();
        let mut looked_at = 0;
        while let Some((path, mut rules)) = left.pop_front() {
            looked_at += 1;
            if looked_at > MOST_FOLDERS || found.len() >= MOST_FOUND {
                break;
            }
            let Some(folder) = look(&path, &rules, &mut known) else { continue };
            rules.extend(folder.ignoring);
            if path != root {
                found.extend(folder.steering);
            }
            left.extend(folder.folders.into_iter().map(|folder| (folder, rules.clone())));
        }
        found
    }
}

fn look(path: &Path, rules: &[Arc<Gitignore>], known: &mut HashMap<PathBuf, Folder>) -> Option<Folder> {
    let metadata = path.symlink_metadata().ok()?;
    let stamp = (metadata.ino(), metadata.ctime(), metadata.ctime_nsec());
    if let Some(folder) = known.get(path).filter(|folder| folder.stamp == stamp) {
        return Some(folder.clone());
    }
    let entries = files::list_kinds(path).ok()?;
    let own = entries.iter().any(|(entry, _)| entry.ends_with(".gitignore"));
    // A line that is not understood is left out, as git does.
    let ignoring = own.then(|| Arc::new(patterns::gitignore(&path.join(".gitignore"))));
    let mut folder = Folder { stamp, folders: Vec::new(), steering: Vec::new(), ignoring };
    for (entry, kind) in entries {
        let Some(name) = entry.file_name() else { continue };
        if is_steering(WatchedKind::Root, name) {
            folder.steering.push(entry);
        } else if kind.is_dir()
            && !PASSED_OVER.iter().any(|passed| name == *passed)
            && !is_ignored(&entry, folder.ignoring.iter().chain(rules.iter().rev()))
        {
            folder.folders.push(entry);
        }
    }
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(metadata.ctime().unsigned_abs());
    let is_settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > UNSETTLED);
    if is_settled && known.len() < 2 * MOST_FOLDERS {
        known.insert(path.to_path_buf(), folder.clone());
    } else {
        known.remove(path);
    }
    Some(folder)
}

/// The nearest file of rules that speaks about a folder decides.
fn is_ignored<'r>(folder: &Path, rules: impl Iterator<Item = &'r Arc<Gitignore>>) -> bool {
    let mut spoken = rules.map(|rules| rules.matched(folder, true)).filter(|matched| !matched.is_none());
    spoken.next().is_some_and(|matched| matched.is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, paths: &[&str]) {
        for path in paths {
            files::create_private_dir(root.join(path).parent().unwrap()).unwrap();
            let text: &[u8] = if path.ends_with(".gitignore") { b"out/\n!keep/\n" } else { b"" };
            files::write_atomic(&root.join(path), text, files::Privacy::Shared).unwrap();
        }
    }

    fn check(nested: &Nested, root: &Path, expected: &str) {
        let mut found = nested.below(root);
        found.sort();
        let names = found.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string());
        assert_eq!(names.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn what_steers_is_found_at_every_depth_and_again_when_it_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        make(
            root,
            &[
                "AGENTS.md",
                "sub/AGENTS.md",
                "sub/deep/er/.vscode/tasks.json",
                "sub/vendored/.git/config",
                "node_modules/a/.vscode/x",
                "sub/node_modules/b/AGENTS.md",
                "app/.gitignore",
                "app/out/AGENTS.md",
                "app/src/.Envrc",
                "src/main.rs",
            ],
        );
        let nested = Nested::default();
        let all = "app/src/.Envrc sub/AGENTS.md sub/deep/er/.vscode sub/vendored/.git";
        check(&nested, root, all);
        check(&nested, root, all);
        make(root, &["src/CLAUDE.md"]);
        check(
            &nested,
            root,
            "app/src/.Envrc src/CLAUDE.md sub/AGENTS.md sub/deep/er/.vscode sub/vendored/.git",
        );
        files::remove_dir_all(&root.join("sub")).unwrap();
        check(&nested, root, "app/src/.Envrc src/CLAUDE.md");
        check(&nested, &root.join("nowhere"), "");
    }
}
