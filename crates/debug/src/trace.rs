//! Traces one call of a function: the lines that ran, and the variables each line changed. Loops are folded.

use std::sync::Arc;

use tokio::time::Instant;

use crate::dap::types::StackFrame;
use crate::ids::ThreadId;
use crate::session::{Session, Step};
use crate::stop_reason::StopReason;
use crate::stop_report::is_plain;
use crate::values::shortened;
use crate::{Debugger, Outcome, Result, Wait};

/// Maximum length of a value, in bytes.
const VALUE: usize = 48;
/// Frames requested to measure the stack's depth.
const DEEPEST: i64 = 300;
/// Iterations shown at the beginning of a folded loop.
const SHOWN_FIRST: usize = 2;

/// One line that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// Call depth below the traced call.
    pub depth: usize,
    pub function: String,
    pub path: Option<String>,
    pub line: i64,
    pub text: String,
    /// Variables that were set or changed, with their values after the line.
    pub changed: Vec<(String, String)>,
}

/// The trace of a call.
#[derive(Clone, Debug)]
pub struct CallTrace {
    pub function: String,
    pub arguments: Vec<(String, String)>,
    pub lines: Vec<TraceLine>,
    pub returned: Option<String>,
    pub end: TraceEnd,
}

/// Why a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    Returned,
    /// An exception left the call, or stopped in it.
    Raised,
    /// The program ended in it.
    Ended,
    /// More lines ran than are traced.
    Full,
    TimedOut,
    Interrupted,
}

/// Limits of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceLimits {
    /// Calls inside the call that are followed, and calls inside these.
    pub depth: usize,
    pub lines: usize,
}

impl Debugger {
    /// Traces the call at whose beginning the session is stopped.
    pub async fn trace_call(
        &self,
        session: &Arc<Session>,
        limits: TraceLimits,
        wait: &Wait,
    ) -> Result<CallTrace> {
        let thread = session.top_frame_thread().await?;
        let mut stack = session.stack(thread, 0, DEEPEST).await?.stack_frames;
        let base = stack.len();
        let first = stack.first().cloned().unwrap_or_default();
        let mut before = values_of(session, &first).await?;
        let mut trace = CallTrace {
            function: first.name.clone(),
            arguments: self.arguments_of(&first, &before),
            lines: Vec::new(),
            returned: None,
            end: TraceEnd::Returned,
        };
        let mut outer: Vec<(usize, Vec<(String, String)>)> = Vec::new();
        while let Some(top) = stack.first().cloned() {
            if trace.lines.len() >= limits.lines {
                trace.end = TraceEnd::Full;
                break;
            }
            if Instant::now() >= wait.deadline {
                trace.end = TraceEnd::TimedOut;
                break;
            }
            let depth = stack.len().saturating_sub(base);
            let step = if depth < limits.depth { Step::Into } else { Step::Over };
            let after = self.serial();
            session.step(Some(thread), step).await?;
            let outcome = self.wait(session, after, wait).await;
            let mut line = line_of(&top, depth);
            let stop = match outcome {
                Outcome::Stopped(stopped, stop) if stopped.id == session.id => stop,
                other => {
                    trace.end = match other {
                        Outcome::TimedOut => TraceEnd::TimedOut,
                        Outcome::Interrupted => TraceEnd::Interrupted,
                        _ => TraceEnd::Ended,
                    };
                    trace.lines.push(line);
                    break;
                }
            };
            stack = session.stack(thread, 0, DEEPEST).await?.stack_frames;
            let now = stack.first().cloned().unwrap_or_default();
            let deeper = stack.len() > base + depth;
            if stop.reason == StopReason::Exception {
                trace.lines.push(line);
                trace.end = TraceEnd::Raised;
                break;
            }
            if stack.len() < base {
                let values = values_of(session, &now).await?;
                trace.returned = return_value(&values);
                trace.lines.push(line);
                break;
            }
            let values = values_of(session, &now).await?;
            if deeper && stack.len() > base + limits.depth {
                // A call that is not followed, entered by a step into another.
                self.leave(session, thread, wait).await?;
                stack = session.stack(thread, 0, DEEPEST).await?.stack_frames;
                trace.lines.push(line);
                continue;
            }
            if deeper {
                outer.push((stack.len(), std::mem::replace(&mut before, values)));
                trace.lines.push(line);
                let mut entered = line_of(&now, stack.len() - base);
                entered.changed.clone_from(&before);
                entered.text = format!("{}(…)", entered.function);
                trace.lines.push(entered);
            } else {
                if stack.len() < base + depth {
                    while outer.last().is_some_and(|(at, _)| *at > stack.len()) {
                        if let Some((_, values)) = outer.pop() {
                            before = values;
                        }
                    }
                }
                line.changed = changes(&before, &values);
                before = values;
                trace.lines.push(line);
            }
        }
        Ok(trace)
    }

