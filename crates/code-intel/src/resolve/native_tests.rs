//! Questions about C++, Rust and Java.

use super::*;

#[test]
fn cpp_members_are_found_through_bases_pointers_and_other_names() {
    let header = (
        "a.h",
        "#pragma once\n#include <memory>\nnamespace n {\nclass API Base {\n public:\n  virtual ~Base() = default;\n  virtual int run(int a);\n  int id() const;\n};\nclass Late;\nclass Derived final : public Base {\n public:\n  Derived();\n  int run(int a) override;\n  Late* late_ GUARDED_BY(mu_);\n  int mu_;\n};\nusing Shared = std::shared_ptr<Derived>;\ntypedef Derived Other;\nstd::unique_ptr<Base> make();\n}\n",
    );
    let source = (
        "a.cc",
        "#include \"a.h\"\nnamespace n {\nclass Late { public: void go(); };\nint Base::run(int a) { return a; }\nint Base::id() const { return 1; }\nint Derived::run(int a) { return a; }\nDerived::Derived() {}\nstd::unique_ptr<Base> make() { return nullptr; }\n}\n",
    );
    for (text, expected) in [
        ("int f(n::Derived* d) { return d-><|>id(); }\n", "a.cc:5"),
        ("int f(n::Derived& d) { return d.<|>run(1); }\n", "a.cc:6"),
        ("int f() { return n::make()-><|>run(1); }\n", "a.cc:4"),
        ("int f(n::Shared s) { return s-><|>run(1); }\n", "a.cc:6"),
        ("int f(std::shared_ptr<n::Derived> s) { return s-><|>id(); }\n", "a.cc:5"),
        ("int f(n::Other o) { return o.<|>mu_; }\n", "a.h:16"),
        ("int f(n::Derived* d) { d->late_-><|>go(); }\n", "a.cc:3"),
        ("using namespace n;\nint f() { auto d = new Derived(); return d-><|>id(); }\n", "a.cc:5"),
        (
            "using namespace n;\nint f() { auto d = std::make_unique<Derived>(); return d-><|>id(); }\n",
            "a.cc:5",
        ),
        ("using namespace n;\nint f() { Derived d; return d.<|>id(); }\n", "a.cc:5"),
        (
            "using namespace n;\nint f(std::vector<Derived*> all) { for (auto* d : all) d-><|>id(); }\n",
            "a.cc:5",
        ),
        ("using namespace n;\nint f(Base* b) { return static_cast<Derived*>(b)-><|>mu_; }\n", "a.h:16"),
        ("struct More : n::Derived { int f() { return <|>id(); } };\n", "a.cc:5"),
        ("struct More : n::Derived { int f() { return this-><|>mu_; } };\n", "a.h:16"),
        ("struct More : n::Derived { int f() { return n::Base::<|>run(1); } };\n", "a.cc:4"),
        ("TEST_F(n::Derived, Case) { <|>id(); }\n", "a.cc:5"),
        ("int f(std::string s) { return s.<|>run(); }\n", "external"),
    ] {
        let text = format!("#include \"a.h\"\n{text}");
        check(&[header, source, ("b.cc", &text)], &[expected]);
    }
}

/// The lines `file:line` where the marked definition is used, and the functions that call it.
pub(crate) fn uses(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
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
    let target = meaning.found().first().unwrap();
    let used = resolver.references(target);
    let used =
        used.iter().map(|one| format!("{}:{}", index.path(one.file), one.occurrence.at.line)).collect();
    let callers = resolver.callers(target).into_iter().map(|call| call.function.definition.name).collect();
    (used, callers)
}

