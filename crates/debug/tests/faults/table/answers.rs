//! Answers that are late, missing, wrong or far too large.

use expect_test::expect;
use serde_json::json;
use stepwell_test_support::Act;

use super::{answer, behaved, seconds, stopped};
use crate::driver::check;

#[test]
fn evaluate_is_never_answered() {
    check(
        behaved().on("evaluate", []),
        expect![[r#"
        evaluate (20 s): error, the adapter did not answer `evaluate` within 20s
        variables: 1 of them
        step: ok
        stepped: stopped, step
        continue: ok
        continued: completed, Some(0)
        end: Terminated
    "#]],
    );
}

#[test]
fn evaluate_is_answered_late() {
    check(
        behaved().on("evaluate", [seconds(12), answer(json!({ "result": "late", "variablesReference": 0 }))]),
        expect![[r#"
            evaluate (12 s): late
            variables: 1 of them
            step: ok
            stepped: stopped, step
            continue: ok
            continued: completed, Some(0)
            end: Terminated
        "#]],
    );
}

#[test]
fn evaluate_is_answered_too_late() {
    check(
        behaved().once(
            "evaluate",
            [seconds(22), answer(json!({ "result": "too late", "variablesReference": 0 }))],
        ),
        expect![[r#"
            evaluate (20 s): error, the adapter did not answer `evaluate` within 20s
            variables (2 s): 1 of them
            step: ok
            stepped: stopped, step
            continue: ok
            continued: completed, Some(0)
            end: Terminated
        "#]],
    );
}

#[test]
fn evaluate_is_answered_twice() {
    check(
        behaved()
            .on("evaluate", [answer(json!({ "result": "first" })), answer(json!({ "result": "second" }))]),
        expect![[r#"
            evaluate: first
            variables: 1 of them
            step: ok
            stepped: stopped, step
            continue: ok
            continued: completed, Some(0)
            end: Terminated
        "#]],
    );
}

#[test]
fn a_step_is_never_answered() {
    check(
        behaved().on("next", []),
        expect![[r#"
        step (15 s): error, the adapter did not answer `next` within 15s
        stepped (60 s): timed out, Running
        end: Terminated
    "#]],
    );
}

#[test]
fn a_step_is_refused() {
    check(
        behaved().on("next", [Act::Refuse("not now".to_owned())]),
        expect![[r#"
        step: error, the adapter refused `next`: not now
        stepped (60 s): timed out, Stopped
        end: Terminated
    "#]],
    );
}

#[test]
fn a_step_is_answered_and_nothing_stops() {
    check(
        behaved().on("next", [answer(json!({}))]),
        expect![[r#"
        stepped (60 s): timed out, Running
        end: Terminated
    "#]],
    );
}

#[test]
fn the_stop_comes_before_the_answer() {
    check(behaved().on("next", [stopped("step", 1), answer(json!({}))]), expect![[r""]]);
}

#[test]
fn disconnect_is_never_answered() {
    check(
        behaved().on("continue", [answer(json!({}))]).on("disconnect", []),
        expect![[r#"
        continued (60 s): timed out, Running
        end (3 s): Terminated
    "#]],
    );
}

#[test]
fn variables_are_no_list() {
    check(
        behaved().on("variables", [answer(json!({ "variables": "none" }))]),
        expect![[r#"
        report: main:Some(3) 
        evaluate: 1
        variables: error, the answer to `variables` cannot be understood: invalid type: string "none", expected a sequence at line 1 column 19
        step: ok
        stepped: stopped, step
        continue: ok
        continued: completed, Some(0)
        end: Terminated
    "#]],
    );
}

#[test]
fn a_stack_without_frames() {
    check(
        behaved().on("stackTrace", [answer(json!({ "stackFrames": [] }))]),
        expect![[r#"
        report: :None 
        evaluate: error, thread 1 has no frames
        variables: 1 of them
        step: ok
        stepped: stopped, step
        continue: ok
        continued: completed, Some(0)
        end: Terminated
    "#]],
    );
}

#[test]
fn a_stack_that_never_ends() {
    check(
        behaved().on(
            "stackTrace",
            [answer(json!({ "stackFrames": vec![json!({ "id": 1, "name": "again", "line": 1, "column": 1 }); 20], "totalFrames": 9_000_000_000_i64 }))],
        ),
        expect![[r#"
            report: again:Some(1) x=1
            evaluate: 1
            variables: 1 of them
            step: ok
            stepped: stopped, step
            continue: ok
            continued: completed, Some(0)
            end: Terminated
        "#]],
    );
}

#[test]
fn numbers_beyond_all_bounds() {
    check(
        behaved().on(
            "stackTrace",
            [answer(json!({ "stackFrames": [{ "id": 1e300, "name": "main", "line": -5, "column": 1.5 }], "totalFrames": -1 }))],
        ),
        expect![[r#"
            report: error, the answer to `stackTrace` cannot be understood: invalid type: floating point `1e+300`, expected i64 at line 1 column 28
            evaluate: error, the answer to `stackTrace` cannot be understood: invalid type: floating point `1e+300`, expected i64 at line 1 column 28
            variables: 1 of them
            step: ok
            stepped: stopped, step
            continue: ok
            continued: completed, Some(0)
            end: Terminated
        "#]],
    );
}

#[test]
fn variables_that_hold_themselves() {
    check(
        behaved().on(
            "variables",
            [answer(json!({ "variables": [{ "name": "self", "value": "{...}", "variablesReference": 7 }] }))],
        ),
        expect![[r#"
            report: main:Some(3) self={...}
            evaluate: 1
            variables: 1 of them
            step: ok
            stepped: stopped, step
            continue: ok
            continued: completed, Some(0)
            end: Terminated
        "#]],
    );
}

#[test]
fn evaluate_is_refused_without_a_reason() {
    let refusal = r#"{"type":"response","request_seq":@,"success":false,"command":"evaluate"}"#;
    check(
        behaved().on("evaluate", [Act::AnswerRaw(refusal.into())]),
        expect![[r#"
        evaluate: error, the adapter refused `evaluate`: no reason was given
        variables: 1 of them
        step: ok
        stepped: stopped, step
        continue: ok
        continued: completed, Some(0)
        end: Terminated
    "#]],
    );
}
