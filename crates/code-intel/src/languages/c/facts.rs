//! C and C++.

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, Rules, children, children_by_field, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, Position, Receiver, Span};

/// The kinds of nodes that [`visit`] looks at.
const VISITED: &[&str] = &[
    "function_definition",
    "declaration",
    "field_declaration",
    "parameter_declaration",
    "optional_parameter_declaration",
    "variadic_parameter_declaration",
    "type_definition",
    "struct_specifier",
    "class_specifier",
    "union_specifier",
    "enum_specifier",
    "enumerator",
    "preproc_def",
    "preproc_function_def",
    "preproc_include",
    "namespace_definition",
    "namespace_alias_definition",
    "alias_declaration",
    "type_parameter_declaration",
    "optional_type_parameter_declaration",
    "variadic_type_parameter_declaration",
    "compound_statement",
    "for_statement",
    "if_statement",
    "while_statement",
    "switch_statement",
    "lambda_expression",
    "catch_clause",
    "for_range_loop",
    "field_expression",
    "field_initializer",
    "qualified_identifier",
    "field_designator",
    "labeled_statement",
];

pub(super) const RULES: Rules = Rules {
    names: &["identifier", "type_identifier", "field_identifier", "namespace_identifier"],
    closed: &["string_literal", "raw_string_literal", "char_literal", "system_lib_string"],
    visited: VISITED,
    visit,
};

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    match x.kind {
        "function_definition" => function(x, node),
        "declaration" => declaration(x, node),
        "field_declaration" => fields(x, node),
        "parameter_declaration" | "optional_parameter_declaration" | "variadic_parameter_declaration" => {
            parameter(x, node);
        }
        "type_definition" => {
            let declared = type_text(x, node);
            for declarator in children_by_field(node, "declarator") {
                if let Some(name) = declared_name(declarator) {
                    let index = x.define(Kind::Type, name, node, NameScope::Here);
                    set(x, index, declared.clone(), String::new());
                }
            }
        }
        "struct_specifier" | "class_specifier" | "union_specifier" => aggregate(x, node),
        "enum_specifier" => {
            let Some(body) = node.field("body") else { return };
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Enum, name, node, NameScope::Here);
                // What an `enum class` has is reached through its name, what an `enum` has without.
                let is_scoped =
                    node.children(&mut node.walk()).any(|child| matches!(child.kind(), "class" | "struct"));
                if is_scoped {
                    x.open_body(body, index);
                }
            }
        }
        "enumerator" => {
            if let Some(name) = node.field("name") {
                x.define(Kind::EnumMember, name, node, NameScope::Here);
            }
        }
        "preproc_def" | "preproc_function_def" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Macro, name, node, NameScope::Here);
                let value = x.kept_text(node.field("value"));
                if let Some(definition) = x.definition_mut(index) {
                    definition.scope = None;
                    definition.is_member = false;
                    value.trim().clone_into(&mut definition.value);
                }
                for parameter in node.field("parameters").map(children).unwrap_or_default() {
                    x.define(Kind::Parameter, parameter, parameter, NameScope::In(span(node)));
                }
                namespaces(x, node, name);
            }
        }
        "preproc_include" => {
            if let Some(path) = node.field("path") {
                let module = x.text_of(path).trim_matches(['"', '<', '>', ' ']);
                let imported = x.imported("*", "*", path);
                x.import(module, node, vec![imported]).is_reexport = true;
            }
        }
        "namespace_definition" => {
            if let Some(body) = node.field("body")
                && let Some(name) = node.field("name")
            {
                let index = x.define(Kind::Module, name, node, NameScope::Here);
                x.open_body(body, index);
            }
        }
        "namespace_alias_definition" => {
            let parts = children(node);
            if let (Some(name), Some(of)) = (node.field("name"), parts.last()) {
                let index = x.define(Kind::Module, name, node, NameScope::Here);
                let declared = x.kept_text(Some(*of));
                set(x, index, declared, String::new());
                if let Some(definition) = x.definition_mut(index) {
                    definition.is_declaration = true;
                }
            }
        }
        "alias_declaration" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Type, name, node, NameScope::Here);
                let declared = x.kept_text(node.field("type"));
                set(x, index, declared, String::new());
            }
        }
        "type_parameter_declaration"
        | "optional_type_parameter_declaration"
        | "variadic_type_parameter_declaration" => {
            let name = children(node).into_iter().find(|child| child.kind() == "type_identifier");
            if let Some(name) = name {
                let owner = x.parent(node).and_then(|list| x.parent(list)).unwrap_or(node);
                x.define(Kind::TypeParameter, name, node, NameScope::In(span(owner)));
            }
        }
        "compound_statement" | "for_statement" | "if_statement" | "while_statement" | "switch_statement"
        | "lambda_expression" | "catch_clause" => x.open_scope(node),
        "for_range_loop" => {
            x.open_scope(node);
            if let Some(name) = node.field("declarator").and_then(declared_name) {
                let index = x.define(Kind::Variable, name, node, NameScope::Here);
                let declared = type_text(x, node);
                let over = x.kept_text(node.field("right"));
                set(x, index, declared, format!("{over}[0]"));
            }
        }
        "field_expression" => x.member_access(node, "argument", "field"),
        "field_initializer" => {
            // `Type(int value) : field(value)`: reached through the value that is being made.
            let field = node.named_child(0).filter(|field| field.kind() == "field_identifier");
            if let Some(field) = field {
                let start = field.start_byte() as u32;
                x.reached(field, Receiver::Value(Span { start, end: start }));
            }
        }
        "qualified_identifier" => x.path_access(node, "scope", "name"),
        "field_designator" => designator(x, node),
        "labeled_statement" => {
            if let Some(label) = node.field("label") {
                let place = x.innermost_function().map_or(NameScope::Here, NameScope::In);
                x.define(Kind::Variable, label, node, place);
            }
        }
        _ => {}
    }
}

