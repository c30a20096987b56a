//! Renames that may not be whole: each must change every place, or not be sure. Marks are those of `rename_tests`.

use super::rename_tests::{all_renamed_in, none_sure, whole_or_not_sure};

#[test]
fn definitions_of_rust_that_cfg_chooses_between_are_renamed_together() {
    all_renamed_in(&[
        // Two modules are brought by wildcards, one of them at a time.
        &[
            ("src/lib.rs", "mod simd;\nfn f() { simd::@@scan() }\n"),
            (
                "src/simd/mod.rs",
                "mod swar;\n#[cfg(not(fast))]\npub use self::swar::*;\n#[cfg(fast)]\nmod fast { pub fn <|>scan() { super::swar::@@scan() } }\n#[cfg(fast)]\npub use self::fast::*;\n",
            ),
            ("src/simd/swar.rs", "pub fn @@scan() {}\n"),
        ],
        &[
            (
                "src/lib.rs",
                "#[cfg(unix)]\nmod unix;\n#[cfg(windows)]\nmod windows;\n#[cfg(unix)]\nuse unix::@@open;\n#[cfg(windows)]\nuse windows::@@open;\nfn f() { @@open() }\n",
            ),
            ("src/unix.rs", "pub fn <|>open() {}\n"),
            ("src/windows.rs", "pub fn @@open() {}\n"),
        ],
        &[
            (
                "src/lib.rs",
                "#[cfg(unix)]\nmod unix;\n#[cfg(windows)]\nmod windows;\n#[cfg(unix)]\nuse unix as imp;\n#[cfg(windows)]\nuse windows as imp;\nfn f() { imp::@@open() }\n",
            ),
            ("src/unix.rs", "pub fn @@open() {}\n"),
            ("src/windows.rs", "pub fn <|>open() {}\n"),
        ],
        &[(
            "src/lib.rs",
            "#[cfg(unix)]\nmod imp { pub fn @@open() {} }\n#[cfg(windows)]\nmod imp { pub fn <|>open() {} }\nfn f() { imp::@@open() }\n",
        )],
        // A name hides what a wildcard brings.
        &[
            ("src/lib.rs", "mod a;\nmod b;\nuse a::@@open;\nuse b::*;\nfn f() { @@open() }\n"),
            ("src/a.rs", "pub fn <|>open() {}\n"),
            ("src/b.rs", "pub fn open() {}\n"),
        ],
    ]);
}

#[test]
fn definitions_of_rust_that_cfg_may_choose_between_are_not_half_renamed() {
    whole_or_not_sure(&[
        &[
            (
                "src/lib.rs",
                "#[cfg(unix)]\n#[path = \"unix.rs\"]\nmod imp;\n#[cfg(windows)]\n#[path = \"windows.rs\"]\nmod imp;\nfn f() { imp::@@open() }\n",
            ),
            ("src/unix.rs", "pub fn <|>open() {}\n"),
            ("src/windows.rs", "pub fn @@open() {}\n"),
        ],
        &[
            (
                "src/lib.rs",
                "#[cfg_attr(unix, path = \"unix.rs\")]\n#[cfg_attr(windows, path = \"windows.rs\")]\nmod imp;\npub use imp::@@open;\n",
            ),
            ("src/unix.rs", "pub fn <|>open() {}\n"),
            ("src/windows.rs", "pub fn @@open() {}\n"),
        ],
        &[
            (
                "src/lib.rs",
                "cfg_if::cfg_if! {\n    if #[cfg(unix)] {\n        mod unix;\n        use unix::@@open;\n    } else {\n        mod windows;\n        use windows::@@open;\n    }\n}\nfn f() { @@open() }\n",
            ),
            ("src/unix.rs", "pub fn <|>open() {}\n"),
            ("src/windows.rs", "pub fn @@open() {}\n"),
        ],
        &[(
            "src/lib.rs",
            "cfg_if::cfg_if! {\n    if #[cfg(unix)] {\n        fn <|>open() {}\n    } else {\n        fn @@open() {}\n    }\n}\nfn f() { @@open() }\n",
        )],
        &[(
            "src/lib.rs",
            "#[cfg(unix)]\ntype <|>Handle = u8;\n#[cfg(windows)]\nstruct @@Handle;\nfn f(_: @@Handle) {}\n",
        )],
        &[(
            "src/lib.rs",
            "struct A;\n#[cfg(unix)]\nimpl A { fn <|>m(&self) {} }\n#[cfg(windows)]\nimpl A { fn @@m(&self) {} }\nfn f(a: A) { a.@@m() }\n",
        )],
        &[(
            "src/lib.rs",
            "struct A { #[cfg(unix)] <|>n: u8, #[cfg(windows)] @@n: u16 }\nfn f(a: A) { g(a.@@n) }\n",
        )],
        &[("src/lib.rs", "fn f() { #[cfg(unix)]\nlet <|>x = 1;\n#[cfg(windows)]\nlet @@x = 2;\ng(@@x) }\n")],
        &[(
            "src/lib.rs",
            "#[cfg(unix)]\nconst <|>N: u8 = 1;\n#[cfg(windows)]\nstatic @@N: u8 = 2;\nfn f() { g(@@N) }\n",
        )],
        &[("src/lib.rs", "fn f(#[cfg(unix)] <|>x: u8, #[cfg(windows)] @@x: u16) { g(@@x) }\n")],
    ]);
}

