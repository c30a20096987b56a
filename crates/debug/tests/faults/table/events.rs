//! Events in the wrong order or number, and what is no message at all.

use expect_test::expect;
use serde_json::json;
use stepwell_test_support::Act;

use super::{answer, behaved, event, framed, stopped};
use crate::driver::check;

#[test]
fn the_same_stop_is_told_three_times() {
    check(
        behaved().on(
            "configurationDone",
            [answer(json!({})), stopped("entry", 1), stopped("entry", 1), stopped("entry", 1)],
        ),
        expect![[r""]],
    );
}

#[test]
fn continued_comes_after_the_stop() {
    check(
        behaved().on(
            "next",
            [
                answer(json!({})),
                stopped("step", 1),
                event("continued", json!({ "threadId": 1, "allThreadsContinued": true })),
            ],
        ),
        expect![[r#"
            stepped (60 s): timed out, Running
            end: Terminated
        "#]],
    );
}

#[test]
fn continued_of_another_thread_comes_after_the_stop() {
    check(
        behaved().on(
            "next",
            [
                answer(json!({})),
                stopped("step", 1),
                event("continued", json!({ "threadId": 2, "allThreadsContinued": false })),
            ],
        ),
        expect![[r""]],
    );
}

#[test]
fn it_stops_before_it_was_launched() {
    check(behaved().at_connection([stopped("entry", 1)]), expect![[r""]]);
}

#[test]
fn it_terminates_before_it_was_launched() {
    check(
        behaved().at_connection([event("terminated", json!({}))]),
        expect![[r#"
        start: completed, None
        end: Terminated
    "#]],
    );
}

#[test]
fn exited_comes_after_terminated() {
    check(
        behaved().on(
            "continue",
            [answer(json!({})), event("terminated", json!({})), event("exited", json!({ "exitCode": 7 }))],
        ),
        expect![[r#"
            continued: completed, Some(7)
            end: Terminated
        "#]],
    );
}

#[test]
fn it_stops_after_it_terminated() {
    check(
        behaved().on(
            "continue",
            [
                answer(json!({})),
                event("terminated", json!({})),
                stopped("breakpoint", 1),
                event("continued", json!({})),
            ],
        ),
        expect![[r#"
            continued: completed, None
            end: Terminated
        "#]],
    );
}

#[test]
fn events_without_bodies_and_with_wrong_ones() {
    check(
        behaved().on(
            "configurationDone",
            [
                answer(json!({})),
                framed(r#"{"type":"event","event":"stopped"}"#),
                event("output", json!(17)),
                event("thread", json!({ "threadId": "one" })),
                event("breakpoint", json!(null)),
                event("capabilities", json!({ "capabilities": 5 })),
                event("nobody knows this", json!({ "a": [1] })),
            ],
        ),
        expect![[r#"
            start: stopped, 
            report: main:Some(3) x=1
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

/// D06: an adapter that floods its client costs its own session alone.
#[test]
fn a_flood_of_events() {
    check(
        behaved().on(
            "next",
            [
                answer(json!({})),
                Act::Repeat(
                    100_000,
                    Box::new(event("output", json!({ "category": "stdout", "output": "flood\n" }))),
                ),
                stopped("step", 1),
            ],
        ),
        expect![[r""]],
    );
}

#[test]
fn a_flood_of_stops() {
    check(
        behaved().on(
            "next",
            [
                answer(json!({})),
                Act::Repeat(20_000, Box::new(stopped("step", 1))),
                Act::Repeat(10_000, Box::new(stopped("pause", 2))),
            ],
        ),
        expect![[r""]],
    );
}

/// D06: lengths that would fill the memory.
#[test]
fn lengths_that_nobody_can_mean() {
    check(
        behaved().on("evaluate", [Act::Raw(b"Content-Length: 9000000000000000000\r\n\r\n{}".to_vec())]),
        expect![[r#"
            evaluate: error, `evaluate` was not answered: the adapter does not speak the Debug Adapter Protocol: `9000000000000000000` is no length of a message
            variables: error, `variables` was not answered: the adapter does not speak the Debug Adapter Protocol: `9000000000000000000` is no length of a message
            step: error, session s2 is over
            stepped: failed, the debug adapter debugpy ended by itself: the adapter does not speak the Debug Adapter Protocol: `9000000000000000000` is no length of a message
            end: Terminated
        "#]],
    );
}

#[test]
fn negative_lengths() {
    check(
        behaved().on("evaluate", [Act::Raw(b"Content-Length: -1\r\n\r\n{}".to_vec())]),
        expect![[r#"
        evaluate: error, `evaluate` was not answered: the adapter does not speak the Debug Adapter Protocol: `-1` is no length of a message
        variables: error, `variables` was not answered: the adapter does not speak the Debug Adapter Protocol: `-1` is no length of a message
        step: error, session s2 is over
        stepped: failed, the debug adapter debugpy ended by itself: the adapter does not speak the Debug Adapter Protocol: `-1` is no length of a message
        end: Terminated
    "#]],
    );
}

#[test]
fn garbage_instead_of_an_answer() {
    check(
        behaved().on(
            "evaluate",
            [framed("this is no JSON"), framed("[]"), framed("{}"), answer(json!({ "result": "1" }))],
        ),
        expect![[r""]],
    );
}

#[test]
fn noise_between_messages() {
    check(
        behaved().on(
            "evaluate",
            [Act::Raw(b"warning: something printed here\n".to_vec()), answer(json!({ "result": "1" }))],
        ),
        expect![[r""]],
    );
}

#[test]
fn nothing_but_noise() {
    check(
        behaved()
            .at_connection([Act::Repeat(10_000, Box::new(Act::Raw(b"GET / HTTP/1.1\r\n\r\n".to_vec())))]),
        expect![[r#"
            start: failed, debugpy ended before it was ready: the adapter does not speak the Debug Adapter Protocol: " / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\nGET / HTTP/" [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn a_value_of_ten_megabytes() {
    check(
        behaved().on(
            "variables",
            [Act::AnswerLong {
                before: r#"{"variables":[{"name":"big","variablesReference":0,"value":""#.to_owned(),
                length: 10 * 1024 * 1024,
                after: r#""}]}"#.to_owned(),
            }],
        ),
        expect![[r#"
            report: main:Some(3) big=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
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
fn a_text_of_fifty_megabytes() {
    check(
        behaved().on(
            "evaluate",
            [Act::AnswerLong {
                before: r#"{"result":""#.to_owned(),
                length: 50 * 1024 * 1024,
                after: r#"","variablesReference":0}"#.to_owned(),
            }],
        ),
        expect![[r#"
            evaluate: error, the adapter's answer has 52428924 bytes, which is too much
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
fn json_that_is_too_deep() {
    check(
        behaved().on(
            "evaluate",
            [
                answer(json!({})),
                framed(&format!("{{\"body\":{}1{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000))),
            ],
        ),
        expect![[r#"
            evaluate: 
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
fn questions_that_nobody_answers() {
    check(
        behaved().on(
            "configurationDone",
            [
                answer(json!({})),
                Act::Ask("makeCoffee".to_owned(), json!({})),
                Act::Ask("runInTerminal".to_owned(), json!({ "args": [] })),
                Act::Ask("runInTerminal".to_owned(), json!({ "cwd": "/", "args": ["/nowhere/program"] })),
                Act::Ask("startDebugging".to_owned(), json!({ "request": "launch", "configuration": {} })),
                Act::Ask("startDebugging".to_owned(), json!({ "request": "attach", "configuration": { "connect": { "host": "192.0.2.1", "port": 80 } } })),
                stopped("entry", 1),
            ],
        ),
        expect![[r""]],
    );
}

#[test]
fn text_that_is_no_utf_8() {
    let bytes = b"{\"type\":\"response\",\"request_seq\":@,\"success\":true,\"body\":{\"result\":\"caf\xe9 \xff\xfe.\"}}";
    check(
        behaved().on("evaluate", [Act::AnswerRaw(bytes.to_vec())]),
        expect![[r#"
        evaluate: caf� ��.
        variables: 1 of them
        step: ok
        stepped: stopped, step
        continue: ok
        continued: completed, Some(0)
        end: Terminated
    "#]],
    );
}
