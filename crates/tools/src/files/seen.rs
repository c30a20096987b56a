//! What the agent has seen of each file, to notice what changed behind its back.
//!
//! Kept per task, in memory and in the task's log, so that a task that is resumed goes on with it. What a file held is
//! remembered as hashes of its lines, enough to say which of them are new; the log has one hash of the whole.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use stepwell_protocol::{SeenFile, TaskId};
use stepwell_tool_runtime::Redactor;
use stepwell_workspace::{Inside, TextFile, Workspace};

use super::LARGEST_EDIT;

/// Files that are remembered; the oldest are forgotten first.
const MOST_FILES: usize = 1000;
/// Lines of a file that are remembered one by one.
const MOST_LINES: usize = 5000;
/// Changed lines that are shown.
const SHOWN: usize = 12;

#[derive(Debug, Default)]
pub struct SeenFiles {
    known: Mutex<Known>,
}

type Key = (TaskId, PathBuf);

#[derive(Debug, Default)]
struct Known {
    files: HashMap<Key, Stamp>,
    order: VecDeque<Key>,
    /// Tasks whose log has been looked at.
    recalled: HashSet<TaskId>,
    /// What the log does not have yet.
    news: HashMap<TaskId, Vec<SeenFile>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// Absent for a file that is too large to be edited.
    digest: Option<(u64, String)>,
    lines: Vec<u32>,
}

impl Stamp {
    fn of(bytes: &[u8]) -> Self {
        let text = stepwell_workspace::decode(bytes).map(|file| file.text).unwrap_or_default();
        let lines = text.lines().map(|line| hashed(line.as_bytes()) as u32);
        let lines = if text.lines().count() > MOST_LINES { Vec::new() } else { lines.collect() };
        Self { digest: Some(digest(bytes)), lines }
    }
}

/// Length and hash, the same in every version of this program.
fn digest(bytes: &[u8]) -> (u64, String) {
    let mut first = [0; 16];
    first.copy_from_slice(&Sha256::digest(bytes)[..16]);
    (bytes.len() as u64, format!("{:032x}", u128::from_be_bytes(first)))
}

fn hashed(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

impl SeenFiles {
    /// Notes what a file holds that is about to be shown. Taken before it is read: a change in between is then
    /// noticed later, rather than never.
    pub fn note_read(&self, task: &TaskId, workspace: &Workspace, place: &Inside) {
        let stamp = match workspace.read(place, LARGEST_EDIT) {
            Ok(bytes) => Stamp::of(&bytes),
            Err(_) => Stamp { digest: None, lines: Vec::new() },
        };
        self.put(task, place, stamp);
    }

    pub fn note_written(&self, task: &TaskId, place: &Inside, bytes: &[u8]) {
        self.put(task, place, Stamp::of(bytes));
    }

    pub fn forget(&self, task: &TaskId, place: &Inside) {
        let key = (task.clone(), place.absolute().to_path_buf());
        let mut known = self.known.lock();
        known.files.remove(&key);
        known.order.retain(|other| *other != key);
        let path = place.absolute().display().to_string();
        known.news.entry(task.clone()).or_default().push(SeenFile { path, bytes: 0, digest: None });
    }

    /// Takes over what the log of a task says, the first time the task works with files.
    pub fn recall(&self, task: &TaskId, log: impl FnOnce() -> Vec<SeenFile>) {
        let mut known = self.known.lock();
        if !known.recalled.insert(task.clone()) {
            return;
        }
        for file in log() {
            let key = (task.clone(), PathBuf::from(file.path));
            if let (Some(hash), false) = (file.digest, known.files.contains_key(&key)) {
                let stamp = Stamp { digest: Some((file.bytes, hash)), lines: Vec::new() };
                known.files.insert(key.clone(), stamp);
                known.order.push_back(key);
            }
        }
    }

    /// What the log of a task should learn.
    pub fn take_news(&self, task: &TaskId) -> Vec<SeenFile> {
        self.known.lock().news.remove(task).unwrap_or_default()
    }

    fn put(&self, task: &TaskId, place: &Inside, stamp: Stamp) {
        let key = (task.clone(), place.absolute().to_path_buf());
        let mut known = self.known.lock();
        let before = known.files.get(&key).and_then(|stamp| stamp.digest.clone());
        if let Some((bytes, hash)) = stamp.digest.clone().filter(|now| Some(now) != before.as_ref()) {
            let path = place.absolute().display().to_string();
            let news = SeenFile { path, bytes, digest: Some(hash) };
            known.news.entry(task.clone()).or_default().push(news);
        }
        if known.files.insert(key.clone(), stamp).is_none() {
            known.order.push_back(key);
        }
        while known.order.len() > MOST_FILES {
            if let Some(oldest) = known.order.pop_front() {
                known.files.remove(&oldest);
            }
        }
    }

    /// Whether the task has read or written the file.
    pub fn knows(&self, task: &TaskId, place: &Inside) -> bool {
        self.known.lock().files.contains_key(&(task.clone(), place.absolute().to_path_buf()))
    }

    /// What changed since the task last saw the file, in short; `None` when nothing did or it was never seen.
    pub fn changed(
        &self,
        task: &TaskId,
        place: &Inside,
        bytes: &[u8],
        file: Option<&TextFile>,
        redactor: &Redactor,
    ) -> Option<String> {
        let key = (task.clone(), place.absolute().to_path_buf());
        let stamp = self.known.lock().files.get(&key).cloned()?;
        if stamp.digest? == digest(bytes) {
            return None;
        }
        Some(file.map_or_else(String::new, |file| shown(&stamp.lines, file, redactor)))
    }
}

/// The lines of a file that are new to the agent, numbered as `read` does it.
fn shown(old: &[u32], file: &TextFile, redactor: &Redactor) -> String {
    let lines: Vec<&str> = file.text.lines().collect();
    if old.is_empty() || lines.len() > MOST_LINES {
        return String::new();
    }
    let new: Vec<u32> = lines.iter().map(|line| hashed(line.as_bytes()) as u32).collect();
    let redacted = redactor.redact_lines(&file.text);
    let line_at = |index: usize| match &redacted {
        Some(redacted) => redacted.get(index).map_or("", String::as_str).trim_end_matches(['\r', '\n']),
        None => lines.get(index).copied().unwrap_or_default(),
    };
    let (mut text, mut count) = (String::new(), 0);
    for op in capture_diff_slices(Algorithm::Myers, old, &new) {
        if let DiffOp::Equal { .. } = op {
            continue;
        }
        if op.new_range().is_empty() {
            let gone = op.old_range().len();
            text.push_str(&format!("\n({gone} lines after line {} are gone)", op.new_range().start));
        }
        for index in op.new_range() {
            count += 1;
            if count <= SHOWN {
                let line: String = line_at(index).chars().take(200).collect();
                text.push_str(&format!("\n{:>6}\t{line}", index + 1));
            }
        }
    }
    if count > SHOWN {
        text.push_str(&format!("\n({} more lines differ)", count - SHOWN));
    }
    text
}