#[test]
fn members_of_values_whose_type_is_not_known_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[(
            "src/lib.rs",
            "struct R { <|>lines: Vec<u8> }\nfn f<I: Into<R>>(r: &mut R, i: I) { r.@@lines.extend(i.into().@@lines) }\n",
        )],
        &[(
            "src/lib.rs",
            "struct L;\nimpl L { fn <|>earlier(&self) {} }\nstruct T { chain: Chain<L> }\nfn f(t: &T) { t.chain[0].@@earlier() }\n",
        )],
    ]);
}

#[test]
fn names_in_macros_of_rust_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        // The type is a parameter of who uses the macro, whatever it is called.
        &[(
            "src/lib.rs",
            "trait Joined { fn <|>append(self) -> Self; }\nmacro_rules! joined { ($one:expr) => { Error::@@append($one) } }\nfn f<Error: Joined>(one: Error) -> Error { joined!(one) }\n",
        )],
        &[(
            "src/lib.rs",
            "trait Joined { fn <|>join_all(self) -> Self; }\nmacro_rules! joined { ($one:expr) => { Failure::@@join_all($one) } }\nfn f<Failure: Joined>(one: Failure) -> Failure { joined!(one) }\n",
        )],
        &[("src/lib.rs", "fn <|>g() {}\nmacro_rules! m { () => { $crate::@@g() }; }\nfn f() { m!() }\n")],
        &[("src/lib.rs", "fn <|>g() {}\nmacro_rules! m { ($x:expr) => { @@g($x) }; }\nfn f() { m!(1) }\n")],
        &[(
            "src/lib.rs",
            "struct S { <|>n: u8 }\nmacro_rules! m { ($s:expr) => { $s.@@n }; }\nfn f(s: S) { m!(s); }\n",
        )],
        &[(
            "src/lib.rs",
            "struct S;\nimpl S { fn <|>n(&self) {} }\nmacro_rules! m { ($s:ident) => { $s.@@n() }; }\nfn f(s: S) { m!(s); }\n",
        )],
        &[(
            "src/lib.rs",
            "struct S;\nimpl S { fn <|>new() -> S { S } }\nmacro_rules! m { ($t:ident) => { $t::@@new() }; }\nfn f() { m!(S); }\n",
        )],
        &[(
            "src/lib.rs",
            "macro_rules! make { ($name:ident) => { pub fn $name() {} }; }\nmake!(<|>g);\nfn f() { @@g() }\n",
        )],
        &[(
            "src/lib.rs",
            "trait T { fn <|>m(&self); }\nmacro_rules! all { ($($t:ty)*) => { $(impl T for $t { fn @@m(&self) {} })* }; }\nall!(u8 u16);\n",
        )],
        &[(
            "src/lib.rs",
            "struct S { <|>n: u8 }\nmacro_rules! m { () => { S { @@n: 1 } }; }\nfn f() -> S { m!() }\n",
        )],
        &[(
            "src/lib.rs",
            "enum E { <|>A, B }\nfn f(e: E) -> bool { matches!(e, E::@@A) || matches!(e, crate::E::@@A | E::B) }\n",
        )],
        &[(
            "src/lib.rs",
            "enum E { <|>A, B }\nimpl E { fn f(&self) -> bool { matches!(self, Self::@@A) } }\n",
        )],
        &[(
            "src/lib.rs",
            "macro_rules! <|>m { () => {}; }\nmod a { fn f() { crate::@@m!() } }\npub(crate) use @@m;\n",
        )],
        &[(
            "src/lib.rs",
            "fn f() { let <|>v = 1; assert_eq!(@@v, 1, \"{v} {}\", @@v); }\n".replace("{v}", "{@@v}").leak(),
        )],
        &[(
            "src/lib.rs",
            "fn f() { let <|>v = 1; vec![@@v; 3]; println!(\"{:?}\", S { x: @@v, y: [@@v] }); }\n",
        )],
    ]);
}

