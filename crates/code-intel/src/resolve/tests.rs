//! Questions about small workspaces of each language. `<|>` stands before the name that is asked about.

use super::*;
use crate::ask::{Ask, CallOptions, Target};
use crate::index::tests::workspace;

#[path = "cpp_tests.rs"]
mod cpp;
#[path = "java_tests.rs"]
mod java;
#[path = "native_tests.rs"]
mod native;

/// Asks what the marked name means; answers are `file:line`, or `external`, or `unknown`.
pub(crate) fn check(files: &[(&str, &str)], expected: &[&str]) {
    const MARK: &str = "<|>";
    let plain: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (*path, text.replace(MARK, ""))).collect();
    let plain: Vec<(&str, &str)> = plain.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (_folder, index) = workspace(&plain);
    let resolver = Resolver::new(&index);
    let (path, text) = files.iter().find(|(_, text)| text.contains(MARK)).unwrap();
    let before = &text[..text.find(MARK).unwrap()];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() as u32 + 1;
    let meaning = resolver.definition_at(index.named(path).unwrap(), line, column).unwrap();
    let found: Vec<String> = match &meaning {
        Resolution::Found(found, _) => {
            found.iter().map(|one| format!("{}:{}", index.path(one.file), one.definition.at.line)).collect()
        }
        Resolution::External => vec!["external".to_owned()],
        Resolution::Unknown => vec!["unknown".to_owned()],
    };
    assert_eq!(found, expected, "{path}:{line}:{column}");
}

#[test]
fn python_names_are_found_through_scopes_imports_and_types() {
    let model = (
        "pkg/model.py",
        "class Base:\n    def save(self): ...\n\nclass User(Base):\n    def __init__(self, name: str):\n        self.name = name\n\ndef load() -> User: ...\n",
    );
    let reexport = ("pkg/__init__.py", "from .model import User, load\n");
    for (text, expected) in [
        ("from pkg import User\nUser('a').<|>save()\n", "pkg/model.py:2"),
        ("from pkg import load\nu = load()\nu.<|>name\n", "pkg/model.py:6"),
        ("import pkg.model as m\ndef f(u: m.User):\n    return u.<|>name\n", "pkg/model.py:6"),
        ("from pkg import <|>load\n", "pkg/model.py:8"),
        ("from <|>pkg import load\n", "pkg/__init__.py:1"),
        ("def f(x):\n    def g(x):\n        return <|>x\n", "app.py:2"),
        ("import os\nos.<|>getcwd()\n", "external"),
        ("<|>print('a')\n", "external"),
        ("'a'.<|>save()\n", "external"),
    ] {
        check(&[model, reexport, ("app.py", text)], &[expected]);
    }
}

#[test]
fn typescript_names_are_found_through_reexports_and_declared_types() {
    let shape = (
        "src/shape.ts",
        "export interface Shape { area(): number }\nexport class Box implements Shape {\n  side = 1;\n  area() { return this.side; }\n}\nexport function make(): Box { return new Box(); }\n",
    );
    let index = ("src/index.ts", "export { make as create } from './shape';\nexport * from './shape';\n");
    for (text, expected) in [
        ("import { create } from './index';\ncreate().<|>side;\n", "src/shape.ts:3"),
        ("import { Shape } from './index';\nfunction f(s: Shape) { s.<|>area(); }\n", "src/shape.ts:1"),
        ("import * as all from './index';\nall.<|>make();\n", "src/shape.ts:6"),
        ("import { <|>create } from './index';\n", "src/shape.ts:6"),
        ("import { x } from 'library';\n<|>x();\n", "external"),
        ("import { x } from 'nowhere';\n<|>x();\n", "src/app.ts:1"),
        ("const { a = 1 } = {};\nfunction f() { return <|>a; }\n", "src/app.ts:1"),
    ] {
        let library = ("node_modules/library/index.js", "");
        check(&[shape, index, library, ("src/app.ts", text)], &[expected]);
    }
    check(
        &[
            ("lib/u.js", "exports.go = function () {};\n"),
            ("lib/a.js", "const u = require('./u');\nu.<|>go();\n"),
        ],
        &["lib/u.js:1"],
    );
}

