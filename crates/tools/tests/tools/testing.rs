//! Tests of real frameworks, run by `run_tests`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::{Bench, free};

async fn run(bench: &Bench, arguments: Value) -> String {
    let result = bench.call("run_tests", arguments).await.result;
    let place = bench.folder.path().canonicalize().expect("a folder").display().to_string();
    result.output.replace(&place, "$TMP")
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

/// Says that a test was skipped, which may not happen where everything is installed.
#[allow(clippy::print_stderr, reason = "a test says why it was skipped")]
fn skipped(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what} is missing");
    eprintln!("skipped: {what} is missing");
}

fn has(program: &str) -> bool {
    let found = stepwell_workspace::process::find_program(program, "/nowhere".as_ref()).is_some();
    if !found {
        skipped(program);
    }
    found
}

async fn python_has(bench: &Bench, module: &str) -> bool {
    let found = bench.call("bash", json!({"command": format!("python3 -c 'import {module}'")})).await.result;
    let is_there = !found.output.contains("[exit code");
    if !is_there {
        skipped(module);
    }
    is_there
}

const PYTEST: &[u8] = b"import pytest\n\n\ndef test_adds():\n    assert 1 + 1 == 2\n\n\nclass TestShop:\n    def test_pays(self):\n        print('paying')\n        total = 3\n        assert total == 4\n\n\n@pytest.mark.parametrize('x', [1, 2])\ndef test_each(x):\n    assert x == 1\n\n\n@pytest.mark.skip(reason='later')\ndef test_later():\n    pass\n";

#[tokio::test]
async fn pytest_is_found_and_its_failures_have_place_message_and_output() {
    let bench = free();
    if !python_has(&bench, "pytest").await {
        return;
    }
    bench.put("tests/test_shop.py", PYTEST);
    bench.put("tests/test_broken.py", b"import nothing_like_this\n");
    let text = run(&bench, json!({})).await;
    assert_has(
        &text,
        &[
            "2 passed, 2 failed, 1 with errors, 1 skipped in ",
            "`python3 -m pytest`",
            "FAILED tests/test_shop.py::TestShop::test_pays at tests/test_shop.py:12\n  assert 3 == 4\n",
            "paying",
            "FAILED tests/test_shop.py::test_each[2] at tests/test_shop.py:17",
            "why: debug_failure {\"command\":\"python3 -m pytest tests/test_shop.py::TestShop::test_pays\"}",
            "ERROR tests/test_broken.py at tests/test_broken.py:1\n  ModuleNotFoundError",
            "skipped tests/test_shop.py::test_later: later",
        ],
    );
    let live = bench.host.live.lock().clone();
    assert!(live.contains("test_shop.py"), "{live}");

    // Only what failed, then only what still fails.
    bench.shell("rm tests/test_broken.py; sed -i 's/total = 3/total = 4/' tests/test_shop.py").await;
    run(&bench, json!({})).await;
    let again = run(&bench, json!({"only_failed": true})).await;
    assert_has(&again, &["0 passed, 1 failed in", "test_each[2]"]);
    bench.shell("sed -i 's/assert x == 1/assert x/' tests/test_shop.py").await;
    assert_has(&run(&bench, json!({"only_failed": true})).await, &["1 passed in"]);
    assert_has(&run(&bench, json!({"only_failed": true})).await, &["no test failed last time"]);
    let one = run(&bench, json!({"path": "tests/test_shop.py", "pattern": "adds"})).await;
    assert_has(&one, &["1 passed in"]);
}

#[tokio::test]
async fn the_word_for_a_failure_leads_debug_failure_to_it() {
    let bench = free();
    if !python_has(&bench, "pytest").await || !python_has(&bench, "debugpy").await {
        return;
    }
    bench.put("test_shop.py", PYTEST);
    let data = bench.call("run_tests", json!({})).await.output.expect("data");
    let arguments = data["failures"][0]["debug_failure"].clone();
    let why = bench.call("debug_failure", arguments).await.result.output;
    assert_has(&why, &["total", "test_shop.py"]);
}

