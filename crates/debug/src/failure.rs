//! Explains why a command fails: the stop where it failed, the frames with their values, and where these were set.
//!
//! The program runs under its debugger. Every exception, signal and panic is recorded and passed, because many are
//! expected. When the program has ended, the one that its output and exit code point to is the failure. A second run
//! (`value_history`) follows the values of the failing line.

mod origin;
mod program_output;
mod value_history;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use crate::dap::types::{ExceptionInfo, StackFrame};
use crate::function_finder::FunctionFinder;
use crate::launch::{LaunchOptions, LaunchPlan};
use crate::output::{OutputCategory, floor_boundary};
use crate::session::{Session, Stop};
use crate::stop_report::{is_own, is_plain, lines_around, plain_kind};
use crate::values::{shortened, without_escapes};
use crate::{Debugger, Outcome, Result, Wait};

pub use origin::Origin;
pub(crate) use origin::line_of as source_line;
pub use value_history::ValueWrite;

/// Maximum number of stops that are recorded.
const MOST_SNAPSHOTS: usize = 24;
const FRAMES: usize = 6;
const VARIABLES: usize = 20;
const VALUE: usize = 160;
const OUTPUT: usize = 4000;

/// Why a command failed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FailureReport {
    /// How the command was understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    pub verdict: Verdict,
    /// One sentence.
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<Exception>,
    /// Where it failed in the workspace's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<SourceLocation>,
    /// The values that the failing line names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueHistory>,
    /// The workspace's own frames, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FailureFrame>,
    /// Number of library frames that are left out.
    pub library_frames: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The end of what was printed.
    pub output: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Failed,
    Passed,
    /// It did not end in time.
    Hangs,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Exception {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SourceLocation {
    pub file: String,
    pub line: i64,
    pub function: String,
    pub source: String,
}

/// A value of the failing line, and how it was set.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ValueHistory {
    pub name: String,
    pub value: String,
    /// The last writes seen in a second run, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<ValueWrite>,
    /// Where it was set last, by the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FailureFrame {
    pub function: String,
    pub file: String,
    pub line: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub variables: Vec<FrameValue>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FrameValue {
    pub name: String,
    pub value: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// What was recorded at a stop.
#[derive(Clone, Debug)]
struct StopSnapshot {
    exception: Option<Exception>,
    frames: Vec<FailureFrame>,
    library_frames: usize,
    /// Whether the stop ends the program: not an exception that is caught later.
    is_final: bool,
}

impl Debugger {
    /// Runs a plan and explains how it failed.
    pub async fn explain(
        &self,
        plan: LaunchPlan,
        mut options: LaunchOptions,
        wait: &Wait,
    ) -> Result<FailureReport> {
        let how = plan.how.clone();
        options.breakpoints = false;
        options.exception_filters =
            Some(["uncaught", "userUnhandled", "all", "any", "rust_panic"].map(str::to_owned).to_vec());
        let mut after = self.serial();
        let launched = plan.start(self, &options).await?;
        let Some(session) = launched.sessions.first().cloned() else {
            return Err(crate::Error::NoSessionAtAll);
        };
        let mut snapshots: Vec<StopSnapshot> = Vec::new();
        let mut notes = launched.notes;
        let (verdict_hint, exit_code) = loop {
            match self.wait(&session, after, wait).await {
                Outcome::Stopped(stopped, stop) => {
                    after = stop.serial;
                    if stop.reason.may_be_failure() && snapshots.len() < MOST_SNAPSHOTS {
                        snapshots.push(stopped.snapshot(&stop).await?);
                    }
                    stopped.resume(None).await?;
                }
                Outcome::Completed(ending) => break (None, ending.exit_code),
                Outcome::Failed(ending) if snapshots.is_empty() => {
                    return Err(crate::Error::Launch {
                        reason: ending.failure.unwrap_or_else(|| "the session failed".to_owned()),
                        hint: ending.hint,
                    });
                }
                Outcome::Failed(ending) => {
                    notes.extend(ending.failure);
                    break (None, ending.exit_code);
                }
                Outcome::TimedOut => {
                    let hang = self.snapshot_hang(&session).await;
                    break (hang, None);
                }
                Outcome::Interrupted => {
                    self.end(&session).await;
                    return Err(crate::Error::State {
                        what: "interrupted".to_owned(),
                        hint: "nothing is left running".to_owned(),
                    });
                }
            }
        };
        self.end(&session).await;
        let output = program_output::without_debugger(&self.printed(&session));
        let finder = self.options().function_finder.as_deref();
        let mut report = report_of(snapshots, verdict_hint, exit_code, &output, finder);
        report.notes.splice(0..0, notes);
        Ok(FailureReport { how, ..report })
    }

    /// Returns the output of a session and its children.
    fn printed(&self, session: &Session) -> String {
        let pieces = self.tree(session).into_iter().flat_map(|session| session.output_since(0).0);
        let pieces = pieces.filter(|piece| piece.category != OutputCategory::Console);
        without_escapes(&pieces.map(|piece| piece.text).collect::<String>())
    }

    /// Records where a program is that does not end.
    async fn snapshot_hang(&self, session: &Arc<Session>) -> Option<StopSnapshot> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let wait =
            Wait { deadline: Instant::now() + PATIENCE, cancel: tokio_util::sync::CancellationToken::new() };
        let running = self.session_in_tree(Some(&session.id)).ok()?;
        match self.pause(&running, None, &wait).await.ok()? {
            Outcome::Stopped(stopped, stop) => stopped.snapshot(&stop).await.ok(),
            _ => None,
        }
    }
}

impl Session {
    async fn snapshot(&self, stop: &Stop) -> Result<StopSnapshot> {
        let thread = match stop.thread {
            Some(thread) => thread,
            None => self.top_frame_thread().await?,
        };
        let workspace = self.shared.options.search.workspace.clone();
        let stack = self.stack(thread, 0, 200).await?.stack_frames;
        let info = self.exception_info(thread).await;
        let own: Vec<&StackFrame> = stack.iter().filter(|frame| is_own(frame, &workspace)).collect();
        let mut frames = Vec::new();
        for frame in own.iter().take(FRAMES) {
            frames.push(self.failure_frame(frame).await?);
        }
        Ok(StopSnapshot {
            exception: Some(Self::exception_of(stop, info.as_ref())),
            library_frames: stack.len().saturating_sub(own.len()),
            frames,
            is_final: !self.adapter.quirks().stops_at_handled_exceptions
                || info.is_some_and(|info| info.break_mode.as_deref() == Some("unhandled")),
        })
    }

    async fn failure_frame(&self, frame: &StackFrame) -> Result<FailureFrame> {
        let rows = self.locals(frame.id, 60).await.ok().flatten().map(|(_, rows)| rows).unwrap_or_default();
        let file = frame.source.as_ref().and_then(|source| source.path.clone()).unwrap_or_default();
        Ok(FailureFrame {
            function: crate::stop_report::plain_name(&frame.name).to_owned(),
            source: lines_around(Path::new(&file), frame.line, 4),
            line: frame.line,
            variables: rows
                .iter()
                .filter(|row| is_plain(row))
                .take(VARIABLES)
                .map(|row| FrameValue {
                    name: row.name.clone(),
                    value: shortened(&row.value, VALUE),
                    kind: row.kind.clone().filter(|kind| !kind.is_empty()),
                })
                .collect(),
            file,
        })
    }

    fn exception_of(stop: &Stop, info: Option<&ExceptionInfo>) -> Exception {
        let details = info.and_then(|info| info.details.as_ref());
        let kind = details
            .and_then(|details| details.type_name.clone().or_else(|| details.full_type_name.clone()))
            .or_else(|| info.map(|info| info.exception_id.clone()))
            .or_else(|| stop.text.clone().filter(|text| !text.contains(' ')));
        let message = details
            .and_then(|details| details.message.clone())
            .or_else(|| info.and_then(|info| info.description.clone()))
            .or_else(|| stop.text.clone())
            .or_else(|| stop.description.clone())
            .unwrap_or_default();
        let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or_else(|| stop.reason.to_string());
        Exception { kind: shortened(plain_kind(&kind), 200), message: shortened(&message, 2000) }
    }
}

/// Makes the report from the recorded stops, the exit code and the output.
fn report_of(
    snapshots: Vec<StopSnapshot>,
    hang: Option<StopSnapshot>,
    exit_code: Option<i64>,
    output: &str,
    finder: Option<&dyn FunctionFinder>,
) -> FailureReport {
    let tail = output.len().saturating_sub(OUTPUT);
    let tail = output[floor_boundary(output, tail)..].to_owned();
    let (verdict, chosen) = if let Some(hang) = hang {
        (Verdict::Hangs, Some(hang))
    } else {
        let chosen = choose(snapshots, output);
        let failed = match exit_code {
            Some(code) => code != 0,
            // Without an exit code, what was not handled speaks.
            None => chosen.as_ref().is_some_and(|snapshot| snapshot.is_final) || speaks_of_failure(output),
        };
        (if failed { Verdict::Failed } else { Verdict::Passed }, chosen.filter(|_| failed))
    };
    let mut report = FailureReport {
        how: None,
        verdict,
        summary: String::new(),
        exception: None,
        place: None,
        values: Vec::new(),
        frames: Vec::new(),
        library_frames: 0,
        exit_code,
        output: tail,
        notes: Vec::new(),
    };
    if let Some(snapshot) = chosen {
        report.exception = snapshot.exception.map(|exception| program_output::refined(exception, output));
        report.library_frames = snapshot.library_frames;
        report.place = snapshot.frames.first().map(|frame| SourceLocation {
            file: frame.file.clone(),
            line: frame.line,
            function: frame.function.clone(),
            source: origin::line_of(&frame.file, frame.line).unwrap_or_default(),
        });
        report.values = snapshot
            .frames
            .first()
            .map(|frame| value_histories(frame, snapshot.frames.get(1), finder))
            .unwrap_or_default();
        report.frames = snapshot.frames;
    } else if verdict == Verdict::Failed
        && let Some((exception, place)) = program_output::traceback(output)
    {
        report.exception = Some(exception);
        report.place = place;
        report.notes.push("no debugger saw it; this is what the program printed".to_owned());
    }
    report.summary = summary(&report);
    report
}

/// Chooses the stop that the output names; else the last that was not caught; else the last.
fn choose(mut snapshots: Vec<StopSnapshot>, output: &str) -> Option<StopSnapshot> {
    let told = |snapshot: &StopSnapshot| {
        let message =
            snapshot.exception.as_ref().map(|exception| exception.message.as_str()).unwrap_or_default();
        let first = message.lines().next().unwrap_or_default().trim();
        let place = snapshot.frames.first().map(|frame| {
            let name = Path::new(&frame.file).file_name().map(|name| name.to_string_lossy().into_owned());
            format!("{}:{}", name.unwrap_or_default(), frame.line)
        });
        (first.len() > 3 && output.contains(first)) || place.is_some_and(|place| output.contains(&place))
    };
    let has_frames = |snapshot: &StopSnapshot| !snapshot.frames.is_empty();
    let at = snapshots
        .iter()
        .position(|snapshot| has_frames(snapshot) && told(snapshot))
        .or_else(|| snapshots.iter().rposition(|snapshot| snapshot.is_final && has_frames(snapshot)))
        .or_else(|| snapshots.iter().rposition(has_frames))
        .or_else(|| snapshots.len().checked_sub(1))?;
    Some(snapshots.swap_remove(at))
}

/// Whether a test runner's output reports a failure, for adapters that report no exit code.
fn speaks_of_failure(output: &str) -> bool {
    let marks = ["FAIL", "failed", "Error:", "✖", "not ok", "Uncaught"];
    output.lines().any(|line| {
        let line = line.trim();
        let counts_none = line.ends_with("fail 0") || line.contains("0 failed");
        !counts_none && marks.iter().any(|mark| line.contains(mark))
    })
}

/// Returns the values of the failing line with their origins; the frame's first ones where the line names none.
fn value_histories(
    frame: &FailureFrame,
    caller: Option<&FailureFrame>,
    finder: Option<&dyn FunctionFinder>,
) -> Vec<ValueHistory> {
    let line = origin::line_of(&frame.file, frame.line).unwrap_or_default();
    let named = |name: &str| origin::names(&line).any(|word| word == name);
    let mut chosen: Vec<&FrameValue> = frame.variables.iter().filter(|row| named(&row.name)).collect();
    if chosen.is_empty() {
        chosen = frame.variables.iter().take(4).collect();
    }
    chosen
        .into_iter()
        .map(|row| ValueHistory {
            name: row.name.clone(),
            value: row.value.clone(),
            writes: Vec::new(),
            origin: finder.and_then(|finder| origin::of(&row.name, frame, caller, finder)),
        })
        .collect()
}

fn summary(report: &FailureReport) -> String {
    let place = report.place.as_ref().map(|place| {
        let file = Path::new(&place.file).file_name().map(|name| name.to_string_lossy().into_owned());
        format!(" at {}:{} in {}", file.unwrap_or_default(), place.line, place.function)
    });
    let place = place.unwrap_or_default();
    match (report.verdict, &report.exception, report.exit_code) {
        (Verdict::Passed, _, _) => "it passed".to_owned(),
        (Verdict::Hangs, _, _) => format!("it did not end in time; it was{place}"),
        (Verdict::Failed, Some(exception), _) => {
            let message = exception.message.lines().next().unwrap_or_default();
            let message = if message.is_empty() || message == exception.kind {
                String::new()
            } else {
                format!(": {message}")
            };
            format!("{}{message}{place}", exception.kind)
        }
        (Verdict::Failed, None, Some(code)) => {
            format!("it ended with exit code {code}; no exception or signal was seen")
        }
        (Verdict::Failed, None, None) => "it failed; no exception or signal was seen".to_owned(),
    }
}
