//! Questions about Java, and overloads of C++.

use super::native::uses;
use super::*;

const BASE: (&str, &str) = (
    "src/org/a/Base.java",
    "package org.a;\nimport java.util.List;\npublic abstract class Base<T> implements Named {\n    protected int id;\n    public static final int MAX = 3;\n    protected T value;\n    public int key() { return id; }\n    public int key(int a) { return a; }\n    public int key(int a, String b) { return a; }\n    public T get() { return value; }\n    public List<T> all() { return null; }\n    public static class Nested {\n        public int width() { return 1; }\n    }\n}\n",
);
const NAMED: (&str, &str) = (
    "src/org/a/Named.java",
    "package org.a;\npublic interface Named {\n    String name();\n    default String label() { return name(); }\n}\n",
);
const COLOR: (&str, &str) = (
    "src/org/a/Color.java",
    "package org.a;\npublic enum Color {\n    RED(1),\n    GREEN(2) {\n        int shade() { return 2; }\n    };\n    Color(int code) {}\n    int shade() { return 1; }\n    static Color of(int c) { return RED; }\n}\n",
);
const ITEM: (&str, &str) = (
    "src/org/b/Item.java",
    "package org.b;\npublic class Item {\n    Item next;\n    public int open() { return 1; }\n    public int open(int a) { return open(); }\n}\n",
);

#[test]
fn java_values_are_known_through_generics_bases_and_the_library() {
    let head = "package org.b;\nimport org.a.*;\nimport org.a.Base.Nested;\nimport static org.a.Base.MAX;\nimport static org.a.Color.*;\nimport java.util.*;\n";
    let open = "src/org/b/Item.java:4";
    for (text, expected) in [
        ("int f() { return <|>key(); }", "src/org/a/Base.java:7"),
        ("int f() { return this.<|>key(1); }", "src/org/a/Base.java:8"),
        ("int f() { return super.<|>key(1, \"a,b\"); }", "src/org/a/Base.java:9"),
        ("void f() { get().<|>open(); }", open),
        ("void f() { for (var i : all()) i.<|>open(); }", open),
        ("void f() { all().forEach(x -> x.<|>open()); }", open),
        ("void f() { all().stream().filter(x -> x.<|>open() > 1).count(); }", open),
        ("void f(Map<String, Item> m) { m.get(\"a\").<|>open(); }", open),
        ("void f(Map<String, Item> m) { for (var e : m.entrySet()) e.getValue().<|>open(); }", open),
        ("void f(Map<String, List<Item>> m) { m.get(\"a\").get(0).<|>open(); }", open),
        ("void f(Item[] all) { all[0].<|>open(); }", open),
        ("void f(Optional<Item> o) { o.orElseThrow().<|>open(); }", open),
        ("void f(Object o) { ((Item) o).<|>open(); }", open),
        ("void f(Object o) { if (o instanceof Item it) it.<|>open(); }", open),
        ("void f() { var made = new Item(); made.next.<|>open(); }", open),
        ("void f() { new Item().<|>open(2); }", "src/org/b/Item.java:5"),
        ("<X extends Named> void f(X x) { x.<|>label(); }", "src/org/a/Named.java:4"),
        ("int f() { return <|>MAX; }", "src/org/a/Base.java:5"),
        ("Color f() { return <|>GREEN; }", "src/org/a/Color.java:4"),
        ("int f() { return Color.of(1).<|>shade(); }", "src/org/a/Color.java:8"),
        ("int f(Color c) { switch (c) { case <|>RED: return 1; } }", "src/org/a/Color.java:3"),
        ("Object f() { return org.a.Color.<|>RED; }", "src/org/a/Color.java:3"),
        ("int f(<|>Nested n) { return 1; }", "src/org/a/Base.java:12"),
        ("int f() { return new Base.Nested().<|>width(); }", "src/org/a/Base.java:13"),
        (
            "Runnable f() { return new Runnable() { public void run() { <|>key(); } }; }",
            "src/org/a/Base.java:7",
        ),
        ("class In { void f() { <|>label(); } }", "src/org/a/Named.java:4"),
        ("int f(String s) { return s.<|>length(); }", "external"),
        ("void f() { <|>System.exit(1); }", "external"),
    ] {
        let text = format!("{head}abstract class User extends Base<Item> {{ {text} }}\n");
        check(&[BASE, NAMED, COLOR, ITEM, ("src/org/b/User.java", &text)], &[expected]);
    }
}

