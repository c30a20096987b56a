//! Typed details of debugger answers, for screens that draw them: the same observations that the model reads.

use std::path::Path;

use stepwell_debug::failure::{
    FailureFrame, FailureReport, FailureSummary, FrameValue, ValueHistory, Verdict,
};
use stepwell_debug::trace::{CallTrace, TraceEnd};
use stepwell_debug::tracepoints::{Tracepoint, TracepointRun};
use stepwell_protocol::{
    ExplainedValue, FailureDetail, FailureFrameDetail, FailureItem, ObservedHit, ObservedPoint, ObservedRun,
    ObservedWrite, ToolDetail, TraceDetail, TracedLine, VariableSummary,
};

/// Lines, hits, frames and failures that are shown at most.
const MOST_LINES: usize = 500;
const MOST_HITS: usize = 500;
const MOST_FRAMES: usize = 50;
const MOST_FAILURES: usize = 100;
/// Characters of one value.
const LONGEST: usize = 400;

pub fn trace(trace: &CallTrace, root: &Path) -> ToolDetail {
    let end = match trace.end {
        TraceEnd::Returned => "returned",
        TraceEnd::Raised => "raised",
        TraceEnd::Ended => "ended",
        TraceEnd::Full => "full",
        TraceEnd::TimedOut => "timed_out",
        TraceEnd::Interrupted => "interrupted",
    };
    let lines = trace.lines.iter().take(MOST_LINES).map(|line| TracedLine {
        depth: line.depth as u32,
        function: line.function.clone(),
        file: line.path.as_deref().map(|path| below(path, root)),
        line: number(line.line),
        text: cut(&line.text),
        changed: line.changed.iter().map(pair).collect(),
    });
    ToolDetail::Trace {
        trace: TraceDetail {
            function: trace.function.clone(),
            arguments: trace.arguments.iter().map(pair).collect(),
            lines: lines.collect(),
            returned: trace.returned.as_deref().map(cut),
            end: if trace.lines.len() > MOST_LINES { "full" } else { end }.to_owned(),
        },
    }
}

pub fn points(points: &[Tracepoint], root: &Path) -> Vec<ObservedPoint> {
    let point = |point: &Tracepoint| ObservedPoint {
        file: below(&point.path.to_string_lossy(), root),
        line: number(point.line),
        expressions: point.expressions.clone(),
    };
    points.iter().map(point).collect()
}

pub fn run(run: &TracepointRun, label: &str, end: String) -> ObservedRun {
    let hits = run.hits.iter().take(MOST_HITS).map(|hit| ObservedHit {
        point: hit.point as u32,
        values: hit.values.iter().map(|value| cut(value)).collect(),
    });
    ObservedRun { label: label.to_owned(), hits: hits.collect(), end }
}

pub fn failure(report: &FailureReport, command: &str, root: &Path) -> ToolDetail {
    let exception = report.exception.as_ref().map(|exception| match exception.message.as_str() {
        "" => exception.kind.clone(),
        message => format!("{}: {message}", exception.kind),
    });
    ToolDetail::Failure {
        failure: FailureDetail {
            summary: report.summary.clone(),
            command: command.to_owned(),
            failed: report.verdict != Verdict::Passed,
            test: report.test.clone(),
            exception,
            values: report.values.iter().map(|value| explained(value, root)).collect(),
            frames: report.frames.iter().take(MOST_FRAMES).map(|frame| framed(frame, root)).collect(),
            failures: report.failures.iter().take(MOST_FAILURES).map(|found| listed(found, root)).collect(),
        },
    }
}

fn explained(value: &ValueHistory, root: &Path) -> ExplainedValue {
    let origin = value.origin.as_ref().map(|origin| {
        let how = if origin.from_caller { "passed at" } else { "set at" };
        let seen = if origin.observed { "" } else { " (read from the source, not observed)" };
        format!("{how} {}:{}: {}{seen}", below(&origin.file, root), origin.line, origin.source.trim())
    });
    let writes = value.writes.iter().map(|write| ObservedWrite {
        file: below(&write.file, root),
        line: number(write.line),
        source: write.source.trim().to_owned(),
        value: write.value.as_deref().map(cut),
    });
    ExplainedValue { name: value.name.clone(), value: cut(&value.value), writes: writes.collect(), origin }
}

fn framed(frame: &FailureFrame, root: &Path) -> FailureFrameDetail {
    let variable = |value: &FrameValue| VariableSummary {
        name: value.name.clone(),
        value: cut(&value.value),
        type_name: value.kind.clone(),
    };
    FailureFrameDetail {
        function: frame.function.clone(),
        file: below(&frame.file, root),
        line: number(frame.line),
        source: frame.source.clone(),
        variables: frame.variables.iter().map(variable).collect(),
    }
}

fn listed(found: &FailureSummary, root: &Path) -> FailureItem {
    FailureItem {
        number: found.number as u32,
        test: found.test.clone(),
        file: found.file.as_deref().map(|file| below(file, root)),
        line: found.line.map(number),
        message: cut(&found.message),
    }
}

fn pair((name, value): &(String, String)) -> VariableSummary {
    VariableSummary { name: name.clone(), value: cut(value), type_name: None }
}

/// A path as people of the workspace write it.
fn below(path: &str, root: &Path) -> String {
    Path::new(path).strip_prefix(root).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn number(line: i64) -> u32 {
    u32::try_from(line).unwrap_or_default()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
