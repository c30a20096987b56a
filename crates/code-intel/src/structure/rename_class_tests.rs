//! Renames by the constructs of each language that hide, share or make names. Marks are those of `rename_tests`.

use super::rename_tests::{all_renamed_in, none_sure, whole_or_not_sure};

#[test]
fn bindings_of_rust_patterns_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[(
            "src/lib.rs",
            "fn f(x: O) { if let Some(x) = x { g(x) } else if let Some(<|>x) = h(x) { g(@@x) } else { g(x) } }\n",
        )],
        &[(
            "src/lib.rs",
            "fn f(<|>x: O) { if let Some(x) = @@x { g(x) } else if let Some(x) = h(@@x) { g(x) } else { g(@@x) } }\n",
        )],
        &[(
            "src/lib.rs",
            "fn f(s: V) { while let Some(<|>x) = s.pop() && @@x > 1 { if let Some(x) = g(@@x) { h(x) } h(@@x) } }\n",
        )],
        &[("src/lib.rs", "fn f(<|>x: O) { let y = match @@x { x @ 1..=2 => x, x => x + 1 }; g(@@x, y) }\n")],
        &[(
            "src/lib.rs",
            "fn f(x: O) { let y = match x { <|>x @ (1 | 2) if @@x > 1 => @@x, x => x + 1 }; g(x, y) }\n",
        )],
        &[(
            "src/lib.rs",
            "fn f(x: O) { let y = match x { [first, .., <|>x] | [<|>x] => @@x, _ => x[0] }; }\n"
                .replacen("[<|>x]", "[@@x]", 1)
                .leak(),
        )],
        &[(
            "src/lib.rs",
            "const <|>X: u8 = 1;\nfn f(y: u8) -> u8 { match y { @@X => 1, self::@@X..=9 => 2, Y => Y } }\n",
        )],
        &[("src/lib.rs", "struct P { a: u8 }\nfn f(P { a: <|>b }: P, (c, _): (u8, u8)) -> u8 { @@b + c }\n")],
        &[("src/lib.rs", "fn f(x: V) { let g = move |(<|>x, y): (u8, u8)| -> u8 { @@x + y }; g((x, 1)) }\n")],
        &[("src/lib.rs", "fn f() { let <|>x = 1; fn h(x: u8) -> u8 { x } h(@@x); }\n")],
        &[(
            "src/lib.rs",
            "fn f<const <|>N: usize>(a: [u8; @@N]) -> usize { @@N + a.len() }\nfn g<const N: usize>() -> usize { N }\n",
        )],
        &[("src/lib.rs", "fn f<'<|>a>(x: &'@@a str) -> &'@@a str { x }\n")],
        &[("src/lib.rs", "fn f() { '<|>a: loop { break '@@a; } }\n")],
        &[("src/lib.rs", "struct S<<|>T> { t: @@T }\nimpl<T> S<T> { fn f(t: T) {} }\n")],
        &[(
            "src/lib.rs",
            "struct S<T> { t: T }\nimpl<<|>T: Clone> S<@@T> where @@T: Copy { fn f(t: @@T) -> Option<@@T> { None } }\n",
        )],
        &[(
            "src/lib.rs",
            "async fn f(<|>x: u8) { let y = async move { g(@@x).await }; y.await; tokio::select! { a = h(@@x) => g(a), } }\n",
        )],
        &[("src/lib.rs", "fn f() { let <|>x; @@x = 1; let y = { let x = @@x + 1; x }; g(@@x + y) }\n")],
        &[(
            "src/lib.rs",
            "fn f(<|>x: u8) { let s = format!(\"{x:?} {x:>width$} {:1$}\", 1, @@x, width = 3); }\n"
                .replace("{x", "{@@x")
                .leak(),
        )],
        &[(
            "src/lib.rs",
            "fn f(<|>width: usize) { println!(\"{:width$.width$}\", 1); }\n"
                .replace(":width$.width$", ":@@width$.@@width$")
                .leak(),
        )],
        &[("src/lib.rs", "fn f(<|>width: usize) { println!(\"{:width$}\", 1, width = @@width); }\n")],
        &[(
            "src/lib.rs",
            "fn f(<|>x: u8) { tracing::info!(@@x, y = @@x, ?x, \"{x}\"); }\n"
                .replace("?x", "?@@x")
                .replace("{x}", "{@@x}")
                .leak(),
        )],
    ]);
}

