//! Explains a failure from the exceptions that a recorder saw inside of Node, caught or not. Which of them is the
//! failure is read from the output, as for the stops of a debugger.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use stepwell_workspace::process::Ending;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::origin::{line_of, names};
use super::snapshot::{StopSnapshot, is_machinery_of_module};
use super::trail::Following;
use super::value_history::{Scope, scope_at};
use super::writes::Passage;
use super::{
    Exception, FailureFrame, FailureReport, FrameValue, Seen, SourceLocation, VALUE, VARIABLES, Verdict,
    program_output, report_of, set_frames, test_output,
};
use crate::adapters::{described, shown, value_kind};
use crate::function_finder::FunctionFinder;
use crate::ids::ThreadId;
use crate::launch::{LaunchOptions, LaunchPlan};
use crate::launch_config::Context;
use crate::recorder::records::{RaisedFrame, RaisedRecord, Record};
use crate::recorder::{Probe, RecordedCommand, RecordedLanguage, RecordedRun, command_of};
use crate::stop_report::lines_around;
use crate::targets::{self, Description};
use crate::values::shortened;
use crate::{Debugger, Outcome, Result, Wait};

/// How long processes that hang are looked at, and how long each may take to stop. One that waits runs no code.
const LOOKING: Duration = Duration::from_secs(5);
const PAUSING: Duration = Duration::from_secs(1);

/// Makes the report of a recorded run of Node.
pub(super) fn report_of_run(
    run: &RecordedRun,
    plan: &LaunchPlan,
    wanted: Option<usize>,
    finder: Option<&dyn FunctionFinder>,
    workspace: &Path,
) -> FailureReport {
    let exit_code = match run.ending {
        Ending::Exited(code) => Some(i64::from(code)),
        Ending::Signalled(signal) => Some(128 + i64::from(signal)),
        Ending::TimedOut | Ending::Cancelled => None,
    };
    let snapshots = run.records.iter().filter_map(|record| match record {
        Record::Raised(raised) => Some(snapshot_of(raised, workspace)),
        _ => None,
    });
    let tests = test_output::failed_tests(&run.output);
    let seen = Seen {
        snapshots: snapshots.collect(),
        hang: run.hang.clone(),
        exit_code: exit_code.or(Some(1)),
        output: &run.output,
        tests: &tests,
    };
    let mut report = report_of(seen, wanted, finder);
    report.exit_code = exit_code;
    match run.ending {
        Ending::Signalled(signal) => report.end_by_signal(&program_output::signal_name(signal)),
        Ending::TimedOut | Ending::Cancelled => report.verdict = Verdict::Hangs,
        Ending::Exited(_) => {}
    }
    if report.frames.is_empty() {
        let at = report.failure.unwrap_or(1).saturating_sub(1);
        report.place = tests.get(at).and_then(|test| place_of(test, plan)).or(report.place);
    }
    let is_unexplained =
        report.verdict == Verdict::Failed && report.exception.is_none() && report.place.is_none();
    let frames = frames_at_exit(run, exit_code, workspace);
    if let Some(frames) = frames.filter(|_| is_unexplained && tests.is_empty()) {
        set_frames(&mut report, StopSnapshot { frames, ..StopSnapshot::default() }, finder);
    }
    for record in &run.records {
        if let Record::Problem { message } = record {
            report.notes.push(format!("the recorder failed: {message}"));
        }
    }
    report.summary = report.sentence();
    report
}

fn place_of(test: &test_output::FailedTest, plan: &LaunchPlan) -> Option<SourceLocation> {
    let (file, line) = (test.file.as_ref()?, test.line?);
    let path = plan.folders().iter().find_map(|folder| test_output::located(file, folder))?;
    Some(SourceLocation::at(&path.to_string_lossy(), line, ""))
}

/// Returns the frames of the last place where a process chose the exit code that the command ended with.
pub(super) fn frames_at_exit(
    run: &RecordedRun,
    exit_code: Option<i64>,
    workspace: &Path,
) -> Option<Vec<FailureFrame>> {
    let ended = run.records.iter().rev().find_map(|record| match record {
        // The kernel keeps eight bits of it.
        Record::EndedItself(ended) if Some(ended.code & 0xff) == exit_code => Some(ended),
        _ => None,
    });
    ended.map(|ended| own_frames(&ended.frames, workspace))
}

/// The frames of the workspace, or all where there are none.
fn own_frames(frames: &[RaisedFrame], workspace: &Path) -> Vec<FailureFrame> {
    let is_inside = |frame: &&RaisedFrame| Path::new(&frame.file).starts_with(workspace);
    let own: Vec<&RaisedFrame> = frames.iter().filter(is_inside).collect();
    if own.is_empty() {
        frames.iter().map(frame_of).collect()
    } else {
        own.into_iter().map(frame_of).collect()
    }
}

