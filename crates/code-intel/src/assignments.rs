//! Which lines of a function give its variables their values, by its syntax tree.
//!
//! A debugger tells that a value differs from one stop to the next; only the source tells which of the lines between can
//! have written it. What is not certain is marked so: a store behind a condition, through a reference, by a method.

use tree_sitter::Node;

/// A place that may give a variable its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    /// The line of the variable, from 1.
    pub line: usize,
    /// The lines of the statement. Debuggers stop on any of them before it is done.
    pub first_line: usize,
    pub last_line: usize,
    pub certainty: Certainty,
}

/// Whether the variable is written when the statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    Always,
    /// It is written in a condition, or something gets a reference to it.
    Perhaps,
    /// It is passed to a call, or a method of it is called, which may change what it holds.
    Reached,
    /// By the head of a loop, which runs between rounds without a stop of its own. The lines are those of the loop.
    LoopHead,
}

/// The lines in which a name means one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub name: String,
    pub line: usize,
    /// The lines of the block that it is declared in. Debuggers take the name for it from the block's beginning on.
    pub first_line: usize,
    pub last_line: usize,
    /// Whether it has a value from the beginning.
    pub has_value: bool,
}

/// What a function does to its variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableFacts {
    pub assignments: Vec<Assignment>,
    pub declarations: Vec<Declaration>,
    /// The lines that call something, which may change what it can reach.
    pub call_lines: Vec<usize>,
}

/// Nodes that assign, and the field that names what is assigned.
const ASSIGNMENTS: [(&str, &str); 10] = [
    ("assignment_expression", "left"),
    ("augmented_assignment_expression", "left"),
    ("compound_assignment_expr", "left"),
    ("assignment", "left"),
    ("augmented_assignment", "left"),
    ("assignment_statement", "left"),
    ("operator_assignment", "left"),
    ("named_expression", "name"),
    ("update_expression", "argument"),
    ("short_var_declaration", "left"),
];
/// Nodes that declare, and the fields of the name and the value.
const DECLARATIONS: [(&str, &str, &str); 5] = [
    ("init_declarator", "declarator", "value"),
    ("variable_declarator", "name", "value"),
    ("let_declaration", "pattern", "value"),
    ("var_spec", "name", "value"),
    ("const_spec", "name", "value"),
];
/// Loops that declare what they go over.
const LOOPS: [(&str, &str); 6] = [
    ("for_in_statement", "left"),
    ("range_clause", "left"),
    ("for_expression", "pattern"),
    ("for_range_loop", "declarator"),
    ("enhanced_for_statement", "name"),
    ("for_statement", "left"),
];
/// Patterns that bind where they match.
const PATTERNS: [(&str, &str); 4] = [
    ("let_condition", "pattern"),
    ("match_arm", "pattern"),
    ("catch_clause", "parameter"),
    ("type_switch_statement", "alias"),
];

/// Reads the facts of a function's body, without those of functions inside.
pub fn facts(body: Node<'_>, text: &str, is_function: impl Fn(Node<'_>) -> bool) -> VariableFacts {
    let mut reader = Reader { text, facts: VariableFacts::default(), body };
    let mut pending = vec![body];
    while let Some(node) = pending.pop() {
        reader.read(node);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        pending.extend(children.into_iter().rev().filter(|child| !is_function(*child)));
    }
    reader.facts.call_lines.dedup();
    reader.facts
}

struct Reader<'t, 'n> {
    text: &'t str,
    facts: VariableFacts,
    body: Node<'n>,
}