    /// Returns the values of a function's parameters. Other variables have no value yet where a call begins, and C shows
    /// whatever was in their memory.
    fn arguments_of(&self, frame: &StackFrame, values: &[(String, String)]) -> Vec<(String, String)> {
        let function = || {
            let path = frame.source.as_ref()?.path.as_deref()?;
            let text = stepwell_workspace::files::read(path.as_ref()).ok()?;
            let finder = self.options().function_finder.as_deref()?;
            finder.function_at(path.as_ref(), &String::from_utf8_lossy(&text), frame.line)
        };
        let Some(function) = function().filter(|function| !function.is_top_level) else {
            return values.to_vec();
        };
        let is_given = |name: &str| {
            matches!(name, "self" | "this" | "cls") || function.parameters.iter().any(|known| known == name)
        };
        values.iter().filter(|(name, _)| is_given(name)).cloned().collect()
    }

    async fn leave(&self, session: &Arc<Session>, thread: ThreadId, wait: &Wait) -> Result<()> {
        let after = self.serial();
        session.step(Some(thread), Step::Out).await?;
        self.wait(session, after, wait).await;
        Ok(())
    }
}

fn line_of(frame: &StackFrame, depth: usize) -> TraceLine {
    let path = frame.source.as_ref().and_then(|source| source.path.clone());
    let text = path.as_deref().and_then(|path| source_line(path, frame.line)).unwrap_or_default();
    TraceLine { depth, function: frame.name.clone(), path, line: frame.line, text, changed: Vec::new() }
}

fn source_line(path: &str, line: i64) -> Option<String> {
    let content = stepwell_workspace::files::read(path.as_ref()).ok()?;
    let content = String::from_utf8_lossy(&content);
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    content.lines().nth(at).map(|text| shortened(text.trim(), 80))
}

async fn values_of(session: &Session, frame: &StackFrame) -> Result<Vec<(String, String)>> {
    let rows = session.locals(frame.id, 60).await?.map(|(_, rows)| rows).unwrap_or_default();
    let values = rows.into_iter().filter(|row| is_plain(row) || row.name.starts_with("(return)"));
    Ok(values.map(|row| (row.name, shortened(&row.value, VALUE))).collect())
}

fn changes(before: &[(String, String)], after: &[(String, String)]) -> Vec<(String, String)> {
    let old = |name: &str| before.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    after
        .iter()
        .filter(|(name, value)| {
            old(name) != Some(value) && !name.starts_with("(return)") && name != "Return value"
        })
        .cloned()
        .collect()
}

/// Returns the return value that adapters show in the caller.
fn return_value(values: &[(String, String)]) -> Option<String> {
    let is_result = |name: &str| name.starts_with("(return)") || name == "Return value";
    values.iter().find(|(name, _)| is_result(name)).map(|(_, value)| value.clone())
}

