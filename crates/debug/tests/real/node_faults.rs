//! A Node that does not do as it should: each fault is an error with words, and nobody waits for ever.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_debug::adapters::{self, AdapterKind, Search, StartMode};
use stepwell_debug::session::{Connection, SessionStart};
use stepwell_debug::{Debugger, DebuggerOptions, Outcome, Wait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a start may take here; every fault must be told by then or soon after.
const START: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);

/// What the other end of the WebSocket does.
#[derive(Clone, Copy, Debug)]
enum Inspector {
    /// It accepts and says nothing.
    Silent,
    /// It is a server of something else.
    OtherServer,
    /// It answers so many questions properly.
    Answers(usize, Then),
}

/// And then.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// At the next question.
    Closes,
    /// At once.
    Leaves,
    SaysNothing,
    SendsNoJson,
    SendsNoWebSocket,
    Refuses,
}

/// Serves one connection.
async fn serve(listener: TcpListener, inspector: Inspector) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut hello = Vec::new();
    while !hello.ends_with(b"\r\n\r\n") {
        hello.push(stream.read_u8().await.unwrap());
    }
    match inspector {
        Inspector::Silent => return hold(stream).await,
        Inspector::OtherServer => {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            return hold(stream).await;
        }
        Inspector::Answers(..) => {}
    }
    stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n").await.unwrap();
    let Inspector::Answers(count, then) = inspector else { return };
    let mut answered = 0;
    loop {
        let Some(question) = question(&mut stream).await else { return };
        let id = question["id"].clone();
        if answered < count {
            answered += 1;
            say(&mut stream, &json!({ "id": id, "result": {} }).to_string()).await;
            if answered == count && matches!(then, Then::Leaves) {
                return;
            }
            continue;
        }
        match then {
            Then::Closes | Then::Leaves => return,
            Then::SaysNothing => return hold(stream).await,
            Then::SendsNoJson => say(&mut stream, "<html>").await,
            Then::SendsNoWebSocket => {
                stream.write_all(b"\xff\xff\xff\xff").await.ok();
                return hold(stream).await;
            }
            Then::Refuses => {
                let error = json!({ "code": -32601, "message": "'x' wasn't found" });
                say(&mut stream, &json!({ "id": id, "error": error }).to_string()).await;
            }
        }
    }
}

async fn hold(mut stream: TcpStream) {
    let mut nothing = [0; 1024];
    while stream.read(&mut nothing).await.is_ok_and(|read| read > 0) {}
}

async fn say(stream: &mut TcpStream, text: &str) {
    let mut frame = vec![0x81, u8::try_from(text.len()).unwrap()];
    frame.extend_from_slice(text.as_bytes());
    stream.write_all(&frame).await.ok();
}

/// The next message of the client, which is masked.
async fn question(stream: &mut TcpStream) -> Option<Value> {
    loop {
        let first = stream.read_u8().await.ok()?;
        let length = match stream.read_u8().await.ok()? & 0x7f {
            126 => usize::from(stream.read_u16().await.ok()?),
            127 => usize::try_from(stream.read_u64().await.ok()?).unwrap(),
            length => usize::from(length),
        };
        let mut mask = [0; 4];
        stream.read_exact(&mut mask).await.ok()?;
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes).await.ok()?;
        for (byte, mask) in bytes.iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
        if first & 0x0f == 1 {
            return serde_json::from_slice(&bytes).ok();
        }
    }
}

/// Starts a program with something that stands in for Node, and tells what came of it.
async fn outcome_with(script: &str, time: Duration) -> (Outcome, String) {
    let held = tempfile::tempdir().unwrap();
    let folder = held.path().canonicalize().unwrap();
    let node = folder.join("node");
    write_script(&node, script);
    std::fs::write(folder.join("a.js"), "1\n").unwrap();
    let search = Search { workspace: folder.clone(), ..Search::default() };
    let given = json!({ "program": folder.join("a.js"), "runtimeExecutable": node, "cwd": folder });
    let Value::Object(mut arguments) = given else { panic!("no object") };
    let (adapter, located) = adapters::choose(&[AdapterKind::Node], &search, &arguments).unwrap();
    adapter.complete(StartMode::Launch, &mut arguments, &search);
    let opening = SessionStart {
        name: "fault".to_owned(),
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
        time,
    };
    let debugger = Debugger::new(DebuggerOptions { search, ..DebuggerOptions::default() });
    let session = debugger.start(opening).unwrap();
    let wait = Wait { deadline: Instant::now() + PATIENCE, cancel: CancellationToken::new() };
    let outcome = debugger.wait(&session, 0, &wait).await;
    let said = match &outcome {
        Outcome::Failed(ending) => ending.failure.clone().unwrap_or_default(),
        other => format!("{other:?} {}", session.adapter_messages()),
    };
    debugger.end_all().await;
    (outcome, said)
}

fn write_script(path: &Path, body: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_node_that_does_not_start_is_told_with_its_own_words() {
    let rows = [
        // Too old for our flags.
        ("echo 'node: bad option: --inspect-publish-uid=stderr' >&2; exit 9", "bad option"),
        ("exit 3", "ended before its inspector was ready"),
        // The line never comes.
        ("echo starting >&2; exec sleep 60", "did not open its inspector"),
        ("echo 'Debugger listening on nowhere' >&2; exec sleep 60", "no address of a WebSocket"),
        ("echo 'Debugger listening on ws://127.0.0.1:1/x' >&2; exec sleep 60", "cannot be reached"),
    ];
    for (script, expected) in rows {
        let (outcome, said) = outcome_with(script, START).await;
        assert!(matches!(outcome, Outcome::Failed(_)) && said.contains(expected), "{script}: {said}");
    }
}

#[tokio::test]
async fn an_inspector_that_fails_is_told() {
    use Inspector::{Answers, OtherServer, Silent};
    let rows = [
        (Silent, "cannot be reached"),
        (OtherServer, "no inspector of Node; it answered `HTTP/1.1 404 Not Found`"),
        (Answers(0, Then::Closes), "Node closed it"),
        (Answers(3, Then::Closes), "Node closed it"),
        (Answers(2, Then::SaysNothing), "did not answer `Debugger.setAsyncCallStackDepth`"),
        (Answers(2, Then::SendsNoJson), "did not answer"),
        (Answers(2, Then::SendsNoWebSocket), "it sent what is no WebSocket"),
        (Answers(1, Then::Refuses), "'x' wasn't found"),
        // The program runs, and then the connection is gone.
        (Answers(9, Then::Leaves), "inspector is gone while the program still runs"),
    ];
    for (inspector, expected) in rows {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = tokio::spawn(serve(listener, inspector));
        let script = format!("echo 'Debugger listening on ws://127.0.0.1:{port}/secret' >&2; exec sleep 60");
        let (outcome, said) = outcome_with(&script, START).await;
        assert!(matches!(outcome, Outcome::Failed(_)) && said.contains(expected), "{inspector:?}: {said}");
        served.abort();
    }
}

/// The twin: the stand-in that hands on to a real Node serves as well as that.
#[tokio::test]
async fn a_node_behind_a_script_works() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        crate::lab::skipped("node is missing");
        return;
    }
    let (outcome, said) = outcome_with("exec node \"$@\"", PATIENCE).await;
    let Outcome::Completed(ending) = outcome else { panic!("{said}") };
    assert_eq!(ending.exit_code, Some(0), "{said}");
}
