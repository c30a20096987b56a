//! `step_complete`: ends the step of the plan that is under way.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::StepStatus;
use stepwell_tool_runtime::{PlanPhase, PlanRequest, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::{PlanOutput, ask, preview, spec};

pub struct StepComplete;

/// Ends the current step of the plan, once its expected outcome was checked or it cannot be done.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StepCompleteInput {
    /// `completed` (the default) or `failed`.
    #[serde(default)]
    status: StepEnd,
    /// What was done, or why it failed.
    #[schemars(extend("x-aliases" = ["summary", "reason"]))]
    result: String,
    /// How the expected outcome was checked and what was seen, such as a command and its output. Needed for `completed`.
    #[schemars(extend("x-aliases" = ["checked"]))]
    evidence: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    #[default]
    Completed,
    Failed,
}

#[async_trait]
impl Tool for StepComplete {
    type Input = StepCompleteInput;
    type Plan = StepCompleteInput;
    type Output = PlanOutput;

    fn spec(&self) -> ToolSpec {
        spec("step_complete", Duration::from_secs(30))
    }

    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        Some(&[PlanPhase::Executing])
    }

    fn is_basic(&self) -> bool {
        true
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let what = match input.status {
            StepEnd::Completed => "End the step of the plan",
            StepEnd::Failed => "End the step of the plan as failed",
        };
        Planned::ready(preview(what.to_owned()), input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let status = match input.status {
            StepEnd::Completed => StepStatus::Completed,
            StepEnd::Failed => StepStatus::Failed,
        };
        ask(ctx, PlanRequest::EndStep { status, result: input.result, evidence: input.evidence }).await
    }
}
