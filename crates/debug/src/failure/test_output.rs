//! Reads the failing tests from the output of test runners: name, place, message.

use std::path::{Path, PathBuf};

/// A test that a runner reports as failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedTest {
    pub name: String,
    /// As it is printed: a path, or only a file's name.
    pub file: Option<String>,
    pub line: Option<i64>,
    pub message: String,
    /// Everything that the runner printed below the test's name.
    pub details: String,
}

impl FailedTest {
    /// Whether a panic of Rust ended the test.
    pub fn has_panicked(&self) -> bool {
        self.details.contains("panicked at")
    }
}

/// Failing tests that are read at most.
const MOST: usize = 500;
/// Lines below a test's name that belong to it at most.
const MOST_LINES: usize = 60;

/// Returns the failing tests in the order they are reported, each once.
pub fn failed_tests(output: &str) -> Vec<FailedTest> {
    let lines: Vec<&str> = output.lines().collect();
    let mut found: Vec<FailedTest> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let below = &lines[at + 1..lines.len().min(at + 1 + MOST_LINES)];
        let test = go(line, below)
            .or_else(|| rust(line, below))
            .or_else(|| rust_uncaptured(line, below, output))
            .or_else(|| tap(line, below))
            .or_else(|| node_spec(line, below))
            .or_else(|| jest(line, below))
            .or_else(|| vitest(line, below))
            .or_else(|| mocha(line, below))
            .or_else(|| google_test(line, &lines[..at]));
        let Some(mut test) = test else { continue };
        let is_next = |line: &&&str| line.trim_start().starts_with("--- ") || line.starts_with("---- ");
        let end = below.iter().position(|line| is_next(&line)).unwrap_or(below.len());
        test.details = std::iter::once(line).chain(&below[..end]).copied().collect::<Vec<_>>().join("\n");
        match found.iter().position(|known| known.name == test.name) {
            // Summaries repeat names without places.
            Some(at) if found[at].line.is_none() && test.line.is_some() => found[at] = test,
            Some(_) => {}
            None if found.len() < MOST => found.push(test),
            None => break,
        }
    }
    add_listed(&mut found, output);
    // Tests of Rust run side by side; the list at the end has the same order each time.
    found.sort_by_key(|test| listed_at(&test.name, output));
    // A Go test fails when one of its subtests does.
    let names: Vec<String> = found.iter().map(|test| test.name.clone()).collect();
    found.retain(|test| {
        let inner = format!("{}/", test.name);
        test.line.is_some() || !names.iter().any(|name| name.starts_with(&inner))
    });
    found
}

/// `    --- FAIL: TestTotal/two (0.00s)`, then `        total_test.go:11: got 3`, or a panic and its goroutine.
fn go(line: &str, below: &[&str]) -> Option<FailedTest> {
    let name = line.trim_start().strip_prefix("--- FAIL: ")?.rsplit_once(" (")?.0.to_owned();
    let own = || below.iter().take_while(|line| !line.trim_start().starts_with("--- "));
    let told = own().find_map(|line| {
        let (place, message) = line.trim_start().split_once(": ")?;
        let (file, number) = place.rsplit_once(':')?;
        let number =
            number.parse().ok().filter(|_| Path::new(file).extension().is_some_and(|end| end == "go"))?;
        Some((file.to_owned(), number, message.to_owned()))
    });
    if let Some((file, line, message)) = told {
        return Some(FailedTest {
            name,
            file: Some(file),
            line: Some(line),
            message,
            ..FailedTest::default()
        });
    }
    let panic = own().find_map(|line| line.trim_start().strip_prefix("panic: "));
    let message = panic.map(|message| message.split(" [recovered").next().unwrap_or(message));
    let message = message.map(|message| format!("panic: {message}")).unwrap_or_default();
    Some(FailedTest { name, message, ..FailedTest::default() })
}