fn snapshot_of(raised: &RaisedRecord, workspace: &Path) -> StopSnapshot {
    let (kind, message) = described(Some(&raised.thrown));
    StopSnapshot {
        // Packages give classes names that start with `_` where two of a name meet.
        exception: Some(Exception {
            kind: shortened(kind.trim_start_matches('_'), 200),
            message: shortened(&message, 2000),
        }),
        frames: own_frames(&raised.frames, workspace),
        library_frames: raised.library_frames,
        is_final: raised.uncaught,
        ..StopSnapshot::default()
    }
}

fn frame_of(frame: &RaisedFrame) -> FailureFrame {
    let line = line_of(&frame.file, frame.line).unwrap_or_default();
    let words: Vec<&str> = names(&line).collect();
    let is_named = |name: &str| words.contains(&name);
    let outer = frame.outer.iter().filter(|(name, _)| is_named(name));
    let mut rows: Vec<FrameValue> = Vec::new();
    for (name, value) in frame.variables.iter().chain(outer) {
        let text = shown(value);
        if is_machinery_of_module(name, &text) || rows.iter().any(|known| known.name == *name) {
            continue;
        }
        rows.push(FrameValue {
            name: name.clone(),
            value: shortened(&text, VALUE),
            kind: Some(value_kind(value)),
        });
    }
    // What the line names is never among those left out.
    rows.sort_by_key(|row| !is_named(&row.name));
    rows.truncate(VARIABLES);
    let function = if frame.function.is_empty() { "<anonymous>" } else { &frame.function };
    FailureFrame {
        function: function.to_owned(),
        source: lines_around(Path::new(&frame.file), frame.line, 4),
        file: frame.file.clone(),
        line: frame.line,
        variables: rows,
        values: Vec::new(),
    }
}

impl Debugger {
    /// Returns the command of a plan, where a recorder inside of Node runs it.
    pub(super) fn recorded_node(&self, plan: &LaunchPlan) -> Option<RecordedCommand> {
        let command = plan.single_launch().and_then(|resolved| command_of(resolved, self))?;
        (command.language() == RecordedLanguage::Node).then_some(command)
    }

    /// Returns where the first of these processes is that runs code of the program's own. Node opens its inspector for
    /// whoever asks, also in an endless loop.
    pub(crate) async fn snapshot_of_node(&self, pids: Vec<u32>, plan: &LaunchPlan) -> Option<StopSnapshot> {
        let deadline = Instant::now() + LOOKING;
        let folder = plan.single_launch()?.folder.clone();
        for pid in pids {
            if Instant::now() >= deadline {
                return None;
            }
            let ctx = Context::new(&folder, BTreeMap::new());
            let Ok(target) = targets::describe(&Description::Process { pid }, &ctx) else { continue };
            let mut options = LaunchOptions::new(LOOKING, CancellationToken::new());
            options.breakpoints = false;
            options.exception_filters = Some(Vec::new());
            let after = self.serial();
            let Ok(launched) = LaunchPlan::of_target(target).start(self, &options).await else { continue };
            let Some(session) = launched.sessions.first().cloned() else { continue };
            let roots = [session.id.clone()];
            let wait =
                |time: Duration| Wait { deadline: Instant::now() + time, cancel: CancellationToken::new() };
            self.wait_attached(&roots, after, &wait(LOOKING)).await;
            let wait = wait(PAUSING);
            let seen = match self.pause(&session, None, &wait).await {
                Ok(Outcome::Stopped(stopped, stop)) => stopped.snapshot(&stop).await.ok(),
                _ => None,
            };
            self.end(&session).await;
            if let Some(seen) = seen.filter(|seen| !seen.frames.is_empty()) {
                return Some(seen);
            }
        }
        None
    }

    /// Repeats a recorded run with the functions that are followed.
    pub(super) async fn follow_recorded(
        &self,
        command: RecordedCommand,
        plan: &LaunchPlan,
        scopes: &[Scope],
        report: &FailureReport,
        wait: &Wait,
    ) -> Result<Following> {
        let mut command = command.with_input(&plan.stdin);
        command.follow(scopes.iter().map(Scope::probe).collect());
        let run = self.run_recorded(&command, plan, wait).await?;
        let mut following = Following::new(scopes.len());
        for record in &run.records {
            match record {
                Record::Passage(passed) => {
                    let Some(scope) = scope_at(scopes, Path::new(&passed.file), passed.line) else {
                        continue;
                    };
                    let value =
                        |name: &String| passed.values.get(name).map(|value| shortened(&shown(value), VALUE));
                    let values = scopes[scope].names.iter().map(value).collect();
                    let passage = Passage { line: passed.line, values, is_failure: false };
                    following.pass(scopes, report, (scope, ThreadId(passed.thread), passed.depth), passage);
                }
                Record::Unfollowed => following.is_too_much = true,
                _ => {}
            }
        }
        Ok(following)
    }
}

impl Scope {
    fn probe(&self) -> Probe {
        Probe { file: self.file.clone(), lines: self.probed.clone(), names: self.names.clone() }
    }
}
