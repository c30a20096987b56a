//! Follows the values of a failing line through a second run: every line of the failing function and of its caller is a
//! temporary breakpoint. A value that differs from one line to the next was written by the first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::origin::{line_of, names, text_of};
use super::snapshot::told_value;
use super::trail::{Arrival, Following};
use super::writes::{Passage, SeenWrite, writes};
use super::{FailureFrame, FailureReport, VALUE, ValueHistory, ValueWrite, Verdict, WriteKind};
use crate::dap::types::StackFrame;
use crate::function_finder::{FunctionBody, FunctionFinder};
use crate::ids::AdapterFrameId;
use crate::launch::{LaunchOptions, LaunchPlan};
use crate::session::{Session, same_file};
use crate::values::shortened;
use crate::{Debugger, Outcome, Result, Wait};

/// Maximum number of writes per value.
const MOST_WRITES: usize = 4;
/// Maximum number of names evaluated at every line.
const MOST_NAMES: usize = 6;
/// Limits of the second run: lines that are followed, and time from the first on.
const MOST_PASSAGES: usize = 2000;
const FOLLOWING: Duration = Duration::from_secs(8);
/// Lines of code of one function that are followed.
const MOST_LINES: usize = 120;

/// A function that is followed, and the names in it that matter.
#[derive(Debug)]
pub(super) struct Scope {
    pub file: PathBuf,
    body: FunctionBody,
    /// The lines that are probed.
    pub probed: Vec<i64>,
    /// The line in it when the program failed.
    pub line: i64,
    pub names: Vec<String>,
}

impl Scope {
    /// Whether a line of the function may write one of the values: by an assignment, or by a call for a variable that is
    /// not its own.
    fn may_be_written(&self) -> bool {
        let is_written = |name: &String| {
            let is_own = self.body.parameters.contains(name)
                || self.body.declarations.iter().any(|declared| declared.name == *name);
            self.body.assignments.iter().any(|one| one.name == *name)
                || (!is_own && !self.body.call_lines.is_empty())
        };
        self.names.iter().any(is_written)
    }
}

impl Debugger {
    /// Whether a second run can show more of a failure than the first: a value of the failing line is written to.
    pub fn can_follow(&self, report: &FailureReport) -> bool {
        let finder = self.options().function_finder.as_deref();
        let is_open = report.verdict == Verdict::Failed && !report.is_followed;
        is_open && finder.is_some_and(|finder| !scopes(report, finder).is_empty())
    }

    /// Repeats the run and adds the last assignments of the failing line's values to the report.
    pub async fn follow_writes(
        &self,
        mut plan: LaunchPlan,
        mut options: LaunchOptions,
        report: &mut FailureReport,
        wait: &Wait,
    ) -> Result<()> {
        let Some(finder) = self.options().function_finder.as_deref() else { return Ok(()) };
        let scopes = scopes(report, finder);
        if report.verdict != Verdict::Failed || report.is_followed || scopes.is_empty() {
            return Ok(());
        }
        if let Some(command) = self.recorded_node(&plan) {
            let followed = self.follow_recorded(command, &plan, &scopes, report, wait).await?;
            add_writes(report, &scopes, followed);
            return Ok(());
        }
        options.breakpoints = false;
        options.exception_filters = Some(Vec::new());
        options.probes = probes(&scopes);
        // Threads that stop at the same moment are reported as one stop.
        plan.run_tests_one_by_one();
        let after = self.serial();
        let launched = plan.start(self, &options).await?;
        let Some(session) = launched.sessions.first().cloned() else { return Ok(()) };
        let followed = self.follow(&session, &scopes, report, after, wait).await;
        self.end(&session).await;
        add_writes(report, &scopes, followed?);
        Ok(())
    }