#[test]
fn names_that_a_type_outside_of_a_go_workspace_has_are_not_sure() {
    none_sure(&[
        // `sse.Event` is used as a `Render`.
        &[
            ("go.mod", "module m\n"),
            ("render/render.go", "package render\ntype Render interface {\n\tRender(w int) error\n}\n"),
            (
                "render/json.go",
                "package render\ntype JSON struct{}\nfunc (r JSON) <|>Render(w int) error { return nil }\n",
            ),
            (
                "context.go",
                "package m\nimport (\n\t\"example.com/sse\"\n\t\"m/render\"\n)\nfunc show(r render.Render) {}\nfunc f() { show(sse.Event{}) }\n",
            ),
        ],
        &[(
            "a.go",
            "package a\nimport \"example.com/store\"\ntype Store interface {\n\t<|>Fetch(k string) string\n}\nfunc f() Store { return store.New() }\n",
        )],
        // An interface outside asks for what a type has.
        &[(
            "a.go",
            "package a\nimport \"example.com/flags\"\ntype Value struct{}\nfunc (v *Value) <|>Assign(s string) {}\nvar _ flags.Value = (*Value)(nil)\n",
        )],
        &[(
            "a.go",
            "package a\nimport \"example.com/flags\"\ntype Value struct{}\nfunc (v *Value) <|>Assign(s string) {}\nfunc f(s *flags.Set) { s.Add(&Value{}) }\n",
        )],
        &[(
            "a.go",
            "package a\nimport \"net/http\"\ntype H struct{}\nfunc (h H) <|>ServeHTTP(w http.ResponseWriter, r *http.Request) {}\n",
        )],
        &[("a.go", "package a\ntype E struct{}\nfunc (e E) <|>Error() string { return \"\" }\n")],
        &[(
            "a.go",
            "package a\ntype E struct{}\nfunc (e E) <|>MarshalJSON() ([]byte, error) { return nil, nil }\n",
        )],
    ]);
    all_renamed_in(&[
        // Methods with small names are known in their package alone.
        &[(
            "a.go",
            "package a\nimport \"example.com/store\"\ntype Store interface {\n\t<|>fetch(k string) string\n}\ntype S struct{}\nfunc (s S) @@fetch(k string) string { return store.Get() }\n",
        )],
        &[(
            "a.go",
            "package a\ntype Store interface {\n\t<|>Fetch(k string) string\n}\ntype S struct{}\nfunc (s S) @@Fetch(k string) string { return k }\nfunc f(s Store) { s.@@Fetch(\"\") }\n",
        )],
    ]);
}

