//! What was seen of a running program, for screens that draw it. Each list is bounded by the tool that makes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::VariableSummary;

/// A call of the program, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct TraceDetail {
    pub function: String,
    pub arguments: Vec<VariableSummary>,
    /// In the order in which they ran.
    pub lines: Vec<TracedLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned: Option<String>,
    /// `returned`, `raised`, `ended`, `full`, `timed_out` or `interrupted`.
    pub end: String,
}

/// One line that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct TracedLine {
    /// Calls between the traced one and this line.
    pub depth: u32,
    pub function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub line: u32,
    pub text: String,
    /// Variables that were set or changed, with their values after the line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<VariableSummary>,
}

/// A point of the program where expressions are evaluated each time it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ObservedPoint {
    pub file: String,
    pub line: u32,
    pub expressions: Vec<String>,
}

/// What was seen at the points of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ObservedRun {
    /// The command.
    pub label: String,
    /// In the order in which they happened.
    pub hits: Vec<ObservedHit>,
    /// How the run ended, in a few words.
    pub end: String,
}

/// One time that a point was reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ObservedHit {
    /// Which point, from 0.
    pub point: u32,
    /// One for each expression of the point.
    pub values: Vec<String>,
}

/// Why a command failed, as far as it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct FailureDetail {
    /// One sentence.
    pub summary: String,
    pub command: String,
    /// Whether the command failed at all.
    pub failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// The values that the failing line names.
    pub values: Vec<ExplainedValue>,
    /// The program's own frames, innermost first.
    pub frames: Vec<FailureFrameDetail>,
    /// Every failure of the run, where there are several.
    pub failures: Vec<FailureItem>,
}

/// A value and where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ExplainedValue {
    pub name: String,
    pub value: String,
    /// Lines that set it, as they were seen to run, the newest first.
    pub writes: Vec<ObservedWrite>,
    /// Where it came from, where no write was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A line that set a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ObservedWrite {
    pub file: String,
    pub line: u32,
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct FailureFrameDetail {
    pub function: String,
    pub file: String,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub variables: Vec<VariableSummary>,
}

/// One of several failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct FailureItem {
    /// From 1; the argument `failure` of `debug_failure`.
    pub number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub message: String,
}

/// A function or a file in a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct GraphNode {
    pub id: String,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether the graph was asked for this one.
    #[serde(default)]
    pub root: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct GraphEdge {
    pub from: String,
    pub to: String,
    /// Whether it is certain; otherwise only the name fits.
    pub sure: bool,
}
