//! `plan_exit`: asks the person to approve the plan.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::PlanId;
use stepwell_tool_runtime::{PlanPhase, PlanRequest, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::{PlanOutput, ask, preview, spec};

pub struct PlanExit;

/// Ends planning: asks the user to approve the plan. After that you get its steps one by one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PlanExitInput {
    plan_id: Option<String>,
    /// `false` leaves the plan as a draft and ends the work.
    #[serde(default = "yes")]
    approve: bool,
    /// The plan in a sentence or two, for the user.
    summary: Option<String>,
    /// A call always belongs to its own task.
    #[serde(rename = "conversation_id")]
    #[schemars(extend("x-hidden" = true))]
    _conversation_id: Option<String>,
}

fn yes() -> bool {
    true
}

#[async_trait]
impl Tool for PlanExit {
    type Input = PlanExitInput;
    type Plan = PlanExitInput;
    type Output = PlanOutput;

    fn spec(&self) -> ToolSpec {
        // The host sets the deadline of the person's answer.
        spec("plan_exit", Duration::MAX)
    }

    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        Some(&[PlanPhase::Draft])
    }

    fn is_basic(&self) -> bool {
        true
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        Planned::ready(preview("Ask for approval of the plan".to_owned()), input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let request = PlanRequest::Exit {
            call_id: ctx.call_id.clone(),
            plan_id: input.plan_id.map(PlanId::from),
            approve: input.approve,
            summary: input.summary,
        };
        ask(ctx, request).await
    }
}