/// Formats a trace, with loops folded: the first iterations, the number of further ones, the last.
pub fn rendered(trace: &CallTrace) -> String {
    let mut text = String::new();
    let arguments: Vec<String> = trace.arguments.iter().map(pair).collect();
    text.push_str(&format!("{}({})\n", trace.function, arguments.join(", ")));
    let mut at = 0;
    while at < trace.lines.len() {
        match loop_at(&trace.lines, at) {
            Some((period, rounds)) if rounds > SHOWN_FIRST + 1 => {
                for line in &trace.lines[at..at + period * SHOWN_FIRST] {
                    push_line(&mut text, line);
                }
                let hidden = &trace.lines[at + period * SHOWN_FIRST..at + period * (rounds - 1)];
                text.push_str(&format!("  … {} more rounds{}\n", rounds - SHOWN_FIRST - 1, ranges(hidden)));
                for line in &trace.lines[at + period * (rounds - 1)..at + period * rounds] {
                    push_line(&mut text, line);
                }
                at += period * rounds;
            }
            _ => {
                push_line(&mut text, &trace.lines[at]);
                at += 1;
            }
        }
    }
    let end = match (trace.end, &trace.returned) {
        (TraceEnd::Returned, Some(value)) => format!("returned {value}"),
        (TraceEnd::Returned, None) => "returned".to_owned(),
        (TraceEnd::Raised, _) => "an exception was raised here".to_owned(),
        (TraceEnd::Ended, _) => "the program ended".to_owned(),
        (TraceEnd::Full, _) => "more lines follow; raise `max_lines`".to_owned(),
        (TraceEnd::TimedOut, _) => "the time was over".to_owned(),
        (TraceEnd::Interrupted, _) => "interrupted".to_owned(),
    };
    text + &end
}

fn push_line(text: &mut String, line: &TraceLine) {
    let changed: Vec<String> = line.changed.iter().map(pair).collect();
    let arrow = if changed.is_empty() { "" } else { "  → " };
    text.push_str(&format!(
        "{}{} {}{arrow}{}\n",
        "  ".repeat(line.depth),
        line.line,
        line.text,
        changed.join(", ")
    ));
}

fn pair((name, value): &(String, String)) -> String {
    format!("{name}={value}")
}

/// Returns the length and the count of a sequence of lines that repeats from here on.
fn loop_at(lines: &[TraceLine], at: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 40;
    let key = |line: &TraceLine| (line.depth, line.line, line.path.clone());
    (1..=LONGEST.min((lines.len() - at) / 2)).find_map(|period| {
        let mut rounds = 1;
        while at + period * (rounds + 1) <= lines.len()
            && (0..period)
                .all(|offset| key(&lines[at + offset]) == key(&lines[at + period * rounds + offset]))
        {
            rounds += 1;
        }
        (rounds > 2).then_some((period, rounds))
    })
}

/// Formats the first and last value of each variable in hidden lines.
fn ranges(lines: &[TraceLine]) -> String {
    let mut spans: Vec<(String, String, String)> = Vec::new();
    for (name, value) in lines.iter().flat_map(|line| &line.changed) {
        match spans.iter_mut().find(|(known, ..)| known == name) {
            Some((_, _, last)) => last.clone_from(value),
            None => spans.push((name.clone(), value.clone(), value.clone())),
        }
    }
    let shown: Vec<String> =
        spans.into_iter().map(|(name, first, last)| format!("{name}={first}…{last}")).collect();
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn line(line: i64, text: &str, changed: &[(&str, &str)]) -> TraceLine {
        TraceLine {
            depth: 0,
            function: "f".to_owned(),
            path: Some("/a.py".to_owned()),
            line,
            text: text.to_owned(),
            changed: changed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn loops_are_folded() {
        let mut lines = vec![line(2, "total = 0", &[("total", "0")])];
        for round in 0..7 {
            let (i, total) = (round.to_string(), (round * (round + 1) / 2).to_string());
            lines.push(line(3, "for i in range(7):", &[("i", &i)]));
            lines.push(line(4, "    total += i", &[("total", &total)]));
        }
        lines.push(line(3, "for i in range(7):", &[]));
        lines.push(line(5, "return total", &[]));
        let trace = CallTrace {
            function: "f".to_owned(),
            arguments: vec![("n".to_owned(), "7".to_owned())],
            lines,
            returned: Some("21".to_owned()),
            end: TraceEnd::Returned,
        };
        expect![[r#"
            f(n=7)
            2 total = 0  → total=0
            3 for i in range(7):  → i=0
            4     total += i  → total=0
            3 for i in range(7):  → i=1
            4     total += i  → total=1
              … 4 more rounds: i=2…5, total=3…15
            3 for i in range(7):  → i=6
            4     total += i  → total=21
            3 for i in range(7):
            5 return total
            returned 21"#]]
        .assert_eq(&rendered(&trace));
    }
}
