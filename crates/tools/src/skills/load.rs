//! `skill_loader`: the text of a skill, when the work fits it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Event, Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

use crate::library::ToolLibrary;

pub struct SkillLoader {
    library: Arc<dyn ToolLibrary>,
}

impl SkillLoader {
    pub fn new(library: Arc<dyn ToolLibrary>) -> Self {
        Self { library }
    }
}

/// Loads a skill: instructions for one kind of work. Its files are then read with `read`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SkillLoaderInput {
    /// Empty to list them.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["skill", "name"]))]
    skill_name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillLoaderOutput {
    title: String,
    output: String,
    metadata: SkillMetadata,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillMetadata {
    name: String,
    tools: Vec<String>,
    source: String,
}

impl ToolOutput for SkillLoaderOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.output)
    }
}

#[async_trait]
impl Tool for SkillLoader {
    type Input = SkillLoaderInput;
    type Plan = SkillLoaderInput;
    type Output = SkillLoaderOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "skill_loader",
            aliases: &["skill"],
            category: Category::Composition,
            risk: Risk::Read,
            time_limit: Duration::from_secs(30),
            output_limit: 80 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = format!("Load the skill `{}`", input.skill_name);
        Planned::ready(Preview { summary, ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let library = Arc::clone(&self.library);
        let name = input.skill_name.trim().to_owned();
        if name.is_empty() {
            let listed = tokio::task::spawn_blocking(move || library.skills()).await;
            let listed = listed.map_err(|error| ToolError::execution(error.to_string()))?;
            let lines: Vec<String> = listed.iter().map(|(name, what)| format!("- {name}: {what}")).collect();
            let output =
                if lines.is_empty() { "there are no skills here".to_owned() } else { lines.join("\n") };
            let metadata = SkillMetadata { name: String::new(), tools: Vec::new(), source: String::new() };
            return Ok(SkillLoaderOutput { title: "Skills".to_owned(), output, metadata });
        }
        let loaded = tokio::task::spawn_blocking(move || library.load_skill(&name)).await;
        let loaded = loaded.map_err(|error| ToolError::execution(error.to_string()))?;
        let loaded = loaded.map_err(ToolError::validation)?;
        if let Some(changed) = &loaded.changed {
            let text = format!("the skill `{}` {changed}", loaded.name);
            ctx.host.record(Event::Notice { text }).await.ok();
        }
        Ok(SkillLoaderOutput {
            title: format!("Loaded skill: {}", loaded.name),
            output: loaded.text,
            metadata: SkillMetadata { name: loaded.name, tools: loaded.tools, source: loaded.source },
        })
    }
}