/// `---- tests::name stdout ----`, then `thread 'tests::name' panicked at src/lib.rs:8:9:` and the message.
fn rust(line: &str, below: &[&str]) -> Option<FailedTest> {
    let name = line.strip_prefix("---- ")?.strip_suffix(" stdout ----")?.to_owned();
    let own = &below[..below.iter().position(|line| line.starts_with("---- ")).unwrap_or(below.len())];
    let Some(at) = own.iter().position(|line| line.contains(" panicked at ")) else {
        return rust_without_panic(name, own);
    };
    let place = below[at].split_once(" panicked at ")?.1.trim_end_matches(':');
    let (place, _) = place.rsplit_once(':')?;
    let (file, number) = place.rsplit_once(':')?;
    let message = below.get(at + 1).copied().unwrap_or_default();
    Some(FailedTest {
        name,
        file: Some(file.to_owned()),
        line: number.parse().ok(),
        message: message.to_owned(),
        ..FailedTest::default()
    })
}

/// `Error: "no such"` of a test that returned it, or `note: test did not panic as expected at src/lib.rs:8:32`.
fn rust_without_panic(name: String, own: &[&str]) -> Option<FailedTest> {
    let missing = "note: test did not panic as expected";
    let told = own.iter().find(|line| line.starts_with("Error: ") || line.starts_with(missing))?;
    let Some(rest) = told.strip_prefix(missing) else {
        return Some(FailedTest { name, message: (*told).to_owned(), ..FailedTest::default() });
    };
    let (file, line) = rest.strip_prefix(" at ").and_then(place_in).unzip();
    let message = "the test did not panic as expected".to_owned();
    Some(FailedTest { name, file, line, message, ..FailedTest::default() })
}

/// Adds the tests of Rust that the list at the end names and that printed nothing under their names. One that returned an
/// error without being captured printed it anywhere.
fn add_listed(found: &mut Vec<FailedTest>, output: &str) {
    let Some(list) = output.rfind("\nfailures:\n    ") else { return };
    let names = output[list..].lines().skip(2).map_while(|line| line.strip_prefix("    "));
    let is_new = |name: &&str| !found.iter().any(|known| known.name == *name);
    let missing: Vec<&str> = names.filter(is_new).take(MOST).collect();
    let mut errors = output.lines().filter(|line| line.starts_with("Error: "));
    let error = errors.next().filter(|_| errors.next().is_none() && missing.len() == 1);
    let message = error.unwrap_or("it returned an error").to_owned();
    found.extend(missing.into_iter().map(|name| FailedTest {
        name: name.to_owned(),
        message: message.clone(),
        details: message.clone(),
        ..FailedTest::default()
    }));
}

/// `thread 'tests::name' panicked at src/lib.rs:8:9:` where the harness does not capture, and later that the test failed.
fn rust_uncaptured(line: &str, below: &[&str], output: &str) -> Option<FailedTest> {
    let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
    let place = rest.split_once(" panicked at ")?.1.trim_end_matches(':');
    listed_at(name, output)?;
    let (place, _) = place.rsplit_once(':')?;
    let (file, number) = place.rsplit_once(':')?;
    let is_own = |line: &&&str| !line.starts_with("note: ") && !line.starts_with("test ") && !line.is_empty();
    let message: Vec<&str> = below.iter().take_while(is_own).take(1).copied().collect();
    Some(FailedTest {
        name: name.to_owned(),
        file: Some(file.to_owned()),
        line: number.parse().ok(),
        message: message.concat(),
        ..FailedTest::default()
    })
}

/// Where the list of failures at the end names a test. Tests print into each other's lines before it.
fn listed_at(name: &str, output: &str) -> Option<usize> {
    let list = output.rfind("failures:\n")?;
    output[list..].find(&format!("\n    {name}\n"))
}

