//! Finds the writes to a variable: location, callers, value before and after.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

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
        let base = session.own_depth().await?;
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
                    let new =
                        session.value_at(&stack, base, expression).await.unwrap_or_else(|| "gone".to_owned());
                    if new != old {
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
        let base = stack.len();
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
                    if stack.len() < base {
                        "its function returned".clone_into(&mut watched.ended);
                        return Ok(watched);
                    }
                    if let Some(new) = session.value_at(&stack, base, expression).await
                        && new != old
                    {
                        // What changed it is the line that was just left.
                        watched.writes.push(session.write_at(&before, &old, &new));
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
    async fn own_depth(&self) -> Result<usize> {
        let thread = self.top_frame_thread().await?;
        Ok(self.stack(thread, 0, FRAMES).await?.stack_frames.len())
    }

    /// Evaluates the expression in the frame at a distance from the bottom of the stack.
    async fn value_at(&self, stack: &[StackFrame], base: usize, expression: &str) -> Option<String> {
        let frame = stack.get(stack.len().checked_sub(base)?)?;
        let value = self.evaluate(expression, Some(frame.id), "watch").await.ok()?;
        Some(shortened(&value.value, VALUE))
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
                .map(|frame| crate::stop_report::plain_name(&frame.name).to_owned())
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
