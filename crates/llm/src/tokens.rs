//! How many tokens a text will be, estimated: close, quick, without tables or a network.
//!
//! Real tokenizers part text into words, numbers, punctuation and white space first and only then look pieces up,
//! so counting those by class comes close. The weights are fitted to `o200k_base`, and lean to the high side: a
//! context that is thought fuller than it is costs little, one that overflows costs a request.

use stepwell_protocol::{Message, Part, ToolDefinition};

/// An image is counted flat: providers bill it by size, about this for a full screen.
const IMAGE_TOKENS: u64 = 1600;

/// What the wire format adds around a message, a call or a tool.
const FRAME_TOKENS: u64 = 4;

/// Weights in hundredths of a token.
const WORD: u64 = 100;
/// Each letter of a word beyond those that nearly always share one token.
const LONG_WORD_LETTER: u64 = 16;
const SHORT_WORD: u64 = 6;
/// A change from lower to upper case inside a word often parts it.
const CASE_CHANGE: u64 = 45;
const DIGITS_PER_TOKEN: u64 = 3;
const PUNCTUATION: u64 = 66;
/// Further marks of a run: `});` is often one token.
const PUNCTUATION_RUN: u64 = 37;
const NEWLINE: u64 = 62;
const INDENT: u64 = 45;
const CJK_CHARACTER: u64 = 72;
const OTHER_CHARACTER: u64 = 52;

/// The tokens of a text.
pub fn estimate_text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hundredths = 0u64;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match CLASSES[bytes[at] as usize] {
            Class::Letter => {
                let mut changes = 0;
                let mut lower = false;
                while at < bytes.len() && CLASSES[bytes[at] as usize] == Class::Letter {
                    let is_lower = bytes[at].is_ascii_lowercase();
                    changes += u64::from(lower && !is_lower);
                    lower = is_lower;
                    at += 1;
                }
                let length = (at - start) as u64;
                hundredths +=
                    WORD + changes * CASE_CHANGE + length.saturating_sub(SHORT_WORD) * LONG_WORD_LETTER;
            }
            Class::Digit => {
                at = run(bytes, at, Class::Digit);
                hundredths += ((at - start) as u64).div_ceil(DIGITS_PER_TOKEN) * 100;
            }
            Class::Space => {
                at = run(bytes, at, Class::Space);
                // One space belongs to the word after it.
                if at - start > 1 {
                    hundredths += INDENT;
                }
            }
            Class::Newline => {
                at = run(bytes, at, Class::Newline);
                hundredths += NEWLINE;
            }
            Class::Punctuation => {
                at = run(bytes, at, Class::Punctuation);
                hundredths += PUNCTUATION + (at - start - 1) as u64 * PUNCTUATION_RUN;
            }
            Class::Wide => {
                // Three bytes that begin with E3 to ED are Chinese, Japanese or Korean, nearly without exception.
                let lead = bytes[at];
                at += match lead {
                    0xf0.. => 4,
                    0xe0.. => 3,
                    _ => 2,
                };
                hundredths += match lead {
                    0xe3..=0xed => CJK_CHARACTER,
                    0xf0.. => 2 * CJK_CHARACTER,
                    _ => OTHER_CHARACTER,
                };
            }
        }
    }
    hundredths.div_ceil(100)
}

/// The tokens of a message as it is sent, images and calls included.
pub fn estimate_message(message: &Message) -> u64 {
    FRAME_TOKENS + message.parts.iter().map(estimate_part).sum::<u64>()
}

fn estimate_part(part: &Part) -> u64 {
    match part {
        Part::Text { text } => estimate_text(text),
        Part::Reasoning { text, opaque } => {
            // Opaque reasoning is as long as what it hides; base64 takes about four bytes for three.
            let hidden = opaque.as_ref().map_or(0, |opaque| opaque.to_string().len() as u64 / 8);
            estimate_text(text).max(hidden)
        }
        Part::Image { .. } => IMAGE_TOKENS,
        Part::ToolCall { call } => {
            FRAME_TOKENS + estimate_text(&call.name) + estimate_text(&call.arguments.to_string())
        }
        Part::ToolResult { result } => {
            FRAME_TOKENS + estimate_text(&result.output) + result.images.len() as u64 * IMAGE_TOKENS
        }
    }
}

/// The tokens of a tool as it is offered.
pub fn estimate_tool(tool: &ToolDefinition) -> u64 {
    2 * FRAME_TOKENS
        + estimate_text(&tool.name)
        + estimate_text(&tool.description)
        + estimate_text(&tool.input_schema.to_string())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    Newline,
    Punctuation,
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Punctuation; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t' => Class::Space,
            b'\n' | b'\r' => Class::Newline,
            0x80.. => Class::Wide,
            _ => Class::Punctuation,
        };
        byte += 1;
    }
    classes
};

fn run(bytes: &[u8], start: usize, class: Class) -> usize {
    let length = bytes[start..].iter().position(|byte| CLASSES[*byte as usize] != class);
    length.map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
