//! JavaScript, TypeScript and TSX.

mod bindings;
mod contexts;
mod docs;
mod imports;
mod separators;

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, Rules, beneath, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, Receiver, Span};

use bindings::{assignment, bound, parameters, pattern_keys, variable};
pub(crate) use separators::separated;

const NAMES: &[&str] = &[
    "identifier",
    "type_identifier",
    "property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "private_property_identifier",
    "statement_identifier",
];

/// The kinds of nodes that the visits look at, here and in [`contexts`].
const VISITED: &[&str] = &[
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
    "function_expression",
    "generator_function",
    "arrow_function",
    "class_declaration",
    "abstract_class_declaration",
    "class",
    "interface_declaration",
    "enum_declaration",
    "type_alias_declaration",
    "internal_module",
    "module",
    "method_definition",
    "method_signature",
    "abstract_method_signature",
    "public_field_definition",
    "field_definition",
    "property_signature",
    "enum_body",
    "pair",
    "variable_declarator",
    "assignment_expression",
    "statement_block",
    "for_statement",
    "switch_body",
    "for_in_statement",
    "catch_clause",
    "type_parameter",
    "function_type",
    "call_signature",
    "construct_signature",
    "constructor_type",
    "infer_type",
    "mapped_type_clause",
    "member_expression",
    "nested_type_identifier",
    "nested_identifier",
    "return_statement",
    "comment",
    "labeled_statement",
    "import_statement",
    "export_statement",
    "call_expression",
    "object_pattern",
    "jsx_attribute",
    "shorthand_property_identifier",
    "required_parameter",
    "optional_parameter",
    "as_expression",
    "satisfies_expression",
    "new_expression",
    "object",
    "array",
];

const CLOSED: &[&str] = &["string", "regex"];

pub(super) const RULES: Rules = Rules { names: NAMES, closed: CLOSED, visited: VISITED, visit: visit_plain };
pub(super) const TYPED_RULES: Rules =
    Rules { names: NAMES, closed: CLOSED, visited: VISITED, visit: visit_typed };

/// In JavaScript comments say types.
fn visit_plain<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    match x.kind {
        "comment" => docs::comment(x, node),
        "shorthand_property_identifier" => shorthand(x, node),
        _ => {}
    }
    visit(x, node);
}

