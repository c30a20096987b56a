//! What came of a change, for the model, for programs and for people.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_protocol::{FileChange, FileDiff, ToolDetail};
use stepwell_tool_runtime::{Redactor, ToolError, ToolOutput, counted};

use super::diff;
use super::service::Change;

/// A diff longer than this is not shown to the model.
const LONGEST_SHOWN: usize = 4 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Created,
    Edited,
    Deleted,
    Moved,
    /// The file had this content already.
    Unchanged,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    pub action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Lines the file has now.
    pub lines: usize,
    pub bytes: usize,
    pub replacements: usize,
    /// Line of the first change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub added: usize,
    pub removed: usize,
    /// How it was matched, and what else is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Errors the file did not have before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub syntax_errors: Vec<String>,
    #[serde(skip)]
    pub diff: String,
    #[serde(skip)]
    show: bool,
}

impl ChangedFile {
    pub fn of(change: &Change, redactor: &Redactor) -> Self {
        let path = change.place.display();
        let moved_from = change.moved_from.as_ref().map(|(from, _)| from.display());
        let (old, new) = (change.old_text(), change.new_text());
        let shown = diff::change(redactor, &path, old, new);
        let action = match (&change.before, &change.after) {
            (_, None) => Action::Deleted,
            _ if moved_from.is_some() => Action::Moved,
            (None, Some(_)) => Action::Created,
            (Some(_), Some(_)) if old == new => Action::Unchanged,
            (Some(_), Some(_)) => Action::Edited,
        };
        let syntax_errors = match &change.after {
            Some(after) => stepwell_code_intel::syntax::introduced(change.place.relative(), old, &after.text)
                .iter()
                .map(|error| redactor.redact(&error.to_string()).into_owned())
                .collect(),
            None => Vec::new(),
        };
        Self {
            path,
            action,
            moved_from,
            lines: new.lines().count(),
            bytes: change
                .after
                .as_ref()
                .and_then(|after| after.to_bytes().ok())
                .map_or(0, |bytes| bytes.len()),
            replacements: change.replacements,
            line: change.line,
            added: shown.added,
            removed: shown.removed,
            notes: change.notes.clone(),
            syntax_errors,
            diff: shown.diff,
            show: change.show,
        }
    }

    fn headline(&self) -> String {
        let Self { path, added, removed, .. } = self;
        let lines = counted(self.lines as u64, "line");
        match (self.action, self.line) {
            (Action::Created, _) => format!("created `{path}` ({lines})"),
            (Action::Unchanged, _) => format!("`{path}` had this content already ({lines})"),
            (Action::Deleted, _) => format!("deleted `{path}` ({})", counted(*removed as u64, "line")),
            (Action::Moved, _) => {
                let from = self.moved_from.as_deref().unwrap_or_default();
                format!("moved `{from}` to `{path}` (+{added} -{removed})")
            }
            (Action::Edited, None) => format!("wrote `{path}` ({lines}; +{added} -{removed})"),
            (Action::Edited, Some(line)) => {
                let times = match self.replacements {
                    1 => String::new(),
                    many => format!(" {many} times, first"),
                };
                format!("edited `{path}`{times} at line {line} (+{added} -{removed})")
            }
        }
    }

    fn words(&self) -> String {
        let mut text = self.headline();
        for note in &self.notes {
            text.push_str(&format!("\nnote: {note}"));
        }
        if self.show && !self.diff.is_empty() && self.diff.len() <= LONGEST_SHOWN {
            text.push_str(&format!("\n{}", self.diff.trim_end_matches('\n')));
        }
        if !self.syntax_errors.is_empty() {
            text.push_str(&format!(
                "\nwarning: this change seems to have broken the syntax of the file:\n{}",
                self.syntax_errors.join("\n")
            ));
        }
        text
    }

    fn file_diff(&self) -> FileDiff {
        FileDiff {
            path: self.path.clone(),
            change: match self.action {
                Action::Created => FileChange::Created,
                Action::Deleted => FileChange::Deleted,
                Action::Edited | Action::Moved | Action::Unchanged => FileChange::Modified,
            },
            moved_from: self.moved_from.clone(),
            diff: self.diff.clone(),
            added: self.added as u64,
            removed: self.removed as u64,
        }
    }
}

impl ToolOutput for ChangedFile {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Owned(self.words())
    }

    fn detail(&self) -> Option<ToolDetail> {
        Some(ToolDetail::Diff { files: vec![self.file_diff()] })
    }
}

/// What came of a change of several files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedFiles {
    pub files: Vec<ChangedFile>,
}

impl ToolOutput for ChangedFiles {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Owned(self.files.iter().map(ChangedFile::words).collect::<Vec<_>>().join("\n"))
    }

    fn detail(&self) -> Option<ToolDetail> {
        Some(ToolDetail::Diff { files: self.files.iter().map(ChangedFile::file_diff).collect() })
    }
}

/// The report of a call that changes one file.
pub fn only(files: Vec<ChangedFile>) -> Result<ChangedFile, ToolError> {
    files.into_iter().next().ok_or_else(|| ToolError::execution("no file was changed"))
}
