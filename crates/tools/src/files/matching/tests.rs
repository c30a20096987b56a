//! The matching engine by itself: what is matched, how, and what becomes of it.

use proptest::prelude::*;

use super::*;

const PYTHON: &str = "class A:\n    def run(self):\n        total = 0\n        for item in self.items:\n            total += item\n        return total\n\n    def stop(self):\n        return None\n";

fn wanted<'a>(search: &'a str, replacement: &'a str) -> Wanted<'a> {
    Wanted { search, replacement, unit: Unit::Text, amount: Amount::One, hint: None, within: None }
}

/// The text after the edit and how it was matched, or why it was not made.
fn edited(text: &str, wanted: &Wanted<'_>) -> Result<(String, Tolerance), Miss> {
    let source = Source::new(text);
    let found = find(&source, wanted)?;
    let how = found.how;
    let text = crate::files::replace::spliced(text, found.splices).expect("no overlap");
    Ok((text, how))
}

fn check(text: &str, search: &str, replacement: &str, how: Tolerance, expected: &str) {
    assert_eq!(edited(text, &wanted(search, replacement)), Ok((expected.to_owned(), how)), "{search:?}");
}

#[test]
fn each_tolerance_in_its_turn() {
    use Tolerance::*;
    check("a b\nc\n", "b", "x", Exact, "a x\nc\n");
    check("one\r\ntwo\r\nthree", "one\ntwo", "1\n2\n2b", LineEnds, "1\r\n2\r\n2b\r\nthree");
    check("one\rtwo\rthree\r", "one\ntwo\n", "1\n2\n", LineEnds, "1\r2\rthree\r");
    check("one\ntwo\n", "one\r\ntwo", "1\r\n2", LineEnds, "1\n2\n");
    check("a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc", TrailingSpace, "a  \nB\nc\n");
    check(
        PYTHON,
        "total = 0\nfor item in self.items:\n    total += item\nreturn total",
        "total = 1\nfor item in self.items:\n    total *= item\n    print(item)\nreturn total",
        Indentation,
        &PYTHON
            .replace("total = 0", "total = 1")
            .replace("total += item\n", "total *= item\n            print(item)\n"),
    );
    check(
        "if a {\n\tif b {\n\t\tc();\n\t}\n}\n",
        "    if b {\n        c();\n    }\n",
        "    if b {\n        c();\n        if d {\n            e();\n        }\n    }\n",
        Indentation,
        "if a {\n\tif b {\n\t\tc();\n\t\tif d {\n\t\t\te();\n\t\t}\n\t}\n}\n",
    );
    check(
        "let  a =  1; // x\nb\n",
        "let a = 1; // x",
        "let a = 2; // x",
        WhiteSpace,
        "let  a =  2; // x\nb\n",
    );
    check("say(“hello”, x)\n", "say(\"hello\", x)", "say(\"hello\", y)", LookAlikes, "say(“hello”, y)\n");
    check("a\u{a0}= 1\nb\n", "a = 1", "a = 2", LookAlikes, "a\u{a0}= 2\nb\n");
    check("a = \"x\"\nb\n", "a = \\\"x\\\"", "a = \\\"y\\\"", Escapes, "a = \"y\"\nb\n");
    check("a\nb\nc\n", "a\\nb", "a\\nB", Escapes, "a\nB\nc\n");
    check(
        "if a < b && c {\n",
        "if a &lt; b &amp;&amp; c",
        "if a &gt;= b &amp;&amp; c",
        Escapes,
        "if a >= b && c {\n",
    );
    check("x\na\nb\n", "     2\ta\n     3\tb", "     2\ta\n     3\tB", LineNumbers, "x\na\nB\n");
    check("x\na\nb\n", "2 | a\n3 | b", "a\nB", LineNumbers, "x\na\nB\n");
    check("a\nb\n", "\n\na\nb\n", "\n\na\nB\n", OuterBlankLines, "a\nB\n");
}

#[test]
fn lines_around_the_change_may_have_drifted_where_a_line_is_named() {
    let text = "fn a() {\n    one();\n    two(2);\n    three();\n    four();\n}\n";
    let search = "fn a() {\n    one();\n    two();\n    three();\n    four();\n}\n";
    let replacement = search.replace("three", "3");
    let mut asked = wanted(search, &replacement);
    assert!(matches!(edited(text, &asked), Err(Miss::NotFound { nearest: Some(_) })));
    asked.hint = Some(1);
    assert_eq!(edited(text, &asked), Ok((text.replace("three", "3"), Tolerance::Drift)));
    // What the replacement would change is not what the file has.
    let replacement = search.replace("two()", "2()");
    asked.replacement = &replacement;
    assert!(matches!(edited(text, &asked), Err(Miss::Weak { .. })));
    let twice = format!("{text}{text}");
    let replacement = search.replace("three", "3");
    asked.replacement = &replacement;
    assert!(matches!(edited(&twice, &asked), Err(Miss::NotFound { .. })), "a second place makes it a guess");
}