impl Reader<'_, '_> {
    fn read(&mut self, node: Node<'_>) {
        let kind = node.kind();
        if let Some((_, field)) = ASSIGNMENTS.iter().find(|(known, _)| *known == kind) {
            let left = node.child_by_field_name(field).or_else(|| node.named_child(0));
            let declares = kind == "short_var_declaration";
            if let Some(left) = left {
                self.assigned(left, node, declares);
            }
        } else if let Some((_, name, value)) = DECLARATIONS.iter().find(|(known, ..)| *known == kind) {
            let has_value = node.child_by_field_name(value).is_some();
            if let Some(name) = node.child_by_field_name(name) {
                // Go and JavaScript give every variable a value.
                let is_set = has_value || kind == "var_spec" || kind == "variable_declarator";
                self.declared(name, node, is_set, block_of(node));
                if has_value {
                    self.assigned(name, node, false);
                }
            }
        } else if kind == "inc_statement" || kind == "dec_statement" {
            if let Some(left) = node.named_child(0) {
                self.assigned(left, node, false);
            }
        } else if kind == "declaration" {
            // C and C++ declare without a value beside their `init_declarator`s.
            let mut cursor = node.walk();
            let names: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
            for name in names.into_iter().filter(|name| name.kind() != "init_declarator") {
                self.declared(name, node, false, block_of(node));
            }
        } else if let Some((_, field)) = LOOPS.iter().find(|(known, _)| *known == kind)
            && let Some(left) = node.child_by_field_name(field)
        {
            let whole = if kind == "range_clause" { node.parent().unwrap_or(node) } else { node };
            self.declared(left, whole, true, rows(whole));
            self.add(left, whole, Certainty::LoopHead);
        } else if let Some((_, field)) = PATTERNS.iter().find(|(known, _)| *known == kind)
            && let Some(left) = node.child_by_field_name(field)
        {
            self.declared(left, node, true, pattern_of(node));
            self.add(left, statement_of(node), Certainty::Perhaps);
        } else if kind == "call_expression"
            || kind == "call"
            || kind == "macro_invocation"
            || kind == "new_expression"
        {
            self.called(node);
        } else if takes_reference(node, self.text)
            && let Some(inner) = last_child(node)
        {
            self.add_bases(inner, statement_of(node), Certainty::Perhaps);
        }
    }

    /// Notes a call: its lines, and its receiver and arguments, which it may change.
    fn called(&mut self, node: Node<'_>) {
        self.facts.call_lines.extend(row(node.start_position())..=row(node.end_position()));
        let function = node.child_by_field_name("function");
        let receiver = function.and_then(|function| {
            ["object", "operand", "value", "argument"]
                .iter()
                .find_map(|field| function.child_by_field_name(field))
        });
        if let Some(receiver) = receiver {
            self.add_bases(receiver, statement_of(node), Certainty::Reached);
        }
        if let Some(arguments) = node.child_by_field_name("arguments") {
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor).filter(|node| node.kind() == "identifier") {
                self.add(argument, statement_of(node), Certainty::Reached);
            }
        }
    }

    fn assigned(&mut self, left: Node<'_>, node: Node<'_>, declares: bool) {
        let head = loop_head(node);
        let statement = head.unwrap_or_else(|| statement_of(node));
        let certainty = match head {
            Some(_) => Certainty::LoopHead,
            None if is_conditional(node, statement) => Certainty::Perhaps,
            None => Certainty::Always,
        };
        for name in pattern_names(left) {
            if declares {
                let known = self.text.get(name.byte_range()).unwrap_or_default();
                let block = block_of(node);
                // `:=` declares only what its block does not have yet.
                let is_new = !self
                    .facts
                    .declarations
                    .iter()
                    .any(|one| one.name == known && (one.first_line, one.last_line) == block);
                if is_new {
                    self.declared(name, node, true, block);
                }
            }
            self.add(name, statement, certainty);
            // A stop on the head is before its start runs, or before its condition.
            if let Some(first) = head.and_then(|head| runs_at_head(node, head)) {
                self.add(name, first, Certainty::Always);
            }
        }
        if pattern_names(left).is_empty() {
            self.add_bases(left, statement, Certainty::Perhaps);
        }
    }

    fn declared(&mut self, pattern: Node<'_>, node: Node<'_>, has_value: bool, lines: (usize, usize)) {
        for name in pattern_names(pattern) {
            if let Some(text) = self.text.get(name.byte_range()) {
                self.facts.declarations.push(Declaration {
                    name: text.to_owned(),
                    line: row(node.start_position()),
                    first_line: lines.0,
                    last_line: lines.1,
                    has_value,
                });
            }
        }
    }

    /// Adds the variable that an expression reaches into, such as `a` in `a.b[0]`.
    fn add_bases(&mut self, expression: Node<'_>, statement: Node<'_>, certainty: Certainty) {
        let mut at = expression;
        loop {
            if at.kind() == "identifier" {
                self.add(at, statement, certainty);
                return;
            }
            let inner = ["object", "operand", "value", "argument", "left", "array"]
                .iter()
                .find_map(|field| at.child_by_field_name(field))
                .or_else(|| at.named_child(0));
            match inner {
                Some(inner) => at = inner,
                None => return,
            }
        }
    }

    fn add(&mut self, pattern: Node<'_>, statement: Node<'_>, certainty: Certainty) {
        for name in pattern_names(pattern) {
            let Some(text) = self.text.get(name.byte_range()) else { continue };
            let (first, last) = (row(statement.start_position()), row(statement.end_position()));
            let last = if certainty == Certainty::LoopHead { last } else { head_end(statement, last) };
            let line = if self.body.byte_range().contains(&name.start_byte()) {
                row(name.start_position())
            } else {
                first
            };
            self.facts.assignments.push(Assignment {
                name: text.to_owned(),
                line,
                first_line: first,
                last_line: last,
                certainty,
            });
        }
    }
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).last()
}