#[test]
fn rust_names_are_found_through_modules_impls_and_macros() {
    let lib = ("src/lib.rs", "mod shape;\npub use shape::Shape;\nmod app;\n");
    let shape = (
        "src/shape.rs",
        "pub struct Shape { pub side: u32 }\nimpl Shape {\n    pub fn new() -> Self { Shape { side: 1 } }\n    pub fn grow(mut self) -> Self { self }\n    pub fn parts(&self) -> Vec<Shape> { vec![] }\n}\npub trait Draw { fn draw(&self); }\n",
    );
    for (text, expected) in [
        ("use crate::Shape;\nfn f() { Shape::new().grow().<|>side; }\n", "src/shape.rs:1"),
        ("use crate::Shape;\nfn f(s: &Shape) { for p in s.parts() { p.<|>grow(); } }\n", "src/shape.rs:4"),
        ("use crate::shape::{self, Shape};\nfn f() { let _ = shape::<|>Shape::new(); }\n", "src/shape.rs:1"),
        ("use crate::Shape;\nfn f(s: Shape) { assert!(s.<|>side > 0); }\n", "src/shape.rs:1"),
        ("use crate::Shape;\nfn f() { Shape { <|>side: 2 }; }\n", "src/shape.rs:1"),
        ("fn f(x: u8) { let x = <|>x + 1; }\n", "src/app.rs:1"),
        ("fn f(v: Vec<u8>) { v.<|>push(1); }\n", "external"),
        ("use std::fmt;\nfn f() { <|>fmt::format; }\n", "external"),
    ] {
        check(&[lib, shape, ("src/app.rs", text)], &[expected]);
    }
}

#[test]
fn go_names_are_known_in_the_whole_package() {
    let types = (
        "types.go",
        "package a\ntype Base struct { Name string }\ntype Cmd struct {\n\tBase\n\tRun func()\n}\nfunc New() (*Cmd, error) { return nil, nil }\nfunc (c *Cmd) Do() {}\n",
    );
    for (text, expected) in [
        ("package a\nfunc f() { c, _ := New(); c.<|>Do() }\n", "types.go:8"),
        ("package a\nfunc f(c *Cmd) string { return c.<|>Name }\n", "types.go:2"),
        ("package a\nvar c = &Cmd{<|>Run: nil}\n", "types.go:5"),
        ("package a\nimport \"fmt\"\nfunc f() { <|>fmt.Println() }\n", "app.go:2"),
        ("package a\nimport \"fmt\"\nfunc f() { fmt.<|>Println() }\n", "external"),
    ] {
        check(&[types, ("app.go", text)], &[expected]);
    }
}

#[test]
fn go_structs_without_a_name_have_the_fields_that_stand_in_them() {
    let other = ("types.go", "package a\ntype T struct {\n\tName string\n\tSize int\n}\n");
    let long = "\t\t{\"a\", 1},\n".repeat(60);
    let literal = format!("[]struct {{\n\t\tName string\n\t\tSize int\n\t}}{{\n{long}\t}}");
    for (text, expected) in [
        (format!("\tfor _, tt := range {literal} {{\n\t\t_ = tt.<|>Size\n\t}}\n"), "app.go:5"),
        (format!("\tall := {literal}\n\tfor _, tt := range all {{\n\t\t_ = tt.<|>Name\n\t}}\n"), "app.go:4"),
        ("\tvar one struct{ Name string }\n\t_ = one.<|>Name\n".to_owned(), "app.go:3"),
        ("\tone := map[string]*struct{ Size int }{}\n\t_ = one[\"a\"].<|>Size\n".to_owned(), "app.go:3"),
        (format!("\tt := &T{{Name: `{}`}}\n\t_ = t.<|>Name\n", "x".repeat(500)), "types.go:3"),
        ("\ta, b := T{Name: \"x,y\"}, 1\n\t_ = b\n\t_ = a.<|>Size\n".to_owned(), "types.go:4"),
    ] {
        check(&[other, ("app.go", &format!("package a\nfunc f() {{\n{text}}}\n"))], &[expected]);
    }
}

#[test]
fn go_files_that_are_not_built_do_not_count() {
    let built = ("one.go", "//go:build !mine\n\npackage a\n\nvar Name = 1\n");
    let other = ("two.go", "//go:build mine\n\npackage a\n\nvar Name = 2\n");
    check(&[built, other, ("app.go", "package a\nvar x = <|>Name\n")], &["one.go:5"]);
    check(&[other, ("app.go", "package a\nvar x = <|>Name\n")], &["two.go:5"]);
}

