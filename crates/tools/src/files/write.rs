//! `write`: a whole file.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Refused, Tool, ToolContext, ToolError, ToolSpec};
use stepwell_workspace::{Error, TextFile};

use super::LARGEST_EDIT;
use super::edit_plan::{Asked, EditPlan, Proposed};
use super::report::{self, ChangedFile};
use super::service::{Before, Caller, Change, FileService, like};
use super::{diff, matching, omission};

pub struct Write {
    service: FileService,
}

impl Write {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Writes a whole file, replacing what it had; missing folders are made. A file that exists must have been read before.
/// To change a part of a file use `edit`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct WriteInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: String,
    /// The complete new content; nothing of it may be left out.
    #[schemars(extend("x-aliases" = ["text", "contents", "file_text"]))]
    content: String,
    /// Lines the content should have, to notice when a part of it got lost.
    line_count: Option<usize>,
    /// Replace a file that was not read before.
    #[serde(default)]
    overwrite: bool,
}

impl WriteInput {
    fn planned(&self, service: &FileService, caller: &Caller) -> Result<Change, ToolError> {
        let place = service.place(&self.file_path)?;
        if let Some(announced) = self.line_count {
            omission::check_line_count(&self.content, announced)?;
        }
        let (content, mut notes) = omission::cleaned(&self.file_path, &self.content);
        let before = match service.workspace.read(&place, LARGEST_EDIT) {
            Ok(bytes) => {
                let is_known = service.knows(caller, &place);
                if !is_known && !self.overwrite && !bytes.is_empty() && bytes != content.as_bytes() {
                    return Err(ToolError::validation(format!(
                        "`{}` exists and you have not read it, so nothing was written; read it first, or set \
                         `overwrite` to replace it unseen",
                        place.display()
                    )));
                }
                // What is no text is replaced as a whole.
                match stepwell_workspace::decode(&bytes) {
                    Some(_) => Some(service.open(caller, &place)?),
                    None => None,
                }
            }
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(service.explained(&place, error)),
        };
        let line_end = match &before {
            Some(before) if before.file.text.contains(['\n', '\r']) => {
                matching::Source::new(&before.file.text).line_end
            }
            _ => service.line_end_for(&place),
        };
        // Line ends that were chosen on purpose are left alone.
        let content = match line_end {
            "\n" => content,
            _ if content.contains('\r') => content,
            other => matching::with_line_end(&content, other).into_owned(),
        };
        let old = before.as_ref().map_or("", |before: &Before| before.file.text.as_str());
        notes.extend(omission::shrink(old, &content));
        let after: TextFile = like(before.as_ref(), content);
        let mut change = Change::new(place, before, Some(after));
        change.notes = notes;
        Ok(change)
    }
}

#[async_trait]
impl Tool for Write {
    type Input = WriteInput;
    type Plan = EditPlan;
    type Output = ChangedFile;

    fn is_basic(&self) -> bool {
        true
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write",
            aliases: &["write_to_file", "write_file", "create_file"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let path = &input.file_path;
        let asked = Asked {
            summary: format!("Write `{path}`"),
            diff: Some(diff::change(&ctx.redactor, path, "", &input.content).diff),
            paths: vec![path.clone()],
        };
        let plan = move |service: &FileService, caller: &Caller| {
            let change = input.planned(service, caller)?;
            let verb = if change.before.is_some() { "Replace" } else { "Create" };
            Ok(Proposed { summary: Some(format!("{verb} `{}`", input.file_path)), changes: vec![change] })
        };
        self.service.plan_edit(ctx, asked, plan).await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        report::only(self.service.apply(ctx, plan).await?)
    }
}
