//! Rust.

mod patterns;
mod uses;

use tree_sitter::Node;

use crate::facts::extract::{Extractor, NameScope, Rules, beneath, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{Kind, Receiver, Span};
use patterns::{after, binding, bound, given_to_closure, where_it_holds};
use uses::use_declaration;

/// The kinds of nodes that [`visit`] looks at.
const VISITED: &[&str] = &[
    "function_item",
    "function_signature_item",
    "struct_item",
    "union_item",
    "enum_item",
    "trait_item",
    "mod_item",
    "macro_definition",
    "const_item",
    "static_item",
    "type_item",
    "associated_type",
    "impl_item",
    "field_declaration",
    "enum_variant",
    "string_literal",
    "type_parameter",
    "const_parameter",
    "lifetime_parameter",
    "where_predicate",
    "type_binding",
    "token_tree",
    "block",
    "match_arm",
    "for_expression",
    "while_expression",
    "if_expression",
    "closure_expression",
    "let_declaration",
    "let_condition",
    "match_pattern",
    "field_expression",
    "scoped_identifier",
    "scoped_type_identifier",
    "field_initializer",
    "shorthand_field_initializer",
    "field_pattern",
    "use_declaration",
    "extern_crate_declaration",
];

/// What a macro is given at most, as far as it is looked at.
const MOST_TOKENS: usize = 2000;

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
    closed: &["string_literal", "raw_string_literal", "line_comment", "block_comment"],
    visited: VISITED,
    visit,
};

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    match x.kind {
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
            let owner = node.field("type").map(|owner| plain_type(x.text_of(owner)));
            if let (Some(owner), Some(body)) = (owner, node.field("body")) {
                x.open_scope(node);
                // `Self` is another name for the type.
                let index = x.define_as(Kind::Type, "Self".to_owned(), node, node, NameScope::In(span(node)));
                set(x, index, owner.clone(), String::new());
                x.open_members(body, &owner);
            }
        }
        "field_declaration" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::Field, name, node, NameScope::Member);
                let declared = x.kept_text(node.field("type"));
                set(x, index, declared, String::new());
            }
        }
        "enum_variant" => {
            if let Some(name) = node.field("name") {
                let index = x.define(Kind::EnumMember, name, node, NameScope::Member);
                if let Some(body) = node.field("body") {
                    x.open_body(body, index);
                }
                tuple_types(x, node, index);
            }
        }
        "string_literal" => captured(x, node),
        "type_parameter" | "const_parameter" => {
            let name = node.field("name").or_else(|| node.named_child(0));
            if let Some(name) = name {
                let owner = x.parent(node).and_then(|list| x.parent(list)).unwrap_or(node);
                let index = x.define(Kind::TypeParameter, name, node, NameScope::In(span(owner)));
                let bounds = bounds(&x.kept_text(node.field("bounds")));
                if let Some(definition) = x.definition_mut(index) {
                    definition.bases = bounds;
                }
            }
        }
        "lifetime_parameter" => {
            let owner = x.parent(node).and_then(|list| x.parent(list)).unwrap_or(node);
            let name = beneath(node, |node| node.kind() == "identifier", |_| false).into_iter().next();
            if let Some(name) = name {
                let index = x.define(Kind::TypeParameter, name, node, NameScope::In(span(owner)));
                // What tells it from a type of that name.
                set(x, index, "'".to_owned(), String::new());
            }
        }
        "where_predicate" => bounded(x, node),
        "type_binding" => {
            // `Trait<Name = Type>`.
            let of = x.parent(node).and_then(|list| x.parent(list)).and_then(|of| of.field("type"));
            if let (Some(of), Some(name)) = (of, node.field("name")) {
                x.reached(name, Receiver::Path(span(of)));
            }
        }
        "token_tree" => tokens(x, node),
        "block" | "match_arm" | "for_expression" | "while_expression" | "if_expression" => {
            x.open_scope(node);
            if node.kind() == "for_expression"
                && let Some(pattern) = node.field("pattern")
            {
                let over = x.kept_text(node.field("value"));
                let place = node.field("body").map_or(NameScope::Here, |body| NameScope::In(span(body)));
                // What a map gives to a loop is a pair, by an index it is a value.
                let each = if pattern.kind() == "tuple_pattern" { ".into_iter()" } else { "" };
                bound(x, pattern, node, "", &format!("({over}){each}[0]"), Kind::Variable, place);
            }
        }
        "closure_expression" => {
            x.open_scope(node);
            if let Some(list) = node.field("parameters") {
                let given = given_to_closure(x, node);
                for parameter in children(list) {
                    let pattern = parameter.field("pattern").unwrap_or(parameter);
                    let declared = x.kept_text(parameter.field("type"));
                    bound(
                        x,
                        pattern,
                        parameter,
                        &declared,
                        &given,
                        Kind::Parameter,
                        NameScope::In(span(node)),
                    );
                }
            }
        }
        "let_declaration" => binding(x, node, after(x, node)),
        "let_condition" => binding(x, node, where_it_holds(x, node)),
        "match_pattern" => {
            let scrutinee = x
                .parent(node)
                .and_then(|arm| x.parent(arm))
                .and_then(|block| x.parent(block))
                .and_then(|whole| whole.field("value"));
            let value = x.kept_text(scrutinee);
            bound(x, node, node, "", &value, Kind::Variable, NameScope::Here);
        }
        "field_expression" => x.member_access(node, "value", "field"),
        "scoped_identifier" | "scoped_type_identifier" => x.path_access(node, "path", "name"),
        "field_initializer" | "shorthand_field_initializer" => made(x, node, "struct_expression", "name"),
        "field_pattern" => made(x, node, "struct_pattern", "type"),
        "use_declaration" => use_declaration(x, node),
        "extern_crate_declaration" => {
            if let Some(name) = node.field("name") {
                let alias = node.field("alias").unwrap_or(name);
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

fn function<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(name) = node.field("name") else { return };
    let kind = if x.is_in_type() { Kind::Method } else { Kind::Function };
    let index = x.define(kind, name, node, NameScope::Here);
    let declared = x.kept_text(node.field("return_type"));
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.is_declaration = node.kind() == "function_signature_item";
    }
    let owner = x.enclosing_type().filter(|_| kind == Kind::Method);
    let of_impl = implemented(x, node);
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = of_impl;
    }
    x.open_body(node, index);
    let Some(list) = node.field("parameters") else { return };
    for parameter in children(list) {
        if parameter.kind() == "self_parameter" {
            if let Some(name) = children(parameter).into_iter().find(|child| child.kind() == "self") {
                let index = x.define(Kind::Parameter, name, parameter, NameScope::In(span(node)));
                let declared = owner.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
                set(x, index, declared, String::new());
            }
            continue;
        }
        if let Some(pattern) = parameter.field("pattern") {
            let declared = x.kept_text(parameter.field("type"));
            bound(x, pattern, parameter, &declared, "", Kind::Parameter, NameScope::In(span(node)));
        }
    }
}

