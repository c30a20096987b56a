//! Questions about small Python workspaces.

use super::tests::check;
use super::*;
use crate::index::tests::workspace;

#[test]
fn a_python_file_depends_on_packages_and_modules_but_not_on_files_beside_it() {
    let files = [
        ("src/app/__init__.py", ""),
        ("src/app/typing.py", ""),
        ("src/app/views.py", ""),
        ("src/app/by_dots.py", "from . import views\n"),
        ("src/app/by_name.py", "from app import views, missing\n"),
        ("src/app/of_module.py", "from .views import index\n"),
        ("src/app/of_library.py", "import typing\n"),
        ("src/app/everything.py", "from . import *\n"),
        ("tools/helper.py", ""),
        ("tools/run.py", "import helper\n"),
    ];
    let (_folder, index) = workspace(&files);
    let resolver = Resolver::new(&index);
    for (path, expected) in [
        ("src/app/by_dots.py", vec!["src/app/__init__.py", "src/app/views.py"]),
        ("src/app/by_name.py", vec!["src/app/__init__.py", "src/app/views.py"]),
        ("src/app/of_module.py", vec!["src/app/views.py"]),
        ("src/app/of_library.py", vec![]),
        ("src/app/everything.py", vec!["src/app/__init__.py"]),
        ("tools/run.py", vec!["tools/helper.py"]),
    ] {
        let found = resolver.dependencies(index.named(path).unwrap());
        let found: Vec<&str> = found.iter().map(|file| index.path(*file)).collect();
        assert_eq!(found, expected, "{path}");
    }
}

fn uses(files: &[(&str, &str)], name: &str) -> Vec<String> {
    let (_folder, index) = workspace(files);
    let resolver = Resolver::new(&index);
    let target = resolver.definitions_named(name).into_iter().next().unwrap();
    let uses = resolver.references(&target);
    uses.iter().map(|used| format!("{}:{}", index.path(used.file), used.occurrence.at.line)).collect()
}

fn callers(files: &[(&str, &str)], name: &str) -> Vec<String> {
    let (_folder, index) = workspace(files);
    let resolver = Resolver::new(&index);
    let target = resolver.definitions_named(name).into_iter().next().unwrap();
    let callers = resolver.callers(&target);
    let place = |one: &DefinitionSite| format!("{}:{}", index.path(one.file), one.definition.at.line);
    callers.iter().map(|call| place(&call.function)).collect()
}

#[test]
fn names_that_python_makes_more_than_once() {
    for (text, expected) in [
        (
            "def f(a):\n    if a:\n        def view(): ...\n    else:\n        def view(): ...\n    <|>view()\n",
            vec!["a.py:5", "a.py:3"],
        ),
        ("def f():\n    def view(): ...\n    def view(): ...\n    <|>view()\n", vec!["a.py:3"]),
        ("try:\n    def g(): ...\nexcept E:\n    def g(): ...\n<|>g()\n", vec!["a.py:4", "a.py:2"]),
        ("if a:\n    def g(): ...\nb = 1\nif c:\n    def g(): ...\n<|>g()\n", vec!["a.py:5"]),
        ("class A: ...\nA = decorated(A)\n<|>A()\n", vec!["a.py:1"]),
    ] {
        check(&[("a.py", text)], &expected);
    }
}

#[test]
fn what_is_taken_apart_has_the_types_of_its_places() {
    let model = "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\ndef both() -> tuple[A, B]: ...\npairs: list[tuple[A, B]] = []\n";
    for (text, expected) in [
        ("a, b = both()\nb.<|>go()\n", "a.py:4"),
        ("a, b = both()\na.<|>go()\n", "a.py:2"),
        ("for a, b in pairs:\n    b.<|>go()\n", "a.py:4"),
        ("for (a, b) in pairs:\n    a.<|>go()\n", "a.py:2"),
    ] {
        check(&[("a.py", &format!("{model}{text}"))], &[expected]);
    }
}

#[test]
fn uses_of_python_names_are_in_all_and_on_both_sides_of_a_property() {
    let listed = [("a.py", "__all__ = [\"one\"]\n__all__ += [\"two\"]\ndef one(): ...\ndef two(): ...\n")];
    assert_eq!(uses(&listed, "one"), ["a.py:1"]);
    assert_eq!(uses(&listed, "two"), ["a.py:2"]);
    let property = [(
        "a.py",
        "class A:\n    @property\n    def p(self): ...\n    @p.setter\n    def p(self, value): ...\n    def m(self):\n        return self.p\n",
    )];
    assert_eq!(uses(&property, "A.p"), ["a.py:4", "a.py:5", "a.py:7"]);
    assert_eq!(callers(&property, "A.p"), ["a.py:6"]);
}

