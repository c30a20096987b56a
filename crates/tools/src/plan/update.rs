//! `plan_update`: writes the plan document.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::{CriticalFile, PlanId};
use stepwell_tool_runtime::{
    PlanPhase, PlanRequest, PlanUpdate as Update, Planned, Tool, ToolContext, ToolError, ToolSpec,
    UpdatedPart,
};

use super::{PlanOutput, ask, preview, spec};

pub struct PlanUpdate;

/// Writes the plan document, in Markdown. Its section `## Steps` holds the steps in order, each as `1. What to do` with a
/// line `- Expected: how its outcome will be seen` below it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PlanUpdateInput {
    plan_id: Option<String>,
    /// The document, the text to add, or the text of the section.
    #[schemars(extend("x-text" = true))]
    content: Option<String>,
    /// `replace` the document (the default), `append` to it, or write one `section`.
    #[serde(default)]
    mode: UpdateMode,
    /// The heading that `section` writes below, such as `Steps`.
    section_name: Option<String>,
    /// Files that were read for the plan.
    #[serde(default)]
    explored_files: Vec<String>,
    /// Files that the plan changes.
    #[serde(default)]
    critical_files: Vec<CriticalFile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateMode {
    #[default]
    Replace,
    Append,
    Section,
}

#[async_trait]
impl Tool for PlanUpdate {
    type Input = PlanUpdateInput;
    type Plan = PlanUpdateInput;
    type Output = PlanOutput;

    fn spec(&self) -> ToolSpec {
        spec("plan_update", Duration::from_secs(30))
    }

    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        Some(&[PlanPhase::Draft])
    }

    fn is_basic(&self) -> bool {
        true
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = match (input.mode, &input.section_name) {
            (UpdateMode::Section, Some(name)) => format!("Write the section \"{name}\" of the plan"),
            (UpdateMode::Append, _) => "Add to the plan".to_owned(),
            _ => "Write the plan".to_owned(),
        };
        Planned::ready(preview(summary), input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let part = match (input.mode, input.section_name.filter(|name| !name.trim().is_empty())) {
            (UpdateMode::Replace, None) => UpdatedPart::Whole,
            (UpdateMode::Append, _) => UpdatedPart::End,
            // Who names a section means it.
            (UpdateMode::Section | UpdateMode::Replace, Some(name)) => UpdatedPart::Section(name),
            (UpdateMode::Section, None) => {
                return Err(ToolError::parameter("`section_name` is needed where `mode` is `section`"));
            }
        };
        let has_content = input.content.as_ref().is_some_and(|content| !content.trim().is_empty());
        if !has_content && input.explored_files.is_empty() && input.critical_files.is_empty() {
            return Err(ToolError::parameter(
                "there is nothing to write: give `content`, `explored_files` or `critical_files`",
            ));
        }
        let update = Update {
            plan_id: input.plan_id.map(PlanId::from),
            content: input.content,
            part,
            explored_files: input.explored_files,
            critical_files: input.critical_files,
        };
        ask(ctx, PlanRequest::Update(update)).await
    }
}
