//! Ends of the members of types that nothing is written for.
//!
//! A line may end a member of an interface without a sign. Where the next one begins with a bracket, as call signatures
//! do, the grammar takes it for the rest of the line before and loses its way, often for all of the file.

/// The text with a semicolon for a space before each such member, so that every place stays what it is; `None` where
/// there are none.
pub(crate) fn separated(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut ends: Vec<usize> = Vec::new();
    // The brackets that are open, and whether they hold the members of a type.
    let mut open: Vec<bool> = Vec::new();
    // The last two signs that are no spaces.
    let (mut last, mut before_last) = (b' ', b' ');
    let mut last_word = "";
    // Whether the next braces are those of a type; whether the last that were closed may only be a part of it.
    let (mut is_pending, mut may_go_on) = (false, false);
    let (mut at, mut begins_line) = (0, true);
    while let Some(&byte) = bytes.get(at) {
        if let Some(skipped) = skipped(&text[at..]) {
            begins_line &= byte == b'/';
            if byte != b'/' {
                (before_last, last) = (last, byte);
            }
            at += skipped;
            continue;
        }
        if byte.is_ascii_whitespace() {
            begins_line |= byte == b'\n';
            at += 1;
            continue;
        }
        if may_go_on && !b">,=&|)[?:".contains(&byte) {
            is_pending = false;
        }
        may_go_on = false;
        if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || !byte.is_ascii() {
            let word = word(&text[at..]);
            if open.last() != Some(&true) {
                match word {
                    "interface" => is_pending = true,
                    "type" if begins_line || matches!(last_word, "export" | "declare") => is_pending = true,
                    "const" | "let" | "var" | "function" | "class" | "import" | "enum" | "return" => {
                        is_pending = false;
                    }
                    _ => {}
                }
            }
            last_word = word;
            let tail = word.as_bytes();
            before_last = if tail.len() > 1 { tail[tail.len() - 2] } else { last };
            last = tail.last().copied().unwrap_or(b' ');
            begins_line = false;
            at += word.len();
            continue;
        }
        let is_bracket = matches!(byte, b'<' | b'(' | b'[');
        let goes_on = b"{;,|&=(<[:?".contains(&last) || last == b'>' && before_last == b'=';
        let is_indented = at > 0 && matches!(bytes[at - 1], b' ' | b'\t');
        if is_bracket && begins_line && !goes_on && is_indented && open.last() == Some(&true) {
            ends.push(at - 1);
        }
        match byte {
            b'{' => open.push(is_pending || open.last() == Some(&true)),
            b'(' | b'[' => open.push(false),
            b'}' | b')' | b']' => {
                let closed = open.pop();
                may_go_on = byte == b'}' && closed == Some(true) && open.is_empty();
            }
            _ => {}
        }
        (before_last, last) = (last, byte);
        begins_line = false;
        at += 1;
    }
    if ends.is_empty() {
        return None;
    }
    let mut ended = bytes.to_vec();
    for end in ends {
        ended[end] = b';';
    }
    String::from_utf8(ended).ok()
}

/// How long the comment or the quoted text is that a text begins with.
fn skipped(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(text.find("*/").map_or(text.len(), |end| end + 2));
    }
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            // A line ends a text in quotes: the sign was none.
            '\n' if quote != '`' => return Some(at),
            character if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

fn word(text: &str) -> &str {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let end = text.find(|character| !is_part(character)).unwrap_or(text.len());
    // What is neither a letter nor a sign of a name, as some characters of other scripts, is gone past.
    let first = text.chars().next().map_or(1, char::len_utf8);
    &text[..end.max(first).min(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_begin_with_a_bracket_are_told_from_the_line_before() {
        for (text, expected) in [
            (
                "interface A {\n  (a: B): C\n  <T>(a: T): T\n}",
                Some("interface A {\n  (a: B): C\n ;<T>(a: T): T\n}"),
            ),
            (
                "interface A {\n  b: C\n  [key: string]: D\n}",
                Some("interface A {\n  b: C\n ;[key: string]: D\n}"),
            ),
            (
                "export type A = B & {\n  b(): C<D>\n  (a: E): F\n}",
                Some("export type A = B & {\n  b(): C<D>\n ;(a: E): F\n}"),
            ),
            (
                "interface A<T = {}> {\n  b: {\n    c: 1\n    (): 2\n  }\n}",
                Some("interface A<T = {}> {\n  b: {\n    c: 1\n   ;(): 2\n  }\n}"),
            ),
            ("interface A {\n  b: C // it's\n  (): D\n}", Some("interface A {\n  b: C // it's\n ;(): D\n}")),
            ("interface A {\n  (a: B): C;\n  <T>(a: T): T;\n}", None),
            (
                "interface A {\n  b:\n    (c: D) => E\n  f: (g: H) =>\n    (i: J) => K\n  l: M |\n    (N)\n}",
                None,
            ),
            ("interface A {}\nfunction f() {\n  a\n  (b)\n}", None),
            ("type A = { b: 1 }\nconst c = {\n  d\n  [e]\n}", None),
            ("interface A { b: '\n  (a): \"{", Some("interface A { b: '\n ;(a): \"{")),
            ("interface A {\n  日本: B\n  (): C\n", Some("interface A {\n  日本: B\n ;(): C\n")),
            ("", None),
        ] {
            assert_eq!(separated(text).as_deref(), expected, "{text}");
        }
    }
}
