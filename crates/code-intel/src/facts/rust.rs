//! Rust.

use tree_sitter::Node;

use super::extract::{Extractor, Place, Rules, beneath, children, span};
use super::{ImportedName, Kind, Receiver};

pub(super) const RULES: Rules = Rules {
    names: &[
        "identifier",
        "type_identifier",
        "field_identifier",
        "shorthand_field_identifier",
        "self",
        "crate",
        "super",
    ],
    visit,
};

fn visit(x: &mut Extractor<'_>, node: Node<'_>) {
    match node.kind() {
        "function_item" | "function_signature_item" => function(x, node),
        "struct_item" => item(x, node, Kind::Struct),
        "union_item" => item(x, node, Kind::Union),
        "enum_item" => item(x, node, Kind::Enum),
        "trait_item" => item(x, node, Kind::Trait),
        "mod_item" => item(x, node, Kind::Module),
        "macro_definition" => item(x, node, Kind::Macro),
        "const_item" | "static_item" => value(x, node),
        "type_item" | "associated_type" => alias(x, node),
        "impl_item" => {
            let owner = node.child_by_field_name("type").map(|owner| plain_type(x.text_of(owner)));
            if let (Some(owner), Some(body)) = (owner, node.child_by_field_name("body")) {
                x.open_scope(node);
                // `Self` is another name for the type.
                let index = x.define_as(Kind::Type, "Self".to_owned(), node, node, Place::In(span(node)));
                set(x, index, owner.clone(), String::new());
                x.open_members(body, &owner);
            }
        }
        "field_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                let index = x.define(Kind::Field, name, node, Place::Member);
                let declared = x.kept_text(node.child_by_field_name("type"));
                set(x, index, declared, String::new());
            }
        }
        "enum_variant" => {
            if let Some(name) = node.child_by_field_name("name") {
                let index = x.define(Kind::EnumMember, name, node, Place::Member);
                if let Some(body) = node.child_by_field_name("body") {
                    x.open_body(body, index);
                }
            }
        }
        "type_parameter" | "const_parameter" => {
            let name = node.child_by_field_name("name").or_else(|| node.named_child(0));
            if let Some(name) = name {
                let owner = node.parent().and_then(|list| list.parent()).unwrap_or(node);
                let index = x.define(Kind::TypeParameter, name, node, Place::In(span(owner)));
                let bounds = x.kept_text(node.child_by_field_name("bounds"));
                let bounds = bounds.trim_start_matches(':').split('+').map(|bound| bound.trim().to_owned());
                let bounds = bounds.filter(|bound| !bound.is_empty()).collect();
                if let Some(definition) = x.definition_mut(index) {
                    definition.bases = bounds;
                }
            }
        }
        "lifetime_parameter" => {
            let owner = node.parent().and_then(|list| list.parent()).unwrap_or(node);
            let name = beneath(node, |node| node.kind() == "identifier", |_| false).into_iter().next();
            if let Some(name) = name {
                x.define(Kind::TypeParameter, name, node, Place::In(span(owner)));
            }
        }
        "token_tree" => tokens(x, node),
        "block" | "match_arm" | "for_expression" | "while_expression" | "if_expression" => {
            x.open_scope(node);
            if node.kind() == "for_expression"
                && let Some(pattern) = node.child_by_field_name("pattern")
            {
                let over = x.kept_text(node.child_by_field_name("value"));
                let place =
                    node.child_by_field_name("body").map_or(Place::Here, |body| Place::In(span(body)));
                bound(x, pattern, node, "", &format!("{over}[0]"), Kind::Variable, place);
            }
        }
        "closure_expression" => {
            x.open_scope(node);
            if let Some(list) = node.child_by_field_name("parameters") {
                for parameter in children(list) {
                    let pattern = parameter.child_by_field_name("pattern").unwrap_or(parameter);
                    let declared = x.kept_text(parameter.child_by_field_name("type"));
                    bound(x, pattern, parameter, &declared, "", Kind::Parameter, Place::In(span(node)));
                }
            }
        }
        "let_declaration" => binding(x, node, after(node)),
        "let_condition" => binding(x, node, Place::Here),
        "match_pattern" => {
            let scrutinee = node
                .parent()
                .and_then(|arm| arm.parent())
                .and_then(|block| block.parent())
                .and_then(|whole| whole.child_by_field_name("value"));
            let value = x.kept_text(scrutinee);
            bound(x, node, node, "", &value, Kind::Variable, Place::Here);
        }
        "field_expression" => x.member_access(node, "value", "field"),
        "scoped_identifier" | "scoped_type_identifier" => x.path_access(node, "path", "name"),
        "field_initializer" | "shorthand_field_initializer" => made(x, node, "struct_expression", "name"),
        "field_pattern" => made(x, node, "struct_pattern", "type"),
        "use_declaration" => use_declaration(x, node),
        "extern_crate_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                let alias = node.child_by_field_name("alias").unwrap_or(name);
                let (text, alias_text) = (x.text_of(name), x.text_of(alias));
                let imported = x.imported("", alias_text, alias);
                x.import(text, node, vec![imported]);
            }
        }
        _ => {}
    }
}

