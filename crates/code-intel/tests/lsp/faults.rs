//! A server that is late, wrong, gone or silent: never a silent empty answer, never a hang.

use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use stepwell_code_intel::lsp::{Question, ReadyBy};
use stepwell_code_intel::resolve::Direction;
use tokio_util::sync::CancellationToken;

use crate::lab::{Lab, PATIENT, runtime, scripted};

const FILES: &[(&str, &str)] = &[
    ("a.py", "def total():\n    return 1\n\n\ndef pay():\n    return '😀é', total()\n"),
    ("b.py", "import a\n\nprint(a.total())\n"),
];
/// Short enough for a test, long enough for Python to start on a machine that has much to do.
const IMPATIENT: Duration = Duration::from_secs(15);

fn location(path: &str, line: u32, from: u32, to: u32) -> Value {
    json!({"uri": format!("@ROOT/{path}"),
        "range": {"start": {"line": line, "character": from}, "end": {"line": line, "character": to}}})
}

#[track_caller]
fn check(question: Question, runs: &Value, patience: Duration, expected: Expect) {
    let mut lab = Lab::scripted(FILES, runs, patience);
    let shown = runtime().block_on(async {
        let shown = lab.ask("a.py:1:5", question).await;
        lab.servers.close().await;
        shown
    });
    expected.assert_eq(&shown);
}

#[track_caller]
fn check_definition(runs: &Value, expected: Expect) {
    check(Question::Definition, runs, PATIENT, expected);
}

