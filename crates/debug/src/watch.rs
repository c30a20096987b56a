//! Finds the writes to a variable: location, callers, value before and after.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::adapters::AdapterKind;
use crate::dap::types::StackFrame;
use crate::ids::AdapterFrameId;
use crate::session::{Session, Step};
use crate::stop_reason::StopReason;
use crate::stop_report::is_own;
use crate::values::shortened;
use crate::{Debugger, Outcome, Result, Wait};

const VALUE: usize = 120;
/// Maximum number of steps, where the debugger has no watchpoints.
const MOST_STEPS: usize = 3000;
const FRAMES: i64 = 60;

/// One write to a variable.
#[derive(Clone, Debug)]
pub struct Write {
    pub file: String,
    pub line: i64,
    pub function: String,
    pub source: String,
    pub old: String,
    pub new: String,
    /// Callers in the workspace's own code.
    pub callers: Vec<String>,
}

/// The writes to a variable.
#[derive(Clone, Debug)]
pub struct Watched {
    /// By watchpoint, or by stepping.
    pub how: &'static str,
    pub first: String,
    pub writes: Vec<Write>,
    pub ended: String,
}

impl Debugger {
    /// Continues from a stop and records the writes to an expression of the frame.
    pub async fn watch_writes(
        &self,
        session: &Arc<Session>,
        frame: AdapterFrameId,
        expression: &str,
        most: usize,
        wait: &Wait,
    ) -> Result<Watched> {
        let first = shortened(&session.evaluate(expression, Some(frame), "watch").await?.value, VALUE);
        if session.can("supportsDataBreakpoints")
            && let Some(id) =
                session.data_breakpoint_info(frame, expression).await.and_then(|info| info.data_id)
        {
            return self.watch_by_hardware(session, id, expression, first, most, wait).await;
        }
        self.watch_by_steps(session, expression, first, most, wait).await
    }

    async fn watch_by_hardware(
        &self,
        session: &Arc<Session>,
        id: Value,
        expression: &str,
        first: String,
        most: usize,
        wait: &Wait,
    ) -> Result<Watched> {
        let place = json!({ "breakpoints": [{ "dataId": id, "accessType": "write" }] });
        session.request("setDataBreakpoints", place).await?;
        let thread = session.top_frame_thread().await?;
        let scope = Scope::of(&session.stack(thread, 0, FRAMES).await?.stack_frames);
        let mut watched =
            Watched { how: "watchpoint", first: first.clone(), writes: Vec::new(), ended: String::new() };
        let mut old = first;
        loop {
            if watched.writes.len() >= most {
                "max_writes; the program is stopped at the last".clone_into(&mut watched.ended);
                break;
            }
            let after = self.serial();
            session.resume(None).await?;
            match self.wait(session, after, wait).await {
                Outcome::Stopped(stopped, stop) if stopped.id == session.id => {
                    if !stop.hit_breakpoints.is_empty()
                        || stop.reason == StopReason::Exception
                            && stop.text.as_deref().is_some_and(|text| text.contains("signal"))
                    {
                        watched.ended = format!("stopped: {}", stop.reason);
                        break;
                    }
                    let stack =
                        session.stack(session.top_frame_thread().await?, 0, FRAMES).await?.stack_frames;
                    let Some(new) = session.value_in(&stack, &scope, expression).await else {
                        // Its memory belongs to other variables now: what is written there is no write to it.
                        "its function returned".clone_into(&mut watched.ended);
                        break;
                    };
                    if new != old {
                        let stack = session.at_writer(stack).await;
                        watched.writes.push(session.write_at(&stack, &old, &new));
                    }
                    old = new;
                }
                other => {
                    watched.ended = ended(&other);
                    return Ok(watched);
                }
            }
        }
        session.restore_data_breakpoints().await.ok();
        Ok(watched)
    }

