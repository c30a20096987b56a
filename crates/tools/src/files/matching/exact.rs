//! Text that is in the file as it was written, but perhaps for the line ends.

use std::borrow::Cow;
use std::ops::Range;

use super::normal::{is_blank, is_blank_line};
use super::variants::Variant;
use super::{Source, Tolerance};

pub struct Place {
    pub range: Range<usize>,
    pub line: usize,
}

/// All places of a text. Overlapping ones count only where there is no other, so that one match is really one.
pub fn places(source: &Source<'_>, search: &str, how: Tolerance) -> Vec<Place> {
    let place = |range: Range<usize>| Place { line: source.line_at(range.start), range };
    // An LF must not be found within a CR LF: half a line end would stay behind.
    if how == Tolerance::Exact
        && source.text.contains('\r')
        && search.contains('\n')
        && !search.contains('\r')
    {
        return Vec::new();
    }
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

/// The blanks before a match, when there is nothing else before it on its line.
fn blanks_before<'a>(source: &Source<'a>, range: &Range<usize>) -> &'a str {
    let start = source.lines.get(source.line_at(range.start) - 1).map_or(0, |line| line.start);
    let before = source.text.get(start..range.start).unwrap_or_default();
    if is_blank_line(before) { before } else { "" }
}

/// Drops places where a search that begins with blanks matches only a part of a line's indentation, when there are
/// better ones or when the replacement has several lines: what is deeper than the search says is a matter of indentation.
pub fn keep_whole_indentations(source: &Source<'_>, variant: &Variant<'_>, places: &mut Vec<Place>) {
    if !variant.search.starts_with(is_blank) {
        return;
    }
    let is_whole = |place: &Place| blanks_before(source, &place.range).is_empty();
    let is_long = variant.replacement.trim_end_matches(['\r', '\n']).contains('\n');
    if is_long || places.iter().any(is_whole) {
        places.retain(is_whole);
    }
}

/// Whether a search of one line begins behind the indentation of its line, and the replacement goes on further left: it
/// cannot be told whether these lines are meant to stand there or were written without indentation like the first.
pub fn leaves_the_margin(source: &Source<'_>, range: &Range<usize>, variant: &Variant<'_>) -> bool {
    let before = blanks_before(source, range);
    let is_one_line = !variant.search.trim_end_matches(['\r', '\n']).contains('\n');
    if before.is_empty() || !is_one_line || variant.search.starts_with(is_blank) {
        return false;
    }
    variant.replacement.lines().skip(1).any(|line| !is_blank_line(line) && !line.starts_with(before))
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
