//! Conditions and branches.

use proptest::prelude::*;

use super::*;

fn macros(defined: &[&str]) -> Macros {
    let mut macros = Macros::default();
    for flag in defined {
        macros.define_flag(flag);
    }
    macros
}

#[test]
fn conditions_are_worked_out_as_the_preprocessor_does() {
    let known = macros(&["ONE", "TWO=2", "BIG=0x10UL", "SAME=TWO", "SELF=SELF", "EMPTY=", "SUM=(TWO + 1)"]);
    let mut known = known;
    known.define("AT_LEAST(major, minor) (TWO > (major) && minor >= 1 && major_minor == 0)");
    known.define("AGAIN(x) AGAIN(x x)");
    for (text, expected) in [
        ("1", true),
        ("0", false),
        ("0x0", false),
        ("ONE", true),
        ("NONE", false),
        ("defined ONE && !defined(NONE)", true),
        ("defined(ONE)&&defined(NONE)", false),
        ("defined(EMPTY)", true),
        ("EMPTY", false),
        ("TWO == 2 && SAME >= 2", true),
        ("SUM * 2 == 6", true),
        ("TWO + 1 * 3 == 5", true),
        ("(TWO + 1) * 3 == 9", true),
        ("BIG == 16", true),
        ("1 << 3 == 8 ? 1 : 0", true),
        ("NONE ? 1 : 0", false),
        ("6 & 2", true),
        ("4 & 2", false),
        ("4 | 0", true),
        ("1 - 1", false),
        ("SELF", false),
        ("!EMPTY_HANDED(1, (2)) || 0", true),
        ("__has_include(<version>)", true),
        ("__has_feature(address_sanitizer)", false),
        ("__has_feature(cxx_relaxed_constexpr)", true),
        ("defined(__has_include) && defined __has_builtin", true),
        ("AT_LEAST(1, (2))", true),
        ("AT_LEAST(3, 4)", false),
        ("AT_LEAST", false),
        ("AGAIN(AGAIN(1))", false),
        ("010 == 8", true),
        ("1 / 0", false),
        ("ONE /* a */ && \\\n TWO // b", true),
        ("~0", true),
        ("", false),
        ("\"text\"", false),
        ("((", false),
    ] {
        assert_eq!(condition::is_true(text, &known), expected, "{text}");
    }
    let mut bomb = macros(&["BOMB=BOMB+BOMB"]);
    bomb.define("CALLED(x) CALLED(x) + CALLED(x x)");
    for text in ["BOMB", "CALLED(1)"] {
        assert!(!condition::is_true(text, &bomb), "{text}");
    }
    for odd in ["(".repeat(100_000), "!".repeat(100_000), "1?".repeat(100_000), "1+".repeat(100_000)] {
        condition::is_true(&odd, &known);
    }
}

#[test]
fn a_command_line_says_more_than_the_compiler() {
    let mut known = Macros::of_compiler(Language::Cpp);
    for flag in ["-DA", "-DB=2", "-UA", "-std=gnu++20", "-std=c99", "-std=odd", "-Wall"] {
        known.obey(flag);
    }
    for (text, expected) in [
        ("defined(A)", false),
        ("B == 2", true),
        ("__cplusplus == 202002L && defined(__cpp_if_constexpr)", true),
        ("defined(__STDC_VERSION__)", false),
    ] {
        assert_eq!(condition::is_true(text, &known), expected, "{text}");
    }
}

/// The lines that are built, by their first words.
fn built(text: &str, defined: &[&str]) -> String {
    let mut known = macros(defined);
    let mut include = |path: &str, macros: &mut Macros| macros.define_flag(&format!("READ_{path}"));
    let spans = left_out(text, &mut known, &mut include);
    let is_built = |at: usize| !spans.iter().any(|span| span.contains(at as u32));
    let mut at = 0;
    let mut words = Vec::new();
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#') && is_built(at) {
            words.push(line.trim());
        }
        at += line.len();
    }
    words.join(" ")
}

#[test]
fn of_branches_the_one_that_holds_is_built() {
    for (text, defined, expected) in [
        ("a\n#if X\nb\n#else\nc\n#endif\nd\n", &[][..], "a c d"),
        ("a\n#if X\nb\n#else\nc\n#endif\nd\n", &["X"], "a b d"),
        ("#ifdef X\na\n#elif defined(Y)\nb\n#elif Z\nc\n#else\nd\n#endif\n", &["Y", "Z"], "b"),
        ("#ifndef X\n#if 1\na\n#endif\nb\n#endif\n", &["X"], ""),
        ("#ifndef G\n#define G\na\n#endif\n#ifdef G\nb\n#endif\n", &[], "a b"),
        ("#if 0\n#define X\n#endif\n#ifdef X\na\n#endif\nb\n", &[], "b"),
        ("#define X 2\n#undef X\n#if X == 2\na\n#endif\n", &[], ""),
        ("#include \"h\"\n#ifdef READ_h\na\n#endif\n", &[], "a"),
        ("#if 0\n#include \"h\"\n#endif\n#ifdef READ_h\na\n#endif\n", &[], ""),
        ("/*\n#if 0\n*/\na\n#if 1 /* b\n*/\nc\n#endif\n", &[], "/* */ a */ c"),
        ("char *a = \"/*\";\n#if 0\nb\n#endif\n", &[], "char *a = \"/*\";"),
        ("  #  if 0\na\n#  else\nb\n#endif\n", &[], "b"),
        ("#if 0 || \\\n    1\na\n#endif\n", &[], "1 a"),
        ("#if 0\na\n", &[], ""),
        ("#endif\n#else\n#elif 1\na\n", &[], "a"),
        ("#define F(x) x\n#if F(1)\na\n#endif\n#ifdef F\nb\n#endif\n", &[], "a b"),
        ("#define F(x) !(x)\n#if F(1)\na\n#endif\n", &[], ""),
    ] {
        assert_eq!(built(text, defined), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_ends_in_spans_in_order_within_it(text in "(#(if|elif|else|endif|define|ifdef) ?[A-Z01()&|!<>=+*/?:\"'\\\\ ]{0,12}\n|[a-z/*\"]{0,6}\n|\\PC){0,20}") {
        let spans = left_out(&text, &mut macros(&["A", "B=0"]), &mut |_, _| {});
        let mut last = 0;
        for span in spans {
            prop_assert!(last <= span.start && span.start <= span.end && span.end as usize <= text.len());
            last = span.end;
        }
    }
}
