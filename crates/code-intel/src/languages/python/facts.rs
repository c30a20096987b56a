//! Python.

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, Rules, beneath, children, children_by_field, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, Receiver, Span};

/// The kinds of nodes that [`visit`] looks at.
const VISITED: &[&str] = &[
    "function_definition",
    "class_definition",
    "lambda",
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
    "assignment",
    "augmented_assignment",
    "for_statement",
    "for_in_clause",
    "named_expression",
    "as_pattern",
    "return_statement",
    "attribute",
    "keyword_argument",
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "global_statement",
    "case_clause",
    "nonlocal_statement",
    "type",
    "call",
];

pub(super) const RULES: Rules = Rules { names: &["identifier"], closed: &[], visited: VISITED, visit };

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    match x.kind {
        "function_definition" => function(x, node),
        "class_definition" => class(x, node),
        "lambda" => {
            x.open_scope(node);
            if let Some(parameters) = node.field("parameters") {
                self::parameters(x, parameters, node);
            }
        }
        "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression" => {
            x.open_scope(node);
            let first = children(node).into_iter().find(|child| child.kind() == "for_in_clause");
            if let Some(list) = first.and_then(|first| first.field("right")) {
                x.leave_out(list, node);
            }
        }
        "case_clause" => captured(x, node),
        "assignment" => {
            let (value, declared) = (node.field("right"), node.field("type"));
            if let Some(left) = node.field("left") {
                assigned(x, left, node, value, declared);
                match (x.text_of(left), value) {
                    ("__all__", Some(value)) => listed(x, value),
                    // `Alias = Dict["Type", int]`.
                    (alias, Some(value)) if value.kind() == "subscript" && is_type_name(alias) => {
                        let of = value.field("value").map(|of| x.text_of(of)).unwrap_or_default();
                        if is_type_name(of.rsplit('.').next().unwrap_or(of)) {
                            quoted(x, value);
                        }
                    }
                    ("__slots__", Some(value)) if x.is_in_type() => {
                        // The fields that instances have room for.
                        for name in beneath(value, |node| node.kind() == "string_content", |_| false) {
                            x.define(Kind::Field, name, name, NameScope::Here);
                        }
                    }
                    _ => {}
                }
            }
        }
        "augmented_assignment" => {
            let (left, value) = (node.field("left"), node.field("right"));
            if let (Some(left), Some(value)) = (left, value) {
                if x.text_of(left) == "__all__" {
                    listed(x, value);
                }
                // It makes the name as any assignment does, but says nothing of its type.
                if matches!(left.kind(), "identifier" | "attribute") {
                    assigned(x, left, node, None, None);
                }
            }
        }
        "global_statement" | "nonlocal_statement" => {
            let is_global = x.kind == "global_statement";
            for name in children(node) {
                let name = x.text_of(name);
                x.take(name, is_global);
            }
        }
        "type" => quoted(x, node),
        "call" => {
            // `cast("Type", value)`.
            let called = node.field("function").map(|function| x.text_of(function));
            let is_cast = called.is_some_and(|called| called.rsplit('.').next() == Some("cast"));
            let first = node.field("arguments").and_then(|list| list.named_child(0));
            if let Some(first) = first.filter(|_| is_cast) {
                quoted(x, first);
            }
        }
        "for_statement" | "for_in_clause" => {
            if let Some(left) = node.field("left") {
                let right = x.kept_text(node.field("right"));
                bound_to(x, left, node, &format!("{right}[0]"));
            }
        }
        "named_expression" => {
            if let Some(name) = node.field("name") {
                assigned(x, name, node, node.field("value"), None);
                out_of_comprehensions(x, node, name);
            }
        }
        "as_pattern" => {
            if let Some(alias) = node.field("alias") {
                let value = x.kept_text(node.named_child(0));
                let in_except = x.parent(node).is_some_and(|parent| parent.kind().starts_with("except"));
                for index in bound(x, alias, node) {
                    // An exception that is caught is an instance of what is named.
                    set_value(x, index, if in_except { format!("{value}()") } else { value.clone() });
                }
            }
        }
        "return_statement" => {
            let value = x.kept_text(node.named_child(0));
            x.returned(value);
        }
        "attribute" => x.member_access(node, "object", "attribute"),
        "keyword_argument" => keyword(x, node),
        "import_statement" => import(x, node),
        "import_from_statement" | "future_import_statement" => import_from(x, node),
        _ => {}
    }
}

