//! `batch_edit`: many edits over many files, all or none.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Refused, Tool, ToolContext, ToolError, ToolSpec, counted};

use super::edit_plan::{Asked, EditPlan};
use super::report::ChangedFiles;
use super::service::{Caller, Change, FileService, like};
use super::structure::OneEdit;
use crate::code::LONGEST_CALL;

pub struct BatchEdit {
    service: FileService,
}

impl BatchEdit {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Makes many edits in one or more files: all of them, or none and a report of what is wrong. Edits of the same file are
/// made one after the other.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct BatchEditInput {
    /// Edits as `edit` takes them, or, with an `operation`, as `edit_by_ast` does.
    pub edits: Vec<OneEdit>,
}

impl BatchEditInput {
    /// The files with all edits made, not yet written.
    pub fn planned(&self, service: &FileService, caller: &Caller) -> Result<Vec<Change>, ToolError> {
        if self.edits.is_empty() {
            return Err(ToolError::validation("`edits` is empty"));
        }
        let mut changes: Vec<Change> = Vec::new();
        let mut failures: Vec<(usize, ToolError)> = Vec::new();
        for (nth, edit) in self.edits.iter().enumerate() {
            if let Err(error) = step(service, caller, &mut changes, edit) {
                failures.push((nth + 1, error));
            }
        }
        let Some((_, first)) = failures.first() else { return Ok(changes) };
        let told: Vec<String> =
            failures.iter().map(|(number, error)| format!("edit {number}: {}", error.message)).collect();
        Err(ToolError::new(
            first.class,
            format!(
                "{} of {} cannot be made; nothing was changed\n{}",
                failures.len(),
                counted(self.edits.len() as u64, "edit"),
                told.join("\n")
            ),
        ))
    }
}

/// Adds one edit to what is planned.
fn step(
    service: &FileService,
    caller: &Caller,
    changes: &mut Vec<Change>,
    edit: &OneEdit,
) -> Result<(), ToolError> {
    let edit = match edit {
        OneEdit::Text(edit) => edit,
        OneEdit::Structure(edit) => return edit.plan(service, caller, changes),
    };
    let place = service.place(&edit.file_path)?;
    let Some(change) = changes.iter_mut().find(|change| change.place.absolute() == place.absolute()) else {
        changes.push(edit.planned(service, caller)?);
        return Ok(());
    };
    let replaced = edit.replacement()?.apply(&place.display(), change.new_text(), &caller.redactor)?;
    change.after = Some(like(change.before.as_ref(), replaced.text));
    change.line = change.line.map(|line| line.min(replaced.line));
    change.replacements += replaced.count;
    change.show |= !replaced.notes.is_empty();
    for note in replaced.notes {
        if !change.notes.contains(&note) {
            change.notes.push(note);
        }
    }
    Ok(())
}

#[async_trait]
impl Tool for BatchEdit {
    type Input = BatchEditInput;
    type Plan = EditPlan;
    type Output = ChangedFiles;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "batch_edit",
            aliases: &["multi_edit"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: LONGEST_CALL,
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let mut paths: Vec<String> = Vec::new();
        for edit in &input.edits {
            let path = edit.path().filter(|path| !paths.contains(path));
            paths.extend(path);
        }
        let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        let edits = counted(input.edits.len() as u64, "edit");
        let asked = Asked { summary: format!("Make {edits} in {}", named.join(", ")), diff: None, paths };
        self.service.plan_edit(ctx, asked, move |service, caller| input.planned(service, caller)).await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        Ok(ChangedFiles { files: self.service.apply(ctx, plan).await? })
    }
}