/// The namespaces that a macro opens: `#define BEGIN namespace a {`. The macro is what owns them.
fn namespaces(x: &mut Extractor<'_>, node: Node<'_>, name: Node<'_>) {
    const WORD: &str = "namespace";
    let Some(value) = node.field("value") else { return };
    let text = x.text_of(value);
    if text.len() > 400 || !text.contains(WORD) {
        return;
    }
    let owner = x.text_of(name).to_owned();
    let above = x.position(value);
    for (at, _) in text.match_indices(WORD) {
        let behind = &text[at + WORD.len()..];
        let from =
            at + WORD.len() + (behind.len() - behind.trim_start_matches([' ', '\t', '\\', '\r', '\n']).len());
        let rest = &text[from..];
        let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
        if end == 0 || !rest[end..].trim_start_matches([' ', '\t', '\\', '\r', '\n']).starts_with('{') {
            continue;
        }
        let before = &text[..from];
        let lines = before.matches('\n').count() as u32;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
        let column = if lines == 0 { above.column + column - 1 } else { column };
        let at = Position { line: above.line + lines, column };
        let start = (value.start_byte() + from) as u32;
        let whole = Span { start, end: start + end as u32 };
        let index =
            x.define_at(Kind::Module, rest[..end].to_owned(), at, whole, whole, at.line, NameScope::Here);
        if let Some(definition) = x.definition_mut(index) {
            definition.scope = None;
            definition.is_member = false;
            definition.owner = Some(owner.clone());
        }
    }
}

fn set(x: &mut Extractor<'_>, index: u32, declared: String, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = value;
    }
}

/// The text of the type of a declaration; of one that defines a type at once, its name.
fn type_text(x: &Extractor<'_>, node: Node<'_>) -> String {
    // What `auto` stands for is told by the value.
    let Some(of) = node.field("type").filter(|of| of.kind() != "placeholder_type_specifier") else {
        return String::new();
    };
    let named = of.field("name").filter(|_| of.kind().ends_with("_specifier"));
    x.kept_text(Some(named.unwrap_or(of)))
}