/// `not ok 1 - name`, then `error: 'message'` and the lines of `stack`.
fn tap(line: &str, below: &[&str]) -> Option<FailedTest> {
    let rest = line.trim_start().strip_prefix("not ok ")?;
    let name = rest.split_once(" - ")?.1.split(" # ").next()?.trim().to_owned();
    let own: Vec<&str> = below.iter().map(|line| line.trim()).take_while(|line| *line != "...").collect();
    // A file or suite fails because something in it does.
    if own.iter().any(|line| line.contains("subtestsFailed")) {
        return None;
    }
    let at = own.iter().position(|line| line.starts_with("error: "))?;
    let message = match own[at].trim_start_matches("error: ").trim() {
        "|-" | "|" | ">-" => {
            let text = own[at + 1..].iter().take_while(|line| !is_key(line)).filter(|line| !line.is_empty());
            text.take(2).copied().collect::<Vec<_>>().join(" ")
        }
        text => text.trim_matches(['\'', '"']).to_owned(),
    };
    let stack = own.iter().position(|line| line.starts_with("stack:")).unwrap_or_default();
    let place = own[stack..].iter().find_map(|line| place_in(line));
    let (file, line) = place.unzip();
    Some(FailedTest { name, file, line, message, ..FailedTest::default() })
}

/// Whether a line of YAML begins a new field.
fn is_key(line: &str) -> bool {
    let name = line.split_once(':').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(char::is_alphanumeric)
}

/// `✖ name (1.2ms)`, then the error and its stack.
fn node_spec(line: &str, below: &[&str]) -> Option<FailedTest> {
    let name = line.trim_start().strip_prefix("✖ ")?;
    let name = name.rsplit_once(" (").filter(|(_, time)| time.ends_with("ms)"))?.0.to_owned();
    let own = until(below, '✖');
    let is_message = |line: &&str| line.contains("Error") || line.starts_with('\'');
    let message = own.iter().map(|line| line.trim()).find(is_message)?.to_owned();
    let (file, line) = stack_place(own).unzip();
    Some(FailedTest { name, file, line, message, ..FailedTest::default() })
}

/// `  ● suite › name`, then the message and `at Object.<anonymous> (a.test.js:5:10)`.
fn jest(line: &str, below: &[&str]) -> Option<FailedTest> {
    let name = line.trim_start().strip_prefix("● ")?.trim().to_owned();
    let own = until(below, '●');
    let lines = own.iter().map(|line| line.trim()).skip_while(|line| line.is_empty());
    let message: Vec<&str> = lines.take_while(|line| !line.is_empty()).take(3).collect();
    let (file, line) = stack_place(own)?;
    let (file, line, message) = (Some(file), Some(line), message.join(" "));
    Some(FailedTest { name, file, line, message, ..FailedTest::default() })
}

/// ` FAIL  a.test.ts > suite > name`, then the error and ` ❯ a.test.ts:5:20`.
fn vitest(line: &str, below: &[&str]) -> Option<FailedTest> {
    let name = line.trim_start().strip_prefix("FAIL ")?.trim();
    name.split_once(" > ")?;
    let message = below.iter().map(|line| line.trim()).find(|line| !line.is_empty())?;
    let mut places = below.iter().filter_map(|line| line.trim_start().strip_prefix("❯ "));
    let (file, line) = places.find_map(place_in).unzip();
    let (name, message) = (name.to_owned(), message.to_owned());
    Some(FailedTest { name, file, line, message, ..FailedTest::default() })
}

/// `  1) suite`, `       name:`, then the error and its stack.
fn mocha(line: &str, below: &[&str]) -> Option<FailedTest> {
    let (number, suite) = line.trim_start().split_once(") ")?;
    number.parse::<usize>().ok()?;
    let at = below.iter().take(6).position(|line| line.trim_end().ends_with(':'))?;
    let inner = below[..=at].iter().map(|line| line.trim().trim_end_matches(':'));
    let name = std::iter::once(suite.trim()).chain(inner).collect::<Vec<_>>().join(" > ");
    let own = &below[at + 1..];
    let message = own.iter().map(|line| line.trim()).find(|line| !line.is_empty())?.to_owned();
    let (file, line) = stack_place(own)?;
    Some(FailedTest { name, file: Some(file), line: Some(line), message, ..FailedTest::default() })
}

