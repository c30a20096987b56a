//! `preview_edit`: what an edit would do, without doing it.

use std::borrow::Cow;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stepwell_protocol::{Risk, ToolDetail};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

use super::apply_diff::ApplyDiffInput;
use super::batch_edit::BatchEditInput;
use super::edit::EditInput;
use super::edit_plan::{Asked, EditPlan};
use super::patch::PatchInput;
use super::report::{ChangedFile, ChangedFiles};
use super::service::{Caller, Change, FileService};
use super::structure::OneEdit;
use crate::code::LONGEST_CALL;

pub struct PreviewEdit {
    service: FileService,
}

impl PreviewEdit {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Shows the diff of an edit and changes nothing. Give what the tool would get: `old_str` and `new_str` for `edit`,
/// `diff` for `apply_diff`, `patch_content` for `patch`, `edits` for `batch_edit` and `edit_by_ast`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PreviewEditInput {
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    #[serde(default)]
    file_path: Option<String>,
    #[schemars(extend("x-aliases" = ["old_string", "search", "old_text"]))]
    #[serde(default)]
    old_str: Option<String>,
    #[schemars(extend("x-aliases" = ["new_string", "replace", "new_text", "replacement"]))]
    #[serde(default)]
    new_str: Option<String>,
    #[serde(default)]
    replace_all: bool,
    #[serde(default)]
    diff: Option<String>,
    #[schemars(extend("x-aliases" = ["patch"]))]
    #[serde(default)]
    patch_content: Option<String>,
    /// A list of {file_path, old_str, new_str, replace_all}, or of what `edit_by_ast` takes.
    #[serde(default)]
    edits: Vec<Value>,
}

impl PreviewEditInput {
    fn planned(&self, service: &FileService, caller: &Caller) -> Result<Vec<Change>, ToolError> {
        let named = || self.file_path.clone().ok_or_else(|| ToolError::parameter("`file_path` is missing"));
        match (&self.old_str, &self.diff, &self.patch_content, self.edits.as_slice()) {
            (Some(old_str), None, None, []) => {
                let edit = EditInput {
                    file_path: named()?,
                    old_str: old_str.clone(),
                    new_str: self
                        .new_str
                        .clone()
                        .ok_or_else(|| ToolError::parameter("`new_str` is missing"))?,
                    replace_all: self.replace_all,
                    expected_replacements: None,
                    start_line: None,
                    end_line: None,
                    use_regex: false,
                    ignore_case: false,
                };
                Ok(vec![edit.planned(service, caller)?])
            }
            (None, Some(diff), None, []) => {
                let input = ApplyDiffInput {
                    file_path: Some(named()?),
                    diff: Some(diff.clone()),
                    files: Vec::new(),
                    args: None,
                };
                input.planned(service, caller)
            }
            (None, None, Some(patch), []) => {
                PatchInput { file_path: self.file_path.clone(), patch_content: patch.clone() }
                    .planned(service, caller)
            }
            (None, None, None, edits) if !edits.is_empty() => {
                let edits = edits.iter().map(|edit| serde_json::from_value::<OneEdit>(edit.clone()));
                let edits = edits
                    .collect::<Result<Vec<OneEdit>, _>>()
                    .map_err(|error| ToolError::parameter(format!("`edits` does not fit: {error}")))?;
                BatchEditInput { edits }.planned(service, caller)
            }
            _ => Err(ToolError::parameter(
                "give exactly one of `old_str` with `new_str`, `diff`, `patch_content` or `edits`",
            )),
        }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PreviewEditOutput {
    #[serde(flatten)]
    would_be: ChangedFiles,
    diff: String,
}

impl ToolOutput for PreviewEditOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let mut text = "nothing was changed; this would be the change:\n".to_owned();
        text.push_str(&self.diff);
        for file in &self.would_be.files {
            for note in &file.notes {
                text.push_str(&format!("note: `{}` {note}\n", file.path));
            }
            for error in &file.syntax_errors {
                text.push_str(&format!("warning: `{}` would have a syntax error: {error}\n", file.path));
            }
        }
        Cow::Owned(text)
    }

    fn detail(&self) -> Option<ToolDetail> {
        self.would_be.detail()
    }
}

#[async_trait]
impl Tool for PreviewEdit {
    type Input = PreviewEditInput;
    type Plan = EditPlan;
    type Output = PreviewEditOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "preview_edit",
            aliases: &[],
            category: Category::Files,
            risk: Risk::Read,
            time_limit: LONGEST_CALL,
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let edits = input.edits.iter().filter_map(|edit| edit.get("file_path")?.as_str());
        let paths = input.file_path.iter().cloned().chain(edits.map(str::to_owned)).collect();
        let asked = Asked { summary: "Preview an edit".to_owned(), diff: None, paths };
        self.service.plan_edit(ctx, asked, move |service, caller| input.planned(service, caller)).await
    }

    async fn run(
        &self,
        ctx: &ToolContext,
        EditPlan { changes }: EditPlan,
    ) -> Result<Self::Output, ToolError> {
        let caller = Caller::of(ctx);
        self.service
            .in_background(move |_| {
                let is_told = |change: &&Change| {
                    let moved = |other: &Change| {
                        other
                            .moved_from
                            .as_ref()
                            .is_some_and(|(from, _)| from.absolute() == change.place.absolute())
                    };
                    change.after.is_some() || !changes.iter().any(moved)
                };
                let files: Vec<ChangedFile> = changes
                    .iter()
                    .filter(is_told)
                    .map(|change| ChangedFile::of(change, &caller.redactor))
                    .collect();
                let diff = files.iter().map(|file| file.diff.as_str()).collect();
                Ok(PreviewEditOutput { would_be: ChangedFiles { files }, diff })
            })
            .await
    }
}
