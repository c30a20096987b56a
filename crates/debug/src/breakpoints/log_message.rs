//! Messages of log points: text with `{expressions}` in it.

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Expression(String),
}

/// Takes a message apart. Braces inside an expression must match; `\{` is a brace; an unclosed one is text.
pub fn pieces(message: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut text = String::new();
    let mut rest = message;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        match character {
            '\\' if after.starts_with(['{', '}']) => {
                text.push_str(&after[..1]);
                rest = &after[1..];
            }
            '{' => match closing(after) {
                Some(end) if !after[..end].trim().is_empty() => {
                    if !text.is_empty() {
                        found.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    found.push(Piece::Expression(after[..end].trim().to_owned()));
                    rest = &after[end + 1..];
                }
                _ => {
                    text.push('{');
                    rest = after;
                }
            },
            _ => {
                text.push(character);
                rest = after;
            }
        }
    }
    if !text.is_empty() {
        found.push(Piece::Text(text));
    }
    found
}

/// Where the brace closes that was just opened.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != character),
            (None, '"' | '\'' | '`') if text[at + 1..].contains(character) => quote = Some(character),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(message: &str) -> String {
        let show = |piece: Piece| match piece {
            Piece::Text(text) => text,
            Piece::Expression(expression) => format!("<{expression}>"),
        };
        pieces(message).into_iter().map(show).collect()
    }

    #[test]
    fn expressions_are_found() {
        let rows = [
            ("i is {i}", "i is <i>"),
            ("{a}{b}", "<a><b>"),
            ("{ {1: 2}[1] }!", "<{1: 2}[1]>!"),
            (r#"{d["}"]} x"#, r#"<d["}"]> x"#),
            ("it's {x}", "it's <x>"),
            (r"\{x\} {x}", "{x} <x>"),
            ("{unclosed", "{unclosed"),
            ("{} {  }", "{} {  }"),
            ("总数 {总数}。", "总数 <总数>。"),
        ];
        for (message, expected) in rows {
            assert_eq!(shown(message), expected, "{message}");
        }
    }

    proptest! {
        #[test]
        fn no_message_panics(message in ".{0,60}") {
            pieces(&message);
        }
    }
}
