//! `debug_trace`: one call of a function, line by line.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::launch::{LaunchPlan, Launched};
use stepwell_debug::session::{Session, Stop, is_true};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::trace::{TraceLimits, rendered};
use stepwell_debug::{Error, FunctionFinder, Outcome, Result, StopReason, Wait};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Planned, ToolContext};
use tokio::time::Instant;

use super::answer::{DebugAnswer, RunAnswer, Success, failed};
use super::debug_tool;
use super::functions::SyntaxFunctions;
use super::launch::{RunInput, planned_launch};
use super::service::{DebugService, RUN_WAIT};

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

impl DebugAnswer for TraceAnswer {}

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
        let target = self.trace_target(&input);
        if input.run.names_something() {
            let launch = self.resolve_launch(&input.run.start());
            return planned_launch(launch, |launch| {
                Ok(TracePlan { launch: Some(launch), target: target?, input })
            });
        }
        let summary = format!("Trace a call of {}", input.function.as_deref().unwrap_or("a function"));
        let plan = target.map(|target| TracePlan { launch: None, target, input }).map_err(failed);
        Planned::new(Preview { summary, ..Preview::default() }, plan)
    }

    async fn debug_trace(&self, ctx: &ToolContext, plan: TracePlan) -> Result<TraceAnswer> {
        let TracePlan { launch, target, input } = plan;
        let wait = Self::wait(ctx, input.run.timeout, RUN_WAIT);
        let started = launch.is_some();
        let (session, after) = if let Some(launch) = launch {
            let mut options =
                Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
            match &target {
                TraceTarget::Line(path, line) => {
                    options.probes.insert(path.clone(), vec![*line]);
                }
                TraceTarget::Function(name) => options.functions = vec![name.clone()],
            }
            let after = self.debugger.serial();
            let Launched { sessions, .. } = launch.start(&self.debugger, &options).await?;
            (sessions.into_iter().next().ok_or(Error::NoSessionAtAll)?, after)
        } else {
            let session = self.debugger.session_to_resume(None)?;
            session.stopped()?;
            session.set_temporary_breakpoint(&target.line(), &target.function()).await?;
            let after = self.debugger.serial();
            session.resume(None).await?;
            (session, after)
        };
        let found = self.nth_call(&session, after, &input, &wait).await;
        let traced = match found {
            Ok((stopped, _)) => {
                stopped.set_temporary_breakpoint(&target.line().map(|(path, _)| (path, 0)), &None).await.ok();
                let limits = TraceLimits {
                    depth: input.depth.unwrap_or_default().min(5),
                    lines: input.max_lines.unwrap_or(200).clamp(1, 2000),
                };
                self.debugger.trace_call(&stopped, limits, &wait).await
            }
            Err(Reached::Failed(error)) => Err(error),
            Err(Reached::Otherwise(outcome)) => {
                let answer = self.answer(*outcome, &session, Detail::COMPACT).await;
                if started {
                    self.debugger.end(&session).await;
                }
                let hint = Some("the call that was to be traced did not happen".into());
                return Ok(TraceAnswer::NotReached(RunAnswer { hint, ..answer? }));
            }
        };
        if started {
            self.debugger.end(&session).await;
        }
        let trace = traced?;
        Ok(TraceAnswer::Traced(Success::new(TraceBody {
            lines: trace.lines.len(),
            trace: rendered(&trace),
            returned: trace.returned,
        })))
    }

    fn trace_target(&self, input: &TraceInput) -> Result<TraceTarget> {
        match (&input.function, &input.file_path, input.line_number) {
            (_, Some(file), Some(line)) => Ok(TraceTarget::Line(self.file(file)?, line)),
            (Some(name), file, None) => {
                // js-debug cannot stop at functions by name, so a source that is named is searched.
                match file {
                    Some(file) => {
                        let path = self.file(file)?;
                        let text = stepwell_workspace::files::read(&path)?;
                        let text = String::from_utf8_lossy(&text);
                        let function = SyntaxFunctions.function_named(&path, &text, name);
                        let function = function
                            .ok_or_else(|| Error::parameter(format!("`{file}` has no function `{name}`")))?;
                        Ok(TraceTarget::Line(path, function.first_line))
                    }
                    None => Ok(TraceTarget::Function(name.clone())),
                }
            }
            _ => {
                Err(Error::parameter("name a `function`, or its first line by `file_path` and `line_number`"))
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
    Line(PathBuf, i64),
    Function(String),
}

impl TraceTarget {
    fn line(&self) -> Option<(PathBuf, i64)> {
        match self {
            Self::Line(path, line) => Some((path.clone(), *line)),
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
