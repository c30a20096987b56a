//! Types that comments say in JavaScript: `@param {Type} name`, `@returns {Type}`, `@type {Type}`, `@typedef`.

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, span};
use crate::facts::{Kind, Position, Span};

/// Words for types that say nothing.
const VAGUE: &[&str] = &["", "*", "any", "object", "Object", "function", "Function", "unknown"];

/// Keeps a comment for what follows it, and notes the types it makes.
pub(super) fn comment(x: &mut Extractor<'_>, node: Node<'_>) {
    let text = x.text_of(node);
    if !text.starts_with("/**") {
        return;
    }
    x.keep_doc(span(node));
    let mut made: Option<u32> = None;
    for tag in tags(text) {
        names(x, node, &tag);
        match tag.word {
            "typedef" => made = typedef(x, node, &tag),
            "property" | "prop" => {
                if let Some(container) = made {
                    member(x, node, &tag, container);
                }
            }
            "param" | "arg" | "argument" | "return" | "returns" | "type" => fields(x, node, &tag),
            _ => {}
        }
    }
}

/// The type of a parameter of the function that begins at a place.
pub(super) fn parameter(x: &Extractor<'_>, function: Node<'_>, name: &str) -> String {
    let is_of = |tag: &Tag<'_>| matches!(tag.word, "param" | "arg" | "argument") && tag.name == name;
    said(x, function, is_of)
}

/// What the function that begins at a place returns.
pub(super) fn returned(x: &Extractor<'_>, function: Node<'_>) -> String {
    said(x, function, |tag| matches!(tag.word, "return" | "returns"))
}

/// Where the comment says what the function that begins at a place returns.
pub(super) fn returned_at(x: &Extractor<'_>, function: Node<'_>) -> Option<Span> {
    said_at(x, function, |tag| matches!(tag.word, "return" | "returns"))
}

/// Where the comment says the type of what begins at a place.
pub(super) fn declared_at(x: &Extractor<'_>, node: Node<'_>) -> Option<Span> {
    said_at(x, node, |tag| tag.word == "type")
}