/// In TypeScript a field is made by its declaration alone; only functions are given members by assigning them.
fn visit_typed<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    if x.kind != "assignment_expression" {
        visit(x, node);
        return;
    }
    contexts::visit(x, node);
    let object = node.field("left").and_then(|left| left.field("object"));
    if object.is_some_and(|object| x.names_function(x.text_of(object))) {
        assignment(x, node);
    }
}

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    contexts::visit(x, node);
    match x.kind {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            function(x, node, Kind::Function);
        }
        "function_expression" | "generator_function" | "arrow_function" => {
            match (node.field("name"), outer_name(x, node)) {
                // `foo = function bar() {}`: both are names of it, `bar` only within.
                (Some(name), outer) => {
                    let kind = if outer.is_some() { Kind::Constant } else { Kind::Function };
                    let index = x.define(kind, name, node, NameScope::In(span(node)));
                    returns(x, index, node);
                    x.open_body(node, index);
                }
                (None, Some(index)) => {
                    returns(x, index, node);
                    x.open_body(node, index);
                }
                (None, None) => x.open_scope(node),
            }
            parameters(x, node);
        }
        "class_declaration" | "abstract_class_declaration" | "class" => class(x, node),
        "interface_declaration" => named_type(x, node, Kind::Interface),
        "enum_declaration" => named_type(x, node, Kind::Enum),
        "type_alias_declaration" => type_alias(x, node),
        "internal_module" | "module" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Module, name, node, NameScope::Here);
                if let Some(body) = node.field("body") {
                    x.open_body(body, index);
                }
            }
        }
        "method_definition" | "method_signature" | "abstract_method_signature" => method(x, node),
        "public_field_definition" | "field_definition" | "property_signature" => field(x, node),
        "enum_body" => enum_members(x, node),
        "pair" => pair(x, node),
        "variable_declarator" => variable(x, node),
        "assignment_expression" => assignment(x, node),
        "statement_block" | "for_statement" | "switch_body" => x.open_scope(node),
        "for_in_statement" => {
            x.open_scope(node);
            if let Some(left) = node.field("left") {
                let right = x.kept_text(node.field("right"));
                for (index, path) in bound(x, left, node, Kind::Variable, NameScope::Here) {
                    set(x, index, String::new(), format!("{right}[0]{path}"));
                }
            }
        }
        "catch_clause" => {
            x.open_scope(node);
            if let Some(parameter) = node.field("parameter") {
                bound(x, parameter, node, Kind::Variable, NameScope::Here);
            }
        }
        "type_parameter" => {
            if let Some(name) = node.field("name") {
                let owner = x.parent(node).and_then(|list| x.parent(list)).unwrap_or(node);
                let index = x.define(Kind::TypeParameter, name, node, NameScope::In(span(owner)));
                let bound = node.field("constraint").and_then(|bound| bound.named_child(0));
                let bound = x.kept_text(bound);
                // What is known of it is what its bound has.
                if let Some(definition) = x.definition_mut(index).filter(|_| !bound.is_empty()) {
                    definition.bases = vec![bound];
                }
            }
        }
        "function_type" | "call_signature" | "construct_signature" | "constructor_type" => {
            x.open_scope(node);
            parameters(x, node);
        }
        "infer_type" | "mapped_type_clause" => {
            if let Some(name) = children(node).into_iter().find(|child| child.kind() == "type_identifier") {
                let mut place = x.parent(node).unwrap_or(node);
                // What is inferred is known in all of the condition.
                while node.kind() == "infer_type" && place.kind() != "conditional_type" {
                    let Some(outer) = x.parent(place) else { break };
                    place = outer;
                }
                x.define(Kind::TypeParameter, name, node, NameScope::In(span(place)));
            }
        }
        "member_expression" => x.member_access(node, "object", "property"),
        "nested_type_identifier" => x.path_access(node, "module", "name"),
        "nested_identifier" => x.path_access(node, "object", "property"),
        "return_statement" => {
            let value = x.kept_text(node.named_child(0));
            x.returned(value);
        }
        "comment" => links(x, node),
        "labeled_statement" => {
            if let Some(label) = node.field("label") {
                x.define(Kind::Variable, label, node, NameScope::In(span(node)));
            }
        }
        "import_statement" => imports::import(x, node),
        "export_statement" => imports::export(x, node),
        "call_expression" => imports::call(x, node),
        "object_pattern" => pattern_keys(x, node),
        "jsx_attribute" => attribute(x, node),
        _ => {}
    }
}

/// `{@link name}` in a comment uses the name, `{@link name#member}` and `{@link name.member}` the member too.
fn links(x: &mut Extractor<'_>, comment: Node<'_>) {
    const MARK: &str = "{@link ";
    let text = x.text_of(comment);
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let length_at = |at: usize| text[at..].find(|character| !is_part(character)).unwrap_or(text.len() - at);
    for (mark, _) in text.match_indices(MARK) {
        let start = mark + MARK.len();
        let length = length_at(start);
        if length == 0 {
            continue;
        }
        x.used_within(comment, start, length);
        let end = start + length;
        let member = end + 1;
        if text[end..].starts_with(['#', '.']) && length_at(member) > 0 {
            let first = comment.start_byte() + start;
            let of = Span { start: first as u32, end: (first + length) as u32 };
            x.member_within(comment, of, member, length_at(member));
        }
    }
}

