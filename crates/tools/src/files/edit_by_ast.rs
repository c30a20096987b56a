//! `edit_by_ast`: code changed by its structure, in one file or in all that mean the same.

use async_trait::async_trait;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::edit_plan::{Asked, EditPlan};
use super::report::ChangedFiles;
use super::service::{Caller, Change, FileService};
use super::structure::StructureEditInput;
use crate::code::LONGEST_CALL;

pub struct EditByAst {
    service: FileService,
}

impl EditByAst {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

fn planned(
    input: &StructureEditInput,
    service: &FileService,
    caller: &Caller,
) -> Result<Vec<Change>, ToolError> {
    let mut changes = Vec::new();
    input.plan(service, caller, &mut changes)?;
    Ok(changes)
}

#[async_trait]
impl Tool for EditByAst {
    type Input = StructureEditInput;
    type Plan = EditPlan;
    type Output = ChangedFiles;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit_by_ast",
            aliases: &[],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: LONGEST_CALL,
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let asked =
            Asked { summary: input.summary(), diff: None, paths: input.file_path.iter().cloned().collect() };
        self.service.plan_edit(ctx, asked, move |service, caller| planned(&input, service, caller)).await
    }

    fn exclude(&self, plan: EditPlan, refused: &[String]) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        Ok(ChangedFiles { files: self.service.apply(ctx, plan).await? })
    }
}
