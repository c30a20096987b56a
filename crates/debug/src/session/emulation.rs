//! Emulates what adapters lack: conditions, hit counts and log messages of breakpoints.

use std::path::Path;

use super::bindings::Binding;
use super::{Session, State, Step};
use crate::adapters::AdapterQuirks;
use crate::breakpoints::log_message::{Piece, pieces};
use crate::dap::types::{StackFrame, StoppedEvent};
use crate::ids::{BreakpointId, ThreadId};
use crate::output::OutputCategory;
use crate::stop_reason::StopReason;

/// A step in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepping {
    pub step: Step,
    /// Stack depth where it began.
    pub depth: usize,
}

impl State {
    /// Whether any breakpoint is emulated.
    pub(super) fn has_emulated(&self) -> bool {
        self.bound.values().flatten().chain(&self.bound_functions).any(|binding| !binding.emulated.is_empty())
    }

    /// Whether an exception only ends the program.
    pub(super) fn is_exit_exception(&self, event: &StoppedEvent, quirks: &AdapterQuirks) -> bool {
        let text = event.text.as_deref().unwrap_or_default();
        let is_end =
            quirks.exit_exceptions.iter().any(|name| text == *name || text.ends_with(&format!(".{name}")));
        event.reason == StopReason::Exception
            && is_end
            && !self.exception_filters.iter().any(|filter| filter == "raised")
    }

    pub(super) fn needs_evaluation(&self, event: &StoppedEvent) -> bool {
        let at_breakpoint = event.reason.is_breakpoint()
            || event.hit_breakpoint_ids.as_ref().is_some_and(|ids| !ids.is_empty());
        at_breakpoint && self.has_emulated()
    }
}

impl Session {
    /// Resumes after a stop that is not shown.
    pub(super) async fn resume_silently(&self, event: StoppedEvent) {
        if self.request_resume(event.thread_id.unwrap_or_default()).await.is_err() {
            self.publish(event, Vec::new());
        }
    }

    /// Evaluates a stop at an emulated breakpoint: publishes it, or resumes.
    pub(super) async fn evaluate_stop(&self, event: StoppedEvent) {
        let thread = event.thread_id.unwrap_or_default();
        let Ok(stack) = self.stack(thread, 0, 1).await else {
            self.publish(event, Vec::new());
            return;
        };
        let Some(frame) = stack.stack_frames.into_iter().next() else {
            self.publish(event, Vec::new());
            return;
        };
        let reached = self.reached(&event, &frame);
        let mut stops = reached.is_empty();
        let mut hits: Vec<BreakpointId> = Vec::new();
        for binding in reached {
            if self.stops_at(&binding, &frame).await {
                stops = true;
                if binding.id.is_set_by_user() {
                    hits.push(binding.id);
                }
            }
        }
        if stops {
            self.publish(event, hits);
            return;
        }
        if self.continue_run(thread).await.is_err() {
            self.publish(event, hits);
        }
    }

    /// Returns the breakpoints that were hit: by the adapter's ids, or by the location.
    fn reached(&self, event: &StoppedEvent, frame: &StackFrame) -> Vec<Binding> {
        let state = self.state.lock();
        let ids = event.hit_breakpoint_ids.as_deref().unwrap_or_default();
        let named = |binding: &Binding| binding.adapter_id.is_some_and(|id| ids.contains(&id));
        let path = frame.source.as_ref().and_then(|source| source.path.as_deref()).map(Path::new);
        let all = state
            .bound
            .iter()
            .flat_map(|(file, bindings)| bindings.iter().map(move |binding| (Some(file), binding)));
        let functions = state.bound_functions.iter().map(|binding| (None, binding));
        let all: Vec<_> = all.chain(functions).collect();
        let by_number: Vec<Binding> =
            all.iter().filter(|(_, binding)| named(binding)).map(|(_, binding)| (*binding).clone()).collect();
        if !by_number.is_empty() {
            return by_number;
        }
        all.into_iter()
            .filter(|(file, binding)| {
                binding.line == frame.line
                    && file.is_some_and(|file| path.is_some_and(|path| same_file(file, path)))
            })
            .map(|(_, binding)| binding.clone())
            .collect()
    }

    /// Evaluates condition, hit count and log message; returns whether the program stops.
    async fn stops_at(&self, binding: &Binding, frame: &StackFrame) -> bool {
        if let Some(condition) = &binding.emulated.condition {
            match self.evaluate(condition, Some(frame.id), "watch").await {
                Ok(value) if !is_true(&value.value) => return false,
                Ok(_) => {}
                Err(error) => {
                    // As debuggers do it: a condition that fails stops, so that it is seen.
                    self.print(OutputCategory::Console, &format!("condition `{condition}`: {error}\n"));
                    return true;
                }
            }
        }
        if let Some(hits) = binding.emulated.hits {
            let hit = {
                let mut state = self.state.lock();
                let count = state.hits.entry(binding.id).or_default();
                *count += 1;
                *count
            };
            if !hits.holds(hit) {
                return false;
            }
        }
        let Some(message) = &binding.emulated.log else { return true };
        let mut text = String::new();
        for piece in pieces(message) {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Expression(expression) => {
                    match self.evaluate(&expression, Some(frame.id), "watch").await {
                        Ok(value) => text.push_str(&value.value),
                        Err(error) => text.push_str(&format!("<{error}>")),
                    }
                }
            }
        }
        text.push('\n');
        self.print(OutputCategory::Console, &text);
        self.changed();
        false
    }

    /// Continues the run or the step that was in progress.
    async fn continue_run(&self, thread: ThreadId) -> crate::Result<()> {
        let stepping = self.state.lock().stepping;
        let Some(stepping) = stepping else { return self.request_resume(thread).await };
        let depth = self.depth(thread).await?;
        if depth <= stepping.depth && stepping.step != Step::Out {
            // The step would have ended here anyway.
            let event = StoppedEvent {
                reason: StopReason::Step,
                thread_id: Some(thread),
                all_threads_stopped: Some(true),
                ..StoppedEvent::default()
            };
            self.publish(event, Vec::new());
            return Ok(());
        }
        self.request_step(thread, Step::Out).await
    }
}

/// Whether two paths name one file, also through links.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    one == other
        || (one.file_name() == other.file_name()
            && stepwell_workspace::files::resolved(one) == stepwell_workspace::files::resolved(other))
}

/// Whether a value counts as true in its language.
pub fn is_true(value: &str) -> bool {
    let value = value.trim();
    let nothing = [
        "",
        "0",
        "false",
        "False",
        "None",
        "null",
        "nil",
        "undefined",
        "NaN",
        "0x0",
        "''",
        "\"\"",
        "[]",
        "{}",
        "()",
    ];
    !nothing.contains(&value) && value.parse::<f64>() != Ok(0.0)
}
