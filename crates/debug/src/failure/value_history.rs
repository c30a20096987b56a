//! Follows the values of a failing line through a second run: every line of the failing function and of its caller is a
//! temporary breakpoint. A value that differs from one line to the next was written by the first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use super::origin::{line_of, names, sets, text_of};
use super::{FailureReport, VALUE, Verdict};
use crate::dap::types::StackFrame;
use crate::function_finder::{FunctionBody, FunctionFinder};
use crate::ids::{AdapterFrameId, ThreadId};
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
/// Lines of one call that are recorded.
const KEPT: usize = 400;
/// Lines of code of one function that are followed.
const MOST_LINES: usize = 120;
/// Lines above that are searched for the head of a loop.
const MOST_LINES_UP: usize = 100;

/// A line that set a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueWrite {
    pub file: String,
    pub line: i64,
    pub source: String,
    pub value: String,
}

/// A function that is followed, and the names in it that matter.
#[derive(Debug)]
struct Scope {
    file: PathBuf,
    body: FunctionBody,
    /// The lines that are probed.
    probed: Vec<i64>,
    /// The line in it when the program failed.
    line: i64,
    names: Vec<String>,
}

/// One line that was about to run, with the values before it. `None` is a name that had no value there.
#[derive(Clone, Debug)]
struct Passage {
    line: i64,
    values: Vec<Option<String>>,
}

/// A call that is going on.
#[derive(Debug)]
struct Call {
    scope: usize,
    thread: ThreadId,
    depth: usize,
    passages: Vec<Passage>,
}

/// The failing line was reached: the failing call and the one that called it, as far as they had come.
#[derive(Debug)]
struct Arrival {
    failing: Vec<Passage>,
    caller: Vec<Passage>,
}

#[derive(Debug, Default)]
struct Trail {
    calls: Vec<Call>,
    /// The line each scope begins at, as first seen.
    entries: Vec<Option<i64>>,
}

impl Trail {
    fn new(scopes: usize) -> Self {
        Self { calls: Vec::new(), entries: vec![None; scopes] }
    }

    fn pass(&mut self, scope: usize, thread: ThreadId, depth: usize, passage: Passage) {
        self.calls.retain(|call| call.thread != thread || call.depth <= depth);
        let entry = *self.entries[scope].get_or_insert(passage.line);
        let known = self
            .calls
            .iter()
            .position(|call| call.thread == thread && call.depth == depth && call.scope == scope);
        let begins = passage.line == entry;
        match known {
            Some(at) if !begins => {
                let passages = &mut self.calls[at].passages;
                if passages.len() >= KEPT {
                    passages.remove(0);
                }
                passages.push(passage);
            }
            known => {
                if let Some(at) = known {
                    self.calls.remove(at);
                }
                self.calls.push(Call { scope, thread, depth, passages: vec![passage] });
            }
        }
    }

    fn arrival(&self, thread: ThreadId, depth: usize) -> Option<Arrival> {
        let of = |call: &&Call| call.thread == thread;
        let failing = self.calls.iter().filter(of).find(|call| call.scope == 0 && call.depth == depth)?;
        let caller = self.calls.iter().filter(of).rfind(|call| call.scope == 1 && call.depth < depth);
        Some(Arrival {
            failing: failing.passages.clone(),
            caller: caller.map(|call| call.passages.clone()).unwrap_or_default(),
        })
    }
}