    /// Follows the run of a session to the failure.
    async fn follow(
        &self,
        session: &std::sync::Arc<Session>,
        scopes: &[Scope],
        report: &FailureReport,
        mut after: u64,
        wait: &Wait,
    ) -> Result<Following> {
        let mut following = Following::new(scopes.len());
        let mut wait = wait.clone();
        for passed in 0.. {
            let (stopped, stop) = match self.wait(session, after, &wait).await {
                Outcome::Stopped(stopped, stop) => (stopped, stop),
                Outcome::TimedOut => {
                    following.is_too_much = true;
                    break;
                }
                _ => break,
            };
            if passed == 0 {
                wait.deadline = wait.deadline.min(Instant::now() + FOLLOWING);
            }
            if passed >= MOST_PASSAGES {
                following.is_too_much = true;
                break;
            }
            after = stop.serial;
            let thread = stopped.top_frame_thread().await?;
            let stack = stopped.stack(thread, 0, 1000).await?.stack_frames;
            let here = stack.first().and_then(|top| Some((top, scope_of(scopes, top)?)));
            if let Some((top, scope)) = here {
                let values = stopped.values_of(&scopes[scope].names, top.id).await;
                let is_failure = stop.reason.may_be_failure();
                let passage = Passage { line: top.line, values, is_failure };
                following.pass(scopes, report, (scope, thread, stack.len()), passage);
                // A signal or a panic stops there once more: that is the failure.
                if is_failure {
                    break;
                }
            }
            stopped.resume(None).await?;
        }
        Ok(following)
    }
}

impl Session {
    async fn values_of(&self, names: &[String], frame: AdapterFrameId) -> Vec<Option<String>> {
        let mut values = Vec::with_capacity(names.len());
        // A plain name is asked for alone: the whole scope may have variables that are not initialised yet, and
        // formatting one of those can take LLDB for ever.
        let is_path = self.adapter.quirks().finds_names_in_scopes;
        for name in names {
            let value = if is_path {
                let arguments = json!({ "expression": name, "frameId": frame, "context": "hover" });
                let answer = self.request("evaluate", arguments).await.ok();
                answer.and_then(|answer| answer.get("result")?.as_str().map(str::to_owned))
            } else {
                self.evaluate(name, Some(frame), "watch").await.ok().map(|value| value.value)
            };
            values.push(value.map(|value| shortened(&value, VALUE)));
        }
        values
    }
}

/// The failing function with the values of its line, and the caller with those of the call.
fn scopes(report: &FailureReport, finder: &dyn FunctionFinder) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let (Some(failing), false) = (report.frames.first(), report.values.is_empty()) else { return scopes };
    let of = |file: &str, line: i64, names: Vec<String>| {
        let body = finder.function_at(Path::new(file), &text_of(file)?, line)?;
        let mut probed = body.code_near(line, MOST_LINES);
        let written = body.assignments.iter().filter(|one| names.contains(&one.name));
        probed.extend(written.flat_map(|one| [one.first_line, one.line]).filter(|line| body.contains(*line)));
        probed.sort_unstable();
        probed.dedup();
        Some(Scope { file: PathBuf::from(file), body, probed, line, names })
    };
    let wanted = report.values.iter().map(|value| value.name.clone()).take(MOST_NAMES).collect();
    scopes.extend(of(&failing.file, failing.line, wanted));
    if let (Some(first), Some(caller)) = (scopes.first(), report.frames.get(1)) {
        let call = line_of(&caller.file, caller.line).unwrap_or_default();
        let known = caller.variables.iter().filter(|row| names(&call).any(|name| name == row.name));
        let wanted: Vec<String> = known.map(|row| row.name.clone()).take(MOST_NAMES).collect();
        let is_same = caller.file == failing.file && first.body.contains(caller.line);
        if !is_same && !wanted.is_empty() {
            scopes.extend(of(&caller.file, caller.line, wanted));
        }
    }
    // Nothing to see where no line of them writes a value.
    if scopes.iter().any(Scope::may_be_written) { scopes } else { Vec::new() }
}