#[test]
fn an_overriding_method_is_used_where_the_overridden_one_is() {
    let (used, callers) = uses(&[(
        "a.cc",
        "struct Base {\n  virtual int go() = 0;\n  virtual int stay() = 0;\n};\nstruct One : Base {\n  int <|>go() override { return 1; }\n  int stay() override { return 1; }\n};\nstruct Two : Base {\n  int go() override { return 2; }\n};\nint all(Base* b) { return b->go(); }\nint two(Two* t) { return t->go(); }\nint one(One* o) { return o->go() + o->stay(); }\n",
    )]);
    assert_eq!(used, ["a.cc:2", "a.cc:12", "a.cc:14"]);
    assert_eq!(callers, ["all", "one"]);
    // What makes a class belongs to the class.
    let (used, _) = uses(&[(
        "a.cc",
        "class <|>A {\n public:\n  A() {}\n  explicit A(int);\n  ~A();\n};\nA::A(int) {}\nA* make() { return new A(1); }\n",
    )]);
    assert_eq!(used, ["a.cc:3", "a.cc:4", "a.cc:5", "a.cc:7", "a.cc:7", "a.cc:8", "a.cc:8"]);
}

const RUST_UTIL: (&str, &str) = (
    "src/util.rs",
    "use std::collections::HashMap;\npub struct Table<K, V> { items: HashMap<K, V>, first: Option<V> }\nimpl<K, V> Table<K, V> {\n    pub fn get(&self, k: &K) -> Option<&V> { None }\n    pub fn entry(&mut self, k: K) -> Slot<'_, K, V> { todo!() }\n    pub fn values(&self) -> impl Iterator<Item = &V> { self.items.values() }\n}\npub struct Slot<'a, K, V> { k: &'a K, v: &'a V }\nimpl<'a, K, V> Slot<'a, K, V> { pub fn or_put(self, v: V) -> &'a mut V { todo!() } }\npub struct Walk { at: usize }\nimpl Iterator for Walk {\n    type Item = crate::shape::Shape;\n    fn next(&mut self) -> Option<Self::Item> { None }\n}\n",
);
const RUST_SHAPE: (&str, &str) = (
    "src/shape.rs",
    "pub trait Draw {\n    type Out;\n    fn draw(&self) -> Self::Out;\n    fn twice(&self) { self.draw(); }\n}\npub trait Named: Draw { fn label(&self) -> String; }\n#[derive(Default, Clone)]\npub struct Shape { pub side: u32, pub kids: Vec<Shape>, pub link: Option<Box<Shape>> }\nimpl Shape {\n    pub const MAX: u32 = 4;\n    pub fn new() -> Self { Self { side: 1, kids: vec![], link: None } }\n    pub fn area(&self) -> u32 { self.side * Self::MAX }\n    pub fn all(&self) -> Result<Vec<Shape>, Error> { Ok(vec![]) }\n}\nimpl Draw for Shape {\n    type Out = u32;\n    fn draw(&self) -> Self::Out { 1 }\n}\npub enum Error {\n    Io(Detail),\n    Other { detail: Detail },\n}\npub struct Detail { pub code: i32 }\nimpl Detail {\n    pub fn show(&self) {}\n}\npub mod inner {\n    pub struct Deep;\n    impl Deep {\n        pub fn go(&self) {}\n    }\n    pub fn help() {}\n}\npub fn outer() {}\nimpl From<u32> for Shape {\n    fn from(d: u32) -> Self { Shape::new() }\n}\nimpl From<Detail> for Shape {\n    fn from(d: Detail) -> Self { Shape::new() }\n}\nimpl Draw for str {\n    type Out = u8;\n    fn draw(&self) -> Self::Out { 1 }\n}\n",
);

