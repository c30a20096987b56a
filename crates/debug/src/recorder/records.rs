//! The records of a run, as recorders write them.

use serde::Deserialize;

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
