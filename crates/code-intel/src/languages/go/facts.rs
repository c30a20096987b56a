//! Go.

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, Rules, children, children_by_field, span};
use crate::facts::nodes::Fields;
use crate::facts::{Context, Expected, Kind, Receiver, Span};

/// The kinds of nodes that [`visit`] looks at.
const VISITED: &[&str] = &[
    "package_clause",
    "function_declaration",
    "method_declaration",
    "func_literal",
    "type_spec",
    "type_alias",
    "field_declaration",
    "method_elem",
    "method_spec",
    "const_spec",
    "var_spec",
    "short_var_declaration",
    "range_clause",
    "receive_statement",
    "type_switch_statement",
    "type_case",
    "block",
    "if_statement",
    "for_statement",
    "expression_switch_statement",
    "expression_case",
    "communication_case",
    "default_case",
    "select_statement",
    "type_parameter_declaration",
    "selector_expression",
    "qualified_type",
    "keyed_element",
    "labeled_statement",
    "import_spec",
];

pub(super) const RULES: Rules = Rules {
    names: &["identifier", "type_identifier", "field_identifier", "package_identifier", "label_name"],
    closed: &["interpreted_string_literal", "raw_string_literal"],
    visited: VISITED,
    visit,
};

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    match x.kind {
        "package_clause" => {
            if let Some(name) = node.named_child(0) {
                let name = x.text_of(name);
                x.set_package(name);
            }
        }
        "function_declaration" | "method_declaration" => function(x, node),
        "func_literal" => {
            literal(x, node);
            x.open_scope(node);
            parameters(x, node, "parameters");
            parameters(x, node, "result");
        }
        "type_spec" | "type_alias" => type_spec(x, node),
        "field_declaration" => field(x, node),
        "method_elem" | "method_spec" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Method, name, node, NameScope::Member);
                let declared = result_text(x, node.field("result"));
                if let Some(definition) = x.definition_mut(index) {
                    definition.declared = declared;
                    definition.is_declaration = true;
                }
            }
        }
        "const_spec" | "var_spec" => {
            let kind = if node.kind() == "const_spec" { Kind::Constant } else { Kind::Variable };
            let declared = type_text(x, node.field("type"));
            let names: Vec<Node<'_>> = children_by_field(node, "name");
            let names: Vec<Node<'_>> = names.into_iter().filter(|name| name.kind() == "identifier").collect();
            let values = values(x, node.field("value"), names.len());
            let place = after(x, node);
            for (name, value) in names.into_iter().zip(values) {
                let index = x.define(kind, name, node, place);
                set(x, index, declared.clone(), value);
            }
        }
        "short_var_declaration" | "range_clause" | "receive_statement" => bindings(x, node),
        "type_switch_statement" => {
            x.open_scope(node);
            if let Some(alias) = node.field("alias") {
                // What is switched on is understood outside.
                let start = node.field("value").unwrap_or(alias).end_byte() as u32;
                let known = Span { start, end: node.end_byte() as u32 };
                for name in children(alias) {
                    x.define(Kind::Variable, name, node, NameScope::In(known));
                }
            }
        }
        "type_case" => {
            x.open_scope(node);
            switched(x, node);
        }
        "block"
        | "if_statement"
        | "for_statement"
        | "expression_switch_statement"
        | "expression_case"
        | "communication_case"
        | "default_case"
        | "select_statement" => x.open_scope(node),
        "type_parameter_declaration" => {
            let owner = x.parent(node).and_then(|list| x.parent(list)).unwrap_or(node);
            let bound = x.kept_text(node.field("type"));
            for name in children_by_field(node, "name") {
                let index = x.define(Kind::TypeParameter, name, node, NameScope::In(span(owner)));
                if let Some(definition) = x.definition_mut(index) {
                    definition.bases = vec![bound.clone()];
                }
            }
        }
        "selector_expression" => x.member_access(node, "operand", "field"),
        "qualified_type" => x.path_access(node, "package", "name"),
        "keyed_element" => keyed(x, node),
        "labeled_statement" => {
            if let Some(label) = node.field("label") {
                let function = x.innermost_function().unwrap_or(span(node));
                let index = x.define(Kind::Variable, label, node, NameScope::In(function));
                set(x, index, ":".to_owned(), String::new());
            }
        }
        "import_spec" => {
            let Some(path) = node.field("path") else { return };
            let module = x.text_of(path).trim_matches(['"', '`']);
            let alias = node.field("name");
            // The name of a package is the last part of its path, as a rule.
            let last = module.rsplit('/').next().unwrap_or(module);
            let last = if is_version(last) { module.rsplit('/').nth(1).unwrap_or(last) } else { last };
            let text = alias.map_or(last, |alias| x.text_of(alias));
            let imported = match text {
                "." => x.imported("*", "*", node),
                text => x.imported("", text, alias.unwrap_or(path)),
            };
            x.import(module, node, vec![imported]);
        }
        _ => {}
    }
}