#[test]
fn python_callers_call() {
    let text = "def f(): ...\nf()\ndef given():\n    return f\ndef one():\n    f()\n@f\ndef two(): ...\nclass C:\n    def m(self):\n        return [f() for _ in ()]\n";
    assert_eq!(callers(&[("a.py", text)], "f"), ["a.py:1", "a.py:5", "a.py:10"]);
}

#[test]
fn a_name_that_python_makes_in_several_places_means_all_that_count() {
    let above = "class Base:\n    kind: str\n    def __init__(self):\n        self.loose = 1\n    @property\n    def size(self) -> int: ...\n    @size.setter\n    def size(self, value): ...\nclass Under(Base):\n    def set(self):\n        self.kind = 'a'\n        self.loose = 2\n        self.size = 3\n        self.count = 4\n        self.count += 5\n";
    let overloaded = "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a): ...\n";
    for (before, text, expected) in [
        // What is declared above counts more than what is only assigned.
        (above, "Under().<|>kind\n", vec!["a.py:2"]),
        (above, "Under().<|>loose\n", vec!["a.py:12"]),
        (above, "Under().<|>size\n", vec!["a.py:6", "a.py:8"]),
        (above, "Under().<|>count\n", vec!["a.py:14", "a.py:15"]),
        (overloaded, "<|>f(1)\n", vec!["a.py:6", "a.py:3", "a.py:5"]),
        ("", "class A:\n    __slots__ = ['a']\n    def m(self):\n        return self.<|>a\n", vec!["a.py:2"]),
        ("", "class A:\n    def m(self): ...\n    m = wrapped(<|>m)\n", vec!["a.py:2"]),
        (
            "",
            "class A:\n    def m(self): ...\nclass B:\n    def m(self): ...\nclass C(A, B): ...\nC().<|>m()\n",
            vec!["a.py:2"],
        ),
        ("", "import box\nclass Box: ...\nbox = Box()\ndef f(box=<|>box): ...\n", vec!["a.py:3"]),
        ("", "a = 1\ndef f(a, b=<|>a): ...\n", vec!["a.py:1"]),
        ("", "a = 1\ndef f(a, b=1):\n    return <|>a\n", vec!["a.py:2"]),
        ("", "n = 0\ndef f():\n    global n\n    n += 1\n    return <|>n\n", vec!["a.py:4", "a.py:1"]),
        (
            "",
            "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    return <|>n\n",
            vec!["a.py:5", "a.py:2"],
        ),
    ] {
        check(&[("a.py", &format!("{before}{text}"))], &expected);
    }
}

#[test]
fn types_in_quotes_are_uses() {
    let files = [
        ("model.py", "class Item: ...\n"),
        (
            "app.py",
            "import model\nfrom model import Item\nfrom typing import Literal, Optional\ndef f(a: \"Item\") -> Optional[\"list[Item]\"]: ...\nb: \"model.Item\" = None\nc: Literal[\"Item\"] = \"Item\"\n",
        ),
    ];
    assert_eq!(uses(&files, "Item"), ["app.py:2", "app.py:4", "app.py:4", "app.py:5"]);
}

#[test]
fn a_condition_says_what_a_value_is() {
    let model = "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n";
    for (text, expected) in [
        ("def f(x):\n    if isinstance(x, B):\n        y = 1\n        x.<|>go()\n", vec!["a.py:4"]),
        (
            "def f(x):\n    if y:\n        pass\n    elif isinstance(x, A):\n        if y:\n            x.<|>go()\n",
            vec!["a.py:2"],
        ),
        ("def f(x):\n    return isinstance(x, B) and x.<|>go()\n", vec!["a.py:4"]),
        (
            "def f(x):\n    if (\n        isinstance(x, A)\n        and x.<|>go()\n    ):\n        pass\n",
            vec!["a.py:2"],
        ),
        ("def f(x):\n    if isinstance(x, (A, B)):\n        x.<|>go()\n", vec!["a.py:2", "a.py:4"]),
        (
            "class C:\n    def f(self, x):\n        self.x = x\n        if isinstance(self.x, B):\n            self.x.<|>go()\n",
            vec!["a.py:4"],
        ),
        ("def f(x):\n    if isinstance(x, A):\n        pass\n    x.<|>go()\n", vec!["unknown"]),
        ("def f(x):\n    if not isinstance(x, A):\n        x.<|>go()\n", vec!["unknown"]),
        ("def f(x):\n    if isinstance(x, A) or y:\n        x.<|>go()\n", vec!["unknown"]),
        (
            "def f(x):\n    if isinstance(x, A):\n        pass\n    else:\n        x.<|>go()\n",
            vec!["unknown"],
        ),
        ("def f(x):\n    if isinstance(x, A):\n        def g(x):\n            x.<|>go()\n", vec!["unknown"]),
    ] {
        check(&[("a.py", &format!("{model}{text}"))], &expected);
    }
}