#[test]
fn rust_values_are_known_through_generics_iterators_and_patterns() {
    let lib = (
        "src/lib.rs",
        "pub mod shape;\nmod util;\nmod app;\npub use self::shape::{Shape, inner::Deep as Deeper};\npub mod prelude { pub use crate::shape::*; }\n",
    );
    let head = "use crate::prelude::*;\nuse crate::shape::{self, inner::{self, help}, Error};\nuse crate::util::{Table, Walk};\nuse crate::Deeper;\n";
    let area = "src/shape.rs:12";
    for (text, expected) in [
        ("fn f(t: &Table<u8, Shape>) { t.get(&k).unwrap().<|>area(); }", area),
        ("fn f(t: &Table<u8, Shape>) { if let Some(s) = t.get(&k) { s.<|>area(); } }", area),
        ("fn f(t: &mut Table<u8, Shape>) { t.entry(k).or_put(Shape::new()).<|>area(); }", area),
        ("fn f(t: &Table<u8, Shape>) { for s in t.values() { s.<|>area(); } }", area),
        ("fn f(t: &Table<u8, Shape>) { t.values().map(|s| s.<|>area()).sum(); }", area),
        ("fn f(t: &Table<u8, Shape>) { for (i, s) in t.values().enumerate() { s.<|>area(); } }", area),
        ("fn f(w: Walk) { for s in w { s.<|>area(); } }", area),
        ("fn f() { let s = Shape::default(); s.<|>area(); }", area),
        ("fn f(s: Shape) { s.all()?.into_iter().filter(|s| s.<|>area() > 1); }", area),
        ("fn f(s: Shape) { s.kids.iter().find(|k| true).map(|k| k.<|>area()); }", area),
        ("fn f(s: Shape) { s.link.as_ref().unwrap().<|>area(); }", area),
        ("fn f(s: Shape) { s.kids.first().map(|first| first.<|>area()); }", area),
        ("fn f(v: &[Shape]) { v.iter().rev().next().unwrap().<|>area(); }", area),
        ("fn f(p: (u8, Shape)) { let (a, b) = p; b.<|>area(); }", area),
        ("struct Own(u8, Shape);\nfn f(o: Own) { o.1.<|>area(); }", area),
        ("fn f(s: Shape) { match s.all() { Ok(v) => v[0].<|>area(), _ => 0 }; }", area),
        ("fn f(e: Error) { if let Error::Io(d) = e { d.<|>show(); } }", "src/shape.rs:25"),
        (
            "fn f(e: Error) { match e { Error::Other { detail } => detail.<|>show(), _ => () } }",
            "src/shape.rs:25",
        ),
        ("fn f(d: Detail) { let e = Error::Other { <|>detail: d }; }", "src/shape.rs:21"),
        ("fn f(d: Deeper) { d.<|>go(); }", "src/shape.rs:30"),
        ("fn f() { <|>help(); }", "src/shape.rs:32"),
        ("fn f() { shape::inner::<|>help(); }", "src/shape.rs:32"),
        ("fn f(s: Shape) { s.<|>draw(); }", "src/shape.rs:17"),
        ("fn f(s: Shape) { s.<|>twice(); }", "src/shape.rs:4"),
        ("fn f(s: Shape) { Draw::<|>draw(&s); }", "src/shape.rs:17"),
        ("fn f(s: Shape) { <Shape as Draw>::<|>draw(&s); }", "src/shape.rs:17"),
        ("fn f() { \"text\".<|>draw(); }", "src/shape.rs:43"),
        ("fn f() { let text = \"text\"; Draw::<|>draw(text); }", "src/shape.rs:43"),
        ("fn f(d: Detail) { Shape::<|>from(d); }", "src/shape.rs:39"),
        ("fn f<T: Named>(t: &T) { t.<|>draw(); }", "src/shape.rs:3"),
        ("fn f<T>(t: &T) where T: Named { t.<|>label(); }", "src/shape.rs:6"),
        ("fn f<T: Draw>(t: T::<|>Out) {}", "src/shape.rs:2"),
        ("fn f<T: Iterator>(t: T::<|>Out) {}", "external"),
        ("fn f<'a>(a: &'<|>a str) {}", "src/app.rs:5"),
        (
            "mod one { pub fn go() {} }\nmod two {\n    pub fn go() {}\n    fn f() { <|>go(); }\n}",
            "src/app.rs:7",
        ),
        ("mod one { pub fn go() {} }\nmod two { pub fn go() {} }\nfn f() { two::<|>go(); }", "src/app.rs:6"),
        ("fn up() {}\nmod one { fn up() { super::<|>up(); } }", "src/app.rs:5"),
        ("fn f(v: &[Shape]) { v.len().<|>area(); }", "external"),
    ] {
        let text = format!("{head}{text}\n");
        check(&[lib, RUST_UTIL, RUST_SHAPE, ("src/app.rs", &text)], &[expected]);
    }
}