/// The first and the last line of a node.
fn rows(node: Node<'_>) -> (usize, usize) {
    (row(node.start_position()), row(node.end_position()))
}

fn row(point: tree_sitter::Point) -> usize {
    point.row + 1
}

/// The plain names of a pattern or a declarator; none where it reaches into something.
fn pattern_names(pattern: Node<'_>) -> Vec<Node<'_>> {
    let reaches = [
        "subscript_expression",
        "field_expression",
        "member_expression",
        "selector_expression",
        "index_expression",
        "attribute",
        "subscript",
        "pointer_expression",
        "unary_expression",
    ];
    let mut names = Vec::new();
    let mut pending = vec![pattern];
    while let Some(node) = pending.pop() {
        let kind = node.kind();
        if kind == "identifier" || kind == "shorthand_property_identifier_pattern" || kind == "variable_name"
        {
            names.push(node);
        }
        if reaches.contains(&kind) {
            continue;
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        // Neither types nor defaults nor sizes are names; a pattern's path is its type.
        let skipped = ["type", "value", "right", "size", "parameters", "name"]
            .map(|field| node.child_by_field_name(field).filter(|_| kind != "pair_pattern"));
        let is_path =
            |child: &Node<'_>| node.kind() == "tuple_struct_pattern" && Some(*child) == node.named_child(0);
        pending.extend(
            children.into_iter().rev().filter(|child| !skipped.contains(&Some(*child)) && !is_path(child)),
        );
    }
    names
}

/// Whether a node takes the address of something, or a reference that can be written through.
fn takes_reference(node: Node<'_>, text: &str) -> bool {
    let begins = |with: &str| text.get(node.byte_range()).is_some_and(|own| own.starts_with(with));
    match node.kind() {
        "pointer_expression" | "unary_expression" => begins("&") && !begins("&&"),
        "reference_expression" => begins("&mut"),
        _ => false,
    }
}

/// The loop whose head a node stands in.
fn loop_head(node: Node<'_>) -> Option<Node<'_>> {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        let kind = outer.kind();
        if kind == "for_statement"
            || kind == "while_statement"
            || kind == "while_expression"
            || kind == "do_statement"
        {
            return (outer.child_by_field_name("body") != Some(inner)).then_some(outer);
        }
        if is_statement(outer) && kind != "expression_statement" && kind != "declaration" {
            return None;
        }
        inner = outer;
    }
    None
}

/// Returns the part of a loop's head that a node stands in, where that runs whenever the head is left: what a `for` starts
/// with, and the condition of a `while`.
fn runs_at_head<'t>(node: Node<'t>, head: Node<'t>) -> Option<Node<'t>> {
    let mut at = node;
    while let Some(parent) = at.parent() {
        if parent.child_by_field_name("initializer") == Some(at) {
            return Some(at);
        }
        if parent == head {
            let is_condition = parent.child_by_field_name("condition") == Some(at);
            return (head.kind().starts_with("while") && is_condition && !is_conditional(node, at))
                .then_some(at);
        }
        at = parent;
    }
    None
}

/// The statement that a node belongs to.
fn statement_of(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    while let Some(parent) = at.parent() {
        if is_statement(at) || is_block(parent) {
            return at;
        }
        at = parent;
    }
    at
}

fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("_statement") || kind.ends_with("declaration") && !kind.starts_with("parameter")
}

fn is_block(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("block")
        || kind == "compound_statement"
        || kind.ends_with("list") && kind.contains("statement")
        || kind == "source_file"
        || kind == "program"
        || kind == "module"
        || kind == "translation_unit"
}

/// The last line of a statement's head; of a plain statement its last line.
fn head_end(statement: Node<'_>, last: usize) -> usize {
    // Rust has its `if` as an expression within a statement.
    let inner = if statement.kind() == "expression_statement" { statement.named_child(0) } else { None };
    let body = [Some(statement), inner]
        .into_iter()
        .flatten()
        .find_map(|node| ["body", "consequence"].iter().find_map(|field| node.child_by_field_name(field)));
    body.map_or(last, |body| row(body.start_position()))
}

/// Whether something decides within the lines of a statement whether a node in it runs.
fn is_conditional(node: Node<'_>, statement: Node<'_>) -> bool {
    let deciders = [
        "conditional_expression",
        "ternary_expression",
        "if_expression",
        "match_expression",
        "boolean_operator",
    ];
    let mut at = node;
    loop {
        if at != node && deciders.contains(&at.kind()) {
            return true;
        }
        if at != node && at.kind() == "binary_expression" {
            // The right side of `&&` and `||` may not run.
            return true;
        }
        if at == statement {
            break;
        }
        match at.parent() {
            Some(parent) => at = parent,
            None => return false,
        }
    }
    // `if (c) x = 1;` on one line.
    let line = statement.start_position().row;
    let mut above = statement.parent();
    while let Some(node) = above {
        let kind = node.kind();
        let decides = kind.starts_with("if_")
            || kind.starts_with("for_")
            || kind.starts_with("while_")
            || kind.starts_with("switch")
            || kind.starts_with("case")
            || kind.starts_with("match_")
            || kind.starts_with("else");
        if decides && node.start_position().row == line {
            return true;
        }
        if node.start_position().row < line {
            return false;
        }
        above = node.parent();
    }
    false
}

/// The lines of the block that a declaration stands in; a loop's head declares for the loop.
fn block_of(node: Node<'_>) -> (usize, usize) {
    let mut at = node;
    while let Some(parent) = at.parent() {
        let kind = parent.kind();
        let heads = [
            "for_statement",
            "if_statement",
            "while_statement",
            "switch_statement",
            "expression_switch_statement",
        ];
        if is_block(parent) || heads.contains(&kind) && parent.child_by_field_name("body") != Some(at) {
            return rows(parent);
        }
        at = parent;
    }
    rows(at)
}

/// The lines in which a pattern's names hold: of its arm, or of the `if` and `while` it stands in.
fn pattern_of(node: Node<'_>) -> (usize, usize) {
    let mut at = node;
    loop {
        let kind = at.kind();
        if kind == "match_arm"
            || kind == "catch_clause"
            || kind.starts_with("if_")
            || kind.starts_with("while_")
            || kind.starts_with("type_switch")
        {
            return rows(at);
        }
        match at.parent() {
            Some(parent) => at = parent,
            None => return rows(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::{Expect, expect};

    use crate::functions::function_at;

    /// Each assignment as `name@line[first-last] certainty`, each declaration as `name:line-last`.
    #[track_caller]
    fn check(path: &str, text: &str, line: usize, expected: &Expect) {
        let facts = function_at(Path::new(path), text, line).unwrap().variables;
        let mut shown = String::new();
        for one in &facts.assignments {
            shown.push_str(&format!(
                "{}@{}[{}-{}] {:?}\n",
                one.name, one.line, one.first_line, one.last_line, one.certainty
            ));
        }
        for one in &facts.declarations {
            let value = if one.has_value { "" } else { " without a value" };
            shown.push_str(&format!("{}:{}-{}{value}\n", one.name, one.line, one.last_line));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn c_tells_declarations_loops_conditions_and_references_apart() {
        let text = "int f(int n) {\n  int a;\n  int b = 1, *p = &n;\n  for (int i = 0; i < n; i++)\n    b += i;\n  if (n) a = 2;\n  scanf(\"%d\", &a);\n  {\n    int b = 7;\n    a = g(b,\n          n);\n  }\n  t.x = 3;\n  return n ? a : (b = 2);\n}\n";
        check(
            "a.c",
            text,
            14,
            &expect![[r#"
                b@3[3-3] Always
                p@3[3-3] Always
                n@3[3-3] Perhaps
                i@4[4-5] LoopHead
                i@4[4-4] Always
                i@4[4-5] LoopHead
                b@5[5-5] Always
                a@6[6-6] Perhaps
                a@7[7-7] Perhaps
                b@9[9-9] Always
                a@10[10-11] Always
                b@10[10-11] Reached
                n@11[10-11] Reached
                t@13[13-13] Perhaps
                b@14[14-14] Perhaps
                a:2-15 without a value
                b:3-15
                p:3-15
                i:4-5
                b:9-12
            "#]],
        );
    }

    #[test]
    fn rust_tells_patterns_and_shadowing_apart() {
        let text = "fn f(n: u32) -> u32 {\n    let x = 1;\n    let x = x + n;\n    let mut v: Vec<u32> = Vec::new();\n    for (i, y) in items() {\n        v.push(y);\n    }\n    if let Some(z) = find(&mut v) {\n        x += z;\n    }\n    match n {\n        Some(w) => w,\n        _ => 0,\n    }\n}\n";
        check(
            "a.rs",
            text,
            9,
            &expect![[r#"
                x@2[2-2] Always
                x@3[3-3] Always
                v@4[4-4] Always
                i@5[5-7] LoopHead
                y@5[5-7] LoopHead
                v@6[6-6] Reached
                y@6[6-6] Reached
                z@8[8-8] Perhaps
                v@8[8-8] Perhaps
                x@9[9-9] Always
                w@12[12-12] Perhaps
                x:2-15
                x:3-15
                v:4-15
                i:5-7
                y:5-7
                z:8-10
                w:12-12
            "#]],
        );
    }

    #[test]
    fn go_tells_redeclaration_and_ranges_apart() {
        let text = "package a\n\nfunc f(n int) int {\n\ta, err := g(n)\n\tb, err := g(a)\n\tfor i, v := range b {\n\t\ta += v\n\t}\n\tif x := h(); x > 0 {\n\t\ta++\n\t}\n\tvar c int\n\treturn a + c\n}\n";
        check(
            "a.go",
            text,
            7,
            &expect![[r#"
                a@4[4-4] Always
                err@4[4-4] Always
                n@4[4-4] Reached
                b@5[5-5] Always
                err@5[5-5] Always
                a@5[5-5] Reached
                i@6[6-8] LoopHead
                v@6[6-8] LoopHead
                a@7[7-7] Always
                x@9[9-9] Perhaps
                a@10[10-10] Always
                a:4-14
                err:4-14
                b:5-14
                i:6-8
                v:6-8
                x:9-11
                c:12-14
            "#]],
        );
    }

    #[test]
    fn javascript_tells_destructuring_and_loops_apart() {
        let text = "function f(items) {\n  let total = 0, name;\n  const { a, b: c } = items;\n  for (const item of items) {\n    total += item.price;\n  }\n  ok && (name = 'x');\n  list.push(total);\n  return total;\n}\n";
        check(
            "a.js",
            text,
            5,
            &expect![[r#"
                total@2[2-2] Always
                a@3[3-3] Always
                c@3[3-3] Always
                item@4[4-6] LoopHead
                total@5[5-5] Always
                name@7[7-7] Perhaps
                list@8[8-8] Reached
                total@8[8-8] Reached
                total:2-10
                name:2-10
                a:3-10
                c:3-10
                item:4-6
            "#]],
        );
    }
}
