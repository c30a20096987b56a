//! The plan tools as a model sees them, for tests of the engine: they pass everything on to the task.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_protocol::{Preview, Risk, StepStatus};
use stepwell_tool_runtime::{
    Category, PlanPhase, PlanRequest, PlanUpdate, Planned, Tool, ToolContext, ToolError, ToolOutput,
    ToolSpec, UpdatedPart,
};

use crate::harness::Step;

pub const NAMES: [&str; 4] = ["plan_enter", "plan_update", "plan_exit", "step_complete"];

pub struct PlanTool(pub &'static str);

#[derive(Clone, Deserialize, JsonSchema)]
pub struct Input {
    text: Option<String>,
    evidence: Option<String>,
    #[serde(default)]
    failed: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    text: String,
}

impl ToolOutput for Output {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

#[async_trait]
impl Tool for PlanTool {
    type Input = Input;
    type Plan = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0,
            aliases: &[],
            category: Category::Planning,
            risk: Risk::Control,
            time_limit: Duration::MAX,
            output_limit: 10_000,
        }
    }

    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        Some(match self.0 {
            "plan_enter" => &[PlanPhase::None, PlanPhase::Executing],
            "step_complete" => &[PlanPhase::Executing],
            _ => &[PlanPhase::Draft],
        })
    }

    async fn plan(&self, _: &ToolContext, input: Input) -> Planned<Input> {
        Planned::ready(Preview { summary: self.0.into(), ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let text = input.text.unwrap_or_default();
        let request = match self.0 {
            "plan_enter" => PlanRequest::Enter { title: text, description: None },
            "plan_update" => PlanRequest::Update(PlanUpdate {
                plan_id: None,
                content: Some(text),
                part: UpdatedPart::Whole,
                explored_files: Vec::new(),
                critical_files: Vec::new(),
            }),
            "plan_exit" => PlanRequest::Exit {
                call_id: ctx.call_id.clone(),
                plan_id: None,
                approve: !input.failed,
                summary: None,
            },
            _ => {
                let status = if input.failed { StepStatus::Failed } else { StepStatus::Completed };
                PlanRequest::EndStep { status, result: text, evidence: input.evidence }
            }
        };
        let reply = ctx.host.plan(request).await.map_err(|error| ToolError::validation(error.0))?;
        Ok(Output { text: reply.text })
    }
}

/// A document with steps of these names.
pub fn document(steps: &[&str]) -> String {
    let step =
        |(index, step): (usize, &&str)| format!("{}. {step}\n   - Expected: {step} is seen\n", index + 1);
    let steps: String = steps.iter().enumerate().map(step).collect();
    format!("# Plan: Mend it\n\nSome prose.\n\n## Steps\n\n{steps}")
}

pub fn write_plan(steps: &[&str]) -> (&'static str, Value) {
    ("plan_update", json!({ "text": document(steps) }))
}

pub fn exit() -> (&'static str, Value) {
    ("plan_exit", json!({}))
}

pub fn done(what: &str) -> (&'static str, Value) {
    ("step_complete", json!({ "text": what, "evidence": format!("saw {what}") }))
}

pub fn failed(why: &str) -> (&'static str, Value) {
    ("step_complete", json!({ "text": why, "failed": true }))
}

/// Turns that make a plan of these steps and ask for its approval.
pub fn planned(steps: &[&str]) -> Vec<Vec<Step>> {
    vec![crate::harness::call(&[write_plan(steps)]), crate::harness::call(&[exit()])]
}