    async fn watch_by_steps(
        &self,
        session: &Arc<Session>,
        expression: &str,
        first: String,
        most: usize,
        wait: &Wait,
    ) -> Result<Watched> {
        let thread = session.top_frame_thread().await?;
        let mut stack = session.stack(thread, 0, FRAMES).await?.stack_frames;
        let scope = Scope::of(&stack);
        let mut watched = Watched {
            how: "stepping line by line",
            first: first.clone(),
            writes: Vec::new(),
            ended: String::new(),
        };
        let mut old = first;
        for _ in 0..MOST_STEPS {
            if watched.writes.len() >= most {
                "max_writes; the program is stopped behind the last".clone_into(&mut watched.ended);
                return Ok(watched);
            }
            if Instant::now() >= wait.deadline {
                break;
            }
            let after = self.serial();
            session.step(Some(thread), Step::Into).await?;
            match self.wait(session, after, wait).await {
                Outcome::Stopped(stopped, stop) if stopped.id == session.id => {
                    let before =
                        std::mem::replace(&mut stack, session.stack(thread, 0, FRAMES).await?.stack_frames);
                    if stop.reason == StopReason::Exception {
                        "an exception was raised".clone_into(&mut watched.ended);
                        return Ok(watched);
                    }
                    if !scope.holds(&stack) {
                        "its function returned".clone_into(&mut watched.ended);
                        return Ok(watched);
                    }
                    if let Some(new) = session.value_in(&stack, &scope, expression).await
                        && new != old
                    {
                        let left = self.writer_among(&before, stack.len(), &scope, expression);
                        watched.writes.push(session.write_at(left, &old, &new));
                        old = new;
                    }
                }
                other => {
                    watched.ended = ended(&other);
                    return Ok(watched);
                }
            }
        }
        watched.ended = format!("{MOST_STEPS} lines or the time were over; the program is stopped");
        Ok(watched)
    }

    /// Returns the part of the stack whose top line wrote the variable, of the stop before the value changed. A step may
    /// leave a callee and finish the caller's statement at once: the innermost line that assigns the variable is the writer,
    /// else the statement of the frame that went on.
    fn writer_among<'a>(
        &self,
        before: &'a [StackFrame],
        depth_now: usize,
        scope: &Scope,
        expression: &str,
    ) -> &'a [StackFrame] {
        let root = expression.split(['.', '[', '-']).next().unwrap_or(expression).trim();
        let ran = before.len().saturating_sub(depth_now.min(before.len()).max(scope.depth));
        let assigns = |frame: &StackFrame| {
            let finder = self.options().function_finder.as_deref()?;
            let path = frame.source.as_ref()?.path.as_deref()?;
            let text = crate::failure::source_text(path)?;
            let body = finder.function_at(path.as_ref(), &text, frame.line)?;
            let lines = body.assignments.iter().filter(|one| one.name == root);
            Some(lines.into_iter().any(|one| (one.first_line..=one.last_line).contains(&frame.line)))
        };
        let at = (0..=ran).find(|at| before.get(*at).and_then(assigns) == Some(true)).unwrap_or(ran);
        before.get(at..).filter(|stack| !stack.is_empty()).unwrap_or(before)
    }
}

/// The call that a watched variable belongs to.
struct Scope {
    depth: usize,
    function: String,
    /// The line of the caller, where there is one.
    caller: Option<(String, i64)>,
}

impl Scope {
    fn of(stack: &[StackFrame]) -> Self {
        let caller = stack.get(1).map(|frame| (frame.name.clone(), frame.line));
        Self {
            depth: stack.len(),
            function: stack.first().map(|frame| frame.name.clone()).unwrap_or_default(),
            caller,
        }
    }

    /// Returns the frame of the call in a stack; `None` when it has returned.
    fn frame<'a>(&self, stack: &'a [StackFrame]) -> Option<&'a StackFrame> {
        let at = stack.len().checked_sub(self.depth)?;
        let frame = stack.get(at).filter(|frame| frame.name == self.function)?;
        let caller = stack.get(at + 1).map(|frame| (frame.name.clone(), frame.line));
        (caller == self.caller).then_some(frame)
    }

    fn holds(&self, stack: &[StackFrame]) -> bool {
        self.frame(stack).is_some()
    }
}

