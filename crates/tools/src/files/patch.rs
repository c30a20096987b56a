//! `patch`: unified diffs and the `*** Begin Patch` form, over one file or several.

mod hunks;
mod model;
mod sections;
mod unified;

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Refused, Tool, ToolContext, ToolError, ToolSpec};
use stepwell_workspace::{Executable, Inside};

use super::edit_plan::{Asked, EditPlan, Proposed};
use super::report::ChangedFiles;
use super::service::{Caller, Change, FileService, like};
use model::{FilePatch, Hunk, Kind};

pub struct Patch {
    service: FileService,
}

impl Patch {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Applies a patch: a unified diff (git's too: new, deleted and renamed files, modes), or the form `*** Begin Patch` with
/// `*** Add File:`, `*** Update File:`, `*** Delete File:`, `*** Move to:` and `@@ context`. All of it is applied or
/// nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PatchInput {
    /// The one file to patch. Leave it out to patch the files the patch names.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    #[serde(default)]
    pub file_path: Option<String>,
    #[schemars(extend("x-aliases" = ["patch", "diff", "input", "patch_text"]))]
    pub patch_content: String,
}

/// Reads a patch in either form.
fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    if sections::is_this_form(patch) { sections::parse(patch) } else { unified::parse(patch) }
}

/// The paths that a patch names, or what is wrong with it.
pub fn patched_paths(patch: &str) -> Result<Vec<String>, String> {
    let files = parse(patch)?;
    Ok(files.into_iter().flat_map(|file| [file.old_path, file.new_path]).flatten().collect())
}

impl PatchInput {
    fn files(&self) -> Result<Vec<FilePatch>, ToolError> {
        parse(&self.patch_content).map_err(ToolError::validation)
    }

    /// All paths the patch and the call name, whether they can be used or not.
    fn named_paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.file_path.iter().cloned().collect();
        for file in self.files().unwrap_or_default() {
            for path in [file.old_path, file.new_path].into_iter().flatten() {
                let stripped = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).map(str::to_owned);
                for path in [Some(path), stripped].into_iter().flatten() {
                    if !paths.contains(&path) {
                        paths.push(path);
                    }
                }
            }
        }
        paths
    }

    /// The files with the patch applied, not yet written.
    pub fn planned(&self, service: &FileService, caller: &Caller) -> Result<Vec<Change>, ToolError> {
        let files = self.files()?;
        if self.file_path.is_some() && files.len() > 1 {
            return Err(ToolError::validation(format!(
                "the patch changes {} files and `file_path` names one; leave it out to patch them all",
                files.len()
            )));
        }
        let mut changes: Vec<Change> = Vec::new();
        for file in &files {
            let (old, new) = self.places(service, file)?;
            let planned = match file.kind {
                Kind::Add => added(service, caller, new, file)?,
                Kind::Delete => deleted(service, caller, old, file)?,
                Kind::Update => updated(service, caller, &mut changes, old, new, file)?,
            };
            for change in planned {
                if changes.iter().any(|other| other.place.absolute() == change.place.absolute()) {
                    return Err(ToolError::validation(format!(
                        "the patch changes `{}` twice; make it one change",
                        change.place.display()
                    )));
                }
                changes.push(change);
            }
        }
        Ok(changes)
    }

    /// Where a file is and where it will be. What the call names cannot be overruled by the patch.
    fn places(&self, service: &FileService, file: &FilePatch) -> Result<(Inside, Inside), ToolError> {
        let named =
            |path: &Option<String>| path.as_deref().map(|path| header_place(service, path)).transpose();
        let (old, new) = (named(&file.old_path)?, named(&file.new_path)?);
        let Some(path) = &self.file_path else {
            let nameless = || ToolError::validation("the patch names no file; give `file_path`");
            let old_place = old.clone().or_else(|| new.clone()).ok_or_else(nameless)?;
            return Ok((old_place, new.or(old).ok_or_else(nameless)?));
        };
        let place = service.place(path)?;
        for header in [&old, &new].into_iter().flatten() {
            // A header may name less of the path, never another file.
            let is_same =
                header.absolute() == place.absolute() || place.relative().ends_with(header.relative());
            if !is_same {
                return Err(ToolError::validation(format!(
                    "the patch is for `{}` and `file_path` says `{}`; nothing was changed; leave out one of the two",
                    header.display(),
                    place.display()
                )));
            }
        }
        Ok((place.clone(), place))
    }
}

/// The place a header names. Git writes `a/` and `b/` before paths; a folder of that name is meant where only that exists.
fn header_place(service: &FileService, path: &str) -> Result<Inside, ToolError> {
    let raw = service.place(path);
    let Some(stripped) = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")) else { return raw };
    let stripped = service.place(stripped)?;
    match raw {
        Ok(raw) if service.workspace.peek(&raw).is_ok() && service.workspace.peek(&stripped).is_err() => {
            Ok(raw)
        }
        _ => Ok(stripped),
    }
}