#[test]
fn rust_results_locks_and_other_crates_are_seen_through() {
    let core = (
        "crates/core/src/lib.rs",
        "pub struct Error;\nimpl Error {\n    pub fn show(&self) {}\n}\npub type Result<T> = std::result::Result<T, Error>;\npub struct Plan;\nimpl Plan {\n    pub fn show(&self) {}\n}\npub fn plan() -> Result<Plan> { todo!() }\n",
    );
    let manifest = ("crates/core/Cargo.toml", "[package]\nname = \"my-core\"\n");
    let (of_error, of_plan) = ("crates/core/src/lib.rs:3", "crates/core/src/lib.rs:8");
    for (text, expected) in [
        ("fn f() -> my_core::<|>Result<()> { todo!() }", "crates/core/src/lib.rs:5"),
        ("fn f() { plan()?.<|>show(); }", of_plan),
        ("fn f() { if let Err(e) = plan() { e.<|>show(); } }", of_error),
        ("fn f() { plan().map_err(|e| e.<|>show()); }", of_error),
        ("fn f() { let a = Arc::new(Plan); a.<|>show(); }", of_plan),
        ("fn f() { let o = Some(Plan {}); o.unwrap().<|>show(); }", of_plan),
        ("fn f() { vec![Plan {}].iter().for_each(|p| p.<|>show()); }", of_plan),
        ("fn f(m: Arc<Mutex<Vec<Plan>>>) { let g = m.lock().unwrap(); g[0].<|>show(); }", of_plan),
        ("fn f(c: &RefCell<Plan>) { c.borrow_mut().<|>show(); }", of_plan),
        ("fn f(m: &HashMap<u8, Plan>) { for (k, p) in m { p.<|>show(); } }", of_plan),
        ("fn f(m: &HashMap<Plan, u8>) { for p in m.keys() { p.<|>show(); } }", of_plan),
        ("fn f(m: &HashMap<u8, Plan>) { m.get(&1).map(|p| p.<|>show()); }", of_plan),
        ("fn f(m: &HashMap<u8, u8>) { m.get(&1).map(|p| p.<|>show()); }", "external"),
    ] {
        let text = format!("use my_core::{{Plan, plan}};\n{text}\n");
        check(&[core, manifest, ("crates/cli/src/main.rs", &text)], &[expected]);
    }
}

#[test]
fn rust_names_in_texts_of_macros_and_short_fields_are_uses() {
    let (used, _) = uses(&[(
        "src/lib.rs",
        "fn f() {\n    let <|>name = 1;\n    println!(\"{name} {{name}}\");\n    log!(\"{}\", name);\n    let text = \"{name}\";\n    A { name };\n}\nstruct A { name: u8 }\n",
    )]);
    assert_eq!(used, ["src/lib.rs:3", "src/lib.rs:4", "src/lib.rs:6"]);
    let (used, _) = uses(&[(
        "src/lib.rs",
        "struct A { <|>name: u8 }\nfn f(name: u8) -> A {\n    A { name }\n}\nfn g(a: A) {\n    let A { name } = a;\n    a.name;\n}\n",
    )]);
    assert_eq!(used, ["src/lib.rs:3", "src/lib.rs:6", "src/lib.rs:7"]);
}