impl Debugger {
    /// Repeats the run and adds the last assignments of the failing line's values to the report.
    pub async fn follow_writes(
        &self,
        plan: LaunchPlan,
        mut options: LaunchOptions,
        report: &mut FailureReport,
        wait: &Wait,
    ) -> Result<()> {
        let finder = self.options().function_finder.as_deref();
        let scopes = finder.map(|finder| scopes(report, finder)).unwrap_or_default();
        if report.verdict != Verdict::Failed || scopes.is_empty() {
            return Ok(());
        }
        options.breakpoints = false;
        options.exception_filters = Some(Vec::new());
        options.probes = probes(&scopes);
        let after = self.serial();
        let launched = plan.start(self, &options).await?;
        let Some(session) = launched.sessions.first().cloned() else { return Ok(()) };
        let followed = self.follow(&session, &scopes, report, after, wait).await;
        self.end(&session).await;
        match followed? {
            (Some(arrival), _) => attach(report, &scopes, &arrival),
            (None, true) => report.notes.push(
                "how the values came to be was read from the source: too many lines ran to follow them"
                    .to_owned(),
            ),
            (None, false) => report.notes.push(
                "how the values came to be was read from the source: a second run went another way"
                    .to_owned(),
            ),
        }
        Ok(())
    }

    /// The last arrival at the failing line that has the values of the failure, and whether it became too much.
    async fn follow(
        &self,
        session: &std::sync::Arc<Session>,
        scopes: &[Scope],
        report: &FailureReport,
        mut after: u64,
        wait: &Wait,
    ) -> Result<(Option<Arrival>, bool)> {
        let mut trail = Trail::new(scopes.len());
        let mut best: Option<(usize, Arrival)> = None;
        let mut wait = wait.clone();
        for passed in 0.. {
            let (stopped, stop) = match self.wait(session, after, &wait).await {
                Outcome::Stopped(stopped, stop) => (stopped, stop),
                Outcome::TimedOut => return Ok((None, true)),
                _ => break,
            };
            if passed == 0 {
                wait.deadline = wait.deadline.min(Instant::now() + FOLLOWING);
            }
            if passed >= MOST_PASSAGES {
                return Ok((None, true));
            }
            after = stop.serial;
            let thread = stopped.top_frame_thread().await?;
            let stack = stopped.stack(thread, 0, 1000).await?.stack_frames;
            let here = stack.first().and_then(|top| Some((top, scope_of(scopes, top)?)));
            if let Some((top, scope)) = here {
                let values = stopped.values_of(&scopes[scope].names, top.id).await;
                trail.pass(scope, thread, stack.len(), Passage { line: top.line, values });
                if scope == 0
                    && top.line == scopes[0].line
                    && let Some(arrival) = trail.arrival(thread, stack.len())
                {
                    let alike = alike(report, &scopes[0], &arrival);
                    if alike > 0 && best.as_ref().is_none_or(|(most, _)| alike >= *most) {
                        best = Some((alike, arrival));
                    }
                }
                // A signal or a panic stops there once more: that is the failure.
                if stop.reason.may_be_failure() {
                    break;
                }
            }
            stopped.resume(None).await?;
        }
        Ok((best.map(|(_, arrival)| arrival), false))
    }
}