fn added(
    service: &FileService,
    caller: &Caller,
    place: Inside,
    file: &FilePatch,
) -> Result<Vec<Change>, ToolError> {
    let before = service.open_if_exists(caller, &place)?;
    if before.as_ref().is_some_and(|before| !before.bytes.is_empty()) {
        return Err(ToolError::validation(format!(
            "the patch creates `{}`, which exists; nothing was changed; update it instead",
            place.display()
        )));
    }
    let line_end = service.line_end_for(&place);
    let lines: Vec<&model::HunkLine> = file.hunks.iter().flat_map(Hunk::new_side).collect();
    let mut text = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(line_end);
    if lines.last().is_some_and(|line| !line.unended) {
        text.push_str(line_end);
    }
    let after = like(before.as_ref(), text);
    let mut change = Change::new(place, before, Some(after));
    // A new file is none unless the patch says so.
    change.executable = if file.executable == Executable::Yes { Executable::Yes } else { Executable::Keep };
    Ok(vec![change])
}

fn deleted(
    service: &FileService,
    caller: &Caller,
    place: Inside,
    file: &FilePatch,
) -> Result<Vec<Change>, ToolError> {
    let before = service.open(caller, &place)?;
    if !file.hunks.is_empty() {
        let left = hunks::applied(&place.display(), &before.file.text, &file.hunks, &caller.redactor)
            .map_err(|failures| failed(&place, &failures))?;
        if !left.text.is_empty() {
            return Err(ToolError::validation(format!(
                "the patch deletes `{}`, which has more than the patch knows; nothing was changed; read it again",
                place.display()
            )));
        }
    }
    Ok(vec![Change::new(place, Some(before), None)])
}

fn updated(
    service: &FileService,
    caller: &Caller,
    changes: &mut Vec<Change>,
    old: Inside,
    new: Inside,
    file: &FilePatch,
) -> Result<Vec<Change>, ToolError> {
    // A file may be named again: the second part goes on where the first ended.
    let earlier = changes.iter().position(|change| {
        change.place.absolute() == old.absolute() && change.before.is_some() && change.after.is_some()
    });
    let mut base = if let Some(index) = earlier {
        changes.remove(index)
    } else {
        let before = service.open(caller, &old)?;
        let after = before.file.clone();
        Change { replacements: 0, ..Change::new(old.clone(), Some(before), Some(after)) }
    };
    let text = base.new_text().to_owned();
    let replaced = hunks::applied(&old.display(), &text, &file.hunks, &caller.redactor)
        .map_err(|failures| failed(&old, &failures))?;
    if replaced.text == text && !file.hunks.is_empty() {
        return Err(ToolError::validation(format!(
            "the patch changes nothing: `{}` has the new text already",
            old.display()
        )));
    }
    base.line = Some(base.line.map_or(replaced.line, |line| line.min(replaced.line)));
    base.replacements += replaced.count;
    base.show |= !replaced.notes.is_empty();
    base.notes.extend(replaced.notes);
    base.executable = file.executable;
    match file.executable {
        Executable::Keep => {}
        Executable::Yes => base.notes.push("the file is a program now".to_owned()),
        Executable::No => base.notes.push("the file is no program now".to_owned()),
    }
    let before = base.before.clone();
    let after = like(before.as_ref(), replaced.text);
    if old.absolute() == new.absolute() {
        base.after = Some(after);
        return Ok(vec![base]);
    }
    if service.workspace.peek(&new).is_ok() {
        return Err(ToolError::validation(format!(
            "the patch moves `{}` to `{}`, which exists; nothing was changed",
            old.display(),
            new.display()
        )));
    }
    let executable = match file.executable {
        Executable::Keep if service.workspace.is_executable(&old) => Executable::Yes,
        said => said,
    };
    let old_text = base.old_text().to_owned();
    let moved = Change {
        before: None,
        after: Some(after),
        executable,
        moved_from: Some((old.clone(), old_text)),
        place: new,
        ..base
    };
    Ok(vec![moved, Change::new(old, before, None)])
}

fn failed(place: &Inside, failures: &[String]) -> ToolError {
    ToolError::validation(format!(
        "the patch could not be applied to `{}`; nothing was changed\n{}",
        place.display(),
        failures.join("\n")
    ))
}

#[async_trait]
impl Tool for Patch {
    type Input = PatchInput;
    type Plan = EditPlan;
    type Output = ChangedFiles;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "patch",
            aliases: &["apply_patch"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let paths = input.named_paths();
        let asked = Asked {
            summary: format!("Patch {}", paths.join(", ")),
            diff: Some(input.patch_content.clone()),
            paths,
        };
        let plan = move |service: &FileService, caller: &Caller| {
            let changes = input.planned(service, caller)?;
            let names: Vec<String> =
                changes.iter().map(|change| format!("`{}`", change.place.display())).collect();
            Ok(Proposed { summary: Some(format!("Patch {}", names.join(", "))), changes })
        };
        self.service.plan_edit(ctx, asked, plan).await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        Ok(ChangedFiles { files: self.service.apply(ctx, plan).await? })
    }
}

#[cfg(test)]
#[path = "patch/tests.rs"]
mod tests;