/// The names that the patterns of a `case` bind, and the attributes that they compare.
fn captured(x: &mut Extractor<'_>, case: Node<'_>) {
    let patterns = children(case).into_iter().filter(|child| child.kind() == "case_pattern");
    let mut open: Vec<Node<'_>> = patterns.collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "dotted_name" if node.named_child_count() == 1 => {
                let name = node.named_child(0).filter(|name| x.text_of(*name) != "_");
                name.map(|name| variable(x, name, case));
            }
            "splat_pattern" | "as_pattern" => {
                let parts = children(node);
                let (names, inner): (Vec<_>, Vec<_>) =
                    parts.into_iter().partition(|part| part.kind() == "identifier");
                for name in names {
                    if x.text_of(name) != "_" {
                        variable(x, name, case);
                    }
                }
                open.extend(inner);
            }
            "class_pattern" => {
                let mut parts = children(node).into_iter();
                let Some(class) = parts.next() else { continue };
                for part in parts {
                    let keyword = part.named_child(0).filter(|inner| inner.kind() == "keyword_pattern");
                    if let Some(name) = keyword.and_then(|keyword| keyword.named_child(0)) {
                        x.reached(name, Receiver::Argument(span(class)));
                    }
                    open.push(part);
                }
            }
            "keyword_pattern" => open.extend(children(node).into_iter().skip(1)),
            "dotted_name" | "string" | "integer" | "float" | "identifier" => {}
            _ => open.extend(children(node)),
        }
    }
}

/// `:=` in a comprehension makes a name of the function around it.
fn out_of_comprehensions<'t>(x: &mut Extractor<'t>, walrus: Node<'t>, name: Node<'t>) {
    let mut node = walrus;
    let mut is_inside = false;
    while let Some(parent) = x.parent(node) {
        match parent.kind() {
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => is_inside = true,
            "function_definition" | "lambda" | "class_definition" | "module" => {
                let known = (parent.kind() != "module").then(|| span(parent));
                let index = x.defined_at(span(name)).filter(|_| is_inside);
                if let Some(definition) = index.and_then(|index| x.definition_mut(index)) {
                    definition.scope = known;
                }
                return;
            }
            _ => {}
        }
        node = parent;
    }
}

fn function(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name") else { return };
    let kind = if x.is_in_type() { Kind::Method } else { Kind::Function };
    let index = x.define(kind, name, node, NameScope::Here);
    let declared = x.kept_text(node.field("return_type"));
    let decorators = decorators(x, node);
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        if decorators.iter().any(|decorator| is_property(decorator)) {
            definition.kind = Kind::Property;
        }
        // What is only there for type checkers.
        definition.is_declaration = decorators
            .iter()
            .any(|decorator| matches!(decorator.as_str(), "overload" | "typing.overload" | "t.overload"));
    }
    x.open_body(node, index);
    if let Some(parameters) = node.field("parameters") {
        self::parameters(x, parameters, node);
    }
}

fn decorators<'t>(x: &Extractor<'t>, node: Node<'t>) -> Vec<String> {
    let Some(parent) = x.parent(node).filter(|parent| parent.kind() == "decorated_definition") else {
        return Vec::new();
    };
    let decorators = children(parent).into_iter().filter(|child| child.kind() == "decorator");
    decorators.map(|decorator| x.text_of(decorator).trim_start_matches('@').trim().to_owned()).collect()
}

fn is_property(decorator: &str) -> bool {
    let last = decorator.rsplit('.').next().unwrap_or(decorator);
    matches!(last, "property" | "cached_property" | "setter" | "getter" | "deleter" | "lazyproperty")
}

fn class(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(Kind::Class, name, node, NameScope::Here);
    let bases = node.field("superclasses").map(children).unwrap_or_default();
    let bases = bases.into_iter().filter(|base| base.kind() != "keyword_argument");
    let bases = bases.map(|base| x.kept_text(Some(base))).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bases;
    }
    if let Some(body) = node.field("body") {
        x.open_body(body, index);
    }
}