/// The trait whose impl an item stands in, and the type if it is more than a name: `&Type`, `[Type]`.
fn implemented<'t>(x: &Extractor<'t>, node: Node<'t>) -> Vec<String> {
    let around = x.parent(node).and_then(|body| x.parent(body)).filter(|around| around.kind() == "impl_item");
    let Some(around) = around else { return Vec::new() };
    let Some(of) = around.field("trait") else { return Vec::new() };
    let mut texts = vec![x.kept_text(Some(of))];
    let for_type = around.field("type").filter(|of| of.kind() == "reference_type");
    texts.extend(for_type.map(|of| x.kept_text(Some(of))));
    texts
}

/// The traits of `: A + B + 'a + ?Sized`.
fn bounds(text: &str) -> Vec<String> {
    let bounds = text.trim_start_matches(':').split('+').map(|bound| bound.trim().to_owned());
    bounds.filter(|bound| !bound.is_empty() && !bound.starts_with(['\'', '?'])).collect()
}

/// `where T: Bound` says about a parameter what `<T: Bound>` says.
fn bounded(x: &mut Extractor<'_>, node: Node<'_>) {
    let (Some(left), Some(bounds)) = (node.field("left"), node.field("bounds")) else {
        return;
    };
    let bounds = self::bounds(&x.kept_text(Some(bounds)));
    let name = x.text_of(left);
    if let Some(index) = x.newest(Kind::TypeParameter, name)
        && let Some(definition) = x.definition_mut(index)
        && definition.scope.is_some_and(|scope| scope.contains(node.start_byte() as u32))
    {
        definition.bases.extend(bounds);
    }
}

fn item(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(kind, name, node, NameScope::Here);
    let bounds = bounds(&x.kept_text(node.field("bounds").filter(|_| kind == Kind::Trait)));
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = bounds;
        definition.is_declaration = kind == Kind::Module && node.field("body").is_none();
    }
    if let Some(body) = node.field("body").filter(|_| kind != Kind::Macro) {
        x.open_body(body, index);
    }
    tuple_types(x, node, index);
}

/// `struct Name(A, B)`: the types of its places.
fn tuple_types(x: &mut Extractor<'_>, node: Node<'_>, index: u32) {
    let body = node.field("body").filter(|body| body.kind() == "ordered_field_declaration_list");
    if body.is_some() {
        let declared = x.kept_text(body);
        set(x, index, declared, String::new());
    }
}