/// The name in `switch name := value.(type)` is of the type of the case it stands in.
fn switched<'t>(x: &mut Extractor<'t>, case: Node<'t>) {
    let alias = x.parent(case).and_then(|switch| switch.field("alias"));
    let types = children_by_field(case, "type");
    if let (Some(alias), [of]) = (alias, types.as_slice()) {
        let declared = x.kept_text(Some(*of));
        for name in children(alias) {
            let index = x.define(Kind::Variable, name, case, NameScope::In(span(case)));
            set(x, index, declared.clone(), String::new());
        }
    }
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn set(x: &mut Extractor<'_>, index: u32, declared: String, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = value;
    }
}

/// What each of several names is given: a value of its own, or a part of what a call returns.
fn values(x: &Extractor<'_>, given: Option<Node<'_>>, names: usize) -> Vec<String> {
    let Some(given) = given else { return vec![String::new(); names] };
    let given = if given.kind() == "expression_list" { children(given) } else { vec![given] };
    match given[..] {
        [one] if names != 1 => {
            let text = x.kept_text(Some(one));
            (0..names)
                .map(|order| if text.is_empty() { String::new() } else { format!("{text}#{order}") })
                .collect()
        }
        _ => (0..names).map(|order| value_text(x, given.get(order).copied())).collect(),
    }
}

/// The text of a value; of a literal the type is enough, however long it is.
fn value_text(x: &Extractor<'_>, node: Option<Node<'_>>) -> String {
    let Some(node) = node else { return String::new() };
    let literal = node.field("operand").filter(|_| node.kind() == "unary_expression").unwrap_or(node);
    match literal.field("type").filter(|_| literal.kind() == "composite_literal") {
        Some(of) => format!("{}{{}}", type_text(x, Some(of))),
        None => x.kept_text(Some(node)),
    }
}

/// The text of a type; of a struct without a name only that it is one, for its fields stand behind that.
fn type_text(x: &Extractor<'_>, node: Option<Node<'_>>) -> String {
    let Some(node) = node else { return String::new() };
    let mut inner = node;
    while let Some(deeper) = inner.field("element").or_else(|| inner.field("value")) {
        inner = deeper;
    }
    if inner.kind() == "pointer_type" {
        inner = inner.named_child(0).unwrap_or(inner);
    }
    if inner.kind() != "struct_type" {
        return x.kept_text(Some(node));
    }
    let before = x.text_of(node).get(..inner.start_byte() - node.start_byte()).unwrap_or_default();
    format!("{before}struct")
}

/// A function without a name: its type stands in it.
fn literal(x: &mut Extractor<'_>, node: Node<'_>) {
    let start = node.start_byte() as u32;
    let end = node.field("body").map_or(start, |body| body.start_byte() as u32);
    let expected = Expected::Declared(Span { start, end });
    x.expect(Context { span: span(node), expected });
}

/// A local name is known behind its declaration.
fn after(x: &Extractor<'_>, node: Node<'_>) -> NameScope {
    match x.innermost() {
        Some(scope) => NameScope::In(Span { start: node.end_byte() as u32, end: scope.end }),
        None => NameScope::Here,
    }
}

fn function(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name") else { return };
    let receiver = node.field("receiver");
    let owner = receiver.map(|receiver| plain_type(x.text_of(receiver)));
    let kind = if owner.is_some() { Kind::Method } else { Kind::Function };
    let index = x.define(kind, name, node, NameScope::Here);
    let declared = result_text(x, node.field("result"));
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.is_member = owner.is_some();
        definition.owner = owner;
    }
    x.open_body(node, index);
    parameters(x, node, "receiver");
    parameters(x, node, "parameters");
    parameters(x, node, "result");
}

/// The types of what a function gives, without the names of its results: `(item Item)` is `Item`.
fn result_text(x: &Extractor<'_>, result: Option<Node<'_>>) -> String {
    let Some(list) = result.filter(|result| result.kind() == "parameter_list") else {
        return x.kept_text(result);
    };
    let mut types = Vec::new();
    for one in children(list) {
        let of = x.kept_text(one.field("type"));
        let names = children_by_field(one, "name").len().max(1);
        types.extend(std::iter::repeat_n(of, names));
    }
    match types.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", types.join(", ")),
    }
}

