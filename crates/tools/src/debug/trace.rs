//! `debug_trace`: one call of a function, line by line.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::launch::LaunchPlan;
use stepwell_debug::session::{Session, Stop, UserBreakpoints, is_true};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::trace::{TraceLimits, rendered};
use stepwell_debug::{Error, Outcome, Result, StopReason, Wait};
use stepwell_protocol::{Preview, Risk, ToolDetail};
use stepwell_tool_runtime::{Planned, ToolContext};
use tokio::time::Instant;

use super::answer::{DebugAnswer, RunAnswer, Success, failed};
use super::debug_tool;
use super::function_search::{self, FunctionPlace};
use super::launch::RunInput;
use super::service::{DebugService, RUN_WAIT};
use super::shown;

/// Runs one call of a function and tells every line that ran with the variables it changed, loops folded: better than
/// many single steps. Runs `command`, or goes on with the stopped session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TraceInput {
    /// The function by name; or its first line by `file_path` and `line_number`.
    function: Option<String>,
    #[schemars(extend("x-aliases" = ["path"]))]
    file_path: Option<String>,
    #[schemars(extend("x-aliases" = ["line"]))]
    line_number: Option<i64>,
    /// Which call; 1 by default.
    call: Option<u32>,
    /// Only a call where this is true.
    condition: Option<String>,
    /// Also calls inside it, so deep; 0 by default.
    depth: Option<usize>,
    /// 200 by default.
    max_lines: Option<usize>,
    #[serde(flatten)]
    run: RunInput,
}

debug_tool!(
    DebugTrace,
    "debug_trace",
    &["trace_call"],
    TraceInput => TracePlan => TraceAnswer,
    Risk::Execute,
    debug_trace,
    DebugService::plan_trace
);
/// What is launched, where it was asked for, and the call that is traced.
#[derive(Clone, Debug)]
pub struct TracePlan {
    launch: Option<LaunchPlan>,
    target: TraceTarget,
    input: TraceInput,
}

/// The trace of a call, or how the run went on without it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("type" = "object"))]
pub enum TraceAnswer {
    Traced(Success<TraceBody>),
    NotReached(RunAnswer),
}

