//! What a script imports and exports.

use tree_sitter::Node;

use super::set;
use crate::facts::extract::{Extractor, NameScope, beneath, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{ImportedName, Kind, Receiver};

pub(super) fn unquoted<'t>(x: &Extractor<'t>, node: Node<'_>) -> &'t str {
    x.text_of(node).trim_matches(['"', '\'', '`'])
}

pub(super) fn import(x: &mut Extractor<'_>, node: Node<'_>) {
    let mut names = Vec::new();
    let mut source = node.field("source");
    let wanted =
        |node: Node<'_>| matches!(node.kind(), "import_specifier" | "namespace_import" | "identifier");
    let mut clauses: Vec<Node<'_>> = Vec::new();
    for child in children(node) {
        match child.kind() {
            "import_clause" => clauses.push(child),
            // `import name = require("module")`.
            "import_require_clause" => {
                source = child.field("source");
                if let Some(name) = child.named_child(0) {
                    let text = x.text_of(name);
                    names.push(x.imported("", text, name));
                }
            }
            _ => {}
        }
    }
    for found in clauses.into_iter().flat_map(|clause| beneath(clause, wanted, |_| false)) {
        match found.kind() {
            "import_specifier" => names.extend(specifier(x, found, source)),
            "namespace_import" => {
                if let Some(name) = found.named_child(0) {
                    let text = x.text_of(name);
                    names.push(x.imported("", text, name));
                }
            }
            _ => {
                let text = x.text_of(found);
                names.push(x.imported("default", text, found));
            }
        }
    }
    if let Some(source) = source {
        let module = unquoted(x, source);
        x.import(module, source, names);
    }
}

fn specifier(x: &mut Extractor<'_>, node: Node<'_>, source: Option<Node<'_>>) -> Option<ImportedName> {
    let name = node.field("name")?;
    let alias = node.field("alias");
    let (text, here) = (x.text_of(name), alias.unwrap_or(name));
    if let Some(source) = source {
        x.reached(name, Receiver::Path(span(source)));
    }
    let alias_text = x.text_of(here);
    Some(x.imported(text, alias_text, here))
}

pub(super) fn export(x: &mut Extractor<'_>, node: Node<'_>) {
    let source = node.field("source");
    let mut names = Vec::new();
    for child in children(node) {
        match child.kind() {
            "export_clause" => {
                for one in children(child) {
                    if one.kind() == "export_specifier" {
                        names.extend(specifier(x, one, source));
                    }
                }
            }
            "namespace_export" => {
                if let Some(name) = child.named_child(0) {
                    let text = x.text_of(name);
                    names.push(x.imported("", text, name));
                }
            }
            _ => {}
        }
    }
    if let Some(source) = source {
        if names.is_empty() {
            names.push(x.imported("*", "*", node));
        }
        let module = unquoted(x, source);
        x.import(module, source, names).is_reexport = true;
        return;
    }
    // `export { a as b }`: the name here is another for others. An empty module is this file.
    let renamed: Vec<ImportedName> = names.into_iter().filter(|name| name.name != name.alias).collect();
    if !renamed.is_empty() {
        x.import("", node, renamed).is_reexport = true;
    }
    let is_default = node.children(&mut node.walk()).any(|child| child.kind() == "default");
    let value = node.field("value").or_else(|| node.field("declaration"));
    if is_default && let Some(value) = value {
        let name = value.field("name").unwrap_or(value);
        let text = x.text_of(name);
        if name.kind().ends_with("identifier") {
            let imported = x.imported(text, "default", name);
            x.import("", node, vec![imported]).is_reexport = true;
        } else {
            let kind = match value.kind() {
                "function_expression" | "generator_function" => Kind::Function,
                "class" => Kind::Class,
                _ => Kind::Constant,
            };
            let index = x.define_as(kind, "default".to_owned(), value, value, NameScope::Here);
            let text = x.kept_text(Some(value));
            set(x, index, String::new(), text);
        }
    }
}

/// The module of `require("module")`, also where a member of it is taken at once.
pub(super) fn required(x: &Extractor<'_>, node: Node<'_>) -> Option<String> {
    let call = if node.kind() == "member_expression" { node.field("object")? } else { node };
    let function = call.field("function").filter(|_| call.kind() == "call_expression")?;
    let argument = call.field("arguments")?.named_child(0)?;
    (x.text_of(function) == "require" && argument.kind() == "string")
        .then(|| unquoted(x, argument).to_owned())
}

pub(super) fn require(x: &mut Extractor<'_>, name: Node<'_>, value: Node<'_>, module: &str) {
    let mut names = Vec::new();
    if name.kind() == "identifier" {
        let member = value.field("property").filter(|_| value.kind() == "member_expression");
        let (member, text) = (member.map_or("", |member| x.text_of(member)), x.text_of(name));
        names.push(x.imported(member, text, name));
    } else {
        for part in children(name) {
            let (key, local) = match part.kind() {
                "shorthand_property_identifier_pattern" => (part, part),
                "pair_pattern" => match (part.field("key"), part.field("value")) {
                    (Some(key), Some(local)) => (key, local),
                    _ => continue,
                },
                _ => continue,
            };
            let (key, text) = (x.text_of(key), x.text_of(local));
            names.push(x.imported(key, text, local));
        }
    }
    x.import(module, value, names);
}

/// `require("module")` for its effects, and `import("module")`.
pub(super) fn call<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    // Asked of every call.
    let Some(function) = node.field("function") else { return };
    if !matches!(x.text_of(function), "require" | "import") {
        return;
    }
    let in_declaration = x.parent(node).is_some_and(|parent| {
        parent.kind() == "variable_declarator"
            || parent.kind() == "member_expression"
                && x.parent(parent).is_some_and(|outer| outer.kind() == "variable_declarator")
    });
    if in_declaration {
        return;
    }
    if let Some(module) = required(x, node) {
        x.import(&module, node, Vec::new());
        return;
    }
    let is_import = function.kind() == "import";
    let argument = node.field("arguments").and_then(|arguments| arguments.named_child(0));
    if let Some(argument) = argument.filter(|argument| is_import && argument.kind() == "string") {
        let module = unquoted(x, argument);
        x.import(module, node, Vec::new());
    }
}