/// The name in a declarator, past pointers, arrays and parentheses.
fn declared_name(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    loop {
        match node.kind() {
            "identifier"
            | "type_identifier"
            | "field_identifier"
            | "operator_name"
            | "destructor_name"
            | "qualified_identifier"
            | "primitive_type"
            | "operator_cast" => return Some(node),
            "template_function" => node = node.field("name")?,
            _ => {
                let inner = node.field("declarator");
                node = inner.or_else(|| {
                    let is_inner = |child: &Node<'_>| {
                        child.kind().ends_with("declarator") || child.kind().ends_with("identifier")
                    };
                    children(node).into_iter().find(is_inner)
                })?;
            }
        }
    }
}

/// `A::B::f` is `f`, with the text before it.
fn qualified(name: Node<'_>) -> (Node<'_>, Option<Node<'_>>) {
    let (mut name, mut of) = (name, None);
    while name.kind() == "qualified_identifier" {
        let (Some(inner), scope) = (name.field("name"), name.field("scope")) else {
            break;
        };
        of = scope.or(of);
        name = inner;
    }
    (name, of)
}

/// The declarator of a function, where a declarator is or holds one.
fn function_declarator(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    loop {
        match node.kind() {
            "function_declarator" => {
                // `int (*name)(void)` is a pointer, `int (name)(void)` a function.
                let inner = node.field("declarator")?;
                let is_pointer = inner.kind() == "parenthesized_declarator"
                    && inner.named_child(0).is_some_and(|inner| inner.kind() == "pointer_declarator");
                return (!is_pointer).then_some(node);
            }
            "pointer_declarator"
            | "reference_declarator"
            | "init_declarator"
            | "parenthesized_declarator" => {
                let inner = node.field("declarator");
                node =
                    inner.or_else(|| node.named_child(node.named_child_count().saturating_sub(1) as u32))?;
            }
            _ => return None,
        }
    }
}

fn is_static(x: &Extractor<'_>, node: Node<'_>) -> bool {
    children(node)
        .iter()
        .any(|child| child.kind() == "storage_class_specifier" && x.text_of(*child) == "static")
}

fn function(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(declarator) = node.field("declarator") else { return };
    let Some(name) = declared_name(declarator) else { return };
    let (name, of) = qualified(name);
    if matches!(x.text_of(name), "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST")
        && test(x, node, declarator, name)
    {
        return;
    }
    let is_member = of.is_some() || x.is_in_type();
    let owner = of.map(|of| plain(x.text_of(of)));
    let kind = if is_member { method_kind(x, name, owner.as_deref()) } else { Kind::Function };
    let index = x.define(kind, name, node, NameScope::Here);
    let declared = type_text(x, node);
    let is_private = is_static(x, node) && !is_member;
    let scope = local_type(x);
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.is_member = is_member;
        definition.scope = scope;
        if owner.is_some() {
            definition.owner = owner;
        }
        definition.is_private = is_private;
    }
    x.open_body(node, index);
}

/// A method that is called like its type makes a value of it.
fn method_kind(x: &Extractor<'_>, name: Node<'_>, owner: Option<&str>) -> Kind {
    let around = if owner.is_none() { x.enclosing_type() } else { None };
    let owner = owner.or(around.as_ref().map(|(_, owner)| owner.as_str()));
    if owner == Some(x.text_of(name)) { Kind::Constructor } else { Kind::Method }
}

/// Where the members of the type around are known, when that is one of a function.
fn local_type(x: &mut Extractor<'_>) -> Option<Span> {
    let of = x.enclosing_type().filter(|_| x.is_in_type()).and_then(|(of, _)| of)?;
    x.definition_mut(of).and_then(|of| of.scope)
}

