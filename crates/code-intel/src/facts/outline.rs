//! The languages whose files are outlined only, and what a definition looks like to a reader.

use tree_sitter::Node;

use super::extract::{Extractor, NameScope, Rules, children};
use super::nodes::Fields;
use super::{Definition, Facts, Kind, Span};

pub(crate) const RULES: Rules = Rules {
    names: &[
        "identifier",
        "name",
        "constant",
        "word",
        "type_identifier",
        "property_identifier",
        "variable_name",
    ],
    closed: &[],
    visited: &[],
    visit,
};

/// Nodes with a field `name` and perhaps a field `body`, in Bash, C#, PHP and Ruby.
const NAMED: &[(&str, Kind)] = &[
    ("function_definition", Kind::Function),
    ("method_declaration", Kind::Method),
    ("local_function_statement", Kind::Function),
    ("constructor_declaration", Kind::Constructor),
    ("class_declaration", Kind::Class),
    ("record_declaration", Kind::Class),
    ("struct_declaration", Kind::Struct),
    ("interface_declaration", Kind::Interface),
    ("trait_declaration", Kind::Trait),
    ("enum_declaration", Kind::Enum),
    ("enum_member_declaration", Kind::EnumMember),
    ("enum_case", Kind::EnumMember),
    ("delegate_declaration", Kind::Type),
    ("property_declaration", Kind::Property),
    ("namespace_declaration", Kind::Module),
    ("file_scoped_namespace_declaration", Kind::Module),
    ("namespace_definition", Kind::Module),
    ("class", Kind::Class),
    ("module", Kind::Module),
    ("method", Kind::Method),
    ("singleton_method", Kind::Method),
];

fn visit<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    if let Some((_, kind)) = NAMED.iter().find(|(name, _)| *name == node.kind()) {
        named(x, node, *kind);
        return;
    }
    match node.kind() {
        // CSS.
        "selectors" => {
            let text = x.kept_text(Some(node)).split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() {
                let whole = x.parent(node).unwrap_or(node);
                x.define_as(Kind::Entry, text, node, whole, NameScope::Here);
            }
        }
        // JSON, TOML and YAML.
        "pair" | "block_mapping_pair" => key(x, node),
        // TOML.
        "table" | "table_array_element" => table(x, node),
        // An anchor in HTML.
        "attribute" => anchor(x, node),
        "using_directive" | "namespace_use_clause" => {
            if let Some(name) = children(node).into_iter().last() {
                let module = x.text_of(name);
                x.import(module, node, Vec::new());
            }
        }
        "call" => required(x, node),
        _ => {}
    }
}

fn named(x: &mut Extractor<'_>, node: Node<'_>, kind: Kind) {
    let name = node.field("name").or_else(|| {
        // A property of a class in PHP has its name further in.
        let element = children(node).into_iter().find(|child| child.kind() == "property_element")?;
        element.field("name").or_else(|| element.named_child(0))
    });
    let Some(name) = name else { return };
    let index = x.define(kind, name, node, NameScope::Here);
    let body = node.field("body");
    if let Some(body) = body.filter(|_| kind.is_type() || kind == Kind::Module) {
        x.open_body(body, index);
    } else if kind.is_callable() {
        x.open_body(node, index);
    }
}

/// A key, two levels deep: what is below is found by searching.
fn key<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    const DEEPEST: usize = 2;
    let Some(key) = node.field("key").or_else(|| toml_key(node)) else { return };
    let mut depth = 0;
    let mut outer = x.parent(node);
    while let Some(parent) = outer {
        if matches!(parent.kind(), "pair" | "block_mapping_pair") {
            depth += 1;
            if depth >= DEEPEST {
                return;
            }
        }
        outer = x.parent(parent);
    }
    let text = x.text_of(key).trim_matches(['"', '\'']).to_owned();
    let index = x.define_as(Kind::Entry, text, key, node, NameScope::Here);
    let value =
        node.field("value").or_else(|| children(node).into_iter().find(|part| part.kind() == "inline_table"));
    if let Some(value) = value {
        x.open_body(value, index);
    }
}

/// `[name]` or `[[name]]` with its keys.
fn table<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let Some(key) = toml_key(node) else { return };
    let text = x.text_of(key).to_owned();
    let index = x.define_as(Kind::Entry, text, key, node, NameScope::Here);
    x.open_body(node, index);
}

/// The key of a TOML table or pair, which has no field for it.
fn toml_key(node: Node<'_>) -> Option<Node<'_>> {
    let is_key = |part: &Node<'_>| matches!(part.kind(), "bare_key" | "quoted_key" | "dotted_key");
    children(node).into_iter().find(is_key)
}

fn anchor<'t>(x: &mut Extractor<'t>, node: Node<'t>) {
    let parts = children(node);
    if let [name, value] = parts.as_slice()
        && x.text_of(*name).eq_ignore_ascii_case("id")
    {
        let text = x.text_of(*value).trim_matches(['"', '\'']).to_owned();
        let whole = x.parent(node).unwrap_or(node);
        x.define_as(Kind::Entry, text, *value, whole, NameScope::Here);
    }
}

