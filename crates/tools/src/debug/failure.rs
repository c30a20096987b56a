//! `debug_failure`: why a command or a test fails.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::Result;
use stepwell_debug::failure::FailureReport;
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::ToolContext;
use tokio::time::Instant;

use super::answer::Success;
use super::debug_tool;
use super::launch::RunInput;
use super::service::DebugService;

/// Runs a failing command or test and tells why it fails: the exception or signal, the frames with their values, where
/// these were set, the output. Use it first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct FailureInput {
    /// Runs it a second time to see the last writes of the values.
    writes: Option<bool>,
    #[serde(flatten)]
    run: RunInput,
}

debug_tool!(
    DebugFailure,
    "debug_failure",
    &["debug_test"],
    FailureInput => Success<FailureBody>,
    Risk::Execute,
    debug_failure,
    preview_failure
);

/// Why the command failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailureBody {
    failure: FailureReport,
}

impl DebugService {
    fn preview_failure(&self, name: &str, input: &FailureInput) -> Preview {
        self.preview_start(name, &input.run.start())
    }

    async fn debug_failure(&self, ctx: &ToolContext, input: FailureInput) -> Result<Success<FailureBody>> {
        let plan = self.plan(&input.run.start())?;
        let wait = Self::wait(ctx, input.run.timeout, 120);
        let options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        let mut report = self.debugger.explain(plan, options.clone(), &wait).await?;
        if input.writes.unwrap_or_default() {
            let again = self.plan(&input.run.start())?;
            self.debugger.follow_writes(again, options, &mut report, &wait).await?;
        }
        // The failing frame is told whole, the others by their line.
        for frame in report.frames.iter_mut().skip(1) {
            frame.source = None;
            frame.variables.truncate(8);
        }
        let kept = report.output.len().saturating_sub(1200);
        let kept =
            (kept..=report.output.len()).find(|at| report.output.is_char_boundary(*at)).unwrap_or_default();
        report.output = report.output.split_off(kept);
        Ok(Success::new(FailureBody { failure: report }))
    }
}