/// The name of a type without what surrounds it: `&mut a::B<C>` is `B`.
fn plain_type(text: &str) -> String {
    let text = text.split('<').next().unwrap_or(text);
    let last = text.split_whitespace().last().unwrap_or_default().trim_start_matches(['&', '*', '(']);
    last.rsplit("::").next().unwrap_or(last).to_owned()
}

fn function(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let kind = if x.is_in_type() { Kind::Method } else { Kind::Function };
    let index = x.define(kind, name, node, Place::Here);
    let declared = x.kept_text(node.child_by_field_name("return_type"));
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.is_declaration = node.kind() == "function_signature_item";
    }
    let owner = x.enclosing_type().filter(|_| kind == Kind::Method);
    x.open_body(node, index);
    let Some(list) = node.child_by_field_name("parameters") else { return };
    for parameter in children(list) {
        if parameter.kind() == "self_parameter" {
            if let Some(name) = children(parameter).into_iter().find(|child| child.kind() == "self") {
                let index = x.define(Kind::Parameter, name, parameter, Place::In(span(node)));
                let declared = owner.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
                set(x, index, declared, String::new());
            }
            continue;
        }
        if let Some(pattern) = parameter.child_by_field_name("pattern") {
            let declared = x.kept_text(parameter.child_by_field_name("type"));
            bound(x, pattern, parameter, &declared, "", Kind::Parameter, Place::In(span(node)));
        }
    }
}

fn item(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let index = x.define(kind, name, node, Place::Here);
    let bounds = x.kept_text(node.child_by_field_name("bounds").filter(|_| kind == Kind::Trait));
    let bounds = bounds.trim_start_matches(':').split('+').map(|bound| bound.trim().to_owned());
    let bounds = bounds.filter(|bound| !bound.is_empty()).collect();
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bounds;
        definition.is_declaration = kind == Kind::Module && node.child_by_field_name("body").is_none();
    }
    if let Some(body) = node.child_by_field_name("body").filter(|_| kind != Kind::Macro) {
        x.open_body(body, index);
    }
}

fn value(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let index = x.define(Kind::Constant, name, node, Place::Here);
    let declared = x.kept_text(node.child_by_field_name("type"));
    let value = x.kept_text(node.child_by_field_name("value"));
    set(x, index, declared, value);
}

fn alias(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let index = x.define(Kind::Type, name, node, Place::Here);
    let declared = x.kept_text(node.child_by_field_name("type"));
    set(x, index, declared, String::new());
}

fn set(x: &mut Extractor<'_>, index: u32, declared: String, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = value;
    }
}