/// `[  FAILED  ] Suite.Name (0 ms)`, after `a_test.cc:12: Failure` and its message.
fn google_test(line: &str, above: &[&str]) -> Option<FailedTest> {
    let name = line.strip_prefix("[  FAILED  ] ")?;
    let name = name.split([' ', ',']).next().filter(|name| name.contains('.'))?.to_owned();
    let starts = above.iter().rposition(|line| line.starts_with("[ RUN      ]"))?;
    let own = &above[starts..];
    let at = own.iter().position(|line| line.ends_with(": Failure"));
    let place = at.and_then(|at| own[at].strip_suffix(": Failure")?.rsplit_once(':'));
    let message = at.and_then(|at| own.get(at + 1)).map(|line| line.trim().to_owned());
    Some(FailedTest {
        name,
        file: place.map(|(file, _)| file.to_owned()),
        line: place.and_then(|(_, number)| number.parse().ok()),
        message: message.unwrap_or_default(),
        ..FailedTest::default()
    })
}

/// The lines up to the next one that begins with a mark.
fn until<'a, 't>(lines: &'a [&'t str], mark: char) -> &'a [&'t str] {
    let end = lines.iter().position(|line| line.trim_start().starts_with(mark));
    &lines[..end.unwrap_or(lines.len())]
}

/// The first place of a JavaScript stack that is not a package's.
fn stack_place(lines: &[&str]) -> Option<(String, i64)> {
    let calls =
        lines.iter().filter(|line| line.trim_start().starts_with("at ") && !line.contains("node_modules"));
    calls.into_iter().find_map(|line| place_in(line))
}

/// The `file:line:column` at the end of a line.
fn place_in(line: &str) -> Option<(String, i64)> {
    let place = line.trim().trim_end_matches(')').rsplit([' ', '(']).next()?.trim_matches(['\'', '"']);
    let place = place.strip_prefix("file://").unwrap_or(place);
    let (place, column) = place.rsplit_once(':').filter(|_| !place.starts_with("node:"))?;
    column.parse::<i64>().ok()?;
    let (file, number) = place.rsplit_once(':')?;
    Some((file.to_owned(), number.parse().ok()?))
}

