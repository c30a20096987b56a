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
fn uses(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
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
    let callers = resolver.callers(target).into_iter().map(|(found, _)| found.definition.name).collect();
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