#[tokio::test]
async fn unittest_is_found_with_subtests_and_skips() {
    let bench = free();
    bench.put(
        "test_shop.py",
        b"import unittest\n\n\nclass ShopTest(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 1, 2)\n\n    def test_pays(self):\n        print('paying')\n        self.assertEqual(3, 4)\n\n    def test_each(self):\n        for x in (1, 2):\n            with self.subTest(x=x):\n                self.assertEqual(x, 1)\n\n    @unittest.skip('later')\n    def test_later(self):\n        pass\n\n    @unittest.expectedFailure\n    def test_known(self):\n        self.fail()\n",
    );
    let text = run(&bench, json!({})).await;
    assert_has(
        &text,
        &[
            "2 passed, 2 failed, 1 skipped in ",
            "`python3 -m unittest discover`",
            "FAILED test_shop.ShopTest.test_pays at test_shop.py:10\n  AssertionError: 3 != 4",
            "paying",
            "FAILED test_shop.ShopTest.test_each (x=2) at test_shop.py:15",
            "python3 -m unittest test_shop.ShopTest.test_pays",
            "skipped test_shop.ShopTest.test_later: later",
        ],
    );
    assert_has(&run(&bench, json!({"only_failed": true})).await, &["0 passed, 2 failed in"]);
}

#[tokio::test]
async fn go_test_is_read_with_its_subtests() {
    let bench = free();
    if !has("go") {
        return;
    }
    bench.put("go.mod", b"module shop\n\ngo 1.19\n");
    bench.put("shop.go", b"package shop\n\nfunc Total(x int) int { return x }\n");
    bench.put("other/other.go", b"package other\n");
    bench.put(
        "shop_test.go",
        b"package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tt.Run(\"two\", func(t *testing.T) {\n\t\tif Total(2) != 3 {\n\t\t\tt.Errorf(\"got %d\", Total(2))\n\t\t}\n\t})\n}\n\nfunc TestFine(t *testing.T) {}\n\nfunc TestLater(t *testing.T) { t.Skip(\"later\") }\n",
    );
    let text = run(&bench, json!({})).await;
    assert_has(
        &text,
        &[
            "1 passed, 2 failed, 1 skipped in ",
            "`go test ./...`",
            "FAILED TestTotal/two at shop_test.go:8",
            "got 2",
            "skipped TestLater: ",
            "go test shop -run '^(TestTotal)$'",
        ],
    );
    let live = bench.host.live.lock().clone();
    assert!(live.contains("--- FAIL: TestTotal/two") && !live.contains("\"Action\""), "{live}");
    assert_has(&run(&bench, json!({"only_failed": true})).await, &["0 passed, 2 failed in"]);
    assert_has(&run(&bench, json!({"pattern": "Fine"})).await, &["1 passed in"]);
    bench.put("shop.go", b"package shop\n\nfunc Total(x int) int { return \n");
    let broken = run(&bench, json!({"path": "shop_test.go"})).await;
    assert_has(&broken, &["ERROR shop at shop.go:4\n  ./shop.go:4:1: syntax error"]);
}

