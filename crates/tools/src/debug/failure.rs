//! `debug_failure`: why a command or a test fails.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::Result;
use stepwell_debug::failure::FailureReport;
use stepwell_debug::launch::LaunchPlan;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Planned, ToolContext};
use tokio::time::Instant;

use super::answer::Success;
use super::debug_tool;
use super::launch::RunInput;
use super::service::DebugService;
use super::shown;

/// Runs a failing command or test and tells why it fails: the exception or signal, the frames with their values, where
/// these were set, the output. Use it first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct FailureInput {
    /// Runs it a second time to see the last writes of the values.
    writes: Option<bool>,
    /// Reports this failure where there are several, counted from 1.
    failure: Option<usize>,
    #[serde(flatten)]
    run: RunInput,
}

debug_tool!(
    DebugFailure,
    "debug_failure",
    &["debug_test"],
    FailureInput => FailurePlan => Success<FailureBody>,
    Risk::Execute,
    debug_failure,
    DebugService::plan_failure
);

/// The launch of a failing command; a second run starts a copy of it.
#[derive(Clone, Debug)]
pub struct FailurePlan {
    launch: LaunchPlan,
    /// As it was asked for.
    command: Option<String>,
    follows_writes: bool,
    failure: Option<usize>,
    timeout: Option<f64>,
}

/// Why the command failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailureBody {
    failure: FailureReport,
}

impl DebugService {
    fn plan_failure(&self, input: FailureInput) -> Planned<FailurePlan> {
        let launch = self.resolve_launch(&input.run.start());
        self.planned_launch(launch, |launch| {
            let launch = launch.with_first_failing_tests();
            let follows_writes = input.writes.unwrap_or_default();
            let (command, timeout) = (input.run.command.clone(), input.run.timeout);
            Ok(FailurePlan { launch, command, follows_writes, failure: input.failure, timeout })
        })
    }

    async fn debug_failure(&self, ctx: &ToolContext, plan: FailurePlan) -> Result<Success<FailureBody>> {
        let FailurePlan { launch, command, follows_writes, failure, timeout } = plan;
        let command = command.unwrap_or_else(|| launch.command_line());
        let launch = self.confine(ctx, launch);
        let wait = Self::wait(ctx, timeout, 120);
        let options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        let mut report = self.debugger.explain(launch.clone(), options.clone(), failure, &wait).await?;
        if follows_writes {
            self.debugger.follow_writes(launch, options, &mut report, &wait).await?;
        }
        self.withhold_hidden(&mut report);
        let detail = shown::failure(&report, &command, self.workspace.root());
        // The failing frame is told whole, the others by their line.
        for frame in report.frames.iter_mut().skip(1) {
            frame.source = None;
            frame.variables.truncate(8);
        }
        let kept = report.output.len().saturating_sub(1200);
        let kept =
            (kept..=report.output.len()).find(|at| report.output.is_char_boundary(*at)).unwrap_or_default();
        report.output = report.output.split_off(kept);
        Ok(Success::new(FailureBody { failure: report }).showing(detail))
    }
}
