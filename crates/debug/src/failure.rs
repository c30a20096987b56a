//! Explains why a command fails: the stop where it failed, the frames with their values, and where these were set.
//!
//! The program runs under its debugger. Every exception, signal and panic is recorded and passed, because many are
//! expected. When the program has ended, the one that its output and exit code point to is the failure. A second run
//! (`value_history`) follows the values of the failing line.

mod cycle;
mod exit;
mod origin;
mod program_output;
mod raised;
mod recorded;
mod report;
mod sanitizer;
mod snapshot;
mod test_output;
mod trail;
mod value_history;
mod writes;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::function_finder::FunctionFinder;
use crate::launch::{LaunchOptions, LaunchPlan};
use crate::output::{OutputCategory, floor_boundary};
use crate::session::Session;
use crate::values::{shortened, without_escapes};
use crate::{Debugger, Outcome, Result, Wait};

pub(crate) use program_output::without_debugger;
pub(crate) use snapshot::StopSnapshot;

pub use origin::Origin;
pub(crate) use origin::{line_of as source_line, text_of as source_text};
pub use report::{
    BlockedThread, Cause, CauseKind, Exception, FailureFrame, FailureReport, FailureSummary, FrameValue,
    Recursion, RecursionArgument, RecursionStep, SourceLocation, ValueHistory, ValueWrite, Verdict,
    WriteKind,
};
pub use test_output::{FailedTest, failed_tests};

/// Maximum number of stops that are recorded.
const MOST_SNAPSHOTS: usize = 24;
const FRAMES: usize = 6;
const VARIABLES: usize = 20;
const VALUE: usize = 160;
const OUTPUT: usize = 4000;

impl Debugger {
    /// Runs a plan and explains how it failed: the first failure, or the one with the wanted number.
    pub async fn explain(
        &self,
        plan: LaunchPlan,
        mut options: LaunchOptions,
        wanted: Option<usize>,
        wait: &Wait,
    ) -> Result<FailureReport> {
        let how = plan.how.clone();
        if let Some(report) = self.explain_recorded(&plan, options.runs_again, wanted, wait).await? {
            // The sentence names the debugger that was not needed.
            return Ok(report);
        }
        options.breakpoints = false;
        options.exception_filters =
            Some(["uncaught", "userUnhandled", "all", "any", "rust_panic"].map(str::to_owned).to_vec());
        let mut after = self.serial();
        let plan_again = plan.clone();
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
        let tests = failed_tests(&output);
        let seen = Seen { snapshots, hang: verdict_hint, exit_code, output: &output, tests: &tests };
        let mut report = report_of(seen, wanted, finder);
        report.notes.splice(0..0, notes);
        if options.runs_again {
            self.look_at_test(&plan_again, options.clone(), &tests, &mut report, wait).await;
        }
        let told = sanitizer::read(&output).filter(|_| report.verdict == Verdict::Failed);
        // Some report when the program ends, which is not where the fault is.
        if options.runs_again && told.as_ref().is_none_or(|told| told.ends_there) {
            self.look_at_exit(&plan_again, options, &session, &mut report, wait).await;
        }
        if let Some(told) = told {
            report.add_sanitizer(told);
        }
        Ok(FailureReport { how, ..report })
    }

    /// Reads the values of a test failure that the debugger did not stop at, in another run. The line of Go's `t.Errorf`
    /// runs only when the test fails, so a breakpoint is set on it. The line of a panic may run many times before; its stop
    /// can be lost where tests run side by side, so they run one by one.
    async fn look_at_test(
        &self,
        plan: &LaunchPlan,
        mut options: LaunchOptions,
        tests: &[FailedTest],
        report: &mut FailureReport,
        wait: &Wait,
    ) {
        let at = report.failure.unwrap_or(1).saturating_sub(1);
        let Some(test) =
            tests.get(at).filter(|_| report.frames.is_empty() && report.verdict == Verdict::Failed)
        else {
            return;
        };
        let (Some(file), Some(line)) = (&test.file, test.line) else { return };
        let Some(path) = plan.folders().iter().find_map(|folder| test_output::located(file, folder)) else {
            return;
        };
        report.place = Some(SourceLocation::at(&path.to_string_lossy(), line, ""));
        let is_same = |other: &&FailedTest| other.file == test.file && other.line == test.line;
        let passes = tests[..at].iter().filter(is_same).count();
        let mut plan = plan.clone();
        let passes = if test.has_panicked() {
            plan.run_tests_one_by_one();
            0
        } else {
            options.exception_filters = Some(Vec::new());
            options.probes = [(path, vec![line])].into();
            passes
        };
        let Ok(Some(snapshot)) = self.reached(plan, options, (test, passes), wait).await else { return };
        let finder = self.options().function_finder.as_deref();
        set_frames(report, snapshot, finder);
        report.summary = report.sentence();
    }

