//! A run as JSON: one object at the end, or one per event as it happens.

use serde::Serialize;
use serde_json::{Value, json};
use stepwell_protocol::{Event, EventRecord, RunEnd, Seq, TaskId, Timestamp};
use stepwell_transcript::Transcript;

use super::Show;
use super::result::RunResult;
use crate::terminal;

pub struct JsonShow;

impl JsonShow {
    pub fn new() -> Self {
        Self
    }
}

impl Show for JsonShow {
    fn begin(&mut self, _task: &TaskId) {}

    fn event(&mut self, _record: &EventRecord, _transcript: &Transcript) {}

    fn end(&mut self, result: &RunResult) {
        terminal::out_line(&result_object(result).to_string());
    }
}

pub struct StreamShow;

impl StreamShow {
    pub fn new() -> Self {
        Self
    }
}

impl Show for StreamShow {
    fn begin(&mut self, task: &TaskId) {
        let version = env!("CARGO_PKG_VERSION");
        terminal::out_line(&json!({"type": "init", "task": task, "version": version}).to_string());
    }

    fn event(&mut self, record: &EventRecord, _transcript: &Transcript) {
        let line = EventLine { kind: "event", seq: record.seq, ts: record.ts, event: &record.event };
        // Types of ours always have a JSON form.
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        terminal::out(&text);
    }

    fn end(&mut self, result: &RunResult) {
        terminal::out_line(&result_object(result).to_string());
    }
}

/// An event as a line, without a copy of what it holds.
#[derive(Serialize)]
struct EventLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    seq: Seq,
    ts: Timestamp,
    event: &'a Event,
}

/// The object of a run that did not begin.
pub fn print_failure(error: &stepwell_protocol::ErrorReport, exit: crate::exit::Exit) {
    let object = json!({
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": true,
        "exit_code": exit.number(),
        "error": error,
    });
    terminal::out_line(&object.to_string());
}

/// The last line of both forms; the field names are those other agents' scripts know.
fn result_object(result: &RunResult) -> Value {
    let (subtype, text, error) = match &result.end {
        RunEnd::Answered if result.misfit().is_some() => ("error_output_schema", None, None),
        RunEnd::Answered if result.refused.is_empty() => ("success", result.answer(), None),
        RunEnd::Answered => ("error_permission_refused", result.answer(), None),
        RunEnd::Paused => ("paused", None, None),
        RunEnd::Cancelled => ("interrupted", None, None),
        RunEnd::Stopped { error } => match error.kind {
            stepwell_protocol::ErrorKind::Budget => ("error_max_budget_usd", None, Some(error)),
            stepwell_protocol::ErrorKind::TokenBudget => ("error_max_tokens", None, Some(error)),
            stepwell_protocol::ErrorKind::MaxIterations => ("error_max_turns", None, Some(error)),
            _ => ("error_during_execution", None, Some(error)),
        },
        RunEnd::Failed { error } => ("error_during_execution", None, Some(error)),
    };
    let mut object = json!({
        "type": "result",
        "subtype": subtype,
        "is_error": result.exit != crate::exit::Exit::Done,
        "exit_code": result.exit.number(),
        "task": result.task,
        "number": result.number,
        "result": text,
        "error": error,
        "num_turns": result.turns,
        "duration_ms": result.duration.as_millis() as u64,
        "total_cost_usd": result.usage.cost_usd,
        "usage": result.usage,
        "permission_denials": result.refused,
    });
    match &result.fit {
        Some(Ok(fitting)) => object["structured_output"] = fitting.value.clone(),
        Some(Err(problems)) => object["schema_errors"] = json!(problems),
        None => {}
    }
    object
}