fn probes(scopes: &[Scope]) -> BTreeMap<PathBuf, Vec<i64>> {
    let mut probes: BTreeMap<PathBuf, Vec<i64>> = BTreeMap::new();
    for scope in scopes {
        let lines = probes.entry(scope.file.clone()).or_default();
        lines.extend(scope.probed.iter().copied());
        lines.sort_unstable();
        lines.dedup();
    }
    probes
}

fn scope_of(scopes: &[Scope], frame: &StackFrame) -> Option<usize> {
    let path = Path::new(frame.source.as_ref()?.path.as_deref()?);
    scope_at(scopes, path, frame.line)
}

/// Finds the scope that a line belongs to.
pub(super) fn scope_at(scopes: &[Scope], path: &Path, line: i64) -> Option<usize> {
    scopes.iter().position(|scope| {
        // Functions lie between the lines of a script's top level.
        let is_here =
            if scope.body.is_top_level { scope.probed.contains(&line) } else { scope.body.contains(line) };
        is_here && same_file(&scope.file, path)
    })
}

/// How many values of the failing line are those that were seen when it failed.
pub(super) fn alike(report: &FailureReport, scope: &Scope, arrival: &Arrival) -> usize {
    let Some(last) = arrival.failing.last() else { return 0 };
    let values = scope.names.iter().zip(&last.values);
    values.filter(|(name, value)| value.as_deref().is_some_and(|value| is_of(report, name, value))).count()
}

fn is_of(report: &FailureReport, name: &str, value: &str) -> bool {
    report.values.iter().any(|story| story.name == name && is_same_value(&story.value, value))
}

/// Whether a value of the second run can be the one of the report. Addresses differ from run to run, and what is behind
/// one was opened for the report alone.
fn is_same_value(reported: &str, seen: &str) -> bool {
    told_value(seen).is_none_or(|seen| without_places(&seen) == without_places(reported))
}

/// Addresses differ from run to run.
fn without_places(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("0x") {
        plain.push_str(&rest[..at]);
        rest = rest[at + 2..].trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    }
    plain.push_str(rest);
    plain.trim().to_owned()
}

/// Adds the writes that were seen, or says why there are none.
fn add_writes(report: &mut FailureReport, scopes: &[Scope], following: Following) {
    let (is_too_much, has_arrived) = (following.is_too_much, following.has_arrived);
    let reason = match following.arrival() {
        Some(arrival) => return attach(report, scopes, &arrival),
        None if is_too_much => "too many lines ran to follow them",
        None if has_arrived => "a second run went another way",
        None => "a second run did not stop on the failing line",
    };
    report.notes.push(format!("how the values came to be was read from the source: {reason}"));
}

fn attach(report: &mut FailureReport, scopes: &[Scope], arrival: &Arrival) {
    let Some(last) = arrival.failing.last() else { return };
    let known: Vec<bool> = scopes[0]
        .names
        .iter()
        .zip(&last.values)
        .map(|(name, value)| value.as_deref().is_some_and(|value| is_of(report, name, value)))
        .collect();
    for story in &mut report.values {
        let Some(at) = scopes[0].names.iter().position(|name| *name == story.name) else { continue };
        if !known[at] {
            continue;
        }
        // A parameter that nobody wrote to was passed; how the caller's variable came to be is told with the caller.
        story.writes = told(&scopes[0], at, &arrival.failing);
    }
    if let (Some(caller), Some(frame)) = (scopes.get(1), report.frames.get_mut(1)) {
        frame.values = caller_values(caller, frame, &arrival.caller);
    }
}

/// The values of the call's line in the caller, with their writes.
fn caller_values(caller: &Scope, frame: &FailureFrame, passages: &[Passage]) -> Vec<ValueHistory> {
    let of = |at: usize, name: &String| {
        let row = frame.variables.iter().find(|row| row.name == *name)?;
        // What was written after the last line that was seen is not known, as in a loop on one line.
        let last = passages.last().and_then(|last| last.values[at].as_deref());
        let is_last = last.is_some_and(|last| is_same_value(&row.value, last));
        Some(ValueHistory {
            name: name.clone(),
            value: row.value.clone(),
            writes: if is_last { told(caller, at, passages) } else { Vec::new() },
            ..ValueHistory::default()
        })
    };
    caller.names.iter().enumerate().filter_map(|(at, name)| of(at, name)).collect()
}