    /// Runs a plan until the line of a test was passed so many times, and records the next stop there. Other tests may stop
    /// elsewhere in between.
    async fn reached(
        &self,
        plan: LaunchPlan,
        options: LaunchOptions,
        (test, passes): (&FailedTest, usize),
        wait: &Wait,
    ) -> Result<Option<StopSnapshot>> {
        let mut after = self.serial();
        let launched = plan.start(self, &options).await?;
        let Some(session) = launched.sessions.first().cloned() else { return Ok(None) };
        let (mut found, mut passed) = (None, 0);
        for _ in 0..MOST_SNAPSHOTS + passes {
            let Outcome::Stopped(stopped, stop) = self.wait(&session, after, wait).await else { break };
            after = stop.serial;
            let snapshot = stopped.snapshot(&stop).await.ok();
            let snapshot = snapshot.filter(|snapshot| {
                is_of_test(snapshot, test) && (!test.has_panicked() || names_test(snapshot, test))
            });
            if snapshot.is_some() && passed == passes {
                found = snapshot;
                break;
            }
            passed += usize::from(snapshot.is_some());
            stopped.resume(None).await?;
        }
        self.end(&session).await;
        Ok(found)
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

/// What a run under a debugger showed.
struct Seen<'a> {
    snapshots: Vec<StopSnapshot>,
    hang: Option<StopSnapshot>,
    exit_code: Option<i64>,
    output: &'a str,
    tests: &'a [FailedTest],
}

/// Makes the report from the recorded stops, the exit code and the output.
fn report_of(seen: Seen<'_>, wanted: Option<usize>, finder: Option<&dyn FunctionFinder>) -> FailureReport {
    let Seen { snapshots, hang, exit_code, output, tests } = seen;
    let mut report = FailureReport { exit_code, output: output_tail(output), ..FailureReport::default() };
    if let Some(hang) = hang {
        report.verdict = Verdict::Hangs;
        report.exception.clone_from(&hang.exception);
        set_frames(&mut report, hang, finder);
        report.summary = report.sentence();
        return report;
    }
    let test = tests.get(wanted.unwrap_or(1).saturating_sub(1)).or_else(|| tests.first());
    let mut cause = None;
    let chosen = match test {
        Some(test) => of_test(&snapshots, tests, test).cloned(),
        None => choose(&snapshots, output).map(|at| {
            cause = cause_of(&snapshots[..at], &snapshots[at], output);
            snapshots[at].clone()
        }),
    };
    let failed = match exit_code {
        Some(code) => code != 0,
        // Without an exit code, what was not handled speaks.
        None => {
            !tests.is_empty()
                || chosen.as_ref().is_some_and(|snapshot| snapshot.is_final)
                || speaks_of_failure(output)
        }
    };
    if !failed {
        report.verdict = Verdict::Passed;
        report.summary = report.sentence();
        return report;
    }
    list_tests(&mut report, tests, test, wanted);
    if let Some(snapshot) = chosen {
        // What another test printed says nothing of this one.
        let printed = test.map_or(output, |test| test.details.as_str());
        let exception =
            snapshot.exception.clone().map(|exception| program_output::refined(exception, printed));
        report.exception = match test {
            Some(test) if exception.as_ref().is_none_or(Exception::is_nameless) => Some(test_failed(test)),
            _ => exception,
        };
        if let Some(signal) = &snapshot.signal {
            report.end_by_signal(signal);
        }
        set_frames(&mut report, snapshot, finder);
        report.causes.extend(cause);
    } else if let Some(test) = test {
        report.exception = Some(test_failed(test));
    } else if let Some((exception, place)) = program_output::traceback(output) {
        report.exception = Some(exception);
        report.place = place;
        report.notes.push("no debugger saw it; this is what the program printed".to_owned());
        // Node lists the ten newest calls.
        if let Some((recursion, _)) = cycle::recursion_of(&program_output::node_calls(output), &[], 3) {
            report.set_recursion(recursion);
        }
    }
    if let Some(blocked) = program_output::go_deadlock(output) {
        report.exception =
            Some(Exception { kind: "deadlock".to_owned(), message: "all goroutines are asleep".to_owned() });
        report.place = blocked.iter().find_map(|thread| thread.place.clone()).or(report.place);
        report.blocked = blocked;
    }
    report.summary = report.sentence();
    report
}

fn test_failed(test: &FailedTest) -> Exception {
    Exception { kind: "test failed".to_owned(), message: test.message.clone() }
}

/// Lists the failing tests where there are several, and names the one that the report is about.
fn list_tests(
    report: &mut FailureReport,
    tests: &[FailedTest],
    test: Option<&FailedTest>,
    wanted: Option<usize>,
) {
    report.test = test.map(|test| test.name.clone());
    if let Some(wanted) = wanted.filter(|wanted| *wanted > tests.len().max(1)) {
        report.notes.push(no_failure(wanted, tests.len().max(1)));
    }
    if tests.len() < 2 {
        return;
    }
    report.failure = tests.iter().position(|one| Some(one) == test).map(|at| at + 1);
    report.failures = tests
        .iter()
        .zip(1..)
        .map(|(test, number)| FailureSummary {
            number,
            test: Some(test.name.clone()),
            message: shortened(&test.message, 200),
            file: test.file.clone(),
            line: test.line,
        })
        .collect();
}

/// Says that a failure was asked for that there is not.
fn no_failure(wanted: usize, all: usize) -> String {
    if all == 1 {
        format!("there is no failure {wanted}; there is only one")
    } else {
        format!("there is no failure {wanted}; there are {all}")
    }
}

/// Returns the stop of a test. Where several tests fail on one line, such as the rows of a table or callers of one check,
/// the one that names the test, or has its message; else they come in the order of the report.
fn of_test<'a>(
    snapshots: &'a [StopSnapshot],
    tests: &[FailedTest],
    test: &FailedTest,
) -> Option<&'a StopSnapshot> {
    let mut all: Vec<&StopSnapshot> =
        snapshots.iter().filter(|snapshot| is_of_test(snapshot, test)).collect();
    let has_message = |snapshot: &&&StopSnapshot| {
        let message = snapshot.exception.as_ref().map(|exception| exception.message.trim());
        message.is_some_and(|message| message.len() > 3 && test.details.contains(message))
    };
    if test.has_panicked() {
        // The stop itself may be lost, and those of other tests on the same line be there.
        let is_of_other =
            |snapshot: &&StopSnapshot| tests.iter().any(|other| other != test && names_test(snapshot, other));
        let own = all.iter().find(|snapshot| names_test(snapshot, test));
        return own.or_else(|| all.iter().filter(has_message).find(|found| !is_of_other(found))).copied();
    }
    let is_same =
        |other: &&FailedTest| other.line.is_some() && (&other.file, other.line) == (&test.file, test.line);
    let own = tests.iter().position(|other| other == test)?;
    if !tests.iter().any(|other| other != test && is_same(&other)) {
        return all.first().copied();
    }
    let row = test.name.rsplit('/').next().map(|name| format!("\"{name}\""));
    let is_named = |snapshot: &&&StopSnapshot| {
        let frames = snapshot.frames.iter();
        let mut frames = frames.filter(|frame| {
            let is_row =
                |value: &FrameValue| row.as_ref().is_some_and(|row| value.value.contains(row.as_str()));
            frame.function.ends_with(&test.name) || frame.variables.iter().any(is_row)
        });
        frames.next().is_some()
    };
    for named in
        [all.iter().filter(is_named).copied().collect(), all.iter().filter(has_message).copied().collect()]
    {
        let named: Vec<&StopSnapshot> = named;
        if let [only] = named.as_slice() {
            return Some(only);
        }
        if !named.is_empty() {
            all = named;
        }
    }
    let earlier = tests[..own].iter().filter(is_same).count();
    all.get(earlier).copied()
}

