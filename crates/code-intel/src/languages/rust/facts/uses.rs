//! What `use` brings.

use tree_sitter::Node;

use crate::facts::extract::{Extractor, children, span};
use crate::facts::nodes::Fields;
use crate::facts::{ImportedName, Receiver};

pub(super) fn use_declaration(x: &mut Extractor<'_>, node: Node<'_>) {
    let Some(argument) = node.field("argument") else { return };
    let is_public = children(node).iter().any(|child| child.kind() == "visibility_modifier");
    let mut open = vec![(argument, String::new())];
    while let Some((tree, path)) = open.pop() {
        let joined = |text: &str| if path.is_empty() { text.to_owned() } else { format!("{path}::{text}") };
        match tree.kind() {
            "scoped_use_list" => {
                let prefix = tree.field("path").map(|node| x.text_of(node).to_owned());
                let prefix = prefix.map_or(path.clone(), |prefix| joined(&prefix));
                if let Some(list) = tree.field("list") {
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
                let (Some(of), Some(alias)) = (tree.field("path"), tree.field("alias")) else {
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
