//! Questions about C and C++: what headers of the system give, what is nearer, and which of several functions is meant.

use super::native::uses;
use super::*;

#[test]
fn what_only_stands_in_for_a_header_of_the_system_is_external() {
    let compat = (
        "compat.h",
        "#ifdef _MSC_VER\nstruct timeval;\n#else\n#include <sys/time.h>\n#endif\n#ifndef assert\n#define assert(x) ((void)0)\n#endif\n#ifndef OWN\n#define OWN 1\n#endif\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n",
    );
    for (text, expected) in [
        ("#include <sys/time.h>\nstruct <|>timeval t;\n", "external"),
        ("struct <|>timeval t;\n", "external"),
        ("#include <assert.h>\nvoid f(void) { <|>assert(1); }\n", "external"),
        // Nothing that is included gives it.
        ("void f(void) { <|>assert(1); }\n", "compat.h:7"),
        ("#include <assert.h>\nint x = <|>OWN;\n", "compat.h:10"),
        // It is defined whether there is another or not.
        ("#include <sys/param.h>\nint x = <|>MIN(1, 2);\n", "compat.h:12"),
    ] {
        let text = format!("#include \"compat.h\"\n{text}");
        check(&[compat, ("a.c", &text)], &[expected]);
    }
}

#[test]
fn what_headers_of_the_system_define_is_known_in_conditions() {
    for (header, condition, expected) in [
        ("#include <endian.h>\n", "#ifdef BYTE_ORDER", "a.c:3"),
        ("#include <endian.h>\n", "#if BYTE_ORDER == LITTLE_ENDIAN || BYTE_ORDER == BIG_ENDIAN", "a.c:3"),
        ("#include <limits.h>\n", "#if UINT_MAX == 4294967295U", "a.c:3"),
        ("#include <stdio.h>\n", "#ifdef BYTE_ORDER", "a.c:5"),
    ] {
        let text = format!(
            "{header}{condition}\nint run(void) {{ return 1; }}\n#else\nint run(void) {{ return 2; }}\n#endif\nint go(void) {{ return <|>run(); }}\n"
        );
        check(&[("a.c", &text)], &[expected]);
    }
}

#[test]
fn what_a_path_into_the_namespace_of_a_macro_gives_is_known() {
    let base = ("base.h", "#define BEGIN_D namespace d {\n#define END_D }\nstruct Other { int begin(); };\n");
    let made = (
        "made.h",
        "#include \"base.h\"\nBEGIN_D\ntemplate <typename C> struct Escape {\n  const C* begin() const;\n};\ntemplate <typename C> Escape<C> make(int x) { return Escape<C>(x); }\nEND_D\n",
    );
    let text = "#include \"made.h\"\nvoid f() { auto one = d::make<char>(1); one.<|>begin(); }\n";
    check(&[base, made, ("a.cc", text)], &["made.h:4"]);
}

#[test]
fn members_of_the_class_around_are_nearer_than_what_stands_outside() {
    let text = "int times(int a, int b) { return a * b; }\nclass Number {\n  void times(int a);\n public:\n  void twice() { <|>times(2); }\n};\n";
    check(&[("a.cc", text)], &["a.cc:3"]);
    // A declaration in a class is not that of a function outside, also behind names that are local.
    let header = "int helper(int one, int two) { int three = one; return three + two; }\nclass File {\n public:\n  int <|>write(const void* from, int count);\n};\n";
    let outside = "template <typename Out, typename T> int write(Out out, T value) { return 1; }\nint main() { return write(1, 2); }\n";
    let own = "#include \"file.h\"\nint File::write(const void* from, int count) { return count; }\n";
    check(&[("file.h", header), ("out.cc", outside), ("file.cc", own)], &["file.cc:2"]);
}

#[test]
fn of_functions_the_one_that_can_be_given_the_arguments_is_meant() {
    let (used, _) = uses(&[(
        "a.cc",
        "template <typename C> bool <|>same(const C* a, const char* b) { return true; }\nbool same(const char* a, const char* b) { return false; }\ntemplate <typename C> bool in_template(C* a) { return same(a, \"\"); }\nbool outside() { return same(\"a\", \"b\"); }\n",
    )]);
    assert_eq!(used, ["a.cc:3"]);
    let (used, _) = uses(&[(
        "a.cc",
        "template <typename R> int join(R&& all, int by) { return by; }\ntemplate <typename... T> int <|>join(const std::tuple<T...>& all, int by) { return 2; }\nint one(std::vector<int> v) { return join(v, 1); }\nint two(std::tuple<int, int> t) { return join(t, 1); }\n",
    )]);
    assert_eq!(used, ["a.cc:4"]);
    let text = "struct Base {\n  void append(int a, int b);\n};\nstruct Buffer : Base {\n  using Base::append;\n  void append(int a);\n};\nvoid f(Buffer& b) { b.<|>append(1, 2); }\n";
    check(&[("a.cc", text)], &["a.cc:2"]);
}