/// Whether a stop is the failure that a runner reports for a test.
fn is_of_test(snapshot: &StopSnapshot, test: &FailedTest) -> bool {
    let file_name = |file: &str| Path::new(file).file_name().map(std::ffi::OsStr::to_os_string);
    if let (Some(file), Some(line)) = (&test.file, test.line) {
        return snapshot
            .frames
            .iter()
            .any(|frame| frame.line == line && file_name(&frame.file) == file_name(file));
    }
    // A panic is reported without a place: its message, or the test's function among the callers, tells.
    let message = snapshot.exception.as_ref().map(|exception| exception.message.trim()).unwrap_or_default();
    let is_message = message.len() > 3 && test.message.contains(message);
    let function = test.name.split('/').next().unwrap_or(&test.name);
    let ends = |name: &str| name.rsplit(['.', ':']).next() == Some(function);
    is_message || snapshot.frames.iter().any(|frame| ends(&frame.function))
}

/// Whether the function of a test is among the callers.
fn names_test(snapshot: &StopSnapshot, test: &FailedTest) -> bool {
    let is_it = |function: &str| {
        let before = function.strip_suffix(test.name.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    };
    snapshot.frames.iter().any(|frame| is_it(&frame.function))
}

fn set_frames(report: &mut FailureReport, mut snapshot: StopSnapshot, finder: Option<&dyn FunctionFinder>) {
    if let Some(finder) = finder {
        for frame in &mut snapshot.frames {
            let text = origin::text_of(&frame.file);
            let body = text.and_then(|text| finder.function_at(Path::new(&frame.file), &text, frame.line));
            if let Some(body) = body {
                let line = frame.line;
                frame.variables.retain(|row| body.may_have_value(&row.name, line));
            }
        }
    }
    let recursion = snapshot.recursion.take();
    report.library_frames = snapshot.library_frames;
    report.place = snapshot.frames.first().map(FailureFrame::location);
    report.values = snapshot
        .frames
        .first()
        .map(|frame| value_histories(frame, snapshot.frames.get(1), finder))
        .unwrap_or_default();
    report.frames = snapshot.frames;
    if let Some(recursion) = recursion {
        report.set_recursion(recursion);
    }
}

/// Returns the end of what was printed.
fn output_tail(output: &str) -> String {
    let tail = output.len().saturating_sub(OUTPUT);
    output[floor_boundary(output, tail)..].to_owned()
}

/// Chooses the stop that the output names; else the last that was not caught; else the last. Where the output names
/// several, one that nothing caught comes before one that was caught on the way, unless it is the same thrown again.
fn choose(snapshots: &[StopSnapshot], output: &str) -> Option<usize> {
    let has_frames = |snapshot: &StopSnapshot| !snapshot.frames.is_empty();
    let is_told = |snapshot: &StopSnapshot| has_frames(snapshot) && is_told(snapshot, output);
    let told = snapshots.iter().position(is_told).map(|first| {
        let is_new = |snapshot: &StopSnapshot| snapshot.exception != snapshots[first].exception;
        let ends = snapshots.iter().position(|snapshot| snapshot.is_final && is_told(snapshot));
        let later = ends.filter(|at| !snapshots[first].is_final && is_new(&snapshots[*at]));
        later.unwrap_or(first)
    });
    told.or_else(|| snapshots.iter().rposition(|snapshot| snapshot.is_final && has_frames(snapshot)))
        .or_else(|| snapshots.iter().rposition(has_frames))
        .or_else(|| snapshots.len().checked_sub(1))
}

/// Whether the output has the message of a stop, or its place.
fn is_told(snapshot: &StopSnapshot, output: &str) -> bool {
    let message = snapshot.exception.as_ref().map(|exception| exception.message.as_str()).unwrap_or_default();
    let first = message.lines().next().unwrap_or_default().trim();
    let place = snapshot.frames.first().map(|frame| {
        let name = Path::new(&frame.file).file_name().map(|name| name.to_string_lossy().into_owned());
        format!("{}:{}", name.unwrap_or_default(), frame.line)
    });
    (first.len() > 3 && output.contains(first)) || place.is_some_and(|place| output.contains(&place))
}

/// Returns the caught exception that Node prints as the cause of the one that ended the program.
fn cause_of(before: &[StopSnapshot], chosen: &StopSnapshot, output: &str) -> Option<Cause> {
    let (_, printed) = output.split_once("[cause]: ")?;
    let is_cause = |snapshot: &&StopSnapshot| {
        let message = snapshot.exception.as_ref().map(|exception| exception.message.trim());
        let first = message.and_then(|message| message.lines().next()).unwrap_or_default();
        snapshot.exception != chosen.exception && first.len() > 3 && printed.contains(first)
    };
    let cause = before.iter().rfind(is_cause)?;
    Some(Cause {
        how: CauseKind::Cause,
        exception: cause.exception.clone()?,
        place: cause.frames.first().map(FailureFrame::location),
        variables: cause.frames.first().map(|frame| frame.variables.clone()).unwrap_or_default(),
    })
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
            changed_since: false,
            origin: finder.and_then(|finder| origin::of(&row.name, frame, caller, finder)),
        })
        .collect()
}