#[test]
fn answers_come_in_all_forms() {
    let good = location("a.py", 0, 4, 9);
    check_definition(&json!([{"textDocument/definition": [{"answer": good}]}]), expect!["a.py:1:5 total"]);
    let link = json!({"targetUri": "@ROOT/a.py", "targetRange": good["range"], "targetSelectionRange": good["range"]});
    check_definition(
        &json!([{"textDocument/definition": [{"answer": [link, good]}]}]),
        expect!["a.py:1:5 total"],
    );
    let outside = json!({"uri": "file:///usr/lib/x%20y.py", "range": good["range"]});
    check_definition(
        &json!([{"textDocument/definition": [{"answer": [outside]}]}]),
        expect!["a.py:1:5 total\n/usr/lib/x y.py:1:5 "],
    );
    let uses = json!([location("b.py", 2, 8, 13), location("a.py", 5, 18, 23)]);
    check(
        Question::References,
        &json!([{"textDocument/references": [{"answer": uses}]}]),
        PATIENT,
        expect![[r#"
            a.py:6:18 total
            b.py:3:9 total"#]],
    );
}

#[test]
fn columns_are_counted_as_was_agreed() {
    for (encoding, at) in [(json!("utf-8"), 21), (json!("utf-16"), 18), (Value::Null, 18)] {
        let capabilities = json!({"positionEncoding": encoding, "definitionProvider": true});
        let runs = json!([{
            "initialize": [{"answer": {"capabilities": capabilities}}],
            "textDocument/definition": [{"answer": location("a.py", 5, at, at + 5)}],
        }]);
        let mut lab = Lab::scripted(FILES, &runs, PATIENT);
        let shown = runtime().block_on(lab.ask("a.py:6:18", Question::Definition));
        assert_eq!(shown, "a.py:6:18 total", "{encoding}");
        assert_eq!(lab.got("textDocument/definition")[0]["position"], json!({"line": 5, "character": at}));
    }
}

#[test]
fn calls_are_followed_step_by_step() {
    let item = |name: &str, line: u32| {
        let mut item = location("a.py", line, 4, 9);
        item["selectionRange"] = item["range"].clone();
        item["name"] = json!(name);
        item["data"] = json!({"kept": name});
        item
    };
    let runs = json!([{
        "textDocument/prepareCallHierarchy": [{"answer": [item("total", 0)]}],
        "callHierarchy/incomingCalls": [{"answer": [
            {"from": item("pay", 4), "fromRanges": []}, {"from": item("total", 0), "fromRanges": []}]}],
    }]);
    let question = Question::Calls { direction: Direction::Callers, depth: 2, most: 10 };
    check(
        question,
        &runs,
        PATIENT,
        expect![[r#"
            total a.py:1
            pay a.py:5
            0->0
            1->0
            0->1
            1->1"#]],
    );
    check(
        question,
        &json!([{}]),
        PATIENT,
        expect!["the language server `scripted` has no answer: it knows no function there"],
    );
}

#[test]
fn an_empty_or_useless_answer_is_no_answer() {
    for (act, expected) in [
        (
            json!({"answer": null}),
            expect!["the language server `scripted` has no answer: it knows nothing there"],
        ),
        (
            json!({"answer": []}),
            expect!["the language server `scripted` has no answer: it knows nothing there"],
        ),
        (
            json!({"answer": [{"place": "somewhere"}]}),
            expect![
                "the language server `scripted` has no answer: its answer names no place: data did not match any variant of untagged enum WireLocation"
            ],
        ),
        (
            json!({"refuse": -32603}),
            expect!["the language server `scripted` has no answer: refused by the script (error -32603)"],
        ),
        (
            json!({"refuse": 0}),
            expect!["the language server `scripted` has no answer: refused by the script"],
        ),
        (
            json!({"refuse": -32801}),
            expect!["the language server `scripted` has no answer: the files change too fast for it"],
        ),
        (
            json!({"long": 17 * 1024 * 1024}),
            expect!["the language server `scripted` has no answer: its answer has 17 MiB, which is too much"],
        ),
    ] {
        check_definition(&json!([{"textDocument/definition": [act]}]), expected);
    }
    check_definition(
        &json!([{"textDocument/definition": [{"answer": [location("a.py", 900, 0, 1), location("gone.py", 0, 0, 1), location("a.py", 0, 4, 9)]}]}]),
        expect![[r#"
            a.py:1:5 total
            note: 2 places that `scripted` named are not in the files as they are"#]],
    );
    check_definition(
        &json!([{"initialize": [{"answer": {"capabilities": {"definitionProvider": false}}}]}]),
        expect!["the language server `scripted` has no answer: it does not answer such questions"],
    );
}

#[test]
fn a_server_that_never_says_hello_is_not_waited_for() {
    check(
        Question::Definition,
        &json!([{"initialize": [{"hang": null}]}]),
        Duration::from_secs(1),
        expect!["the language server `scripted` has no answer: it is still starting"],
    );
}

#[test]
fn a_server_that_never_answers_is_not_waited_for() {
    check(
        Question::Definition,
        &json!([{"textDocument/definition": [{"ignore": null}]}]),
        IMPATIENT,
        expect![
            "the language server `scripted` has no answer: it did not answer `textDocument/definition` in time"
        ],
    );
}

#[test]
fn a_server_that_reads_the_project_for_ever_is_not_waited_for() {
    let begin = json!({"token": 1, "value": {"kind": "begin", "title": "Indexing"}});
    let report = json!({"token": 1, "value": {"kind": "report", "message": "crate x", "percentage": 34}});
    check(
        Question::Definition,
        &json!([{"textDocument/documentSymbol": [
            {"notify": ["$/progress", begin]}, {"notify": ["$/progress", report]}, {"answer": []}]}]),
        IMPATIENT,
        expect!["the language server `scripted` has no answer: it is still reading Indexing crate x (34 %)"],
    );
}

/// As gopls does where packages cannot be loaded.
#[test]
fn a_fault_that_is_told_as_a_job_is_not_waited_for() {
    let fault = json!({"token": 1, "value": {"kind": "begin", "title": "Error loading workspace", "message": "no\nnet"}});
    let reading = json!([{"notify": ["$/progress", fault]}, {"answer": []}]);
    check_definition(
        &json!([{"textDocument/documentSymbol": reading,
            "textDocument/definition": [{"answer": location("a.py", 0, 4, 9)}]}]),
        expect![[r#"
            a.py:1:5 total
            note: `scripted` says: Error loading workspace no net"#]],
    );
    check_definition(
        &json!([{"textDocument/documentSymbol": reading}]),
        expect![
            "the language server `scripted` has no answer: it knows nothing there; it says: Error loading workspace no net"
        ],
    );
    check_definition(
        &json!([{"textDocument/documentSymbol": reading, "textDocument/definition": [{"refuse": 0}]}]),
        expect![
            "the language server `scripted` has no answer: refused by the script; it says: Error loading workspace no net"
        ],
    );
    let job = json!({"token": 2, "value": {"kind": "begin", "title": "Loading packages"}});
    check(
        Question::Definition,
        &json!([{"textDocument/documentSymbol": [
            {"notify": ["$/progress", fault]}, {"notify": ["$/progress", job]}, {"answer": []}]}]),
        IMPATIENT,
        expect![
            "the language server `scripted` has no answer: it is still reading Loading packages; it says: Error loading workspace no net"
        ],
    );
}

#[test]
fn a_complaint_is_told_once_in_a_line_that_is_not_long() {
    let message = format!("No\n\n  toolchain {}", "x ".repeat(300));
    let complains =
        json!([{"notify": ["window/showMessage", {"type": 1, "message": message}]}, {"answer": []}]);
    let mut lab = Lab::scripted(FILES, &json!([{"textDocument/documentSymbol": complains}]), PATIENT);
    let shown = runtime().block_on(lab.ask("a.py:1:5", Question::Definition));
    assert!(shown.contains("it knows nothing there; it says: No toolchain x x"), "{shown}");
    assert!(shown.ends_with(" x…") && shown.len() < 420 && !shown.contains('\n'), "{shown}");
}

#[test]
fn what_a_server_needs_is_looked_for_above_the_file() {
    let answer = json!([{"textDocument/definition": [{"answer": location("deep/down/a.py", 0, 4, 9)}]}]);
    for (manifest, note) in [
        ("deep/made.toml", ""),
        ("deep/down/made.toml", ""),
        ("made.toml", ""),
        (
            "other/made.toml",
            "\nnote: `scripted` knows the whole project only with `made.toml` in a folder above the file",
        ),
    ] {
        let files = [("deep/down/a.py", FILES[0].1), (manifest, "")];
        let spec = |folder: &std::path::Path| {
            let mut spec = scripted(folder, &answer, ReadyBy::Answering);
            spec.project = vec!["made.toml".to_owned()];
            spec
        };
        let mut lab = Lab::new(&files, spec, PATIENT);
        let shown = runtime().block_on(lab.ask("total", Question::Definition));
        assert_eq!(shown, format!("deep/down/a.py:1:5 total{note}"), "{manifest}");
    }
}

#[test]
fn a_crash_at_any_stage_is_told_with_its_words() {
    for stage in ["initialize", "initialized", "textDocument/didOpen", "textDocument/definition"] {
        let acts = json!([{"stderr": "boom: error 7"}, {"exit": 3}]);
        check_definition(
            &json!([{stage: acts}]),
            expect![
                "the language server `scripted` has no answer: it ended 3 times in a row and is not started again; it ended; its last words: boom: error 7"
            ],
        );
    }
    check_definition(
        &json!([{"initialize": [{"refuse": 1}]}]),
        expect![
            "the language server `scripted` has no answer: it ended 3 times in a row and is not started again; it refuses to start: refused by the script"
        ],
    );
    check_definition(
        &json!([{"initialize": [{"raw": "x".repeat(200_000)}]}]),
        expect![[
            r#"the language server `scripted` has no answer: it ended 3 times in a row and is not started again; it does not speak the Language Server Protocol: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx""#
        ]],
    );
}

#[test]
fn a_server_that_crashed_is_started_again() {
    let good = json!({"textDocument/definition": [{"answer": location("a.py", 0, 4, 9)}]});
    let bad = json!({"textDocument/definition": [{"exit": 1}]});
    check_definition(&json!([bad, bad, good]), expect!["a.py:1:5 total"]);
}

#[test]
fn noise_before_the_first_message_is_passed_over() {
    let hello = json!({"answer": {"capabilities": {"definitionProvider": true}}});
    check_definition(
        &json!([{"initialize": [{"raw": "Server 1.0 starts\n"}, hello],
            "textDocument/definition": [{"answer": location("a.py", 0, 4, 9)}]}]),
        expect!["a.py:1:5 total"],
    );
}

#[test]
fn a_missing_program_is_named() {
    let spec = |folder: &std::path::Path| {
        let mut spec = scripted(folder, &json!([{}]), ReadyBy::Answering);
        "no-such-language-server".clone_into(&mut spec.command);
        spec
    };
    let mut lab = Lab::new(FILES, spec, PATIENT);
    let shown = runtime().block_on(lab.ask("total", Question::Definition));
    expect!["no language server for Python is on the machine: `no-such-language-server` not found"]
        .assert_eq(&shown);
    let mut lab = Lab::new(
        &[("main.go", "package main\n\nfunc main() {}\n")],
        |folder| scripted(folder, &json!([{}]), ReadyBy::Answering),
        PATIENT,
    );
    let shown = runtime().block_on(lab.ask("main", Question::Definition));
    expect!["no language server is known for Go"].assert_eq(&shown);
    let shown = runtime().block_on(lab.ask("nowhere", Question::Definition));
    expect!["no language server was asked: the code index does not know where `nowhere` stands"]
        .assert_eq(&shown);
}

#[test]
fn its_questions_are_answered() {
    let ask = |method: &str, params: Value| json!({"ask": [method, params]});
    let hello = json!({"answer": {"capabilities": {"definitionProvider": true}}});
    let configuration =
        json!({"items": [{"section": "scripted.deep"}, {"section": "other.thing"}, {"section": "scripted"}]});
    let runs = json!([{"initialize": [
        hello,
        ask("workspace/configuration", configuration),
        ask("client/registerCapability", json!({"registrations": []})),
        ask("window/workDoneProgress/create", json!({"token": 1})),
        ask("window/showMessageRequest", json!({"message": "Restart?", "actions": [{"title": "Yes"}]})),
        ask("workspace/applyEdit", json!({"edit": {}})),
        ask("dance", json!({})),
    ], "textDocument/definition": [{"answer": location("a.py", 0, 4, 9)}]}]);
    let mut lab = Lab::scripted(FILES, &runs, PATIENT);
    runtime().block_on(lab.ask("total", Question::Definition));
    let answers = lab.log().into_iter().filter(|line| line["got"]["id"] == "own-1").map(|line| {
        let got = &line["got"];
        if got["error"].is_null() { got["result"].to_string() } else { got["error"]["code"].to_string() }
    });
    expect![[r#"
        [7,null,{"deep":7}]
        null
        null
        null
        {"applied":false,"failureReason":"nothing is edited here"}
        -32601"#]]
    .assert_eq(&answers.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_cancelled_question_is_taken_back() {
    let runs = json!([{"textDocument/definition": [{"ignore": null}]}]);
    let mut lab = Lab::scripted(FILES, &runs, PATIENT);
    runtime().block_on(async {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let shown = lab.ask_until("total", Question::Definition, &cancel).await;
        expect!["the language server `scripted` has no answer: the question was cancelled"].assert_eq(&shown);
    });
}