#[test]
fn a_go_method_is_used_where_that_of_its_interface_is() {
    let flags = "package a\ntype Named interface{ Name() string }\ntype Flag interface {\n\tNamed\n\tfmt.Stringer\n\tIsSet(on bool) bool\n}\n";
    let types = "type Int struct{}\nfunc (i Int) Name() string { return \"\" }\nfunc (i Int) IsSet(on bool) bool { return on }\ntype Other struct{}\nfunc (o Other) IsSet(on bool) bool { return on }\n";
    let app = "package a\nfunc all(f Flag) { f.IsSet(true) }\nfunc one(i Int) { i.IsSet(true) }\nfunc two(o Other) { o.IsSet(true) }\n";
    for (marked, expected, callers) in [
        ("func (i Int) IsSet", vec!["app.go:2", "app.go:3"], vec!["all", "one"]),
        ("func (o Other) IsSet", vec!["app.go:4"], vec!["two"]),
        ("\tIsSet", vec!["app.go:2", "app.go:3"], vec!["all", "one"]),
    ] {
        let text = format!("{flags}{types}").replace(marked, &marked.replace("IsSet", "<|>IsSet"));
        let (used, by) = native::uses(&[("flags.go", &text), ("app.go", app)]);
        assert_eq!(
            (used, by),
            (
                expected.iter().map(ToString::to_string).collect(),
                callers.iter().map(ToString::to_string).collect()
            ),
            "{marked}"
        );
    }
}

#[test]
fn go_functions_without_a_name_call_and_so_does_a_package() {
    let (_, callers) = native::uses(&[(
        "a.go",
        "// A.\npackage a\n\nfunc <|>run() int { return 1 }\n\nvar x = run()\n\nfunc Test() {\n\trun()\n\tdefer func() {\n\t\trun()\n\t\tgo func() { run() }()\n\t}()\n}\n\nvar y = func() { run() }\n",
    )]);
    assert_eq!(callers, ["a.go", "Test", "Test.func", "Test.func", ".func"]);
    let text = "package a\n\nfunc run() {}\n\nfunc Test() {\n\tdefer func() { run() }()\n}\n\nfunc Main() { Test() }\n";
    let (_folder, index) = workspace(&[("a.go", text)]);
    let resolver = Resolver::new(&index);
    let run = resolver.definitions_named("run");
    let graph = resolver.call_graph(&run[0], Direction::Callers, 5, 20);
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.found.definition.name.as_str()).collect();
    assert_eq!(names, ["run", "Test.func", "Test", "Main"]);
}

#[test]
fn c_prototypes_lead_to_definitions_and_members_to_structures() {
    let header = ("a.h", "typedef struct node node;\nstruct node { node *next; };\nint walk(node *n);\n");
    let source =
        ("a.c", "#include \"a.h\"\nint walk(node *n) { return 0; }\nstatic int own(void) { return 1; }\n");
    for (text, expected) in [
        ("#include \"a.h\"\nint f(node *n) { return <|>walk(n); }\n", "a.c:2"),
        ("#include \"a.h\"\nint f(node *n) { n-><|>next; }\n", "a.h:2"),
        ("#include \"a.h\"\nint f(<|>node *n);\n", "a.h:1"),
        ("#include \"a.h\"\nint f(struct <|>node *n);\n", "a.h:2"),
        ("int f(void) { return <|>own(); }\n", "external"),
        ("int f(void) { return <|>printf(\"\"); }\n", "external"),
    ] {
        check(&[header, source, ("b.c", text)], &[expected]);
    }
    check(
        &[
            ("a.hpp", "class A {\n public:\n  int g();\n  int h_;\n};\n"),
            ("a.cpp", "#include \"a.hpp\"\nint A::g() { return <|>h_; }\n"),
        ],
        &["a.hpp:4"],
    );
}

#[test]
fn java_names_are_found_in_the_package_and_through_imports() {
    let base = (
        "src/p/Base.java",
        "package p;\npublic class Base { protected int id; public int key() { return id; } }\n",
    );
    for (text, expected) in [
        ("package p;\nclass User extends Base { int f() { return <|>id; } }\n", "src/p/Base.java:2"),
        ("package p;\nclass User { int f(Base b) { return b.<|>key(); } }\n", "src/p/Base.java:2"),
        ("package p;\nclass User { int f() { return new <|>Base().key(); } }\n", "src/p/Base.java:2"),
        ("package p;\nclass User { <|>String s; }\n", "external"),
    ] {
        check(&[base, ("src/p/User.java", text)], &[expected]);
    }
}

