//! `tool_search`: tools that are only listed by name, loaded when they are needed.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{
    Category, Planned, RegisteredTool, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, near_names,
};

/// Tools that one call loads at most.
const MOST: usize = 10;

pub struct ToolSearch;

/// Loads tools that are listed below by name only; call them from the next turn on. Give names, or words that say what you
/// need.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ToolSearchInput {
    /// Names, or words of descriptions, separated by spaces.
    query: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolSearchOutput {
    loaded: Vec<LoadedTool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct LoadedTool {
    name: String,
    description: String,
}

impl ToolOutput for ToolSearchOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let lines = self.loaded.iter().map(|tool| format!("- {}: {}", tool.name, tool.description));
        Cow::Owned(format!("loaded:\n{}", lines.collect::<Vec<_>>().join("\n")))
    }
}

#[async_trait]
impl Tool for ToolSearch {
    type Input = ToolSearchInput;
    type Plan = ToolSearchInput;
    type Output = ToolSearchOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "tool_search",
            aliases: &[],
            category: Category::Composition,
            risk: Risk::Control,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview { summary: format!("Load tools for `{}`", input.query), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let deferred = ctx.invoker.deferred();
        let words: Vec<String> = input.query.split_whitespace().map(str::to_lowercase).collect();
        let mut found: Vec<_> =
            deferred.iter().map(|tool| (score(tool, &words), tool)).filter(|(score, _)| *score > 0).collect();
        found.sort_by_key(|(score, tool)| (std::cmp::Reverse(*score), tool.name().to_owned()));
        if found.is_empty() {
            let names: Vec<&str> = deferred.iter().map(|tool| tool.name()).collect();
            let near = near_names(&input.query, names.iter().copied());
            let known = if near.is_empty() { names.join(", ") } else { near.join(", ") };
            return Err(ToolError::parameter(format!("no tool fits `{}`; there is: {known}", input.query)));
        }
        let loaded = found.into_iter().take(MOST).map(|(_, tool)| {
            ctx.invoker.load(tool);
            LoadedTool { name: tool.name().to_owned(), description: tool.definition().description.clone() }
        });
        Ok(ToolSearchOutput { loaded: loaded.collect() })
    }

    fn loads_deferred(&self) -> bool {
        true
    }
}

/// How well a tool fits the words: its name counts most.
fn score(tool: &RegisteredTool, words: &[String]) -> usize {
    let description = tool.definition().description.to_lowercase();
    let name = tool.name().to_lowercase();
    words
        .iter()
        .map(|word| match word.as_str() {
            word if name == word => 100,
            word if name.contains(word) => 10,
            word if description.contains(word) => 1,
            _ => 0,
        })
        .sum()
}
