//! `insert`: lines added to a file, nothing replaced.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Tool, ToolContext, ToolError, ToolSpec, counted};

use super::desk::{Caller, Change, Desk, like};
use super::diff;
use super::foresee::Asked;
use super::matching::{Source, split_lines};
use super::report::{self, ChangedFile};

pub struct Insert {
    desk: Desk,
}

impl Insert {
    pub fn new(desk: Desk) -> Self {
        Self { desk }
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
    fn planned(&self, desk: &Desk, caller: &Caller) -> Result<Change, ToolError> {
        let place = desk.place(&self.file_path)?;
        if self.content.is_empty() {
            return Err(ToolError::validation("`content` is empty; there is nothing to insert"));
        }
        let before = desk.open_if_exists(caller, &place)?;
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
        let line_end = if old.contains(['\n', '\r']) { source.line_end } else { desk.line_end_for(&place) };
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

    async fn preview(&self, ctx: &ToolContext, input: &Self::Input) -> Preview {
        let (path, call) = (&input.file_path, input.clone());
        let asked = Asked {
            summary: format!("Insert into `{path}`"),
            diff: Some(diff::change(&ctx.redactor, path, "", &input.content).diff),
            paths: vec![path.clone()],
        };
        self.desk.foresee(ctx, asked, move |desk, caller| Ok(vec![call.planned(desk, caller)?])).await
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError> {
        let changed =
            self.desk.carry_out(ctx, move |desk, caller| Ok(vec![input.planned(desk, caller)?])).await?;
        report::only(changed)
    }
}
