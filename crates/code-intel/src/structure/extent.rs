//! How far a definition reaches: its declaration, what stands before it and belongs to it, and its lines.

use std::ops::Range;

use tree_sitter::Node;

use super::{SourceText, is_comment, parts};
use crate::facts::Definition;

/// Nodes that belong to the declaration in them, whatever else they hold.
const ALWAYS_AROUND: &[&str] =
    &["decorated_definition", "export_statement", "ambient_declaration", "template_declaration"];

/// Nodes that belong to what they declare where that is one thing alone.
const AROUND_ONE: &[&str] = &[
    "lexical_declaration",
    "variable_declaration",
    "type_declaration",
    "const_declaration",
    "var_declaration",
    "expression_statement",
];

/// Attributes and decorators that stand before what they belong to.
const BEFORE: &[&str] = &["attribute_item", "decorator", "attribute_list", "attribute_declaration"];

/// A definition and what belongs to it, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Extent<'s> {
    /// What the facts call the definition.
    pub inner: Node<'s>,
    /// With `export`, decorators and the like around it.
    pub outer: Node<'s>,
    /// Behind decorators and annotations.
    pub core: usize,
    /// With the comments, attributes and decorators before it.
    pub lead: usize,
    /// The end of `outer`, without the line break that some grammars count to it.
    pub outer_end: usize,
    /// With the semicolon behind it.
    pub end: usize,
    /// Whether it is one of a list with commas between.
    pub in_list: bool,
    /// The end of the comma behind it.
    pub comma: Option<usize>,
    /// Whether something stands before and behind it, beside it in the tree.
    pub has_previous: bool,
    pub has_next: bool,
}

impl<'s> Extent<'s> {
    /// `None` where it cannot be told how far the definition reaches.
    pub(crate) fn of(source: &'s SourceText<'_>, definition: &Definition) -> Option<Self> {
        let span = definition.span.start as usize..definition.span.end as usize;
        let mut inner = source.node_at(span.clone())?;
        if !is_own(source, &inner.byte_range(), &span) {
            return None;
        }
        while let Some(parent) = inner.parent().filter(|parent| parent.parent().is_some()) {
            // A body with one statement in it has the same bytes as the statement.
            let is_body = matches!(parent.kind(), "block" | "body_statement" | "declaration_list");
            if parent.byte_range() != inner.byte_range() || is_body {
                break;
            }
            inner = parent;
        }
        let mut outer = inner;
        while let Some(parent) = outer.parent() {
            let is_around = ALWAYS_AROUND.contains(&parent.kind())
                || AROUND_ONE.contains(&parent.kind()) && is_alone(parent);
            if !is_around {
                break;
            }
            outer = parent;
        }
        let parent = outer.parent()?;
        let outer_end = outer.start_byte() + source.slice(outer.byte_range()).trim_end().len();
        let end = with_semicolon(source, outer, outer_end);
        let comma = next_token(source, outer_end).filter(|(kind, _)| *kind == ",").map(|(_, end)| end);
        let comma = comma.filter(|end| *end <= parent.end_byte());
        let lead = lead(source, outer);
        Some(Self {
            inner,
            outer,
            core: core(outer),
            lead,
            outer_end,
            end,
            in_list: is_list(source, outer, parent),
            comma,
            has_previous: has_previous(source, parent, lead),
            has_next: has_next(source, parent, comma.unwrap_or(end)),
        })
    }

    /// Whether it has its lines for itself, apart from a comment behind it.
    pub(crate) fn has_own_lines(&self, source: &SourceText<'_>) -> bool {
        let before = source.slice(source.line_start(self.lead)..self.lead);
        let end = self.comma.unwrap_or(self.end);
        before.trim().is_empty() && source.line_stop(end) == self.stop(source)
    }

    /// Its end with the comma and the comment on the same line.
    pub(crate) fn stop(&self, source: &SourceText<'_>) -> usize {
        let end = self.comma.unwrap_or(self.end);
        let stop = source.line_stop(end);
        let rest = source.slice(end..stop);
        if rest.trim().is_empty() {
            return stop;
        }
        let at = end + (rest.len() - rest.trim_start().len());
        let node = source.node_at(at..at + 1).filter(|node| is_comment(*node));
        // A comment of several lines belongs to what follows it.
        node.filter(|node| {
            node.start_byte() == at
                && source.slice(node.byte_range()).trim_end().len() + at >= stop
                && node.start_byte() + source.slice(node.byte_range()).trim_end().len() <= stop
        })
        .map_or(end, |_| stop)
    }
}

/// Whether a node is a definition and not something larger that it is lost in. Facts are read without the macros that
/// confuse a grammar: one that stands right before the definition belongs to it, one further away does not.
fn is_own(source: &SourceText<'_>, node: &Range<usize>, definition: &Range<usize>) -> bool {
    let before = source.slice(node.start..definition.start);
    let after = source.slice(definition.end..node.end);
    before.matches('\n').count() < 2 && after.trim().trim_matches([';', ',']).is_empty()
}

/// Whether a declaration declares one thing.
fn is_alone(declaration: Node<'_>) -> bool {
    let is_group = declaration.children(&mut declaration.walk()).any(|child| child.kind() == "(");
    !is_group && parts(declaration).len() == 1
}

/// The token behind some bytes: its kind and its end.
fn next_token<'s>(source: &'s SourceText<'_>, from: usize) -> Option<(&'s str, usize)> {
    let rest = source.slice(from..source.text.len());
    let at = from + (rest.len() - rest.trim_start().len());
    let node = source.node_at(at..at + 1)?;
    (node.start_byte() == at && node.child_count() == 0).then(|| (node.kind(), node.end_byte()))
}

