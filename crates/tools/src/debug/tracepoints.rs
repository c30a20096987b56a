//! `debug_tracepoints`: the values of expressions at source lines, over one run.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::ids::SessionId;
use stepwell_debug::launch::LaunchPlan;
use stepwell_debug::session::{Ending, Session, UserBreakpoints};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::tracepoints::{RunEnd, Tracepoint, TracepointHit, TracepointRun, lines_by_file};
use stepwell_debug::{Error, Outcome, Result, Wait};
use stepwell_protocol::{Preview, Risk, ToolDetail};
use stepwell_tool_runtime::{Planned, ToolContext};
use tokio::time::Instant;

use super::answer::{RunAnswer, Success, failed};
use super::debug_tool;
use super::launch::RunInput;
use super::service::{DebugService, RUN_WAIT};
use super::shown;
use super::started::StartedSessions;

/// Returns how many hits of one run are collected.
pub(super) fn hit_limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(500).clamp(1, 5000)
}

/// Rows of a table that are shown.
const ROWS: usize = 12;

/// Runs a program once and tells the values of expressions at places, without stopping there or editing source.
/// Runs `command`, or goes on with the stopped session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TracepointsInput {
    points: Vec<Point>,
    #[serde(flatten)]
    run: RunInput,
    /// 500 by default.
    max_hits: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Point {
    #[schemars(extend("x-aliases" = ["path", "file"]))]
    file_path: String,
    #[schemars(extend("x-aliases" = ["line"]))]
    line_number: i64,
    expressions: Vec<String>,
    /// Only where this is true.
    condition: Option<String>,
}

debug_tool!(
    DebugTracepoints,
    "debug_tracepoints",
    &[],
    TracepointsInput => TracepointsPlan => Success<TracepointsBody>,
    Risk::Execute,
    debug_tracepoints,
    DebugService::plan_tracepoints
);

/// The values of one expression at one point.
#[derive(Debug, Serialize, JsonSchema)]
struct ValueSummary {
    expression: String,
    first: String,
    last: String,
    /// How often it differed from the time before.
    changes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    /// Values that came once among many of another form, with the number of the hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outliers: Vec<String>,
}

/// What was seen at one point.
#[derive(Debug, Serialize, JsonSchema)]
struct PointSummary {
    place: String,
    hits: usize,
    values: Vec<ValueSummary>,
    /// The values of the first hits, a row each.
    rows: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// What is launched, where it was asked for, and the points that are read.
#[derive(Clone, Debug)]
pub struct TracepointsPlan {
    launch: Option<LaunchPlan>,
    points: Vec<Tracepoint>,
    max_hits: usize,
    timeout: Option<f64>,
}

/// What was seen at each point, and how the run ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracepointsBody {
    session_id: SessionId,
    points: Vec<PointSummary>,
    #[serde(flatten)]
    end: EndRow,
}

/// How a run ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "ended", rename_all = "snake_case")]
enum EndRow {
    Completed {
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    Timeout {
        hint: Cow<'static, str>,
    },
    Interrupted,
    MaxHits {
        hint: Cow<'static, str>,
    },
    Stopped {
        stop: RunAnswer,
    },
}

impl DebugService {
    fn plan_tracepoints(&self, input: TracepointsInput) -> Planned<TracepointsPlan> {
        let points = self.points(&input.points);
        let plan = |launch| -> Result<TracepointsPlan> {
            Ok(TracepointsPlan {
                launch,
                points: points?,
                max_hits: hit_limit(input.max_hits),
                timeout: input.run.timeout,
            })
        };
        if input.run.names_something() {
            return self.planned_launch(self.resolve_launch(&input.run.start()), |launch| plan(Some(launch)));
        }
        let summary = "Go on and read values at points".to_owned();
        Planned::new(Preview { summary, ..Preview::default() }, plan(None).map_err(failed))
    }