#[test]
fn a_go_import_means_a_folder_by_the_files_of_its_module() {
    let package = |name: &str| format!("package {name}\nfunc Go() {{}}\n");
    let (lib, errors) = (package("lib"), package("errors"));
    for (files, import, expected) in [
        // The module itself, and a module of its own beneath it.
        (
            vec![("go.mod", "module example.com/app\n"), ("lib/lib.go", &*lib)],
            "example.com/app/lib",
            "lib/lib.go:2",
        ),
        (
            vec![("cmd/go.mod", "module example.com/cmd\n"), ("cmd/lib/lib.go", &*lib)],
            "example.com/cmd/lib",
            "cmd/lib/lib.go:2",
        ),
        (
            vec![
                ("go.mod", "module example.com/app\n"),
                ("cmd/go.mod", "module example.com/cmd\n"),
                ("lib/lib.go", &*lib),
            ],
            "example.com/app/lib",
            "external",
        ),
        // Another module of the same repository, by `replace` and by `go.work`.
        (
            vec![
                ("cmd/go.mod", "module example.com/cmd\nreplace example.com/lib v1.0.0 => ../lib\n"),
                ("lib/lib.go", &*lib),
            ],
            "example.com/lib",
            "lib/lib.go:2",
        ),
        (
            vec![
                ("go.work", "go 1.22\nuse (\n\t./cmd\n\t./lib\n)\n"),
                ("cmd/go.mod", "module example.com/cmd\n"),
                ("lib/go.mod", "module example.com/lib/v2\n"),
                ("lib/lib.go", &*lib),
            ],
            "example.com/lib/v2",
            "lib/lib.go:2",
        ),
        (
            vec![("go.mod", "module example.com/app\n"), ("vendor/example.com/lib/lib.go", &*lib)],
            "example.com/lib",
            "vendor/example.com/lib/lib.go:2",
        ),
        // Before modules.
        (vec![("src/example.com/lib/lib.go", &*lib)], "example.com/lib", "external"),
        // The standard library is not a folder that is called like a part of it.
        (vec![("go.mod", "module example.com/app\n"), ("errors/errors.go", &*errors)], "errors", "external"),
    ] {
        let name = import.rsplit('/').find(|part| *part != "v2").unwrap();
        let text = format!("package main\nimport \"{import}\"\nfunc main() {{ {name}.<|>Go() }}\n");
        let mut files = files;
        files.push(("cmd/main.go", &text));
        check(&files, &[expected]);
    }
    let text = "package main\nimport \"example.com/lib\"\nfunc main() { lib.<|>Go() }\n";
    let files = [("src/example.com/lib/lib.go", &*lib), ("src/example.com/cmd/main.go", text)];
    check(&files, &["src/example.com/lib/lib.go:2"]);
}

#[test]
fn go_values_are_known_through_generics_switches_and_literals() {
    let store = (
        "store/store.go",
        "package store\ntype Item struct { ID int }\nfunc (i *Item) Key() string { return \"\" }\ntype Pair[K comparable, V any] struct {\n\tVal V\n}\nfunc (p Pair[K, V]) Value() V { return p.Val }\ntype Store struct{}\nfunc (s *Store) Get(id int) (*Item, error) { return nil, nil }\n",
    );
    let module = ("go.mod", "module example.com/app\n");
    let key = "store/store.go:3";
    for (text, expected) in [
        ("p := st.Pair[string, *st.Item]{}; p.Value().<|>Key()", key),
        ("p := st.Pair[string, *st.Item]{}; p.Val.<|>Key()", key),
        ("switch v := any(x).(type) {\n\tcase *st.Item:\n\t\tv.<|>Key()\n\t}", key),
        ("var x any; switch <|>v := x.(type) {\n\tcase *st.Item:\n\t\tv.Key()\n\t}", "cmd/main.go:4"),
        ("m := map[string][]*st.Item{}; m[\"a\"][0].<|>Key()", key),
        ("all := []st.Item{{ID: 1}}; all[0].<|>Key()", key),
        ("all := make([]*st.Item, 1); all[0].<|>Key()", key),
        ("all := append([]*st.Item{}, nil); all[0].<|>Key()", key),
        ("ch := make(chan *st.Item); (<-ch).<|>Key()", key),
        ("new(st.Item).<|>Key()", key),
        ("type own struct { *st.Store }; var o own; i, _ := o.Get(1); i.<|>Key()", key),
        ("x := []string{}; x[0].<|>Key()", "external"),
    ] {
        let text =
            format!("package main\nimport st \"example.com/app/store\"\nfunc main() {{\n\t{text}\n}}\n");
        check(&[module, store, ("cmd/main.go", &text)], &[expected]);
    }
}

