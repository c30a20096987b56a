//! `run_slash_command`: the text of a command, for the model to follow.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

use crate::library::ToolLibrary;

pub struct RunSlashCommand {
    library: Arc<dyn ToolLibrary>,
}

impl RunSlashCommand {
    pub fn new(library: Arc<dyn ToolLibrary>) -> Self {
        Self { library }
    }
}

/// Gives the text of one of the user's or the project's commands, to be followed. It grants nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RunSlashCommandInput {
    /// Without the slash; empty to list them.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["name"]))]
    command: String,
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["arguments"]))]
    args: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RunSlashCommandOutput {
    command: String,
    text: String,
}

impl ToolOutput for RunSlashCommandOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

#[async_trait]
impl Tool for RunSlashCommand {
    type Input = RunSlashCommandInput;
    type Plan = RunSlashCommandInput;
    type Output = RunSlashCommandOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "run_slash_command",
            aliases: &["slash_command"],
            category: Category::Composition,
            risk: Risk::Read,
            time_limit: Duration::from_secs(30),
            output_limit: 80 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = format!("Follow the command `/{}`", input.command.trim_start_matches('/'));
        Planned::ready(Preview { summary, ..Preview::default() }, input)
    }

    async fn run(&self, _: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let library = Arc::clone(&self.library);
        let command = input.command.trim().trim_start_matches('/').to_owned();
        let name = command.clone();
        let expand = tokio::task::spawn_blocking(move || {
            if name.is_empty() {
                let lines: Vec<String> =
                    library.commands().iter().map(|(name, what)| format!("- /{name}: {what}")).collect();
                return Ok(lines.join("\n"));
            }
            library.expand_command(&name, &input.args)
        });
        let text = expand.await.map_err(|error| ToolError::execution(error.to_string()))?;
        Ok(RunSlashCommandOutput { command, text: text.map_err(ToolError::validation)? })
    }
}