fn said_at(x: &Extractor<'_>, node: Node<'_>, is_wanted: impl Fn(&Tag<'_>) -> bool) -> Option<Span> {
    let doc = x.doc_before(node.start_byte() as u32)?;
    let tag = tags(doc.of(x.text)).into_iter().find(is_wanted)?;
    let from = doc.start + tag.of_at as u32;
    let is_said = !VAGUE.contains(&plain(tag.of).as_str());
    is_said.then(|| Span { start: from, end: from + tag.of.len() as u32 })
}

/// The type of a variable or a field.
pub(super) fn declared(x: &Extractor<'_>, node: Node<'_>) -> String {
    said(x, node, |tag| tag.word == "type")
}

fn said(x: &Extractor<'_>, node: Node<'_>, is_wanted: impl Fn(&Tag<'_>) -> bool) -> String {
    let Some(doc) = x.doc_before(node.start_byte() as u32) else { return String::new() };
    let found = tags(doc.of(x.text)).into_iter().find(is_wanted);
    found.map(|tag| plain(tag.of)).filter(|of| !VAGUE.contains(&of.as_str())).unwrap_or_default()
}

/// A type without the signs that other tools have for it.
fn plain(of: &str) -> String {
    let of = of.trim().trim_start_matches(['?', '!']).trim_end_matches('=');
    let of = of.strip_prefix("...").unwrap_or(of).trim();
    of.replace(".<", "<")
}

struct Tag<'t> {
    word: &'t str,
    /// What stands in braces.
    of: &'t str,
    name: &'t str,
    /// Where the two begin in the comment.
    of_at: usize,
    name_at: usize,
}

fn tags(text: &str) -> Vec<Tag<'_>> {
    const MOST: usize = 200;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('@')) {
        let start = at + next + 1;
        at = start;
        // A tag stands first in its line.
        let before = text[..start - 1].rsplit('\n').next().unwrap_or_default();
        if !before.trim_start().trim_start_matches(['/', '*']).trim().is_empty() {
            continue;
        }
        let rest = &text[start..];
        let length = rest.find(|character: char| !character.is_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..length];
        let mut position = start + length + spaces(&rest[length..]);
        let (mut of, of_at) = ("", position + 1);
        if text[position..].starts_with('{') {
            let Some(end) = braces(&text[position..]) else { continue };
            of = &text[position + 1..position + end - 1];
            position += end;
            position += spaces(&text[position..]);
        }
        if text[position..].starts_with('[') {
            position += 1;
        }
        let rest = &text[position..];
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '.');
        let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        found.push(Tag { word, of, name: &rest[..length], of_at, name_at: position });
        if found.len() >= MOST {
            break;
        }
    }
    found
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// Where the brace that a text begins with is closed; behind it.
fn braces(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The names that the type of a tag uses; keys of records, members and texts are none.
fn names(x: &mut Extractor<'_>, comment: Node<'_>, tag: &Tag<'_>) {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let (mut at, mut quote, mut before) = (0, None, ' ');
    while let Some(character) = tag.of.get(at..).and_then(|rest| rest.chars().next()) {
        if quote.is_some() || matches!(character, '"' | '\'' | '`') {
            quote = match quote {
                None => Some(character),
                Some(open) if open == character => None,
                open => open,
            };
            (at, before) = (at + character.len_utf8(), character);
            continue;
        }
        if !is_part(character) {
            at += character.len_utf8();
            before = if character.is_whitespace() { before } else { character };
            continue;
        }
        let rest = &tag.of[at..];
        let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        let after = rest[length..].trim_start();
        let is_key = after.starts_with(':') || after.starts_with("?:") || after.starts_with('(');
        if before != '.' && !is_key && !character.is_ascii_digit() {
            x.used_within(comment, tag.of_at + at, length);
        }
        (at, before) = (at + length, 'a');
    }
}

/// `@typedef {Type} Name` makes a name for a type.
fn typedef(x: &mut Extractor<'_>, comment: Node<'_>, tag: &Tag<'_>) -> Option<u32> {
    if tag.name.is_empty() {
        return None;
    }
    let index = define(x, comment, Kind::Type, tag.name, tag.name_at);
    let of = plain(tag.of);
    if let Some(definition) = x.definition_mut(index) {
        definition.is_member = false;
        definition.container = None;
        definition.owner = None;
        if !VAGUE.contains(&of.as_str()) {
            definition.bases = vec![of.clone()];
            definition.value = of;
        }
    }
    Some(index)
}

fn member(x: &mut Extractor<'_>, comment: Node<'_>, tag: &Tag<'_>, container: u32) {
    if tag.name.is_empty() || tag.name.contains('.') {
        return;
    }
    let index = define(x, comment, Kind::Field, tag.name, tag.name_at);
    if let Some(definition) = x.definition_mut(index) {
        definition.container = Some(container);
        definition.declared = plain(tag.of);
        definition.is_member = true;
    }
}

/// The members of `{{ name: Type }}`.
fn fields(x: &mut Extractor<'_>, comment: Node<'_>, tag: &Tag<'_>) {
    let record = tag.of.trim_start();
    if !record.starts_with('{') {
        return;
    }
    let start = tag.of_at + (tag.of.len() - record.len());
    let mut depth = 0_usize;
    let mut is_key = false;
    let mut from = 0;
    for (at, character) in record.char_indices() {
        match character {
            '{' | '(' | '[' | '<' => depth += 1,
            '}' | ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match character {
            '{' | ',' | ';' if depth == 1 => (is_key, from) = (true, at + 1),
            ':' if depth == 1 && is_key => {
                is_key = false;
                let key = &record[from..at];
                let name = key.trim().trim_start_matches('*').trim().trim_end_matches('?');
                let offset = key.find(name).unwrap_or_default();
                if !name.is_empty() && name.chars().all(|part| part.is_alphanumeric() || part == '_') {
                    let index = define(x, comment, Kind::Field, name, start + from + offset);
                    if let Some(definition) = x.definition_mut(index) {
                        definition.is_member = true;
                    }
                }
            }
            _ => {}
        }
    }
}

fn define(x: &mut Extractor<'_>, comment: Node<'_>, kind: Kind, name: &str, at: usize) -> u32 {
    let before = &x.text_of(comment)[..at];
    let row = before.matches('\n').count() as u32;
    let line_start = before.rfind('\n').map(|newline| newline + 1);
    let column = match line_start {
        Some(line_start) => before[line_start..].chars().count() as u32 + 1,
        None => x.position(comment).column + before.chars().count() as u32,
    };
    let at_line = Position { line: comment.start_position().row as u32 + 1 + row, column };
    let start = (comment.start_byte() + at) as u32;
    let span = Span { start, end: start + name.len() as u32 };
    x.define_at(kind, name.to_owned(), at_line, span, span, at_line.line, NameScope::Member)
}
