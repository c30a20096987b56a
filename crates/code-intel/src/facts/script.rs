//! JavaScript, TypeScript and TSX.

use tree_sitter::Node;

use super::extract::{Extractor, Place, Rules, beneath, children, span};
use super::{ImportedName, Kind, Receiver};

pub(super) const RULES: Rules = Rules {
    names: &[
        "identifier",
        "type_identifier",
        "property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "private_property_identifier",
        "statement_identifier",
    ],
    visit,
};

fn visit(x: &mut Extractor<'_>, node: Node<'_>) {
    match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            function(x, node, Kind::Function);
        }
        "function_expression" | "generator_function" | "arrow_function" => {
            match (node.child_by_field_name("name"), outer_name(x, node)) {
                // `foo = function bar() {}`: both are names of it, `bar` only within.
                (Some(name), _) => {
                    let index = x.define(Kind::Function, name, node, Place::In(span(node)));
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
            if let Some(name) = node.child_by_field_name("name") {
                let index = x.define(Kind::Module, name, node, Place::Here);
                if let Some(body) = node.child_by_field_name("body") {
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
            if let Some(left) = node.child_by_field_name("left") {
                let right = x.kept_text(node.child_by_field_name("right"));
                for index in bound(x, left, node, Kind::Variable, Place::Here) {
                    set(x, index, String::new(), format!("{right}[0]"));
                }
            }
        }
        "catch_clause" => {
            x.open_scope(node);
            if let Some(parameter) = node.child_by_field_name("parameter") {
                bound(x, parameter, node, Kind::Variable, Place::Here);
            }
        }
        "type_parameter" => {
            if let Some(name) = node.child_by_field_name("name") {
                let owner = node.parent().and_then(|list| list.parent()).unwrap_or(node);
                let index = x.define(Kind::TypeParameter, name, node, Place::In(span(owner)));
                let bound = node.child_by_field_name("constraint").and_then(|bound| bound.named_child(0));
                let bound = x.kept_text(bound);
                set(x, index, bound, String::new());
            }
        }
        "function_type" | "call_signature" | "construct_signature" | "constructor_type" => {
            x.open_scope(node);
            parameters(x, node);
        }
        "infer_type" | "mapped_type_clause" => {
            if let Some(name) = children(node).into_iter().find(|child| child.kind() == "type_identifier") {
                let place = node.parent().unwrap_or(node);
                x.define(Kind::TypeParameter, name, node, Place::In(span(place)));
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
            if let Some(label) = node.child_by_field_name("label") {
                x.define(Kind::Variable, label, node, Place::In(span(node)));
            }
        }
        "import_statement" => import(x, node),
        "export_statement" => export(x, node),
        "call_expression" => call(x, node),
        "object_pattern" => pattern_keys(x, node),
        _ => {}
    }
}

/// `{@link name}` in a comment uses the name.
fn links(x: &mut Extractor<'_>, comment: Node<'_>) {
    const MARK: &str = "{@link ";
    let text = x.text_of(comment);
    for (at, _) in text.match_indices(MARK) {
        let rest = &text[at + MARK.len()..];
        let length = rest
            .find(|character: char| !(character.is_alphanumeric() || character == '_'))
            .unwrap_or(rest.len());
        if length > 0 {
            x.used_at(comment.start_byte() + at + MARK.len(), length);
        }
    }
}

/// The name a function has by what it is given to: `const name = () => {}`, `name: function () {}`.
fn outer_name(x: &Extractor<'_>, node: Node<'_>) -> Option<u32> {
    let parent = node.parent()?;
    let is_value =
        |field: &str| parent.child_by_field_name(field).is_some_and(|value| value.id() == node.id());
    let name = match parent.kind() {
        "variable_declarator" if is_value("value") => parent.child_by_field_name("name")?,
        "pair" if is_value("value") => parent.child_by_field_name("key")?,
        "public_field_definition" | "field_definition" if is_value("value") => {
            parent.child_by_field_name("name").or_else(|| parent.child_by_field_name("property"))?
        }
        "assignment_expression" if is_value("right") => {
            let left = parent.child_by_field_name("left")?;
            left.child_by_field_name("property").unwrap_or(left)
        }
        _ => return None,
    };
    x.defined_at(span(name))
}

fn returns(x: &mut Extractor<'_>, index: u32, node: Node<'_>) {
    let declared = x.kept_text(node.child_by_field_name("return_type"));
    let declared = declared.trim_start_matches(':').trim().to_owned();
    // The body of an arrow function without a block is what it returns.
    let body = node.child_by_field_name("body").filter(|body| body.kind() != "statement_block");
    let body = x.kept_text(body.filter(|_| node.kind() == "arrow_function"));
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = if body.is_empty() { String::new() } else { format!("() => {body}") };
        definition.is_function = true;
    }
}

fn function(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let index = x.define(kind, name, node, Place::Here);
    returns(x, index, node);
    if let Some(definition) = x.definition_mut(index) {
        definition.is_declaration = node.kind() == "function_signature";
    }
    x.open_body(node, index);
    parameters(x, node);
}

fn class(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(body) = node.child_by_field_name("body") else { return };
    let named = node.child_by_field_name("name").map(|name| {
        let place = if node.kind() == "class" { Place::In(span(node)) } else { Place::Here };
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
                "extends_clause" => bases.extend(clause.child_by_field_name("value")),
                "implements_clause" => bases.extend(children(clause)),
                // JavaScript has the expression itself here.
                _ => bases.push(clause),
            }
        }
    }
    let bases = bases.into_iter().map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    x.open_body(body, index);
}

fn named_type(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let index = x.define(kind, name, node, Place::Here);
    let clauses = children(node).into_iter().filter(|child| child.kind() == "extends_type_clause");
    let bases = clauses.flat_map(children).map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    if let Some(body) = node.child_by_field_name("body") {
        x.open_body(body, index);
    }
}

fn type_alias(x: &mut Extractor<'_>, node: Node<'_>) {
    let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
    else {
        return;
    };
    let index = x.define(Kind::Type, name, node, Place::Here);
    // `type A = { ... } & B` has the members of both.
    let is_object = |node: Node<'_>| node.kind() == "object_type";
    let is_closed =
        |node: Node<'_>| !matches!(node.kind(), "intersection_type" | "parenthesized_type" | "union_type");
    let objects = beneath(value, is_object, is_closed);
    let is_name =
        |node: Node<'_>| matches!(node.kind(), "type_identifier" | "generic_type" | "nested_type_identifier");
    let bases: Vec<String> =
        beneath(value, is_name, is_closed).into_iter().map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    if objects.is_empty() {
        return;
    }
    x.open_body(value, index);
}

fn method(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let text = x.text_of(name);
    let has_word = |word: &str| node.children(&mut node.walk()).any(|child| child.kind() == word);
    let kind = if text == "constructor" {
        Kind::Constructor
    } else if has_word("get") || has_word("set") {
        Kind::Property
    } else {
        Kind::Method
    };
    let index = x.define(kind, name, node, Place::Member);
    let parent_is_object = node.parent().is_some_and(|parent| parent.kind() == "object");
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
fn loosen(x: &mut Extractor<'_>, index: u32, node: Node<'_>) {
    let object = node.parent();
    let holder = object.and_then(|object| outer_name(x, object));
    if let Some(definition) = x.definition_mut(index) {
        definition.owner = None;
        definition.container = holder.or(definition.container);
    }
}

fn field(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property")) else {
        return;
    };
    let index = x.define(Kind::Field, name, node, Place::Member);
    let declared = x.kept_text(node.child_by_field_name("type"));
    let value = x.kept_text(node.child_by_field_name("value"));
    set(x, index, declared.trim_start_matches(':').trim().to_owned(), value);
}

fn enum_members(x: &mut Extractor<'_>, node: Node<'_>) {
    for member in children(node) {
        let name = if member.kind() == "enum_assignment" {
            member.child_by_field_name("name")
        } else {
            Some(member)
        };
        if let Some(name) = name.filter(|name| name.kind() != "comment") {
            x.define(Kind::EnumMember, name, member, Place::Member);
        }
    }
}

fn pair(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(key) = node.child_by_field_name("key").filter(|key| key.kind() == "property_identifier") else {
        return;
    };
    let value = node.child_by_field_name("value");
    let is_function = value
        .is_some_and(|value| value.kind().ends_with("function") || value.kind() == "function_expression");
    let kind = if is_function { Kind::Method } else { Kind::Field };
    let index = x.define(kind, key, node, Place::Member);
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

/// The names a pattern binds.
fn bound(x: &mut Extractor<'_>, pattern: Node<'_>, whole: Node<'_>, kind: Kind, place: Place) -> Vec<u32> {
    let is_name =
        |node: Node<'_>| matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern");
    // `{ a = b }`: what stands behind the sign is used, not bound.
    let is_default = |node: Node<'_>| {
        node.parent().is_some_and(|parent| {
            matches!(parent.kind(), "assignment_pattern" | "object_assignment_pattern")
                && parent.child_by_field_name("right").is_some_and(|right| right.id() == node.id())
        })
    };
    let is_closed = |node: Node<'_>| {
        is_default(node)
            || matches!(
                node.kind(),
                "type_annotation" | "member_expression" | "subscript_expression" | "call_expression"
            )
    };
    let mut found = Vec::new();
    for name in beneath(pattern, is_name, is_closed) {
        if !is_default(name) {
            found.push(x.define(kind, name, whole, place));
        }
    }
    found
}