impl Session {
    async fn values_of(&self, names: &[String], frame: AdapterFrameId) -> Vec<Option<String>> {
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            let value = self.evaluate(name, Some(frame), "watch").await;
            values.push(value.ok().map(|value| shortened(&value.value, VALUE)));
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
        let probed = body.code_near(line, MOST_LINES);
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
    scopes
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
    scopes.iter().position(|scope| {
        // Functions lie between the lines of a script's top level.
        let is_here = if scope.body.is_top_level {
            scope.probed.contains(&frame.line)
        } else {
            scope.body.contains(frame.line)
        };
        is_here && same_file(&scope.file, path)
    })
}

/// How many values of the failing line are those that were seen when it failed.
fn alike(report: &FailureReport, scope: &Scope, arrival: &Arrival) -> usize {
    let Some(last) = arrival.failing.last() else { return 0 };
    let values = scope.names.iter().zip(&last.values);
    values.filter(|(name, value)| value.as_deref().is_some_and(|value| is_of(report, name, value))).count()
}

fn is_of(report: &FailureReport, name: &str, value: &str) -> bool {
    report
        .values
        .iter()
        .any(|story| story.name == name && without_places(&story.value) == without_places(value))
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

fn attach(report: &mut FailureReport, scopes: &[Scope], arrival: &Arrival) {
    let Some(last) = arrival.failing.last() else { return };
    let callers: Vec<(String, String)> = report
        .frames
        .get(1)
        .map(|frame| frame.variables.iter().map(|row| (row.name.clone(), row.value.clone())).collect())
        .unwrap_or_default();
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
        story.writes = writes(&scopes[0], at, &arrival.failing);
        // A parameter that nobody wrote to has the story of what was passed.
        let is_passed = story.origin.as_ref().is_some_and(|origin| origin.from_caller);
        if let (true, true, Some(caller)) = (story.writes.is_empty(), is_passed, scopes.get(1)) {
            let passed = callers.iter().find(|(name, value)| {
                without_places(value) == without_places(&story.value) && caller.names.contains(name)
            });
            let at = passed.and_then(|(name, _)| caller.names.iter().position(|known| known == name));
            story.writes = at.map(|at| writes(caller, at, &arrival.caller)).unwrap_or_default();
        }
    }
}

/// The writes of one name, the newest first.
fn writes(scope: &Scope, name: usize, passages: &[Passage]) -> Vec<ValueWrite> {
    let file = scope.file.to_string_lossy();
    let text = text_of(&file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    passages
        .windows(2)
        .rev()
        .filter_map(|pair| {
            let (before, after) = (&pair[0].values[name], pair[1].values[name].as_ref()?);
            let line = writer(&lines, &scope.names[name], pair[0].line, pair[1].line);
            (before.as_ref() != Some(after)).then(|| ValueWrite {
                file: file.clone().into_owned(),
                line,
                source: source(&lines, line).map(|text| shortened(text.trim(), VALUE)).unwrap_or_default(),
                value: after.clone(),
            })
        })
        .take(MOST_WRITES)
        .collect()
}

/// The line that wrote a name on the way from one line to another. Debuggers do not stop at a loop's head each time round, so
/// on the way back a line that does not set the name gives way to the head above.
fn writer(lines: &[&str], name: &str, left: i64, reached: i64) -> i64 {
    let is_set = |line: i64| source(lines, line).is_some_and(|text| sets(text, name));
    if reached > left || is_set(left) {
        return left;
    }
    let is_head = |line: &i64| {
        is_set(*line) && source(lines, *line).is_some_and(|text| text.trim_start().starts_with("for"))
    };
    (1..reached).rev().take(MOST_LINES_UP).find(is_head).unwrap_or(left)
}

fn source<'a>(lines: &[&'a str], line: i64) -> Option<&'a str> {
    lines.get(usize::try_from(line).ok()?.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(line: i64, value: &str) -> Passage {
        Passage { line, values: vec![(!value.is_empty()).then(|| value.to_owned())] }
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
        let told: Vec<_> = writes(&scope(), 0, &arrival.failing)
            .into_iter()
            .map(|write| (write.line, write.value))
            .collect();
        assert_eq!(told, [(3, "2".to_owned()), (2, "1".to_owned())]);
        assert!(trail.arrival(ThreadId(2), 3).is_none(), "another thread");
    }

    #[test]
    fn a_loops_head_writes_what_its_body_does_not_speak_of() {
        let text = "for i := range stops {\n  way := stops[i]\n  if way > longest {\n    longest = way + i\n";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(writer(&lines, "i", 3, 2), 1, "the next round");
        assert_eq!(writer(&lines, "i", 4, 2), 1, "reading is no writing");
        assert_eq!(writer(&lines, "way", 2, 3), 2);
        assert_eq!(writer(&lines, "alias", 4, 2), 4, "nobody else could");
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
        assert_eq!(writes(&scope(), 0, &arrival.failing)[0].value, "999");
    }

    #[test]
    fn addresses_do_not_count() {
        assert_eq!(without_places("<Order at 0x7f01>, 0xAB"), without_places("<Order at 0x55>, 0x1"));
        assert_ne!(without_places("total 12"), without_places("total 13"));
    }
}
