//! What the agent supposes about a failure, and what it saw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ToolCallId;

/// One supposed cause: a claim, the probe that would show it, and the value that the probe must give if it is true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Hypothesis {
    /// Counted from 1 in each task.
    pub id: u32,
    pub claim: String,
    pub probe: String,
    pub predicted: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    pub status: HypothesisStatus,
    /// Where the observed value comes from; absent before there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<HypothesisEvidence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum HypothesisStatus {
    Open,
    Confirmed,
    Refuted,
}

impl HypothesisStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
        }
    }
}

/// Where an observed value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum HypothesisEvidence {
    /// The debugger evaluated this in the stopped program.
    Debugger { expression: String },
    /// The value stands in the result of this call.
    Call { call_id: ToolCallId },
    /// The model said so; no result of a tool holds the value.
    Reported,
}
