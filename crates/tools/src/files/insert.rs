//! `insert`: lines added to a file, nothing replaced.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Refused, Tool, ToolContext, ToolError, ToolSpec, counted};

use super::diff;
use super::edit_plan::{Asked, EditPlan};
use super::matching::{Source, split_lines};
use super::report::{self, ChangedFile};
use super::service::{Caller, Change, FileService, like};

pub struct Insert {
    service: FileService,
}

impl Insert {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Inserts lines into a file before a line, or at its end. A file that does not exist is created.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct InsertInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: String,
    /// The line before which the content goes, from 1; 0 for the end of the file.
    #[schemars(extend("x-aliases" = ["line_number", "insert_line"]))]
    line: usize,
    /// The lines to add.
    #[schemars(extend("x-aliases" = ["text", "new_str", "insert_text"]))]
    content: String,
}

impl InsertInput {
    fn planned(&self, service: &FileService, caller: &Caller) -> Result<Change, ToolError> {
        let place = service.place(&self.file_path)?;
        if self.content.is_empty() {
            return Err(ToolError::validation("`content` is empty; there is nothing to insert"));
        }
        let before = service.open_if_exists(caller, &place)?;
        let old = before.as_ref().map_or("", |before| before.file.text.as_str());
        let source = Source::new(old);
        let count = source.lines.len();
        if self.line > count + 1 {
            return Err(ToolError::validation(format!(
                "`{}` has {}, so nothing can be inserted before line {}; use 0 for the end of the file",
                place.display(),
                counted(count as u64, "line"),
                self.line
            )));
        }
        let index = if self.line == 0 { count } else { self.line - 1 };
        let line_end =
            if old.contains(['\n', '\r']) { source.line_end } else { service.line_end_for(&place) };
        let (lines, _) = split_lines(&self.content);
        let added = lines.join(line_end);
        let at = source.line_range_bytes(index, index).start;
        let text = if index == count && !source.has_final_newline() {
            // A file without a final line break stays one.
            format!("{old}{line_end}{added}")
        } else {
            format!("{}{added}{line_end}{}", &old[..at], &old[at..])
        };
        let after = like(before.as_ref(), text);
        let mut change = Change::new(place, before, Some(after));
        change.line = Some(index + 1);
        Ok(change)
    }
}

#[async_trait]
impl Tool for Insert {
    type Input = InsertInput;
    type Plan = EditPlan;
    type Output = ChangedFile;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "insert",
            aliases: &["insert_content"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let path = &input.file_path;
        let asked = Asked {
            summary: format!("Insert into `{path}`"),
            diff: Some(diff::change(&ctx.redactor, path, "", &input.content).diff),
            paths: vec![path.clone()],
        };
        self.service
            .plan_edit(ctx, asked, move |service, caller| Ok(vec![input.planned(service, caller)?]))
            .await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        report::only(self.service.apply(ctx, plan).await?)
    }
}
