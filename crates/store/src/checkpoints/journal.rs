//! What happened to a folder, one record per line, only ever appended.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use stepwell_protocol::{TaskId, Timestamp, ToolCallId};

use super::objects::ObjectId;
use super::state::Change;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum Record {
    /// A call is about to change something.
    Begun {
        id: u64,
        at: Timestamp,
        /// The process that makes the call: one that is gone will not say what came of it.
        process: u32,
        /// A command, which may change anything.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_command: bool,
        #[serde(flatten)]
        cause: Cause,
    },
    /// The call is over.
    Ended { id: u64, changes: Changes },
    /// Paths that were looked at for the first time, of a folder that was never looked at as a whole.
    Found { changes: Changes },
    /// Something changed between two calls: the person's work, or that of a process still running.
    Outside { id: u64, at: Timestamp, changes: Changes },
    /// Changes were taken back.
    Restored { id: u64, at: Timestamp, reversed: Vec<u64>, is_redo: bool, changes: Changes },
}

/// What a checkpoint was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub task: TaskId,
    pub call: ToolCallId,
    pub tool: String,
    /// One line for people: "Run `cargo test`".
    pub summary: String,
}

/// A list of changes: in the record while it is short, among the objects when it is long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Changes {
    pub count: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Change>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectId>,
}

/// A place in the history of a folder to which it can go back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    pub id: u64,
    pub at: Timestamp,
    pub kind: CheckpointKind,
    /// Paths that changed.
    pub changed: usize,
    /// Whether its changes were taken back later.
    pub is_undone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckpointKind {
    /// Made before a call of a tool.
    Call {
        #[serde(flatten)]
        cause: Cause,
        /// Absent ends are those of calls that run, or whose process was killed.
        is_ended: bool,
        /// What anybody changed while it ran counts as its work.
        is_command: bool,
    },
    Outside,
    Restore {
        reversed: Vec<u64>,
        /// It took back another restore.
        is_redo: bool,
    },
}

impl Record {
    pub(super) fn id(&self) -> u64 {
        match self {
            Self::Begun { id, .. }
            | Self::Ended { id, .. }
            | Self::Outside { id, .. }
            | Self::Restored { id, .. } => *id,
            // No checkpoint has this number.
            Self::Found { .. } => 0,
        }
    }

    pub(super) fn changes(&self) -> Option<&Changes> {
        match self {
            Self::Begun { .. } => None,
            Self::Ended { changes, .. }
            | Self::Found { changes, .. }
            | Self::Outside { changes, .. }
            | Self::Restored { changes, .. } => Some(changes),
        }
    }
}

/// The last call that was begun and not ended, with its process.
pub(super) fn unfinished(records: &[Record]) -> Option<(u64, u32)> {
    let last = records.iter().rev().find(|record| matches!(record, Record::Begun { .. }))?;
    let Record::Begun { id, process, .. } = last else { return None };
    let is_ended =
        records.iter().rev().any(|record| matches!(record, Record::Ended { id: ended, .. } if ended == id));
    (!is_ended).then_some((*id, *process))
}

/// The checkpoints a journal tells of, oldest first.
pub(super) fn checkpoints(records: &[Record]) -> Vec<Checkpoint> {
    let mut all: Vec<Checkpoint> = Vec::new();
    let mut undone: HashSet<u64> = HashSet::new();
    for record in records {
        let (at, kind) = match record {
            Record::Begun { at, cause, is_command, .. } => {
                let cause = cause.clone();
                (*at, CheckpointKind::Call { cause, is_ended: false, is_command: *is_command })
            }
            Record::Ended { id, changes } => {
                if let Some(checkpoint) = all.iter_mut().rev().find(|checkpoint| checkpoint.id == *id) {
                    checkpoint.changed = changes.count;
                    if let CheckpointKind::Call { is_ended, .. } = &mut checkpoint.kind {
                        *is_ended = true;
                    }
                }
                continue;
            }
            Record::Found { .. } => continue,
            Record::Outside { at, .. } => (*at, CheckpointKind::Outside),
            Record::Restored { at, reversed, is_redo, .. } => {
                for id in reversed {
                    undone.insert(*id);
                    // Taking back a restore brings back what it had undone.
                    let brought_back = all.iter().find(|checkpoint| checkpoint.id == *id);
                    if let Some(Checkpoint { kind: CheckpointKind::Restore { reversed, .. }, .. }) =
                        brought_back
                    {
                        undone.retain(|id| !reversed.contains(id));
                    }
                }
                (*at, CheckpointKind::Restore { reversed: reversed.clone(), is_redo: *is_redo })
            }
        };
        let changed = record.changes().map_or(0, |changes| changes.count);
        all.push(Checkpoint { id: record.id(), at, kind, changed, is_undone: false });
    }
    for checkpoint in &mut all {
        checkpoint.is_undone = undone.contains(&checkpoint.id);
    }
    all
}