/// `"{name}"` in what a macro is given uses the name.
fn captured<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(tree) = x.parent(node).filter(|parent| parent.kind() == "token_tree") else { return };
    let text = x.text_of(node);
    // Only a text with a place for them has arguments with names.
    let arguments = if text.contains('{') { named_arguments(x, tree) } else { Vec::new() };
    let named: Vec<&str> = arguments.iter().map(|name| x.text_of(*name)).collect();
    for (name, argument) in named.iter().zip(&arguments) {
        let is_asked_for = |(at, _): (usize, &str)| {
            text[..at].ends_with(['{', ':', '.', '<', '>', '^'])
                && text[at + name.len()..].starts_with(['}', ':', '$'])
        };
        if text.match_indices(name).any(is_asked_for) {
            x.reached(*argument, Receiver::Argument(span(node)));
        }
    }
    let mut at = 0;
    while let Some(open) = text[at..].find('{') {
        let start = at + open + 1;
        let rest = &text[start..];
        if let Some(after) = rest.strip_prefix('{') {
            at = text.len() - after.len();
            continue;
        }
        let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        if is_name(name) && rest[name.len()..].starts_with(['}', ':']) && !named.contains(&name) {
            x.used_within(node, start, name.len());
        }
        at = start + name.len();
        // `{:width$.precision$}`.
        let specification = text[at..].strip_prefix(':').and_then(|rest| rest.split('}').next());
        for (end, _) in specification.unwrap_or_default().match_indices('$') {
            let before = &text[at + 1..at + 1 + end];
            let begin = before.rfind(|character: char| !character.is_alphanumeric() && character != '_');
            let width = &before[begin.map_or(0, |begin| begin + 1)..];
            if is_name(width) && !named.contains(&width) {
                x.used_within(node, at + 1 + end - width.len(), width.len());
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The names that arguments are given for a text: `name = value`.
fn named_arguments<'t>(x: &Extractor<'t>, tree: Node<'t>) -> Vec<Node<'t>> {
    let all: Vec<Node<'t>> = tree.children(&mut tree.walk()).take(MOST_TOKENS).collect();
    let is_named = |three: &&[Node<'t>]| {
        x.text_of(three[0]) == "," && three[1].kind() == "identifier" && x.text_of(three[2]) == "="
    };
    all.windows(3).filter(is_named).map(|three| three[1]).collect()
}

fn value(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(Kind::Constant, name, node, NameScope::Here);
    let declared = x.kept_text(node.field("type"));
    let value = x.kept_text(node.field("value"));
    set(x, index, declared, value);
    let of_impl = implemented(x, node);
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = of_impl;
    }
}

fn alias(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(name) = node.field("name") else { return };
    let index = x.define(Kind::Type, name, node, NameScope::Here);
    let declared = x.kept_text(node.field("type"));
    set(x, index, declared, String::new());
    let of_impl = implemented(x, node);
    if let Some(definition) = x.definition_mut(index) {
        definition.bases = of_impl;
    }
}

fn set(x: &mut Extractor<'_>, index: u32, declared: String, value: String) {
    if let Some(definition) = x.definition_mut(index) {
        definition.declared = declared;
        definition.value = value;
    }
}

/// What a macro is given is not parsed; that `a.b` is a member of `a` can be told all the same.
fn tokens(x: &mut Extractor<'_>, tree: Node<'_>) {
    let all: Vec<Node<'_>> = tree.children(&mut tree.walk()).take(MOST_TOKENS).collect();
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
            let is_value = matches!(
                before.kind(),
                "identifier" | "self" | "crate" | "super" | "token_tree" | "metavariable"
            );
            let is_joint = matches!(x.text_of(before), "." | "::" | "?");
            if is_value && (wants_value || all[first].kind() == "token_tree") || is_joint && !wants_value {
                wants_value = is_joint && x.text_of(before) != "?";
                first -= 1;
            } else {
                break;
            }
        }
        let receiver = Span { start: all[first].start_byte() as u32, end: all[at - 1].start_byte() as u32 };
        x.reached(*name, if joint == "." { Receiver::Value(receiver) } else { Receiver::Path(receiver) });
    }
}

/// The field in `Type { field: value }` or in a pattern of that form.
fn made<'t>(x: &mut Extractor<'t>, node: Node<'t>, outer: &str, of: &'static str) {
    let field = node.field("field").or_else(|| node.field("name")).or_else(|| node.named_child(0));
    let mut holder = x.parent(node);
    while let Some(parent) = holder.filter(|parent| parent.kind() != outer) {
        if parent.kind().ends_with("_expression") || parent.kind() == "block" {
            return;
        }
        holder = x.parent(parent);
    }
    let of = holder.and_then(|holder| holder.field(of));
    if let (Some(field), Some(of)) = (field, of)
        && (matches!(field.kind(), "field_identifier" | "shorthand_field_identifier")
            || node.kind() == "shorthand_field_initializer")
    {
        x.reached(field, Receiver::Made(span(of)));
    }
}