#[test]
fn names_that_python_reaches_by_text_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("a.py", "class A:\n    def <|>run(self):\n        pass\ndef f(a):\n    return getattr(a, '@@run')()\n")],
        &[("a.py", "class A:\n    <|>n = 1\ndef f(a: A):\n    setattr(a, \"@@n\", 2)\n    return hasattr(a, '@@n')\n")],
        &[("a.py", "from typing import TypeVar\n<|>T = TypeVar('@@T', bound=int)\ndef f(x: @@T) -> @@T:\n    return x\n")],
        &[("a.py", "from collections import namedtuple\n<|>Pair = namedtuple(\"@@Pair\", \"a b\")\np = @@Pair(1, 2)\n")],
        &[("a.py", "__all__ = ['@@run']\ndef <|>run():\n    pass\n")],
        &[("a/__init__.py", "from .b import @@run\n__all__ = (\"@@run\",)\n"), ("a/b.py", "def <|>run():\n    pass\n")],
        &[("a.py", "class A:\n    __slots__ = ('@@n',)\n    def __init__(self):\n        self.<|>n = 1\n")],
        &[("a.py", "class A:\n    __match_args__ = ('@@n',)\n    def __init__(self):\n        self.<|>n = 1\n")],
        &[("test_a.py", "import pytest\n@pytest.fixture\ndef <|>server():\n    return 1\ndef test_x(@@server):\n    assert @@server\n")],
        &[("conftest.py", "import pytest\n@pytest.fixture()\ndef <|>server():\n    return 1\n"), ("test_a.py", "def test_x(@@server):\n    assert @@server\n")],
        &[("conftest.py", "import pytest\n@pytest.fixture()\ndef @@server():\n    return 1\n"), ("test_a.py", "def test_x(<|>server):\n    assert @@server\n")],
        &[("test_a.py", "def <|>test_x():\n    pass\nclass TestA:\n    def test_y(self):\n        pass\n")],
        &[("a.py", "class A:\n    def m(self, <|>x):\n        return @@x\nclass B(A):\n    def m(self, @@x):\n        return @@x\ndef f(a: A):\n    a.m(@@x=1)\n")],
        &[("a.py", "def f(<|>x):\n    return @@x\ng = f\ng(@@x=1)\n")],
        &[("a.py", "from functools import partial\ndef f(<|>x):\n    return @@x\ng = partial(f, @@x=1)\n")],
        &[("a.py", "def f(<|>x):\n    return '{x}'.format(x=@@x) + '%(x)s' % {'x': @@x}\n")],
        &[("a.py", "from dataclasses import dataclass\n@dataclass\nclass A:\n    <|>n: int = 1\na = A(@@n=2)\nprint(a.@@n)\n")],
        &[("a.py", "from typing import NamedTuple\nclass A(NamedTuple):\n    <|>n: int\na = A(@@n=2)\na._replace(@@n=3)\n")],
        &[("a.py", "from typing import TypedDict\nclass A(TypedDict):\n    <|>n: int\na: A = {'@@n': 1}\na['@@n']\n")],
        &[("a.py", "from enum import Enum\nclass A(Enum):\n    <|>ONE = 1\nA['@@ONE']\nA.@@ONE\n")],
        &[("a.py", "from collections import namedtuple\n<|>P = namedtuple('P', 'x y')\np = @@P(1, 2)\n")],
        &[("a.py", "from typing import Protocol\nclass P(Protocol):\n    def <|>go(self): ...\nclass A:\n    def @@go(self): ...\ndef f(p: P):\n    p.@@go()\nf(A())\n")],
        &[("a.py", "class A:\n    def <|>go(self):\n        return super().go()\nclass B(A):\n    def @@go(self):\n        return super().@@go()\n")],
        &[("a.py", "import a_lib\nclass A(a_lib.Base):\n    def <|>go(self):\n        pass\n")],
        &[("a.py", "import a_lib\nclass A(a_lib.Base):\n    pass\nclass B(A):\n    def <|>go(self):\n        pass\n")],
        &[("a.py", "import a_lib\nclass A(a_lib.Base):\n    def __init__(self):\n        self.<|>n = 1\n")],
        &[("a.py", "import a_lib\nclass A(metaclass=a_lib.Meta):\n    <|>n = 1\n")],
        &[("a.py", "import a_lib\n@a_lib.register\ndef <|>go(x):\n    pass\n")],
        &[("a.py", "def <|>x():\n    pass\n"), ("b.py", "from a import *\n@@x()\n")],
        &[("a.py", "from typing import TYPE_CHECKING\nclass <|>A: pass\ndef f(a: 'A', b: \"list[A]\") -> 'A | None': ...\n".replace("'A", "'@@A").replace("[A]", "[@@A]").leak())],
        &[("a.py", "def f():\n    # type: () -> A\n    pass\nclass <|>A: pass\n")],
        &[("a.py", "try:\n    from fast import go\nexcept ImportError:\n    def <|>go(): pass\ngo()\n".replace("import go", "import @@go").replace("\ngo", "\n@@go").leak())],
        &[("a.py", "import sys\nif sys.version_info > (3,):\n    def <|>go(): pass\nelse:\n    def @@go(): pass\n@@go()\n")],
        &[("a.py", "if x:\n    <|>n = 1\nelse:\n    from b_lib import @@n\nprint(@@n)\n")],
    ]);
}