/// The name a function has by what it is given to: `const name = () => {}`, `name: function () {}`.
fn outer_name<'t>(x: &Extractor<'t>, node: Node<'t>) -> Option<u32> {
    let (mut node, mut parent) = (node, x.parent(node)?);
    // `const name = { ... } as const` names the object.
    while matches!(parent.kind(), "as_expression" | "satisfies_expression" | "parenthesized_expression") {
        (node, parent) = (parent, x.parent(parent)?);
    }
    let is_value = |field: &'static str| parent.field(field).is_some_and(|value| value.id() == node.id());
    let name = match parent.kind() {
        "variable_declarator" if is_value("value") => parent.field("name")?,
        // `export default function () {}` is named by what it is exported as.
        "export_statement" if is_value("value") => node,
        "pair" if is_value("value") => parent.field("key")?,
        "public_field_definition" | "field_definition" if is_value("value") => {
            parent.field("name").or_else(|| parent.field("property"))?
        }
        "assignment_expression" if is_value("right") => {
            let left = parent.field("left")?;
            left.field("property").unwrap_or(left)
        }
        _ => return None,
    };
    x.defined_at(span(name))
}

fn returns(x: &mut Extractor<'_>, index: u32, node: Node<'_>) {
    let declared = x.kept_text(node.field("return_type"));
    let declared = declared.trim_start_matches(':').trim().to_owned();
    let declared = if declared.is_empty() { docs::returned(x, node) } else { declared };
    // The body of an arrow function without a block is what it returns.
    let body = node.field("body").filter(|body| body.kind() != "statement_block");
    let body = x.kept_text(body.filter(|_| node.kind() == "arrow_function"));
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = if body.is_empty() { String::new() } else { format!("() => {body}") };
        definition.is_function = true;
    }
}

fn function(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(kind, name, node, NameScope::Here);
    returns(x, index, node);
    if let Some(definition) = x.definition_mut(index) {
        definition.is_declaration = node.kind() == "function_signature";
    }
    x.open_body(node, index);
    parameters(x, node);
}

fn class(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(body) = node.field("body") else { return };
    let named = node.field("name").map(|name| {
        let place = if node.kind() == "class" { NameScope::In(span(node)) } else { NameScope::Here };
        x.define(Kind::Class, name, node, place)
    });
    let index = named.or_else(|| {
        let index = outer_name(x, node)?;
        x.definition_mut(index)?.kind = Kind::Class;
        Some(index)
    });
    let Some(index) = index else {
        x.open_members(body, "");
        return;
    };
    let mut bases = Vec::new();
    for heritage in children(node).into_iter().filter(|child| child.kind() == "class_heritage") {
        for clause in children(heritage) {
            match clause.kind() {
                "extends_clause" => {
                    let value = x.kept_text(clause.field("value"));
                    let arguments = x.kept_text(clause.field("type_arguments"));
                    bases.push(format!("{value}{arguments}"));
                }
                "implements_clause" => {
                    bases.extend(children(clause).into_iter().map(|base| x.kept_text(Some(base))));
                }
                // JavaScript has the expression itself here.
                _ => bases.push(x.kept_text(Some(clause))),
            }
        }
    }
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    x.open_body(body, index);
}

fn named_type(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(kind, name, node, NameScope::Here);
    let clauses = children(node).into_iter().filter(|child| child.kind() == "extends_type_clause");
    let bases = clauses.flat_map(children).map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    if let Some(body) = node.field("body") {
        x.open_body(body, index);
    }
}

fn type_alias(x: &mut Extractor<'_>, node: Node<'_>) {
    let (Some(name), Some(value)) = (node.field("name"), node.field("value")) else {
        return;
    };
    let index = x.define(Kind::Type, name, node, NameScope::Here);
    // `type A = { ... } & B` has the members of both.
    let is_object = |node: Node<'_>| node.kind() == "object_type";
    let is_closed =
        |node: Node<'_>| !matches!(node.kind(), "intersection_type" | "parenthesized_type" | "union_type");
    let objects = beneath(value, is_object, is_closed);
    let is_name = |node: Node<'_>| {
        matches!(
            node.kind(),
            "type_identifier" | "generic_type" | "nested_type_identifier" | "lookup_type" | "type_query"
        )
    };
    let bases: Vec<String> =
        beneath(value, is_name, is_closed).into_iter().map(|base| x.kept_text(Some(base))).collect();
    // What may stand for a function type.
    let text = if objects.is_empty() { x.kept_text(Some(value)) } else { String::new() };
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
        definition.value = text;
    }
    if objects.is_empty() {
        return;
    }
    x.open_body(value, index);
}

