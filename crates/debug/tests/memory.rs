//! What floods a session must not flood memory. Alone in its process: the measure is the process's own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests"
)]

#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "faults/driver.rs"]
mod driver;

use serde_json::json;
use stepwell_debug::adapters::AdapterKind;
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_test_support::{Act, AdapterScript, FakeAdapter};

use crate::driver::{Driver, life, run};

/// The most a fault may add, in kilobytes.
const MOST_ADDED: u64 = 64 * 1024;

/// The highest memory use since it was last reset.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn reset_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded() {
    let long = |before: &str, megabytes: usize, after: &str| Act::AnswerLong {
        before: before.to_owned(),
        length: megabytes * 1024 * 1024,
        after: after.to_owned(),
    };
    let event = |name: &str, body| Act::Event(name.to_owned(), body);
    let flood = |act: Act| vec![Act::Answer(json!({})), Act::Repeat(100_000, Box::new(act))];
    let judged = json!({ "reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [1] });
    let script = AdapterScript::behaved;
    let cases = [
        ("no fault", AdapterKind::Debugpy, script()),
        (
            "a text of 50 MB",
            AdapterKind::Debugpy,
            script().on("evaluate", [long(r#"{"result":""#, 50, r#""}"#)]),
        ),
        (
            "the largest text that is taken",
            AdapterKind::Debugpy,
            script().on("evaluate", [long(r#"{"result":""#, 15, r#""}"#)]),
        ),
        (
            "variables of 10 MB",
            AdapterKind::Debugpy,
            script().on(
                "variables",
                [long(r#"{"variables":[{"name":"x","variablesReference":0,"value":""#, 10, r#""}]}"#)],
            ),
        ),
        (
            "a flood of output",
            AdapterKind::Debugpy,
            script().on(
                "next",
                flood(event("output", json!({ "category": "stdout", "output": "x".repeat(200) }))),
            ),
        ),
        ("a flood of stops", AdapterKind::Gdb, script().on("next", flood(event("stopped", judged)))),
        (
            "a flood of questions",
            AdapterKind::Debugpy,
            script().on("next", flood(Act::Ask("runInTerminal".to_owned(), json!({})))),
        ),
        (
            "a flood of beginnings",
            AdapterKind::Debugpy,
            script().on("next", flood(event("initialized", json!({})))),
        ),
    ];
    let mut base = None;
    for (name, kind, script) in cases {
        run(async {
            let driver = Driver::new();
            let hits = Some("> 1000000".to_owned());
            let new =
                NewBreakpoint { path: driver.source(), line: 2, hit_condition: hits, ..Default::default() };
            driver.debugger.set_breakpoint(new).await.unwrap();
            let session = driver.start_as(kind, &FakeAdapter::new(script));
            reset_peak();
            life(&driver, &session).await;
        });
        // The session without faults comes first and is what the others are compared with.
        let added = peak().saturating_sub(*base.get_or_insert_with(peak));
        println!("{name}: {added} KB more");
        assert!(added < MOST_ADDED, "{name}: {added} KB more");
    }
}