/// `TEST_F(Suite, Case) { ... }` makes a class `Suite_Case_Test` that extends `Suite`, with a method `TestBody`.
fn test(x: &mut Extractor<'_>, node: Node<'_>, declarator: Node<'_>, name: Node<'_>) -> bool {
    let Some(parameters) = declarator.field("parameters") else { return false };
    let [suite, case] = children(parameters)[..] else { return false };
    let class = format!("{}_{}_Test", x.text_of(suite).trim(), x.text_of(case).trim());
    let base = x.kept_text(Some(suite));
    let maker = x.define_as(Kind::Class, class.clone(), case, node, NameScope::Here);
    if let Some(definition) = x.definition_mut(maker) {
        definition.scope = None;
        definition.bases.push(base);
    }
    // The macro writes these, so their names stand nowhere.
    let bracket = parameters.start_byte() as u32;
    let made = [format!("~{class}"), "operator=".to_owned(), "TestBody".to_owned()];
    for (made, at) in made.into_iter().zip(bracket..) {
        let is_body = made == "TestBody";
        let index = x.define_as(Kind::Method, made, name, node, NameScope::Here);
        if let Some(definition) = x.definition_mut(index) {
            definition.name_span = Span { start: at, end: at };
            definition.is_member = true;
            definition.scope = None;
            definition.owner = Some(class.clone());
        }
        if is_body {
            x.open_body(node, index);
        }
    }
    true
}

fn plain(text: &str) -> String {
    let text = text.split('<').next().unwrap_or(text);
    text.rsplit("::").next().unwrap_or(text).trim().to_owned()
}

fn declaration(x: &mut Extractor<'_>, node: Node<'_>) {
    let declared = type_text(x, node);
    // `import name;` and `module name;` declare nothing of their own.
    if matches!(declared.as_str(), "import" | "module") {
        return;
    }
    for declarator in children_by_field(node, "declarator") {
        let Some(name) = declared_name(declarator) else { continue };
        let (name, of) = qualified(name);
        let is_local = x.innermost().is_some();
        // `Type name(value);` in a function makes a variable as a rule, though it could declare a function.
        let is_function = function_declarator(declarator).is_some() && !is_local;
        let (kind, place) = if is_function {
            (if x.is_in_type() { method_kind(x, name, None) } else { Kind::Function }, NameScope::Here)
        } else {
            (Kind::Variable, after(x, node))
        };
        let index = x.define(kind, name, node, place);
        let value = declarator.field("value").filter(|_| declarator.kind() == "init_declarator");
        let value = x.kept_text(value);
        let is_extern = children(node)
            .iter()
            .any(|child| child.kind() == "storage_class_specifier" && x.text_of(*child) == "extern");
        let owner = of.map(|of| plain(x.text_of(of)));
        let is_private = is_static(x, node) && !is_local;
        if let Some(definition) = x.definition_mut(index) {
            definition.declared.clone_from(&declared);
            definition.value = value;
            definition.is_declaration = is_function || is_extern;
            definition.is_private = is_private;
            if owner.is_some() {
                definition.owner = owner;
                definition.is_member = true;
            }
            if is_function {
                definition.scope = None;
            }
        }
    }
}

fn after(x: &Extractor<'_>, node: Node<'_>) -> NameScope {
    match x.innermost() {
        Some(scope) => NameScope::In(Span { start: node.start_byte() as u32, end: scope.end }),
        None => NameScope::Here,
    }
}

fn fields(x: &mut Extractor<'_>, node: Node<'_>) {
    let declared = type_text(x, node);
    for declarator in children_by_field(node, "declarator") {
        let Some(name) = declared_name(declarator) else { continue };
        let is_method = function_declarator(declarator).is_some();
        let kind = if is_method { method_kind(x, name, None) } else { Kind::Field };
        let index = x.define(kind, name, node, NameScope::Member);
        let scope = local_type(x);
        if let Some(definition) = x.definition_mut(index) {
            definition.scope = scope;
            definition.declared.clone_from(&declared);
            definition.is_declaration = is_method;
        }
    }
}

fn parameter<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(name) = node.field("declarator").and_then(declared_name) else { return };
    // The parameters of a prototype are known in it alone.
    let mut holder = x.parent(node);
    while let Some(parent) = holder {
        match parent.kind() {
            "function_definition"
            | "lambda_expression"
            | "template_declaration"
            | "catch_clause"
            | "declaration"
            | "field_declaration"
            | "compound_statement" => break,
            "function_declarator" => {
                let above = x.parent(parent);
                let in_body = above.is_some_and(|above| {
                    !matches!(
                        above.kind(),
                        "declaration" | "field_declaration" | "parameter_declaration" | "type_definition"
                    )
                });
                if !in_body {
                    break;
                }
                holder = above;
            }
            _ => holder = x.parent(parent),
        }
    }
    let place = holder.map_or(NameScope::Here, |holder| NameScope::In(span(holder)));
    let index = x.define(Kind::Parameter, name, node, place);
    let declared = type_text(x, node);
    set(x, index, declared, String::new());
}

