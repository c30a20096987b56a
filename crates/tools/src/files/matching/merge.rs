//! What a matched stretch of lines becomes: the change from search to replacement, made on the lines of the file.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::indentation::IndentMap;
use super::normal::{Piece, indent, is_blank, is_blank_line, key, pieces};
use super::{Source, Splice, Tolerance};

/// A line of the outcome.
enum Out<'a> {
    /// A line of the file, by its index.
    Kept(usize),
    New(std::borrow::Cow<'a, str>),
}

/// Replaces the lines of the file that begin at `start` and match `search`. Lines that the replacement leaves as they
/// are in the search keep the bytes of the file.
pub fn lines(
    source: &Source<'_>,
    start: usize,
    search: &[&str],
    replacement: &[&str],
    how: Tolerance,
) -> Result<Splice, &'static str> {
    let file = &source.lines[start..start + search.len()];
    let mut out: Vec<Out<'_>> = Vec::with_capacity(replacement.len());
    if how <= Tolerance::LineEnds {
        out.extend(replacement.iter().map(|line| Out::New((*line).into())));
    } else {
        let pairs = || search.iter().copied().zip(file.iter().map(|line| line.text));
        let same = pairs().filter(|(one, other)| key(one, how) == key(other, how));
        let map = IndentMap::new(same).ok_or("its indentation does not follow that of the file")?;
        let as_is = how == Tolerance::TrailingSpace || map.is_already_that_of_the_file(replacement);
        let moved = |line: &str| -> Result<String, &'static str> {
            if as_is || is_blank_line(line) {
                return Ok(line.to_owned());
            }
            let indent = indent(line);
            let to =
                map.translate(indent).ok_or("the new lines cannot be given the indentation of the file")?;
            Ok(format!("{to}{}", &line[indent.len()..]))
        };
        for op in capture_diff_slices(Algorithm::Myers, search, replacement) {
            let (old, new) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                out.extend(old.map(|index| Out::Kept(start + index)));
                continue;
            }
            if old.clone().any(|index| key(search[index], how) != key(file[index].text, how)) {
                return Err("the file has other text in the lines that would change");
            }
            let paired = old.len() == new.len() && how >= Tolerance::WhiteSpace;
            for (nth, index) in new.clone().enumerate() {
                let line = moved(replacement[index])?;
                let line = match old.clone().nth(nth).filter(|_| paired) {
                    Some(at) => within_line(file[at].text, search[at], &line, how),
                    None => line,
                };
                out.push(Out::New(line.into()));
            }
        }
    }
    Ok(splice(source, start, search.len(), &out))
}

fn splice(source: &Source<'_>, start: usize, count: usize, out: &[Out<'_>]) -> Splice {
    let mut range = source.line_range_bytes(start, start + count);
    let last_has_end = source.lines.get(start + count - 1).is_none_or(|line| !line.end.is_empty());
    let mut text = String::new();
    for (nth, line) in out.iter().enumerate() {
        let (line, end) = match line {
            Out::Kept(index) => (source.lines[*index].text, source.lines[*index].end),
            Out::New(line) => (line.as_ref(), source.line_end),
        };
        let end = if end.is_empty() { source.line_end } else { end };
        text.push_str(line);
        // A file without a final line break stays one.
        if nth + 1 < out.len() || last_has_end {
            text.push_str(end);
        }
    }
    if out.is_empty() && !last_has_end && start > 0 {
        range.start -= source.lines[start - 1].end.len();
    }
    Splice { range, text, line: start + 1 }
}

/// A changed line: what stays the same at its beginning and end keeps the characters of the file.
fn within_line(file: &str, search: &str, replacement: &str, how: Tolerance) -> String {
    let own_indent = indent(replacement);
    let trim = |line: &'_ str| -> String { line.trim_matches(is_blank).to_owned() };
    let (file, search, body) = (trim(file), trim(search), replacement[own_indent.len()..].to_owned());
    format!("{own_indent}{}", keep_ends(&file, &pieces(&file, how), &search, &pieces(&search, how), &body))
}

/// The replacement of `search`, whose characters match those of `file` one by one, with the file's own characters
/// where the two begin and end alike.
pub fn keep_ends(
    file: &str,
    file_pieces: &[Piece],
    search: &str,
    search_pieces: &[Piece],
    replacement: &str,
) -> String {
    if file_pieces.len() != search_pieces.len() {
        return replacement.to_owned();
    }
    let prefix: usize = search
        .chars()
        .zip(replacement.chars())
        .take_while(|(one, other)| one == other)
        .map(|(character, _)| character.len_utf8())
        .sum();
    let (search_rest, replacement_rest) = (&search[prefix..], &replacement[prefix..]);
    let suffix: usize = search_rest
        .chars()
        .rev()
        .zip(replacement_rest.chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(character, _)| character.len_utf8())
        .sum();
    let head = search_pieces.iter().take_while(|piece| piece.bytes.end <= prefix).count();
    let tail = search_pieces
        .iter()
        .skip(head)
        .rev()
        .take_while(|piece| piece.bytes.start >= search.len() - suffix)
        .count();
    let head_end = |pieces: &[Piece]| if head == 0 { 0 } else { pieces[head - 1].bytes.end };
    let tail_start = |pieces: &[Piece], whole: &str| {
        if tail == 0 { whole.len() } else { pieces[pieces.len() - tail].bytes.start }
    };
    let kept_suffix = search.len() - tail_start(search_pieces, search);
    format!(
        "{}{}{}",
        &file[..head_end(file_pieces)],
        &replacement[head_end(search_pieces)..replacement.len() - kept_suffix],
        &file[tail_start(file_pieces, file)..]
    )
}
