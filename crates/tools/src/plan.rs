//! Plan tools: `plan_enter`, `plan_update`, `plan_exit`, and `step_complete` for the steps of an approved plan.
//!
//! They change only the task's plan and its document, which the host keeps; what a plan forbids is enforced elsewhere.

mod enter;
mod exit;
mod step;
mod update;

use std::borrow::Cow;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_protocol::{Plan, Preview, Risk};
use stepwell_tool_runtime::{
    Category, HostError, PlanReply, PlanRequest, ToolContext, ToolError, ToolOutput, ToolSpec,
};

pub use enter::PlanEnter;
pub use exit::PlanExit;
pub use step::StepComplete;
pub use update::PlanUpdate;

/// The plan after a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanOutput {
    plan: Plan,
    /// The Markdown document of the plan.
    document: String,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for PlanOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

fn spec(name: &'static str, time_limit: Duration) -> ToolSpec {
    ToolSpec {
        name,
        aliases: &[],
        category: Category::Planning,
        risk: Risk::Control,
        time_limit,
        output_limit: 50 * 1024,
    }
}

fn preview(summary: String) -> Preview {
    Preview { summary, ..Preview::default() }
}

async fn ask(ctx: &ToolContext, request: PlanRequest) -> Result<PlanOutput, ToolError> {
    let reply = ctx.host.plan(request).await;
    let PlanReply { plan, document, text } =
        reply.map_err(|HostError(message)| ToolError::validation(message))?;
    Ok(PlanOutput { plan, document: document.display().to_string(), text })
}