/// What a macro is given is not parsed; that `a.b` is a member of `a` can be told all the same.
fn tokens(x: &mut Extractor<'_>, tree: Node<'_>) {
    const MOST: usize = 2000;
    let all: Vec<Node<'_>> = tree.children(&mut tree.walk()).take(MOST).collect();
    for (at, name) in all.iter().enumerate().skip(2) {
        if name.kind() != "identifier" {
            continue;
        }
        let joint = x.text_of(all[at - 1]);
        if joint != "." && joint != "::" {
            continue;
        }
        // Back over names, their joints, and what is called or indexed.
        let mut first = at - 1;
        let mut wants_value = true;
        while first > 0 {
            let before = all[first - 1];
            let is_value = matches!(before.kind(), "identifier" | "self" | "crate" | "super" | "token_tree");
            let is_joint = matches!(x.text_of(before), "." | "::" | "?");
            if is_value && (wants_value || all[first].kind() == "token_tree") || is_joint && !wants_value {
                wants_value = is_joint && x.text_of(before) != "?";
                first -= 1;
            } else {
                break;
            }
        }
        let receiver =
            super::Span { start: all[first].start_byte() as u32, end: all[at - 1].start_byte() as u32 };
        x.reached(*name, if joint == "." { Receiver::Value(receiver) } else { Receiver::Path(receiver) });
    }
}

/// A `let` is known behind it, to the end of its block.
fn after(node: Node<'_>) -> Place {
    match node.parent() {
        Some(block) => Place::In(super::Span { start: node.end_byte() as u32, end: block.end_byte() as u32 }),
        None => Place::Here,
    }
}

fn binding(x: &mut Extractor<'_>, node: Node<'_>, place: Place) {
    let Some(pattern) = node.child_by_field_name("pattern") else { return };
    let declared = x.kept_text(node.child_by_field_name("type"));
    let value = x.kept_text(node.child_by_field_name("value"));
    bound(x, pattern, node, &declared, &value, Kind::Variable, place);
}