/// The writes of one name that were seen, newest first.
fn told(scope: &Scope, name: usize, passages: &[Passage]) -> Vec<ValueWrite> {
    let file = scope.file.to_string_lossy();
    let all = scope.probed.len() >= scope.body.code_lines.len();
    let seen = writes(&scope.body, &scope.names[name], name, scope.line, passages, all);
    let write = |seen: SeenWrite| ValueWrite {
        source: line_of(&file, seen.line).unwrap_or_default(),
        file: file.clone().into_owned(),
        line: seen.line,
        value: told_value(&seen.value),
        how: if seen.is_indirect { WriteKind::Changed } else { WriteKind::Set },
        inputs: Vec::new(),
    };
    seen.into_iter().take(MOST_WRITES).map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::trail::{KEPT, Trail};
    use crate::function_finder::{Assignment, Certainty};
    use crate::ids::ThreadId;

    fn passage(line: i64, value: &str) -> Passage {
        let values = vec![(!value.is_empty()).then(|| value.to_owned())];
        Passage { line, values, is_failure: false }
    }

    fn written(line: i64) -> Assignment {
        Assignment {
            name: "x".to_owned(),
            line,
            first_line: line,
            last_line: line,
            certainty: Certainty::Always,
        }
    }

    fn scope() -> Scope {
        Scope {
            file: PathBuf::from("a.py"),
            body: FunctionBody {
                first_line: 1,
                last_line: 9,
                code_lines: (1..=9).collect(),
                parameters: Vec::new(),
                is_top_level: false,
                assignments: (2..=3).map(written).collect(),
                declarations: Vec::new(),
                call_lines: Vec::new(),
            },
            probed: (1..=9).collect(),
            line: 4,
            names: vec!["x".to_owned()],
        }
    }

    #[test]
    fn a_write_belongs_to_the_line_that_was_left_and_to_its_own_call() {
        let mut trail = Trail::new(1);
        // A call that is over, one that is going on, and one inside it that returned.
        for (depth, line, value) in
            [(3, 2, ""), (3, 3, "7"), (3, 2, ""), (3, 3, "1"), (4, 2, ""), (4, 3, "50"), (3, 4, "2")]
        {
            trail.pass(0, ThreadId(1), depth, passage(line, value));
        }
        let arrival = trail.arrival(ThreadId(1), 3).unwrap();
        let told: Vec<_> = told(&scope(), 0, &arrival.failing)
            .into_iter()
            .map(|write| (write.line, write.value.unwrap()))
            .collect();
        assert_eq!(told, [(3, "2".to_owned()), (2, "1".to_owned())]);
        assert!(trail.arrival(ThreadId(2), 3).is_none(), "another thread");
    }

    #[test]
    fn a_long_call_keeps_its_end() {
        let mut trail = Trail::new(1);
        trail.pass(0, ThreadId(1), 1, passage(2, ""));
        for count in 0..1000 {
            trail.pass(0, ThreadId(1), 1, passage(3, &count.to_string()));
        }
        let arrival = trail.arrival(ThreadId(1), 1).unwrap();
        assert_eq!(arrival.failing.len(), KEPT);
        assert_eq!(told(&scope(), 0, &arrival.failing)[0].value.as_deref(), Some("999"));
    }

    #[test]
    fn addresses_do_not_count() {
        assert_eq!(without_places("<Order at 0x7f01>, 0xAB"), without_places("<Order at 0x55>, 0x1"));
        assert_ne!(without_places("total 12"), without_places("total 13"));
    }
}
