//! Functions of a source text by its syntax tree: where their bodies are, their parameters, their lines of code.

use std::path::Path;

use tree_sitter::Node;

use crate::assignments::{self, VariableFacts};
use crate::languages::Language;
use crate::syntax::{self, Limits};

/// A function, or the top level of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The first and the last line, from 1, of the body.
    pub first_line: usize,
    pub last_line: usize,
    /// The lines of the body on which code begins, without those of functions inside.
    pub code_lines: Vec<usize>,
    pub parameters: Vec<String>,
    /// Not a function: the code outside of all functions.
    pub is_top_level: bool,
    /// What it does to its variables.
    pub variables: VariableFacts,
}

/// Returns the innermost function around a line, or the top level where there is none. `None` where the text cannot be
/// parsed.
pub fn function_at(path: &Path, text: &str, line: usize) -> Option<Function> {
    let row = line.checked_sub(1)?;
    let content = text.lines().nth(row)?;
    let column = content.len() - content.trim_start().len();
    let language = Language::detect(path, text)?;
    let tree = syntax::parse(language, text, Limits::QUICK).ok()?;
    let point = tree_sitter::Point { row, column };
    let mut node = tree.root_node().descendant_for_point_range(point, point);
    while let Some(one) = node {
        if let Some(body) = body_of(one) {
            return Some(function(one, body, text));
        }
        node = one.parent();
    }
    let root = tree.root_node();
    let mut code_lines = Vec::new();
    collect_code_lines(root, text, &mut code_lines);
    Some(Function {
        first_line: 1,
        last_line: text.lines().count(),
        code_lines,
        parameters: Vec::new(),
        is_top_level: true,
        variables: assignments::facts(root, text, |node| body_of(node).is_some()),
    })
}

