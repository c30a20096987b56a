//! Text that is in the file as it was written, but perhaps for the line ends.

use std::borrow::Cow;
use std::ops::Range;

use super::{Source, Tolerance};

pub struct Place {
    pub range: Range<usize>,
    pub line: usize,
}

/// All places of a text. Overlapping ones count only where there is no other, so that one match is really one.
pub fn places(source: &Source<'_>, search: &str, how: Tolerance) -> Vec<Place> {
    let place = |range: Range<usize>| Place { line: source.line_at(range.start), range };
    if how == Tolerance::Exact {
        return ranges(source.text, search).into_iter().map(place).collect();
    }
    if !source.text.contains('\r') && !search.contains('\r') {
        return Vec::new();
    }
    let plain: String = source
        .lines
        .iter()
        .flat_map(|line| [line.text, if line.end.is_empty() { "" } else { "\n" }])
        .collect();
    let wanted = search.replace("\r\n", "\n").replace('\r', "\n");
    let mut starts = Vec::with_capacity(source.lines.len());
    let mut at = 0;
    for line in &source.lines {
        starts.push(at);
        at += line.text.len() + usize::from(!line.end.is_empty());
    }
    // An offset of the plain text in the real one. After a line's text comes its whole end.
    let real = |offset: usize| {
        let index = starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let (Some(line), Some(start)) = (source.lines.get(index), starts.get(index)) else {
            return source.text.len();
        };
        let column = offset - start;
        if column <= line.text.len() { line.start + column } else { line.stop() }
    };
    ranges(&plain, &wanted).into_iter().map(|range| place(real(range.start)..real(range.end))).collect()
}

fn ranges(text: &str, search: &str) -> Vec<Range<usize>> {
    let found: Vec<Range<usize>> = text.match_indices(search).map(|(at, _)| at..at + search.len()).collect();
    let [only] = found.as_slice() else { return found };
    let next = only.start + search.chars().next().map_or(1, char::len_utf8);
    match text.get(next..).and_then(|rest| rest.find(search)) {
        Some(at) => vec![only.clone(), next + at..next + at + search.len()],
        None => found,
    }
}

/// The replacement with the line ends of the place: models write LF, whatever the file has.
pub fn replacement(source: &Source<'_>, range: &Range<usize>, search: &str, replacement: &str) -> String {
    let matched = &source.text[range.clone()];
    if matched == search && search.contains('\r') && replacement.contains('\r') {
        return replacement.to_owned();
    }
    with_line_end(replacement, source.line_end).into_owned()
}

/// A text with other line ends.
pub fn with_line_end<'a>(text: &'a str, line_end: &str) -> Cow<'a, str> {
    if !text.contains('\r') && line_end == "\n" {
        return Cow::Borrowed(text);
    }
    let plain = text.replace("\r\n", "\n");
    Cow::Owned(if line_end == "\n" { plain } else { plain.replace('\n', line_end) })
}
