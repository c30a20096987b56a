//! Commands, queries and events over plain HTTP.

use std::time::Duration;

use stepwell_protocol::{EventRecord, TaskId};
use stepwell_transcript::Transcript;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::engine::FakeEngine;
use crate::stand::{PATIENCE, Stand, bearer};

#[tokio::test]
async fn commands_and_queries_get_their_replies() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let answer = stand.post("/api/queries", "{\"type\":\"tasks\"}").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "{\"type\":\"tasks\",\"tasks\":[],\"total\":7}"));
    let answer =
        stand.post("/api/commands", "{\"type\":\"send_message\",\"task\":\"task-0\",\"parts\":[]}").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "{\"result\":\"done\"}"));
    let answer = stand.post("/api/queries", "{\"type\":\"doctor\",\"workspace\":\"/w\"}").await;
    assert_eq!((answer.status, answer.json()["error"]["kind"].as_str()), (422, Some("unsupported")));
    for body in ["", "{", "{\"type\":\"nothing\"}", "[]", "{\"type\":\"task\"}"] {
        let answer = stand.post("/api/queries", body).await;
        assert_eq!((answer.status, answer.json()["kind"].as_str()), (400, Some("rejected")), "{body}");
    }
    let terminal = "{\"type\":\"open_terminal\",\"workspace\":\"/w\",\"columns\":80,\"rows\":24}";
    assert_eq!(stand.post("/api/commands", terminal).await.status, 400, "terminals need a socket");
    assert_eq!(stand.get("/api/commands").await.status, 405);
    assert_eq!(stand.get("/api/nothing").await.status, 404);
    assert_eq!(stand.get("/api/socket").await.status / 100, 4);
}

#[tokio::test]
async fn metrics_count_requests_by_route_and_status() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    stand.get("/api/session").await;
    stand.get("/some/made/up/path?secret=1").await;
    let socket = stand.socket().await;
    let mut stream = TcpStream::connect(stand.address).await.unwrap();
    let head = "GET /api/tasks/task-0/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization:";
    stream.write_all(format!("{head} {}\r\n\r\n", bearer()).as_bytes()).await.unwrap();
    assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
    let text = stand.get("/api/metrics").await.body;
    for line in [
        "stepwell_requests_total{route=\"/api/session\",method=\"GET\",status=\"200\"} 1",
        "stepwell_requests_total{route=\"/*\",method=\"GET\",status=\"404\"} 1",
        "stepwell_sockets 1",
        "stepwell_event_streams 1",
        "process_resident_memory_bytes 4096",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("secret") && !text.contains("made"), "{text}");
    drop((socket, stream));
}

/// Reads events until the answer is there or the connection ends.
async fn events(stand: &Stand, path: &str, headers: &str, enough: impl Fn(&str) -> bool) -> String {
    let mut stream = TcpStream::connect(stand.address).await.unwrap();
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {}\r\n{headers}\r\n", bearer());
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    let mut piece = [0; 4096];
    while !enough(&text) {
        let count = tokio::time::timeout(PATIENCE, stream.read(&mut piece)).await.unwrap().unwrap();
        if count == 0 {
            break;
        }
        text.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    text
}

fn records(text: &str) -> Vec<EventRecord> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[tokio::test]
async fn streams_of_events_resume_after_the_last_one() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let task = TaskId::new("task-0");
    stand.engine.answer(&task, 0).await;
    let answered = |text: &str| text.contains("\"type\":\"answer\"");
    let first = events(&stand, "/api/tasks/task-0/events", "", answered).await;
    assert!(first.contains("content-type: text/event-stream") && first.contains("id: 1\n"), "{first}");
    assert_eq!(records(&first), stand.engine.log(&task));
    // The browser sends the address it began with and the last event it has.
    stand.engine.answer(&task, 1).await;
    let again = events(&stand, "/api/tasks/task-0/events?after=0", "Last-Event-ID: 2\r\n", answered).await;
    assert_eq!(records(&again), stand.engine.log(&task)[2..]);
    let wrong = stand.get("/api/tasks/task-0/events?after=x").await;
    assert_eq!(wrong.status, 400);
    assert!(Transcript::of(&records(&first)).items().len() >= 2);
}

#[tokio::test]
async fn streams_end_with_the_server() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let stop = stand.stop.clone();
    let following = events(&stand, "/api/tasks/task-0/events", "", |text| {
        if text.contains("event-stream") {
            stop.cancel();
        }
        false
    });
    tokio::time::timeout(Duration::from_secs(10), following).await.expect("the stream goes on");
    tokio::time::timeout(Duration::from_secs(10), stand.serving).await.expect("the server goes on").unwrap();
}

#[tokio::test]
async fn programs_stop_the_server() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let mut socket = stand.socket().await;
    assert_eq!(stand.post("/api/stop", "{}").await.status, 202);
    assert_eq!(socket.close_code().await, Some(1001));
    tokio::time::timeout(Duration::from_secs(10), stand.serving).await.expect("the server goes on").unwrap();
}
