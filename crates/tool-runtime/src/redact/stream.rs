//! Redaction of text that arrives in pieces.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Known, shapes};

/// A line longer than this and [`OVERLAP`] is cut for the search.
const PIECE: usize = 64 * 1024;
/// How far a search looks beyond the place of a cut, so that no secret is cut in two: longer than any secret.
const OVERLAP: usize = 8 * 1024;
const LONGEST_LINE: usize = PIECE + OVERLAP;
const KEY_HIDDEN: &str = "[redacted:private-key]";
const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_MARK: &str = "PRIVATE KEY-----";

/// Gives text back line by line; an unfinished line waits for its end. What comes out does not depend on how
/// the text was cut into pieces.
#[derive(Debug)]
pub struct StreamRedactor {
    known: Arc<Known>,
    pending: String,
    in_key: bool,
}

impl StreamRedactor {
    pub(super) fn new(known: Arc<Known>) -> Self {
        Self { known, pending: String::new(), in_key: false }
    }

    /// Takes a piece and returns what is sure by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.pending.push_str(piece);
        let Some(end) = self.pending.rfind(['\n', '\r']) else {
            return self.cut_long_line(String::new());
        };
        let rest = self.pending.split_off(end + 1);
        let block = std::mem::replace(&mut self.pending, rest);
        let out = self.redact_block(&block);
        self.cut_long_line(out)
    }

    /// Returns the rest. Text pushed later begins anew.
    pub fn finish(&mut self) -> String {
        let out = self.redact_rest();
        self.in_key = false;
        out
    }

    /// Takes a whole line with its end and returns it; a line of a private key is a mark, not nothing.
    pub fn push_line(&mut self, line: &str) -> String {
        let mut out = self.push(line);
        out.push_str(&self.redact_rest());
        let end = &line[line.trim_end_matches(['\n', '\r']).len()..];
        if out.is_empty() && !line.is_empty() { format!("{KEY_HIDDEN}{end}") } else { out }
    }

    /// Takes note of a line that nobody is shown: a private key may begin or end with it.
    pub fn skip_line(&mut self, line: &str) {
        self.key_line(line);
    }

    fn redact_rest(&mut self) -> String {
        let block = std::mem::take(&mut self.pending);
        self.redact_block(&block)
    }

    fn cut_long_line(&mut self, mut out: String) -> String {
        while self.pending.len() > LONGEST_LINE {
            let cut = self.piece_end(&self.pending);
            let rest = self.pending.split_off(cut);
            let piece = std::mem::replace(&mut self.pending, rest);
            out.push_str(&self.redact_block(&piece));
        }
        out
    }

    /// Redacts whole lines; one without an end only at the end of the text.
    fn redact_block(&mut self, block: &str) -> String {
        if !self.in_key && block.len() <= LONGEST_LINE && !block.contains(KEY_MARK) {
            return self.redact_lines(block).into_owned();
        }
        let mut out = String::with_capacity(block.len());
        let mut clean_from = 0;
        let mut at = 0;
        for line in block.split_inclusive(['\n', '\r']) {
            let end = at + line.len();
            while at < end {
                let start = at;
                // Long lines are cut here just as they are while they stream in.
                let long = end - start > LONGEST_LINE;
                at = if long { start + self.piece_end(&block[start..end]) } else { end };
                let key_line = self.key_line(&block[start..at]);
                let cut_before = start > clean_from && (long || end - start < line.len());
                if key_line == KeyLine::No && !cut_before {
                    continue;
                }
                out.push_str(&self.redact_lines(&block[clean_from..start]));
                clean_from = start;
                match key_line {
                    KeyLine::Begin(keep) => {
                        let piece = &block[start..at];
                        out.push_str(&self.redact_lines(&piece[..keep]));
                        out.push_str(KEY_HIDDEN);
                        out.push_str(&piece[piece.trim_end_matches(['\n', '\r']).len()..]);
                        clean_from = at;
                    }
                    KeyLine::Inside => clean_from = at,
                    KeyLine::No => {}
                }
            }
        }
        out.push_str(&self.redact_lines(&block[clean_from..]));
        out
    }

    fn key_line(&mut self, line: &str) -> KeyLine {
        let text = line.trim();
        if self.in_key {
            if text.starts_with("-----END ") {
                self.in_key = false;
                return KeyLine::Inside;
            }
            let material =
                text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=:,- ".contains(&byte));
            if material && text.len() <= 128 {
                return KeyLine::Inside;
            }
            self.in_key = false;
        }
        let begin = line.find(KEY_BEGIN).filter(|begin| line[*begin..].contains(KEY_MARK));
        match begin {
            // A key on one line is a shape like others.
            Some(begin) if !line[begin..].contains("-----END ") => {
                self.in_key = true;
                KeyLine::Begin(begin)
            }
            _ => KeyLine::No,
        }
    }

    /// Where a long line is cut: in a gap between words where there is one, and never within a secret.
    fn piece_end(&self, line: &str) -> usize {
        let window = &line[..line.floor_char_boundary(LONGEST_LINE)];
        let limit = window.floor_char_boundary(PIECE);
        let tail_from = window.floor_char_boundary(limit / 2);
        let gap = window[tail_from..limit].rfind([' ', '\t', ',', ';', '"']);
        let mut cut = gap.map_or(limit, |at| tail_from + at + 1);
        let mut secrets: Vec<Range<usize>> =
            self.known.places(window).chain(shapes::places(window)).collect();
        // Last first: a cut that moves before one secret may come to lie within an earlier one.
        secrets.sort_by_key(|secret| std::cmp::Reverse((secret.end, secret.start)));
        for secret in &secrets {
            if secret.start < cut && cut < secret.end {
                cut = secret.start;
            }
        }
        // One that begins the line is not put off for ever.
        let first = secrets.iter().filter(|secret| secret.start == 0).map(|secret| secret.end).max();
        if cut == 0 { first.unwrap_or(limit) } else { cut }
    }

    fn redact_lines<'a>(&self, lines: &'a str) -> Cow<'a, str> {
        match self.known.replace(lines) {
            Cow::Borrowed(lines) => shapes::replace(lines),
            Cow::Owned(lines) => Cow::Owned(shapes::replace(&lines).into_owned()),
        }
    }
}

#[derive(PartialEq, Eq)]
enum KeyLine {
    No,
    /// A key begins after this many bytes.
    Begin(usize),
    Inside,
}
