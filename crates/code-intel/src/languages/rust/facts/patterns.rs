//! The names that patterns of Rust make, and of what they are.

use tree_sitter::Node;

use super::set;
use crate::facts::extract::{Extractor, NameScope, beneath, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, Span};

/// A `let` is known behind it, to the end of its block.
pub(super) fn after<'t>(x: &Extractor<'t>, node: Node<'t>) -> NameScope {
    match x.parent(node) {
        Some(block) => NameScope::In(Span { start: node.end_byte() as u32, end: block.end_byte() as u32 }),
        None => NameScope::Here,
    }
}

/// What `if let`, `while let` and a guard bind is known behind the condition, to the end of the block or arm that it
/// decides about.
pub(super) fn where_it_holds<'t>(x: &Extractor<'t>, condition: Node<'t>) -> NameScope {
    let start = condition.end_byte() as u32;
    let mut node = condition;
    while let Some(parent) = x.parent(node) {
        let decided = match parent.kind() {
            "let_chain" | "binary_expression" | "parenthesized_expression" => None,
            "if_expression" => parent.field("consequence"),
            "while_expression" => parent.field("body"),
            "match_pattern" => x.parent(parent),
            _ => return NameScope::Here,
        };
        if let Some(decided) = decided {
            return NameScope::In(Span { start, end: decided.end_byte() as u32 });
        }
        node = parent;
    }
    NameScope::Here
}

pub(super) fn binding<'t>(x: &mut Extractor<'t>, node: Node<'t>, place: NameScope) {
    let Some(pattern) = node.field("pattern") else { return };
    let declared = x.kept_text(node.field("type"));
    let value = x.kept_text(node.field("value"));
    bound(x, pattern, node, &declared, &value, Kind::Variable, place);
}

/// What the closure in `values.method(|value| ...)` is given, as an expression: one of the values.
pub(super) fn given_to_closure<'t>(x: &Extractor<'t>, closure: Node<'t>) -> String {
    const ONE_EACH: &[&str] = &[
        "map",
        "for_each",
        "filter",
        "filter_map",
        "flat_map",
        "find",
        "find_map",
        "any",
        "all",
        "position",
        "take_while",
        "skip_while",
        "map_while",
        "inspect",
        "partition",
        "max_by_key",
        "min_by_key",
        "sort_by_key",
        "sort_by",
        "sort_unstable_by_key",
        "sort_unstable_by",
        "max_by",
        "min_by",
        "retain",
        "and_then",
        "map_or",
        "map_or_else",
        "is_some_and",
        "is_ok_and",
        "is_none_or",
        "dedup_by_key",
        "group_by",
        "reduce",
        "try_for_each",
        "binary_search_by",
        "binary_search_by_key",
        "partition_point",
        "rposition",
        "sum_by",
        "then",
    ];
    let call = x.parent(closure).and_then(|arguments| x.parent(arguments));
    let function = call.filter(|call| call.kind() == "call_expression");
    let function = function.and_then(|call| call.field("function"));
    let Some(function) = function.filter(|function| function.kind() == "field_expression") else {
        return String::new();
    };
    let method = function.field("field").map(|name| x.text_of(name)).unwrap_or_default();
    let value = x.kept_text(function.field("value"));
    match method {
        _ if value.is_empty() => String::new(),
        "map_err" | "inspect_err" | "or_else" => format!("({value}).unwrap_err()"),
        method if ONE_EACH.contains(&method) => format!("({value})[0]"),
        _ => String::new(),
    }
}

