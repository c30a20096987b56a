//! Annotation macros, and what C++ files say.

use super::super::annotations;
use super::*;

/// The words that are taken out of a text, joined by `|`.
fn removed(text: &str) -> String {
    let cleaned = annotations::without(text);
    let Some(cleaned) = cleaned else { return String::new() };
    assert_eq!(cleaned.text.len(), text.len(), "{text}");
    assert_eq!(cleaned.text.matches('\n').count(), text.matches('\n').count(), "{text}");
    cleaned.removed.iter().map(|span| span.of(text)).collect::<Vec<_>>().join("|")
}

#[test]
fn annotations_are_found_where_no_type_and_no_name_can_stand() {
    for (text, expected) in [
        ("class API_EXPORT A { int x; };", "API_EXPORT"),
        ("class ALIGNED(8) A final : public B { };", "ALIGNED(8)"),
        ("class API_EXPORT A;", "API_EXPORT"),
        ("struct PACKED a { int x; };", "PACKED"),
        ("struct a { struct __packed { int x; } b; union ALIGNED(8) { int y; }; };", "__packed|ALIGNED(8)"),
        ("template <class T> class API_EXPORT A<T*> {};", "API_EXPORT"),
        ("class A { int n_ GUARDED_BY(mu_); };", "GUARDED_BY(mu_)"),
        ("class A { B* const b_ GUARDED_BY(mu_) = 0; };", "GUARDED_BY(mu_)"),
        ("class A { void f() const LOCKED(mu_) { g(); } };", "LOCKED(mu_)"),
        ("class A { public: API void f() override MARKED; };", "API|MARKED"),
        ("API_FUNC int (f)(void);", "API_FUNC"),
        ("BEGIN_NAMESPACE\nnamespace a { API std::string f(); }", "BEGIN_NAMESPACE|API"),
        ("static int __init f(void) { return 0; }", "__init"),
        ("static int __init __setup_all(void) { return 0; }", "__init"),
        ("int WINAPI f(int a);", "WINAPI"),
        ("static __always_inline __alloc_size(1) void *f(int a) {}", "__always_inline|__alloc_size(1)"),
        ("API MARKED HANDLE f(int a);", "API|MARKED"),
        ("template <typename T, ENABLE_IF(a<T>())> void f(T t) {}", "ENABLE_IF(a<T>())"),
        ("#if X\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nclass API A {};", "API"),
        ("class A { API A(int a) : a_(a) {} API ~A(); API A& operator=(A a); };", "API|API|API"),
        ("API a::B::B(int b) : b_(b) {}", "API"),
        ("enum kind UNDERLYING(char) { ONE };", "UNDERLYING(char)"),
        ("class A { MARKED\n};", "MARKED"),
        ("PRAGMA(\"x\")\n#if X\nBEGIN\nMORE(1)\n#endif\nint a;\nEND\n", "PRAGMA(\"x\")|BEGIN|MORE(1)|END"),
        ("class A\n#if X\n  : public B\n#endif\n{ API A(int a); };", "API"),
        ("using a = b<c>\n#if X\n::d\n#else\n::e\n#endif\n;\nclass API A {};", "#else\n::e\n#endif|API"),
        ("void f() {\n  struct A { API void g() {} API A(); };\n  run(A());\n}", "API|API"),
        ("class A { API operator B() const; BOOL operator==(A a); };", "API"),
        // Twins that must stay.
        ("void f() { struct NODE n; struct A* a = MAKE(int); }", ""),
        ("#if X\nint a;\n#else\nint b;\n#endif\n", ""),
        ("class A { public:\n#if X\nint a;\n#endif\n};", ""),
        ("class A { BOOL B(int a) { return 1; } };", ""),
        ("struct NODE n;", ""),
        ("struct __tagged { int x; };", ""),
        ("struct NODE make(void) { return n; }", ""),
        ("BOOL f(HANDLE h) { if (h) RETURN(1); return (INT) VALUE; }", ""),
        ("BOOL Window::show() { return TRUE; }", ""),
        ("const Color RED(1, 2);", ""),
        ("static DEFINE_LOCK(name);", ""),
        ("DECLARE_THING(a, b);", ""),
        ("TEST_F(Suite, Case) { EXPECT_EQ(1, 1); }", ""),
        ("enum E { ONE, TWO };", ""),
        ("int x = A_CONSTANT;", ""),
        ("UINT count;", ""),
        ("#define API_EXPORT __attribute__((x))\n", ""),
        ("// class API A {};\nconst char* s = \"class API A {\";", ""),
        ("class", ""),
        ("class API_EXPORT", ""),
        ("", ""),
    ] {
        assert_eq!(removed(text), expected, "{text}");
    }
}