#[test]
fn definitions_of_rust_modules_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("src/lib.rs", "mod a;\nmod b;\npub use a::*;\n"), ("src/a.rs", "pub struct <|>T { pub n: u8 }\n"), ("src/b.rs", "use super::*;\nfn f() -> @@T { @@T { n: 1 } }\nmod c { use super::*; fn g(_: @@T) {} }\n")],
        &[("src/lib.rs", "mod a;\nfn <|>t() {}\n"), ("src/a.rs", "use super::*;\nfn t() {}\nfn f() { t(); super::@@t(); crate::@@t() }\n")],
        &[("src/lib.rs", "mod a;\nfn t() {}\n"), ("src/a.rs", "use super::*;\nfn <|>t() {}\nfn f() { @@t(); super::t(); self::@@t() }\n")],
        &[("src/lib.rs", "mod a;\nmod b;\n"), ("src/a.rs", "pub fn <|>t() {}\npub mod t { pub fn x() {} }\n"), ("src/b.rs", "use crate::a::{t::{self, x}};\nfn f() { t::x(); x(); crate::a::@@t() }\n")],
        &[("src/lib.rs", "mod a;\nmod b;\n"), ("src/a.rs", "pub fn <|>t() {}\npub mod t { pub fn x() {} }\n"), ("src/b.rs", "use crate::a::t;\nfn f() { t::x(); t() }\n")],
        &[("src/lib.rs", "pub struct <|>S;\nimpl @@S { pub fn new() -> Self { @@S } }\nimpl Default for @@S { fn default() -> Self { Self::new() } }\npub const A: &[@@S] = &[@@S, crate::@@S];\n")],
        &[("src/lib.rs", "/// See [`T`].\npub struct <|>T(u8);\nfn f(x: u8) -> @@T { @@T(x) }\nfn g() { Some(1).map(@@T); let @@T(y) = f(1); }\n")],
        &[("src/lib.rs", "trait A { fn <|>m(&self); }\ntrait B { fn m(&self); }\nstruct S;\nimpl A for S { fn @@m(&self) {} }\nimpl B for S { fn m(&self) {} }\nfn f(s: S) { A::@@m(&s); <S as A>::@@m(&s); <S as B>::m(&s); B::m(&s) }\n")],
        &[("src/lib.rs", "trait A { type <|>Out; const N: u8; fn f(&self) -> Self::@@Out; }\nimpl A for u8 { type @@Out = u8; const N: u8 = 1; fn f(&self) -> Self::@@Out { 1 } }\nfn g<T: A<@@Out = u8>>(t: T) -> T::@@Out { t.f() }\nfn h<T>(t: T) -> <T as A>::@@Out where T: A { t.f() }\n")],
        &[("src/lib.rs", "trait A { const <|>N: u8; }\nimpl A for u8 { const @@N: u8 = 1; }\nfn g<T: A>() -> u8 { T::@@N + <u8 as A>::@@N + u8::@@N }\n")],
        &[("src/lib.rs", "#[derive(Debug, Clone, PartialEq)]\npub enum <|>E { A(u8), B { x: u8 } }\nuse @@E::{A, B};\nfn f(e: @@E) -> u8 { match e { A(x) => x, B { x } => x } }\n")],
        &[("src/lib.rs", "pub enum E { <|>A(u8), B { x: u8 } }\nuse E::{@@A, B};\nfn f(e: E) -> u8 { match e { @@A(x) => x, B { x } => x } }\n")],
        &[("src/lib.rs", "pub enum E { A(u8), B { <|>x: u8 } }\nfn f(e: E) -> u8 { match e { E::A(x) => x, E::B { @@x: y } => y } }\nfn g() -> E { E::B { @@x: 1 } }\n")],
        &[("src/lib.rs", "use serde::Serialize;\n#[derive(Serialize)]\nstruct S { #[serde(default = \"<|>one\")] n: u8 }\nfn one() -> u8 { 1 }\n".replace("<|>one\"", "@@one\"").replace("fn one", "fn <|>one").leak())],
        &[("src/lib.rs", "#[derive(Default)]\nstruct S { <|>n: u8, m: u8 }\nfn f() -> S { S { @@n: 1, ..Default::default() } }\nfn g(s: S) -> u8 { let S { @@n: a, .. } = s; a }\n")],
        &[("src/lib.rs", "mod a { #[derive(Clone)] pub struct <|>T; impl From<u8> for @@T { fn from(_: u8) -> @@T { @@T } } }\nfn f() { let t: a::@@T = 1.into(); let _ = t.clone(); let _: Vec<a::@@T> = vec![a::@@T]; }\n")],
        &[("src/lib.rs", "macro_rules! make { ($n:ident) => { struct $n { <|>v: u8 } impl $n { fn get(&self) -> u8 { self.v } } } }\nmake!(S);\nfn f(s: S) -> u8 { s.v }\n".replace("self.v", "self.@@v").replace("s.v", "s.@@v").leak())],
        &[("src/lib.rs", "macro_rules! call { ($f:ident, $($a:expr),*) => { $f($($a),*) } }\nfn <|>g(x: u8) {}\nfn f() { call!(@@g, 1) }\n")],
        &[("src/lib.rs", "macro_rules! get { ($s:expr, $f:ident) => { $s.$f } }\nstruct S { <|>n: u8 }\nfn f(s: S) -> u8 { get!(s, @@n) }\n")],
        &[("src/lib.rs", "thread_local! { static <|>KEY: u8 = 1; }\nfn f() { @@KEY.with(|k| *k); }\n")],
        &[("src/lib.rs", "bitflags::bitflags! { struct F: u8 { const <|>ONE = 1; const TWO = Self::ONE.bits() << 1; } }\nfn f() -> F { F::ONE }\n".replace("Self::ONE", "Self::@@ONE").replace("F::ONE", "F::@@ONE").leak())],
        &[("src/lib.rs", "mod a { pub(crate) trait Ext { fn <|>twice(&self) -> u8; } impl Ext for u8 { fn @@twice(&self) -> u8 { self * 2 } } }\nuse a::Ext as _;\nfn f() -> u8 { 1u8.@@twice() + (2).@@twice() }\n")],
        &[("src/lib.rs", "trait Ext: Iterator { fn <|>total(self) -> u8 where Self: Sized { 1 } }\nimpl<I: Iterator> Ext for I {}\nfn f(v: Vec<u8>) -> u8 { v.into_iter().@@total() + v.iter().map(|x| x).@@total() }\n")],
        &[("src/lib.rs", "struct W(S);\nstruct S { <|>n: u8 }\nimpl std::ops::Deref for W { type Target = S; fn deref(&self) -> &S { &self.0 } }\nfn f(w: W) -> u8 { w.@@n + w.0.@@n }\n")],
        &[("src/lib.rs", "struct S { <|>n: u8 }\nfn f(s: &[S]) -> u8 { s.iter().map(|s| s.@@n).max().unwrap() + s.iter().max_by_key(|s| s.@@n).unwrap().@@n }\n")],
        &[("src/lib.rs", "struct S { <|>n: u8 }\nfn f(s: std::cell::RefCell<S>, r: std::sync::Arc<std::sync::Mutex<S>>) -> u8 { s.borrow().@@n + r.lock().unwrap().@@n }\n")],
        &[("src/main.rs", "mod a;\nfn main() { a::@@run() }\n"), ("src/a/mod.rs", "mod b;\npub use b::@@run;\n"), ("src/a/b.rs", "pub fn <|>run() {}\n#[cfg(test)]\nmod tests { use super::*; #[test] fn t() { @@run() } }\n")],
        &[("src/lib.rs", "pub fn <|>run() {}\n"), ("src/main.rs", "fn main() { demo::@@run() }\n"), ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\n"), ("tests/t.rs", "use demo::@@run;\n#[test]\nfn t() { @@run() }\n")],
        &[("src/lib.rs", "union U { <|>a: u8, b: i8 }\nfn f(u: U) -> u8 { unsafe { u.@@a } }\nfn g() -> U { U { @@a: 1 } }\n")],
        &[("src/lib.rs", "extern \"C\" { fn <|>abs(x: i32) -> i32; }\nfn f() -> i32 { unsafe { @@abs(-1) } }\n")],
        &[("src/lib.rs", "#[no_mangle]\npub extern \"C\" fn <|>entry() {}\nfn f() { @@entry() }\n")],
    ]);
    none_sure(&[
        // The linker asks for the name.
        &[(
            "src/lib.rs",
            "extern \"C\" { fn <|>abs(x: i32) -> i32; }\nfn f() -> i32 { unsafe { abs(-1) } }\n",
        )],
    ]);
}