fn variable(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let value = node.child_by_field_name("value");
    let is_const = node.parent().is_some_and(|parent| x.text_of(parent).starts_with("const"));
    let is_var = node.parent().is_some_and(|parent| parent.kind() == "variable_declaration");
    let place = match x.innermost_function().filter(|_| is_var) {
        Some(span) => Place::In(span),
        None => Place::Here,
    };
    if let Some(value) = value
        && let Some(module) = required(x, value)
    {
        require(x, name, value, &module);
    }
    let kind = if is_const { Kind::Constant } else { Kind::Variable };
    let declared = x.kept_text(node.child_by_field_name("type"));
    let declared = declared.trim_start_matches(':').trim().to_owned();
    let text = x.kept_text(value);
    let is_plain = name.kind() == "identifier";
    for index in bound(x, name, node, kind, place) {
        let own = x.definition_mut(index).map(|definition| definition.name.clone()).unwrap_or_default();
        let value = if is_plain || text.is_empty() { text.clone() } else { format!("({text}).{own}") };
        set(x, index, if is_plain { declared.clone() } else { String::new() }, value);
    }
}

/// `this.name = ...` makes a field; `exports.name = ...` and `Type.prototype.name = ...` something for others.
fn assignment(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(left) = node.child_by_field_name("left").filter(|left| left.kind() == "member_expression")
    else {
        return;
    };
    let (Some(object), Some(name)) =
        (left.child_by_field_name("object"), left.child_by_field_name("property"))
    else {
        return;
    };
    let value = x.kept_text(node.child_by_field_name("right"));
    let holder = x.text_of(object);
    let owner = holder.strip_suffix(".prototype").unwrap_or(holder);
    let is_name =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte));
    if !is_name(owner) {
        return;
    }
    let enclosing = x.enclosing_type();
    let right = node.child_by_field_name("right");
    let is_function = right
        .is_some_and(|right| right.kind().ends_with("function") || right.kind() == "function_expression");
    let kind = if is_function { Kind::Method } else { Kind::Field };
    let index = x.define(kind, name, node, Place::Member);
    set(x, index, String::new(), value);
    if let Some(definition) = x.definition_mut(index) {
        match (owner, enclosing) {
            ("this", Some((container, _))) => {
                definition.container = container;
                // What the class itself says of the field counts more.
                definition.is_declaration = true;
            }
            ("this", None) => {}
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

fn parameters(x: &mut Extractor<'_>, function: Node<'_>) {
    if let Some(single) = function.child_by_field_name("parameter") {
        x.define(Kind::Parameter, single, single, Place::In(span(function)));
    }
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for parameter in children(list) {
        let pattern = parameter
            .child_by_field_name("pattern")
            .or_else(|| parameter.child_by_field_name("left"))
            .unwrap_or(parameter);
        let declared = x.kept_text(parameter.child_by_field_name("type"));
        let declared = declared.trim_start_matches(':').trim().to_owned();
        let default =
            parameter.child_by_field_name("value").or_else(|| parameter.child_by_field_name("right"));
        let value = x.kept_text(default);
        let is_plain = pattern.kind() == "identifier";
        for index in bound(x, pattern, parameter, Kind::Parameter, Place::In(span(function))) {
            if is_plain {
                set(x, index, declared.clone(), value.clone());
            }
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
            let index = x.define(Kind::Field, pattern, parameter, Place::Member);
            set(x, index, declared, value);
            if let Some(definition) = x.definition_mut(index) {
                definition.container = container;
            }
        }
    }
}

/// `{ key: name }` takes the member `key` of what is taken apart.
fn pattern_keys(x: &mut Extractor<'_>, node: Node<'_>) {
    let value = node.parent().and_then(|parent| parent.child_by_field_name("value"));
    let Some(value) = value else { return };
    for pair in children(node).into_iter().filter(|child| child.kind() == "pair_pattern") {
        if let Some(key) = pair.child_by_field_name("key") {
            x.reached(key, Receiver::Value(span(value)));
        }
    }
}

fn unquoted<'t>(x: &Extractor<'t>, node: Node<'_>) -> &'t str {
    x.text_of(node).trim_matches(['"', '\'', '`'])
}

fn import(x: &mut Extractor<'_>, node: Node<'_>) {
    let mut names = Vec::new();
    let mut source = node.child_by_field_name("source");
    let wanted =
        |node: Node<'_>| matches!(node.kind(), "import_specifier" | "namespace_import" | "identifier");
    let mut clauses: Vec<Node<'_>> = Vec::new();
    for child in children(node) {
        match child.kind() {
            "import_clause" => clauses.push(child),
            // `import name = require("module")`.
            "import_require_clause" => {
                source = child.child_by_field_name("source");
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
    let name = node.child_by_field_name("name")?;
    let alias = node.child_by_field_name("alias");
    let (text, here) = (x.text_of(name), alias.unwrap_or(name));
    if let Some(source) = source {
        x.reached(name, Receiver::Path(span(source)));
    }
    let alias_text = x.text_of(here);
    Some(x.imported(text, alias_text, here))
}

fn export(x: &mut Extractor<'_>, node: Node<'_>) {
    let source = node.child_by_field_name("source");
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
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("declaration"));
    if is_default && let Some(value) = value {
        let name = value.child_by_field_name("name").unwrap_or(value);
        let text = x.text_of(name);
        if name.kind().ends_with("identifier") {
            let imported = x.imported(text, "default", name);
            x.import("", node, vec![imported]).is_reexport = true;
        } else {
            let index = x.define_as(Kind::Constant, "default".to_owned(), value, value, Place::Here);
            let text = x.kept_text(Some(value));
            set(x, index, String::new(), text);
        }
    }
}

/// The module of `require("module")`, also where a member of it is taken at once.
fn required(x: &Extractor<'_>, node: Node<'_>) -> Option<String> {
    let call = if node.kind() == "member_expression" { node.child_by_field_name("object")? } else { node };
    let function = call.child_by_field_name("function").filter(|_| call.kind() == "call_expression")?;
    let argument = call.child_by_field_name("arguments")?.named_child(0)?;
    (x.text_of(function) == "require" && argument.kind() == "string")
        .then(|| unquoted(x, argument).to_owned())
}

fn require(x: &mut Extractor<'_>, name: Node<'_>, value: Node<'_>, module: &str) {
    let mut names = Vec::new();
    if name.kind() == "identifier" {
        let member = value.child_by_field_name("property").filter(|_| value.kind() == "member_expression");
        let (member, text) = (member.map_or("", |member| x.text_of(member)), x.text_of(name));
        names.push(x.imported(member, text, name));
    } else {
        for part in children(name) {
            let (key, local) = match part.kind() {
                "shorthand_property_identifier_pattern" => (part, part),
                "pair_pattern" => {
                    match (part.child_by_field_name("key"), part.child_by_field_name("value")) {
                        (Some(key), Some(local)) => (key, local),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            let (key, text) = (x.text_of(key), x.text_of(local));
            names.push(x.imported(key, text, local));
        }
    }
    x.import(module, value, names);
}

/// `require("module")` for its effects, and `import("module")`.
fn call(x: &mut Extractor<'_>, node: Node<'_>) {
    let in_declaration = node.parent().is_some_and(|parent| {
        parent.kind() == "variable_declarator"
            || parent.kind() == "member_expression"
                && parent.parent().is_some_and(|outer| outer.kind() == "variable_declarator")
    });
    if in_declaration {
        return;
    }
    if let Some(module) = required(x, node) {
        x.import(&module, node, Vec::new());
        return;
    }
    let is_import = node.child_by_field_name("function").is_some_and(|function| function.kind() == "import");
    let argument = node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0));
    if let Some(argument) = argument.filter(|argument| is_import && argument.kind() == "string") {
        let module = unquoted(x, argument);
        x.import(module, node, Vec::new());
    }
}