#[test]
fn what_is_ambiguous_is_an_error_unless_a_line_tells() {
    let text = "a\nx\nb\nx\nc\nx\n";
    let ambiguous = Miss::Ambiguous { lines: vec![2, 4, 6], how: Tolerance::Exact };
    assert_eq!(edited(text, &wanted("x", "y")), Err(ambiguous.clone()));
    let by_line = |hint| edited(text, &Wanted { hint: Some(hint), ..wanted("x\n", "y\n") });
    assert_eq!(by_line(4), Ok(("a\nx\nb\ny\nc\nx\n".to_owned(), Tolerance::Exact)));
    assert_eq!(by_line(3), Err(ambiguous));
    let every = Wanted { amount: Amount::Every, ..wanted("x", "y") };
    assert_eq!(edited(text, &every).map(|(text, _)| text), Ok(text.replace('x', "y")));
    let expected = Wanted { amount: Amount::Exactly(2), ..wanted("x", "y") };
    assert_eq!(edited(text, &expected), Err(Miss::Count { lines: vec![2, 4, 6], expected: 2 }));
    let within = Wanted { within: Some(3..5), ..wanted("x", "y") };
    assert_eq!(edited(text, &within), Ok(("a\nx\nb\ny\nc\nx\n".to_owned(), Tolerance::Exact)));
    // Two places that overlap are two.
    assert!(matches!(edited("x\nx\nx\n", &wanted("x\nx\n", "")), Err(Miss::Ambiguous { .. })));
    // The same text at two depths is found at neither.
    assert!(matches!(edited("  a();\n    a();\n", &wanted("a();\n", "b();\n")), Err(Miss::Ambiguous { .. })));
}

#[test]
fn what_cannot_be_trusted_is_an_error() {
    for (text, search, replacement) in [
        // One indentation of the search stands for two of the file.
        ("if a:\n    b()\n        c()\n", "if a:\n  b()\n  c()\n", "if a:\n  b()\n  d()\n"),
        // The new line would stand left of the margin.
        ("a\nb\n", "    a\n    b\n", "    a\nc\n"),
        // A line break would be lost.
        ("  a\n  b\n", "a\nb\n", "a\nc"),
        // How deep a new level is in tabs cannot be told.
        ("\ta(\n\tb\n", "a(\nb\n", "a(\n    c\nb\n"),
        // Some of the replacement's lines have numbers.
        ("a\nb\n", "1\ta\n2\tb\n", "1\ta\nnew\n2\tb\n"),
        // The replacement is not escaped as the search is.
        ("a\nb\n", "a\\nb", "a\nc"),
        ("unrelated\n", "nothing like it", "x"),
        ("a = 10\n", "a  =  1", "a = 2"),
    ] {
        let miss = edited(text, &wanted(search, replacement)).expect_err(search);
        assert!(matches!(miss, Miss::Weak { .. } | Miss::NotFound { .. }), "{search:?}: {miss:?}");
    }
    assert_eq!(edited("a\n", &wanted("", "x")), Err(Miss::Empty));
}

#[test]
fn large_and_monotonous_texts_are_searched_in_time() {
    let same = "x = 1\n".repeat(200_000);
    let search = "x  = 1\n".repeat(2_000);
    assert!(matches!(edited(&same, &wanted(&search, "y\n")), Err(Miss::Ambiguous { .. })));
    let search = format!("{search}z\n");
    assert!(edited(&same, &Wanted { hint: Some(5), ..wanted(&search, "y\n") }).is_err());
    let long = format!("{}b", "a".repeat(2_000_000));
    assert!(edited(&long, &wanted(&"a".repeat(1000), "c")).is_err());
    let flat: String =
        (0..100_000).map(|number| format!("line {number} of it\n")).collect::<Vec<_>>().concat();
    assert!(edited(&flat, &wanted("line 99999 of  it", "x")).is_ok());
}

const ANY: &str = "[ \\ta-c“”…\u{a0}\u{200b}é\\r\\n\"'1-3|\\\\&lt;.]{0,40}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_texts_can_be_matched(text in ANY, search in ANY, replacement in ANY, lines in any::<bool>(), hint in 0usize..6) {
        let unit = if lines { Unit::Lines } else { Unit::Text };
        let asked = Wanted { unit, hint: (hint > 0).then_some(hint), ..wanted(&search, &replacement) };
        for amount in [Amount::One, Amount::Every, Amount::Exactly(2)] {
            if let Ok(found) = find(&Source::new(&text), &Wanted { amount, ..asked.clone() }) {
                prop_assert!(!found.splices.is_empty());
                prop_assert!(crate::files::replace::spliced(&text, found.splices).is_some());
            }
        }
    }

    #[test]
    fn what_is_there_once_is_replaced_there(head in ANY, search in "[a-c]{1,3}[x-z]{2,4}[a-c ]{0,3}", tail in ANY, replacement in "[d-f]{1,5}") {
        let text = format!("{head}{search}{tail}");
        let expected = format!("{head}{replacement}{tail}");
        prop_assert_eq!(edited(&text, &wanted(&search, &replacement)), Ok((expected, Tolerance::Exact)));
    }

    #[test]
    fn lines_that_are_not_matched_keep_their_bytes(
        lines in proptest::collection::vec("[ \\t]{0,6}[a-c ]{0,6}", 1..10),
        at in 0usize..10,
        count in 1usize..4,
        indent in "[ ]{0,4}",
        crlf in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let text: String = lines.iter().flat_map(|line| [line.as_str(), end]).collect();
        let start = at % lines.len();
        let window = &lines[start..(start + count).min(lines.len())];
        let search: String = window.iter().map(|line| format!("{indent}{}\n", line.trim())).collect::<Vec<_>>().concat();
        let replacement = format!("{search}{indent}new\n");
        if let Ok((edited, _)) = edited(&text, &wanted(&search, &replacement)) {
            // One line is new; without it the text is what it was.
            let left: Vec<&str> = edited.split_inclusive(end).filter(|line| !line.contains("new")).collect();
            prop_assert_eq!(left.concat(), text);
        }
    }
}
