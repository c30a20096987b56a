//! What a change looks like, for people.

use std::time::Duration;

use similar::TextDiff;

/// A diff longer than this is cut; it is shown, never applied.
const LONGEST: usize = 64 * 1024;

/// A unified diff; empty when nothing differs.
pub(super) fn unified(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(old, new);
    let mut text =
        diff.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push_str("\n... the diff goes on ...\n");
    }
    text
}

/// Lines added and removed.
pub(super) fn counts(diff: &str) -> (usize, usize) {
    let count = |mark: char, header: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(header)).count()
    };
    (count('+', "+++ "), count('-', "--- "))
}