fn parameters(x: &mut Extractor<'_>, list: Node<'_>, function: Node<'_>) {
    for parameter in children(list) {
        let name = match parameter.kind() {
            "identifier" => Some(parameter),
            "default_parameter" | "typed_default_parameter" => parameter.field("name"),
            _ => beneath(parameter, |node| node.kind() == "identifier", |node| node.kind() == "type")
                .into_iter()
                .next(),
        };
        let Some(name) = name else { continue };
        let index = x.define(Kind::Parameter, name, parameter, NameScope::In(span(function)));
        let is_many = parameter.named_child(0).is_some_and(|child| child.kind().contains("splat"));
        let declared = x.kept_text(parameter.field("type"));
        let value = x.kept_text(parameter.field("value"));
        if let Some(definition) = x.definition_mut(index) {
            definition.declared = if is_many { format!("list[{declared}]") } else { declared };
            definition.value = value;
        }
    }
}

/// The names a pattern binds.
fn bound(x: &mut Extractor<'_>, pattern: Node<'_>, whole: Node<'_>) -> Vec<u32> {
    let is_closed = |node: Node<'_>| matches!(node.kind(), "attribute" | "subscript" | "call");
    let names = beneath(pattern, |node| node.kind() == "identifier", is_closed);
    names.into_iter().map(|name| variable(x, name, whole)).collect()
}

/// The names of a pattern, with what each of them is given.
fn bound_to(x: &mut Extractor<'_>, pattern: Node<'_>, whole: Node<'_>, value: &str) {
    if !matches!(pattern.kind(), "pattern_list" | "tuple_pattern") {
        for index in bound(x, pattern, whole) {
            set_value(x, index, value.to_owned());
        }
        return;
    }
    for (place, part) in children(pattern).into_iter().enumerate() {
        let is_plain = part.kind() == "identifier" && !value.is_empty();
        for index in bound(x, part, whole) {
            // What is taken apart twice is not followed.
            set_value(x, index, if is_plain { format!("({value})#{place}") } else { String::new() });
        }
    }
}

/// A variable of the module, of a class or of a function: blocks are no scopes here.
fn variable(x: &mut Extractor<'_>, name: Node<'_>, whole: Node<'_>) -> u32 {
    let kind = if x.is_in_type() {
        Kind::Field
    } else if x.text_of(name).bytes().any(|byte| byte.is_ascii_lowercase()) {
        Kind::Variable
    } else {
        Kind::Constant
    };
    let index = x.define(kind, name, whole, NameScope::Here);
    x.put_where_taken(index);
    index
}

/// Whether a name is written as those of types are: `Name`, and neither `name` nor `NAME`.
fn is_type_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// The names in a type that is written as a text, `"Name"` or `"list[module.Name]"`.
fn quoted<'t>(x: &mut Extractor<'t>, of: Node<'t>) {
    // Types within are visited themselves; what is in `Literal[...]` and in calls is no type.
    let is_closed = |node: Node<'t>| {
        let is_inner = node.kind() == "type" && node.id() != of.id();
        let value = node.field("value").filter(|_| node.kind() == "subscript");
        is_inner || node.kind() == "call" || value.is_some_and(|value| x.text_of(value).ends_with("Literal"))
    };
    let is_text = |node: Node<'t>| node.kind() == "string_content";
    let generic = x.parent(of).filter(|list| list.kind() == "type_parameter").and_then(|list| x.parent(list));
    if generic.is_some_and(|generic| x.text_of(generic).starts_with("Literal")) {
        return;
    }
    for content in beneath(of, is_text, is_closed) {
        let text = x.text_of(content);
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find(is_part)) {
            let start = at + found;
            let length = text[start..].find(|character| !is_part(character)).unwrap_or(text.len() - start);
            at = start + length;
            let before = text[..start].strip_suffix('.');
            match before {
                None => x.used_within(content, start, length),
                Some(before) => {
                    let begin = before.rfind(|character| !is_part(character) && character != '.');
                    let begin = begin.map_or(0, |at| at + 1) + content.start_byte();
                    let of = Span { start: begin as u32, end: (content.start_byte() + before.len()) as u32 };
                    x.member_within(content, of, start, length);
                }
            }
        }
    }
}

