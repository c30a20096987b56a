//! What a change looks like, for people.

use std::time::Duration;

use similar::{ChangeTag, DiffTag, TextDiff};
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

/// Lines of context around a change.
const CONTEXT: usize = 3;

fn compared<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(old, new)
}

/// The new text with some hunks of its diff as they were, and how many hunks there are. `None` for a hunk that there is
/// not. Hunks are those that [`change`] shows, counted from 0.
pub(super) fn without_hunks(old: &str, new: &str, refused: &[u32]) -> Option<(String, usize)> {
    let diff = compared(old, new);
    let hunks = diff.grouped_ops(CONTEXT);
    let mut kept_old = Vec::new();
    for at in refused {
        kept_old.extend(hunks.get(*at as usize)?.iter().filter(|op| op.tag() != DiffTag::Equal).copied());
    }
    let mut text = String::with_capacity(new.len());
    for op in diff.ops() {
        let is_refused = kept_old.contains(op);
        for line in diff.iter_changes(op) {
            let stays = match line.tag() {
                ChangeTag::Equal => true,
                ChangeTag::Delete => is_refused,
                ChangeTag::Insert => !is_refused,
            };
            if stays {
                text.push_str(line.value());
            }
        }
    }
    Some((text, hunks.len()))
}

/// Compares the texts as they are and shows them redacted: with the marks of a diff before them, or without the
/// lines around them, the lines of a private key look like no key.
pub(super) fn change(redactor: &Redactor, path: &str, old: &str, new: &str) -> Change {
    let mut change = Change { diff: String::new(), added: 0, removed: 0 };
    if old == new {
        return change;
    }
    let (old_shown, new_shown) = (redactor.redact_lines(old), redactor.redact_lines(new));
    let diff = compared(old, new);
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a\n", "b\n", "c\n", "d\r\n", "e"]), 0..60)
            .prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn refusing_no_hunk_gives_the_new_text_and_all_hunks_the_old(old in text(), new in text()) {
            let (all_new, count) = without_hunks(&old, &new, &[]).unwrap();
            prop_assert_eq!(&all_new, &new);
            let every: Vec<u32> = (0..count as u32).collect();
            prop_assert_eq!(without_hunks(&old, &new, &every).unwrap().0, old.clone());
            prop_assert!(without_hunks(&old, &new, &[count as u32]).is_none());
        }
    }

    #[test]
    fn a_refused_hunk_keeps_its_old_lines() {
        let lines = |first: &str, last: &str| format!("{first}\n1\n2\n3\n4\n5\n6\n7\n8\n{last}\n");
        let (old, new) = (lines("a", "z"), lines("A", "Z"));
        assert_eq!(without_hunks(&old, &new, &[0]).unwrap(), (lines("a", "Z"), 2));
        assert_eq!(without_hunks(&old, &new, &[1]).unwrap(), (lines("A", "z"), 2));
    }
}
