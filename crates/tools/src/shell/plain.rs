//! What a terminal would show, as plain text: no colours, no titles, no cursor.

use stepwell_workspace::process::TextFilter;

/// Takes escape sequences out of text that arrives in pieces.
#[derive(Debug)]
pub(super) struct Plain {
    state: Escape,
    from: From,
}

/// What the text was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Every line ends with a carriage return and a line feed, and one that is written over begins anew.
    Terminal,
    /// Carriage returns are part of the text.
    Pipe,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Begun,
    /// `ESC [` up to a letter.
    Control,
    /// `ESC ]` and others up to BEL or `ESC \`.
    Text,
    TextBegun,
    /// One more character belongs to it.
    One,
    /// After a carriage return: a line feed makes it a line's end.
    Return,
}

impl TextFilter for Plain {
    fn push(&mut self, text: &str) -> String {
        if self.state == Escape::None && !text.bytes().any(|byte| self.is_special(byte)) {
            return text.to_owned();
        }
        let mut plain = String::with_capacity(text.len());
        for character in text.chars() {
            self.character(character, &mut plain);
        }
        plain
    }

    fn finish(&mut self) -> String {
        self.state = Escape::None;
        String::new()
    }
}

impl Plain {
    pub(super) fn new(from: From) -> Self {
        Self { state: Escape::None, from }
    }

    /// Whether a byte may begin what is not plain; 0x9b is the second of a control character's two.
    fn is_special(&self, byte: u8) -> bool {
        matches!(byte, 0x1b | 0x9b | 0x08 | 0x07 | 0) || (byte == b'\r' && self.from == From::Terminal)
    }

    fn character(&mut self, character: char, plain: &mut String) {
        self.state = match (self.state, character) {
            (Escape::Return, '\n') => {
                plain.push('\n');
                Escape::None
            }
            (Escape::Return, other) => {
                // The line is written over; what was there stays readable as a line of its own.
                plain.push('\n');
                self.state = Escape::None;
                return self.character(other, plain);
            }
            (Escape::None, '\u{1b}') => Escape::Begun,
            (Escape::None, '\u{9b}') | (Escape::Begun, '[') => Escape::Control,
            (Escape::None, '\r') if self.from == From::Terminal => Escape::Return,
            (Escape::None, other) => {
                match other {
                    '\u{8}' => drop(plain.pop()),
                    '\u{7}' | '\0' => {}
                    other => plain.push(other),
                }
                Escape::None
            }
            (Escape::Begun, ']' | 'P' | 'X' | '^' | '_') => Escape::Text,
            (Escape::Begun, '(' | ')' | '#' | '%' | ' ') => Escape::One,
            (Escape::Text | Escape::TextBegun, '\u{1b}') => Escape::TextBegun,
            (Escape::Begun | Escape::One, _)
            | (Escape::Control, '\u{40}'..='\u{7e}')
            | (Escape::Text, '\u{7}')
            | (Escape::TextBegun, '\\') => Escape::None,
            (Escape::Control, _) => Escape::Control,
            (Escape::Text | Escape::TextBegun, _) => Escape::Text,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S14: what steers a terminal is gone, wherever the pieces are cut.
    #[test]
    fn escapes_are_taken_out_wherever_the_text_is_cut() {
        let text = "a\u{1b}[31mred\u{1b}[0m\r\n\u{1b}]52;c;c2VjcmV0\u{7}b\u{1b}]0;title\u{1b}\\c\u{1b}(Bd 10%\r 20%\r\nx\u{8}y\u{7}";
        let whole = "ared\nbcd 10%\n 20%\ny";
        for cut in 0..=text.len() {
            if !text.is_char_boundary(cut) {
                continue;
            }
            let mut plain = Plain::new(From::Terminal);
            let mut shown = plain.push(&text[..cut]) + &plain.push(&text[cut..]);
            shown.push_str(&plain.finish());
            // A backspace at the cut cannot reach what is gone already.
            assert!(shown == whole || shown.replace("xy", "y") == whole, "{cut}: {shown:?}");
        }
        let mut pipe = Plain::new(From::Pipe);
        assert_eq!(pipe.push("a\r\n\u{1b}[2Jb\u{1b}]0;x\u{7}\rc"), "a\r\nb\rc");
        assert_eq!(pipe.push("中文 plain"), "中文 plain");
    }
}
