//! Hunks applied to a text, all or none.

use stepwell_tool_runtime::Redactor;

use super::model::{Hunk, HunkLine, Side};
use crate::files::matching::{self, Amount, Miss, Source, Splice, Tolerance, Unit, Wanted};
use crate::files::replace::{Replaced, spliced, told};

/// A text with all hunks applied, or what is wrong with each that could not be.
pub fn applied(name: &str, text: &str, hunks: &[Hunk], redactor: &Redactor) -> Result<Replaced, Vec<String>> {
    let source = Source::new(text);
    let (mut splices, mut notes, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    // Where the next hunk without a line number is looked for.
    let mut from = 0;
    for (nth, hunk) in hunks.iter().enumerate() {
        let what = format!("hunk {}", nth + 1);
        match place(&source, hunk, from) {
            Ok((mut splice, how)) => {
                from = if splice.range.is_empty() {
                    splice.line - 1
                } else {
                    source.line_at(splice.range.end - 1)
                };
                finish_end(&source, hunk, &mut splice);
                notes.extend(how.words().map(|words| format!("{what} matched {words}")));
                splices.push(splice);
            }
            Err(Failure::Miss(miss)) => {
                let what = format!("{what}: its old text");
                failures.push(told(name, &what, &source, &miss, redactor).message);
            }
            Err(Failure::Anchor { text, found: 0 }) => {
                failures.push(format!("{what}: `{text}` is not in `{name}` after line {from}"));
            }
            Err(Failure::Anchor { text, found }) => {
                failures.push(format!(
                    "{what}: `{text}` is in `{name}` {found} times; name what it lies in first"
                ));
            }
            Err(Failure::Nowhere) => failures.push(format!(
                "{what} only adds lines and does not say where; give a line of the file before or after them"
            )),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let line = splices.iter().map(|splice| splice.line).min().unwrap_or(1);
    let count = splices.len();
    let text = spliced(text, splices).ok_or_else(|| vec!["two hunks overlap".to_owned()])?;
    Ok(Replaced { text, line, count, notes })
}

enum Failure {
    Miss(Miss),
    Anchor { text: String, found: usize },
    Nowhere,
}

fn place(source: &Source<'_>, hunk: &Hunk, from: usize) -> Result<(Splice, Tolerance), Failure> {
    let old: Vec<&str> = hunk.old().iter().map(|line| line.text.as_str()).collect();
    let new: Vec<&str> = hunk.new_side().iter().map(|line| line.text.as_str()).collect();
    let first = after_anchors(source, hunk, from)?;
    if old.is_empty() {
        let at = match (hunk.start, hunk.anchors.is_empty()) {
            (Some(start), _) => start.min(source.lines.len()),
            (None, true) => source.lines.len(),
            (None, false) => return Err(Failure::Nowhere),
        };
        return Ok((inserted(source, at, &new), Tolerance::Exact));
    }
    // What stands exactly where the patch says is beyond doubt.
    if let Some(start) = hunk.start.and_then(|start| start.checked_sub(1))
        && is_at(source, start, &hunk.old())
    {
        return matching::splice_at(source, start, &old, &new)
            .map(|splice| (splice, Tolerance::Exact))
            .ok_or(Failure::Nowhere);
    }
    let joined = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    let (search, replacement) = (joined(&old), joined(&new));
    let wanted = Wanted {
        search: &search,
        replacement: &replacement,
        unit: Unit::Lines,
        // After a context line the first place is the one that is meant.
        amount: if hunk.anchors.is_empty() { Amount::One } else { Amount::Every },
        hint: hunk.start,
        within: (hunk.start.is_none()).then_some(first + 1..source.lines.len() + 1),
    };
    let mut found = matching::find(source, &wanted).map_err(Failure::Miss)?;
    if hunk.at_end {
        found.splices.retain(|splice| splice.range.end == source.text.len());
    }
    let how = found.how;
    found
        .splices
        .into_iter()
        .next()
        .map(|splice| (splice, how))
        .ok_or(Failure::Miss(Miss::NotFound { nearest: None }))
}

/// The line (from 0) from which a hunk is looked for. The first context line must be unique; those after it are the next
/// of their kind.
fn after_anchors(source: &Source<'_>, hunk: &Hunk, from: usize) -> Result<usize, Failure> {
    let mut first = from;
    for (nth, anchor) in hunk.anchors.iter().enumerate() {
        let matches =
            |index: &usize| source.lines.get(*index).is_some_and(|line| line.text.trim() == anchor.trim());
        let found: Vec<usize> = (first..source.lines.len()).filter(matches).collect();
        match found.as_slice() {
            [] => return Err(Failure::Anchor { text: anchor.clone(), found: 0 }),
            [at] => first = *at + 1,
            [at, ..] if nth > 0 => first = *at + 1,
            many => return Err(Failure::Anchor { text: anchor.clone(), found: many.len() }),
        }
    }
    // The context line itself may be repeated as the first line of the hunk.
    Ok(if hunk.anchors.is_empty() { first } else { first.saturating_sub(1) })
}

fn is_at(source: &Source<'_>, start: usize, old: &[&HunkLine]) -> bool {
    let Some(window) = source.lines.get(start..start + old.len()) else { return false };
    window.iter().zip(old).all(|(line, old)| line.text == old.text && (!old.unended || line.end.is_empty()))
}

/// Lines added before the line `at` (from 0), which may be the end of the file.
fn inserted(source: &Source<'_>, at: usize, new: &[&str]) -> Splice {
    let offset = source.line_range_bytes(at, at).start;
    let added = new.join(source.line_end);
    let text = if at == source.lines.len() && !source.has_final_newline() {
        format!("{}{added}", source.line_end)
    } else {
        format!("{added}{}", source.line_end)
    };
    Splice { range: offset..offset, text, line: at + 1 }
}

/// Gives the end of the file the form the patch asks for, where it says anything about it.
fn finish_end(source: &Source<'_>, hunk: &Hunk, splice: &mut Splice) {
    let is_last = splice.range.end == source.text.len();
    if !is_last || !hunk.lines.iter().any(|line| line.unended) {
        return;
    }
    let unended = hunk.lines.iter().rfind(|line| line.side != Side::Old).is_some_and(|line| line.unended);
    let ended = splice.text.strip_suffix(source.line_end).filter(|_| source.has_final_newline());
    let body = ended.unwrap_or(&splice.text).to_owned();
    let has_lines = hunk.lines.iter().any(|line| line.side != Side::Old);
    if !has_lines {
        // The lines before keep their line break.
        splice.range.start = source.line_range_bytes(splice.line - 1, splice.line).start;
        splice.text = String::new();
        return;
    }
    splice.text = if unended { body } else { format!("{body}{}", source.line_end) };
}