#[test]
fn names_of_go_packages_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("a.go", "package a\ntype I interface{ J; M() }\ntype J interface{ <|>N() }\ntype T struct{}\nfunc (t T) M() {}\nfunc (t T) @@N() {}\nfunc f(i I, j J) { i.@@N(); j.@@N(); var _ I = T{} }\n")],
        &[("go.mod", "module m\n"), ("i/i.go", "package i\ntype Runner interface{ <|>Run() error }\n"), ("t/t.go", "package t\ntype T struct{}\nfunc (t *T) @@Run() error { return nil }\n"), ("a.go", "package a\nimport (\n\t\"m/i\"\n\t\"m/t\"\n)\nfunc f() i.Runner { return &t.T{} }\nfunc g(r i.Runner) { r.@@Run() }\n")],
        &[("go.mod", "module m\n"), ("i/i.go", "package i\ntype Runner interface{ @@Run() error }\n"), ("t/t.go", "package t\ntype Base struct{}\nfunc (t *Base) <|>Run() error { return nil }\ntype T struct{ Base }\n"), ("a.go", "package a\nimport (\n\t\"m/i\"\n\t\"m/t\"\n)\nfunc f() i.Runner { return &t.T{} }\nfunc g(r i.Runner, x t.T) { r.@@Run(); x.@@Run() }\n")],
        &[("a.go", "package a\ntype B struct{ *C }\ntype C struct{ <|>n int }\ntype A struct{ B }\nfunc f(a *A) int { a.@@n++; return a.B.C.@@n + a.C.@@n }\nvar x = C{@@n: 1}\nvar y = []C{{@@n: 1}, {@@n: 2}}\nvar z = map[string]*C{\"a\": {@@n: 1}}\n")],
        &[("a.go", "package a\nfunc f() (<|>n int, err error) {\n\tdefer func() { @@n++ }()\n\tif n, err := g(); err != nil {\n\t\treturn n, err\n\t}\n\treturn\n}\n")],
        &[("a.go", "package a\nfunc f(x any) {\n\tif <|>x, ok := x.(int); ok {\n\t\tg(@@x)\n\t} else if x := h(@@x); x {\n\t\tg(x)\n\t} else {\n\t\tg(x)\n\t}\n\tg(x)\n}\n")],
        &[("a.go", "package a\nfunc f(x any) {\n\tswitch <|>y := x.(type) {\n\tcase nil:\n\tcase func() int:\n\t\ty := @@y()\n\t\tg(y)\n\tcase int:\n\t\tg(func() int { return @@y })\n\t}\n}\n")],
        &[("a.go", "package a\nfunc f(x int) {\n\tswitch <|>x := x + 1; @@x {\n\tcase 1:\n\t\tx := @@x\n\t\tg(x)\n\tcase 2:\n\t\tg(@@x)\n\t}\n\tg(x)\n}\n")],
        &[("a.go", "package a\nconst (\n\t<|>A = iota\n\tB\n)\nvar c = [...]int{@@A: 1, B: 2}\nfunc f(n int) { switch n {\n\tcase @@A, B:\n\t} }\n")],
        &[("a.go", "package a\ntype <|>T[K comparable, V any] struct{ k K; v V }\nfunc (t *@@T[K, V]) M() *@@T[K, V] { return t }\nfunc New[K comparable, V any]() *@@T[K, V] { return &@@T[K, V]{} }\n")],
        &[("a.go", "package a\nfunc F[<|>K comparable, V any](m map[@@K]V) []@@K {\n\tvar r []@@K\n\tfor k := range m {\n\t\tr = append(r, k)\n\t}\n\treturn r\n}\nfunc G[K any](k K) K { return k }\n")],
        &[("a.go", "package a\ntype T struct{ <|>next *T; val int }\nfunc (t *T) f() { for t := t; t != nil; t = t.@@next { g(t.@@next.@@next.val) } }\n")],
        &[("a.go", "package a\ntype T struct{ <|>m map[string][]struct{ n int } }\nfunc f(t T) int { for _, s := range t.@@m[\"a\"] { return s.n }; return len(t.@@m) }\n")],
        &[("a.go", "package a\ntype T struct{ s []struct{ <|>n int } }\nfunc f(t T) int { for _, s := range t.s { return s.@@n }; return t.s[0].@@n }\n")],
        &[("a.go", "package a\nfunc <|>f() {}\nvar fs = map[string]func(){\"f\": @@f}\ntype S struct{ f func() }\nvar s = S{f: @@f}\nfunc g() { s.f(); @@f() }\n")],
        &[("a.go", "package a\ntype S struct{ <|>f func() }\nfunc f() {}\nvar s = S{@@f: f}\nfunc g() { s.@@f(); f() }\n")],
        &[("a.go", "package a\ntype T struct{}\nfunc (T) <|>M() {}\nvar g = T.@@M\nvar h = (*T).@@M\nfunc f(t T) { x := t.@@M; x() }\n")],
        &[("a.go", "package a\ntype T = U\ntype U struct{ <|>n int }\nfunc f(t T, u *T) int { return t.@@n + u.@@n }\ntype V U\nfunc g(v V) int { return v.@@n }\nfunc h(v V) int { return U(v).@@n }\n")],
        &[("go.mod", "module m\n"), ("b/b.go", "package b\nvar <|>V = 1\nfunc f() { b := @@V; _ = b }\n"), ("b/b_test.go", "package b_test\nimport . \"m/b\"\nfunc f() { _ = @@V }\n"), ("a.go", "package a\nimport x \"m/b\"\nfunc f() int { return x.@@V }\n")],
        &[("go.mod", "module m\n"), ("b/b.go", "package b\nfunc <|>F() {}\n"), ("a.go", "package a\nimport \"m/b\"\nfunc f() { b.@@F(); { b := struct{ F func() }{}; b.F() } }\n")],
        &[("a.go", "package a\ntype E struct{ error }\ntype w struct{ <|>e *E }\nfunc f(x w) string { return x.@@e.Error() }\n")],
        &[("a.go", "package a\nimport \"encoding/json\"\ntype T struct{ <|>Name string `json:\"name\"` }\nfunc f(b []byte) string { var t T; json.Unmarshal(b, &t); return t.@@Name }\n")],
        &[("a.go", "package a\nimport \"text/template\"\ntype T struct{ <|>Name string }\nvar x = template.Must(template.New(\"\").Parse(`{{.Name}}`))\nfunc f() { x.Execute(nil, T{}) }\n".replace("{{.Name", "{{.@@Name").leak())],
        &[("a.go", "package a\nimport \"C\"\n//export <|>F\nfunc @@F() {}\n".replace("<|>F\nfunc @@F", "@@F\nfunc <|>F").leak())],
        &[("a.go", "package a\nimport _ \"unsafe\"\n//go:linkname <|>now time.now\nfunc now() int\n".replace("<|>now time", "@@now time").replace("func now", "func <|>now").leak())],
        &[("a.go", "package a\n//go:embed x.txt\nvar <|>s string\nfunc f() string { return @@s }\n")],
        &[("a.go", "package a\nfunc f() {\n\tvar <|>p *int\n\tgo func(q *int) { *q = *@@p }(@@p)\n\tfor range []int{*@@p} {\n\t}\n}\n")],
        &[("a.go", "package a\ntype A struct{ n int }\ntype B struct{ <|>n int }\nfunc f(a A) B { return B(a) }\n".replace("A struct{ n", "A struct{ @@n").leak())],
        &[("a.go", "package a\nvar m = map[rune]struct{ simple, <|>full string }{}\nfunc f(r rune) { var x struct{ simple, @@full string }; x = m[r]; g(x.@@full) }\n")],
        &[("a.go", "package a\nimport \"net/http\"\ntype <|>Transport struct{}\nfunc f() { t := &@@Transport{}; g(&http.Client{Transport: t}) }\n")],
        &[("a.go", "package a\nimport \"example.com/keys\"\nconst <|>Mode = 1\nfunc f() { g(keys.Map{Mode: 2}) }\n")],
        &[("a.go", "package a\ntype A struct{ <|>n int }\nfunc f(a A) struct{ @@n int } { return a }\n")],
        &[("a.go", "package a\ntype I interface{ <|>M() }\nfunc f(x any) { if y, ok := x.(interface{ @@M() }); ok { y.@@M() } }\ntype T struct{}\nfunc (T) @@M() {}\nvar _ I = T{}\n")],
        &[("a.go", "package a\ntype N interface{ ~int | ~float64 }\nfunc <|>Sum[T N](xs ...T) (s T) { for _, x := range xs { s += x }; return }\nvar a, b = @@Sum(1, 2), @@Sum[float64](1)\n")],
    ]);
}

