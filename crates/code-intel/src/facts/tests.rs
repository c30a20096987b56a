//! What each language's files say.

use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[path = "native_tests.rs"]
mod native;

/// Definitions for others as `line kind path`, then imports as `line module`.
fn check(path: &str, text: &str, expected: Expect) {
    let language = Language::detect(Path::new(path), text).unwrap();
    let facts = read(language, text).unwrap();
    let mut lines = String::new();
    for (index, definition) in facts.definitions.iter().enumerate().filter(|(_, one)| one.scope.is_none()) {
        let path = described(&facts, index as u32);
        lines.push_str(&format!("{} {} {path}\n", definition.at.line, definition.kind.name()));
    }
    for import in &facts.imports {
        let names: Vec<&str> = import.names.iter().map(|name| name.alias.as_str()).collect();
        lines.push_str(&format!("{} import {} {}\n", import.line, import.module, names.join(",")));
    }
    expected.assert_eq(&lines);
}

#[test]
fn python() {
    check(
        "a.py",
        "import os.path\nfrom . import b as c\n\nLIMIT = 1\n\nclass A(B):\n    x: int = 0\n    def f(self):\n        self.y = 1\n    @property\n    def g(self): ...\n",
        expect![[r#"
            4 constant LIMIT
            6 class A
            7 field A.x
            8 method A.f
            9 field A.y
            11 property A.g
            1 import os.path os
            2 import . c
        "#]],
    );
}

/// The functions, methods and classes of a text, as `line kind name`.
fn symbols(path: &str, text: &str) -> Vec<String> {
    let facts = read(Language::detect(Path::new(path), text).unwrap(), text).unwrap();
    let is_symbol = |one: &Definition| one.kind.is_callable() || one.kind == Kind::Class;
    let symbols = facts.definitions.iter().enumerate();
    let symbols = symbols.filter(|(place, one)| is_symbol(one) && !facts.is_defined_again(*place));
    symbols.map(|(_, one)| format!("{} {} {}", one.at.line, one.kind.name(), one.name)).collect()
}

#[test]
fn functions_have_the_names_that_others_know_them_by() {
    for (path, text, expected) in [
        ("a.js", "const o = {\n  one: function two() {},\n};\n", vec!["2 method one"]),
        ("a.js", "run(function two() {});\n", vec!["1 function two"]),
        ("a.ts", "export default function () {}\n", vec!["1 function default"]),
        ("a.ts", "export default class {}\n", vec!["1 class default"]),
        ("a.ts", "interface A {\n  m(): void;\n  b: { n(): void };\n}\n", vec!["2 method m"]),
        ("a.ts", "type A = {\n  m(): void;\n};\n", vec![]),
        (
            "a.py",
            "def f(): ...\ndef f(): ...\nclass A:\n    def f(self): ...\n",
            vec!["2 function f", "3 class A", "4 method f"],
        ),
        ("a.py", "if a:\n    def f(): ...\nelse:\n    class f: ...\n", vec!["4 class f"]),
    ] {
        assert_eq!(symbols(path, text), expected, "{text}");
    }
}

#[test]
fn typescript_and_javascript() {
    check(
        "a.ts",
        "import d, { a as b } from './m';\nexport * from './n';\nexport interface I { p: string; q(): void }\nenum E { One }\nexport class C extends D {\n  constructor(private z: I) { super(); }\n  m() {}\n}\nexport const f = () => new C();\n",
        expect![[r#"
            3 interface I
            3 field I.p
            3 method I.q
            4 enum E
            4 enum_member E.One
            5 class C
            6 constructor C.constructor
            6 field C.z
            7 method C.m
            9 constant f
            1 import ./m d,b
            2 import ./n *
        "#]],
    );
    check(
        "a.js",
        "const { x } = require('./u');\nfunction View() {}\nView.prototype.draw = function () {};\nexports.v = View;\n",
        expect![[r#"
            1 constant x
            2 function View
            3 method View.draw
            4 field exports.v
            1 import ./u x
        "#]],
    );
}

#[test]
fn rust() {
    check(
        "a.rs",
        "use crate::a::{B, c as d};\npub mod e;\nstruct S { f: u8 }\nenum E { V }\nimpl<T> Tr for S { fn m(&self) {} }\ntrait Tr { fn m(&self); }\nmacro_rules! mac { () => {} }\n",
        expect![[r#"
            2 module e
            3 struct S
            3 field S.f
            4 enum E
            4 enum_member E.V
            5 method S.m
            6 trait Tr
            6 method Tr.m
            7 macro mac
            1 import crate::a d
            1 import crate::a B
        "#]],
    );
}

#[test]
fn go() {
    check(
        "a.go",
        "package a\nimport (\n\t\"fmt\"\n\tx \"b/c\"\n)\ntype T struct { F int }\nfunc (t *T) M() {}\ntype I interface { N() }\nconst K = 1\n",
        expect![[r#"
            6 struct T
            6 field T.F
            7 method T.M
            8 interface I
            8 method I.N
            9 constant K
            3 import fmt fmt
            4 import b/c x
        "#]],
    );
}

#[test]
fn c_and_cpp() {
    check(
        "a.c",
        "#include <stdio.h>\n#define N 3\ntypedef struct { int x; } P;\nenum e { A, B };\nint f(P *p);\nstatic int f(P *p) { return p->x; }\n",
        expect![[r#"
            2 macro N
            3 struct P
            3 field P.x
            4 enum e
            4 enum_member A
            4 enum_member B
            5 function f
            6 function f
            1 import stdio.h *
        "#]],
    );
    check(
        "a.cc",
        "namespace n {\nclass A : public B {\n public:\n  int g();\n  int h;\n};\nint A::g() { return h; }\n}\n",
        expect![[r#"
            1 module n
            2 class n.A
            4 method n.A.g
            5 field n.A.h
            7 method A.g
        "#]],
    );
}

#[test]
fn java_and_the_languages_that_are_outlined() {
    check(
        "A.java",
        "package p;\nimport a.b.C;\nclass A extends B {\n  int x;\n  A() {}\n  int m() { return x; }\n}\n",
        expect![[r#"
            3 class A
            4 field A.x
            5 constructor A.A
            6 method A.m
            2 import a.b.C C
        "#]],
    );
    for (path, text, expected) in [
        ("a.rb", "require 'x'\nclass A\n  def b\n  end\nend\n", vec!["A", "A.b"]),
        (
            "a.cs",
            "namespace N { class A { int B() { return 1; } int P { get; } } }\n",
            vec!["N", "N.A", "N.A.B", "N.A.P"],
        ),
        ("a.php", "<?php\nclass A { function b() {} }\nfunction c() {}\n", vec!["A", "A.b", "c"]),
        ("a.sh", "go() {\n  echo\n}\n", vec!["go"]),
        ("a.json", "{\"a\": {\"b\": {\"c\": 1}}}\n", vec!["a", "a.b"]),
        ("a.yaml", "a:\n  b: 1\n", vec!["a", "a.b"]),
        ("a.toml", "x = 1\n[a]\nb = 2\n", vec!["x", "a", "a.b"]),
        (
            "b.toml",
            "[a.b]\n\"c d\" = 1\ne.f = 2\ng = { h = [\n  1,\n] }\n[[i]]\nj = \"\"\"\nk = 1\n[l]\n\"\"\"\n",
            vec!["a.b", "a.b.c d", "a.b.e.f", "a.b.g", "a.b.g.h", "i", "i.j"],
        ),
        ("a.html", "<p id=\"top\">x</p>\n", vec!["top"]),
        ("a.css", "a.b { color: red }\n", vec!["a.b"]),
    ] {
        let language = Language::detect(Path::new(path), text).unwrap();
        let facts = read(language, text).unwrap();
        let found: Vec<String> =
            (0..facts.definitions.len()).map(|index| described(&facts, index as u32)).collect();
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn a_definition_is_shown_with_its_signature_and_comment() {
    let text = "/// Adds.\n#[inline]\npub fn add(\n    a: u8,\n) -> u8 {\n    a\n}\n";
    let facts = read(Language::Rust, text).unwrap();
    let add = &facts.definitions[0];
    assert_eq!(signature(text, add), "pub fn add(a: u8) -> u8");
    assert_eq!(doc_line(text, add).as_deref(), Some("Adds."));
    assert_eq!(whole(text, add).start, 0);
    let text = "def f(a,\n      b):\n    \"\"\"Says hi.\"\"\"\n";
    let facts = read(Language::Python, text).unwrap();
    assert_eq!(doc_line(text, &facts.definitions[0]).as_deref(), Some("Says hi."));
    assert_eq!(signature(text, &facts.definitions[0]), "def f(a, b)");
    // What stands before it on its line is no comment.
    let text = "// States.\nenum State { OPEN, PAID }\n";
    let facts = read(Language::Java, text).unwrap();
    let docs: Vec<Option<String>> = facts.definitions.iter().map(|one| doc_line(text, one)).collect();
    assert_eq!(docs, [Some("States.".to_owned()), None, None]);
}

#[test]
fn r02_texts_that_are_made_to_hurt_end_in_time() {
    let limits = Limits { time: Duration::from_millis(200), ..LIMITS };
    for language in Language::all() {
        for text in [
            "(".repeat(100_000),
            "{".repeat(100_000),
            "[".repeat(100_000),
            "a.".repeat(100_000),
            "a::".repeat(50_000),
            "\u{0}\u{feff}\r\n".repeat(1000),
        ] {
            // Read or refused, never stuck; what is found lies within the text.
            if let Ok(facts) = read_within(language, &text, limits) {
                assert!(
                    facts.definitions.iter().all(|one| one.span.end as usize <= text.len()),
                    "{language:?}"
                );
            }
        }
        assert!(read(language, &" ".repeat(LIMITS.bytes + 1)).is_err(), "{language:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_place_lies_within_the_text(text in "[ \\n(){}<>a-zé\"'=:;\\[\\]#/*\\-\\.,]{0,200}", which in 0usize..18) {
        let language = Language::all().nth(which).unwrap();
        if let Ok(facts) = read(language, &text) {
            for (index, definition) in facts.definitions.iter().enumerate() {
                prop_assert!(definition.span.end as usize <= text.len());
                prop_assert!(text.get(definition.name_span.start as usize..definition.name_span.end as usize).is_some());
                prop_assert!(definition.container.is_none_or(|container| (container as usize) < facts.definitions.len()));
                signature(&text, definition);
                doc_line(&text, definition);
                described(&facts, index as u32);
            }
        }
    }
}

#[test]
fn what_stands_behind_a_place_that_cannot_be_parsed_is_read_all_the_same() {
    for (language, text, expected) in [
        // The macro takes what only begins like an item.
        (
            Language::Rust,
            "ioctl! {\n    const READ => 1 { x };\n    const WRITE => 2 { y };\n}\npub fn a() {}\nstruct B;\nimpl B {\n    fn c(&self) {}\n}\n",
            &["a", "B", "c"][..],
        ),
        (
            Language::Rust,
            "one! {\n    pub fn a() {}\n}\ntwo! {\n    static X => 1 ; }\nfn b() {}\n",
            &["a", "b"],
        ),
        (Language::Rust, "fn a() {\n    if x {\n}\n\nfn b() {}\n\nstruct C { d: u8 }\n", &["b", "C", "d"]),
        (
            Language::Go,
            "package p\n\nfunc a() {\n\tif x {\n}\n\nfunc b() {}\n\ntype C struct{ d int }\n",
            &["b", "C", "d"],
        ),
        (
            Language::Cpp,
            "void a() {\n  if (x) {\n}\n\nint b() { return 1; }\n\nclass C {\n  int d();\n};\n",
            &["b", "C", "d"],
        ),
        (
            Language::C,
            "START_TEST(one)\n{\n  int x = ((;\n}\nEND_TEST\n\nstatic int b(void)\n{\n  return 1;\n}\n\nstruct C { int d; };\n",
            &["b", "C", "d"],
        ),
        (
            Language::TypeScript,
            "export const a = {\n  b: (\n\nexport function c() {}\n\nexport class D { e() {} }\n",
            &["c", "D", "e"],
        ),
    ] {
        let facts = read(language, text).unwrap();
        for name in expected {
            let found = facts.definitions.iter().find(|one| one.name == *name);
            assert!(
                found.is_some_and(|one| one.scope.is_none()),
                "{name} in {text}\n{:?}",
                facts.definitions
            );
            assert_eq!(found.map(|one| one.name_span.of(text)), Some(*name));
        }
        let is_sorted = facts.occurrences.windows(2).all(|two| two[0].span.start <= two[1].span.start);
        assert!(is_sorted, "{text}");
    }
}
