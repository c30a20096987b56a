//! Java.

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, Rules, children, children_by_field, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, NAMELESS, Receiver};

/// The kinds of nodes that [`visit`] looks at.
const VISITED: &[&str] = &[
    "package_declaration",
    "import_declaration",
    "class_declaration",
    "record_declaration",
    "interface_declaration",
    "annotation_type_declaration",
    "enum_declaration",
    "enum_constant",
    "object_creation_expression",
    "method_declaration",
    "constructor_declaration",
    "compact_constructor_declaration",
    "lambda_expression",
    "formal_parameter",
    "spread_parameter",
    "catch_formal_parameter",
    "field_declaration",
    "constant_declaration",
    "local_variable_declaration",
    "enhanced_for_statement",
    "resource",
    "instanceof_expression",
    "type_parameter",
    "block",
    "for_statement",
    "switch_block",
    "catch_clause",
    "try_with_resources_statement",
    "method_reference",
    "field_access",
    "method_invocation",
];

pub(super) const RULES: Rules =
    Rules { names: &["identifier", "type_identifier"], closed: &[], visited: VISITED, visit };

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    match x.kind {
        "package_declaration" => {
            if let Some(name) = node.named_child(node.named_child_count().saturating_sub(1) as u32) {
                let name = x.text_of(name);
                x.set_package(name);
            }
        }
        "import_declaration" => import(x, node),
        "class_declaration" | "record_declaration" => type_declaration(x, node, Kind::Class),
        "interface_declaration" | "annotation_type_declaration" => type_declaration(x, node, Kind::Interface),
        "enum_declaration" => type_declaration(x, node, Kind::Enum),
        "enum_constant" => {
            if let Some(name) = node.field("name") {
                x.define(Kind::EnumMember, name, node, NameScope::Member);
                // A constant may have a body of its own.
                if let Some(body) = node.field("body") {
                    let owner = format!("{}{NAMELESS}", x.text_of(name));
                    x.open_members(body, &owner);
                }
            }
        }
        "object_creation_expression" => {
            let body = children(node).into_iter().find(|child| child.kind() == "class_body");
            if let (Some(body), Some(of)) = (body, node.field("type")) {
                let of = x.text_of(of).split('<').next().unwrap_or_default();
                let owner = format!("{of}{NAMELESS}");
                x.open_members(body, &owner);
            }
        }
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
            method(x, node);
        }
        "lambda_expression" => {
            x.open_scope(node);
            if let Some(parameters) = node.field("parameters") {
                let single = (parameters.kind() == "identifier").then_some(parameters);
                let inferred = (parameters.kind() == "inferred_parameters").then(|| children(parameters));
                let given = given_to_lambda(x, node);
                for name in single.into_iter().chain(inferred.into_iter().flatten()) {
                    let index = x.define(Kind::Parameter, name, name, NameScope::In(span(node)));
                    set(x, index, String::new(), given.clone());
                }
            }
        }
        "formal_parameter" | "spread_parameter" | "catch_formal_parameter" => {
            // `Type... names` has its name in a declarator.
            let declarator = children(node).into_iter().find(|one| one.kind() == "variable_declarator");
            let name = node.field("name").or_else(|| declarator?.field("name"));
            if let Some(name) = name {
                let index = x.define(Kind::Parameter, name, node, NameScope::Here);
                let many = declarator.and_then(|_| node.named_child(0));
                let declared = x.kept_text(node.field("type").or(many));
                let declared = if declarator.is_some() { format!("{declared}[]") } else { declared };
                set(x, index, declared, String::new());
            }
        }
        "field_declaration" | "constant_declaration" => variables(x, node, Kind::Field, NameScope::Member),
        "local_variable_declaration" => variables(x, node, Kind::Variable, NameScope::Here),
        "enhanced_for_statement" => {
            x.open_scope(node);
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Variable, name, node, NameScope::Here);
                let declared = type_text(x, node);
                let over = x.kept_text(node.field("value"));
                set(x, index, declared, format!("{over}[0]"));
            }
        }
        "resource" | "instanceof_expression" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Variable, name, node, NameScope::Here);
                let of = node.field("type").or_else(|| node.field("right"));
                let declared = x.kept_text(of);
                set(x, index, declared, String::new());
            }
        }
        "type_parameter" => {
            if let Some(name) = node.named_child(0) {
                let owner = x.parent(node).and_then(|list| x.parent(list)).unwrap_or(node);
                let index = x.define(Kind::TypeParameter, name, node, NameScope::In(span(owner)));
                let bounds = children(node).into_iter().filter(|child| child.kind() == "type_bound");
                let bounds = bounds.flat_map(children).map(|bound| x.kept_text(Some(bound))).collect();
                if let Some(definition) = x.definition_mut(index) {
                    definition.bases = bounds;
                }
            }
        }
        "block" | "for_statement" | "switch_block" | "catch_clause" | "try_with_resources_statement" => {
            x.open_scope(node);
        }
        "method_reference" => {
            let parts = children(node);
            if let [of, .., name] = parts.as_slice() {
                x.reached(*name, Receiver::Value(span(*of)));
            }
        }
        "field_access" => x.member_access(node, "object", "field"),
        "method_invocation" => x.member_access(node, "object", "name"),
        _ => {}
    }
}