/// Reads the line from what LLDB or gdb say of an address: `LineEntry: [0x1-0x2): /w/a.c:14:9`, `Line 14 of "a.c" …`.
fn line_told(text: &str) -> Option<i64> {
    if let Some(rest) = text.trim_start().strip_prefix("Line ") {
        return rest.split(' ').next()?.parse().ok();
    }
    let entry = text.lines().find_map(|line| line.trim_start().strip_prefix("LineEntry: "))?;
    let place = entry.rsplit(' ').next()?;
    // The column may be missing.
    let numbers: Vec<i64> = place.split(':').filter_map(|part| part.parse().ok()).collect();
    numbers.first().copied()
}

fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed(ending) => match ending.exit_code {
            Some(code) => format!("the program ended with exit code {code}"),
            None => "the program ended".to_owned(),
        },
        Outcome::Failed(ending) => ending.failure.clone().unwrap_or_else(|| "the session failed".to_owned()),
        Outcome::TimedOut => "timeout; the program runs on".to_owned(),
        Outcome::Interrupted => "interrupted; the program runs on".to_owned(),
        Outcome::Stopped(..) => "another session stopped".to_owned(),
    }
}

impl Session {
    /// Evaluates the expression in the call that it belongs to.
    async fn value_in(&self, stack: &[StackFrame], scope: &Scope, expression: &str) -> Option<String> {
        let frame = scope.frame(stack)?;
        let value = self.evaluate(expression, Some(frame.id), "watch").await.ok()?;
        Some(shortened(&value.value, VALUE))
    }

    /// Corrects the line of the top frame: a watchpoint stops behind the instruction that wrote, which may be where the next
    /// line begins.
    async fn at_writer(&self, mut stack: Vec<StackFrame>) -> Vec<StackFrame> {
        let Some(top) = stack.first_mut() else { return stack };
        let pointer = top.instruction_pointer_reference.as_deref().and_then(|text| text.strip_prefix("0x"));
        let Some(pointer) = pointer.and_then(|digits| u64::from_str_radix(digits, 16).ok()) else {
            return stack;
        };
        let written_at = pointer.saturating_sub(1);
        let command = match self.adapter.kind() {
            AdapterKind::Gdb => format!("info line *{written_at:#x}"),
            _ => format!("image lookup --verbose --address {written_at:#x}"),
        };
        let arguments = json!({ "expression": command, "context": "repl", "frameId": top.id });
        let told = self.request("evaluate", arguments).await.ok();
        let told =
            told.as_ref().and_then(|told| told.get("result")).and_then(Value::as_str).unwrap_or_default();
        if let Some(line) = line_told(told) {
            top.line = line;
        }
        stack
    }

    fn write_at(&self, stack: &[StackFrame], old: &str, new: &str) -> Write {
        let workspace = &self.shared.options.search.workspace;
        let own = stack.iter().find(|frame| is_own(frame, workspace)).or_else(|| stack.first());
        let file = own.and_then(|frame| frame.source.as_ref()?.path.clone()).unwrap_or_default();
        let line = own.map(|frame| frame.line).unwrap_or_default();
        let callers = stack.iter().filter(|frame| is_own(frame, workspace)).skip(1).take(3);
        Write {
            source: crate::failure::source_line(&file, line).unwrap_or_default(),
            function: own
                .map(|frame| crate::stop_report::plain_name(&frame.name).into_owned())
                .unwrap_or_default(),
            file,
            line,
            old: old.to_owned(),
            new: new.to_owned(),
            callers: callers
                .map(|frame| format!("{}:{}", crate::stop_report::plain_name(&frame.name), frame.line))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_debuggers_words_for_an_address_name_the_line() {
        assert_eq!(line_told("Line 14 of \"a.c\" starts at address 0x1 <f+4> and ends at 0x2"), Some(14));
        let lldb = "      Address: a[0x1] (a.PT_LOAD[1])\n    LineEntry: [0x1-0x2): /w/a.c:14:9\n";
        assert_eq!(line_told(lldb), Some(14));
        assert_eq!(line_told("    LineEntry: [0x1-0x2): /w/a.c:7\n"), Some(7));
        assert_eq!(line_told("no such address"), None);
    }
}