#[test]
fn members_of_scripts_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("a.ts", "interface <|>I { x: number }\ninterface @@I { y: number }\nfunction f(i: @@I) {}\n")],
        &[(
            "a.ts",
            "interface I { <|>x: number }\nconst i: I = { @@x: 1 };\nconst x = 2;\nfunction f(): I { return { @@x: x }; }\n",
        )],
        &[("a.ts", "class <|>A {}\nnamespace @@A { export const n = 1; }\n@@A.n;\n")],
        &[("a.ts", "function <|>f() {}\nnamespace @@f { export const n = 1; }\n@@f.n;\n")],
        &[("a.ts", "declare global { interface Window { <|>own: number } }\nwindow.@@own;\nexport {};\n")],
        &[("a.ts", "import 'lib';\ndeclare module 'lib' { interface Options { <|>own: number } }\n")],
        &[("a.ts", "import { Options } from 'lib';\nclass A implements Options { <|>deep = true }\n")],
        &[("a.ts", "import { Options } from 'lib';\ninterface O extends Options { <|>deep: true }\n")],
        &[(
            "a.ts",
            "import { Options } from 'lib';\ninterface O { <|>deep: true }\nfunction f(o: O): Options { return o; }\n",
        )],
        &[(
            "a.ts",
            "type O = { <|>deep: boolean };\nconst o: O = JSON.parse('');\nconst { @@deep: d } = o;\ng(d, o['@@deep']);\n",
        )],
        &[("a.ts", "type O = { <|>deep: boolean };\ntype K = keyof O;\nconst k: K = '@@deep';\n")],
        &[(
            "a.ts",
            "type O = { <|>deep: boolean; b: 1 };\ntype P = Pick<O, '@@deep'>;\nfunction f(p: P) { return p.@@deep; }\n",
        )],
        &[("a.ts", "type O = { <|>deep: boolean };\nfunction f(o: Partial<O>) { return o.@@deep; }\n")],
        &[(
            "a.ts",
            "type A = { kind: 'a', <|>n: number };\ntype B = { kind: 'b', @@n: string };\nfunction f(x: A | B) { return x.@@n; }\n",
        )],
        &[(
            "a.ts",
            "interface A { <|>n: number }\ninterface B { @@n: number }\nfunction f(a: A): B { return a; }\n",
        )],
        // Types are compared by their members.
        &[(
            "a.ts",
            "type A = { <|>stop: () => void };\nclass B { @@stop() {} go() {} }\nfunction f(): A { return new B(); }\n",
        )],
        &[(
            "a.ts",
            "type A = { stop: () => void };\nclass B { <|>stop() {} go() {} }\nfunction f(): { @@stop: () => void } { return new B(); }\n",
        )],
        &[(
            "a.ts",
            "type A = { <|>n: number };\ntype B = { @@n: number };\nfunction f(a: A): B { return a; }\n",
        )],
        &[(
            "a.ts",
            "type A = { <|>n: number; m?: 1 };\nfunction f(a: A) {}\nfunction g(b: { @@n: number }) { f(b); }\n",
        )],
        &[("a.ts", "type A = { <|>n: number };\nfunction f(a: A) {}\nconst o = { @@n: 1 };\nf(o);\n")],
        &[(
            "a.ts",
            "class A { <|>stop() {} }\nclass B { @@stop() {} go() {} }\nfunction f(): A { return new B(); }\n",
        )],
        &[(
            "a.ts",
            "interface A { <|>n: number }\nfunction f(a: A) {}\nf({ @@n: 1 });\nconst o = { @@n: 1 };\nf(o);\n",
        )],
        &[("a.ts", "export enum E { <|>One }\nconst o = { [E.@@One]: 1 };\ntype T = `${E.@@One}`;\n")],
        &[("a.ts", "const <|>o = { a: 1 };\ntype T = typeof @@o;\nconst k: keyof typeof @@o = 'a';\n")],
        &[("a.ts", "const o = { <|>a: 1 };\ntype T = typeof o;\nfunction f(t: T) { return t.@@a; }\n")],
        &[("a.ts", "const o = { <|>a: 1 } as const;\nconst k: keyof typeof o = '@@a';\n")],
        &[
            ("a.ts", "export const <|>x = 1;\n"),
            ("b.ts", "import * as a from './a';\nconst { @@x: y } = a;\ng(y, a['@@x']);\n"),
        ],
        &[("a.ts", "export const <|>x = 1;\n"), ("b.ts", "import('./a').then(({ @@x: y }) => g(y));\n")],
        &[("a.ts", "export const <|>x = 1;\n"), ("b.ts", "const m = await import('./a');\ng(m.@@x);\n")],
        &[
            ("a.ts", "export type <|>X = 1;\n"),
            ("b.ts", "let x: import('./a').@@X;\nlet y: typeof import('./a');\n"),
        ],
        &[
            ("a.ts", "export const <|>x = 1;\n"),
            ("index.ts", "export * as a from './a';\n"),
            ("c.ts", "import { a } from './index';\ng(a.@@x);\n"),
        ],
        &[("a.ts", "const x = 1;\nexport { <|>y };\nconst y = 2;\n".replace("const y", "const @@y").leak())],
        &[("a.ts", "const <|>x = 1;\nexport { @@x as y };\n"), ("b.ts", "import { y } from './a';\ng(y);\n")],
        &[(
            "a.tsx",
            "function C(props: { <|>size: number }) { return <b>{props.@@size}</b>; }\nconst d = <C @@size={1} />;\n",
        )],
        &[(
            "a.tsx",
            "type P = { <|>size: number };\nfunction C({ @@size: s }: P) { return <b>{s}</b>; }\nconst d = <C @@size={1} />;\n",
        )],
        &[("a.tsx", "function <|>C() { return <b/>; }\nconst d = <@@C></@@C>;\n")],
        &[(
            "a.ts",
            "abstract class A { abstract <|>m(): void }\nclass B extends A { @@m() {} }\nnew B().@@m();\n",
        )],
        &[("a.ts", "class A { <|>m(): void {} }\nconst f = A.prototype.@@m;\ntype T = A['@@m'];\n")],
        &[("a.ts", "class A { private <|>m = 1; f(o: A) { return o.@@m + this['@@m']; } }\n")],
        &[("a.ts", "function f(this: { <|>x: number }) { return this.@@x; }\n")],
        // `this` is what its parameter says, also in arrow functions.
        &[(
            "a.ts",
            "type All = A & B;\nclass A { <|>save() {} }\nclass B { run(this: All) { const go = () => this.@@save(); return [1].map(() => this.@@save()); } }\n",
        )],
        &[(
            "a.ts",
            "import { Base } from 'lib';\nclass A { <|>save() {} }\ntype All = A & Base;\nfunction mix(this: All) { return this.@@save(); }\n",
        )],
        // Types without a name are compared by their members too.
        &[(
            "a.ts",
            "interface P { build(options: { rule: string; <|>pattern: RegExp }): string }\nconst p: P = { build(options: { rule: string; @@pattern: RegExp }) { return ''; } };\n",
        )],
        &[(
            "a.ts",
            "function f(x: unknown): x is { <|>n: number } { return true; }\nfunction g(y: unknown) { if (f(y)) { return y.@@n; } }\n",
        )],
        &[("a.ts", "function f<T extends { <|>n: number }>(t: T) { return t.@@n; }\nf({ @@n: 1 });\n")],
        &[("a.ts", "const a = [{ <|>n: 1 }];\na.map((x) => x.@@n);\nfor (const { @@n: y } of a) g(y);\n")],
        &[(
            "a.ts",
            "function make() { return { <|>n: 1, m() { return this.@@n; } }; }\nmake().@@n;\nconst { @@n: z } = make();\n",
        )],
        &[
            ("a.js", "exports.<|>x = 1;\n"),
            ("b.js", "const { @@x: y } = require('./a');\nconst a = require('./a');\ng(y, a.@@x);\n"),
        ],
        &[
            ("a.js", "function <|>x() {}\nmodule.exports = { x: @@x };\n"),
            ("b.js", "const a = require('./a');\ng(a.x);\n"),
        ],
    ]);
}