    pub(super) fn points(&self, points: &[Point]) -> Result<Vec<Tracepoint>> {
        if points.is_empty() {
            return Err(Error::parameter("give at least one point"));
        }
        points
            .iter()
            .map(|point| {
                Ok(Tracepoint {
                    path: self.file(&point.file_path)?,
                    line: point.line_number,
                    expressions: point.expressions.clone(),
                    condition: point.condition.clone(),
                })
            })
            .collect()
    }

    async fn debug_tracepoints(
        &self,
        ctx: &ToolContext,
        plan: TracepointsPlan,
    ) -> Result<Success<TracepointsBody>> {
        let TracepointsPlan { launch, points, max_hits, timeout } = plan;
        let wait = Self::wait(ctx, timeout, RUN_WAIT);
        let (session, started, after) = if let Some(launch) = launch {
            let (started, after) = self.start_with_probes(ctx, launch, &points, &wait).await?;
            (started.first()?, Some(started), after)
        } else {
            let (session, after) = self.resume_with_probes(&points).await?;
            (session, None, after)
        };
        let run = self.debugger.collect(&session, &points, after, max_hits, &wait).await;
        self.take_probes_back(&session, &points).await;
        let run = run?;
        match started {
            // A call that is cancelled leaves nothing running.
            Some(started) if matches!(run.end, RunEnd::Interrupted) => started.end().await,
            Some(started) => started.keep(),
            None => {}
        }
        let root = self.workspace.root();
        let summaries = summarised(&points, &run, root);
        let detail = ToolDetail::Tracepoints {
            points: shown::points(&points, root),
            run: shown::run(&run, &session.name, exit_of(&run.end)),
        };
        let end = self.end_row(run.end, &session).await?;
        let body = TracepointsBody { session_id: session.id.clone(), points: summaries, end };
        Ok(Success::new(body).showing(detail))
    }

    /// Starts a program with probes at the points, which alone count: the person's breakpoints are suspended.
    pub(super) async fn start_with_probes(
        &self,
        ctx: &ToolContext,
        launch: LaunchPlan,
        points: &[Tracepoint],
        wait: &Wait,
    ) -> Result<(StartedSessions, u64)> {
        let mut options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        options.probes = lines_by_file(points);
        options.breakpoints = false;
        let after = self.debugger.serial();
        Ok((self.launch(ctx, launch, &options).await?, after))
    }

    async fn resume_with_probes(&self, points: &[Tracepoint]) -> Result<(Arc<Session>, u64)> {
        let session = self.debugger.session_to_resume(None)?;
        session.stopped()?;
        self.debugger.set_user_breakpoints(&session, UserBreakpoints::Suspended).await?;
        for (path, lines) in lines_by_file(points) {
            session.set_probes(&path, lines).await?;
        }
        let after = self.debugger.serial();
        session.resume(None).await?;
        Ok((session, after))
    }

    async fn take_probes_back(&self, session: &Arc<Session>, points: &[Tracepoint]) {
        for session in self.debugger.tree(session) {
            if session.phase().is_over() {
                continue;
            }
            for path in lines_by_file(points).into_keys() {
                session.set_probes(&path, Vec::new()).await.ok();
            }
        }
        self.debugger.set_user_breakpoints(session, UserBreakpoints::Set).await.ok();
    }