#[test]
fn cpp_names_are_those_of_the_nearest_namespace() {
    let header = "namespace one {\nclass Thing { public: int go(); };\nint run();\n}\nnamespace two {\nclass Thing { public: int go(); int stay(); };\nint run();\n}\n";
    let source = "#include \"a.h\"\nnamespace one {\nint run() { return 1; }\nint Thing::go() { return 1; }\n}\nnamespace two {\nint run() { return 2; }\nint Thing::go() { return 2; }\nint Thing::stay() { return 2; }\n}\n";
    for (text, expected) in [
        ("namespace one { int f() { return <|>run(); } }", "a.cc:3"),
        ("namespace two { int f() { return <|>run(); } }", "a.cc:7"),
        ("namespace two { int f() { return one::<|>run(); } }", "a.cc:3"),
        ("namespace two { int f() { Thing t; return t.<|>go(); } }", "a.cc:8"),
        ("namespace one { int f() { Thing t; return t.<|>go(); } }", "a.cc:4"),
        ("int f() { two::Thing t; return t.<|>stay(); }", "a.cc:9"),
        ("namespace short_name = two;\nint f() { return short_name::<|>run(); }", "a.cc:7"),
    ] {
        let text = format!("#include \"a.h\"\n{text}\n");
        check(&[("a.h", header), ("a.cc", source), ("b.cc", &text)], &[expected]);
    }
    let template = "namespace util {\ntemplate <typename T>\nclass List {\n public:\n  T* first();\n  T& at(int i);\n};\ntemplate <typename T>\nT* List<T>::first() { return nullptr; }\n}\nstruct Node { int value() const { return 1; } };\n";
    for text in [
        "int f(util::List<Node>& l) { return l.first()-><|>value(); }",
        "int f(const util::List<Node>& l) { return l.at(0).<|>value(); }",
        "using Nodes = util::List<Node>;\nint f(Nodes* l) { return l->at(0).<|>value(); }",
    ] {
        let text = format!("#include \"list.h\"\n{text}\n");
        check(&[("list.h", template), ("b.cc", &text)], &["list.h:11"]);
    }
}

#[test]
fn rust_items_in_macros_types_of_traits_and_paths_that_hide_no_variable() {
    let lib = (
        "src/lib.rs",
        "cfg_feature! {\n    #![feature = \"x\"]\n\n    mod heads;\n}\nmod app;\npub trait Serve {\n    type Body;\n}\n",
    );
    let heads = (
        "src/heads.rs",
        "pin_project! {\n    pub struct Head {\n        #[pin]\n        pub size: u32,\n    }\n}\npub fn add() {}\n",
    );
    for (text, expected) in [
        ("use crate::heads::Head;\nfn f(h: &Head) -> u32 { h.<|>size }\n", "src/heads.rs:4"),
        ("use crate::heads;\nfn f() {\n    let heads = 1;\n    <|>heads::add();\n}\n", "src/heads.rs:1"),
        ("use crate::heads;\nfn f() {\n    let heads = 1;\n    <|>heads + 1;\n}\n", "src/app.rs:3"),
        (
            "use crate::Serve;\nstruct A;\nimpl<T: Into<u8>> Serve for A {\n    type <|>Body = T;\n}\n",
            "src/lib.rs:8",
        ),
        ("struct A;\nimpl Iterator for A {\n    type <|>Item = u8;\n}\n", "external"),
        ("struct A;\nimpl A {\n    type <|>Item = u8;\n}\n", "src/app.rs:3"),
    ] {
        check(&[lib, heads, ("src/app.rs", text)], &[expected]);
    }
}

