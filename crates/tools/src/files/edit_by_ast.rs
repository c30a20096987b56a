//! `edit_by_ast`: code changed by its structure, in one file or in all that mean the same.

use async_trait::async_trait;
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Tool, ToolContext, ToolError, ToolSpec};

use super::desk::{Caller, Change, Desk};
use super::foresee::Asked;
use super::report::ChangedFiles;
use super::structure::StructureEditInput;
use crate::code::LONGEST_CALL;

pub struct EditByAst {
    desk: Desk,
}

impl EditByAst {
    pub fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

fn planned(input: &StructureEditInput, desk: &Desk, caller: &Caller) -> Result<Vec<Change>, ToolError> {
    let mut changes = Vec::new();
    input.plan(desk, caller, &mut changes)?;
    Ok(changes)
}

#[async_trait]
impl Tool for EditByAst {
    type Input = StructureEditInput;
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

    async fn preview(&self, ctx: &ToolContext, input: &Self::Input) -> Preview {
        let asked =
            Asked { summary: input.summary(), diff: None, paths: input.file_path.iter().cloned().collect() };
        let call = input.clone();
        self.desk.foresee(ctx, asked, move |desk, caller| planned(&call, desk, caller)).await
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError> {
        let files = self.desk.carry_out_shown(ctx, move |desk, caller| planned(&input, desk, caller)).await?;
        Ok(ChangedFiles { files })
    }
}