/// Finds the file that a runner names, from the folder the command ran in.
pub(super) fn located(file: &str, folder: &Path) -> Option<PathBuf> {
    let path = folder.join(file);
    path.is_file().then(|| stepwell_workspace::files::resolved(&path))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &Expect) {
        let shown: Vec<String> = failed_tests(output)
            .into_iter()
            .map(|test| {
                let place = test.file.zip(test.line).map(|(file, line)| format!("{file}:{line}"));
                format!("{} | {} | {}", test.name, place.unwrap_or_default(), test.message)
            })
            .collect();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn go_tells_subtests_and_panics_apart() {
        check(
            "--- FAIL: TestLongest (0.00s)\n    --- FAIL: TestLongest/two (0.00s)\n        trip_test.go:11: longest is 10, not 9\n--- FAIL: TestThird (0.00s)\npanic: runtime error: index out of range [2] with length 2 [recovered]\n\tpanic: again\n\ngoroutine 8 [running]:\nFAIL\ttrip\t0.005s\n",
            &expect![[r#"
                TestLongest/two | trip_test.go:11 | longest is 10, not 9
                TestThird |  | panic: runtime error: index out of range [2] with length 2"#]],
        );
    }

    #[test]
    fn rust_names_each_test_with_its_panic() {
        check(
            "failures:\n\n---- tests::a stdout ----\n\nthread 'tests::a' panicked at src/lib.rs:30:9:\nassertion `left == right` failed: twelve\n  left: 6\n\n---- tests::b stdout ----\nthread 'tests::b' (7) panicked at src/lib.rs:19:5:\nattempt to divide by zero\n\nfailures:\n    tests::a\n    tests::b\n",
            &expect![[r#"
                tests::a | src/lib.rs:30 | assertion `left == right` failed: twelve
                tests::b | src/lib.rs:19 | attempt to divide by zero"#]],
        );
    }

    #[test]
    fn rust_tests_that_return_an_error_or_do_not_panic_are_read() {
        check(
            "failures:\n\n---- tests::a stdout ----\nError: \"n is 4\"\n\n---- tests::b stdout ----\nnote: test did not panic as expected at src/lib.rs:8:32\n\nfailures:\n    tests::a\n    tests::b\n\ntest result\n",
            &expect![[r#"
                tests::a |  | Error: "n is 4"
                tests::b | src/lib.rs:8 | the test did not panic as expected"#]],
        );
        check(
            "thread 'tests::b' (7) panicked at src/lib.rs:19:5:\nno\nError: \"n is 4\"\ntest tests::a ... FAILED\n\nfailures:\n\nfailures:\n    tests::a\n    tests::b\n\ntest result\n",
            &expect![[r#"
                tests::a |  | Error: "n is 4"
                tests::b | src/lib.rs:19 | no"#]],
        );
    }

    #[test]
    fn rust_tests_that_are_not_captured_are_read() {
        check(
            "running 2 tests\n\nthread 'tests::b' (7) panicked at src/lib.rs:19:5:\nattempt to divide by zero\nnote: run with\ntest tests::b ... \nthread 'tests::a' (8) panicked at src/lib.rs:30:9:\ntwelve\nFAILED\nthread 'worker' panicked at src/lib.rs:3:1:\nno\ntest tests::a ... FAILED\n\nfailures:\n\nfailures:\n    tests::a\n    tests::b\n\ntest result\n",
            &expect![[r#"
                tests::a | src/lib.rs:30 | twelve
                tests::b | src/lib.rs:19 | attempt to divide by zero"#]],
        );
    }

    #[test]
    fn javascript_runners_are_read() {
        check(
            "not ok 1 - shares are equal\n  ---\n  location: '/w/cart.test.mjs:9:1'\n  failureType: 'testCodeFailure'\n  error: '4 == 3'\n  code: 'ERR_ASSERTION'\n  stack: |-\n    TestContext.<anonymous> (file:///w/cart.test.mjs:11:10)\n  ...\nnot ok 2 - file\n  ---\n  failureType: 'subtestsFailed'\n  error: '1 subtest failed'\n  ...\n",
            &expect!["shares are equal | /w/cart.test.mjs:11 | 4 == 3"],
        );
        check(
            "✖ nobody shares (0.2ms)\n  TypeError: Cannot read properties of null\n      at TestContext.<anonymous> (file:///w/cart.test.mjs:16:20)\n      at node:internal/x:1:2\n",
            &expect!["nobody shares | /w/cart.test.mjs:16 | TypeError: Cannot read properties of null"],
        );
        check(
            "  ● cart › adds\n\n    expect(received).toBe(expected)\n\n      at Object.<anonymous> (src/cart.test.js:5:10)\n",
            &expect!["cart › adds | src/cart.test.js:5 | expect(received).toBe(expected)"],
        );
        check(
            " FAIL  src/cart.test.ts > cart > adds\nAssertionError: expected 3 to be 4\n ❯ src/cart.test.ts:5:20\n",
            &expect![
                "src/cart.test.ts > cart > adds | src/cart.test.ts:5 | AssertionError: expected 3 to be 4"
            ],
        );
        check(
            "  1) cart\n       adds:\n     Error: no\n      at Context.<anonymous> (test/cart.js:5:10)\n",
            &expect!["cart > adds | test/cart.js:5 | Error: no"],
        );
    }

    #[test]
    fn google_tests_are_read() {
        check(
            "[ RUN      ] Cart.Adds\ncart_test.cc:12: Failure\nExpected equality of these values:\n  total\n    Which is: 3\n[  FAILED  ] Cart.Adds (0 ms)\n[  FAILED  ] Cart.Adds\n",
            &expect!["Cart.Adds | cart_test.cc:12 | Expected equality of these values:"],
        );
    }

    #[test]
    fn output_that_only_looks_alike_names_no_test() {
        check("1) first\n2) second\n--- a/file\n+++ b/file\n✖ nothing\nFAIL here\n● note\n", &expect![""]);
    }
}
