//! What is expected of objects, functions and lists that are written out: by a declared type, by what they are given
//! to, by the function they are handed to.

use tree_sitter::Node;

use super::docs;
use crate::facts::extract::{Extractor, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{Context, Expected, Receiver, Span};

/// Looks at a node that says what is expected of what stands in it.
pub(super) fn visit(x: &mut Extractor<'_>, node: Node<'_>) {
    match x.kind {
        "variable_declarator" | "public_field_definition" | "required_parameter" | "optional_parameter" => {
            if let Some(value) = node.field("value") {
                let of = node.field("type").map(|of| annotated(x, of));
                if let Some(of) = of.or_else(|| docs::declared_at(x, node)) {
                    expects(x, value, Expected::Declared(of));
                }
            }
        }
        "as_expression" | "satisfies_expression" => {
            if let [value, of] = children(node).as_slice() {
                expects(x, *value, Expected::Declared(span(*of)));
            }
        }
        "call_expression" => arguments(x, node, "function"),
        "new_expression" => arguments(x, node, "constructor"),
        "object" => object(x, node),
        "array" => {
            for element in children(node) {
                expects(x, element, Expected::Element(span(node)));
            }
        }
        "assignment_expression" => {
            if let (Some(left), Some(right)) = (node.field("left"), node.field("right")) {
                let said = docs::declared_at(x, node);
                expects(x, right, said.map_or(Expected::Assigned(span(left)), Expected::Declared));
            }
        }
        "return_statement" => {
            if let Some(value) = node.named_child(0) {
                returned(x, value);
            }
        }
        "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "generator_function"
        | "arrow_function"
        | "method_definition" => {
            let declared = node.field("return_type").map(|of| annotated(x, of));
            let declared = declared.or_else(|| docs::returned_at(x, node));
            x.enter_function(span(node), declared);
            if let Some(body) = node.field("body").filter(|_| node.kind() == "arrow_function") {
                returned(x, body);
            }
        }
        _ => {}
    }
}

/// A type without the colon before it.
fn annotated(x: &Extractor<'_>, of: Node<'_>) -> Span {
    let whole = span(of);
    let text = x.text_of(of);
    let skipped = text.len() - text.trim_start_matches(':').trim_start().len();
    Span { start: whole.start + skipped as u32, end: whole.end }
}

fn returned(x: &mut Extractor<'_>, value: Node<'_>) {
    if let Some((function, declared)) = x.function_around() {
        let expected = declared.map_or(Expected::Returned(function), Expected::Declared);
        expects(x, value, expected);
    }
}

fn arguments(x: &mut Extractor<'_>, call: Node<'_>, function: &'static str) {
    let (Some(function), Some(list)) = (call.field(function), call.field("arguments")) else {
        return;
    };
    if list.named_child_count() == 0 {
        return;
    }
    let is_made = call.kind() == "new_expression";
    let given = children(list).into_iter().filter(|argument| argument.kind() != "comment");
    for (place, argument) in given.enumerate() {
        let place = place as u32;
        expects(x, argument, Expected::Argument { function: span(function), place, is_made });
    }
}

fn object(x: &mut Extractor<'_>, node: Node<'_>) {
    let object = span(node);
    for part in children(node) {
        match part.kind() {
            "pair" => {
                let (Some(key), Some(value)) = (part.field("key"), part.field("value")) else {
                    continue;
                };
                x.reached(key, Receiver::Made(object));
                expects(x, value, Expected::Member { object, name: span(key) });
            }
            "method_definition" => {
                if let Some(name) = part.field("name") {
                    x.reached(name, Receiver::Made(object));
                    let expected = Expected::Member { object, name: span(name) };
                    x.expect(Context { span: span(part), expected });
                }
            }
            "shorthand_property_identifier" => x.reached(part, Receiver::Made(object)),
            _ => {}
        }
    }
}

/// Notes what is expected of a value, where it is one that takes its type from that.
fn expects(x: &mut Extractor<'_>, value: Node<'_>, expected: Expected) {
    const MOST: usize = 64;
    // Most values are names, calls and literals, of which nothing is expected.
    let (mut open, mut next) = (Vec::new(), Some(value));
    let mut seen = 0;
    while let Some(value) = next.take().or_else(|| open.pop()) {
        seen += 1;
        if seen > MOST {
            return;
        }
        match value.kind() {
            "object" | "array" | "arrow_function" | "function_expression" | "generator_function" => {
                x.expect(Context { span: span(value), expected });
            }
            "parenthesized_expression" => open.extend(value.named_child(0)),
            "ternary_expression" => {
                open.extend(value.field("consequence"));
                open.extend(value.field("alternative"));
            }
            "binary_expression" => {
                let operator = value.field("operator").map(|operator| operator.kind());
                if matches!(operator, Some("||" | "??" | "&&")) {
                    open.extend(value.field("left"));
                    open.extend(value.field("right"));
                }
            }
            _ => {}
        }
    }
}