/// Returns the first function of this name.
pub fn function_named(path: &Path, text: &str, name: &str) -> Option<Function> {
    let name = name.rsplit(['.', ':']).next()?;
    let language = Language::detect(path, text)?;
    let tree = syntax::parse(language, text, Limits::QUICK).ok()?;
    let mut pending = vec![tree.root_node()];
    while let Some(node) = pending.pop() {
        if let Some(body) = body_of(node)
            && name_of(node, text) == Some(name)
        {
            return Some(function(node, body, text));
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
    None
}

/// Returns the body of a node that is a function, a method, a closure.
fn body_of(node: Node<'_>) -> Option<Node<'_>> {
    const FUNCTIONS: [&str; 8] =
        ["function", "method", "closure", "lambda", "func_literal", "constructor", "arrow", "destructor"];
    if !node.is_named() || !FUNCTIONS.iter().any(|kind| node.kind().contains(kind)) {
        return None;
    }
    node.child_by_field_name("body")
}

fn function(node: Node<'_>, body: Node<'_>, text: &str) -> Function {
    let mut code_lines = Vec::new();
    let mut cursor = body.walk();
    for child in body.children(&mut cursor) {
        collect_code_lines(child, text, &mut code_lines);
    }
    if body.child_count() == 0 {
        collect_code_lines(body, text, &mut code_lines);
    }
    let (first, last) = (body.start_position().row + 1, body.end_position().row + 1);
    Function {
        first_line: code_lines.first().copied().unwrap_or(first),
        last_line: last,
        code_lines,
        parameters: parameters_of(node, text),
        is_top_level: false,
        variables: assignments::facts(body, text, |node| body_of(node).is_some()),
    }
}

/// Adds the lines on which code begins, in order: no comments, no documentation, nothing of functions inside.
fn collect_code_lines(node: Node<'_>, text: &str, lines: &mut Vec<usize>) {
    let is_comment = node.is_extra() || node.kind().contains("comment");
    // A string that stands alone documents what is around it.
    let is_documentation = node.kind() == "expression_statement"
        && node.named_child_count() == 1
        && node.named_child(0).is_some_and(|child| child.kind() == "string");
    if is_comment || is_documentation {
        return;
    }
    if node.child_count() == 0 {
        let is_word = node.utf8_text(text.as_bytes()).is_ok_and(|leaf| leaf.contains(char::is_alphanumeric));
        let line = node.start_position().row + 1;
        if is_word && lines.last() != Some(&line) {
            lines.push(line);
        }
        return;
    }
    let body = body_of(node);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        // The head of a function is not where its code runs, except that of a closure in an expression.
        let is_declared = body.is_some() && node.parent().is_none_or(|parent| is_block(parent));
        if body != Some(child) && !is_declared {
            collect_code_lines(child, text, lines);
        }
    }
}

/// Whether a node holds statements or declarations.
fn is_block(node: Node<'_>) -> bool {
    let kind = node.kind();
    node.parent().is_none()
        || kind.contains("block")
        || kind.contains("body")
        || kind.contains("list")
        || kind.contains("export")
        || kind.contains("decorated")
}

/// Returns the node that lists the parameters. C and C++ have it inside the declarator.
fn parameter_list(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    loop {
        if let Some(found) = ["parameters", "parameter"].iter().find_map(|name| at.child_by_field_name(name))
        {
            return Some(found);
        }
        at = at.child_by_field_name("declarator")?;
    }
}

fn parameters_of(node: Node<'_>, text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut pending: Vec<Node<'_>> = parameter_list(node).into_iter().collect();
    while let Some(node) = pending.pop() {
        if node.kind().ends_with("identifier") && !node.kind().starts_with("type")
            || node.kind() == "shorthand_property_identifier_pattern"
            || node.kind() == "self"
            || node.kind() == "variable_name"
        {
            names.extend(node.utf8_text(text.as_bytes()).map(str::to_owned));
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        // Neither types nor defaults are names of parameters.
        let skipped = ["type", "value", "right"].map(|field| node.child_by_field_name(field));
        pending.extend(children.into_iter().rev().filter(|child| !skipped.contains(&Some(*child))));
    }
    names
}

/// Returns a function's name; that of the variable or field it is assigned to where it has none of its own.
fn name_of<'t>(node: Node<'_>, text: &'t str) -> Option<&'t str> {
    let mut at = node;
    let named = loop {
        if let Some(name) = at.child_by_field_name("name") {
            break Some(name);
        }
        match at.child_by_field_name("declarator") {
            Some(inner) => at = inner,
            None => break (at != node).then_some(at),
        }
    };
    let named = named.or_else(|| {
        let parent = node.parent()?;
        ["name", "left", "key", "pattern"].iter().find_map(|field| parent.child_by_field_name(field))
    })?;
    let name = text.get(named.byte_range())?;
    name.rsplit(['.', ':', '*', '&', ' ']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, line: usize, expected: (usize, usize, &[usize], &[&str])) {
        let found = function_at(Path::new(path), text, line).unwrap();
        let parameters: Vec<&str> = found.parameters.iter().map(String::as_str).collect();
        assert_eq!(
            (found.first_line, found.last_line, found.code_lines.as_slice(), parameters.as_slice()),
            expected,
            "{path}"
        );
    }

    #[test]
    fn functions_of_every_language_have_bodies_and_parameters() {
        let python = "x = 1\n\ndef a(n, m: int = x):\n    \"\"\"Why.\"\"\"\n    # why\n    y = n\n\n    return y\n\ndef b():\n    pass\n";
        check("a.py", python, 8, (6, 8, &[6, 8], &["n", "m"]));
        check(
            "a.c",
            "int f(int a, char *b)\n{\n    int c = a;\n    return c;\n}\nint d;\n",
            4,
            (3, 5, &[3, 4], &["a", "b"]),
        );
        check(
            "a.rs",
            "impl Cart {\n    pub(crate) fn total(&self, of: u32) -> u32 {\n        of\n    }\n}\n",
            3,
            (3, 4, &[3], &["self", "of"]),
        );
        check(
            "a.go",
            "package a\n\nfunc (t Trip) Total(n int) int {\n\treturn n\n}\n",
            4,
            (4, 5, &[4], &["n"]),
        );
        check("a.js", "items.forEach((item) => {\n  use(item);\n});\n", 2, (2, 3, &[2], &["item"]));
        check(
            "a.ts",
            "class A {\n  total(items: Item[]) {\n    return items;\n  }\n}\n",
            3,
            (3, 4, &[3], &["items"]),
        );
        check("a.cpp", "int Cart::total(int n) const {\n  return n;\n}\n", 2, (2, 3, &[2], &["n"]));
    }

    #[test]
    fn code_of_inner_functions_belongs_to_them() {
        let text = "def outer(a):\n    def inner(b):\n        return b\n    c = inner(a)\n    return c\n";
        check("a.py", text, 5, (4, 5, &[4, 5], &["a"]));
        check("a.py", text, 3, (3, 3, &[3], &["b"]));
    }

    #[test]
    fn the_top_level_of_a_script_has_no_function() {
        let text = "def a():\n    pass\nx = 1\ny = a(x)\n";
        let found = function_at(Path::new("a.py"), text, 4).unwrap();
        assert!(found.is_top_level);
        assert_eq!(found.code_lines, [3, 4]);
        assert_eq!(function_at(Path::new("a.py"), text, 99), None);
        assert_eq!(function_at(Path::new("a.unknown"), text, 1), None);
    }

    #[test]
    fn functions_are_found_by_name() {
        let rows = [
            ("a.py", "class A:\n    async def run(self):\n        return 1\n", "A.run", 3),
            ("a.js", "const run = async (a) => {\n  return a;\n};\n", "run", 2),
            ("a.c", "int *run(void)\n{\n  return 0;\n}\n", "run", 3),
            ("a.cpp", "int A::run() {\n  return 0;\n}\n", "A::run", 2),
            ("a.rs", "fn other() {}\nfn run() {\n    // why\n    go();\n}\n", "run", 4),
        ];
        for (path, text, name, first) in rows {
            let found = function_named(Path::new(path), text, name);
            assert_eq!(found.map(|found| found.first_line), Some(first), "{path}");
        }
        assert_eq!(function_named(Path::new("a.py"), "run(1)\n", "run"), None);
    }
}
