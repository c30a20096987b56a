//! A change of a text in pieces that can be taken back one by one.

use std::ops::Range;
use std::time::Duration;

use similar::{ChangeTag, DiffOp, TextDiff};

const CONTEXT: usize = 3;

/// A piece of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// As a unified diff shows it, header and all.
    pub text: String,
}

/// The pieces in which `now` would become `then`.
pub(super) fn hunks(now: &str, then: &str) -> Vec<Hunk> {
    let diff = diff(now, then);
    let mut unified = diff.unified_diff();
    let hunks = unified.context_radius(CONTEXT).iter_hunks();
    hunks.map(|hunk| Hunk { text: hunk.to_string() }).collect()
}

/// `now` with only the wanted pieces, counted from 1, as they are in `then`.
pub(super) fn apply(now: &str, then: &str, wanted: &[usize]) -> String {
    let diff = diff(now, then);
    let now_lines: Vec<&str> = now.split_inclusive('\n').collect();
    let then_lines: Vec<&str> = then.split_inclusive('\n').collect();
    let pick = |lines: &[&str], range: Range<usize>| lines.get(range).unwrap_or_default().concat();
    let mut text = String::with_capacity(now.len().max(then.len()));
    let mut reached = 0;
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        for op in group {
            let old = op.old_range();
            text.push_str(&pick(&now_lines, reached..old.start));
            let is_wanted = wanted.contains(&(number + 1)) && !matches!(op, DiffOp::Equal { .. });
            if is_wanted {
                text.push_str(&pick(&then_lines, op.new_range()));
            } else {
                text.push_str(&pick(&now_lines, old.clone()));
            }
            reached = old.end;
        }
    }
    text.push_str(&pick(&now_lines, reached..now_lines.len()));
    text
}

fn diff<'a>(now: &'a str, then: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(Duration::from_secs(2)).diff_lines(now, then)
}

/// A unified diff of two versions of a file, and how many lines were added and removed.
pub fn unified_diff(path: &str, old: &str, new: &str) -> (String, u64, u64) {
    let diff = diff(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let mut unified = diff.unified_diff();
    let text = unified.context_radius(CONTEXT).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    (text, added, removed)
}
