//! The report of a failure: plain data that every door shows in its own way.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::origin::{Origin, line_of};
use super::program_output::signal_number;

/// Why a command failed.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct FailureReport {
    /// How the command was understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    pub verdict: Verdict,
    /// One sentence.
    pub summary: String,
    /// The failing test, as its runner names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<Exception>,
    /// Where it failed in the program's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<SourceLocation>,
    /// The values that the failing line names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueHistory>,
    /// The program's own frames, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FailureFrame>,
    /// Number of library frames that are left out.
    pub library_frames: usize,
    /// Exceptions that led to this one, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The calls that repeat, where the stack overflowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursion: Option<Recursion>,
    /// What each thread waits for, where nothing goes on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<BlockedThread>,
    /// Every failure of the run where there are several; this report is about number `failure`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<usize>,
    /// As a shell has it: 128 and the number of the signal for a program that one ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The signal that ended the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The end of what was printed.
    pub output: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether the last writes of the values are known already, so that no second run is needed.
    #[serde(skip)]
    pub is_followed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    #[default]
    Failed,
    Passed,
    /// It did not end in time.
    Hangs,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Exception {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceLocation {
    pub file: String,
    pub line: i64,
    pub function: String,
    pub source: String,
}

/// A value of the failing line, and how it was set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueHistory {
    pub name: String,
    pub value: String,
    /// The last writes that were seen, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<ValueWrite>,
    /// The contents changed after the last write that was seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_since: bool,
    /// Where it came from, where no write was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A line that set a value, as it was seen to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueWrite {
    pub file: String,
    pub line: i64,
    pub source: String,
    /// The value after the line; absent where it could not be read without running code of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    pub how: WriteKind,
    /// What the line read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<FrameValue>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteKind {
    /// The line assigns the variable.
    #[default]
    Set,
    /// The value was another one after the line: what it called, or an alias, changed it.
    Changed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureFrame {
    pub function: String,
    pub file: String,
    pub line: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub variables: Vec<FrameValue>,
    /// The values that the frame's line names, where more is known of them than their value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueHistory>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FrameValue {
    pub name: String,
    pub value: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// An exception behind the one that is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cause {
    pub how: CauseKind,
    #[serde(flatten)]
    pub exception: Exception,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<SourceLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<FrameValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// It was raised because of this one.
    Cause,
    /// It was raised while this one was handled.
    WhileHandling,
    /// One of the exceptions of a group.
    Part,
    /// The program handled it before it ended with its exit code.
    HandledBefore,
}

/// Calls that call each other without end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Recursion {
    pub rounds: usize,
    pub steps: Vec<RecursionStep>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecursionStep {
    pub function: String,
    pub file: String,
    pub line: i64,
    pub source: String,
    pub arguments: Vec<RecursionArgument>,
}

/// An argument in the first and the last rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecursionArgument {
    pub name: String,
    pub first: Vec<String>,
    pub last: Vec<String>,
}

/// A thread or goroutine that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedThread {
    pub name: String,
    /// What it waits for, such as `chan receive`.
    pub waits_for: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<SourceLocation>,
}

/// One of several failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureSummary {
    pub number: usize,
    /// The test, as its runner names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}

impl FailureFrame {
    pub(super) fn location(&self) -> SourceLocation {
        SourceLocation::at(&self.file, self.line, &self.function)
    }
}

impl SourceLocation {
    pub(super) fn at(file: &str, line: i64, function: &str) -> Self {
        Self {
            file: file.to_owned(),
            line,
            function: function.to_owned(),
            source: line_of(file, line).unwrap_or_default(),
        }
    }
}

impl Exception {
    /// Whether the debugger had no name for it: it stopped at a function that reports failures.
    pub(super) fn is_nameless(&self) -> bool {
        matches!(self.kind.as_str(), "exception" | "breakpoint" | "function breakpoint" | "stopped")
    }

    /// The first line of the message after the type; the type alone where the message repeats it.
    pub fn headline(&self) -> String {
        let mut lines = self.message.trim_start().lines();
        let first = lines.next().unwrap_or_default();
        // `Expected values to be strictly equal:` says what only with what follows.
        let next = lines.map(str::trim).find(|line| !line.is_empty()).filter(|_| first.ends_with(':'));
        let message = next.map_or_else(|| first.to_owned(), |next| format!("{first} {next}"));
        if message.is_empty() || message == self.kind {
            self.kind.clone()
        } else {
            format!("{}: {message}", self.kind)
        }
    }
}

impl FailureReport {
    /// Notes the signal that ended the program. Debuggers report its number alone as the exit code.
    pub(super) fn end_by_signal(&mut self, signal: &str) {
        if let Some(number) = signal_number(signal) {
            self.exit_code = Some(128 + number);
            self.signal = Some(signal.to_owned());
        }
    }

    /// Returns the report in one sentence.
    pub(super) fn sentence(&self) -> String {
        let place = self.place.as_ref().map(|place| {
            let file = Path::new(&place.file).file_name().map(|name| name.to_string_lossy().into_owned());
            let function =
                if place.function.is_empty() { String::new() } else { format!(" in {}", place.function) };
            format!(" at {}:{}{function}", file.unwrap_or_default(), place.line)
        });
        let place = place.unwrap_or_default();
        match (self.verdict, &self.exception) {
            (Verdict::Passed, _) => "it passed".to_owned(),
            (Verdict::Hangs, _) if place.is_empty() => "it did not end in time".to_owned(),
            (Verdict::Hangs, _) => format!("it did not end in time; it was{place}"),
            (Verdict::Failed, Some(exception)) => format!("{}{place}", exception.headline()),
            (Verdict::Failed, None) => match (&self.signal, self.exit_code) {
                (Some(signal), _) => format!("{signal} ended it{place}"),
                (None, Some(code)) => format!("it ended with exit code {code}{place}"),
                (None, None) => "it failed; no exception or signal was seen".to_owned(),
            },
        }
    }
}
