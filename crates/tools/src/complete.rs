//! `attempt_completion`: the model says the task is done.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

pub struct AttemptCompletion;

/// Ends the task with its result. Use it once everything asked for is done and checked.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CompletionInput {
    /// What was done and found, for the person; final, without a question.
    #[schemars(extend("x-aliases" = ["summary", "message", "answer"]))]
    result: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionOutput {
    result: String,
}

impl ToolOutput for CompletionOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed("the task is complete")
    }
}

#[async_trait]
impl Tool for AttemptCompletion {
    type Input = CompletionInput;
    type Plan = CompletionInput;
    type Output = CompletionOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "attempt_completion",
            aliases: &["complete", "task_complete"],
            category: Category::Interaction,
            risk: Risk::Control,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview { summary: "Complete the task".to_owned(), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        if input.result.trim().is_empty() {
            return Err(ToolError::validation("`result` is empty; say what was done"));
        }
        ctx.host.complete(input.result.clone());
        Ok(CompletionOutput { result: input.result })
    }
}