#[test]
fn java_overloads_and_overrides_are_told_apart_by_their_parameters() {
    let shape = "package a;\ninterface Shape {\n    int area();\n    int area(int unit);\n}\nclass Square implements Shape {\n    Square(int side) {}\n    Square() {}\n    public int area() { return 1; }\n    public int <|>area(int unit) { return unit; }\n}\n";
    let user = "package a;\nclass Use {\n    int one(Shape s) { return s.area(); }\n    int two(Shape s) { return s.area(2); }\n    int three(Square s) { return s.area(3); }\n    Square four() { return new Square(1); }\n}\n";
    let (used, callers) = uses(&[("a/Shape.java", shape), ("a/Use.java", user)]);
    assert_eq!(used, ["a/Shape.java:4", "a/Use.java:4", "a/Use.java:5"]);
    assert_eq!(callers, ["two", "three"]);
    let maker = shape.replace("<|>", "").replace("    Square(int", "    <|>Square(int");
    let (used, callers) = uses(&[("a/Shape.java", &maker), ("a/Use.java", user)]);
    assert_eq!((used, callers), (vec!["a/Use.java:6".to_owned()], vec!["four".to_owned()]));
}

#[test]
fn java_parameters_of_any_number_hide_fields_and_members_are_inherited() {
    let order = "class Order implements Payable {\n    private int[] <|>items;\n    static int of(int... items) { return items.length; }\n    int size() { return items.length; }\n}\n";
    let payable = "interface Payable {\n    default int label() { return 1; }\n}\n";
    let (used, _) = uses(&[("Order.java", order), ("Payable.java", payable)]);
    assert_eq!(used, ["Order.java:4"]);
    let order = order.replace("<|>", "");
    let (_folder, index) = workspace(&[("Order.java", &order), ("Payable.java", payable)]);
    let resolver = Resolver::new(&index);
    let lines = |name: &str| {
        let found = resolver.definitions_named(name);
        found.iter().map(|one| (index.path(one.file), one.definition.at.line)).collect::<Vec<_>>()
    };
    assert_eq!(lines("Order.label"), [("Payable.java", 2)]);
    assert!(lines("Order.missing").is_empty());
}

#[test]
fn cpp_overloads_are_told_apart_by_their_parameters() {
    let header = "class A {\n public:\n  int go();\n  int go(int a, int b = 1);\n  int go(const char* text, int a, int b);\n};\nint free_one(int a);\nint free_one(int a, int b);\n";
    let source = "#include \"a.h\"\nint A::go() { return 1; }\nint A::go(int a, int b) { return 2; }\nint A::go(const char* text, int a, int b) { return 3; }\nint free_one(int a) { return 1; }\nint free_one(int a, int b) { return 2; }\n";
    for (text, expected) in [
        ("int f(A* a) { return a-><|>go(); }", "a.cc:2"),
        ("int f(A* a) { return a-><|>go(1); }", "a.cc:3"),
        ("int f(A* a) { return a-><|>go(1, 2); }", "a.cc:3"),
        ("int f(A* a) { return a-><|>go(\"x, y\", 1, 2); }", "a.cc:4"),
        ("int f() { return <|>free_one(1); }", "a.cc:5"),
        ("int f() { return <|>free_one(g(1, 2), 2); }", "a.cc:6"),
    ] {
        let text = format!("#include \"a.h\"\n{text}\n");
        check(&[("a.h", header), ("a.cc", source), ("b.cc", &text)], &[expected]);
    }
}

#[test]
fn what_a_named_collection_holds_is_known() {
    check(
        &[(
            "a.go",
            "package a\ntype Item struct{}\nfunc (i *Item) Name() string { return \"\" }\ntype byName []*Item\nfunc (b byName) Less(i, j int) bool { return b[i].<|>Name() < \"\" }\n",
        )],
        &["a.go:3"],
    );
    check(
        &[(
            "a.cc",
            "struct A { int go(); };\nusing All = std::vector<A>;\nint f(All all) { return all[0].<|>go(); }\n",
        )],
        &["a.cc:1"],
    );
}
