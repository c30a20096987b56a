//! Every language read and changed by its structure.

use std::path::Path;

use super::check::{Around, applied};
use super::edits::{Operation, plan};
use super::pattern::Pattern;
use super::symbols::{Target, Want, find};
use super::*;

fn source<'t>(path: &str, text: &'t str) -> SourceText<'t> {
    SourceText::read(Path::new(path), text).expect("a source")
}

/// Makes an operation on a symbol; what came of it, or why not.
fn done(path: &str, text: &str, symbol: &str, operation: &Operation) -> String {
    let source = source(path, text);
    let target = Target { symbol: Some(symbol.to_owned()), line: None };
    let made = find(&source, &target, Want::Declarations)
        .and_then(|symbol| plan(&source, symbol, operation))
        .and_then(|splices| applied(&source, &splices, Around::Definitions));
    made.unwrap_or_else(|refusal| format!("refused: {refusal}"))
}

/// A file of a language with a type that has two members between two functions.
const PYTHON: &str = "import os\n\n\n# About a.\n@cached\ndef a(x):\n    \"\"\"Says a.\"\"\"\n    return x\n\n\nclass B(Base):\n    # First.\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n\n\ndef c():\n    pass\n";
const TYPESCRIPT: &str = "import os from 'os';\n\n/** About a. */\nexport function a(x: number): number {\n  return x;\n}\n\nexport class B {\n  // First.\n  @log()\n  one(): number {\n    return 1;\n  }\n\n  two(): number {\n    return 2;\n  }\n}\n\nexport const c = (x: number) => x + 1;\n";
const RUST: &str = "use std::io;\n\n/// About a.\n#[inline]\npub fn a(x: u8) -> u8 {\n    x\n}\n\npub struct B;\n\nimpl B {\n    /// First.\n    fn one(&self) -> u8 {\n        1\n    }\n\n    fn two(&self) -> u8 {\n        2\n    }\n}\n\nfn c() {}\n";
const GO: &str = "package p\n\nimport \"os\"\n\n// About a.\nfunc a(x int) int {\n\treturn x\n}\n\ntype B struct {\n\tone int\n\ttwo int\n}\n\n// First.\nfunc (b *B) One() int {\n\treturn 1\n}\n\nfunc c() {}\n";
const C: &str = "#include <stdio.h>\n\n/* About a. */\nstatic int a(int x)\n{\n    return x;\n}\n\nstruct B {\n    int one;\n    int two;\n};\n\nint c(void) { return 1; }\n";
const CPP: &str = "#include <vector>\n\n// About a.\ntemplate <typename T>\nT a(T x) {\n  return x;\n}\n\nclass B {\n public:\n  // First.\n  int one() { return 1; }\n  int two() {\n    return 2;\n  }\n};\n\nint c() { return 1; }\n";
const JAVA: &str = "package p;\n\n/** About B. */\npublic class B {\n    /** First. */\n    @Override\n    public int one() {\n        return 1;\n    }\n\n    public int two() {\n        return 2;\n    }\n}\n";

fn put(code: &str) -> String {
    code.to_owned()
}