fn aggregate<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let kind = match node.kind() {
        "class_specifier" => Kind::Class,
        "union_specifier" => Kind::Union,
        _ => Kind::Struct,
    };
    let Some(body) = node.field("body") else {
        announced(x, node, kind);
        return;
    };
    let Some(name) = node.field("name") else {
        // `typedef struct { ... } Name;` has its name behind it.
        let outer = x.parent(node).filter(|parent| parent.kind() == "type_definition");
        let name = outer.and_then(|outer| outer.field("declarator")).and_then(declared_name);
        match name.and_then(|name| x.defined_at(span(name))) {
            Some(index) => {
                if let Some(definition) = x.definition_mut(index) {
                    definition.kind = kind;
                }
                x.open_body(body, index);
            }
            None => {
                // The members of one without a name are those of what is around it, or of nobody.
                if !x.is_in_type() {
                    x.open_members(body, "");
                }
            }
        }
        return;
    };
    let (name, of) = qualified(name);
    let name = if name.kind() == "template_type" { name.field("name").unwrap_or(name) } else { name };
    let index = x.define(kind, name, node, NameScope::Here);
    let owner = of.map(|of| plain(x.text_of(of)));
    if let Some(definition) = x.definition_mut(index).filter(|_| owner.is_some()) {
        definition.owner = owner;
        definition.is_member = true;
    }
    let clauses = children(node).into_iter().filter(|child| child.kind() == "base_class_clause");
    let bases = clauses.flat_map(children);
    let bases = bases.filter(|base| base.kind() != "access_specifier" && base.kind() != "virtual");
    let bases = bases.map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    x.open_body(body, index);
}

/// `class Name;` says that there is such a type.
fn announced<'t>(x: &mut Extractor<'t>, node: Node<'t>, kind: Kind) {
    let alone = |parent: Node<'_>| match parent.kind() {
        "translation_unit"
        | "declaration_list"
        | "preproc_if"
        | "preproc_ifdef"
        | "preproc_else"
        | "preproc_elif"
        | "template_declaration" => true,
        "field_declaration" => parent.field("declarator").is_none(),
        _ => false,
    };
    let name = node.field("name").filter(|name| name.kind() == "type_identifier");
    // `typedef struct name other;` says so too, unless it is known.
    let typedef = x.parent(node).filter(|parent| parent.kind() == "type_definition");
    let other = typedef.and_then(|typedef| typedef.field("declarator")).and_then(declared_name);
    let is_first = |x: &Extractor<'_>, name: Node<'_>| {
        let text = x.text_of(name);
        other.is_some_and(|other| x.text_of(other) != text) && x.newest(kind, text).is_none()
    };
    let is_said = |name: &Node<'_>| x.parent(node).is_some_and(alone) || is_first(x, *name);
    if let Some(name) = name.filter(is_said) {
        let index = x.define(kind, name, node, NameScope::Here);
        if let Some(definition) = x.definition_mut(index) {
            definition.is_declaration = true;
        }
    }
}

/// The field in `(struct type){ .field = 1 }` or `struct type name = { .field = 1 }`.
fn designator<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(field) = node.named_child(0) else { return };
    let mut outer = x.parent(node);
    while let Some(parent) = outer {
        if matches!(parent.kind(), "compound_literal_expression" | "declaration") {
            if let Some(of) = parent.field("type") {
                let of = of.field("type").unwrap_or(of);
                x.reached(field, Receiver::Made(span(of)));
            }
            return;
        }
        if parent.kind() == "compound_statement" {
            return;
        }
        outer = x.parent(parent);
    }
}
