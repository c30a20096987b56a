//! What a tool result shows a person: typed, so that no front end parses text.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    FailureDetail, FileChange, GraphEdge, GraphNode, ObservedPoint, ObservedRun, StopSummary, TraceDetail,
};

/// The facts of a tool result for a front end; never sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolDetail {
    /// Files that were changed, or would be.
    Diff {
        files: Vec<FileDiff>,
    },
    Command {
        #[serde(flatten)]
        command: CommandDetail,
    },
    Table {
        columns: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    /// A debugger stopped the program.
    Stop {
        #[serde(flatten)]
        stop: StopSummary,
    },
    /// A page or a file worth opening.
    Link {
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A call of the program, line by line.
    Trace {
        #[serde(flatten)]
        trace: TraceDetail,
    },
    /// What was seen at points of a run.
    Tracepoints {
        points: Vec<ObservedPoint>,
        #[serde(flatten)]
        run: ObservedRun,
    },
    /// Two runs at the same points.
    Comparison {
        points: Vec<ObservedPoint>,
        first: ObservedRun,
        second: ObservedRun,
        /// The first hit that differs, counted from 0; absent where the runs are alike.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        difference: Option<u32>,
    },
    /// Why a command failed.
    Failure {
        #[serde(flatten)]
        failure: FailureDetail,
    },
    /// Who calls or imports whom.
    Graph {
        nodes: Vec<GraphNode>,
        edges: Vec<GraphEdge>,
    },
}

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileDiff {
    pub path: String,
    pub change: FileChange,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// A unified diff; empty where nothing changed.
    pub diff: String,
    #[ts(type = "number")]
    pub added: u64,
    #[ts(type = "number")]
    pub removed: u64,
}

/// A command that ran, or runs on in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct CommandDetail {
    pub command: String,
    /// The end of each stream, bounded; the artifact of the result has all of it.
    pub stdout: String,
    pub stderr: String,
    /// Absent when a signal ended the command, and while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[ts(type = "number")]
    pub execution_time_ms: u64,
    /// The number under which it runs on in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<u32>,
}

impl ToolDetail {
    /// The changed files, where the detail is about files.
    pub fn files(&self) -> &[FileDiff] {
        match self {
            Self::Diff { files } => files,
            _ => &[],
        }
    }

    /// The diffs of all files in one text; absent where the detail is not about files.
    pub fn diff(&self) -> Option<String> {
        match self {
            Self::Diff { files } => Some(files.iter().map(|file| file.diff.as_str()).collect()),
            _ => None,
        }
    }

    /// Reads the untyped form that logs held before details had types.
    fn from_untyped(value: &Value) -> Option<Self> {
        if value.get("exit_code").is_some() || value.get("process_id").is_some() {
            return Some(Self::Command {
                command: serde_json::from_value(value.clone()).unwrap_or_default(),
            });
        }
        let files = match value.get("files").and_then(Value::as_array) {
            Some(files) => files.iter().filter_map(untyped_file).collect(),
            None => vec![untyped_file(value)?],
        };
        Some(Self::Diff { files })
    }
}

fn untyped_file(value: &Value) -> Option<FileDiff> {
    let count = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    Some(FileDiff {
        path: value.get("path").and_then(Value::as_str).unwrap_or_default().to_owned(),
        change: FileChange::Modified,
        moved_from: None,
        diff: value.get("diff")?.as_str()?.to_owned(),
        added: count("added"),
        removed: count("removed"),
    })
}

/// Reads a detail of this build or of one before it. What is not known is left out: it is only for show.
pub(crate) fn tolerant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ToolDetail>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| match value.get("kind") {
        Some(_) => serde_json::from_value(value).ok(),
        None => ToolDetail::from_untyped(&value),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(detail: Value) -> Option<ToolDetail> {
        tolerant(detail).unwrap()
    }

    #[test]
    fn untyped_details_of_older_logs_are_read_as_what_they_meant() {
        let one = json!({"path": "a.py", "diff": "-a\n+b\n", "added": 1, "removed": 1});
        let file = FileDiff {
            path: "a.py".into(),
            change: FileChange::Modified,
            moved_from: None,
            diff: "-a\n+b\n".into(),
            added: 1,
            removed: 1,
        };
        assert_eq!(read(one.clone()), Some(ToolDetail::Diff { files: vec![file.clone()] }));
        let several = json!({"diff": "...", "added": 2, "removed": 2, "files": [one, one]});
        assert_eq!(read(several), Some(ToolDetail::Diff { files: vec![file.clone(), file] }));
        let command = read(json!({"exit_code": 3, "signal": null, "process_id": null}));
        let expected = CommandDetail { exit_code: Some(3), ..CommandDetail::default() };
        assert_eq!(command, Some(ToolDetail::Command { command: expected }));
        assert_eq!(read(json!({"something": "else"})), None);
    }

    #[test]
    fn a_detail_of_a_newer_build_is_left_out() {
        assert_eq!(read(json!({"kind": "hologram", "points": []})), None);
        let link = ToolDetail::Link { url: "https://example.com".into(), title: None };
        assert_eq!(read(serde_json::to_value(&link).unwrap()), Some(link));
    }
}