/// A file, a symbol, what is done, and which text becomes which.
#[test]
fn each_operation_changes_its_symbol_alone_in_every_language() {
    use Operation::{Delete, InsertAfter, InsertBefore, Replace, ReplaceBody};
    let table: Vec<(&str, &str, &str, Operation, &str, &str)> = vec![
        // Deleting takes comments, decorators and blank lines along.
        (
            "a.py",
            PYTHON,
            "a",
            Delete,
            "# About a.\n@cached\ndef a(x):\n    \"\"\"Says a.\"\"\"\n    return x\n\n\n",
            "",
        ),
        ("a.py", PYTHON, "B.one", Delete, "    # First.\n    def one(self):\n        return 1\n\n", ""),
        ("a.py", PYTHON, "B.two", Delete, "\n    def two(self):\n        return 2\n", ""),
        ("a.py", PYTHON, "c", Delete, "\n\ndef c():\n    pass\n", ""),
        (
            "a.ts",
            TYPESCRIPT,
            "a",
            Delete,
            "/** About a. */\nexport function a(x: number): number {\n  return x;\n}\n\n",
            "",
        ),
        (
            "a.ts",
            TYPESCRIPT,
            "B.one",
            Delete,
            "  // First.\n  @log()\n  one(): number {\n    return 1;\n  }\n\n",
            "",
        ),
        ("a.ts", TYPESCRIPT, "c", Delete, "\nexport const c = (x: number) => x + 1;\n", ""),
        ("a.rs", RUST, "a", Delete, "/// About a.\n#[inline]\npub fn a(x: u8) -> u8 {\n    x\n}\n\n", ""),
        ("a.rs", RUST, "B.two", Delete, "\n    fn two(&self) -> u8 {\n        2\n    }\n", ""),
        ("a.go", GO, "a", Delete, "// About a.\nfunc a(x int) int {\n\treturn x\n}\n\n", ""),
        ("a.go", GO, "B.two", Delete, "\ttwo int\n", ""),
        ("a.go", GO, "B.One", Delete, "// First.\nfunc (b *B) One() int {\n\treturn 1\n}\n\n", ""),
        ("a.c", C, "a", Delete, "/* About a. */\nstatic int a(int x)\n{\n    return x;\n}\n\n", ""),
        ("a.c", C, "B", Delete, "struct B {\n    int one;\n    int two;\n};\n\n", ""),
        ("a.cpp", CPP, "a", Delete, "// About a.\ntemplate <typename T>\nT a(T x) {\n  return x;\n}\n\n", ""),
        ("a.cpp", CPP, "B.one", Delete, "  // First.\n  int one() { return 1; }\n", ""),
        (
            "B.java",
            JAVA,
            "B.one",
            Delete,
            "    /** First. */\n    @Override\n    public int one() {\n        return 1;\n    }\n\n",
            "",
        ),
        ("a.js", "const f = { one() {}, two: 2 };\n", "f.two", Delete, ", two: 2", ""),
        (
            "a.py",
            "class A:\n    def only(self):\n        return 1\n",
            "A.only",
            Delete,
            "def only(self):\n        return 1",
            "pass",
        ),
        ("a.rs", "enum E {\n    A,\n    B,\n}\n", "E.B", Delete, "    B,\n", ""),
        ("a.rs", "enum E { A, B }\n", "E.B", Delete, ", B", ""),
        ("a.go", "package p\n\nfunc a() {}", "a", Delete, "\n\nfunc a() {}", ""),
        // New code stands as its neighbours do.
        (
            "a.py",
            PYTHON,
            "B.one",
            InsertAfter(put("def new(self):\n    if self:\n        return 3")),
            "        return 1\n",
            "        return 1\n\n    def new(self):\n        if self:\n            return 3\n",
        ),
        (
            "a.py",
            PYTHON,
            "c",
            InsertAfter(put("def d(): pass")),
            "    pass\n",
            "    pass\n\n\ndef d(): pass\n",
        ),
        ("a.py", PYTHON, "a", InsertBefore(put("X = 1")), "# About a.", "X = 1\n\n\n# About a."),
        (
            "a.ts",
            TYPESCRIPT,
            "B.two",
            InsertAfter(put("three() {\n  return `\n  x`;\n}")),
            "    return 2;\n  }\n",
            "    return 2;\n  }\n\n  three() {\n    return `\n  x`;\n  }\n",
        ),
        (
            "a.ts",
            TYPESCRIPT,
            "B.one",
            InsertBefore(put("zero = 0;")),
            "  // First.",
            "  zero = 0;\n\n  // First.",
        ),
        (
            "a.rs",
            RUST,
            "B.one",
            InsertBefore(put("    const N: u8 = 1;")),
            "    /// First.",
            "    const N: u8 = 1;\n\n    /// First.",
        ),
        ("a.rs", "enum E {\n    A,\n    B\n}\n", "E.B", InsertAfter(put("C,")), "    B\n", "    B,\n    C\n"),
        (
            "a.rs",
            "enum E {\n    A,\n    B\n}\n",
            "E.A",
            InsertBefore(put("C")),
            "    A,\n",
            "    C,\n    A,\n",
        ),
        (
            "a.go",
            GO,
            "a",
            InsertAfter(put("func n() {\n    if true {\n        n()\n    }\n}")),
            "\treturn x\n}\n",
            "\treturn x\n}\n\nfunc n() {\n    if true {\n        n()\n    }\n}\n",
        ),
        ("a.go", GO, "B.one", InsertAfter(put("three int")), "\tone int\n", "\tone int\n\tthree int\n"),
        ("a.c", C, "c", InsertBefore(put("int d(void);")), "int c(void)", "int d(void);\n\nint c(void)"),
        (
            "a.cpp",
            CPP,
            "B.two",
            InsertAfter(put("int three() {\n  return 3;\n}")),
            "    return 2;\n  }\n",
            "    return 2;\n  }\n  int three() {\n    return 3;\n  }\n",
        ),
        (
            "B.java",
            JAVA,
            "B.two",
            InsertAfter(put("int three() {\n    return 3;\n}")),
            "        return 2;\n    }\n",
            "        return 2;\n    }\n\n    int three() {\n        return 3;\n    }\n",
        ),
        (
            "a.js",
            "const f = { one() {}, two: 2 };\n",
            "f.two",
            InsertAfter(put("three: 3")),
            "two: 2",
            "two: 2, three: 3",
        ),
        (
            "a.go",
            "package p\n\nfunc a() {}",
            "a",
            InsertAfter(put("func b() {}")),
            "func a() {}",
            "func a() {}\n\nfunc b() {}",
        ),
        // The declaration is replaced; what stands before it stays unless the code brings its own.
        (
            "a.py",
            PYTHON,
            "a",
            Replace(put("def a(x, y):\n    return y")),
            "def a(x):\n    \"\"\"Says a.\"\"\"\n    return x",
            "def a(x, y):\n    return y",
        ),
        (
            "a.py",
            PYTHON,
            "a",
            Replace(put("@other\ndef a():\n    pass")),
            "# About a.\n@cached\ndef a(x):\n    \"\"\"Says a.\"\"\"\n    return x",
            "@other\ndef a():\n    pass",
        ),
        (
            "a.ts",
            TYPESCRIPT,
            "c",
            Replace(put("export const c = 1;")),
            "export const c = (x: number) => x + 1;",
            "export const c = 1;",
        ),
        (
            "a.rs",
            RUST,
            "B.one",
            Replace(put("fn one(&self) -> u8 { 3 }")),
            "fn one(&self) -> u8 {\n        1\n    }",
            "fn one(&self) -> u8 { 3 }",
        ),
        (
            "a.go",
            GO,
            "B.One",
            Replace(put("func (b *B) One() int { return 3 }")),
            "func (b *B) One() int {\n\treturn 1\n}",
            "func (b *B) One() int { return 3 }",
        ),
        (
            "a.c",
            C,
            "B",
            Replace(put("struct B { int x; };")),
            "struct B {\n    int one;\n    int two;\n};",
            "struct B { int x; };",
        ),
        (
            "a.cpp",
            CPP,
            "B.one",
            Replace(put("int one() const {\n  return 3;\n}")),
            "int one() { return 1; }",
            "int one() const {\n    return 3;\n  }",
        ),
        (
            "B.java",
            JAVA,
            "B.one",
            Replace(put("public int one() { return 3; }")),
            "public int one() {\n        return 1;\n    }",
            "public int one() { return 3; }",
        ),
        // The body alone.
        (
            "a.py",
            PYTHON,
            "a",
            ReplaceBody(put("y = x\nreturn y")),
            "    return x\n",
            "    y = x\n    return y\n",
        ),
        ("a.py", "def a(): return 1\n", "a", ReplaceBody(put("return 2")), " return 1", "\n    return 2"),
        (
            "a.ts",
            TYPESCRIPT,
            "B.two",
            ReplaceBody(put("{ return 3; }")),
            "{\n    return 2;\n  }",
            "{\n    return 3;\n  }",
        ),
        ("a.ts", TYPESCRIPT, "c", ReplaceBody(put("x * 2")), "x + 1", "x * 2"),
        ("a.rs", RUST, "a", ReplaceBody(put("let y = x;\ny")), "    x\n}", "    let y = x;\n    y\n}"),
        ("a.rs", RUST, "c", ReplaceBody(put("a(1);")), "fn c() {}", "fn c() {\n    a(1);\n}"),
        ("a.go", GO, "c", ReplaceBody(put("a(1)")), "func c() {}", "func c() {\n\ta(1)\n}"),
        ("a.c", C, "c", ReplaceBody(put("return 2;")), "{ return 1; }", "{\n    return 2;\n}"),
        ("a.cpp", CPP, "B.two", ReplaceBody(put("return 3;")), "    return 2;\n", "    return 3;\n"),
        (
            "B.java",
            JAVA,
            "B.two",
            ReplaceBody(put("int x = 3;\nreturn x;")),
            "        return 2;\n",
            "        int x = 3;\n        return x;\n",
        ),
    ];
    let mut wrong = Vec::new();
    for (path, text, symbol, operation, from, to) in table {
        assert_eq!(text.matches(from).count(), 1, "{path} {symbol} {from:?}");
        let expected = text.replacen(from, to, 1);
        for (ends, text, expected) in [
            ("LF", text.to_owned(), expected.clone()),
            ("CRLF", text.replace('\n', "\r\n"), expected.replace('\n', "\r\n")),
        ] {
            let found = done(path, &text, symbol, &operation);
            if found != expected {
                wrong.push(format!(
                    "{path} {symbol} {operation:?} {ends}\n--- expected\n{expected}\n--- found\n{found}\n"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_certain_is_refused() {
    use Operation::{Delete, InsertAfter, Replace, ReplaceBody};
    for (path, text, symbol, operation, told) in [
        ("a.py", PYTHON, "nothing", Delete, "there is no `nothing`"),
        ("a.rs", "fn a() {}\nmod m { fn a() {} }\n", "a", Delete, "ambiguous"),
        ("a.py", PYTHON, "a", Replace(put("def a(:\n    pass")), "break the syntax: line 6"),
        ("a.ts", TYPESCRIPT, "B.one", Replace(put("one() { } }")), "it would"),
        ("a.ts", TYPESCRIPT, "B.two", InsertAfter(put("}\nclass C {")), "change what stands around"),
        ("a.c", "int f(int);\n", "f", ReplaceBody(put("return 1;")), "no body"),
        ("a.c", "int a, b;\n", "a", Delete, "declared together with `b`"),
        ("a.py", PYTHON, "a", InsertAfter(put(" \n")), "change nothing"),
        ("B.java", JAVA, "B.one", ReplaceBody(put("return (1;")), "break the syntax"),
        ("a.go", GO, "a", Replace(put("func a( {")), "break the syntax"),
    ] {
        let found = done(path, text, symbol, &operation);
        assert!(
            found.starts_with("refused: ") && found.contains(told),
            "{path} {symbol} {operation:?}: {found}"
        );
    }
}

#[test]
fn a_symbol_is_named_by_name_by_type_or_by_line() {
    for (path, text, symbol, line, expected) in [
        ("a.py", PYTHON, Some("B.two"), None, "B.two"),
        ("a.py", PYTHON, Some("two"), None, "B.two"),
        ("a.py", PYTHON, None, Some(13), "B.one"),
        ("a.py", PYTHON, None, Some(14), "B.one"),
        ("a.rs", RUST, Some("B::one"), None, "B.one"),
        ("a.rs", "fn a() {}\nmod m { fn a() {} }\n", Some("a"), Some(2), "m.a"),
        ("a.go", GO, None, Some(17), "B.One"),
        ("B.java", JAVA, Some("two"), Some(12), "B.two"),
        // A local name is meant where the line declares it, not where it is a part of something.
        ("a.py", "def f(s):\n    x = s\n    return [i for i in x]\n", None, Some(2), "f.x"),
        ("a.py", "def f(s):\n    x = s\n    return [i for i in x]\n", None, Some(3), "f"),
        ("a.py", "def f(s):\n    return any((y := i) for i in s)\n", None, Some(2), "f"),
        ("a.rs", "fn f() {\n    let x = 1;\n    if let Some(y) = g() { h(y) }\n}\n", None, Some(2), "f.x"),
        ("a.rs", "fn f() {\n    let x = 1;\n    if let Some(y) = g() { h(y) }\n}\n", None, Some(3), "f"),
        ("a.ts", "function f() {\n  const x = 1;\n  return g((y) => y);\n}\n", None, Some(2), "f.x"),
        ("a.ts", "function f() {\n  const x = 1;\n  return g((y) => y);\n}\n", None, Some(3), "f"),
        ("a.go", "package p\n\nfunc f() {\n\tx := 1\n\tg(x)\n}\n", None, Some(4), "f.x"),
        ("a.c", "int f(void)\n{\n    int x = 1;\n    return x;\n}\n", None, Some(3), "f.x"),
    ] {
        let source = source(path, text);
        let target = Target { symbol: symbol.map(str::to_owned), line };
        let found = find(&source, &target, Want::Declarations).map(|symbol| symbol.path(&source));
        assert_eq!(found, Ok(expected.to_owned()), "{path} {symbol:?} {line:?}");
    }
}

/// A file, a pattern, a replacement, and the text it becomes.
#[test]
fn code_of_a_form_is_rewritten_in_every_language() {
    for (path, text, pattern, replacement, expected) in [
        (
            "a.py",
            "x = old(1, [2])  # old(1)\nold(a)(b)\n",
            "old($$$A)",
            "new($$$A, k=1)",
            "x = new(1, [2], k=1)  # old(1)\nnew(a, k=1)(b)\n",
        ),
        (
            "a.py",
            "if x == None:\n    y(x == None)\n",
            "$A == None",
            "$A is None",
            "if x is None:\n    y(x is None)\n",
        ),
        (
            "a.py",
            "def f(a, b):\n    return a\n",
            "def f($$$P):\n    $$$B",
            "def g($$$P):\n    $$$B",
            "def g(a, b):\n    return a\n",
        ),
        (
            "a.js",
            "log(a, b);\nlog(  /* c */ a ,b);\nlog(a);\n",
            "log($A, $B)",
            "print($B, $A)",
            "print(b, a);\nprint(b, a);\nlog(a);\n",
        ),
        ("a.js", "f();\nf(1);\n", "f($$$R)", "g(0, $$$R)", "g(0);\ng(0, 1);\n"),
        ("a.js", "f();\nf(1);\n", "f($$$R)", "g($$$R, 0)", "g(0);\ng(1, 0);\n"),
        ("a.js", "f(1);\nf(1, 2, 3);\n", "f($A, $$$R)", "g([$$$R], $A)", "g([], 1);\ng([2, 3], 1);\n"),
        (
            "a.ts",
            "const a: X<string> = b as X<string>;\n",
            "$V as X<$T>",
            "cast<$T>($V)",
            "const a: X<string> = cast<string>(b);\n",
        ),
        (
            "a.tsx",
            "const a = <B c={1}>x</B>;\n",
            "<B c={$V}>$$$K</B>",
            "<D e={$V}>$$$K</D>",
            "const a = <D e={1}>x</D>;\n",
        ),
        (
            "a.rs",
            "fn f() { a.unwrap(); b(c.unwrap()) }\n",
            "$E.unwrap()",
            "$E.expect(\"set\")",
            "fn f() { a.expect(\"set\"); b(c.expect(\"set\")) }\n",
        ),
        (
            "a.rs",
            "fn f() {\n    let x = g();\n    let y = 1;\n}\n",
            "let $X = g();",
            "let $X = h(1);",
            "fn f() {\n    let x = h(1);\n    let y = 1;\n}\n",
        ),
        (
            "a.go",
            "package p\n\nfunc f() {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n",
            "if $E != nil {\n\treturn $E\n}",
            "if $E != nil {\n\treturn wrap($E)\n}",
            "package p\n\nfunc f() {\n\tif err != nil {\n\t\treturn wrap(err)\n\t}\n}\n",
        ),
        (
            "a.c",
            "int f(void) { return strcpy(a, b) + strcpy(c->d, e[1]); }\n",
            "strcpy($D, $S)",
            "strlcpy($D, $S, sizeof $D)",
            "int f(void) { return strlcpy(a, b, sizeof a) + strlcpy(c->d, e[1], sizeof c->d); }\n",
        ),
        (
            "a.c",
            "void f(void) {\n    lock();\n    go();\n    unlock();\n}\n",
            "lock(); $$$B unlock();",
            "guard(); $$$B",
            "void f(void) {\n    guard(); go();\n}\n",
        ),
        (
            "a.cpp",
            "void f() { x = NULL; if (y == NULL) g(NULL); }\n",
            "$A == NULL",
            "!$A",
            "void f() { x = NULL; if (!y) g(NULL); }\n",
        ),
        (
            "A.java",
            "class A { void f() { a.equals(b); c.equals(\"x\"); } }\n",
            "$A.equals($B)",
            "Objects.equals($A, $B)",
            "class A { void f() { Objects.equals(a, b); Objects.equals(c, \"x\"); } }\n",
        ),
        ("a.js", "f(x, x);\nf(x, y);\n", "f($A, $A)", "g($A)", "g(x);\nf(x, y);\n"),
        ("a.js", "f(1, 2);\n", "f($_, $B)", "g($B)", "g(2);\n"),
        ("a.rb", "puts old(1)\n", "old($A)", "new($A)", "puts new(1)\n"),
    ] {
        let source = source(path, text);
        let made = Pattern::parse(source.language, pattern).and_then(|pattern| {
            let matches = pattern.matches(&source)?;
            applied(&source, &pattern.rewrite(&source, &matches, replacement)?, Around::Syntax)
        });
        assert_eq!(made.unwrap_or_else(|refusal| refusal.to_string()), expected, "{path} {pattern}");
    }
}

#[test]
fn a_bad_pattern_or_query_says_what_is_wrong() {
    let rust = source("a.rs", RUST);
    for (pattern, replacement, told) in [
        ("f(", "x", "as Rust"),
        ("$A", "x", "fits everything"),
        ("", "x", "between 1 and"),
        ("f($A)", "$B", "the replacement has `$B`"),
    ] {
        let made = Pattern::parse(rust.language, pattern)
            .and_then(|pattern| pattern.rewrite(&rust, &pattern.matches(&rust)?, replacement));
        let refusal = made.expect_err(pattern).to_string();
        assert!(refusal.contains(told), "{pattern}: {refusal}");
    }
    let bounds = nodes::Bounds { nodes: 10, depth: 5 };
    for (query, told) in [
        ("(function_item", "line 1, column 15"),
        ("(function_item)\n(no_such_node) @a", "line 2, column 2: the grammar has no node `no_such_node`"),
        ("(function_item nam: (_)) @a", "has no field `nam`"),
        ("(function_item)", "captures nothing"),
    ] {
        let refusal = nodes::query(&rust, query, None, bounds).expect_err(query).to_string();
        assert!(refusal.contains(told), "{query}: {refusal}");
    }
}

#[test]
fn a_tree_is_shown_within_bounds() {
    let python = source("a.py", PYTHON);
    let bounds = nodes::Bounds { nodes: 100, depth: 3 };
    let shown = nodes::outline(&python, Some(nodes::Lines { first: 13, last: 14 }), bounds);
    expect_test::expect![[r#"
        function_definition [13:5-14:17]
          name: identifier [13:9-13:12] "one"
          parameters: parameters [13:12-13:18]
            identifier [13:13-13:17] "self"
          body: block [14:9-14:17]
            return_statement [14:9-14:17]
              integer [14:16-14:17] "1"
    "#]]
    .assert_eq(&shown.text);
    let shown = nodes::query(
        &python,
        "(function_definition name: (identifier) @name (#match? @name \"^[ab]\")) @function",
        None,
        bounds,
    );
    expect_test::expect![[r#"
        @function function_definition [6:1-8:13]
        @name identifier [6:5-6:6] "a"
    "#]]
    .assert_eq(&shown.expect("found").text);
    let few = nodes::outline(&python, None, nodes::Bounds { nodes: 4, depth: 30 });
    assert_eq!((few.count, few.is_cut), (4, true));
}

#[test]
fn a_macro_right_before_a_definition_goes_with_it_and_one_further_away_stays_or_it_is_refused() {
    for before in
        ["MY_API", "MY_API(1)", "MY_API\n", "MY_API(1)\n", "static MY_API", "MY_API static MY_INLINE"]
    {
        let text = format!("int a;\n\n{before} int b() {{ return 1; }}\n\nint c;\n");
        assert_eq!(done("a.cc", &text, "b", &Operation::Delete), "int a;\n\nint c;\n", "{before}");
    }
    // `class` with a condition between its name and its body: the parser takes all that follows for one thing.
    let far = "#include \"core.h\"\n\nMY_BEGIN_NAMESPACE\n\nnamespace detail {\n\ntemplate <typename T> struct one : two {};\n\n}  // namespace detail\n\ntemplate <typename C>\nclass store\n#if OLD\n    // Not public.\n    : public base\n#endif\n{\n private:\n  int kept;\n};\n\nMY_END_NAMESPACE\n";
    let after = done("a.h", far, "detail", &Operation::Delete);
    assert!(after.starts_with("refused: ") || after.contains("MY_BEGIN_NAMESPACE\n"), "{after}");
}