/// The names a pattern binds. A name in upper case, or one that begins so, is a constant or a variant that is
/// compared with.
fn bound(
    x: &mut Extractor<'_>,
    pattern: Node<'_>,
    whole: Node<'_>,
    declared: &str,
    value: &str,
    kind: Kind,
    place: Place,
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
    let condition =
        (pattern.kind() == "match_pattern").then(|| pattern.child_by_field_name("condition")).flatten();
    for name in beneath(pattern, is_name, is_closed) {
        if condition.is_some_and(|condition| span(condition).contains(name.start_byte() as u32)) {
            continue;
        }
        let parent = name.parent();
        let is_type = parent.is_some_and(|parent| {
            matches!(parent.kind(), "tuple_struct_pattern" | "struct_pattern")
                && parent.child_by_field_name("type").is_some_and(|of| of.id() == name.id())
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
            Shape::Inside if value.is_empty() => {}
            Shape::Inside => own_value = format!("({value}).unwrap()"),
            Shape::Field(of) => own_value = format!("{of}{{}}.{text}"),
            Shape::Variant(of, place) => own_value = format!("{of}{{}}.{place}"),
            Shape::Other => {}
        }
        set(x, index, own_type, own_value);
    }
}

/// What a name in a pattern stands for.
enum Shape {
    Whole,
    /// `Some(name)`, `Ok(name)`.
    Inside,
    /// A field of a struct of this name.
    Field(String),
    /// A place in a tuple struct or variant of this name.
    Variant(String, usize),
    Other,
}

fn unwrapped(x: &Extractor<'_>, name: Node<'_>, pattern: Node<'_>) -> Shape {
    let mut node = name;
    loop {
        if node.id() == pattern.id() {
            return Shape::Whole;
        }
        let Some(parent) = node.parent() else { return Shape::Other };
        match parent.kind() {
            "match_pattern" | "mut_pattern" | "ref_pattern" | "reference_pattern" | "captured_pattern" => {
                node = parent;
            }
            _ if parent.id() == pattern.id() && matches!(parent.kind(), "identifier" | "parameter") => {
                return Shape::Whole;
            }
            "tuple_struct_pattern" => {
                let Some(of) = parent.child_by_field_name("type") else { return Shape::Other };
                let text = x.text_of(of);
                if matches!(text, "Some" | "Ok") {
                    return Shape::Inside;
                }
                let place = children(parent).iter().skip(1).position(|child| child.id() == node.id());
                return place.map_or(Shape::Other, |place| Shape::Variant(text.to_owned(), place));
            }
            "field_pattern" | "struct_pattern" => {
                let outer = if parent.kind() == "struct_pattern" { Some(parent) } else { parent.parent() };
                let of = outer.and_then(|outer| outer.child_by_field_name("type"));
                return of.map_or(Shape::Other, |of| Shape::Field(x.text_of(of).to_owned()));
            }
            _ => return Shape::Other,
        }
    }
}

/// The field in `Type { field: value }` or in a pattern of that form.
fn made(x: &mut Extractor<'_>, node: Node<'_>, outer: &str, of: &str) {
    let field = node
        .child_by_field_name("field")
        .or_else(|| node.child_by_field_name("name"))
        .or_else(|| node.named_child(0));
    let mut holder = node.parent();
    while let Some(parent) = holder.filter(|parent| parent.kind() != outer) {
        if parent.kind().ends_with("_expression") || parent.kind() == "block" {
            return;
        }
        holder = parent.parent();
    }
    let of = holder.and_then(|holder| holder.child_by_field_name(of));
    if let (Some(field), Some(of)) = (field, of)
        && field.kind() == "field_identifier"
    {
        x.reached(field, Receiver::Made(span(of)));
    }
}

fn use_declaration(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(argument) = node.child_by_field_name("argument") else { return };
    let is_public = children(node).iter().any(|child| child.kind() == "visibility_modifier");
    let mut open = vec![(argument, String::new())];
    while let Some((tree, path)) = open.pop() {
        let joined = |text: &str| if path.is_empty() { text.to_owned() } else { format!("{path}::{text}") };
        match tree.kind() {
            "scoped_use_list" => {
                let prefix = tree.child_by_field_name("path").map(|node| x.text_of(node).to_owned());
                let prefix = prefix.map_or(path.clone(), |prefix| joined(&prefix));
                if let Some(list) = tree.child_by_field_name("list") {
                    open.extend(children(list).into_iter().map(|child| (child, prefix.clone())));
                }
            }
            "use_list" => open.extend(children(tree).into_iter().map(|child| (child, path.clone()))),
            "use_wildcard" => {
                let module = tree.named_child(0).map(|node| x.text_of(node).to_owned()).unwrap_or_default();
                let name = x.imported("*", "*", tree);
                add(x, &joined(&module), tree, name, is_public);
            }
            "use_as_clause" => {
                let (Some(of), Some(alias)) =
                    (tree.child_by_field_name("path"), tree.child_by_field_name("alias"))
                else {
                    continue;
                };
                let whole = joined(x.text_of(of));
                let alias_text = x.text_of(alias);
                let (module, last) = split(&whole);
                let name = x.imported(last, alias_text, alias);
                add(x, module, tree, name, is_public);
            }
            "line_comment" | "block_comment" => {}
            _ => {
                let whole = joined(x.text_of(tree));
                // `use a::{self}` is `use a`.
                let whole = whole.strip_suffix("::self").unwrap_or(&whole);
                let (module, last) = split(whole);
                let name = x.imported(last, last, tree);
                reach(x, tree, &path);
                add(x, module, tree, name, is_public);
            }
        }
    }
}

/// A name in a list is reached by the path before the list.
fn reach(x: &mut Extractor<'_>, tree: Node<'_>, path: &str) {
    if tree.kind() == "identifier" && !path.is_empty() {
        x.reached(tree, Receiver::Made(span(tree)));
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once("::").unwrap_or(("", path))
}

fn add(x: &mut Extractor<'_>, module: &str, node: Node<'_>, name: ImportedName, is_public: bool) {
    x.import(module, node, vec![name]).is_reexport = is_public;
}
