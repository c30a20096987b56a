//! What a call that changes several files would leave half done, when the process is killed in between.
//!
//! Before the first of several files is written, what all of them held is written down beneath Stepwell's data folder, and
//! locked. When every file is written the note is taken away. One that nobody holds the lock of was left by a process
//! that is gone: whoever works in the folder next puts back what it had changed. A file that somebody changed since
//! then is left as it is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stepwell_workspace::files::{self, LockAttempt, LockFile, Privacy};
use stepwell_workspace::{Executable, Inside, Workspace};

/// Where the notes of a workspace lie.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

/// A file before and after a change; `None` for no file.
#[derive(Serialize, Deserialize)]
struct Noted {
    path: String,
    old: Option<String>,
    /// Whether the old file was a program, where that changes.
    was_executable: Option<bool>,
    new_digest: Option<String>,
}

/// A change that is noted and not finished; it is forgotten when this is dropped.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    lock: Option<LockFile>,
}

/// One file of a change, as it is noted.
pub struct Entry<'c> {
    pub place: &'c Inside,
    pub old: Option<&'c [u8]>,
    pub new: Option<&'c [u8]>,
    pub executable: Executable,
}

impl Journal {
    pub fn new(folder: &Path, workspace: &Workspace) -> Self {
        Self { folder: folder.join(&digest(workspace.root().as_os_str().as_encoded_bytes())[..16]) }
    }

    /// Writes down what the files hold, so that it survives the end of this process.
    pub fn begin(&self, workspace: &Workspace, entries: &[Entry<'_>]) -> stepwell_workspace::Result<Note> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        // Process ids come again; a note that was left must not be written over.
        let nth = COUNTER.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = self.folder.join(format!("{}-{now}-{nth}", std::process::id()));
        files::create_private_dir(&self.folder)?;
        let noted: Vec<Noted> = entries
            .iter()
            .map(|entry| Noted {
                path: entry.place.absolute().display().to_string(),
                old: entry.old.map(|bytes| STANDARD.encode(bytes)),
                was_executable: (entry.executable != Executable::Keep && entry.old.is_some())
                    .then(|| workspace.is_executable(entry.place)),
                new_digest: entry.new.map(digest),
            })
            .collect();
        // The lock comes first: a note without one would be taken for one that was left.
        let lock = LockFile::take(&name.with_extension("lock"))?;
        let note = Note { path: name.with_extension("json"), lock: Some(lock) };
        let text = serde_json::to_vec(&noted).unwrap_or_default();
        files::write_atomic(&note.path, &text, Privacy::Private)?;
        Ok(note)
    }

    /// Puts back what processes that are gone left half done; the paths of the files that were put back.
    pub fn recover(&self, workspace: &Workspace) -> Vec<String> {
        let mut restored = Vec::new();
        for path in files::list_dir(&self.folder).unwrap_or_default() {
            // A note is there only while its lock is held, so a lock is never taken that somebody is about to take.
            if path.extension().is_none_or(|ending| ending != "json") {
                sweep(&path);
                continue;
            }
            let Ok(LockAttempt::Taken(held)) = LockFile::try_take(&path.with_extension("lock")) else {
                continue;
            };
            if let Ok(text) = files::read(&path) {
                let noted: Vec<Noted> = serde_json::from_slice(&text).unwrap_or_default();
                restored.extend(noted.iter().rev().filter_map(|file| put_back(workspace, file)));
            }
            // Dropped, it takes itself away.
            drop(Note { path, lock: Some(held) });
        }
        restored
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        files::remove_file(&self.path).ok();
        if let Some(lock) = self.lock.take() {
            files::remove_file(lock.path()).ok();
        }
    }
}

/// Takes away what is left of a note that was never finished: nothing was changed yet. What is young may become one.
fn sweep(path: &Path) {
    const YOUNG: Duration = Duration::from_secs(3600);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let stamp = files::stamp(path).ok().flatten();
    let is_old = stamp.is_some_and(|stamp| {
        now.saturating_sub(Duration::from_nanos(stamp.modified_ns.max(0) as u64)) > YOUNG
    });
    if is_old && !files::metadata(&path.with_extension("json")).is_ok_and(|found| found.is_file()) {
        files::remove_file(path).ok();
    }
}

/// Gives a file back what it held, if it holds what the change put there.
fn put_back(workspace: &Workspace, noted: &Noted) -> Option<String> {
    let place = workspace.place(&noted.path).ok()?;
    let now = workspace.read(&place, super::LARGEST_EDIT).ok();
    if now.as_deref().map(digest) != noted.new_digest {
        return None;
    }
    match &noted.old {
        Some(old) => {
            let executable = match noted.was_executable {
                Some(true) => Executable::Yes,
                Some(false) => Executable::No,
                None => Executable::Keep,
            };
            workspace.write_as(&place, &STANDARD.decode(old).ok()?, executable).ok()?;
        }
        None => workspace.remove(&place).ok()?,
    }
    Some(place.display())
}

fn digest(bytes: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(bytes)).replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note as a killed process leaves it: the files of a change half written, the note there, its lock free.
    #[test]
    fn what_a_killed_process_left_half_done_is_put_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("ws");
        files::create_private_dir(&root).expect("made");
        let workspace = Workspace::open(&root, &[]).expect("opened");
        let journal = Journal::new(&folder.path().join("edits"), &workspace);
        let place = |name: &str| workspace.place(name).expect("a place");
        for name in ["written", "waiting", "touched", "gone"] {
            workspace.write(&place(name), b"old").expect("written");
        }
        let places = ["written", "waiting", "touched", "gone", "made"].map(place);
        let entries: Vec<Entry<'_>> = places
            .iter()
            .map(|place| {
                let is_new = place.display() == "made";
                let is_gone = place.display() == "gone";
                Entry {
                    place,
                    old: (!is_new).then_some(&b"old"[..]),
                    new: (!is_gone).then_some(&b"new"[..]),
                    executable: Executable::Keep,
                }
            })
            .collect();
        let note = journal.begin(&workspace, &entries).expect("noted");
        assert!(journal.recover(&workspace).is_empty(), "a living process is left alone");
        let left = note.path.with_file_name("left.json");
        files::write_atomic(&left, &files::read(&note.path).expect("the note"), Privacy::Private)
            .expect("kept");
        drop(note);
        assert_eq!(
            files::list_dir(&journal.folder).expect("listed"),
            std::slice::from_ref(&left),
            "a finished note is gone"
        );
        for (name, text) in [("written", "new"), ("touched", "somebody else's"), ("made", "new")] {
            workspace.write(&place(name), text.as_bytes()).expect("written");
        }
        workspace.remove(&place("gone")).expect("removed");
        assert_eq!(journal.recover(&workspace), ["made", "gone", "written"]);
        let now = |name: &str| {
            workspace.read(&place(name), 100).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).ok()
        };
        assert_eq!(now("written").as_deref(), Some("old"));
        assert_eq!(now("waiting").as_deref(), Some("old"));
        assert_eq!(now("gone").as_deref(), Some("old"));
        assert_eq!(now("touched").as_deref(), Some("somebody else's"));
        assert_eq!(now("made"), None);
        assert!(files::list_dir(&journal.folder).expect("listed").is_empty());
    }
}
