//! A file's text cut into lines once.

use std::cell::OnceCell;
use std::ops::Range;

use super::Tolerance;
use super::normal::key;
use super::windows::hashed;

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub text: &'a str,
    /// `\n`, `\r\n`, `\r`, or nothing at the end of the file.
    pub end: &'a str,
    pub start: usize,
}

impl Line<'_> {
    /// Where the next line begins.
    pub fn stop(&self) -> usize {
        self.start + self.text.len() + self.end.len()
    }
}

#[derive(Debug)]
pub struct Source<'a> {
    pub text: &'a str,
    pub lines: Vec<Line<'a>>,
    /// How most lines end.
    pub line_end: &'static str,
    /// The lines as they are compared at each tolerance, hashed; made when first needed.
    keys: [OnceCell<Vec<u64>>; 6],
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Self {
        // A lone CR ends a line only in files of old Macintoshes, which have no LF at all.
        let ends_in_cr = text.contains('\r') && !text.contains('\n');
        let lines = if ends_in_cr { split(text, '\r') } else { split(text, '\n') };
        let crlf = lines.iter().filter(|line| line.end == "\r\n").count();
        let ended = lines.iter().filter(|line| !line.end.is_empty()).count();
        let line_end = match (ends_in_cr, crlf > 0 && crlf * 2 >= ended) {
            (true, _) => "\r",
            (false, true) => "\r\n",
            (false, false) => "\n",
        };
        Self { text, lines, line_end, keys: Default::default() }
    }

    /// What is compared of each line at a tolerance.
    pub fn keys(&self, how: Tolerance) -> &[u64] {
        let made = || self.lines.iter().map(|line| hashed(&key(line.text, how))).collect();
        let slot = (how as usize).min(self.keys.len() - 1);
        self.keys.get(slot).map_or(&[], |keys| keys.get_or_init(made).as_slice())
    }

    /// The number of the line an offset lies in, from 1.
    pub fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).max(1)
    }

    /// Where a stretch of lines (from 0, the end not included) lies.
    pub fn line_range_bytes(&self, start: usize, end: usize) -> Range<usize> {
        let at = |index: usize| self.lines.get(index).map_or(self.text.len(), |line| line.start);
        at(start)..at(end).max(at(start))
    }

    /// Whether the last line has an end.
    pub fn has_final_newline(&self) -> bool {
        self.lines.last().is_none_or(|line| !line.end.is_empty())
    }
}

fn split(text: &str, end: char) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for piece in text.split_inclusive(end) {
        let (line, line_end) = match piece.strip_suffix(end) {
            Some(line) if end == '\n' && line.ends_with('\r') => {
                (&line[..line.len() - 1], &piece[line.len() - 1..])
            }
            Some(line) => (line, &piece[line.len()..]),
            None => (piece, ""),
        };
        lines.push(Line { text: line, end: line_end, start });
        start += piece.len();
    }
    lines
}

/// The lines of a text a model wrote, without their ends, and whether the last one has an end.
pub fn split_lines(text: &str) -> (Vec<&str>, bool) {
    if text.is_empty() {
        return (Vec::new(), true);
    }
    let ended = text.ends_with('\n');
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines = body.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    (lines, ended)
}
