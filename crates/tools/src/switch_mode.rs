//! `switch_mode`: the model asks to work in another mode.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

pub struct SwitchMode;

/// Switches to another mode, with that mode's tools, from the next turn on. The user is asked first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SwitchModeInput {
    /// The mode, such as `code`, `architect`, `ask` or `debug`.
    #[schemars(extend("x-aliases" = ["mode", "slug"]))]
    mode_slug: String,
    /// Why the work needs it, for the user.
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SwitchModeOutput {
    mode: String,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for SwitchModeOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

#[async_trait]
impl Tool for SwitchMode {
    type Input = SwitchModeInput;
    type Plan = SwitchModeInput;
    type Output = SwitchModeOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "switch_mode",
            aliases: &[],
            category: Category::Modes,
            // Another mode may run programs, so switching to it asks like one.
            risk: Risk::Execute,
            time_limit: Duration::from_secs(30),
            output_limit: 4 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let reason = input.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let summary = format!("Switch to the mode `{}`{reason}", input.mode_slug);
        Planned::ready(Preview { summary, ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let switched = ctx.host.switch_mode(&input.mode_slug, input.reason).await;
        switched.map_err(|error| ToolError::validation(error.0))?;
        let text = format!("the mode is `{}` from your next turn on", input.mode_slug);
        Ok(SwitchModeOutput { mode: input.mode_slug, text })
    }
}
