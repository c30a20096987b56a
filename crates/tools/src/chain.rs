//! `tool_chain`: several tools as one call.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{
    Category, Chain, ChainError, ChainStep, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
    Transform,
};

const MOST_STEPS: usize = 20;

pub struct ToolChain;

/// Runs tools one after another; each gets the structured output of the one before it. Fields of that output
/// fill arguments of the same name that you leave out; `transform` and `into` say otherwise. Each step needs the
/// same permission as a call of its own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ChainInput {
    steps: Vec<StepInput>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StepInput {
    tool: String,
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["args", "input", "params"]))]
    arguments: Map<String, Value>,
    /// Turns the previous output.
    #[serde(default)]
    transform: Transform,
    /// Argument that gets the turned value.
    into: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ChainOutput {
    /// The output of the last step.
    output: Value,
    steps: Vec<String>,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for ChainOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

#[async_trait]
impl Tool for ToolChain {
    type Input = ChainInput;
    type Plan = ChainInput;
    type Output = ChainOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "tool_chain",
            aliases: &["chain"],
            category: Category::Composition,
            // It does nothing by itself; every step is judged by its own risk.
            risk: Risk::Control,
            // Each step has its limit, and steps may wait for a person.
            time_limit: Duration::MAX,
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let tools: Vec<&str> = input.steps.iter().map(|step| step.tool.as_str()).collect();
        let preview = Preview { summary: format!("Run {}", tools.join(", then ")), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        if input.steps.len() > MOST_STEPS {
            return Err(ToolError::validation(format!("a chain has at most {MOST_STEPS} steps")));
        }
        let steps = input.steps.into_iter().map(|step| ChainStep {
            tool: step.tool,
            arguments: step.arguments,
            transform: step.transform,
            into: step.into,
        });
        let chain = Chain { steps: steps.collect() };
        let reports = chain.run(ctx.invoker.as_ref(), &ctx.call_id).await.map_err(chain_error)?;
        let steps: Vec<String> = reports.iter().map(|report| report.result.tool.clone()).collect();
        let last = reports.into_iter().next_back();
        let (text, output) =
            last.map(|report| (report.result.output, report.output.unwrap_or_default())).unwrap_or_default();
        Ok(ChainOutput { output, steps, text })
    }
}

fn chain_error(error: ChainError) -> ToolError {
    match &error {
        ChainError::StepFailed { result, .. } => {
            let class = result.error.as_ref().map(|failure| failure.class);
            ToolError::new(class.unwrap_or(stepwell_protocol::ErrorClass::ExecutionError), error.to_string())
        }
        ChainError::NoSteps
        | ChainError::UnknownTool { .. }
        | ChainError::DoesNotFit { .. }
        | ChainError::Transform { .. }
        | ChainError::NoPlace { .. } => ToolError::validation(error.to_string()),
    }
}