#[test]
fn names_in_annotations_are_used_all_the_same() {
    let text = "class API A {\n  int é;\n  int n_ GUARDED(mu_);\n  int mu_;\n};\n";
    let facts = read(Language::Cpp, text).unwrap();
    let used: Vec<(u32, u32, &str)> =
        facts.occurrences.iter().map(|one| (one.at.line, one.at.column, one.span.of(text))).collect();
    assert_eq!(
        used,
        [
            (1, 7, "API"),
            (1, 11, "A"),
            (2, 7, "é"),
            (3, 7, "n_"),
            (3, 10, "GUARDED"),
            (3, 18, "mu_"),
            (4, 7, "mu_")
        ]
    );
}

#[test]
fn cpp_classes_with_macros_tests_and_announcements() {
    check(
        "a.cc",
        "class Early;\nstruct Outer::Inner { int a; };\nclass API_EXPORT A : public B {\n public:\n  A();\n  ~A() override;\n  struct Rep;\n  int n_ GUARDED_BY(mu_);\n  void f() LOCKED(mu_);\n};\nA::A() {}\nTEST_F(Suite, Works) {\n  struct Local { Local() {} int go() { return 1; } };\n}\n",
        expect![[r#"
            1 class Early
            2 struct Outer.Inner
            2 field Outer.Inner.a
            3 class A
            5 constructor A.A
            6 method A.~A
            7 struct A.Rep
            8 field A.n_
            9 method A.f
            11 constructor A.A
            12 class Suite_Works_Test
            12 method Suite_Works_Test.~Suite_Works_Test
            12 method Suite_Works_Test.operator=
            12 method Suite_Works_Test.TestBody
        "#]],
    );
}

proptest! {
    #[test]
    fn any_text_keeps_its_length_and_lines(text in "(class |struct |API_X|\\(|\\)|\\{|\\}|;|a|::|<|>|\"|'|/\\*|\n|#if|#else|é|R\"){0,40}") {
        if let Some(cleaned) = annotations::without(&text) {
            prop_assert_eq!(cleaned.text.len(), text.len());
            prop_assert_eq!(cleaned.text.lines().count(), text.lines().count());
        }
    }
}

#[test]
fn files_named_in_conditions_do_not_hurt() {
    for head in ["__has_include(<a>)", "HAS(<a>) && (X || defined(Y))", "HAS(\"a/b.h\")"] {
        let text = format!("#if {head}\n#include <a>\n#elif {head}\nint a;\n#endif\nclass B {{}};\n");
        let facts = read(Language::Cpp, &text).unwrap();
        let names: Vec<&str> = facts.definitions.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "B"], "{head}");
        assert!(facts.occurrences.iter().all(|one| one.span.of(&text) != "h"), "{head}");
    }
}

#[test]
fn annotations_without_end_do_not_hurt() {
    for (before, again) in [
        ("void f() {", "A("),
        ("void f() {", "AAA(AAA, "),
        ("void f() {", "struct a "),
        ("", "struct a { void f() {"),
        ("int a\n", "#if\n"),
        ("int a\n", "#if\n#else\n"),
        ("", "AAA\n"),
        ("", "AAA("),
        ("", "class AAA "),
    ] {
        let text = format!("{before}{}", again.repeat(20_000));
        assert!(
            annotations::without(&text).is_none_or(|cleaned| cleaned.text.len() == text.len()),
            "{again}"
        );
    }
}