fn method<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(name) = node.field("name") else { return };
    let text = x.text_of(name);
    let has_word = |word: &str| node.children(&mut node.walk()).any(|child| child.kind() == word);
    let kind = if text == "constructor" {
        Kind::Constructor
    } else if has_word("get") || has_word("set") {
        Kind::Property
    } else if x.parent(node).is_some_and(|parent| parent.kind() == "object_type") {
        // What a type without a name has is no symbol of its file; only interfaces and classes have methods.
        Kind::Field
    } else {
        Kind::Method
    };
    let index = x.define(kind, name, node, NameScope::Member);
    let parent_is_object = x.parent(node).is_some_and(|parent| parent.kind() == "object");
    if let Some(definition) = x.definition_mut(index) {
        definition.is_declaration = node.kind() != "method_definition";
    }
    if parent_is_object {
        loosen(x, index, node);
    }
    returns(x, index, node);
    x.open_body(node, index);
    parameters(x, node);
}

/// A member of an object literal belongs to the variable the literal is given to, not to the class around it.
fn loosen<'t>(x: &mut Extractor<'t>, index: u32, node: Node<'t>) {
    let object = x.parent(node);
    let holder = object.and_then(|object| outer_name(x, object));
    if let Some(definition) = x.definition_mut(index) {
        definition.owner = None;
        definition.container = holder.or(definition.container);
    }
}

fn field(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name").or_else(|| node.field("property")) else {
        return;
    };
    let index = x.define(Kind::Field, name, node, NameScope::Member);
    let declared = x.kept_text(node.field("type"));
    let value = x.kept_text(node.field("value"));
    let declared = declared.trim_start_matches(':').trim().to_owned();
    let declared = if declared.is_empty() { docs::declared(x, node) } else { declared };
    set(x, index, declared, value);
}

/// `module.exports = { name }` gives others what has that name here.
fn shorthand<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(object) = x.parent(node) else { return };
    let is_given = x.parent(object).is_some_and(|parent| {
        let left = parent.field("left").map(|left| x.text_of(left));
        parent.kind() == "assignment_expression" && left == Some("module.exports")
    });
    if is_given {
        let index = x.define(Kind::Field, node, node, NameScope::Member);
        let name = x.text_of(node).to_owned();
        set(x, index, String::new(), name);
        loosen(x, index, node);
    }
}

fn enum_members(x: &mut Extractor<'_>, node: Node<'_>) {
    for member in children(node) {
        let name = if member.kind() == "enum_assignment" { member.field("name") } else { Some(member) };
        if let Some(name) = name.filter(|name| name.kind() != "comment") {
            x.define(Kind::EnumMember, name, member, NameScope::Member);
        }
    }
}

fn pair<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(key) = node.field("key").filter(|key| key.kind() == "property_identifier") else {
        return;
    };
    let value = node.field("value");
    let is_function = value
        .is_some_and(|value| value.kind().ends_with("function") || value.kind() == "function_expression");
    let kind = if is_function { Kind::Method } else { Kind::Field };
    let index = x.define(kind, key, node, NameScope::Member);
    let value = x.kept_text(value);
    set(x, index, String::new(), value);
    loosen(x, index, node);
}

fn set(x: &mut Extractor<'_>, index: u32, declared: String, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = value;
    }
}

/// `<Component name={...}>` gives the component something by its name.
fn attribute<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let component = x.parent(node).and_then(|element| element.field("name"));
    if let (Some(name), Some(component)) = (node.named_child(0), component) {
        x.reached(name, Receiver::Argument(span(component)));
    }
}