#[test]
fn methods_of_an_interface_that_go_embeds_are_renamed_or_not_sure() {
    let transform = (
        "transform/t.go",
        "package transform\ntype Transformer interface {\n\t@@Transform(dst []byte) int\n}\n",
    );
    let encoding = (
        "encoding.go",
        "package encoding\nimport \"m/transform\"\ntype Encoder struct {\n\ttransform.Transformer\n\t_ struct{}\n}\nfunc Same(e *Encoder) *Encoder { return e }\n",
    );
    let decoder = (
        "utf/u.go",
        "package utf\nimport \"m/transform\"\ntype dec struct{}\nfunc (d *dec) <|>Transform(dst []byte) int { return 0 }\nvar _ transform.Transformer = &dec{}\n",
    );
    let used = |text: &'static str| ("encoding_test.go", text);
    for text in [
        "package encoding_test\nimport (\n\tencoding \"m\"\n)\nfunc f(tr *encoding.Encoder) { tr.@@Transform(nil) }\n",
        "package encoding_test\nimport (\n\tencoding \"m\"\n)\nfunc f() {\n\tcases := []struct {\n\t\tdesc string\n\t\thandler func(*encoding.Encoder) *encoding.Encoder\n\t}{\n\t\t{desc: \"a\", handler: encoding.Same},\n\t}\n\tfor i, tc := range cases {\n\t\ttr := tc.handler(nil)\n\t\tn := tr.@@Transform(nil)\n\t\tg(i, n)\n\t}\n}\n",
    ] {
        let module = ("go.mod", "module m\n");
        whole_or_not_sure(&[&[module, transform, encoding, decoder, used(text)]]);
    }
}