impl DebugAnswer for TraceAnswer {
    fn shown(&self) -> Option<ToolDetail> {
        match self {
            Self::Traced(traced) => traced.shown(),
            Self::NotReached(answer) => answer.shown(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceBody {
    /// How many lines ran.
    lines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    returned: Option<String>,
    /// The lines with the variables they changed, loops folded.
    trace: String,
}

impl DebugService {
    fn plan_trace(&self, input: TraceInput) -> Planned<TracePlan> {
        if input.run.names_something() {
            let launch = self.resolve_launch(&input.run.start());
            return self.planned_launch(launch, |launch| {
                let target = self.trace_target(&input, Some(&launch))?;
                Ok(TracePlan { launch: Some(launch), target, input })
            });
        }
        let summary = format!("Trace a call of {}", input.function.as_deref().unwrap_or("a function"));
        let target = self.trace_target(&input, None);
        let plan = target.map(|target| TracePlan { launch: None, target, input }).map_err(failed);
        Planned::new(Preview { summary, ..Preview::default() }, plan)
    }

    async fn debug_trace(&self, ctx: &ToolContext, plan: TracePlan) -> Result<TraceAnswer> {
        let TracePlan { launch, target, input } = plan;
        let wait = Self::wait(ctx, input.run.timeout, RUN_WAIT);
        let Some(launch) = launch else {
            let session = self.debugger.session_to_resume(None)?;
            session.stopped()?;
            // The call that is asked for is traced, whatever breakpoints are in it.
            self.debugger.set_user_breakpoints(&session, UserBreakpoints::Suspended).await?;
            let traced = self.trace_from_stop(&session, &target, &input, &wait).await;
            self.debugger.set_user_breakpoints(&session, UserBreakpoints::Set).await.ok();
            return traced;
        };
        let mut options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        options.breakpoints = false;
        match &target {
            TraceTarget::Line(place) => {
                options.probes.insert(place.path.clone(), vec![place.line]);
            }
            TraceTarget::Function(name) => options.functions = vec![name.clone()],
        }
        let after = self.debugger.serial();
        let started = self.launch(ctx, launch, &options).await?;
        let traced = self.trace_next(&started.first()?, after, &target, &input, &wait).await;
        started.end().await;
        traced
    }

    /// Lets a stopped program run to the call, and traces it.
    async fn trace_from_stop(
        &self,
        session: &Arc<Session>,
        target: &TraceTarget,
        input: &TraceInput,
        wait: &Wait,
    ) -> Result<TraceAnswer> {
        session.set_temporary_breakpoint(&target.line(), &target.function()).await?;
        let after = self.debugger.serial();
        session.resume(None).await?;
        self.trace_next(session, after, target, input, wait).await
    }

    /// Waits for the call, and traces it.
    async fn trace_next(
        &self,
        session: &Arc<Session>,
        after: u64,
        target: &TraceTarget,
        input: &TraceInput,
        wait: &Wait,
    ) -> Result<TraceAnswer> {
        match self.nth_call(session, after, input, wait).await {
            Ok((stopped, _)) => {
                stopped.set_temporary_breakpoint(&target.line().map(|(path, _)| (path, 0)), &None).await.ok();
                let limits = TraceLimits {
                    depth: input.depth.unwrap_or_default().min(5),
                    lines: input.max_lines.unwrap_or(200).clamp(1, 2000),
                };
                let trace = self.debugger.trace_call(&stopped, limits, wait).await?;
                let detail = shown::trace(&trace, self.workspace.root());
                let body =
                    TraceBody { lines: trace.lines.len(), trace: rendered(&trace), returned: trace.returned };
                Ok(TraceAnswer::Traced(Success::new(body).showing(detail)))
            }
            Err(Reached::Failed(error)) => Err(error),
            Err(Reached::Otherwise(outcome)) => {
                let answer = self.answer(*outcome, session, Detail::COMPACT).await?;
                let hint = match target {
                    TraceTarget::Function(name) if session.has_unbound_function_probe() => {
                        format!("the debugger found no function `{name}`; give its `file_path`").into()
                    }
                    _ => "the call that was to be traced did not happen".into(),
                };
                Ok(TraceAnswer::NotReached(RunAnswer { hint: Some(hint), ..answer }))
            }
        }
    }

    fn trace_target(&self, input: &TraceInput, launch: Option<&LaunchPlan>) -> Result<TraceTarget> {
        match (&input.function, &input.file_path, input.line_number) {
            (_, Some(file), Some(line)) => {
                Ok(TraceTarget::Line(FunctionPlace { path: self.file(file)?, line }))
            }
            (Some(name), Some(file), None) => {
                let place = function_search::in_file(&self.file(file)?, name);
                let place =
                    place.ok_or_else(|| Error::parameter(format!("`{file}` has no function `{name}`")))?;
                Ok(TraceTarget::Line(place))
            }
            (Some(name), None, None) => self.named_function(name, launch),
            _ => {
                Err(Error::parameter("name a `function`, or its first line by `file_path` and `line_number`"))
            }
        }
    }

    /// A function by its name alone: the debugger finds it, or its source is searched for where the debugger cannot.
    fn named_function(&self, name: &str, launch: Option<&LaunchPlan>) -> Result<TraceTarget> {
        let found = if let Some(launch) = launch {
            launch.resolved().find_map(|resolved| {
                let endings = function_search::sources_of(&resolved.kind, name)?;
                let program = resolved.arguments.get("program").and_then(serde_json::Value::as_str);
                Some((endings, program.map(|program| resolved.folder.join(program))))
            })
        } else {
            let session = self.debugger.session_to_resume(None)?;
            let mut kinds = session.adapter.types().iter();
            let endings = kinds.find_map(|(kind, _)| function_search::sources_of(kind, name));
            endings.map(|endings| (endings, None))
        };
        match found {
            None => Ok(TraceTarget::Function(name.to_owned())),
            Some((endings, program)) => {
                Ok(TraceTarget::Line(self.function_place(name, endings, program.as_deref())?))
            }
        }
    }

    /// Runs to the call that is wanted.
    async fn nth_call(
        &self,
        session: &Arc<Session>,
        mut after: u64,
        input: &TraceInput,
        wait: &Wait,
    ) -> Result<(Arc<Session>, Stop), Reached> {
        let mut left = input.call.unwrap_or(1).max(1);
        loop {
            let (stopped, stop) = match self.debugger.wait(session, after, wait).await {
                Outcome::Stopped(stopped, stop) if stop.reason != StopReason::Exception => (stopped, stop),
                other => return Err(Reached::Otherwise(Box::new(other))),
            };
            after = stop.serial;
            let wanted = match &input.condition {
                Some(condition) => {
                    let frame = stopped.top_frame().await?;
                    stopped
                        .evaluate(condition, Some(frame.id), "watch")
                        .await
                        .is_ok_and(|value| is_true(&value.value))
                }
                None => true,
            };
            if wanted {
                left -= 1;
            }
            if left == 0 {
                return Ok((stopped, stop));
            }
            stopped.resume(None).await?;
        }
    }
}

/// The call that is traced.
#[derive(Clone, Debug)]
enum TraceTarget {
    Line(FunctionPlace),
    Function(String),
}

impl TraceTarget {
    fn line(&self) -> Option<(PathBuf, i64)> {
        match self {
            Self::Line(place) => Some((place.path.clone(), place.line)),
            Self::Function(_) => None,
        }
    }

    fn function(&self) -> Option<String> {
        match self {
            Self::Line(..) => None,
            Self::Function(name) => Some(name.clone()),
        }
    }
}

enum Reached {
    Failed(Error),
    Otherwise(Box<Outcome>),
}

impl From<Error> for Reached {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
