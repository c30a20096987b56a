//! `plan_enter`: begins a plan.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_tool_runtime::{PlanPhase, PlanRequest, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::{PlanOutput, ask, preview, spec};

pub struct PlanEnter;

/// Begins a plan for work that is large or hard to take back. Until the user approves it nothing can be changed. Also goes
/// back to planning when an approved plan turns out wrong.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PlanEnterInput {
    /// What the plan is for.
    #[schemars(length(min = 3, max = 200), extend("x-aliases" = ["goal", "name"]))]
    title: String,
    /// The task in more words.
    description: Option<String>,
    /// A call always belongs to its own task.
    #[serde(rename = "conversation_id")]
    #[schemars(extend("x-hidden" = true))]
    _conversation_id: Option<String>,
}

#[async_trait]
impl Tool for PlanEnter {
    type Input = PlanEnterInput;
    type Plan = PlanEnterInput;
    type Output = PlanOutput;

    fn spec(&self) -> ToolSpec {
        spec("plan_enter", Duration::from_secs(30))
    }

    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        Some(&[PlanPhase::None, PlanPhase::Executing])
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        Planned::ready(preview(format!("Plan \"{}\"", input.title)), input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        ask(ctx, PlanRequest::Enter { title: input.title, description: input.description }).await
    }
}
