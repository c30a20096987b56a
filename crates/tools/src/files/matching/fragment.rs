//! A piece of one line, with other white space or look-alike characters.

use super::merge::keep_ends;
use super::normal::{Piece, is_blank, pieces};
use super::{Source, Splice, Tolerance};

/// Less than this says too little to be matched freely.
const SHORTEST: usize = 4;
/// More places than this are not worth counting.
const MOST_PLACES: usize = 100;

/// The places within lines that match a search of one line.
pub fn places(source: &Source<'_>, search: &str, replacement: &str, how: Tolerance) -> Vec<Splice> {
    let wanted = search.trim_matches(is_blank);
    let body = replacement.trim_matches(is_blank);
    if wanted.contains('\n') || wanted.chars().count() < SHORTEST || body.contains('\n') {
        return Vec::new();
    }
    let search_pieces = pieces(wanted, how);
    let search_key: String = search_pieces.iter().map(|piece| piece.character).collect();
    let first_word = wanted.split(is_blank).next().unwrap_or_default();
    let mut found: Vec<Splice> = Vec::new();
    for (index, line) in source.lines.iter().enumerate() {
        let can_match = match how {
            Tolerance::LookAlikes => !line.text.is_ascii() || !wanted.is_ascii(),
            _ => line.text.contains(first_word),
        };
        if !can_match || found.len() > MOST_PLACES {
            continue;
        }
        let line_pieces = pieces(line.text, how);
        let key: String = line_pieces.iter().map(|piece| piece.character).collect();
        let (mut first, mut counted) = (0, 0);
        for (at, _) in key.match_indices(&search_key).take(MOST_PLACES + 1) {
            first += key[counted..at].chars().count();
            counted = at;
            let matched = &line_pieces[first..first + search_pieces.len()];
            if !stands_alone(&line_pieces, first, first + search_pieces.len()) {
                continue;
            }
            let (Some(begin), Some(end)) = (matched.first(), matched.last()) else { continue };
            let local = begin.bytes.start..end.bytes.end;
            let moved: Vec<Piece> = matched
                .iter()
                .map(|piece| Piece {
                    character: piece.character,
                    bytes: piece.bytes.start - local.start..piece.bytes.end - local.start,
                })
                .collect();
            let text = keep_ends(&line.text[local.clone()], &moved, wanted, &search_pieces, body);
            found.push(Splice {
                range: line.start + local.start..line.start + local.end,
                text,
                line: index + 1,
            });
        }
    }
    found
}

/// Whether a match does not begin or end in the middle of a word.
fn stands_alone(line: &[Piece], start: usize, end: usize) -> bool {
    let is_word = |index: usize| {
        line.get(index).is_some_and(|piece| piece.character.is_alphanumeric() || piece.character == '_')
    };
    let cuts = |at: usize| at > 0 && is_word(at - 1) && is_word(at);
    !cuts(start) && !cuts(end)
}
