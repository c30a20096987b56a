//! A run as JSON: one object at the end, or one per event as it happens.

use serde::Serialize;
use serde_json::{Value, json};
use stepwell_protocol::{ErrorKind, ErrorReport, Event, EventRecord, RunEnd, Seq, TaskId, Timestamp, Usage};
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
        terminal::out_json(&result_object(result));
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
        terminal::out_json(&line);
    }

    fn end(&mut self, result: &RunResult) {
        terminal::out_json(&result_object(result));
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
pub fn print_failure(error: &ErrorReport, exit: crate::exit::Exit) {
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
#[derive(Serialize)]
struct ResultLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    subtype: &'static str,
    is_error: bool,
    exit_code: u8,
    task: &'a TaskId,
    number: Option<u32>,
    result: Option<&'a str>,
    error: Option<&'a ErrorReport>,
    num_turns: u64,
    duration_ms: u64,
    total_cost_usd: Option<f64>,
    usage: Usage,
    permission_denials: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_errors: Option<&'a [String]>,
}

fn result_object(result: &RunResult) -> ResultLine<'_> {
    let (subtype, text, error) = match &result.end {
        RunEnd::Answered if result.misfit().is_some() => ("error_output_schema", None, None),
        RunEnd::Answered if result.refused.is_empty() => ("success", result.answer(), None),
        RunEnd::Answered => ("error_permission_refused", result.answer(), None),
        RunEnd::Paused => ("paused", None, None),
        RunEnd::Cancelled => ("interrupted", None, None),
        RunEnd::Stopped { error } => match error.kind {
            ErrorKind::Budget => ("error_max_budget_usd", None, Some(error)),
            ErrorKind::TokenBudget => ("error_max_tokens", None, Some(error)),
            ErrorKind::MaxIterations => ("error_max_turns", None, Some(error)),
            _ => ("error_during_execution", None, Some(error)),
        },
        RunEnd::Failed { error } => ("error_during_execution", None, Some(error)),
    };
    ResultLine {
        kind: "result",
        subtype,
        is_error: result.exit != crate::exit::Exit::Done,
        exit_code: result.exit.number(),
        task: &result.task,
        number: result.number,
        result: text,
        error,
        num_turns: result.turns,
        duration_ms: result.duration.as_millis() as u64,
        total_cost_usd: result.usage.cost_usd,
        usage: result.usage,
        permission_denials: &result.refused,
        structured_output: result
            .fit
            .as_ref()
            .and_then(|fit| fit.as_ref().ok())
            .map(|fitting| &fitting.value),
        schema_errors: result.misfit(),
    }
}