    async fn end_row(&self, end: RunEnd, session: &Arc<Session>) -> Result<EndRow> {
        Ok(match end {
            RunEnd::Completed(ending) => EndRow::Completed { exit_code: ending.exit_code },
            RunEnd::Failed(ending) => return Err(not_run(ending)),
            RunEnd::TimedOut => {
                EndRow::Timeout { hint: "it runs on; `wait_for_stop` or `stop_debugging`".into() }
            }
            RunEnd::Interrupted => EndRow::Interrupted,
            RunEnd::MaxHits(..) => {
                EndRow::MaxHits { hint: "it is stopped; go on, or `stop_debugging`".into() }
            }
            RunEnd::Stopped(stopped, stop) => {
                let outcome = Outcome::Stopped(stopped, stop);
                EndRow::Stopped { stop: self.answer(outcome, session, Detail::COMPACT).await? }
            }
        })
    }
}

/// How a run ended, in a few words.
pub(super) fn exit_of(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed(ending) => match ending.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "completed".to_owned(),
        },
        RunEnd::Failed(_) => "error".to_owned(),
        RunEnd::Stopped(_, stop) => {
            format!("stopped: {}", stop.text.as_deref().unwrap_or(stop.reason.as_str()))
        }
        RunEnd::TimedOut => "timeout".to_owned(),
        RunEnd::Interrupted => "interrupted".to_owned(),
        RunEnd::MaxHits(..) => "max_hits".to_owned(),
    }
}

/// The error of a run that never was: the program could not be built or started, or the debugger failed.
pub(super) fn not_run(ending: Ending) -> Error {
    Error::Launch {
        reason: ending.failure.unwrap_or_else(|| "the session failed".to_owned()),
        hint: ending.hint,
    }
}

pub(super) fn location_of(point: &Tracepoint, root: &Path) -> String {
    let path = point.path.strip_prefix(root).unwrap_or(&point.path);
    format!("{}:{}", path.display(), point.line)
}

fn summarised(points: &[Tracepoint], run: &TracepointRun, root: &Path) -> Vec<PointSummary> {
    points
        .iter()
        .enumerate()
        .map(|(at, point)| {
            let hits: Vec<&TracepointHit> = run.hits.iter().filter(|hit| hit.point == at).collect();
            let column = |index: usize| hits.iter().map(|hit| hit.values[index].as_str()).collect::<Vec<_>>();
            let unbound = run.unbound.iter().find(|(unbound, _)| *unbound == at);
            PointSummary {
                place: location_of(point, root),
                hits: hits.len(),
                values: point
                    .expressions
                    .iter()
                    .enumerate()
                    .filter(|_| !hits.is_empty())
                    .map(|(index, expression)| value_summary(expression, &column(index)))
                    .collect(),
                rows: hits.iter().take(ROWS).map(|hit| hit.values.clone()).collect(),
                message: unbound
                    .map(|(_, reason)| reason.clone().unwrap_or_else(|| "never bound".to_owned())),
            }
        })
        .collect()
}

fn value_summary(expression: &str, values: &[&str]) -> ValueSummary {
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
    let all_numbers = numbers.len() == values.len();
    let changes = values.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_odd = |value: &str| {
        let form = form_of(value);
        let same = values.iter().filter(|other| form_of(other) == form).count();
        values.len() >= 5 && same * 5 <= values.len()
    };
    let outliers = values.iter().enumerate().filter(|(_, value)| is_odd(value));
    ValueSummary {
        expression: expression.to_owned(),
        first: values.first().copied().unwrap_or_default().to_owned(),
        last: values.last().copied().unwrap_or_default().to_owned(),
        changes,
        min: all_numbers
            .then(|| numbers.iter().copied().fold(f64::INFINITY, f64::min))
            .filter(|min| min.is_finite()),
        max: all_numbers
            .then(|| numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            .filter(|max| max.is_finite()),
        outliers: outliers.take(3).map(|(at, value)| format!("#{}: {value}", at + 1)).collect(),
    }
}

/// What kind of value a text is, roughly: nothing, negative, a number, something else.
fn form_of(value: &str) -> &'static str {
    match value {
        "None" | "null" | "nil" | "undefined" | "0x0" | "NULL" => "nothing",
        _ if value.starts_with('<') => "error",
        _ if value.parse::<f64>().is_ok_and(|number| number < 0.0 || number.is_nan()) => "negative",
        _ if value.parse::<f64>().is_ok() => "number",
        _ => "other",
    }
}
