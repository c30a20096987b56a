//! `debug_tracepoints` and `debug_compare`: values at places, over one run or two.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::launch::{LaunchPlan, Launched};
use stepwell_debug::probing::{ProbeEnd, ProbeHit, ProbePoint, ProbeRun, lines_of};
use stepwell_debug::session::Session;
use stepwell_debug::stop_report::Detail;
use stepwell_debug::{Error, Outcome, Result, Wait};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::ToolContext;
use tokio::time::Instant;

use super::answer::Answer;
use super::debug_tool;
use super::service::{DebugService, RUN_WAIT};
use super::starting::RunInput;

const MOST_HITS: usize = 500;
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

/// Runs a program twice with the same points and tells the first difference and what led to it. The runs differ by
/// command, arguments, environment or revision.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CompareInput {
    points: Vec<Point>,
    first: ComparedRun,
    second: ComparedRun,
    max_hits: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ComparedRun {
    command: String,
    env: Option<BTreeMap<String, String>>,
    /// A commit of git whose files are run.
    revision: Option<String>,
    timeout: Option<f64>,
}

impl ComparedRun {
    fn run(&self) -> RunInput {
        RunInput {
            command: Some(self.command.clone()),
            env: self.env.clone(),
            timeout: self.timeout,
            ..RunInput::default()
        }
    }
}

debug_tool!(
    DebugTracepoints,
    "debug_tracepoints",
    &[],
    TracepointsInput,
    Risk::Execute,
    debug_tracepoints,
    preview_tracepoints
);
debug_tool!(DebugCompare, "debug_compare", &[], CompareInput, Risk::Execute, debug_compare, preview_compare);

/// What one expression came to at one place.
#[derive(Debug, Serialize)]
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