#[tokio::test]
async fn cargo_test_is_read_and_nextest_too() {
    let bench = free();
    bench.put("Cargo.toml", b"[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    bench.put(
        "src/lib.rs",
        b"#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n\n    #[test]\n    fn fails() {\n        println!(\"paying\");\n        assert_eq!(1, 2, \"they differ\");\n    }\n\n    #[test]\n    #[ignore = \"later\"]\n    fn later() {}\n}\n",
    );
    bench.put("tests/whole.rs", b"#[test]\nfn whole() {}\n");
    let text = run(&bench, json!({})).await;
    assert_has(
        &text,
        &[
            "2 passed, 1 failed, 1 skipped in ",
            "FAILED tests::fails at src/lib.rs:9",
            "they differ",
            "paying",
            "skipped tests::later: later",
            "why: debug_failure {\"command\":\"cargo test -- --exact tests::fails\"}",
        ],
    );
    assert_has(&run(&bench, json!({"only_failed": true})).await, &["0 passed, 1 failed in"]);
    assert_has(&run(&bench, json!({"path": "tests/whole.rs"})).await, &["1 passed in"]);
    if has("cargo-nextest") {
        let text = run(&bench, json!({"framework": "nextest"})).await;
        assert_has(&text, &["2 passed, 1 failed", "FAILED tests::fails at src/lib.rs:9", "they differ"]);
        let again = run(&bench, json!({"framework": "nextest", "only_failed": true})).await;
        assert_has(&again, &["0 passed, 1 failed"]);
    }
    bench.put("src/lib.rs", b"fn broken( {}\n");
    assert_has(&run(&bench, json!({})).await, &["ERROR build"]);
}

#[tokio::test]
async fn node_test_is_found_and_names_its_suites() {
    let bench = free();
    if !has("node") {
        return;
    }
    bench.put("package.json", b"{\"name\": \"shop\", \"scripts\": {\"test\": \"node --test\"}}");
    bench.put(
        "shop.test.js",
        b"const { describe, it } = require('node:test');\nconst assert = require('node:assert');\ndescribe('shop', () => {\n  it('adds', () => {});\n  it('pays', () => {\n    assert.strictEqual(3, 4);\n  });\n  it('later', { skip: 'not yet' }, () => {});\n});\n",
    );
    let text = run(&bench, json!({})).await;
    assert_has(
        &text,
        &[
            "1 passed, 1 failed, 1 skipped in ",
            "`node --test`",
            "FAILED shop > pays at shop.test.js:6",
            "3 !== 4",
            "skipped shop > later: not yet",
            "node --test '--test-name-pattern=^pays$' shop.test.js",
        ],
    );
    assert_has(&run(&bench, json!({"only_failed": true})).await, &["0 passed, 1 failed"]);
}

/// A folder with jest and vitest, where the tests of Node have them.
fn runners() -> Option<PathBuf> {
    let folder = std::env::var_os("STEPWELL_TEST_RUNNERS").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("node_modules/vitest").is_dir());
    if folder.is_none() {
        skipped("STEPWELL_TEST_RUNNERS");
    }
    folder
}

#[tokio::test]
async fn jest_and_vitest_are_read_by_their_json() {
    let Some(folder) = runners() else { return };
    for framework in ["jest", "vitest"] {
        let bench = free();
        bench.shell(&format!("ln -s {}/node_modules node_modules", folder.display())).await;
        let manifest = format!("{{\"name\": \"shop\", \"scripts\": {{\"test\": \"{framework}\"}}}}");
        bench.put("package.json", manifest.as_bytes());
        let import =
            if framework == "vitest" { "import { describe, expect, it } from 'vitest';\n" } else { "\n" };
        let tests = "describe('shop', () => {\n  it('adds', () => {});\n  it('pays', () => {\n    expect(3).toBe(4);\n  });\n  it.skip('later', () => {});\n});\n";
        bench.put("shop.test.js", format!("{import}{tests}").as_bytes());
        let text = run(&bench, json!({})).await;
        assert_has(
            &text,
            &["1 passed, 1 failed, 1 skipped in ", "FAILED shop > pays at shop.test.js:5", "4"],
        );
        assert_has(&run(&bench, json!({"only_failed": true})).await, &["0 passed, 1 failed"]);
        assert_has(&run(&bench, json!({"pattern": "adds", "path": "shop.test.js"})).await, &["1 passed"]);
    }
}