#[test]
fn names_of_python_constructs_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("a.py", "<|>x = 1\ndef f():\n    global @@x\n    @@x += 1\n    def g():\n        x = 2\n        return x\n    return @@x\n")],
        &[("a.py", "def f():\n    global <|>x\n    @@x = 1\ndef g():\n    return @@x\n".replace("global <|>x\n    @@x", "global @@x\n    <|>x").leak())],
        &[("a.py", "def f():\n    <|>x = 1\n    class A:\n        x = @@x\n        def m(self):\n            return @@x, self.x\n    return [@@x for _ in range(@@x)]\n")],
        &[("a.py", "class A:\n    <|>x = 1\n    y = [@@x, 2]\n    z = [x for x in @@x]\n    def m(self):\n        return x, self.@@x, A.@@x\n")],
        &[("a.py", "class A:\n    <|>size = 4\n    def m(self, n=@@size):\n        return n\n    m2 = lambda self: self.@@size\n")],
        &[("a.py", "def f(v, <|>k):\n    match v:\n        case {k.name: x}:\n            return x\n        case A.B | 'k':\n            return @@k\n".replace("{k.", "{@@k.").leak())],
        &[("a.py", "def f(v):\n    match v:\n        case A(<|>x, b=[y, *_]) if (z := @@x):\n            return @@x + y + z\n        case x:\n            return x\n".replace("case x:\n            return x", "case @@x:\n            return @@x").leak())],
        &[("a.py", "def f(rows):\n    return [cell for <|>row in rows for cell in @@row if @@row], {k: v for k, v in rows}, (row for row in rows)\n")],
        &[("a.py", "def f(<|>x):\n    return [[x for x in y] for y in @@x], lambda x: x, lambda: @@x\n")],
        &[("a.py", "def f(<|>x):\n    return f\"{@@x=} {@@x:{@@x}} {{x}} {'x'} {[x for x in @@x]}\"\n")],
        &[("a.py", "def f(<|>x):\n    return f'''{\n  @@x\n}''' f'{@@x}' 'x' rf'{@@x}'\n")],
        &[("a.py", "import functools\ndef <|>deco(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner\n@ @@deco\ndef g(): pass\nclass A:\n    @ @@deco\n    def m(self): pass\n")],
        &[("a.py", "class A:\n    @property\n    def <|>x(self): return 1\n    @ @@x.setter\n    def @@x(self, v): pass\n    @ @@x.deleter\n    def @@x(self): pass\na = A()\na.@@x = a.@@x\n")],
        &[("a.py", "from functools import singledispatch\n@singledispatch\ndef <|>show(x): ...\n@ @@show.register\ndef _(x: int): ...\n@@show(1)\n")],
        &[("a.py", "from typing import overload\n@overload\ndef <|>f(x: int) -> int: ...\n@overload\ndef @@f(x: str) -> str: ...\ndef @@f(x): return x\n@@f(1)\n")],
        &[("a.py", "from typing import overload\n@overload\ndef f(<|>x: int) -> int: ...\n@overload\ndef f(@@x: str) -> str: ...\ndef f(@@x): return @@x\nf(@@x=1)\n")],
        &[("p/__init__.py", "from .a import *\n"), ("p/a.py", "__all__ = ['@@go', 'other']\n__all__ += ['x']\ndef <|>go(): ...\n"), ("b.py", "from p import @@go\n@@go()\n")],
        &[("p/__init__.py", "from . import a\nfrom .a import @@go as run\n"), ("p/a.py", "def <|>go(): ...\n"), ("b.py", "import p.a\nfrom p import run\nimport p.a as q\np.a.@@go()\nq.@@go()\np.run()\nrun()\n")],
        &[("p/__init__.py", "def __getattr__(n):\n    from .a import @@go\n    return @@go\n"), ("p/a.py", "def <|>go(): ...\n")],
        &[("a.py", "class A:\n    def <|>go(self): ...\n    def f(self, other):\n        other.@@go()\n        self.@@go()\n        type(self).@@go(self)\n        A.@@go(self)\n        super().go()\n")],
        &[("a.py", "class A:\n    def <|>go(self): ...\ndef f(xs: list[A], d: dict[str, A], o: 'A | None'):\n    for x in xs: x.@@go()\n    for k, v in d.items(): v.@@go()\n    [x.@@go() for x in xs]\n    o and o.@@go()\n    xs[0].@@go()\n    with o as p: p.@@go()\n")],
        &[("a.py", "class A:\n    def __init__(self, <|>n=1):\n        self.n = @@n\n    @classmethod\n    def make(cls):\n        return cls(@@n=1)\n    def copy(self):\n        return type(self)(@@n=2), self.__class__(@@n=3)\nclass B(A):\n    def __init__(self, **k):\n        super().__init__(@@n=1, **k)\n")],
        &[("a.py", "def f(*, <|>key, **rest):\n    return @@key\ndef g(**kw):\n    return f(**kw)\ng(@@key=1)\n")],
        &[("a.py", "def f(*, <|>key):\n    return @@key\nf(**{'@@key': 1})\n")],
        &[("a.py", "def f(*, <|>key):\n    return @@key\nf(**dict(@@key=1))\n")],
        &[("a.py", "def deco(f): return f\n@deco\ndef f(<|>key):\n    return @@key\nf(@@key=1)\n")],
        &[("a.py", "class A:\n    def __call__(self, <|>key): return @@key\na = A()\na(@@key=1)\n")],
        &[("a.py", "import threading\ndef work(<|>n): return @@n\nthreading.Thread(target=work, kwargs={'@@n': 1})\nthreading.Thread(target=work, kwargs=dict(@@n=1))\n")],
        &[("a.py", "from dataclasses import dataclass, replace, field\n@dataclass\nclass A:\n    <|>n: int = field(default=1)\n@dataclass\nclass B(A):\n    m: int = 2\nb = B(@@n=1, m=2)\nreplace(b, @@n=3)\nb.@@n\n")],
        &[("a.py", "def <|>f(): ...\nclass A:\n    f = @@f\n    def g(self):\n        return f(), self.f()\n".replace("return f()", "return @@f()").leak())],
        &[("a.py", "class A:\n    def f(self):\n        for self.<|>x in range(3):\n            pass\n        del self.@@x\n        self.@@x: int = 1\n        (self.@@x, y) = 1, 2\n")],
        &[("a.py", "def f():\n    import os.path as <|>p\n    return @@p.join('a')\n")],
        &[("a.py", "import os\nclass A:\n    def <|>path(self): return os.path\n    def g(self): return os.path.join(self.@@path(), 'x')\n")],
        &[("a.py", "def f(a):\n    try:\n        x = 1\n    except* ValueError as <|>e:\n        print(@@e, f'{@@e}')\n    except* TypeError as e:\n        raise e\n".replace("as e:\n        raise e", "as @@e:\n        raise @@e").leak())],
        &[("a.py", "type <|>X[T] = list[T]\ndef f[T](x: @@X[T]) -> T: ...\n")],
        &[("a.py", "def f[<|>T](x: @@T) -> @@T: ...\nclass A[T]:\n    x: T\n")],
        &[("a.py", "class <|>A:\n    def m(self) -> 'A':\n        return A()\n    @classmethod\n    def k(cls: 'type[A]'): ...\nx: \"dict[str, A]\" = {}\n".replace("'A'", "'@@A'").replace("return A", "return @@A").replace("[A]", "[@@A]").replace(", A]", ", @@A]").leak())],
        &[("a.py", "from typing import Dict\nAlias = Dict[\"@@Layout\", int]\nclass <|>Layout: ...\nTABLE = {}\nname = TABLE[\"Layout\"]\n")],
        &[("a.py", "from typing import Protocol\nclass P(Protocol):\n    def go(self, @@options): ...\nclass A:\n    def go(self, <|>options): return @@options\ndef f(p: P): ...\nf(A())\n")],
        &[("a.py", "from typing import cast\nclass <|>A: ...\ny = cast('@@A', 1)\nz = cast(\"list[@@A]\", 1)\n")],
        &[("a.py", "import unittest.mock as m\ndef <|>go(): ...\n@m.patch('a.go')\ndef test(x): ...\n".replace("'a.go'", "'a.@@go'").leak())],
        &[("a.py", "def <|>go(): ...\n"), ("test_a.py", "import a\ndef test(monkeypatch):\n    monkeypatch.setattr(a, 'go', 1)\n    monkeypatch.setattr('a.go', 1)\n".replace("'go'", "'@@go'").replace("'a.go'", "'a.@@go'").leak())],
        &[("setup.py", "setup(entry_points={'x': ['run = a:@@go']})\n"), ("a.py", "def <|>go(): ...\n")],
        &[("pyproject.toml", "[project.scripts]\nrun = \"a:@@go\"\n"), ("a.py", "def <|>go(): ...\n")],
        &[("a.py", "from contextlib import contextmanager\n@contextmanager\ndef f(<|>n):\n    yield @@n\nwith f(@@n=1) as x:\n    pass\n")],
        &[("a.py", "def f(x):\n    del x\n    for <|>x, y in g():\n        print(@@x)\n".replace("f(x)", "f(@@x)").replace("del x", "del @@x").leak())],
        &[("a.py", "print((<|>n := 10), @@n)\nclass A:\n    n: int = @@n\n    b = n\n")],
    ]);
}