#[test]
fn cpp_namespaces_of_macros_and_what_is_read_first() {
    let base = (
        "inc/base.h",
        "#define BEGIN \\\n  namespace lib { \\\n  inline namespace v1 {\n#define END } }\n#define BEGIN_DETAIL namespace detail {\n#define END_DETAIL }\nBEGIN\nBEGIN_DETAIL\ninline int help() { return 1; }\nEND_DETAIL\nEND\n",
    );
    let more = (
        "inc/more.h",
        "#include \"base.h\"\nBEGIN\nnamespace detail {\nint other();\n}\ntemplate <typename T> int show(T value);\nEND\n",
    );
    let color = (
        "inc/color.h",
        "#include \"base.h\"\nBEGIN\ntemplate <typename T> int show(T color, int more = 1);\nEND\n",
    );
    for (text, expected) in [
        ("int x = lib::<|>show(1);\n", "inc/more.h:6"),
        ("int x = <|>lib::show(1);\n", "inc/base.h:2"),
        ("int x = lib::<|>detail::help();\n", "inc/base.h:5"),
        ("int x = lib::detail::<|>help();\n", "inc/base.h:9"),
        ("int x = lib::detail::<|>other();\n", "inc/more.h:4"),
        ("namespace <|>lib { int y; }\n", "inc/base.h:2"),
        ("namespace std { struct A; }\n<|>std::string s;\n", "external"),
    ] {
        let text = format!("#include \"inc/more.h\"\n{text}");
        check(&[base, more, color, ("app.cc", &text)], &[expected]);
    }
}

#[test]
fn native_tables_variables_and_templates() {
    let (used, callers) = uses(&[(
        "a.c",
        "static int <|>run(int a) { return a; }\nstruct entry { int (*call)(int); };\nstatic struct entry table[] = {\n  { run },\n};\nint main(void) { return run(1); }\n",
    )]);
    assert_eq!(
        (used, callers),
        (vec!["a.c:4".to_owned(), "a.c:6".to_owned()], vec!["table".to_owned(), "main".to_owned()])
    );
    let config = "static struct config {\n  int port;\n} config;\n";
    check(&[("a.c", &format!("{config}int f(void) {{ return <|>config.port; }}\n"))], &["a.c:3"]);
    check(&[("a.c", &format!("{config}int f(struct <|>config *c) {{ return c->port; }}\n"))], &["a.c:1"]);
    // Which template is called is known only where it is given types.
    let (used, _) = uses(&[(
        "a.cc",
        "template <typename T> int put(T a, int b) { return b; }\ntemplate <typename T> int <|>put(T a) { return put(a, 1); }\ntemplate <typename T> int put(T* a) { return 2; }\ntemplate <typename T> int all(T a) { return put(a); }\n",
    )]);
    assert_eq!(used, ["a.cc:4"]);
    let (used, _) = uses(&[(
        "a.cc",
        "struct A {\n  API <|>A(int a) {}\n  A(int a, int b);\n};\nA one() { return A(1); }\nA two() { return A(1, 2); }\n",
    )]);
    assert_eq!(used, ["a.cc:5"]);
    let text = "template <typename T> struct A { };\ntemplate <> struct A<int> { };\n<|>A<char> a;\n";
    check(&[("a.cc", text)], &["a.cc:1"]);
}