/// `(c *Command[T])` is `Command`.
fn plain_type(receiver: &str) -> String {
    let inner = receiver.trim_matches(['(', ')', ' ']);
    let last = inner.split(['[']).next().unwrap_or(inner).trim();
    let last = last.rsplit([' ', '*']).next().unwrap_or(last);
    last.to_owned()
}

fn parameters(x: &mut Extractor<'_>, function: Node<'_>, field: &'static str) {
    let list = match function.field(field) {
        Some(list) if list.kind() == "parameter_list" => list,
        Some(single) => return x.leave_out(single, function),
        None => return,
    };
    for parameter in children(list) {
        // A parameter is known in the body alone: `func f(setter setter)`.
        if let Some(of) = parameter.field("type") {
            x.leave_out(of, function);
        }
        let declared = type_text(x, parameter.field("type"));
        let is_many = parameter.kind() == "variadic_parameter_declaration";
        for name in children_by_field(parameter, "name") {
            let index = x.define(Kind::Parameter, name, parameter, NameScope::In(span(function)));
            let declared = if is_many { format!("[]{declared}") } else { declared.clone() };
            set(x, index, declared, String::new());
        }
    }
}

fn type_spec(x: &mut Extractor<'_>, node: Node<'_>) {
    let (Some(name), Some(of)) = (node.field("name"), node.field("type")) else {
        return;
    };
    let kind = match of.kind() {
        "struct_type" => Kind::Struct,
        "interface_type" => Kind::Interface,
        _ => Kind::Type,
    };
    let index = x.define(kind, name, node, NameScope::Here);
    let declared = x.kept_text(Some(of).filter(|_| kind == Kind::Type));
    set(x, index, declared, String::new());
    if kind != Kind::Type {
        x.open_body(of, index);
        // Interfaces that are part of one, and structs that are embedded, give their members.
        let mut bases: Vec<String> = Vec::new();
        for child in children(of) {
            match child.kind() {
                "type_elem" => bases.push(x.kept_text(Some(child))),
                "field_declaration_list" => {
                    for field in children(child) {
                        if field.kind() == "field_declaration" && field.field("name").is_none() {
                            bases.push(x.kept_text(field.field("type")));
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(definition) = x.definition_mut(index) {
            definition.bases = bases;
        }
    }
}

fn field(x: &mut Extractor<'_>, node: Node<'_>) {
    let of = node.field("type");
    let declared = type_text(x, of);
    let mut names = children_by_field(node, "name");
    if names.is_empty() {
        // An embedded type is a field of that name.
        let last = of.map(|of| of.field("name").unwrap_or(of));
        names.extend(last.filter(|last| last.kind() == "type_identifier"));
    }
    for name in names {
        let index = x.define(Kind::Field, name, node, NameScope::Member);
        set(x, index, declared.clone(), String::new());
    }
}

fn bindings(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(left) = node.field("left") else { return };
    let is_range = node.kind() == "range_clause";
    let makes_names = x.text_of(node).contains(":=");
    if !makes_names {
        return;
    }
    let names = children(left);
    let place = after(x, node);
    let given = node.field("right");
    let values = if is_range {
        vec![String::new(), format!("{}[0]", value_text(x, given))]
    } else {
        values(x, given, names.len())
    };
    for (name, value) in names.into_iter().zip(values).filter(|(name, _)| name.kind() == "identifier") {
        // What `:=` finds in its own block it assigns.
        if node.kind() == "short_var_declaration" && x.is_declared_in_block(x.text_of(name)) {
            continue;
        }
        let index = x.define(Kind::Variable, name, node, place);
        set(x, index, String::new(), value);
    }
}

/// The field in `Type{field: value}`.
fn keyed<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let key = node
        .named_child(0)
        .and_then(|key| if key.kind() == "literal_element" { key.named_child(0) } else { Some(key) });
    let Some(key) = key.filter(|key| key.kind() == "identifier") else { return };
    let literal = x.parent(node).and_then(|value| x.parent(value));
    let of = literal.filter(|literal| literal.kind() == "composite_literal");
    let Some(of) = of.and_then(|literal| literal.field("type")) else {
        // An element of a list whose type is told further out.
        let mut outer = literal;
        while let Some(node) = outer {
            if node.kind() == "composite_literal" {
                if let Some(of) = node.field("type") {
                    let element = of.field("element").or_else(|| of.field("value"));
                    if let Some(element) = element {
                        x.reached(key, Receiver::Made(span(element)));
                    }
                }
                return;
            }
            if node.kind() == "block" {
                return;
            }
            outer = x.parent(node);
        }
        return;
    };
    if !matches!(of.kind(), "map_type" | "slice_type" | "array_type") {
        x.reached(key, Receiver::Made(span(of)));
    }
}