#[test]
fn names_of_script_constructs_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("a.ts", "class A { private _v = 1; get <|>v() { return this._v; } set @@v(x) { this._v = x; } static make() { const a = new A(); a.@@v += 1; a.@@v++; return { ...a, w: a.@@v }; } }\n")],
        &[("a.ts", "const o = { get <|>v() { return 1; }, set @@v(x) {}, m() { return this.@@v; } };\no.@@v = 2;\n")],
        &[("a.ts", "function f({ a: <|>b = 1, c = @@b, ...d }: any) { return @@b + c + d; }\n")],
        &[("a.ts", "function f(<|>a: number, { b = @@a, c: { d = @@a } = {} as any } = {} as any, [e = @@a] = [] as any) { return b + d + e; }\n")],
        &[("a.ts", "interface O { <|>a?: number; b: number }\nfunction f({ @@a: x = 1, b }: O) { return x + b; }\nf({ @@a: 1, b: 2 });\n")],
        &[("a.ts", "let <|>x = 1, y = 2;\n[@@x, y] = [y, @@x];\n({ a: @@x, b: y = @@x } = g());\n")],
        &[("a.ts", "const <|>k = 'a';\nconst o = { [@@k]: 1, k: 2 };\nconst { [@@k]: v, k: w } = o;\n")],
        &[("a.ts", "for (const [<|>k, v] of Object.entries(o)) { const f = (k: string) => k; g(@@k, v, f(@@k)); }\n")],
        &[("a.ts", "function <|>f() { return f2; function f2() { return @@f; } }\nconst g = function f() { return f; };\n")],
        &[("a.ts", "var <|>x = 1;\nfunction g() { x = 2; if (x) { var x = 3; } return x; }\n@@x;\n")],
        &[("a.ts", "function f() { <|>g(); function g() {} }\nfunction g() {}\n".replace("<|>g(); function g", "@@g(); function <|>g").leak())],
        &[("a.ts", "export default function <|>f() {}\n@@f();\n"), ("b.ts", "import @@f, { default as g } from './a';\n@@f(); g();\n")],
        &[("a.ts", "class <|>A {}\nexport default @@A;\nexport { @@A as B };\n"), ("b.ts", "import @@A, { B } from './a';\nnew @@A(); new B();\n")],
        &[("a.ts", "export class <|>A {}\n"), ("i.ts", "export { @@A } from './a';\nexport type { @@A as T } from './a';\nexport * as ns from './a';\n"), ("c.ts", "import { @@A, T, ns } from './i';\nlet x: ns.@@A = new @@A();\nlet y: T;\n")],
        &[("a.ts", "export const <|>a = 1;\n"), ("b.ts", "import { @@a } from './a';\nexport { @@a };\nexport const o = { a: @@a };\n"), ("c.ts", "import { @@a } from './b';\n@@a;\n")],
        &[("a.ts", "export interface <|>P { n: number }\n"), ("b.ts", "import type { @@P } from './a';\nimport { type @@P as Q } from './a';\ndeclare module './a' { interface @@P { m: number } }\nlet p: @@P & Q;\n")],
        &[("a.ts", "interface A { n: number }\nclass A { m = 1; <|>k() {} }\nnew A().@@k();\n")],
        &[("a.ts", "namespace <|>N { export const a = 1; export namespace M { export type T = 1; } }\nnamespace @@N { export const b = a; }\nlet x: @@N.M.T = @@N.a;\nimport M = @@N.M;\n")],
        &[("a.ts", "namespace N { export const <|>a = 1; }\nnamespace N { export const b = @@a; }\nN.@@a;\n")],
        &[("a.ts", "enum E { <|>A = 1, B = @@A << 1, C = E.@@A }\nenum E { D = 9 }\ntype X = E.@@A;\nE['@@A'];\n")],
        &[("a.ts", "declare const enum E { <|>A }\nswitch (x) { case E.@@A: break; }\n")],
        &[("a.tsx", "type P = { <|>label: string; on?: () => void };\nconst C: React.FC<P> = ({ @@label: l, ...rest }) => <b {...rest}>{l}</b>;\nconst x = <C @@label=\"a\" on={() => {}} />;\n")],
        &[("a.tsx", "type P = { <|>label: string };\nclass C extends React.Component<P> { render() { return <b>{this.props.@@label}</b>; } }\nconst x = <C @@label=\"a\" />;\n")],
        &[("a.tsx", "const <|>x = 1;\nconst y = <A x={@@x} {...{ x: @@x }}>x {@@x}</A>;\n")],
        &[("a.tsx", "export const <|>Item = () => <b/>;\nexport const Menu = { Item: @@Item };\nconst a = <Menu.Item/>, b = <@@Item/>;\n")],
        &[("a.tsx", "const o = { <|>Item: () => <b/> };\nconst a = <o.@@Item></o.@@Item>;\n")],
        &[("a.jsx", "export function <|>Page({ title }) { return <h1>{title}</h1>; }\n"), ("b.jsx", "import { @@Page } from './a';\nexport default () => <@@Page title=\"x\" />;\n")],
        &[("a.ts", "class A { #<|>x = 1; f(o: A) { return o.@@x + (@@x in o ? this.@@x : 0); } }\n".replace("#<|>x", "<|>#x").replace("@@x", "@@#x").leak())],
        &[("a.ts", "class A { static <|>n = 1; static { A.@@n = 2; this.@@n = 3; } m() { return (this.constructor as typeof A).@@n; } }\n")],
        &[("a.ts", "class A<<|>T extends object = {}> { x!: @@T; m<U extends keyof @@T>(u: U): @@T[U] { return this.x[u]; } }\n")],
        &[("a.ts", "type <|>T<U> = U extends (infer V)[] ? @@T<V> : U;\n")],
        &[("a.ts", "type T<U> = U extends (infer <|>V)[] ? @@V : never;\ntype S<V> = V;\n")],
        &[("a.ts", "type M<O> = { [<|>K in keyof O as `get${@@K & string}`]: O[@@K] };\n")],
        &[("a.ts", "function isS(<|>x: unknown): @@x is string { return typeof @@x === 'string'; }\nfunction a(x: unknown): asserts x is string {}\n")],
        &[("a.ts", "function f(<|>x: number): typeof @@x { return @@x; }\n")],
        &[("a.ts", "interface A { <|>n: number }\ntype B = A['@@n'];\ntype C = Omit<A, '@@n'>;\ntype D = Record<'n', 1>;\n")],
        &[("a.ts", "interface A { <|>n: number }\nconst key: keyof A = '@@n';\nfunction f(a: A, k: 'n') { return a[k]; }\n")],
        &[("a.ts", "interface A { kind: 'a'; <|>n: number }\ninterface B { kind: 'b' }\nfunction f(x: A | B) { if (x.kind === 'a') { return x.@@n; } return 'n' in x; }\n".replace("'n' in", "'@@n' in").leak())],
        &[("a.ts", "const a = { <|>n: 1 };\nconst b = { ...a, m: 2 };\nb.@@n;\nconst { @@n: c } = b;\n")],
        &[("a.ts", "function f() { const <|>n = 1; return { n: @@n }; }\nf().n;\n")],
        &[("a.ts", "function f() { return { <|>n: 1 }; }\nconst { @@n: x } = f();\nconst y = f().@@n;\ntype R = ReturnType<typeof f>;\nfunction g(r: R) { return r.@@n; }\n")],
        &[("a.ts", "class A { constructor(readonly <|>n: number, m = @@n) {} }\nconst a = new A(1);\na.@@n;\nconst { @@n: z } = a;\n")],
        &[("a.ts", "class A { m = () => this.<|>n; @@n = 1; }\n".replace("<|>n; @@n", "@@n; <|>n").leak())],
        &[("a.ts", "abstract class A { protected abstract <|>go(): void; run() { this.@@go(); } }\nclass B extends A { protected override @@go() { super.run(); } }\nclass C extends B { protected @@go() { super.@@go(); } }\n")],
        &[("a.ts", "interface I { <|>go(): void }\nconst o: I = { @@go() {} };\nconst p: I = { @@go: () => {} };\nclass A implements I { @@go = () => {}; }\nfunction f(x: Pick<I, '@@go'>) { x.@@go(); }\n")],
        &[("a.ts", "const <|>go = () => {};\nconst o = { go: @@go, other() { return @@go(); } };\no.go();\n")],
        &[("a.ts", "<|>outer: for (;;) { for (;;) { continue @@outer; } break @@outer; }\n")],
        &[("a.ts", "import { x as <|>y } from 'lib';\ng(@@y);\nexport { @@y as z };\n")],
        &[("a.ts", "import * as <|>ns from './b';\n@@ns.x;\nlet t: @@ns.T;\n"), ("b.ts", "export const x = 1;\nexport type T = 1;\n")],
        &[("a.ts", "import <|>d from './b';\n@@d();\n"), ("b.ts", "export default function () {}\n")],
        &[("a.js", "class A { <|>go() {} }\nmodule.exports = A;\n"), ("b.js", "const A = require('./a');\nnew A().@@go();\nclass B extends A { @@go() { super.@@go(); } }\n")],
        &[("a.js", "module.exports = { <|>go() {}, stop: () => {} };\n"), ("b.js", "const { @@go: g } = require('./a');\nrequire('./a').@@go();\n")],
        &[("a.js", "module.exports.<|>go = function () {};\nmodule.exports.@@go();\n"), ("b.js", "const a = require('./a');\na.@@go();\n")],
        &[("a.js", "function A() { this.<|>n = 1; }\nA.prototype.m = function () { return this.@@n; };\nnew A().@@n;\n")],
        &[("a.js", "function A() {}\nA.prototype.<|>m = function () {};\nA.prototype.k = function () { this.@@m(); };\nnew A().@@m();\n")],
        &[("a.js", "/** @typedef {{ n: number }} <|>T */\n/** @type {T} */\nlet x;\n".replace("{T}", "{@@T}").leak())],
    ]);
    none_sure(&[
        // The object of the variable has what the type asks for.
        &[(
            "a.ts",
            "interface I { a: number; <|>go: () => void }\nfunction f(i: I) {}\nfunction g(input: any) { const go = () => {}; const all = { ...(input as any), go };\nf(all); }\n",
        )],
        &[(
            "a.ts",
            "interface I { a: number; <|>go: () => void }\nfunction f(i: I) {}\nfunction g(a: number) { const go = () => {}; const all = { a, go };\nf(all); }\n",
        )],
    ]);
}

