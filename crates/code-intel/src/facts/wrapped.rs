//! Items of Rust that stand in a macro, as `pin_project! { struct A { ... } }` and `cfg_feature! { mod a; }` do.
//!
//! To the grammar what a macro is given is a heap of tokens. Where it begins like an item and the macro stands where
//! items do, it is read as items: the name of the macro and its braces are overwritten with spaces, and the name is
//! still counted as used.

use super::Span;
use super::annotations::Cleaned;

/// What items begin with.
const BEGINNINGS: &[&str] = &[
    "pub", "fn", "struct", "enum", "union", "trait", "impl", "mod", "use", "const", "static", "type",
    "unsafe", "async", "extern",
];
/// More macros in each other are left as they are.
const DEEPEST: usize = 64;

/// A brace that is open.
enum Open {
    /// Of a macro, with where its name begins.
    Macro(Span),
    /// Of a module.
    Module,
    /// Of anything else, in which no items are looked for.
    Other,
}

/// The text without macros around items, as far as what is in them is wanted; `None` where there are none.
pub(super) fn without(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<Cleaned> {
    // Most files have none.
    if !text.contains("! {") && !text.contains("!{") {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut open, mut removed, mut at): (Vec<Open>, Vec<Span>, usize) = (Vec::new(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = find(bytes, at, b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = find(bytes, at + 2, b"*/"),
            b'r' if is_raw(bytes, at) => at = raw_end(bytes, at),
            b'"' => at = quoted_end(bytes, at),
            b'\'' => at = character_end(bytes, at),
            b'{' => {
                let is_outer = open.len() < DEEPEST && open.iter().all(|one| !matches!(one, Open::Other));
                open.push(if is_outer { opened(text, at) } else { Open::Other });
                at += 1;
            }
            b'}' => {
                if let Some(Open::Macro(head)) = open.pop()
                    && is_wanted(text.get(head.end as usize..at).unwrap_or_default())
                {
                    removed.push(head);
                    removed.push(Span { start: at as u32, end: at as u32 + 1 });
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    if removed.is_empty() {
        return None;
    }
    removed.sort();
    let mut cleaned = bytes.to_vec();
    for span in &removed {
        for byte in cleaned.get_mut(span.start as usize..span.end as usize).into_iter().flatten() {
            // Lines stay where they are.
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    Some(Cleaned { text: String::from_utf8(cleaned).ok()?, removed })
}

/// The bytes of the items that stand in macros.
pub(crate) fn items_in_macros(text: &str) -> Vec<Span> {
    let (mut found, mut heads): (Vec<Span>, Vec<u32>) = (Vec::new(), Vec::new());
    for span in without(text, |_| true).map(|cleaned| cleaned.removed).unwrap_or_default() {
        if span.len() > 1 {
            heads.push(span.end);
        } else if let Some(start) = heads.pop() {
            found.push(Span { start, end: span.start });
        }
    }
    found
}

/// What a brace opens.
fn opened(text: &str, brace: usize) -> Open {
    let before = text[..brace].trim_end();
    let name_start = |before: &str| before.len() - word_at_end(before).len();
    let Some(path) = before.strip_suffix('!') else {
        let name = name_start(before);
        let is_module = name < before.len() && word_at_end(before[..name].trim_end()) == "mod";
        return if is_module { Open::Module } else { Open::Other };
    };
    let mut start = name_start(path);
    while let Some(outer) = path[..start].strip_suffix("::") {
        start = name_start(outer);
    }
    let line = path[..start].rsplit('\n').next().unwrap_or_default();
    let is_alone = start < path.len() && line.trim().is_empty();
    if is_alone && begins_item(&text[brace + 1..]) {
        Open::Macro(Span { start: start as u32, end: brace as u32 + 1 })
    } else {
        Open::Other
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn word_at_end(text: &str) -> &str {
    let start = text.trim_end_matches(is_word).len();
    &text[start..]
}

/// Whether a text begins like an item: past comments and attributes.
fn begins_item(text: &str) -> bool {
    const FARTHEST: usize = 4000;
    let mut rest = text[..text.floor_char_boundary(FARTHEST)].trim_start();
    for _ in 0..DEEPEST {
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        } else if let Some(inner) = rest.strip_prefix("#![").or_else(|| rest.strip_prefix("#[")) {
            rest = inner.split_once("]\n").map_or("", |(_, rest)| rest).trim_start();
        } else {
            break;
        }
    }
    let mut words =
        rest.split_whitespace().map(|word| word.split(['(', '{', '<', ';']).next().unwrap_or(word));
    let is_item = words.next().is_some_and(|first| BEGINNINGS.contains(&first));
    // `static ref NAME: u8` and `struct Flags: u8` are what some macros make of the language.
    let mut next = words.take(2);
    is_item && next.all(|word| word != "ref" && (word.ends_with("::") || !word.ends_with(':')))
}

/// Behind the next place where something stands.
fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let found = rest.windows(wanted.len()).position(|window| window == wanted);
    found.map_or(bytes.len(), |found| from + found + wanted.len())
}

fn quoted_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether `r"` or `r#"` stands here, and is not the end of a name.
fn is_raw(bytes: &[u8], at: usize) -> bool {
    let is_name =
        at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') && bytes[at - 1] != b'b';
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    !is_name && bytes.get(at + 1 + hashes) == Some(&b'"')
}

fn raw_end(bytes: &[u8], at: usize) -> usize {
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let mut end = vec![b'"'];
    end.resize(hashes + 1, b'#');
    find(bytes, at + 2 + hashes, &end)
}

/// Behind a character; a lifetime ends with its quote.
fn character_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => find(bytes, at + 3, b"'"),
        Some(_) => {
            let near = bytes.get(at + 2..(at + 6).min(bytes.len())).unwrap_or_default();
            let is_letter = bytes[at + 1].is_ascii();
            let end = near.iter().position(|byte| *byte == b'\'').filter(|end| *end == 0 || !is_letter);
            end.map_or(at + 1, |end| at + end + 3)
        }
        None => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::{Span, items_in_macros, without};
    use crate::languages::Language;

    #[test]
    fn items_in_macros_are_read_as_items() {
        for (text, expected) in [
            (
                "pin_project! {\n    pub struct A<T> {\n        #[pin]\n        a: T,\n    }\n}\n",
                "pin_project! {|}",
            ),
            ("a::cfg! {\n    #![feature = \"x\"]\n\n    mod b;\n}\n", "a::cfg! {|}"),
            (
                "mod m {\n    ffi_fn! {\n        /// Says '{'.\n        fn f(x: &'static str) -> u8 { b'}' }\n    }\n}\n",
                "ffi_fn! {|}",
            ),
            ("outer! {\n fn f() { g(r#\"}\"#) }\n}\n", "outer! {|}"),
            ("one! {\n pub(crate) struct A;\n two! {\n fn f() {}\n }\n}\n", "one! {|two! {|}|}"),
            // Twins that must stay.
            ("macro_rules! a {\n    () => { fn f() {} };\n}\n", ""),
            ("fn f() {\n    quote! {\n        fn g() {}\n    }\n}\n", ""),
            ("lazy_static! {\n    static ref A: u8 = 1;\n}\n", ""),
            ("bitflags! {\n    pub struct Flags: u8 {\n        const A = 1;\n    }\n}\n", ""),
            ("println! {\n    \"pub fn\"\n}\n", ""),
            ("fn f() {}\n", ""),
        ] {
            let removed = without(text, |_| true).map(|cleaned| cleaned.removed).unwrap_or_default();
            let removed: Vec<&str> = removed.iter().map(|span| span.of(text)).collect();
            assert_eq!(removed.join("|"), expected, "{text}");
        }
        assert_eq!(items_in_macros("a! {\n fn f() {}\n}\nfn g() {}\n"), [Span { start: 4, end: 16 }]);
        let text = "cfg! {\n    mod a;\n}\npin! {\n    struct B { c: u8 }\n}\n";
        let facts = read(Language::Rust, text).unwrap();
        let names: Vec<&str> = facts.definitions.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "B", "c"]);
        assert!(facts.occurrences.iter().any(|one| one.span.of(text) == "pin"));
    }
}
