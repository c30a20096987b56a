//! Reports as their frameworks wrote them, shortened.

use expect_test::{Expect, expect};

use super::*;

fn check(framework: Framework, report: &str, stdout: &str, expected: &Expect) {
    let folder = Path::new("/nowhere");
    let run = RunText { report: Some(report), stdout, stderr: "", folder, root: folder };
    let told: Vec<String> = read(framework, &run)
        .iter()
        .map(|test| {
            let place = test.file.as_ref().map(|file| format!(" {file}:{}", test.line.unwrap_or_default()));
            let took = test.duration_ms.map(|took| format!(" {took}ms")).unwrap_or_default();
            let message = test.message.lines().next().unwrap_or_default();
            format!("{:?} {}{}{took} {message}", test.status, test.id, place.unwrap_or_default())
        })
        .collect();
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn junit_of_ctest_and_googletest_is_read() {
    check(
        Framework::Ctest,
        r#"<?xml version="1.0"?><testsuite name="Linux" tests="3" failures="1" disabled="1">
        <testcase name="adds" classname="adds" time="0.0042" status="run"><properties/><system-out>fine</system-out></testcase>
        <testcase name="fails" classname="fails" time="1.5" status="fail"><failure message="Failed"/><system-out>a &lt; b
        </system-out></testcase>
        <testcase name="off" classname="off" time="0" status="disabled"><skipped message="Disabled"/></testcase></testsuite>"#,
        "",
        &expect![[r#"
            Passed adds 4ms 
            Failed fails 1500ms Failed
            Skipped off 0ms Disabled"#]],
    );
    check(
        Framework::Gtest,
        r#"<testsuites><testsuite name="Math"><testcase name="Adds" file="math_test.cc" line="3" status="run" result="completed" time="0." classname="Math" />
        <testcase name="Fails" file="math_test.cc" line="7" status="run" result="completed" time="0.001" classname="Math">
        <failure message="math_test.cc:8&#x0A;Expected equality" type=""><![CDATA[math_test.cc:8
Expected equality of <these> values]]></failure></testcase>
        <testcase name="DISABLED_Off" status="notrun" result="suppressed" classname="Math"/></testsuite></testsuites>"#,
        "",
        &expect![[r#"
            Passed Math.Adds math_test.cc:3 0ms 
            Failed Math.Fails math_test.cc:7 1ms math_test.cc:8
            Skipped Math.DISABLED_Off "#]],
    );
    check(Framework::Gtest, "<testsuites><testcase name=\"torn", "", &expect![""]);
    check(Framework::Gtest, "no xml at all", "", &expect![""]);
}

#[test]
fn the_json_of_mocha_is_read() {
    check(
        Framework::Mocha,
        r#"{"stats": {}, "tests": [
            {"title": "adds", "fullTitle": "math adds", "file": "/w/a.js", "duration": 3, "err": {}},
            {"title": "fails", "fullTitle": "math fails", "file": "/w/a.js", "duration": 1, "err": {"message": "1 != 2", "stack": "AssertionError: 1 != 2\n    at a.js:3:4"}},
            {"title": "later", "fullTitle": "math later", "file": "/w/a.js", "err": {}}],
            "pending": [{"title": "later", "fullTitle": "math later", "err": {}}],
            "failures": [{"fullTitle": "math \"before all\" hook", "err": {"message": "no"}}], "passes": []}"#,
        "",
        &expect![[r#"
            Passed math adds /w/a.js:0 3ms 
            Failed math fails /w/a.js:0 1ms 1 != 2
            Skipped math later /w/a.js:0 
            Error math "before all" hook no"#]],
    );
}

#[test]
fn packages_of_go_that_cannot_be_built_are_errors() {
    check(
        Framework::GoTest,
        "",
        "{\"Action\":\"output\",\"Package\":\"m/broken\",\"Output\":\"FAIL\\tm/broken [build failed]\\n\"}\n{\"Action\":\"fail\",\"Package\":\"m/broken\",\"Elapsed\":0}\nno json\n{\"Action\":\"run\",\"Package\":\"m\",\"Test\":\"TestA\"}\n{\"Action\":\"output\",\"Package\":\"m\",\"Test\":\"TestA\",\"Output\":\"    a_test.go:5: no\\n\"}\n{\"Action\":\"fail\",\"Package\":\"m\",\"Test\":\"TestA\",\"Elapsed\":0.25}\n{\"Action\":\"fail\",\"Package\":\"m\",\"Elapsed\":0.3}\n",
        &expect![[r#"
            Error m/broken FAIL	m/broken [build failed]
            Failed TestA 250ms a_test.go:5: no"#]],
    );
}

#[test]
fn the_text_of_cargo_is_read() {
    check(
        Framework::Cargo,
        "",
        "running 4 tests\ntest tests::adds ... ok\ntest tests::fails ... FAILED\ntest tests::later ... ignored, too slow\ntest tests::panics - should panic ... ok\n\nfailures:\n\n---- tests::fails stdout ----\n\nthread 'tests::fails' (12) panicked at src/lib.rs:8:9:\nassertion failed\n\n\nfailures:\n    tests::fails\n\ntest result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n",
        &expect![[r#"
            Passed tests::adds 
            Failed tests::fails src/lib.rs:8 assertion failed
            Skipped tests::later too slow
            Passed tests::panics "#]],
    );
}