/// The names a pattern binds. A name in upper case, or one that begins so, is a constant or a variant that is
/// compared with.
pub(super) fn bound<'t>(
    x: &mut Extractor<'t>,
    pattern: Node<'t>,
    whole: Node<'t>,
    declared: &str,
    value: &str,
    kind: Kind,
    place: NameScope,
) {
    let is_name = |node: Node<'_>| matches!(node.kind(), "identifier" | "shorthand_field_identifier");
    let is_closed = |node: Node<'_>| {
        matches!(
            node.kind(),
            "scoped_identifier"
                | "scoped_type_identifier"
                | "closure_parameters"
                | "macro_invocation"
                | "range_pattern"
        )
    };
    let condition = (pattern.kind() == "match_pattern").then(|| pattern.field("condition")).flatten();
    for name in beneath(pattern, is_name, is_closed) {
        if condition.is_some_and(|condition| span(condition).contains(name.start_byte() as u32)) {
            continue;
        }
        let parent = x.parent(name);
        let is_type = parent.is_some_and(|parent| {
            matches!(parent.kind(), "tuple_struct_pattern" | "struct_pattern")
                && parent.field("type").is_some_and(|of| of.id() == name.id())
        });
        let is_constant = x.text_of(name).starts_with(|first: char| first.is_uppercase());
        if is_type || is_constant {
            continue;
        }
        let index = x.define(kind, name, whole, place);
        let text = x.text_of(name);
        let (mut own_type, mut own_value) = (String::new(), String::new());
        match unwrapped(x, name, pattern) {
            Shape::Whole => {
                declared.clone_into(&mut own_type);
                value.clone_into(&mut own_value);
            }
            Shape::Inside | Shape::Failure if value.is_empty() => {}
            Shape::Inside => own_value = format!("({value}).unwrap()"),
            Shape::Failure => own_value = format!("({value}).unwrap_err()"),
            Shape::Field(of) => own_value = format!("{of}{{}}.{text}"),
            Shape::Variant(of, place) => own_value = format!("{of}{{}}.{place}"),
            Shape::Place(place) if declared.is_empty() && !value.is_empty() => {
                own_value = format!("({value})#{place}");
            }
            Shape::Place(place) if !declared.is_empty() => own_type = tuple_part(declared, place),
            Shape::Place(_) | Shape::Other => {}
        }
        set(x, index, own_type, own_value);
    }
}

/// What a name in a pattern stands for.
pub(super) enum Shape {
    Whole,
    /// `Some(name)`, `Ok(name)`.
    Inside,
    /// `Err(name)`.
    Failure,
    /// A field of a struct of this name.
    Field(String),
    /// A place in a tuple struct or variant of this name.
    Variant(String, usize),
    /// A place in a tuple.
    Place(usize),
    Other,
}

/// The type of one place of a tuple type.
fn tuple_part(text: &str, place: usize) -> String {
    let inside =
        text.trim().trim_start_matches('&').trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let (mut depth, mut parts) = (0_i32, vec![String::new()]);
    for character in inside.unwrap_or_default().chars() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(character);
        }
    }
    parts.get(place).map(|part| part.trim().to_owned()).unwrap_or_default()
}

pub(super) fn unwrapped<'t>(x: &Extractor<'t>, name: Node<'t>, pattern: Node<'t>) -> Shape {
    let mut node = name;
    loop {
        if node.id() == pattern.id() {
            return Shape::Whole;
        }
        let Some(parent) = x.parent(node) else { return Shape::Other };
        match parent.kind() {
            "match_pattern" | "mut_pattern" | "ref_pattern" | "reference_pattern" | "captured_pattern" => {
                node = parent;
            }
            _ if parent.id() == pattern.id() && matches!(parent.kind(), "identifier" | "parameter") => {
                return Shape::Whole;
            }
            "tuple_struct_pattern" => {
                let Some(of) = parent.field("type") else { return Shape::Other };
                let text = x.text_of(of);
                match text {
                    "Some" | "Ok" => return Shape::Inside,
                    "Err" => return Shape::Failure,
                    _ => {}
                }
                let place = children(parent).iter().skip(1).position(|child| child.id() == node.id());
                return place.map_or(Shape::Other, |place| Shape::Variant(text.to_owned(), place));
            }
            "tuple_pattern" if is_outermost(x, parent, pattern) => {
                let place = children(parent).iter().position(|child| child.id() == node.id());
                return place.map_or(Shape::Other, Shape::Place);
            }
            "field_pattern" | "struct_pattern" => {
                let outer = if parent.kind() == "struct_pattern" { Some(parent) } else { x.parent(parent) };
                let of = outer.and_then(|outer| outer.field("type"));
                return of.map_or(Shape::Other, |of| Shape::Field(x.text_of(of).to_owned()));
            }
            _ => return Shape::Other,
        }
    }
}

/// Whether nothing but what borrows is around a part of a pattern.
fn is_outermost<'t>(x: &Extractor<'t>, part: Node<'t>, pattern: Node<'t>) -> bool {
    let mut node = part;
    while node.id() != pattern.id() {
        let Some(parent) = x.parent(node) else { return false };
        if !matches!(parent.kind(), "match_pattern" | "mut_pattern" | "ref_pattern" | "reference_pattern") {
            return false;
        }
        node = parent;
    }
    true
}