#[test]
fn references_and_calls_are_those_of_the_definition_alone() {
    let (_folder, index) = workspace(&[
        ("a.py", "class A:\n    def go(self): ...\n\nclass B:\n    def go(self): ...\n"),
        (
            "b.py",
            "from a import A, B\n\ndef one():\n    A().go()\n\ndef two():\n    B().go()\n    one()\n    two()\n",
        ),
    ]);
    let resolver = Resolver::new(&index);
    let target = resolver.definitions_named("A.go");
    assert_eq!(target.len(), 1);
    let lines: Vec<u32> =
        resolver.references(&target[0]).iter().map(|used| used.occurrence.at.line).collect();
    assert_eq!(lines, [4]);
    let two = resolver.definitions_named("two");
    let graph = resolver.call_graph(&two[0], Direction::Callees, 2, 50);
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.found.definition.name.as_str()).collect();
    assert_eq!(names, ["two", "B", "go", "one", "A", "go"]);
    let options = CallOptions { direction: Direction::Callers, depth: 3, max_nodes: 50 };
    let shown = Ask::new(&index).call_graph(&Target::parse("two"), options).unwrap().graph;
    assert_eq!(shown.cycles, [vec![0]]);
    assert!(shown.mermaid().starts_with("graph LR\n") && shown.dot().starts_with("digraph"));
}

#[test]
fn uses_are_found_under_the_names_that_imports_give() {
    for (files, expected) in [
        (
            vec![
                ("a.ts", "export function <|>low() {}\nfunction other() {}\n"),
                ("b.ts", "export { low as lte } from './a';\n"),
                (
                    "c.ts",
                    "import { lte as check } from './b';\nimport * as all from './b';\ncheck();\nall.lte();\n",
                ),
                (
                    "d.ts",
                    "import { low as mine } from 'elsewhere';\nimport { lte } from 'other';\nmine();\nlte();\n",
                ),
            ],
            vec!["b.ts:1", "c.ts:1", "c.ts:3", "c.ts:4"],
        ),
        (
            vec![
                ("a.ts", "function <|>inner() {}\nexport { inner as outer };\n"),
                ("c.ts", "import { outer } from './a';\nouter();\n"),
            ],
            vec!["a.ts:2", "c.ts:1", "c.ts:2"],
        ),
        (
            vec![
                ("a.js", "function <|>low() {}\nmodule.exports = { low };\n"),
                ("b.js", "const { low: lte } = require('./a');\nlte();\n"),
            ],
            vec!["a.js:2", "b.js:1", "b.js:2"],
        ),
        (
            vec![
                ("m.py", "def <|>low(): pass\n"),
                ("n.py", "from m import low as lte\nlte()\n"),
                ("o.py", "from n import lte\nlte()\ndef f(lte):\n    lte()\n"),
            ],
            vec!["n.py:1", "n.py:2", "o.py:1", "o.py:2"],
        ),
        (
            vec![
                ("src/lib.rs", "mod inner;\npub use inner::low as lte;\nfn f() { lte(); crate::lte(); }\n"),
                ("src/inner.rs", "pub fn <|>low() {}\n"),
            ],
            vec!["src/lib.rs:2", "src/lib.rs:3", "src/lib.rs:3"],
        ),
    ] {
        assert_eq!(native::uses(&files).0, expected, "{files:?}");
    }
}

#[test]
fn rings_of_imports_types_and_assignments_end() {
    check(&[("a.py", "from b import x\n<|>x\n"), ("b.py", "from a import x\n")], &["unknown"]);
    check(&[("a.py", "class A(A):\n    pass\nA().<|>f()\n")], &["external"]);
    check(&[("a.py", "a = b\nb = a\na.<|>f\n")], &["unknown"]);
    check(&[("a.ts", "type A = B; type B = A;\nlet a: A;\na.<|>f;\n")], &["external"]);
    let chain = format!("x = y{}\nx.<|>f\n", ".a()".repeat(90));
    check(&[("a.py", &chain)], &["external"]);
}

#[test]
fn who_has_no_time_is_told_what_was_not_looked_into() {
    let user = "from a import run\nrun()\n";
    let files = [("a.py", "def run(): pass\n"), ("b.py", user), ("deep/c.py", user)];
    let (_folder, index) = crate::index::tests::workspace(&files);
    let target = Resolver::new(&index).definitions_named("run").remove(0);
    let uses = |resolver: &Resolver<'_>| (resolver.references(&target).len(), resolver.note());
    let (count, note) = uses(&Resolver::within(&index, std::time::Duration::from_secs(600)));
    assert_eq!((count, note), (4, None));
    let resolver = Resolver::within(&index, std::time::Duration::ZERO);
    let (count, note) = uses(&resolver);
    assert_eq!(count, 0);
    assert!(note.unwrap().contains("3 files that have the name were not looked into"));
    assert!(resolver.call_graph(&target, Direction::Callers, 1, 10).is_cut);
}
