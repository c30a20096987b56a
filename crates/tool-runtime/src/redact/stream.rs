//! Redaction of text that arrives in pieces.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Known, shapes};

/// A line longer than this is cut for the search, at a place where no token goes on.
const LONGEST_LINE: usize = 64 * 1024;
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
        let block = std::mem::take(&mut self.pending);
        let out = self.redact_block(&block);
        self.in_key = false;
        out
    }

    fn cut_long_line(&mut self, mut out: String) -> String {
        while self.pending.len() > LONGEST_LINE {
            let cut = piece_end(&self.pending);
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
                at = if long { start + piece_end(&block[start..end]) } else { end };
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
                        out.push_str("[redacted:private-key]");
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

/// Where a long line is cut: after the last character in its first part that no token contains.
fn piece_end(line: &str) -> usize {
    let mut limit = LONGEST_LINE.min(line.len());
    while !line.is_char_boundary(limit) {
        limit -= 1;
    }
    let tail_from = (0..=limit / 2).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
    let boundary = line[tail_from..limit].rfind([' ', '\t', ',', ';', '"']);
    boundary.map_or(limit, |at| tail_from + at + 1)
}