#[test]
fn names_of_cpp_constructs_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        &[("a.cc", "struct T { int <|>n; T(int n) : @@n(n) {} int get() const { return this->@@n + @@n; } };\nint f(T* t, T& u) { return t->@@n + u.@@n; }\n")],
        &[("a.cc", "struct T { int n; T(int <|>n) : n(@@n) {} };\n")],
        &[("a.cc", "struct A { virtual void <|>go() = 0; };\nstruct B : A { void @@go() override {} };\nvoid f(A& a, B b) { a.@@go(); b.@@go(); b.A::@@go(); }\n")],
        &[("a.h", "class T { public: void <|>go(int x); static int count; };\n"), ("a.cc", "#include \"a.h\"\nint T::count = 0;\nvoid T::@@go(int y) { @@go(y - 1); this->@@go(1); }\n"), ("b.cc", "#include \"a.h\"\nvoid f(T& t) { t.@@go(1); auto p = &T::@@go; }\n")],
        &[("a.cc", "namespace a { namespace b { int <|>f(); } int g() { return b::@@f(); } }\nusing a::b::@@f;\nint h() { return @@f() + ::a::b::@@f(); }\n")],
        &[("a.cc", "enum class E { <|>A, B };\nint f(E e) { switch (e) { case E::@@A: return 1; default: return 0; } }\n")],
        &[("a.cc", "template <typename <|>T> struct S { @@T v; S(@@T x) : v(x) {} };\ntemplate <typename T> T id(T t) { return t; }\n")],
        &[("a.cc", "#define CALL(o, m) (o).m()\nstruct T { int <|>go() { return 1; } };\nint f(T t) { return CALL(t, @@go); }\n")],
        &[("a.cc", "#define WRAP(x) x\nint <|>go();\nint f() { return WRAP(@@go()) + WRAP(@@go)(); }\n")],
        &[("a.cc", "struct T { T(int a, int b); };\nvoid f(int a) { int <|>b = 1; T v(a, @@b); T w{a, @@b}; auto l = [@@b, &a](int c) { return @@b + c; }; T(a, @@b); }\n")],
        &[("a.cc", "void <|>f(int);\nvoid f(double);\nvoid g() { f(1); f(2.0); }\n".replace("f(1)", "@@f(1)").leak())],
        &[("a.cc", "struct <|>T { ~T(); T(const T&) = default; T& operator=(const T&); };\nT::~T() {}\nT& T::operator=(const T&) { return *this; }\n".replace("~T()", "~@@T()").replace("T(const T&) =", "@@T(const @@T&) =").replace("T& operator=(const T&)", "@@T& operator=(const @@T&)").replace("\nT::", "\n@@T::").replace("\nT& T::operator=(const T&)", "\n@@T& @@T::operator=(const @@T&)").leak())],
        &[("a.c", "struct s { int <|>n; };\nint f(struct s *p) { struct s q = { .@@n = 1 }; return p->@@n + q.@@n; }\n")],
        &[("a.h", "int <|>f(int x);\n"), ("a.c", "#include \"a.h\"\nint @@f(int y) { return y; }\nstatic int (*p)(int) = @@f;\n"), ("b.c", "#include \"a.h\"\nint g(void) { return @@f(1) + (&@@f)(2); }\n")],
        &[("a.c", "static int <|>f(void) { return 1; }\nint g(void) { return @@f(); }\n"), ("b.c", "static int f(void) { return 2; }\nint h(void) { return f(); }\n")],
        &[("a.c", "typedef struct <|>node { struct @@node *next; } node_t;\nstruct @@node *g(node_t *n) { return n->next; }\n")],
        &[("a.c", "#ifdef A\nint <|>f(void) { return 1; }\n#else\nint @@f(void) { return 2; }\n#endif\nint g(void) { return @@f(); }\n")],
    ]);
}

