//! Lines as they are compared, and where each compared character comes from.

use std::borrow::Cow;
use std::ops::Range;

use super::Tolerance;

/// A character that is compared, and the bytes of the line it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub character: char,
    pub bytes: Range<usize>,
}

/// What of a line is compared at a tolerance.
pub fn key(line: &str, how: Tolerance) -> Cow<'_, str> {
    match how {
        Tolerance::Exact | Tolerance::LineEnds => Cow::Borrowed(line),
        Tolerance::TrailingSpace => Cow::Borrowed(line.trim_end_matches(is_blank)),
        Tolerance::Indentation => Cow::Borrowed(line.trim_matches(is_blank)),
        _ => {
            let line = line.trim_matches(|character| is_blank(character) || is_odd_blank(character, how));
            let is_normal =
                line.is_ascii() && !line.contains(['\t', '\u{b}', '\u{c}']) && !line.contains("  ");
            if is_normal {
                return Cow::Borrowed(line);
            }
            Cow::Owned(pieces(line, how).iter().map(|piece| piece.character).collect())
        }
    }
}

/// A line's characters with runs of blanks as one, and at [`Tolerance::LookAlikes`] with plain characters in the
/// place of those that look like them.
pub fn pieces(line: &str, how: Tolerance) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::with_capacity(line.len());
    for (start, character) in line.char_indices() {
        let bytes = start..start + character.len_utf8();
        if is_blank(character) || is_odd_blank(character, how) {
            match out.last_mut() {
                Some(last) if last.character == ' ' && last.bytes.end == start => last.bytes.end = bytes.end,
                _ => out.push(Piece { character: ' ', bytes }),
            }
            continue;
        }
        if how < Tolerance::LookAlikes {
            out.push(Piece { character, bytes });
            continue;
        }
        match look_alike(character) {
            LookAlike::Nothing => {}
            LookAlike::Itself => out.push(Piece { character, bytes }),
            LookAlike::Of(plain) => {
                out.extend(plain.chars().map(|character| Piece { character, bytes: bytes.clone() }));
            }
        }
    }
    out
}

pub fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\u{b}' | '\u{c}')
}

fn is_odd_blank(character: char, how: Tolerance) -> bool {
    how >= Tolerance::LookAlikes
        && matches!(
            character,
            '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
}

enum LookAlike {
    Itself,
    Nothing,
    Of(&'static str),
}

/// What a character is taken for on a keyboard.
fn look_alike(character: char) -> LookAlike {
    if character.is_ascii() {
        return LookAlike::Itself;
    }
    LookAlike::Of(match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{ff07}' => "'",
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{ff02}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => "-",
        '\u{2026}' => "...",
        '\u{2044}' | '\u{2215}' => "/",
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        '\u{ff0c}' => ",",
        '\u{ff1a}' => ":",
        '\u{ff1b}' => ";",
        '\u{ff01}' => "!",
        '\u{ff1f}' => "?",
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => return LookAlike::Nothing,
        _ => return LookAlike::Itself,
    })
}

/// The blanks a line begins with.
pub fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(is_blank).len()]
}

pub fn is_blank_line(line: &str) -> bool {
    line.chars().all(is_blank)
}
