//! What a change looks like, for people.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use stepwell_tool_runtime::Redactor;

/// A diff longer than this is cut; it is shown, never applied.
const LONGEST: usize = 64 * 1024;

/// What a change of a file looks like.
pub(super) struct Change {
    /// A unified diff without secrets; empty when nothing differs.
    pub diff: String,
    pub added: usize,
    pub removed: usize,
}

/// Compares the texts as they are and shows them redacted: with the marks of a diff before them, or without the
/// lines around them, the lines of a private key look like no key.
pub(super) fn change(redactor: &Redactor, path: &str, old: &str, new: &str) -> Change {
    let mut change = Change { diff: String::new(), added: 0, removed: 0 };
    if old == new {
        return change;
    }
    let (old_shown, new_shown) = (redactor.redact_lines(old), redactor.redact_lines(new));
    let diff = TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(old, new);
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        if text.len() <= LONGEST {
            text.push_str(&hunk.header().to_string());
            text.push('\n');
        }
        for line in hunk.iter_changes() {
            let (shown, index) = match line.tag() {
                ChangeTag::Delete => (&old_shown, line.old_index()),
                ChangeTag::Insert | ChangeTag::Equal => (&new_shown, line.new_index()),
            };
            change.added += usize::from(line.tag() == ChangeTag::Insert);
            change.removed += usize::from(line.tag() == ChangeTag::Delete);
            if text.len() > LONGEST {
                continue;
            }
            let redacted = shown.as_ref().zip(index).and_then(|(lines, index)| lines.get(index));
            text.push_str(&line.tag().to_string());
            text.push_str(redacted.map_or(line.value(), String::as_str));
            if line.missing_newline() {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push_str("\n... the diff goes on ...\n");
    }
    change.diff = text;
    change
}
