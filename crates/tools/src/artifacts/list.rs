//! `list_artifacts`: what a task has exported.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::{ExportedArtifact, folder, read_exports};
use crate::code::TextAnswer;
use crate::files::readable_size;

pub struct ListArtifacts;

/// Lists the files that were exported in this task.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ListArtifactsInput {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListArtifactsBody {
    artifacts: Vec<ExportedArtifact>,
}

#[async_trait]
impl Tool for ListArtifacts {
    type Input = ListArtifactsInput;
    type Plan = ListArtifactsInput;
    type Output = TextAnswer<ListArtifactsBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_artifacts",
            aliases: &[],
            category: Category::Artifacts,
            risk: Risk::Control,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        Planned::ready(Preview { summary: "List the artifacts".to_owned(), ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, _: Self::Plan) -> Result<Self::Output, ToolError> {
        let artifacts = read_exports(&folder(ctx).await?).map_err(ToolError::execution)?;
        let line = |one: &ExportedArtifact| {
            let (size, of) = (readable_size(one.bytes), &one.source);
            format!("{} ({}, {size}) of `{of}`: {}\n", one.name, one.media_type, one.path)
        };
        let mut text: String = artifacts.iter().map(line).collect();
        if text.is_empty() {
            text.push_str("nothing was exported in this task");
        }
        Ok(TextAnswer::new(ListArtifactsBody { artifacts }, text))
    }
}