#[test]
fn members_of_what_functions_of_go_give_are_renamed() {
    let item = "package m\ntype item struct {\n\t<|>val string\n}\ntype P struct{}\n";
    let rows = [
        ("(token item)", "token := p.next(); g(token.@@val)"),
        ("(a, b item)", "t, _ := p.next(); g(t.@@val)"),
        ("(a *item)", "t := p.next(); g(t.@@val)"),
        ("(a []item)", "t := p.next()[0]; g(t.@@val)"),
        ("(a map[string]*item)", "for _, t := range p.next() { g(t.@@val) }"),
        ("(a item, err error)", "t, _ := p.next(); g(t.@@val)"),
        ("(p *P)", "t := new(P).next().make(); g(t.@@val)"),
    ];
    for (result, body) in rows {
        let text = format!(
            "{item}func (p *P) make() (made item) {{ panic(1) }}\nfunc (p *P) next() {result} {{ panic(1) }}\nfunc f(p *P) {{ {body} }}\n"
        );
        all_renamed_in(&[&[("a.go", &text)]]);
    }
    // No library has a member that begins in lower case.
    none_sure(&[&[(
        "a.go",
        "package a\nimport \"example.com/b\"\ntype T struct {\n\t<|>val string\n}\nfunc f() { g(b.Made().Other().val) }\n",
    )]]);
}

#[test]
fn members_that_rust_reaches_through_other_types_are_renamed_or_not_sure() {
    whole_or_not_sure(&[
        // A trait of the workspace gives library types a method that they may have themselves.
        &[(
            "src/lib.rs",
            "trait Builder { fn <|>clear(&mut self); }\nimpl<'s> Builder for &'s str { fn @@clear(&mut self) {} }\nimpl<'s> Builder for Cow<'s, str> {\n    fn @@clear(&mut self) {\n        match self { Cow::Borrowed(s) => { s.@@clear(); } Cow::Owned(s) => s.clear() }\n    }\n}\n",
        )],
        // An impl stands on another name of the type.
        &[(
            "src/lib.rs",
            "struct Table<T>(T);\ntype Owned = Table<Vec<u32>>;\nimpl Owned { fn <|>initial() -> Owned { Table(Vec::new()) } }\nfn f() { let t = Table::@@initial(); }\n",
        )],
        // Two modules of a name, one of them at a time.
        &[(
            "src/lib.rs",
            "#[cfg(a)]\nmod inner { pub struct Guard; impl Guard { pub fn <|>put(g: Guard) {} } }\n#[cfg(not(a))]\nmod inner { pub struct Guard; impl Guard { pub fn @@put(g: Guard) {} } }\npub struct Guard(inner::Guard);\nimpl Guard { pub fn put(this: Guard) { inner::Guard::@@put(this.0); } }\n",
        )],
        &[(
            "src/lib.rs",
            "#[cfg(a)]\nmod inner { pub struct Guard; impl Guard { pub fn @@put(g: Guard) {} } }\n#[cfg(not(a))]\nmod inner { pub struct Guard; impl Guard { pub fn <|>put(g: Guard) {} } }\npub struct Guard(inner::Guard);\nimpl Guard { pub fn put(this: Guard) { inner::Guard::@@put(this.0); } }\n",
        )],
    ]);
}

#[test]
fn variables_that_take_a_field_of_their_own_name_keep_it() {
    all_renamed_in(&[
        &[(
            "a.ts",
            "interface C { count?: number; <|>reset?: boolean }\nfunction f(config: C) {\n  const { count = 1, @@reset: reset = false } = config;\n  if (reset) g(count);\n}\n",
        )],
        &[(
            "a.ts",
            "interface C { count?: number; <|>reset?: boolean }\nfunction f(config: C) {\n  const { @@reset: reset } = config;\n  if (reset) g();\n}\n",
        )],
        &[(
            "a.ts",
            "interface C { reset?: boolean }\nfunction f(config: C) {\n  const { reset: <|>reset = false } = config;\n  if (@@reset) g();\n}\n",
        )],
    ]);
    whole_or_not_sure(&[&[(
        "a.ts",
        "interface C { <|>reset?: boolean }\nfunction f({ @@reset: reset = false }: C) {\n  if (reset) g();\n}\n",
    )]]);
}

#[test]
fn parameters_of_python_that_other_names_and_dictionaries_ask_for_are_not_sure() {
    none_sure(&[
        &[(
            "a.py",
            "class A:\n    def tag(self, value):\n        return value\n    def to_json(self, value):\n        return value\nclass B(A):\n    def to_json(self, <|>value):\n        return value\n    tag = to_json\n",
        )],
        &[(
            "a.py",
            "from typing import TypedDict, Unpack\nclass Options(TypedDict, total=False):\n    depth: int\nclass A:\n    def __init__(self, *, <|>depth: int = 1):\n        self.d = depth\nclass B(A):\n    def __init__(self, **options: Unpack[Options]):\n        super().__init__(**options)\n",
        )],
    ]);
    all_renamed_in(&[&[(
        "a.py",
        "class A:\n    def show(self, value):\n        return value\n    def other(self, <|>value):\n        return @@value\n    tag = show\n",
    )]]);
}

#[test]
fn names_that_stubs_keys_and_lent_members_ask_for_are_renamed_or_not_sure() {
    none_sure(&[
        &[("a.py", "<|>NO_OP = 1\n"), ("a.pyi", "NO_OP: int\n"), ("b.py", "import a\nprint(a.NO_OP)\n")],
        &[
            ("a.ts", "export interface Z { _z: { <|>isst: number } }\n"),
            ("b.ts", "import { Z } from './a';\nexport type P<T extends Z> = T[\"_z\"][\"isst\"];\n"),
        ],
    ]);
    whole_or_not_sure(&[&[(
        "src/lib.rs",
        "use std::ops::{Deref, DerefMut};\nstruct Parser<'a> { out: u8, reader: Reader<'a> }\nstruct Reader<'a> { b: &'a [u8] }\nimpl<'a> Deref for Parser<'a> { type Target = Reader<'a>; fn deref(&self) -> &Self::Target { &self.reader } }\nimpl DerefMut for Parser<'_> { fn deref_mut(&mut self) -> &mut Self::Target { &mut self.reader } }\nimpl<'a> Reader<'a> { fn <|>read_str(&mut self, s: &str) -> bool { true } }\nimpl Parser<'_> { fn f(&mut self) -> bool { return if self.@@read_str(\"/\") { true } else { false } } }\n",
    )]]);
}