#[tokio::test]
async fn only_tests_that_a_change_concerns_are_run() {
    let bench = free();
    if !python_has(&bench, "pytest").await {
        return;
    }
    bench.put("conftest.py", b"");
    bench.put("shop.py", b"def total():\n    return 1\n");
    bench.put("cart.py", b"import shop\n\n\ndef pay():\n    return shop.total()\n");
    bench.put("other.py", b"def other():\n    return 1\n");
    bench.put("test_cart.py", b"import cart\n\n\ndef test_pay():\n    assert cart.pay() == 1\n");
    bench.put("test_other.py", b"import other\n\n\ndef test_other():\n    assert other.other() == 1\n");
    let git = "git init -q -b main . && git config user.name A && git config user.email a@b.c && git add -A && git commit -qm x";
    bench.shell(git).await;
    assert_has(&run(&bench, json!({"changed_only": true})).await, &["what changed concerns no test"]);
    bench.put("shop.py", b"def total():\n    return 2\n");
    let text = run(&bench, json!({"changed_only": true})).await;
    assert_has(&text, &["0 passed, 1 failed", "`python3 -m pytest test_cart.py`"]);
}

#[tokio::test]
async fn any_command_that_writes_junit_is_read() {
    let bench = free();
    bench.put(
        "fake.sh",
        b"mkdir -p out\ncat > out/a.xml <<'E'\n<testsuite><testcase classname='Shop' name='pays' time='0.5'><failure message='no'>at shop.sh:3</failure></testcase><testcase classname='Shop' name='adds'/></testsuite>\nE\nexit 1\n",
    );
    bench.put("out/old.xml", b"<testsuite><testcase classname='Old' name='one'/></testsuite>");
    bench.shell("touch -d '2020-01-01' out/old.xml").await;
    let text = run(&bench, json!({"command": "bash fake.sh", "report": "out"})).await;
    assert_has(&text, &["1 passed, 1 failed in", "FAILED Shop.pays"]);
    let none = run(&bench, json!({"command": "exit 3", "report": "none.xml"})).await;
    assert_has(&none, &["ended with exit code 3 and reported no test"]);
    let nothing = run(&bench, json!({})).await;
    assert_has(&nothing, &["no test framework was found"]);
}

#[tokio::test]
async fn coverage_tells_uncommitted_lines_first() {
    let bench = free();
    if !has("go") {
        return;
    }
    bench.put("go.mod", b"module shop\n\ngo 1.19\n");
    bench.put("shop.go", b"package shop\n\nfunc Total(x int) int {\n\treturn x\n}\n\nfunc Other(x int) int {\n\tif x > 1 {\n\t\treturn 1\n\t}\n\treturn 2\n}\n");
    bench.put(
        "shop_test.go",
        b"package shop\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) { Other(1) }\n",
    );
    let git = "git init -q -b main . && git config user.name A && git config user.email a@b.c && git add -A && git commit -qm x";
    bench.shell(git).await;
    bench.put("shop.go", b"package shop\n\nfunc Total(x int) int {\n\treturn x\n}\n\nfunc Other(x int) int {\n\tif x > 1 {\n\t\treturn 7\n\t}\n\treturn 2\n}\n");
    let none = bench.call("analyze_coverage", json!({})).await.result.output;
    assert_has(&none, &["no coverage report was found", "go test -coverprofile"]);
    bench.shell("go test -coverprofile=cover.out ./... > /dev/null").await;
    let text = bench.call("analyze_coverage", json!({})).await.result.output;
    assert_has(
        &text,
        &[
            "in 1 files (cover.out, go cover)",
            "uncommitted lines that no test runs:\n  shop.go: 9\n",
            "  shop.go ",
            "Total (line 3): never runs",
            "Other (line 7): ",
        ],
    );
    let one = bench.call("analyze_coverage", json!({"path": "shop.go"})).await.result.output;
    assert_has(&one, &["Total (line 3): never runs"]);
    let wrong = bench.call("analyze_coverage", json!({"path": "go.mod"})).await.result.output;
    assert_has(&wrong, &["is neither a coverage report nor a file of"]);
}
