//! Notices when a model goes round in circles.
//!
//! What counts is the same call with the same arguments *and the same result*: polling something that moves is
//! no loop. Time stamps in a result make no difference. Calls need not follow each other, so A-B-A-B is seen too; a
//! change that was really made in between (a successful write or command not seen before) starts the count anew, so
//! edit-test-edit-test is not. One guard serves a whole tree of tasks: each task has the limit, the tree four times the
//! limit.
//!
//! A model whose context was cut is told to read again what it needs, so results that it cannot see any more do not
//! count towards the limit. They count, like those older than the window, towards four times the limit: a slow model
//! and one with a small window go round in circles too.

mod stamps;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use stepwell_protocol::{Risk, TaskId, ToolResult};
use tokio::time::Instant;

/// When a repetition is a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLimits {
    /// The call that would be the n-th identical one is stopped; 0 turns the guard off.
    pub repetitions: usize,
    pub window: Duration,
}

impl LoopLimits {
    pub const STANDARD: Self = Self { repetitions: 3, window: Duration::from_secs(30) };
    pub const OFF: Self = Self { repetitions: 0, window: Duration::ZERO };
}

/// Identity of a call: tool and arguments, independent of the order of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey([u8; 16]);

impl CallKey {
    pub fn new(tool: &str, arguments: &Value) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(tool.as_bytes());
        hasher.update([0]);
        hash_value(&mut hasher, arguments);
        Self(shortened(hasher))
    }
}

/// The repetition that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopReport {
    /// How often the call would have been made, this one included.
    pub times: usize,
    /// The time within which that was; `None` for all the time the task has run.
    pub window: Option<Duration>,
}

#[derive(Debug)]
pub struct LoopGuard {
    limits: LoopLimits,
    seen: Mutex<VecDeque<Seen>>,
    refused: Mutex<HashMap<(TaskId, CallKey), usize>>,
}

#[derive(Clone, Debug)]
struct Seen {
    at: Instant,
    task: TaskId,
    call: CallKey,
    result: [u8; 16],
    /// A change that was not made before within the window.
    progress: bool,
    /// A change that was never made before.
    novel: bool,
    /// The model sees the result no more.
    left_context: bool,
}

/// More calls than this are forgotten, oldest first.
const LONGEST_MEMORY: usize = 512;
/// How much more often a call may be repeated by a whole tree of tasks, and by a task in all its time.
const LONG_FACTOR: usize = 4;

impl LoopGuard {
    pub fn new(limits: LoopLimits) -> Self {
        Self { limits, seen: Mutex::default(), refused: Mutex::default() }
    }

    /// Whether making this call now would be a loop.
    pub fn check(&self, task: &TaskId, call: CallKey) -> Option<LoopReport> {
        if self.limits.repetitions == 0 {
            return None;
        }
        let seen = self.seen.lock();
        let recent = || seen.iter().rev().take_while(|entry| entry.at.elapsed() <= self.limits.window);
        let own = |entry: &&Seen| entry.task == *task;
        let progress = |entry: &Seen| entry.progress;
        let in_sight = repetitions(recent().filter(own).filter(|entry| !entry.left_context), call, progress);
        let of_tree = repetitions(recent(), call, progress);
        let in_all = repetitions(seen.iter().rev().filter(own), call, |entry| entry.novel);
        let limit = self.limits.repetitions;
        let long_limit = limit.saturating_mul(LONG_FACTOR);
        let within = Some(self.limits.window);
        [(in_sight, limit, within), (of_tree, long_limit, within), (in_all, long_limit, None)]
            .into_iter()
            .find(|(count, limit, _)| count + 1 >= *limit)
            .map(|(count, _, window)| LoopReport { times: count + 1, window })
    }

    /// Remembers a call that was made and what came of it.
    pub fn note(&self, task: &TaskId, call: CallKey, risk: Risk, result: &ToolResult) {
        if self.limits.repetitions == 0 {
            return;
        }
        let result_key = result_key(result);
        let mut seen = self.seen.lock();
        let mut same = seen.iter().filter(|entry| entry.call == call && entry.result == result_key);
        let last = same.next_back().map(|entry| entry.at);
        let changes = risk > Risk::Read && result.is_success();
        let novel = changes && last.is_none();
        let progress = changes && last.is_none_or(|at| at.elapsed() > self.limits.window);
        if progress {
            self.refused.lock().retain(|(refused_task, _), _| refused_task != task);
        }
        seen.push_back(Seen {
            at: Instant::now(),
            task: task.clone(),
            call,
            result: result_key,
            progress,
            novel,
            left_context: false,
        });
        if seen.len() > LONGEST_MEMORY {
            seen.pop_front();
        }
    }

    /// The context of the task was cut: it sees the results of these calls no more.
    pub fn left_context(&self, task: &TaskId, calls: &HashSet<CallKey>) {
        let mut seen = self.seen.lock();
        for entry in seen.iter_mut().filter(|entry| entry.task == *task && calls.contains(&entry.call)) {
            entry.left_context = true;
        }
    }

    /// Counts a refusal of this call and gives how often the task has had it refused. The window does not matter
    /// here: a model that waits it out and begins again goes round in a larger circle.
    pub fn refused(&self, task: &TaskId, call: CallKey) -> usize {
        let mut refused = self.refused.lock();
        let times = refused.entry((task.clone(), call)).or_default();
        *times += 1;
        *times
    }

    /// The person said go on: the count of this call starts anew.
    pub fn forgive(&self, call: CallKey) {
        self.seen.lock().retain(|entry| entry.call != call);
        self.refused.lock().retain(|(_, refused), _| *refused != call);
    }
}

/// How often a call gave one and the same result since anything else changed. Entries come newest first.
fn repetitions<'a>(
    entries: impl Iterator<Item = &'a Seen>,
    call: CallKey,
    is_change: impl Fn(&Seen) -> bool,
) -> usize {
    let mut count = 0;
    let mut result = None;
    for entry in entries {
        if entry.call == call {
            if *result.get_or_insert(entry.result) != entry.result {
                break;
            }
            count += 1;
        } else if is_change(entry) {
            break;
        }
    }
    count
}

fn result_key(result: &ToolResult) -> [u8; 16] {
    let mut hasher = Sha256::new();
    hasher.update([u8::from(result.is_success())]);
    // A long output names the file it is kept in, which is another each time.
    let same_output = result
        .artifacts
        .iter()
        .fold(Cow::Borrowed(&*result.output), |output, artifact| output.replace(&artifact.path, "").into());
    hasher.update(stamps::without(&same_output).as_bytes());
    for image in &result.images {
        hasher.update(image.data.as_bytes());
    }
    shortened(hasher)
}

fn shortened(hasher: Sha256) -> [u8; 16] {
    let digest = hasher.finalize();
    let mut key = [0; 16];
    key.iter_mut().zip(digest.iter()).for_each(|(byte, from)| *byte = *from);
    key
}

fn hash_value(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Object(object) => {
            hasher.update(b"{");
            let mut fields: Vec<_> = object.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            for (name, field) in fields {
                hasher.update(name.as_bytes());
                hasher.update([0]);
                hash_value(hasher, field);
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                hash_value(hasher, item);
            }
            hasher.update(b"]");
        }
        scalar => {
            hasher.update(scalar.to_string().as_bytes());
            hasher.update([0]);
        }
    }
}

#[cfg(test)]
#[path = "loop_guard_tests.rs"]
mod tests;
