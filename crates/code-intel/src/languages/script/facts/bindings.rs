//! The names that declarations, assignments and parameters make.

use tree_sitter::Node;

use super::{docs, imports, set};
use crate::facts::extract::{Extractor, NameScope, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, Receiver, Span};

/// The names a pattern binds.
pub(super) fn bound(
    x: &mut Extractor<'_>,
    pattern: Node<'_>,
    whole: Node<'_>,
    kind: Kind,
    place: NameScope,
) -> Vec<(u32, String)> {
    const MOST: usize = 10_000;
    let mut open = vec![(pattern, String::new())];
    let (mut found, mut seen) = (Vec::new(), 0);
    while let Some((node, path)) = open.pop() {
        seen += 1;
        if seen > MOST {
            break;
        }
        match node.kind() {
            "identifier" => found.push((x.define(kind, node, whole, place), path)),
            "shorthand_property_identifier_pattern" => {
                let path = format!("{path}.{}", x.text_of(node));
                found.push((x.define(kind, node, whole, place), path));
            }
            "pair_pattern" => {
                let key = node.field("key").filter(|key| key.kind() == "property_identifier");
                let path =
                    key.map_or_else(|| format!("{path}[0]"), |key| format!("{path}.{}", x.text_of(key)));
                open.extend(node.field("value").map(|value| (value, path)));
            }
            // `{ a = b }`: what stands behind the sign is used, not bound.
            "assignment_pattern" | "object_assignment_pattern" => {
                open.extend(node.field("left").map(|left| (left, path)));
            }
            "array_pattern" => {
                let path = format!("{path}[0]");
                open.extend(children(node).into_iter().rev().map(|part| (part, path.clone())));
            }
            "type_annotation" | "member_expression" | "subscript_expression" | "call_expression" => {}
            _ => open.extend(children(node).into_iter().rev().map(|part| (part, path.clone()))),
        }
    }
    found
}

pub(super) fn variable<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(name) = node.field("name") else { return };
    let value = node.field("value");
    let is_const = x.parent(node).is_some_and(|parent| x.text_of(parent).starts_with("const"));
    let is_var = x.parent(node).is_some_and(|parent| parent.kind() == "variable_declaration");
    let place = match x.innermost_function().filter(|_| is_var) {
        Some(span) => NameScope::In(span),
        None => NameScope::Here,
    };
    if let Some(value) = value
        && let Some(module) = imports::required(x, value)
    {
        imports::require(x, name, value, &module);
    }
    let kind = if is_const { Kind::Constant } else { Kind::Variable };
    let declared = x.kept_text(node.field("type"));
    let declared = declared.trim_start_matches(':').trim().to_owned();
    let declared = if declared.is_empty() { docs::declared(x, node) } else { declared };
    let text = x.kept_text(value);
    for (index, path) in bound(x, name, node, kind, place) {
        let (declared, value) = taken(&declared, &text, &path);
        set(x, index, declared, value);
    }
}

/// The type and the value of a name that is bound to all of a value, or to what a path from it leads to.
pub(super) fn taken(declared: &str, value: &str, path: &str) -> (String, String) {
    if path.is_empty() {
        return (declared.to_owned(), value.to_owned());
    }
    let value = match (declared, value) {
        ("", "") => path.to_owned(),
        ("", value) => format!("({value}){path}"),
        (declared, _) => format!("(_ as {declared}){path}"),
    };
    (String::new(), value)
}

/// `this.name = ...` makes a field; `exports.name = ...` and `Type.prototype.name = ...` something for others.
pub(super) fn assignment(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(left) = node.field("left").filter(|left| left.kind() == "member_expression") else {
        return;
    };
    let (Some(object), Some(name)) = (left.field("object"), left.field("property")) else {
        return;
    };
    let value = x.kept_text(node.field("right"));
    let holder = x.text_of(object);
    let owner = holder.strip_suffix(".prototype").unwrap_or(holder);
    let is_name =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte));
    if !is_name(owner) {
        return;
    }
    let enclosing = x.enclosing_type();
    let right = node.field("right");
    let is_function = right
        .is_some_and(|right| right.kind().ends_with("function") || right.kind() == "function_expression");
    let kind = if is_function { Kind::Method } else { Kind::Field };
    let this = x.function_owner();
    let index = x.define(kind, name, node, NameScope::Member);
    let declared = docs::declared(x, node);
    set(x, index, declared, value);
    if let Some(definition) = x.definition_mut(index) {
        match (owner, enclosing) {
            ("this", Some((container, _))) => {
                definition.container = container;
                // What the class itself says of the field counts more.
                definition.is_declaration = true;
            }
            ("this", None) => {
                definition.container = None;
                definition.owner = this;
            }
            ("exports" | "module.exports", _) => {
                definition.container = None;
                definition.owner = Some("exports".to_owned());
            }
            _ => {
                definition.container = None;
                definition.owner = Some(owner.to_owned());
            }
        }
    }
}

pub(super) fn parameters(x: &mut Extractor<'_>, function: Node<'_>) {
    if let Some(single) = function.field("parameter") {
        let index = x.define(Kind::Parameter, single, single, NameScope::In(span(function)));
        let declared = docs::parameter(x, function, x.text_of(single));
        set(x, index, declared, String::new());
    }
    let Some(list) = function.field("parameters") else { return };
    for parameter in children(list) {
        let pattern = parameter.field("pattern").or_else(|| parameter.field("left")).unwrap_or(parameter);
        let declared = x.kept_text(parameter.field("type"));
        let declared = declared.trim_start_matches(':').trim().to_owned();
        let declared =
            if declared.is_empty() { docs::parameter(x, function, x.text_of(pattern)) } else { declared };
        let default = parameter.field("value").or_else(|| parameter.field("right"));
        let value = x.kept_text(default);
        let is_plain = pattern.kind() == "identifier";
        for (index, path) in bound(x, pattern, parameter, Kind::Parameter, NameScope::In(span(function))) {
            // What is taken apart is what is given, not what stands for it.
            let default = if is_plain { value.as_str() } else { "" };
            let (declared, value) = taken(&declared, default, &path);
            set(x, index, declared, value);
        }
        // `constructor(private name: T)` makes a field as well.
        let makes_field = children(parameter)
            .iter()
            .any(|child| matches!(child.kind(), "accessibility_modifier" | "override_modifier" | "readonly"))
            || x.text_of(parameter).starts_with("readonly ");
        if makes_field
            && is_plain
            && let Some((container, _)) = x.enclosing_type()
        {
            let index = x.define(Kind::Field, pattern, parameter, NameScope::Member);
            set(x, index, declared, value);
            if let Some(definition) = x.definition_mut(index) {
                definition.container = container;
            }
        }
    }
}

/// `{ key: name }` takes the member `key` of what is taken apart.
pub(super) fn pattern_keys<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let value = x.parent(node).and_then(|parent| parent.field("value")).map(span);
    for pair in children(node).into_iter().filter(|child| child.kind() == "pair_pattern") {
        if let Some(key) = pair.field("key") {
            // Of what a parameter is given there is no expression; the key is a member all the same.
            let nothing = Span { end: span(key).start, ..span(key) };
            x.reached(key, Receiver::Value(value.unwrap_or(nothing)));
        }
    }
}