fn set_value(x: &mut Extractor<'_>, index: u32, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.value = value;
    }
}

fn assigned(
    x: &mut Extractor<'_>,
    left: Node<'_>,
    whole: Node<'_>,
    value: Option<Node<'_>>,
    declared: Option<Node<'_>>,
) {
    let (value, declared) = (x.kept_text(value), x.kept_text(declared));
    if left.kind() == "identifier" {
        let index = variable(x, left, whole);
        if let Some(definition) = x.definition_mut(index) {
            definition.value = value;
            definition.declared = declared;
        }
        return;
    }
    if left.kind() != "attribute" {
        bound_to(x, left, whole, &value);
    }
    // `self.name = ...` in a method makes a field of the class.
    let is_own = |node: Node<'_>| node.kind() == "attribute";
    let is_closed = |node: Node<'_>| matches!(node.kind(), "subscript" | "call" | "identifier");
    for attribute in beneath(left, is_own, is_closed) {
        let (Some(object), Some(name)) = (attribute.field("object"), attribute.field("attribute")) else {
            continue;
        };
        if !matches!(x.text_of(object), "self" | "cls") || x.enclosing_type().is_none() {
            continue;
        }
        let container = x.enclosing_type().and_then(|(index, _)| index);
        let index = x.define(Kind::Field, name, whole, NameScope::Member);
        if let Some(definition) = x.definition_mut(index) {
            definition.container = container;
            if left.kind() == "attribute" {
                definition.value.clone_from(&value);
                definition.declared.clone_from(&declared);
            }
        }
    }
}

/// The names in `__all__` are used there.
fn listed(x: &mut Extractor<'_>, list: Node<'_>) {
    for name in beneath(list, |node| node.kind() == "string_content", |_| false) {
        x.used_at(name.start_byte(), name.end_byte() - name.start_byte());
    }
}

fn keyword<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(name) = node.field("name") else { return };
    let call = x.parent(node).and_then(|arguments| x.parent(arguments));
    if let Some(call) = call.filter(|call| call.kind() == "call")
        && let Some(function) = call.field("function")
    {
        x.reached(name, Receiver::Argument(span(function)));
    }
}

fn import(x: &mut Extractor<'_>, node: Node<'_>) {
    for name in children_by_field(node, "name") {
        if name.kind() == "aliased_import" {
            let (Some(module), Some(alias)) = (name.field("name"), name.field("alias")) else {
                continue;
            };
            let (module, alias_text) = (x.text_of(module), x.text_of(alias));
            let imported = x.imported("", alias_text, alias);
            x.import(module, name, vec![imported]);
        } else {
            // `import a.b` makes `a` known.
            let module = x.text_of(name);
            let first = module.split('.').next().unwrap_or(module);
            module_parts(x, name);
            let imported = x.imported("", first, name);
            x.import(module, name, vec![imported]);
        }
    }
}

/// Each part of a module's path is a module itself.
fn module_parts(x: &mut Extractor<'_>, module: Node<'_>) {
    for part in beneath(module, |node| node.kind() == "identifier", |_| false) {
        let path = Span { start: module.start_byte() as u32, end: part.end_byte() as u32 };
        x.reached(part, Receiver::Made(path));
    }
}

fn import_from(x: &mut Extractor<'_>, node: Node<'_>) {
    let module = node.field("module_name").map_or("__future__", |module| x.text_of(module));
    let mut names = Vec::new();
    for name in children_by_field(node, "name") {
        let (original, alias) = if name.kind() == "aliased_import" {
            (name.field("name"), name.field("alias"))
        } else {
            (Some(name), None)
        };
        let Some(original) = original else { continue };
        let text = x.text_of(original);
        x.reached(original, Receiver::Path(span(node.field("module_name").unwrap_or(node))));
        let alias_text = alias.map_or(text, |alias| x.text_of(alias));
        names.push(x.imported(text, alias_text, alias.unwrap_or(original)));
    }
    if children(node).iter().any(|child| child.kind() == "wildcard_import") {
        names.push(x.imported("*", "*", node));
    }
    if let Some(module) = node.field("module_name") {
        module_parts(x, module);
    }
    // Every name of a module is there for others to import.
    x.import(module, node, names).is_reexport = true;
}
