//! A second look where the parser lost its way: what stands behind the broken place is parsed again from the next item.
//!
//! A grammar that stumbles over a macro or a dialect may take the whole rest of a file for one error, or for the body of
//! the function it was in. Lines that begin an item at the left margin show where it should have gone on. The text is
//! cut there, and each piece is read for itself with the others overwritten by spaces, so every place stays true.

use tree_sitter::{Node, Tree};

use super::{Facts, Span};
use crate::languages::Language;

/// Pieces that a text is cut into at most.
const MOST_PIECES: usize = 24;
/// Longer texts are left as they were read: each piece costs a look at all of it.
const LONGEST: usize = 1 << 20;

/// Cuts a text where items were lost; `None` where none were. `parse` reads the text of a part, with spaces around it.
pub(super) fn pieces(
    language: Language,
    text: &str,
    tree: &Tree,
    parse: impl Fn(&str) -> Option<Tree>,
) -> Option<Vec<Span>> {
    let beginnings = language.item_words();
    if beginnings.is_empty() || text.len() > LONGEST || !tree.root_node().has_error() {
        return None;
    }
    let starts = item_starts(text, beginnings);
    let (mut found, mut from) = (Vec::new(), 0_usize);
    let mut current = tree.clone();
    while found.len() < MOST_PIECES {
        let root = current.root_node();
        let is_lost = |start: &usize| *start > from && is_lost(root, *start);
        let Some(lost) = starts.iter().copied().find(is_lost) else { break };
        let broken = broken_start(root, lost).max(from);
        for (start, end) in [(from, broken), (broken, lost)] {
            if start < end {
                found.push(Span { start: start as u32, end: end as u32 });
            }
        }
        from = lost;
        current = parse(&only(text, Span { start: lost as u32, end: text.len() as u32 }))?;
    }
    if found.is_empty() {
        return None;
    }
    found.push(Span { start: from as u32, end: text.len() as u32 });
    Some(found)
}

/// A text with spaces for all but some bytes; lines stay where they are.
pub(super) fn only(text: &str, span: Span) -> String {
    let blank = |part: &str| -> String {
        part.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }).collect()
    };
    let (start, end) = (span.start as usize, span.end as usize);
    format!("{}{}{}", blank(&text[..start]), &text[start..end], blank(&text[end..]))
}

/// Adds what a later piece of the same text says.
pub(super) fn join(all: &mut Facts, piece: Facts) {
    let base = all.definitions.len() as u32;
    all.definitions.extend(piece.definitions.into_iter().map(|mut one| {
        one.container = one.container.map(|container| container + base);
        one
    }));
    all.imports.extend(piece.imports);
    all.occurrences.extend(piece.occurrences);
    all.contexts.extend(piece.contexts);
    all.holes.extend(piece.holes);
    if all.package.is_empty() {
        all.package = piece.package;
    }
}

/// Where lines begin with one of some words.
fn item_starts(text: &str, beginnings: &[&str]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let word = line.split([' ', '(', '<', '\n', '\r']).next().unwrap_or_default();
        if beginnings.contains(&word) && line.len() > word.len() + 1 {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

/// Whether what begins at a place was not read as an item there.
fn is_lost(root: Node<'_>, start: usize) -> bool {
    let Some(mut node) = root.descendant_for_byte_range(start, start + 1) else { return false };
    let mut item = node;
    let mut is_inside_body = false;
    loop {
        let kind = node.kind();
        let is_text = kind.contains("string") || kind.contains("comment");
        if is_text || matches!(kind, "token_tree" | "preproc_arg" | "template_substitution") {
            return false;
        }
        if node.start_byte() == start && node.id() != root.id() {
            item = node;
        } else {
            is_inside_body |=
                matches!(kind, "block" | "compound_statement" | "statement_block" | "function_body");
        }
        match node.parent() {
            Some(parent) => node = parent,
            None => break,
        }
    }
    let is_item = item.is_named()
        && !item.is_error()
        && item.child_count() > 0
        && !matches!(
            item.kind(),
            "visibility_modifier" | "primitive_type" | "type_qualifier" | "type_identifier"
        );
    !is_item || is_inside_body
}

/// Where the item begins that swallowed a place: the outermost node around it that begins before it.
fn broken_start(root: Node<'_>, lost: usize) -> usize {
    let mut node = root.descendant_for_byte_range(lost, lost + 1);
    let mut start = lost;
    while let Some(one) = node.filter(|one| one.id() != root.id()) {
        if one.start_byte() < lost {
            start = one.start_byte();
        }
        node = one.parent();
    }
    start
}
