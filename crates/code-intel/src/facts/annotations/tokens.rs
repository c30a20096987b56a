//! The words and signs of C and C++, as far as it takes to tell declarations apart.

/// A word, a sign or a literal of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::facts) enum Token {
    Word,
    Sign(u8),
    /// `::`.
    Path,
    Literal,
    /// `#if` and its like; `#else` and its like; `#endif`.
    If,
    Else,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::facts) struct Piece {
    pub token: Token,
    pub start: usize,
    pub end: usize,
}

pub(in crate::facts) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// All words, signs and literals of a text, without its comments and most of its directives.
pub(in crate::facts) fn pieces(text: &str) -> Vec<Piece> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut is_line_start = true;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let token = match byte {
            b'\n' => {
                is_line_start = true;
                at += 1;
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if next == b'/' => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if next == b'*' => {
                at = text
                    .get(at + 2..)
                    .and_then(|rest| rest.find("*/"))
                    .map_or(bytes.len(), |end| at + end + 4);
                continue;
            }
            b'#' if is_line_start => {
                at = line_end(bytes, at);
                let word = text.get(start + 1..at).unwrap_or_default().trim_start();
                let token = if word.starts_with("if") {
                    Token::If
                } else if word.starts_with("el") {
                    Token::Else
                } else if word.starts_with("endif") {
                    Token::End
                } else {
                    continue;
                };
                found.push(Piece { token, start, end: at });
                continue;
            }
            b'"' | b'\'' => {
                at = quoted_end(bytes, at);
                Token::Literal
            }
            b'R' if next == b'"' => {
                at = raw_end(text, at);
                Token::Literal
            }
            _ if is_word(byte) => {
                while bytes.get(at).copied().is_some_and(is_word) {
                    at += 1;
                }
                if byte.is_ascii_digit() { Token::Literal } else { Token::Word }
            }
            b':' if next == b':' => {
                at += 2;
                Token::Path
            }
            _ => {
                at += 1;
                Token::Sign(byte)
            }
        };
        is_line_start = false;
        found.push(Piece { token, start, end: at });
    }
    found
}

/// The end of a line, with those that a backslash joins to it.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            b'\\' if bytes.get(at + 1) == Some(&b'\r') => at += 3,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Behind the quote that ends a literal; one that is not ended ends with its line.
fn quoted_end(bytes: &[u8], from: usize) -> usize {
    let quote = bytes[from];
    let mut at = from + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Behind `R"mark(...)mark"`.
fn raw_end(text: &str, from: usize) -> usize {
    let rest = text.get(from + 2..).unwrap_or_default();
    let Some((mark, body)) = rest.split_once('(').filter(|(mark, _)| mark.len() <= 16) else {
        return quoted_end(text.as_bytes(), from + 1);
    };
    let closing = format!("){mark}\"");
    body.find(&closing).map_or(text.len(), |end| text.len() - body.len() + end + closing.len())
}
