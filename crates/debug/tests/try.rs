//! A first look.
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use stepwell_debug::adapters::{AdapterKind, How, Search, choose};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::session::{Opening, Step, Way};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::{Debugger, DebuggerOptions, Outcome, Wait};
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread")]
async fn look() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug/python").canonicalize().unwrap();
    let own = tempfile::tempdir().unwrap();
    let search = Search { workspace: root.clone(), own_folder: own.path().into(), ..Search::default() };
    let debugger = Debugger::new(DebuggerOptions { search: search.clone(), ..DebuggerOptions::default() });
    let path = root.join("loop.py");
    let (bp, b) = debugger.set_breakpoint(NewBreakpoint { path: path.clone(), line: 13, hit_condition: Some("% 3 == 1".into()), ..Default::default() }).await.unwrap();
    println!("{bp:?} {b:?}");
    let mut arguments = json!({ "program": path, "cwd": root }).as_object().unwrap().clone();
    let t = Instant::now();
    let (adapter, located) = choose(&[AdapterKind::Debugpy], &search, &arguments).unwrap();
    println!("{:?} {located:?}", t.elapsed());
    adapter.complete(How::Launch, &mut arguments, &search);
    let t = Instant::now();
    let session = debugger.start(Opening { name: "x".into(), adapter, way: Way::Start(located), how: How::Launch, arguments, no_debug: false, time: Duration::from_secs(30) }).unwrap();
    let wait = || Wait { deadline: Instant::now() + Duration::from_secs(30), cancel: Default::default() };
    let mut after = 0;
    for _ in 0..4 {
        match debugger.wait(&session, after, &wait()).await {
            Outcome::Stopped(session, stop) => {
                println!("{:?}", t.elapsed());
                let t = Instant::now();
                let report = session.report(&stop, Detail::COMPACT).await.unwrap();
                println!("{:?}", t.elapsed());
                println!("{}", serde_json::to_string(&report).unwrap());
                after = stop.serial;
                session.step(None, Step::Over).await.unwrap();
            }
            other => { println!("{other:?}"); break }
        }
    }
    debugger.end(&session).await;
    println!("{:?} {:?}", session.phase(), session.ending());
}
