//! The proof of a fix: what a failing program showed before the change, and what the same probe shows after it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{FileDiff, Hypothesis};

/// What was seen before and after the changes of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct EvidenceCard {
    /// Those that were made again after the last change come first.
    pub probes: Vec<EvidenceProbe>,
    pub files: Vec<FileDiff>,
    pub hypotheses: Vec<Hypothesis>,
    /// Whether files were changed before any program was run or looked into.
    pub changed_unseen: bool,
}

/// A program that was run or looked into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct EvidenceProbe {
    pub tool: String,
    /// The command, or the arguments.
    pub what: String,
    pub before: Observed,
    /// Absent where it was not made again after the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Observed>,
}

/// What a probe showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Observed {
    pub succeeded: bool,
    pub text: String,
}

impl EvidenceCard {
    /// Whether a probe was made before and after.
    pub fn is_proof(&self) -> bool {
        self.probes.iter().any(|probe| probe.after.is_some())
    }
}