#[derive(Debug, Serialize)]
struct PointSummary {
    place: String,
    hits: usize,
    values: Vec<ValueSummary>,
    /// The values of the first hits, a row each.
    rows: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl DebugService {
    fn preview_tracepoints(&self, _: &str, input: &TracepointsInput) -> Preview {
        if input.run.names_something() {
            return self.preview_start("debug_tracepoints", &input.run.start());
        }
        Preview { summary: "Go on and read values at points".to_owned(), ..Preview::default() }
    }

    fn preview_compare(&self, name: &str, input: &CompareInput) -> Preview {
        let first = self.preview_start(name, &input.first.run().start());
        let second = self.preview_start(name, &input.second.run().start());
        let commands: Vec<String> = [first.command, second.command].into_iter().flatten().collect();
        Preview {
            summary: format!("Compare two runs: {}; {}", first.summary, second.summary),
            command: (!commands.is_empty()).then(|| commands.join("; ")),
            warnings: first.warnings.into_iter().chain(second.warnings).collect(),
            unconfined: first.unconfined.or(second.unconfined),
            ..Preview::default()
        }
    }

    fn points(&self, points: &[Point]) -> Result<Vec<ProbePoint>> {
        if points.is_empty() {
            return Err(Error::parameter("give at least one point"));
        }
        points
            .iter()
            .map(|point| {
                Ok(ProbePoint {
                    path: self.file(&point.file_path)?,
                    line: point.line_number,
                    expressions: point.expressions.clone(),
                    condition: point.condition.clone(),
                })
            })
            .collect()
    }

    async fn debug_tracepoints(&self, ctx: &ToolContext, input: TracepointsInput) -> Result<Answer> {
        let points = self.points(&input.points)?;
        let wait = Self::wait(ctx, input.run.timeout, RUN_WAIT);
        let most = input.max_hits.unwrap_or(MOST_HITS).clamp(1, 5000);
        let (session, after) = if input.run.names_something() {
            self.start_with_probes(ctx, self.plan(&input.run.start())?, &points, &wait).await?
        } else {
            self.resume_with_probes(&points).await?
        };
        let run = self.debugger.collect(&session, &points, after, most, &wait).await?;
        self.take_probes_back(&session, &points).await;
        let summaries = summarised(&points, &run, self.workspace.root());
        let answer = Answer::success().with("session_id", &session.id).with("points", summaries);
        self.with_end(answer, run.end, &session).await
    }

    /// Starts a program with places in it.
    async fn start_with_probes(
        &self,
        ctx: &ToolContext,
        plan: LaunchPlan,
        points: &[ProbePoint],
        wait: &Wait,
    ) -> Result<(Arc<Session>, u64)> {
        let mut options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        options.probes = lines_of(points);
        let after = self.debugger.serial();
        let Launched { sessions, .. } = plan.start(&self.debugger, &options).await?;
        let session = sessions.into_iter().next().ok_or(Error::NoSessionAtAll)?;
        Ok((session, after))
    }

    async fn resume_with_probes(&self, points: &[ProbePoint]) -> Result<(Arc<Session>, u64)> {
        let session = self.debugger.session_to_resume(None)?;
        session.stopped()?;
        for (path, lines) in lines_of(points) {
            session.set_probes(&path, lines).await?;
        }
        let after = self.debugger.serial();
        session.resume(None).await?;
        Ok((session, after))
    }

    async fn take_probes_back(&self, session: &Arc<Session>, points: &[ProbePoint]) {
        for session in self.debugger.tree(session) {
            if session.phase().is_over() {
                continue;
            }
            for path in lines_of(points).into_keys() {
                session.set_probes(&path, Vec::new()).await.ok();
            }
        }
    }

    /// Adds how a run ended.
    async fn with_end(&self, answer: Answer, end: ProbeEnd, session: &Arc<Session>) -> Result<Answer> {
        Ok(match end {
            ProbeEnd::Completed(ending) => {
                answer.with("ended", "completed").maybe("exit_code", ending.exit_code)
            }
            ProbeEnd::Failed(ending) => answer.with("ended", "error").maybe("message", ending.failure),
            ProbeEnd::TimedOut => answer
                .with("ended", "timeout")
                .with("hint", "it runs on; `wait_for_stop` or `stop_debugging`"),
            ProbeEnd::Interrupted => answer.with("ended", "interrupted"),
            ProbeEnd::Full(..) => {
                answer.with("ended", "max_hits").with("hint", "it is stopped; go on, or `stop_debugging`")
            }
            ProbeEnd::Stopped(stopped, stop) => {
                let outcome = Outcome::Stopped(stopped, stop);
                let told = self.answer(outcome, session, Detail::COMPACT).await?;
                answer.with("ended", "stopped").with("stop", told)
            }
        })
    }

    async fn debug_compare(&self, ctx: &ToolContext, input: CompareInput) -> Result<Answer> {
        let points = self.points(&input.points)?;
        let most = input.max_hits.unwrap_or(MOST_HITS).clamp(1, 5000);
        let mut runs = Vec::new();
        for compared in [&input.first, &input.second] {
            let wait = Self::wait(ctx, compared.timeout, RUN_WAIT);
            let checkout = self.revision(ctx, compared.revision.as_deref()).await?;
            let start = compared.run().start();
            let (plan, places) = match &checkout {
                Some(folder) => {
                    let moved = self.moved(&points, folder.path())?;
                    (self.plan_in(&start, folder.path())?, moved)
                }
                None => (self.plan(&start)?, points.clone()),
            };
            let (session, after) = self.start_with_probes(ctx, plan, &places, &wait).await?;
            let run = self.debugger.collect(&session, &places, after, most, &wait).await?;
            self.debugger.end(&session).await;
            runs.push(run);
        }
        let [first, second] = <[ProbeRun; 2]>::try_from(runs).map_err(|_| Error::NoSessionAtAll)?;
        Ok(compared(&points, &first, &second, self.workspace.root()))
    }

    /// The places in another checkout of the same repository.
    fn moved(&self, points: &[ProbePoint], folder: &Path) -> Result<Vec<ProbePoint>> {
        points
            .iter()
            .map(|point| {
                let inside = point.path.strip_prefix(self.workspace.root()).map_err(|_| {
                    Error::parameter("points of a comparison of revisions must be in the workspace")
                })?;
                Ok(ProbePoint { path: folder.join(inside), ..point.clone() })
            })
            .collect()
    }

    /// The files of a revision in a folder of their own, where one is named. The repository is only read.
    async fn revision(&self, ctx: &ToolContext, revision: Option<&str>) -> Result<Option<tempfile::TempDir>> {
        let Some(revision) = revision else { return Ok(None) };
        let failed = |what: String| Error::parameter(format!("revision `{revision}` cannot be used: {what}"));
        if revision.starts_with('-') {
            return Err(failed("it is no name of a revision".to_owned()));
        }
        let folder = tempfile::Builder::new()
            .prefix("stepwell-")
            .tempdir()
            .map_err(|error| failed(error.to_string()))?;
        let archive = folder.path().join(".archive.tar");
        let root = self.workspace.root().to_path_buf();
        let output = format!("--output={}", archive.display());
        self.run_quietly(ctx, "git", &["archive", "--format=tar", &output, revision], &root)
            .await
            .map_err(failed)?;
        let path = archive.to_string_lossy().into_owned();
        let into = folder.path().to_path_buf();
        self.run_quietly(ctx, "tar", &["-xf", &path], &into).await.map_err(failed)?;
        stepwell_workspace::files::remove_file(&archive).ok();
        Ok(Some(folder))
    }

    async fn run_quietly(
        &self,
        ctx: &ToolContext,
        program: &str,
        words: &[&str],
        folder: &Path,
    ) -> Result<(), String> {
        use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};
        let call = ProgramCall {
            program: program.into(),
            arguments: words.iter().map(Into::into).collect(),
            folder: folder.to_path_buf(),
            environment: Environment::default(),
            input: None,
            time_limit: Duration::from_secs(60),
            keep: KeepOutput { memory: 4096, file: None, file_limit: 0 },
        };
        let mut said = String::new();
        let ran = process::run(call, &ctx.cancel, |_, text| {
            if said.len() < 2000 {
                said.push_str(text);
            }
        })
        .await;
        match ran {
            Ok(finished) if finished.ending == Ending::Exited(0) => Ok(()),
            Ok(_) => Err(said.trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn place_of(point: &ProbePoint, root: &Path) -> String {
    let path = point.path.strip_prefix(root).unwrap_or(&point.path);
    format!("{}:{}", path.display(), point.line)
}

fn summarised(points: &[ProbePoint], run: &ProbeRun, root: &Path) -> Vec<PointSummary> {
    points
        .iter()
        .enumerate()
        .map(|(at, point)| {
            let hits: Vec<&ProbeHit> = run.hits.iter().filter(|hit| hit.point == at).collect();
            let column = |index: usize| hits.iter().map(|hit| hit.values[index].as_str()).collect::<Vec<_>>();
            let unbound = run.unbound.iter().find(|(unbound, _)| *unbound == at);
            PointSummary {
                place: place_of(point, root),
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

/// The first place where two runs part, and the steps before it.
fn compared(points: &[ProbePoint], first: &ProbeRun, second: &ProbeRun, root: &Path) -> Answer {
    const BEFORE: usize = 3;
    // Where something lies in memory differs from run to run and means nothing.
    let same = |one: &ProbeHit, other: &ProbeHit| {
        let plain =
            |hit: &ProbeHit| hit.values.iter().map(|value| without_addresses(value)).collect::<Vec<_>>();
        one.point == other.point && plain(one) == plain(other)
    };
    let parted = first.hits.iter().zip(&second.hits).position(|(one, other)| !same(one, other));
    let shorter = first.hits.len().min(second.hits.len());
    let at = parted.or_else(|| (first.hits.len() != second.hits.len()).then_some(shorter));
    let told = |hit: Option<&ProbeHit>| match hit {
        None => "ended".to_owned(),
        Some(hit) => {
            let point = &points[hit.point];
            let values =
                point.expressions.iter().zip(&hit.values).map(|(name, value)| format!("{name}={value}"));
            format!("{} {}", place_of(point, root), values.collect::<Vec<_>>().join(", "))
        }
    };
    let answer =
        Answer::success().with("first_hits", first.hits.len()).with("second_hits", second.hits.len());
    let answer = match (exit_of(&first.end), exit_of(&second.end)) {
        (one, other) if one == other => answer.with("both_ended", one),
        (one, other) => answer.with("first_ended", one).with("second_ended", other),
    };
    let Some(at) = at else {
        return answer.with("difference", "none: the runs were the same at these points");
    };
    let path: Vec<String> = (at.saturating_sub(BEFORE)..at).map(|step| told(first.hits.get(step))).collect();
    answer
        .with("difference_at_hit", at + 1)
        .with("first", told(first.hits.get(at)))
        .with("second", told(second.hits.get(at)))
        .with("before", path)
}

fn exit_of(end: &ProbeEnd) -> String {
    match end {
        ProbeEnd::Completed(ending) => match ending.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "completed".to_owned(),
        },
        ProbeEnd::Failed(_) => "error".to_owned(),
        ProbeEnd::Stopped(_, stop) => format!("stopped: {}", stop.text.as_deref().unwrap_or(&stop.reason)),
        ProbeEnd::TimedOut => "timeout".to_owned(),
        ProbeEnd::Interrupted => "interrupted".to_owned(),
        ProbeEnd::Full(..) => "max_hits".to_owned(),
    }
}

/// A value with `0x…` for every address in it.
fn without_addresses(value: &str) -> String {
    let mut plain = String::new();
    let mut rest = value;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        plain.push_str(&rest[..at + 2]);
        plain.push_str(if digits >= 6 { "…" } else { &rest[at + 2..at + 2 + digits] });
        rest = &rest[at + 2 + digits..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn addresses_do_not_make_values_differ() {
        assert_eq!(
            super::without_addresses("<A object at 0x7f8c798da010> 0x1f é"),
            "<A object at 0x…> 0x1f é"
        );
    }
}
