//! Reasoning that a model writes into its text: `<think>…</think>` before the answer.
//!
//! Servers that know their model send reasoning apart; many local ones pass on whatever the model wrote. Only
//! what stands first in an answer is reasoning: later the same words may be the subject of the answer.

use crate::wire::assembly::Assembly;

/// How reasoning opens and closes.
const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Parts the text of one answer into reasoning and words, however it is cut into pieces.
#[derive(Debug, Default)]
pub(super) struct ThinkTags {
    place: Place,
    /// Text whose meaning the next piece decides.
    held: String,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Nothing but white space so far.
    #[default]
    Start,
    /// Behind a tag, where white space belongs to neither reasoning nor words.
    Opened {
        close: &'static str,
    },
    Reasoning {
        close: &'static str,
    },
    Closed,
    Words,
}

impl ThinkTags {
    pub(super) fn push(&mut self, text: &str, out: &mut Assembly) {
        if let (Place::Words, true) = (self.place, self.held.is_empty()) {
            return out.text(text);
        }
        self.held.push_str(text);
        while self.step(out) {}
    }

    /// No text follows for now: what was held back is what it looks like.
    pub(super) fn flush(&mut self, out: &mut Assembly) {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Start => {
                out.text(&held);
                // White space alone decides nothing.
                if !held.trim().is_empty() {
                    self.place = Place::Words;
                }
            }
            Place::Opened { .. } | Place::Closed => {}
            Place::Reasoning { .. } => out.reasoning(&held),
            Place::Words => out.text(&held),
        }
    }

    /// Passes on what is sure; true when the place changed and more may be.
    fn step(&mut self, out: &mut Assembly) -> bool {
        match self.place {
            Place::Start => {
                let begun = self.held.trim_start();
                let opened = TAGS.iter().find(|(open, _)| begun.starts_with(open));
                if let Some((open, close)) = opened {
                    self.held = begun[open.len()..].to_owned();
                    self.place = Place::Opened { close };
                    return true;
                }
                if TAGS.iter().any(|(open, _)| open.starts_with(begun)) {
                    return false;
                }
                self.place = Place::Words;
                true
            }
            Place::Opened { close } => self.skip_white_space(Place::Reasoning { close }),
            Place::Reasoning { close } => {
                let Some(end) = self.held.find(close) else {
                    // White space before the end goes with the tag.
                    let sure = self.held[..self.held.len() - unfinished(&self.held, close)].trim_end().len();
                    out.reasoning(&self.held[..sure]);
                    self.held.drain(..sure);
                    return false;
                };
                out.reasoning(self.held[..end].trim_end());
                out.end_reasoning(None);
                self.held.drain(..end + close.len());
                self.place = Place::Closed;
                true
            }
            Place::Closed => self.skip_white_space(Place::Words),
            Place::Words => {
                out.text(&std::mem::take(&mut self.held));
                false
            }
        }
    }

    /// Goes on to the next place at the first character that is no white space.
    fn skip_white_space(&mut self, next: Place) -> bool {
        let white = self.held.len() - self.held.trim_start().len();
        self.held.drain(..white);
        if self.held.is_empty() {
            return false;
        }
        self.place = next;
        true
    }
}

/// How many bytes at the end of a text may be the beginning of `tag`.
fn unfinished(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::model::Delta;

    /// The deltas of a text that arrives in pieces of the given number of characters.
    fn deltas(text: &str, size: usize) -> String {
        let (mut tags, mut out) = (ThinkTags::default(), Assembly::new(None));
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            tags.push(&piece.iter().collect::<String>(), &mut out);
        }
        tags.flush(&mut out);
        let told = std::iter::from_fn(|| out.pop()).map(|delta| match delta {
            Delta::Text(text) => format!("text {text:?}"),
            Delta::Reasoning(text) => format!("reasoning {text:?}"),
            Delta::ReasoningEnd { .. } => "end".to_owned(),
            other => format!("{other:?}"),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&deltas(text, usize::MAX));
        for size in 1..=text.chars().count() {
            expect.assert_eq(&deltas(text, size));
        }
    }

    #[test]
    fn reasoning_before_the_answer_is_reasoning() {
        check(
            "<think>\nSo é < ü.</thin\n</think>\n\nIt is.",
            expect![[r#"reasoning "So é < ü.</thin", end, text "It is.""#]],
        );
        check(" \n<thinking>a</think>b</thinking>c", expect![[r#"reasoning "a</think>b", end, text "c""#]]);
        check("<think>\n\n</think>\n\nHi", expect![[r#"text "Hi""#]]);
        check("<think>cut off</thi", expect![[r#"reasoning "cut off</thi""#]]);
        check("<think>only</think>\n", expect![[r#"reasoning "only", end"#]]);
    }

    #[test]
    fn the_same_words_later_are_words() {
        check("Use <think>a</think>.", expect![[r#"text "Use <think>a</think>.""#]]);
        check(
            "<think>a</think>b<think>c</think>",
            expect![[r#"reasoning "a", end, text "b<think>c</think>""#]],
        );
        check("<thimble> fits", expect![[r#"text "<thimble> fits""#]]);
        check("  <thin", expect![[r#"text "  <thin""#]]);
        check("\n", expect![[r#"text "\n""#]]);
    }
}