#[test]
fn of_branches_the_one_that_is_built_is_meant() {
    let file = |header: &str| {
        format!(
            "#include \"conf.h\"\n{header}#if BIG == 2 && !defined(NEVER)\nint run(void) {{ return 1; }}\n#else\nint run(void) {{ return 2; }}\n#endif\nint go(void) {{ return <|>run(); }}\n"
        )
    };
    let commands = |flag: &str| {
        format!(
            "[{{\"directory\": \"\", \"file\": \"a.c\", \"arguments\": [\"cc\", \"{flag}\", \"-c\", \"a.c\"]}}]"
        )
    };
    for (conf, header, flag, expected) in [
        ("#define BIG 2\n", "", "-DX", "a.c:3"),
        ("#define BIG 1\n", "", "-DX", "a.c:5"),
        ("", "#define BIG 2\n", "-DX", "a.c:4"),
        ("", "", "-DBIG=2", "a.c:3"),
        ("#ifdef __never__\n#define BIG 2\n#endif\n", "", "-DX", "a.c:5"),
        ("#define BIG 2\n", "", "-DNEVER", "a.c:5"),
    ] {
        let (text, commands) = (file(header), commands(flag));
        check(&[("conf.h", conf), ("compile_commands.json", &commands), ("a.c", &text)], &[expected]);
    }
}

/// Pieces of C files in which `wanted` is used, hidden, a member, or not there at all.
const PIECES: &[&str] = &[
    "static int use_@(int a)\n{\n\tif (a) {\n\t\treturn wanted(a);\n\t}\n\treturn 0;\n}\n",
    "static struct box *hide_@(struct box *b)\n{\n\tint wanted = b->wanted;\n\twanted++;\n\treturn b;\n}\n",
    "int plain_@(struct box *b)\n{\n\tconst char *s = \"wanted }\"; /* wanted { */\n\treturn b->other;\n}\n",
    "int far_@(void)\n{\n\tint unwanted = 1;\n\tint wanted_not = 2;\n\treturn unwanted + wanted_not;\n}\n",
    "static const struct ops table_@ = {\n\t.call = wanted,\n\t.other = use,\n};\n",
    "static const int numbers_@[] = {\n\t1, 2,\n\t3,\n};\n",
    "#ifdef SOME_@\nint branch_@(void)\n{\n\treturn 1;\n}\n#else\nint branch_@(void)\n{\n\treturn wanted(1);\n}\n#endif\n",
    "int inside_@(void)\n{\n#define LOCAL_@ wanted(2)\n\treturn LOCAL_@;\n}\n",
    "int oneline_@(void) { return 'ä' + wanted(3); } int after_@ = 1;\n",
    "struct packed_@ { int wanted; } __attribute__((packed));\nint member_@(struct packed_@ *p)\n{\n\treturn p->wanted;\n}\n",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 48, ..Default::default() })]
    #[test]
    fn uses_are_the_same_in_excerpts_and_in_whole_files(
        files in proptest::collection::vec(proptest::collection::vec(0..PIECES.len(), 60..90), 2..4)
    ) {
        let texts: Vec<(String, String)> = files.iter().enumerate().map(|(number, pieces)| {
            let pieces = pieces.iter().enumerate();
            let text = pieces.map(|(place, piece)| PIECES[*piece].replace('@', &format!("{number}_{place}")));
            let head = "#include \"box.h\"\n".to_owned();
            (format!("f{number}.c"), text.fold(head, |all, piece| all + &piece))
        }).collect();
        let header = "struct box { int wanted; int other; };\nint wanted(int a);\n";
        let mut files = vec![("box.h", header), ("a.c", "#include \"box.h\"\nint wanted(int a)\n{\n\treturn a;\n}\n")];
        files.extend(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let (_folder, index) = crate::index::tests::workspace(&files);
        let asked = || {
            let resolver = Resolver::new(&index);
            let mut found = resolver.definitions_named("wanted");
            // Files that are asked about are read whole in any case.
            found.retain(|one| !index.path(one.file).starts_with('f'));
            let callers = found.iter().map(|one| resolver.callers(one)).collect::<Vec<_>>();
            (resolver.references_to_all(&found), callers)
        };
        let in_excerpts = asked();
        proptest::prop_assert!(!in_excerpts.0.is_empty());
        for (id, _) in index.entries() {
            index.whole(id);
        }
        proptest::prop_assert_eq!(in_excerpts, asked());
    }
}
