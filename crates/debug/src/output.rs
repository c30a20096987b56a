//! The output of a program, bounded, and readable from any position.

mod traceback;

use std::collections::VecDeque;

pub(crate) use traceback::TracebackFilters;

/// Maximum number of bytes per session; older output is dropped and counted.
const MOST_KEPT: usize = 1024 * 1024;
/// Maximum chunk size in bytes; longer chunks are split on character boundaries.
const LONGEST_PIECE: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPiece {
    pub category: OutputCategory,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputCategory {
    Stdout,
    Stderr,
    /// Messages of the debugger, log points included.
    Console,
}

impl OutputCategory {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Console => "console",
        }
    }
}

/// A ring buffer of chunks. Positions count bytes from the beginning of the session and stay valid when chunks are dropped.
#[derive(Debug, Default)]
pub(crate) struct OutputBuffer {
    pieces: VecDeque<OutputPiece>,
    /// The position of the first chunk.
    begin: u64,
    end: u64,
}

impl OutputBuffer {
    pub(crate) fn push(&mut self, category: OutputCategory, mut text: &str) {
        while !text.is_empty() {
            let cut = floor_boundary(text, LONGEST_PIECE);
            self.push_piece(category, &text[..cut]);
            text = &text[cut..];
        }
    }

    fn push_piece(&mut self, category: OutputCategory, text: &str) {
        self.end += text.len() as u64;
        match self.pieces.back_mut() {
            Some(last) if last.category == category && last.text.len() + text.len() <= LONGEST_PIECE => {
                last.text.push_str(text);
            }
            _ => self.pieces.push_back(OutputPiece { category, text: text.to_owned() }),
        }
        while self.end - self.begin > MOST_KEPT as u64 {
            let Some(oldest) = self.pieces.pop_front() else { break };
            self.begin += oldest.text.len() as u64;
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the output from a position on, and how many bytes of it were dropped.
    pub(crate) fn since(&self, position: u64) -> (Vec<OutputPiece>, u64) {
        let gone = self.begin.saturating_sub(position);
        let mut at = self.begin;
        let mut found = Vec::new();
        for piece in &self.pieces {
            let end = at + piece.text.len() as u64;
            if end > position {
                let skip = usize::try_from(position.saturating_sub(at)).unwrap_or_default();
                let skip = ceil_boundary(&piece.text, skip);
                found.push(OutputPiece { category: piece.category, text: piece.text[skip..].to_owned() });
            }
            at = end;
        }
        (found, gone)
    }
}

/// Returns the last character boundary at or before `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn old_output_is_dropped_and_said_to_be() {
        let mut buffer = OutputBuffer::default();
        for number in 0..40 {
            buffer.push(OutputCategory::Stdout, &format!("{number}{}\n", "x".repeat(60_000)));
        }
        let (pieces, gone) = buffer.since(0);
        assert!(gone > 0);
        let kept: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        assert!(kept <= MOST_KEPT && kept > MOST_KEPT / 2, "{kept}");
        assert!(pieces.last().unwrap().text.starts_with("39"));
    }

    proptest! {
        #[test]
        fn what_is_pushed_is_read_from_any_point(texts in proptest::collection::vec(".{0,20}", 0..10), at in 0_u64..200) {
            let mut buffer = OutputBuffer::default();
            for text in &texts {
                buffer.push(OutputCategory::Stdout, text);
            }
            let whole = texts.concat();
            let read: String = buffer.since(at).0.into_iter().map(|piece| piece.text).collect();
            prop_assert!(whole.ends_with(&read));
            prop_assert!(read.len() as u64 <= (whole.len() as u64).saturating_sub(at));
        }
    }
}
