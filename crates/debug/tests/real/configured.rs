//! Debuggers that are known by their command alone: Ruby's over a socket, Bash's over pipes, debugpy's over a port.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use stepwell_debug::adapters::{self, AdapterKind, ConfiguredAdapter, Search, StartMode};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::session::{Connection, Session, SessionStart};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::{Debugger, DebuggerOptions, Outcome, Wait};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::lab::{printed, skipped};

const PATIENCE: Duration = Duration::from_secs(60);
const RUBY: &str = "total = 0\n6.times do |i|\n  total += i\nend\nputs \"total #{total}\"\n";
const BASH: &str = "total=0\nfor i in 0 1 2 3 4 5; do\n  total=$((total + i))\ndone\necho \"total $total\"\n";
const PYTHON: &str = "total = 0\nfor i in range(6):\n    total += i\nprint('total', total)\n";

/// Starts a program with the first adapter for a type; `None` where that is not installed.
fn start(
    folder: &Path,
    (kind, name, text): (&str, &str, &str),
    custom: Vec<&'static ConfiguredAdapter>,
) -> Option<(Debugger, SessionStart, NewBreakpoint)> {
    let folder = folder.canonicalize().unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    let search = Search { workspace: folder.clone(), custom, ..Search::default() };
    let given = json!({ "program": path, "script": path, "args": ["a"], "cwd": folder, "localfs": true });
    let Value::Object(mut arguments) = given else { panic!("no object") };
    let kinds = AdapterKind::from_type(kind, &search.custom);
    let (adapter, located) = match adapters::choose(&kinds, &search, &arguments) {
        Ok(found) => found,
        Err(error) => {
            skipped(&format!("{error}"));
            return None;
        }
    };
    adapter.complete(StartMode::Launch, &mut arguments, &search);
    let opening = SessionStart {
        name: name.to_owned(),
        adapter,
        way: Connection::Start(located),
        how: StartMode::Launch,
        arguments,
        no_debug: false,
        probes: std::collections::BTreeMap::new(),
        functions: Vec::new(),
        exception_filters: None,
        breakpoints: true,
        stdin: stepwell_debug::session::ProgramStdin::Nothing,
        secrets: stepwell_debug::launch_config::Secrets::default(),
        isolation: None,
        time: PATIENCE,
    };
    let debugger = Debugger::new(DebuggerOptions { search, ..DebuggerOptions::default() });
    Some((debugger, opening, NewBreakpoint { path, line: 3, ..NewBreakpoint::default() }))
}

/// Where a program stands when it stops, until it ends.
async fn stops(debugger: &Debugger, session: &Arc<Session>, expression: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut after = 0;
    loop {
        let wait = Wait { deadline: Instant::now() + PATIENCE, cancel: CancellationToken::new() };
        match debugger.wait(session, after, &wait).await {
            Outcome::Stopped(stopped, stop) => {
                after = stop.serial;
                let report = stopped.report(&stop, Detail::COMPACT).await.unwrap();
                if report.line == Some(3) {
                    let frame = stopped.top_frame().await.unwrap().id;
                    let value = stopped.evaluate(expression, Some(frame), "watch").await.unwrap().value;
                    seen.push(value);
                }
                stopped.resume(None).await.unwrap();
            }
            Outcome::Completed(_) => return seen,
            other => panic!("{other:?} {} {}", printed(session), session.adapter_messages()),
        }
    }
}

#[tokio::test]
async fn ruby_is_debugged_over_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let Some((debugger, opening, breakpoint)) = start(folder.path(), ("ruby", "a.rb", RUBY), Vec::new())
    else {
        return;
    };
    let hits = NewBreakpoint { hit_condition: Some("% 3 == 0".to_owned()), ..breakpoint };
    debugger.set_breakpoint(hits).await.unwrap();
    let session = debugger.start(opening).unwrap();
    assert_eq!(stops(&debugger, &session, "i").await, ["2", "5"]);
}

#[tokio::test]
async fn bash_is_debugged_over_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let Some((debugger, opening, breakpoint)) = start(folder.path(), ("bashdb", "a.sh", BASH), Vec::new())
    else {
        return;
    };
    debugger.set_breakpoint(breakpoint).await.unwrap();
    let session = debugger.start(opening).unwrap();
    let seen = stops(&debugger, &session, "$i").await;
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert!(printed(&session).contains("total 15"), "{}", printed(&session));
}

#[tokio::test]
async fn an_adapter_of_the_settings_listens_on_a_port() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["python3", "-m", "debugpy.adapter", "--host", "127.0.0.1", "--port", "{port}"];
    let custom = ConfiguredAdapter {
        name: "mine".to_owned(),
        command: words.map(str::to_owned).to_vec(),
        types: vec!["snake".to_owned()],
        ..ConfiguredAdapter::default()
    };
    let Some((debugger, mut opening, breakpoint)) =
        start(folder.path(), ("snake", "a.py", PYTHON), vec![custom.interned()])
    else {
        return;
    };
    opening.arguments.extend(Map::from_iter([("console".to_owned(), json!("internalConsole"))]));
    let log = NewBreakpoint {
        condition: Some("i > 3".to_owned()),
        log_message: Some("i is {i}".to_owned()),
        ..breakpoint
    };
    debugger.set_breakpoint(log).await.unwrap();
    let session = debugger.start(opening).unwrap();
    assert_eq!(stops(&debugger, &session, "i").await, Vec::<String>::new());
    let said = printed(&session);
    assert!(said.contains("i is 4") && said.contains("i is 5") && !said.contains("i is 3"), "{said}");
}
