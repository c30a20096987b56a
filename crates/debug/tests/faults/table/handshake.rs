//! Faults before the program runs, and ends of the adapter in every state.

use expect_test::expect;
use serde_json::json;
use stepwell_debug::session::Phase;
use stepwell_test_support::{Act, FakeAdapter};

use super::{answer, behaved, event, seconds, stopped};
use crate::driver::{Driver, check, check_well, run};

/// The twin of all others.
#[test]
fn an_adapter_without_faults() {
    check_well(behaved());
}

#[test]
fn initialize_is_never_answered() {
    check(
        behaved().on("initialize", []),
        expect![[r#"
            start (30 s): failed, debugpy was started but says nothing for 30s [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn initialize_is_refused() {
    check(
        behaved().on("initialize", [Act::Refuse("no".to_owned())]),
        expect![[r#"
        start: failed, the adapter refused `initialize`: no
        end: Terminated
    "#]],
    );
}

#[test]
fn initialize_is_answered_late() {
    check(
        behaved()
            .on("initialize", [seconds(20), answer(json!({ "supportsConfigurationDoneRequest": true }))]),
        expect![[r#"
            start (20 s): stopped, entry
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

#[test]
fn initialize_is_answered_with_something_else() {
    check(
        behaved().on("initialize", [answer(json!([1, 2]))]),
        expect![[r#"
        start: failed, the answer to `initialize` cannot be understood: invalid type: sequence, expected struct Capabilities at line 1 column 0
        end: Terminated
    "#]],
    );
}

#[test]
fn launch_is_never_answered() {
    check(behaved().on("launch", [event("initialized", json!({}))]), expect![[r""]]);
}

#[test]
fn launch_is_refused_and_nothing_else_comes() {
    check(
        behaved().on("launch", [Act::Refuse("no such file".to_owned())]),
        expect![[r#"
        start: failed, no such file
        end: Terminated
    "#]],
    );
}

#[test]
fn launch_is_answered_after_configuration_is_done() {
    check(
        behaved().on("launch", [event("initialized", json!({}))]).on(
            "configurationDone",
            [answer(json!({})), Act::AnswerTo("launch".to_owned(), json!({})), stopped("entry", 1)],
        ),
        expect![[r""]],
    );
}

#[test]
fn launch_is_refused_after_configuration_is_done() {
    check(
        behaved().on(
            "launch",
            [event("initialized", json!({})), seconds(1), Act::Refuse("it does not build".to_owned())],
        ),
        expect![[r#"
            start (1 s): failed, it does not build
            end: Terminated
        "#]],
    );
}

#[test]
fn initialized_never_comes() {
    check(
        behaved().on("launch", [answer(json!({}))]),
        expect![[r#"
        start (60 s): timed out, Starting
        end: Terminated
    "#]],
    );
}

#[test]
fn initialized_comes_late() {
    check(
        behaved().on("launch", [answer(json!({})), seconds(40), event("initialized", json!({}))]),
        expect![[r#"
            start (40 s): stopped, entry
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

#[test]
fn initialized_comes_before_anything_is_asked() {
    check(
        behaved().at_connection([event("initialized", json!({}))]).on("launch", [answer(json!({}))]),
        expect![[r""]],
    );
}

#[test]
fn initialized_comes_a_hundred_times() {
    check(
        behaved()
            .on("launch", [answer(json!({})), Act::Repeat(100, Box::new(event("initialized", json!({}))))]),
        expect![[r""]],
    );
}

#[test]
fn configuration_done_is_never_answered() {
    check(
        behaved().on("configurationDone", []),
        expect![[r#"
        start (60 s): timed out, Starting
        end: Terminated
    "#]],
    );
}

#[test]
fn configuration_done_is_refused() {
    check(
        behaved().on("configurationDone", [Act::Refuse("never heard of it".to_owned())]),
        expect![[r#"
            start: failed, never heard of it
            end: Terminated
        "#]],
    );
}

#[test]
fn breakpoints_are_never_answered() {
    check(behaved().on("setExceptionBreakpoints", []), expect![[r""]]);
}

#[test]
fn it_ends_at_once() {
    check(
        behaved().at_connection([Act::Close]),
        expect![[r#"
            start: failed, debugpy ended before it was ready: the adapter closed the connection [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn it_crashes_at_initialize() {
    check(
        behaved().on("initialize", [Act::Close]),
        expect![[r#"
            start: failed, debugpy ended before it was ready: the adapter closed the connection [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn it_crashes_at_launch() {
    check(
        behaved().on("launch", [Act::Close]),
        expect![[r#"
            start: failed, debugpy ended while it started the program: the adapter closed the connection [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn it_crashes_in_the_middle_of_a_message() {
    check(
        behaved()
            .on("launch", [Act::Raw(b"Content-Length: 500\r\n\r\n{\"type\":\"resp".to_vec()), Act::Close]),
        expect![[r#"
            start: failed, debugpy ended while it started the program: the adapter closed the connection [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn it_crashes_at_configuration_done() {
    check(
        behaved().on("configurationDone", [Act::Close]),
        expect![[r#"
            start: failed, debugpy ended while it started the program: the adapter closed the connection [look at `stepwell adapters doctor`]
            end: Terminated
        "#]],
    );
}

#[test]
fn it_crashes_while_the_program_is_stopped() {
    check(
        behaved().on("scopes", [Act::Close]),
        expect![[r#"
        report: error, `scopes` was not answered: the adapter closed the connection
        evaluate: error, session s2 is over
        variables: error, `variables` was not answered: the adapter closed the connection
        step: error, session s2 is over
        stepped: failed, the debug adapter debugpy ended by itself: the adapter closed the connection
        end: Terminated
    "#]],
    );
}

#[test]
fn it_crashes_while_the_program_runs() {
    check(
        behaved().on("next", [answer(json!({})), seconds(5), Act::Close]),
        expect![[r#"
        stepped (5 s): failed, the debug adapter debugpy ended by itself: the adapter closed the connection
        end: Terminated
    "#]],
    );
}

#[test]
fn it_crashes_at_disconnect() {
    check(
        behaved().on("continue", [answer(json!({}))]).on("disconnect", [Act::Close]),
        expect![[r#"
        continued (60 s): timed out, Running
        end: Terminated
    "#]],
    );
}

#[test]
fn it_hangs_and_reads_nothing() {
    check(
        behaved().on("scopes", [Act::Hang]),
        expect![[r#"
        report (15 s): error, the adapter did not answer `scopes` within 15s
        evaluate (15 s): error, the adapter did not answer `stackTrace` within 15s
        variables (15 s): error, the adapter did not answer `variables` within 15s
        step (15 s): error, the adapter did not answer `next` within 15s
        stepped (60 s): timed out, Running
        end (3 s): Terminated
    "#]],
    );
}

/// A program that has stopped was launched, so a missing answer must not end its session when the time is up.
#[test]
fn a_session_outlives_the_deadline_of_its_launch() {
    let script = behaved().on("launch", [event("initialized", json!({}))]);
    let phase = run(async {
        let driver = Driver::new();
        let session = driver.start(&FakeAdapter::new(script));
        driver.wait(&session, 0).await;
        let much_later = std::time::Duration::from_secs(300);
        tokio::time::timeout(much_later, session.over()).await.ok();
        session.phase()
    });
    assert_eq!(phase, Phase::Stopped);
}