#[test]
fn members_of_an_enum_that_types_outside_may_compare_are_not_sure() {
    none_sure(&[&[(
        "a.ts",
        "import { Problem } from 'lib';\nexport enum Reason { <|>Lost, Found }\nexport function all(): Problem[] { return [{ reason: Reason.Found }]; }\n",
    )]]);
    all_renamed_in(&[&[(
        "a.ts",
        "import { log } from 'lib';\nexport enum Reason { <|>Lost, Found }\ninterface Problem { reason: Reason }\nexport function one(): Problem { return { reason: Reason.@@Lost }; }\nlog(1);\n",
    )]]);
}

#[test]
fn keys_of_objects_that_a_type_asks_for_are_renamed_with_it_or_not_sure() {
    none_sure(&[
        &[("a.ts", "import { Options } from 'lib';\nconst o: Options = { <|>deep: true };\n")],
        &[("a.ts", "import { Options } from 'lib';\nconst all: Options[] = [{ <|>deep: true }];\n")],
        &[("a.ts", "import { make } from 'lib';\nmake({ <|>deep: true });\n")],
        &[("a.ts", "import { make } from 'lib';\nmake([1].map(() => ({ inner: { <|>deep: true } })));\n")],
        &[("a.js", "import { make } from 'lib';\nmake({ <|>deep: true });\n")],
    ]);
    all_renamed_in(&[
        &[(
            "a.ts",
            "interface A { @@deep?: 1 }\ntype B = A | string;\ntype List = (B | number)[];\nconst all: List = [{ <|>deep: 1 }];\n",
        )],
        &[("a.ts", "const o = { a: { <|>deep: true } };\ng(o.a.@@deep);\n")],
        &[("a.ts", "interface A { @@deep: 1 }\nfunction f(a: A) {}\nf({ <|>deep: 1 });\n")],
    ]);
}

#[test]
fn parameters_that_a_signature_takes_apart_keep_the_names_of_their_fields() {
    none_sure(&[
        &[("a.ts", "type F = ({ <|>deep }: { deep: boolean }) => void;\n")],
        &[("a.ts", "interface I { f({ <|>deep }: { deep: boolean }): void }\n")],
    ]);
    whole_or_not_sure(&[
        &[("a.ts", "type F = ({ @@deep }: { <|>deep: boolean }) => void;\n")],
        &[("a.ts", "interface O { <|>deep: boolean }\ninterface I { f({ @@deep }: O): void }\n")],
    ]);
    all_renamed_in(&[&[("a.ts", "function f({ deep: <|>deep }: { deep: boolean }) { return @@deep; }\n")]]);
}
