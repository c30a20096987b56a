//! The records of a run, as recorders write them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// One line of a process's records.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Record {
    /// The recorder runs in a process.
    Start,
    Failure(FailureRecord),
    /// The program asked to exit with a code that is not zero.
    Exit(ExitRecord),
    /// Where a program was that did not end.
    Hang(HangRecord),
    /// The process ended by itself.
    End(EndRecord),
    /// An exception was thrown in Node, which may be caught.
    Raised(RaisedRecord),
    /// A program in Node chose an exit code that is not zero.
    EndedItself(EndedRecord),
    /// A line that is followed was about to run.
    Passage(PassageRecord),
    /// Too many lines ran to be followed.
    Unfollowed,
    /// The recorder itself failed.
    Problem {
        message: String,
    },
    /// The interpreter's own words when a signal ended it.
    #[serde(skip)]
    Crash(String),
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FailureRecord {
    pub how: FailureOrigin,
    pub test: Option<String>,
    pub phase: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub frames: Vec<FrameRecord>,
    #[serde(default)]
    pub library_frames: usize,
    #[serde(default)]
    pub causes: Vec<CauseRecord>,
    pub recursion: Option<RecursionRecord>,
    /// Tracing had ended: writes are missing.
    #[serde(default)]
    pub exhausted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureOrigin {
    Uncaught,
    Thread,
    Test,
    Child,
    /// The last command of a shell script.
    Command,
}

/// An exception with values as Node's inspector has them.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RaisedRecord {
    pub thrown: Value,
    pub uncaught: bool,
    pub frames: Vec<RaisedFrame>,
    #[serde(default)]
    pub library_frames: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EndedRecord {
    pub code: i64,
    pub frames: Vec<RaisedFrame>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RaisedFrame {
    pub function: String,
    pub file: String,
    pub line: i64,
    pub variables: Vec<(String, Value)>,
    /// Variables of the functions and the module around it.
    pub outer: Vec<(String, Value)>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PassageRecord {
    pub thread: i64,
    pub depth: usize,
    pub file: String,
    pub line: i64,
    pub values: HashMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExitRecord {
    #[serde(default)]
    pub message: String,
    pub frames: Vec<FrameRecord>,
    #[serde(default)]
    pub handled: Vec<HandledRecord>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct HangRecord {
    pub frames: Vec<FrameRecord>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EndRecord {
    #[serde(default)]
    pub handled: Vec<HandledRecord>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FrameRecord {
    pub function: String,
    pub file: String,
    pub line: i64,
    #[serde(default)]
    pub first_line: i64,
    #[serde(default)]
    pub variables: Vec<(String, Option<String>, String)>,
    #[serde(default)]
    pub values: Vec<ValueRecord>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ValueRecord {
    pub name: String,
    pub value: String,
    #[serde(default)]
    pub writes: Vec<WriteRecord>,
    /// Whether the caller's frame passed it.
    #[serde(default)]
    pub passed: bool,
    #[serde(default)]
    pub changed_since: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WriteRecord {
    pub file: String,
    pub line: i64,
    pub value: Option<String>,
    #[serde(default)]
    pub changes: bool,
    #[serde(default)]
    pub inputs: Vec<(String, String)>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CauseRecord {
    pub how: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub frame: Option<FrameRecord>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct HandledRecord {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    #[serde(flatten)]
    pub frame: FrameRecord,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecursionRecord {
    pub steps: Vec<StepRecord>,
    pub rounds: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StepRecord {
    pub function: String,
    pub file: String,
    pub line: i64,
    #[serde(default)]
    pub arguments: Vec<ArgumentRecord>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ArgumentRecord {
    pub name: String,
    pub first: Vec<String>,
    pub last: Vec<String>,
}