fn set(x: &mut Extractor<'_>, index: u32, declared: String, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = value;
    }
}

/// The text of a type; what `var` stands for is told by the value.
fn type_text(x: &Extractor<'_>, node: Node<'_>) -> String {
    let text = x.kept_text(node.field("type"));
    if text == "var" { String::new() } else { text }
}

/// What the lambda in `values.method(value -> ...)` is given, as an expression: one of the values.
fn given_to_lambda<'t>(x: &Extractor<'t>, lambda: Node<'t>) -> String {
    const ONE_EACH: &[&str] = &[
        "forEach",
        "filter",
        "map",
        "flatMap",
        "mapToInt",
        "mapToLong",
        "mapToDouble",
        "mapToObj",
        "anyMatch",
        "allMatch",
        "noneMatch",
        "ifPresent",
        "ifPresentOrElse",
        "removeIf",
        "peek",
        "sorted",
        "takeWhile",
        "dropWhile",
        "forEachOrdered",
        "max",
        "min",
        "sort",
        "replaceAll",
        "thenApply",
        "thenAccept",
    ];
    let call = x.parent(lambda).and_then(|arguments| x.parent(arguments));
    let Some(call) = call.filter(|call| call.kind() == "method_invocation") else { return String::new() };
    let method = call.field("name").map(|name| x.text_of(name)).unwrap_or_default();
    let value = x.kept_text(call.field("object"));
    if value.is_empty() || !ONE_EACH.contains(&method) { String::new() } else { format!("({value})[0]") }
}

fn import(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(path) = children(node).into_iter().find(|child| child.kind().ends_with("identifier")) else {
        return;
    };
    let path = x.text_of(path);
    let is_all = children(node).iter().any(|child| child.kind() == "asterisk");
    if is_all {
        let imported = x.imported("*", "*", node);
        x.import(path, node, vec![imported]);
        return;
    }
    let (_, last) = path.rsplit_once('.').unwrap_or(("", path));
    let imported = x.imported(last, last, node);
    x.import(path, node, vec![imported]);
}

fn type_declaration(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(kind, name, node, NameScope::Here);
    let clauses = children(node)
        .into_iter()
        .filter(|child| matches!(child.kind(), "superclass" | "super_interfaces" | "extends_interfaces"));
    let bases = clauses.flat_map(children);
    let bases = bases.flat_map(|base| if base.kind() == "type_list" { children(base) } else { vec![base] });
    let bases = bases.map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    if let Some(body) = node.field("body") {
        x.open_body(body, index);
    }
}

fn method(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name") else { return };
    let kind = if node.kind() == "method_declaration" { Kind::Method } else { Kind::Constructor };
    let index = x.define(kind, name, node, NameScope::Member);
    let declared = x.kept_text(node.field("type"));
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.is_declaration = node.field("body").is_none();
    }
    x.open_body(node, index);
}

fn variables(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind, place: NameScope) {
    let declared = type_text(x, node);
    for declarator in children_by_field(node, "declarator") {
        if let Some(name) = declarator.field("name") {
            let index = x.define(kind, name, node, place);
            let value = x.kept_text(declarator.field("value"));
            set(x, index, declared.clone(), value);
        }
    }
}
