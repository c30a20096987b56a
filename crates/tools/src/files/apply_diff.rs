//! `apply_diff`: search and replace blocks with line hints, in one file or several.

mod blocks;

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{
    Category, Planned, Redactor, Refused, Tool, ToolContext, ToolError, ToolSpec, counted,
};

use super::edit_plan::{Asked, EditPlan};
use super::matching::{self, Amount, Source, Unit, Wanted};
use super::replace::{Replaced, spliced, told};
use super::report::ChangedFiles;
use super::service::{Caller, Change, FileService, like};

pub struct ApplyDiff {
    service: FileService,
}

impl ApplyDiff {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Changes a file with one or more blocks of this form:
///
/// ```text
/// <<<<<<< SEARCH
/// :start_line:12
/// -------
/// lines as the file has them
/// =======
/// lines to put there
/// >>>>>>> REPLACE
/// ```
///
/// `:start_line:` is a hint and may be left out. Lines within a block that look like a marker begin with a backslash.
/// All blocks are matched against the file as it is; all are applied or, with a report of those that failed, none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ApplyDiffInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    #[serde(default)]
    pub file_path: Option<String>,
    /// The blocks.
    #[schemars(extend("x-aliases" = ["diff_content", "blocks"]))]
    #[serde(default)]
    pub diff: Option<String>,
    /// Several files at once, instead of `file_path` and `diff`; all are changed or none.
    #[serde(default)]
    pub files: Vec<FileDiff>,
    /// Roo-Code's form for several files: `<file><path>…</path><diff><content>…</content></diff></file>`.
    #[serde(default)]
    pub args: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct FileDiff {
    #[schemars(extend("x-aliases" = ["path", "file", "filename"]))]
    pub file_path: String,
    pub diff: String,
}

impl ApplyDiffInput {
    /// The blocks of each file.
    pub fn file_diffs(&self) -> Result<Vec<FileDiff>, ToolError> {
        let mut all = self.files.clone();
        if let Some(args) = &self.args {
            all.extend(blocks::from_xml(args).map_err(ToolError::validation)?);
        }
        match (&self.file_path, &self.diff) {
            (Some(file_path), Some(diff)) => {
                all.push(FileDiff { file_path: file_path.clone(), diff: diff.clone() });
            }
            (None, None) => {}
            (Some(_), None) => return Err(ToolError::parameter("`diff` is missing")),
            (None, Some(_)) => return Err(ToolError::parameter("`file_path` is missing")),
        }
        if all.is_empty() {
            return Err(ToolError::parameter("`file_path` and `diff` are missing"));
        }
        Ok(all)
    }

    /// The files with all blocks applied, not yet written.
    pub fn planned(&self, service: &FileService, caller: &Caller) -> Result<Vec<Change>, ToolError> {
        let mut changes: Vec<Change> = Vec::new();
        for FileDiff { file_path, diff } in self.file_diffs()? {
            let place = service.place(&file_path)?;
            if changes.iter().any(|change| change.place.absolute() == place.absolute()) {
                return Err(ToolError::validation(format!(
                    "`{file_path}` is named twice; put all its blocks into one diff"
                )));
            }
            let before = service.open(caller, &place)?;
            let applied = applied(&place.display(), &before.file.text, &diff, &caller.redactor)?;
            let after = like(Some(&before), applied.text);
            let mut change = Change::new(place, Some(before), Some(after));
            change.line = Some(applied.line);
            change.replacements = applied.count;
            change.show = !applied.notes.is_empty();
            change.notes = applied.notes;
            changes.push(change);
        }
        Ok(changes)
    }
}

/// A text with the blocks of a diff applied.
pub fn applied(name: &str, text: &str, diff: &str, redactor: &Redactor) -> Result<Replaced, ToolError> {
    let blocks = blocks::parse(diff).map_err(ToolError::validation)?;
    let source = Source::new(text);
    let (mut splices, mut notes, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, block) in blocks.iter().enumerate() {
        let number = nth + 1;
        let wanted = Wanted {
            search: &block.search,
            replacement: &block.replacement,
            unit: Unit::Lines,
            amount: Amount::One,
            hint: block.start_line,
            within: None,
        };
        if block.search == block.replacement {
            failures.push(format!("block {number}: search and replacement are the same"));
            continue;
        }
        match matching::find(&source, &wanted) {
            Ok(found) => {
                if let Some(words) = found.how.words() {
                    notes.push(format!("block {number} matched {words}"));
                }
                splices.extend(found.splices);
            }
            Err(miss) => {
                failures.push(
                    told(name, &format!("block {number}: the search text"), &source, &miss, redactor).message,
                );
            }
        }
    }
    if !failures.is_empty() {
        return Err(ToolError::validation(format!(
            "{} of {} could not be applied to `{name}`; nothing was changed\n{}",
            failures.len(),
            counted(blocks.len() as u64, "block"),
            failures.join("\n")
        )));
    }
    let line = splices.iter().map(|splice| splice.line).min().unwrap_or(1);
    let count = splices.len();
    let text = spliced(text, splices).ok_or_else(|| {
        ToolError::validation(format!(
            "two blocks for `{name}` overlap; nothing was changed; make them one block"
        ))
    })?;
    if text == source.text {
        return Err(ToolError::validation(format!(
            "the diff changes nothing: `{name}` has the new text already"
        )));
    }
    Ok(Replaced { text, line, count, notes })
}

#[async_trait]
impl Tool for ApplyDiff {
    type Input = ApplyDiffInput;
    type Plan = EditPlan;
    type Output = ChangedFiles;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "apply_diff",
            aliases: &[],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let files = input.file_diffs().unwrap_or_default();
        let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.file_path)).collect();
        let asked = Asked {
            summary: format!("Apply a diff to {}", names.join(", ")),
            diff: Some(files.iter().map(|file| file.diff.as_str()).collect::<Vec<_>>().join("\n")),
            paths: files.into_iter().map(|file| file.file_path).collect(),
        };
        self.service.plan_edit(ctx, asked, move |service, caller| input.planned(service, caller)).await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        Ok(ChangedFiles { files: self.service.apply(ctx, plan).await? })
    }
}