/// `require "file"` in Ruby.
fn required(x: &mut Extractor<'_>, node: Node<'_>) {
    let method = node.field("method").map(|method| x.text_of(method));
    if !matches!(method, Some("require" | "require_relative" | "load")) {
        return;
    }
    let argument = node.field("arguments").and_then(|arguments| arguments.named_child(0));
    if let Some(argument) = argument {
        let module = x.text_of(argument).trim_matches(['"', '\'']);
        x.import(module, node, Vec::new());
    }
}

/// Returns a definition on one line, without its body.
pub fn signature(text: &str, definition: &Definition) -> String {
    const LONGEST: usize = 200;
    let source = definition.span.of(text);
    let mut depth = 0_i32;
    let mut end = source.len();
    for (at, character) in source.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth <= 0 => {
                end = at;
                break;
            }
            ':' if depth <= 0 && source[at + 1..].starts_with(['\n', '\r']) => {
                end = at;
                break;
            }
            '\n' if depth <= 0 && !definition.kind.is_callable() => {
                end = at;
                break;
            }
            _ => {}
        }
        if at > 4 * LONGEST {
            end = at;
            break;
        }
    }
    let line = in_a_line(&source[..end]);
    if line.chars().count() > LONGEST {
        format!("{}…", line.chars().take(LONGEST).collect::<String>())
    } else {
        line
    }
}

/// Lines as one, without the spaces and the comma that brackets have only where they go over several.
fn in_a_line(text: &str) -> String {
    let mut line = String::new();
    for part in text.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if part.starts_with([')', ']', '>']) {
            line.truncate(line.trim_end_matches([' ', ',']).len());
        } else if !line.is_empty() && !line.ends_with(['(', '[', '<']) {
            line.push(' ');
        }
        line.push_str(&part.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    line
}

/// The first line of the comment before a definition, or of the text that begins a Python body.
pub(crate) fn doc_line(text: &str, definition: &Definition) -> Option<String> {
    let whole = whole(text, definition);
    let before = text.get(whole.start as usize..definition.span.start as usize)?;
    // `enum State { OPEN, PAID }`: the comment is that of what the line begins with.
    let is_first = !before.lines().next_back().is_some_and(|line| line.contains(['{', ';', ',']));
    let before = if is_first || before.ends_with('\n') { before } else { "" };
    let cleaned = before.lines().map(cleaned_comment).find(|line| !line.is_empty());
    cleaned.or_else(|| docstring(definition.span.of(text)))
}

fn cleaned_comment(line: &str) -> String {
    let line = line.trim();
    // Before a definition there also stand annotations, and what begins its own line.
    if !line.starts_with(['/', '*', '#']) || line.starts_with("#[") || line.starts_with("#!") {
        return String::new();
    }
    let line = line.trim_start_matches(['/', '*', '#', '!', '-']).trim_end_matches("*/");
    line.trim().to_owned()
}

fn docstring(source: &str) -> Option<String> {
    let body = source.split_once(":\n").or_else(|| source.split_once(":\r\n"))?.1.trim_start();
    let quoted = ["\"\"\"", "'''", "r\"\"\""].iter().find_map(|mark| body.strip_prefix(mark))?;
    let line = quoted.trim_start().lines().next()?;
    let line = line.trim().trim_end_matches("\"\"\"").trim_end_matches("'''").trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Returns the range of a definition with the comments, decorators and attributes directly before it.
pub fn whole(text: &str, definition: &Definition) -> Span {
    let bytes = text.as_bytes();
    let line_start =
        |at: usize| bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let first = line_start((definition.span.start as usize).min(text.len()));
    // What stands on the same line before it (`export`, `pub`, `static`) belongs to it.
    let mut start = first;
    while start > 0 {
        let previous = line_start(start - 1);
        let line = text.get(previous..start).unwrap_or_default().trim();
        let belongs = line.starts_with("//")
            || line.starts_with('*')
            || line.starts_with("/*")
            || line.starts_with("*/")
            || line.starts_with('@')
            || line.starts_with("#[")
            || line.starts_with('#')
                && !line.starts_with("#include")
                && !line.starts_with("#define")
                && !line.starts_with("#endif")
                && !line.starts_with("#if")
            || line.starts_with("template");
        if !belongs || line.is_empty() {
            break;
        }
        start = previous;
    }
    Span { start: start as u32, end: definition.span.end }
}

/// The name of a definition with what contains it, such as `Order.total`. The definition may come from the outline of
/// the file or from the whole of it.
pub fn qualified_name(facts: &Facts, definition: &Definition) -> String {
    let place = facts.definitions.iter().position(|one| one.name_span == definition.name_span);
    place.map_or_else(|| definition.name.clone(), |place| described(facts, place as u32))
}

/// Returns the qualified name of a definition, such as `Class.method`.
pub fn described(facts: &Facts, index: u32) -> String {
    const DEEPEST: usize = 16;
    let mut parts = Vec::new();
    let mut current = Some(index);
    while let Some(definition) = current.and_then(|index| facts.definitions.get(index as usize)) {
        parts.push(definition.name.as_str());
        if let Some(owner) = definition.owner.as_deref().filter(|owner| !owner.is_empty()) {
            parts.push(owner);
            break;
        }
        current = definition.container.filter(|container| Some(*container) != current);
        if parts.len() >= DEEPEST {
            break;
        }
    }
    parts.reverse();
    parts.join(".")
}
