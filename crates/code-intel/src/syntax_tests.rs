//! Every language right and wrong, and texts that are made to hurt a parser.

use proptest::prelude::*;

use super::*;

/// A text that is right, and one with an error in line 2.
const SAMPLES: &[(&str, &str, &str)] = &[
    ("a.sh", "if true; then\n  echo hi\nfi\n", "if true; then\n  echo $(hi\nfi\n"),
    ("a.c", "int main(void) {\n  return 0;\n}\n", "int main(void) {\n  return (0;\n}\n"),
    ("a.cpp", "class A {\n  int b = 1;\n};\n", "class A {\n  int b = (1;\n};\n"),
    ("a.cs", "class A {\n  int B() { return 1; }\n}\n", "class A {\n  int B() { return (1; }\n}\n"),
    ("a.css", "a {\n  color: red;\n}\n", "a {\n  color red green;;)\n}\n"),
    ("a.go", "package a\nfunc b() int { return 1 }\n", "package a\nfunc b( int { return 1 }\n"),
    ("a.html", "<p>\n<b>x</b>\n</p>\n", "<p>\n<b>x</i\n</p>\n"),
    ("A.java", "class A {\n  int b() { return 1; }\n}\n", "class A {\n  int b() { return (1; }\n}\n"),
    ("a.js", "function a() {\n  return [1];\n}\n", "function a() {\n  return [1;\n}\n"),
    ("a.json", "{\n  \"a\": [1, 2]\n}\n", "{\n  \"a\": [1, 2\n}\n"),
    ("a.php", "<?php\nfunction a() { return 1; }\n", "<?php\nfunction a( { return 1; }\n"),
    ("a.py", "def a():\n    return (1)\n", "def a():\n    return (1\n"),
    ("a.rb", "def a\n  [1, 2]\nend\n", "def a\n  [1, 2\nend\n"),
    ("a.rs", "fn a() {\n    let b = (1);\n}\n", "fn a() {\n    let b = (1;\n}\n"),
    ("a.toml", "[a]\nb = 1\n", "[a]\nb = = 1\n"),
    ("a.tsx", "const a = (\n  <b>x</b>\n);\n", "const a = (\n  <b>x</b\n);\n"),
    ("a.ts", "interface A {\n  b: number;\n}\n", "interface A {\n  b: number[;\n}\n"),
    ("a.yaml", "a:\n  b: [1, 2]\n", "a:\n  b: [1, 2\n"),
];

#[test]
fn every_language_is_right_or_wrong() {
    for language in Language::all() {
        assert!(
            SAMPLES.iter().any(|(path, ..)| Language::detect(Path::new(path), "") == Some(language)),
            "{language:?}"
        );
    }
    for (path, right, wrong) in SAMPLES {
        let language = Language::detect(Path::new(path), right).expect(path);
        assert_eq!(errors(language, right, Limits::QUICK), Ok(Vec::new()), "{path}");
        let found = introduced(Path::new(path), right, wrong);
        assert!(!found.is_empty(), "{path}");
        assert_eq!(introduced(Path::new(path), wrong, wrong), Vec::new(), "{path}");
        assert_eq!(introduced(Path::new(path), wrong, right), Vec::new(), "{path}");
    }
}

#[test]
fn only_new_errors_are_told_and_they_say_where() {
    let (before, after) = ("fn a() { let x = ; }\nfn b() {}\n", "// moved\nfn a() { let x = ; }\nfn b() {\n");
    let found: Vec<String> =
        introduced(Path::new("a.rs"), before, after).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("line 3"), "{found:?}");
}

#[test]
fn deep_large_and_odd_texts_end_in_time() {
    let limits = Limits { time: Duration::from_millis(50), ..Limits::QUICK };
    let stairs = |step: &str| {
        let lines: Vec<String> = (0..2000).map(|depth| format!("{}{step}", " ".repeat(depth))).collect();
        lines.join(
            "
",
        )
    };
    for language in Language::all() {
        for text in [
            "(".repeat(100_000),
            "[".repeat(100_000),
            "{".repeat(100_000),
            format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)),
            format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
            "<a>".repeat(50_000),
            "a.".repeat(100_000),
            "\u{0}\u{1}\u{2}\u{feff}\r\n".repeat(1000),
            "- ".repeat(20_000),
            stairs("a:"),
            stairs("if a:"),
            stairs("- ? -"),
            "a: - \n".repeat(40_000),
        ] {
            let checked = errors(language, &text, limits);
            assert_ne!(checked, Err(Skipped::Unparsed), "{language:?}");
        }
        let large = " ".repeat(limits.bytes + 1);
        assert_eq!(errors(language, &large, limits), Err(Skipped::TooLarge));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_can_be_checked(text in "[ \\n(){}<>a-z\"'=:;\\[\\]#/*\\-\\.]{0,200}", which in 0usize..18) {
        let language = Language::all().nth(which).expect("a language");
        prop_assert_ne!(errors(language, &text, Limits::QUICK), Err(Skipped::Unparsed));
    }
}

#[test]
fn only_trees_that_are_very_deep_are_left_out() {
    let nested = |depth: usize| format!("x = {}1{}\n", "(".repeat(depth), ")".repeat(depth));
    for (text, is_left_out) in [
        (nested(1_000), false),
        (nested(3_000), false),
        (nested(100_000), true),
        // Many brackets, and none of them around another.
        (format!("x = '{}'\n", "(".repeat(10_000)), false),
    ] {
        let limits = Limits { time: std::time::Duration::from_secs(60), ..Limits::QUICK };
        let tree = super::parse(Language::Python, &text, limits);
        assert_eq!(matches!(tree, Err(Skipped::TooDeep)), is_left_out, "{}", text.len());
    }
}
