//! A word of a command line: what is known of it before it runs.

/// A word after the removal of quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// What the program gets, as far as it is written down; expansions stand as they were written.
    pub text: String,
    /// Whether the program gets exactly this text.
    pub literal: bool,
    /// Whether it is unsure for file name patterns or braces alone: it may become several words, none of which
    /// comes from a variable or a command.
    pub pattern: bool,
    /// Whether it begins with a `~` that the shell replaces by a home folder.
    pub tilde: bool,
    /// Whether any part of it was quoted.
    pub quoted: bool,
    /// The text with the values of variables that the same command line sets. Good for refusing, never for
    /// allowing.
    pub guess: String,
}

impl Word {
    /// A word that is exactly this text.
    pub fn exact(text: &str) -> Self {
        Self { text: text.to_owned(), literal: true, guess: text.to_owned(), ..Self::default() }
    }

    /// Words that are known only when the command runs.
    pub fn unknown() -> Self {
        Self { text: "…".to_owned(), guess: "…".to_owned(), ..Self::default() }
    }

    pub fn is(&self, text: &str) -> bool {
        self.literal && self.text == text
    }

    /// The text, where it is certain.
    pub fn known(&self) -> Option<&str> {
        self.literal.then_some(self.text.as_str())
    }

    /// The part of an option or operand behind `prefix`.
    pub fn after(&self, prefix: &str) -> Option<Self> {
        let text = self.text.strip_prefix(prefix)?.to_owned();
        let guess = self.guess.strip_prefix(prefix).unwrap_or(&text).to_owned();
        Some(Self { text, guess, tilde: false, ..self.clone() })
    }
}

/// Decodes the escapes of `$'...'`.
pub(super) fn ansi_c(text: &str) -> String {
    let mut decoded: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        let mut buffer = [0; 4];
        if character != '\\' {
            decoded.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let Some(escape) = rest.chars().next() else {
            decoded.push(b'\\');
            break;
        };
        rest = &rest[escape.len_utf8()..];
        match escape {
            'a' => decoded.push(7),
            'b' => decoded.push(8),
            'e' | 'E' => decoded.push(27),
            'f' => decoded.push(12),
            'n' => decoded.push(b'\n'),
            'r' => decoded.push(b'\r'),
            't' => decoded.push(b'\t'),
            'v' => decoded.push(11),
            '\\' | '\'' | '"' | '?' => decoded.push(escape as u8),
            '0'..='7' => {
                let more = digits(rest, 8, 2);
                let number = u32::from_str_radix(&format!("{escape}{more}"), 8).unwrap_or(0);
                rest = &rest[more.len()..];
                decoded.push((number & 0xff) as u8);
            }
            'x' => {
                let hex = digits(rest, 16, 2);
                if hex.is_empty() {
                    decoded.extend_from_slice(b"\\x");
                } else {
                    decoded.push(u8::from_str_radix(hex, 16).unwrap_or(0));
                    rest = &rest[hex.len()..];
                }
            }
            'u' | 'U' => {
                let hex = digits(rest, 16, if escape == 'u' { 4 } else { 8 });
                let character = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
                match character {
                    Some(character) => {
                        decoded.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                    }
                    None => decoded.extend_from_slice(&[b'\\', escape as u8]),
                }
                rest = &rest[hex.len()..];
            }
            'c' => {
                if let Some(control) = rest.chars().next() {
                    rest = &rest[control.len_utf8()..];
                    decoded.push((control.to_ascii_uppercase() as u32 as u8) ^ 0x40);
                }
            }
            other => {
                decoded.push(b'\\');
                decoded.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    // A NUL ends the string for the program that gets it.
    if let Some(end) = decoded.iter().position(|byte| *byte == 0) {
        decoded.truncate(end);
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The digits at the beginning, at most `longest`.
fn digits(text: &str, radix: u32, longest: usize) -> &str {
    let end = text.chars().take(longest).take_while(|digit| digit.is_digit(radix)).count();
    &text[..end]
}

/// Whether the text could name a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