fn with_semicolon(source: &SourceText<'_>, node: Node<'_>, end: usize) -> usize {
    if source.slice(node.byte_range()).ends_with(';') {
        return end;
    }
    let on_line = source.line_stop(end);
    match next_token(source, end) {
        Some((";", after))
            if after <= on_line && node.parent().is_some_and(|parent| after <= parent.end_byte()) =>
        {
            after
        }
        _ => end,
    }
}

/// Where a declaration begins behind its decorators and annotations.
fn core(outer: Node<'_>) -> usize {
    let mut node = outer;
    loop {
        let mut at = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let is_mark =
                matches!(child.kind(), "decorator" | "annotation" | "marker_annotation" | "attribute_list")
                    || is_comment(child) && at.is_some();
            if is_mark || child.kind() == "modifiers" && begins_with_mark(child) {
                at = Some(child);
                continue;
            }
            match at {
                None => return node.start_byte(),
                // What stands behind the annotations among the modifiers belongs to the declaration.
                Some(before) if before.kind() == "modifiers" => {
                    let mut inside = before.walk();
                    let word = before.children(&mut inside).find(|one| !one.kind().ends_with("annotation"));
                    return word.map_or(child.start_byte(), |word| word.start_byte());
                }
                Some(_) => return child.start_byte(),
            }
        }
        match node.child(0) {
            Some(first) if first.child_count() > 0 && at.is_none() => node = first,
            _ => return outer.start_byte(),
        }
    }
}

fn begins_with_mark(modifiers: Node<'_>) -> bool {
    modifiers.child(0).is_some_and(|first| first.kind().ends_with("annotation"))
}

/// Where the comments and attributes before a declaration begin.
fn lead(source: &SourceText<'_>, outer: Node<'_>) -> usize {
    const MOST: usize = 2000;
    let mut start = outer.start_byte();
    for _ in 0..MOST {
        let before = source.slice(0..start);
        let trimmed = before.trim_end();
        let between = &before[trimmed.len()..];
        if trimmed.is_empty() || between.matches('\n').count() > 1 {
            break;
        }
        let Some(node) = before_node(source, trimmed.len() - 1) else { break };
        let at = node.start_byte();
        let is_first_on_line = source.slice(source.line_start(at)..at).trim().is_empty();
        let is_comment = is_comment(node);
        let belongs = if is_comment {
            is_first_on_line && between.contains('\n') && !is_of_the_file(source, node)
        } else {
            true
        };
        if !belongs || at >= start {
            break;
        }
        start = at;
    }
    start
}

/// `MACRO(1)` before a declaration, which the grammars of C and C++ take for a statement without its semicolon.
fn is_macro(node: Node<'_>) -> bool {
    let last = node.child_count().checked_sub(1).and_then(|last| node.child(last));
    node.kind() == "expression_statement" && last.is_some_and(|last| last.kind() == ";" && last.is_missing())
}

/// The comment, attribute or macro that covers a byte.
fn before_node<'s>(source: &'s SourceText<'_>, at: usize) -> Option<Node<'s>> {
    const DEEPEST: usize = 40;
    // A byte may be the last of a longer character.
    let at = source.text.floor_char_boundary(at);
    let mut node = source.node_at(at..at + 1)?;
    let mut found = None;
    for _ in 0..DEEPEST {
        if is_comment(node) || BEFORE.contains(&node.kind()) || is_macro(node) {
            found = Some(node);
        }
        match node.parent() {
            Some(parent) => node = parent,
            None => break,
        }
    }
    found
}

/// A comment about the file and not about what follows it.
fn is_of_the_file(source: &SourceText<'_>, comment: Node<'_>) -> bool {
    let text = source.slice(comment.byte_range());
    let is_head = ["//!", "/*!", "#!"].iter().any(|head| text.starts_with(head));
    let lower = text.to_lowercase();
    is_head || ["copyright", "license", "spdx-"].iter().any(|word| lower.contains(word))
}

/// Whether a node is one of several with commas between them.
fn is_list(source: &SourceText<'_>, node: Node<'_>, parent: Node<'_>) -> bool {
    let has_comma = parent.children(&mut parent.walk()).any(|child| child.kind() == ",");
    let is_kind = match parent.kind() {
        "enum_variant_list" | "enumerator_list" | "object" | "enum_member_declaration_list" => true,
        "enum_body" => node.kind() != "enum_body_declarations",
        "field_declaration_list" => source.language == crate::languages::Language::Rust,
        _ => false,
    };
    has_comma && !matches!(parent.kind(), "class_body" | "object_type" | "interface_body") || is_kind
}

/// Whether something stands before an offset in the same parent.
fn has_previous(source: &SourceText<'_>, parent: Node<'_>, lead: usize) -> bool {
    let before = source.slice(parent.start_byte()..lead).trim_end();
    if before.is_empty() {
        return false;
    }
    let at = source.text.floor_char_boundary(parent.start_byte() + before.len() - 1);
    let opens = source.node_at(at..at + 1).filter(|node| is_token_of(*node, parent));
    !opens.is_some_and(|node| matches!(node.kind(), "{" | "(" | "[" | ":" | "then" | "do"))
}

fn has_next(source: &SourceText<'_>, parent: Node<'_>, end: usize) -> bool {
    let rest = source.slice(end..parent.end_byte());
    if rest.trim().is_empty() {
        return false;
    }
    let at = end + (rest.len() - rest.trim_start().len());
    let closes = source.node_at(at..at + 1).filter(|node| is_token_of(*node, parent));
    !closes.is_some_and(|node| matches!(node.kind(), "}" | ")" | "]" | "end" | "fi" | "done"))
}

fn is_token_of(node: Node<'_>, parent: Node<'_>) -> bool {
    !node.is_named() && node.parent().is_some_and(|above| above.id() == parent.id())
}
