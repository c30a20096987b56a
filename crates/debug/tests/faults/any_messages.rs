//! Whatever an adapter says, in whichever order, and whatever is asked of the session meanwhile.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use stepwell_debug::adapters::AdapterKind;
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::ids::{AdapterFrameId, AdapterReference};
use stepwell_debug::session::{Paging, Phase, Session, Step};
use stepwell_debug::stop_report::Detail;
use stepwell_test_support::{Act, AdapterScript, FakeAdapter};

use crate::driver::{Driver, run};

const COMMANDS: [&str; 14] = [
    "initialize",
    "launch",
    "setBreakpoints",
    "setExceptionBreakpoints",
    "configurationDone",
    "threads",
    "stackTrace",
    "scopes",
    "variables",
    "evaluate",
    "next",
    "continue",
    "pause",
    "disconnect",
];

const EVENTS: [&str; 11] = [
    "initialized",
    "stopped",
    "continued",
    "exited",
    "terminated",
    "thread",
    "output",
    "breakpoint",
    "process",
    "capabilities",
    "unheard of",
];

fn body() -> impl Strategy<Value = Value> {
    let number =
        prop_oneof![Just(json!(0)), Just(json!(1)), Just(json!(-1)), Just(json!(1e300)), Just(json!("1"))];
    prop_oneof![
        3 => Just(json!({})),
        1 => Just(json!(null)),
        1 => Just(json!([1, { "a": null }])),
        3 => (number.clone(), prop_oneof![Just("breakpoint"), Just("step"), Just("exception"), Just("")]).prop_map(
            |(thread, reason)| json!({ "reason": reason, "threadId": thread, "allThreadsStopped": true,
                "hitBreakpointIds": [1], "text": "SystemExit" })
        ),
        2 => number.prop_map(|number| json!({ "exitCode": number, "threadId": number, "result": "1",
            "variablesReference": number, "output": "text\n", "category": "stdout",
            "stackFrames": [{ "id": number, "name": "f", "line": 2, "column": 1 }],
            "scopes": [{ "name": "Locals", "variablesReference": 7 }],
            "variables": [{ "name": "x", "value": "1", "variablesReference": 7 }],
            "threads": [{ "id": 1, "name": "main" }], "breakpoints": [{ "id": 1, "verified": true }] })),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => body().prop_map(Act::Answer),
        2 => Just(Act::Refuse("no".to_owned())),
        6 => (prop::sample::select(&EVENTS[..]), body()).prop_map(|(name, body)| Act::Event(name.to_owned(), body)),
        1 => (prop::sample::select(&COMMANDS[..]), body()).prop_map(|(name, body)| Act::AnswerTo(name.to_owned(), body)),
        1 => (prop_oneof![Just("runInTerminal"), Just("startDebugging"), Just("x")], body())
            .prop_map(|(name, body)| Act::Ask(name.to_owned(), body)),
        1 => prop::collection::vec(any::<u8>(), 0..60).prop_map(Act::Raw),
        1 => (0_u64..40).prop_map(|seconds| Act::Wait(Duration::from_secs(seconds))),
        1 => Just(Act::Close),
        1 => Just(Act::Hang),
    ]
}

/// A well-behaved adapter, some of whose answers are replaced by anything.
fn script() -> impl Strategy<Value = AdapterScript> {
    let reaction = (prop::sample::select(&COMMANDS[..]), prop::collection::vec(act(), 0..5));
    let first = prop::collection::vec(act(), 0..3);
    (prop::collection::vec(reaction, 0..6), prop_oneof![3 => Just(Vec::new()), 1 => first]).prop_map(
        |(reactions, first)| {
            reactions
                .into_iter()
                .fold(AdapterScript::behaved(), |script, (command, acts)| script.on(command, acts))
                .at_connection(first)
        },
    )
}

/// What is asked of the session.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Report,
    Evaluate,
    Variables,
    Step,
    Resume,
    Pause,
    Breakpoint,
    End,
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        Just(Wish::Report),
        Just(Wish::Evaluate),
        Just(Wish::Variables),
        Just(Wish::Step),
        Just(Wish::Resume),
        Just(Wish::Pause),
        Just(Wish::Breakpoint),
        Just(Wish::End),
    ]
}

/// States come in this order; only running and stopped go back and forth.
fn rank(phase: Phase) -> u8 {
    match phase {
        Phase::Idle => 0,
        Phase::Starting => 1,
        Phase::Running | Phase::Stopped => 2,
        Phase::Terminating => 3,
        Phase::Terminated => 4,
    }
}

async fn fulfil(driver: &Driver, session: &std::sync::Arc<Session>, wish: Wish) {
    match wish {
        Wish::Report => {
            if let Ok(stop) = session.stopped() {
                session.report(&stop, Detail::COMPACT).await.ok();
            }
        }
        Wish::Evaluate => drop(session.evaluate("x", Some(AdapterFrameId(1)), "watch").await),
        Wish::Variables => {
            drop(session.variables(AdapterReference(7), Some(AdapterFrameId(1)), Paging::default()).await);
        }
        Wish::Step => drop(session.step(None, Step::Over).await),
        Wish::Resume => drop(session.resume(None).await),
        Wish::Pause => drop(session.pause(None).await),
        Wish::Breakpoint => {
            let new = NewBreakpoint {
                path: driver.source(),
                line: 2,
                hit_condition: Some("% 3 == 1".to_owned()),
                ..NewBreakpoint::default()
            };
            driver.debugger.set_breakpoint(new).await.ok();
        }
        Wish::End => driver.debugger.end(session).await,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_an_adapter_says_breaks_a_session(
        script in script(),
        wishes in prop::collection::vec(wish(), 0..8),
        kind in prop::sample::select(vec![AdapterKind::Debugpy, AdapterKind::Gdb, AdapterKind::LldbDap]),
    ) {
        run(async {
            let driver = Driver::new();
            let session = driver.start_as(kind, &FakeAdapter::new(script));
            let watched = std::sync::Arc::clone(&session);
            // Looks again whenever anything else has had its turn.
            let watch = tokio::spawn(async move {
                let mut last = rank(watched.phase());
                while last < 4 {
                    let now = rank(watched.phase());
                    assert!(now >= last, "from {last} back to {now}");
                    assert!(watched.stop().is_none() || watched.phase() == Phase::Stopped);
                    last = now;
                    tokio::time::timeout(Duration::from_millis(100), std::future::pending::<()>()).await.ok();
                }
            });
            let all = async {
                driver.wait(&session, 0).await;
                for wish in wishes {
                    fulfil(&driver, &session, wish).await;
                }
                driver.debugger.end(&session).await;
                session.over().await;
                watch.await.unwrap();
            };
            tokio::time::timeout(Duration::from_secs(1800), all).await.expect("it hangs");
        });
    }
}
