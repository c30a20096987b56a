//! What an editing tool is going to change: planned once, shown to the person, then made as it was shown.

use stepwell_protocol::{Preview, PreviewFile};
use stepwell_tool_runtime::{Planned, Refused, ToolContext, ToolError};

use super::report::ChangedFile;
use super::service::{Caller, Change, FileService};
use super::{diff, omission};

/// A call as it was asked for: shown where its changes cannot be planned.
pub struct Asked {
    pub summary: String,
    pub diff: Option<String>,
    pub paths: Vec<String>,
}

/// The changes a call would make, with a summary where more can be said than was asked for.
pub struct Proposed {
    pub changes: Vec<Change>,
    pub summary: Option<String>,
}

impl From<Vec<Change>> for Proposed {
    fn from(changes: Vec<Change>) -> Self {
        Self { changes, summary: None }
    }
}

/// The changes of one call, with everything that is written.
#[derive(Clone, Debug)]
pub struct EditPlan {
    pub changes: Vec<Change>,
}

impl EditPlan {
    /// Leaves out files and hunks that the person refused. A move is left out as a whole.
    pub fn without(mut self, refused: &Refused) -> Result<Self, ToolError> {
        let mut left_out = refused.files.clone();
        for change in &mut self.changes {
            let path = change.place.display();
            let hunks: Vec<u32> =
                refused.hunks.iter().filter(|hunk| hunk.path == path).map(|hunk| hunk.hunk).collect();
            if !hunks.is_empty() && without_hunks(change, &hunks)? == Left::Nothing {
                left_out.push(path);
            }
        }
        let known = |path: &String| self.changes.iter().any(|change| change.place.display() == *path);
        if let Some(hunk) = refused.hunks.iter().find(|hunk| !known(&hunk.path)) {
            return Err(ToolError::permission(format!(
                "the person refused a hunk of `{}`, which this call does not change, so nothing was done",
                hunk.path
            )));
        }
        let refused = left_out;
        let sources: Vec<(String, String)> = self
            .changes
            .iter()
            .filter_map(|change| {
                change.moved_from.as_ref().map(|(from, _)| (from.display(), change.place.display()))
            })
            .collect();
        let is_refused = |path: &String| refused.contains(path);
        self.changes.retain(|change| {
            let path = change.place.display();
            let other_end = sources.iter().filter_map(|(from, to)| {
                if *from == path { Some(to) } else { (*to == path).then_some(from) }
            });
            !is_refused(&path) && !other_end.into_iter().any(is_refused)
        });
        if self.changes.is_empty() {
            return Err(ToolError::permission("the person refused every file of this call"));
        }
        Ok(self)
    }
}

/// What a change still does once hunks are taken out of it.
#[derive(PartialEq, Eq)]
enum Left {
    Something,
    Nothing,
}

/// Takes hunks out of a change: their lines stay as they were.
fn without_hunks(change: &mut Change, hunks: &[u32]) -> Result<Left, ToolError> {
    let path = change.place.display();
    let Some((text, of)) = diff::without_hunks(change.old_text(), change.new_text(), hunks) else {
        return Err(ToolError::permission(format!(
            "the person refused a hunk of `{path}` that there is not, so nothing was done"
        )));
    };
    if hunks.len() == of {
        return Ok(Left::Nothing);
    }
    let Some(after) = &mut change.after else {
        return Err(ToolError::permission(format!(
            "`{path}` would be deleted, which cannot be done in part, so all of it is refused"
        )));
    };
    after.text = text;
    Ok(Left::Something)
}

impl FileService {
    /// Plans the changes of a call in the background.
    pub async fn plan_edit<P: Into<Proposed>>(
        &self,
        ctx: &ToolContext,
        asked: Asked,
        plan: impl FnOnce(&Self, &Caller) -> Result<P, ToolError> + Send + 'static,
    ) -> Planned<EditPlan> {
        let caller = Caller::of(ctx);
        let summary = asked.summary.clone();
        let planned = self.in_background(move |service| {
            let Proposed { mut changes, summary: better } = plan(service, &caller)?.into();
            for change in &mut changes {
                omission::check(change, &caller.redactor)?;
                change.replaces = service.workspace.peek(&change.place).is_ok();
            }
            let preview = service.preview(better.unwrap_or(summary), &caller, &changes);
            Ok((preview, EditPlan { changes }))
        });
        match planned.await {
            Ok((preview, plan)) => Planned::ready(preview, plan),
            Err(error) => {
                let preview = Preview {
                    summary: asked.summary,
                    diff: asked.diff,
                    paths: self.named(asked.paths),
                    ..Preview::default()
                };
                Planned::new(preview, Err(error))
            }
        }
    }

    /// Makes planned changes in the background, all or none.
    pub async fn apply(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Vec<ChangedFile>, ToolError> {
        let caller = Caller::of(ctx);
        let changed = self.in_background(move |service| service.commit(&caller, plan.changes)).await;
        self.record_seen(ctx).await;
        changed
    }

    /// What a person is shown: every path that would be touched, the diff, and the same file by file.
    fn preview(&self, summary: String, caller: &Caller, changes: &[Change]) -> Preview {
        let mut whole = String::new();
        let mut files = Vec::new();
        for change in changes {
            let path = change.place.display();
            let diff = diff::change(&caller.redactor, &path, change.old_text(), change.new_text()).diff;
            whole.push_str(&diff);
            files.push(PreviewFile { path, diff: Some(diff) });
        }
        let warnings = changes.iter().flat_map(|change| change.notes.iter().cloned()).collect();
        if files.len() < 2 {
            files.clear();
        }
        Preview {
            summary,
            diff: Some(whole),
            paths: self.paths(changes),
            files,
            warnings,
            ..Preview::default()
        }
    }
}
