//! Conversations over sockets, with clients that do not behave.

use std::time::{Duration, Instant};

use futures::SinkExt;
use stepwell_protocol::{
    ClientMessage, Event, MessageId, Query, RequestId, Seq, ServerMessage, TaskFilter, TaskId,
};
use stepwell_server::Limits;
use tokio_tungstenite::tungstenite::Message;

use crate::engine::FakeEngine;
use crate::stand::{Socket, Stand, bearer};

fn tasks(id: u64) -> ClientMessage {
    ClientMessage::Query { id: RequestId(id), query: Query::Tasks { filter: TaskFilter::default() } }
}

async fn is_alive(socket: &mut Socket) -> bool {
    socket.say(&tasks(9)).await;
    matches!(socket.hear().await, ServerMessage::QueryReply { id: RequestId(9), .. })
}

#[tokio::test]
async fn bad_frames_are_rejected_and_the_socket_stays() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let mut socket = stand.socket().await;
    let frames = [
        Message::text("not json"),
        Message::text("{\"type\":\"nothing\"}"),
        Message::text(""),
        Message::binary(vec![1, 2, 3]),
        Message::text("{\"type\":\"command\",\"id\":-1}"),
    ];
    for frame in frames {
        socket.0.send(frame.clone()).await.unwrap();
        assert!(matches!(socket.hear().await, ServerMessage::Rejected { .. }), "{frame:?}");
    }
    assert!(is_alive(&mut socket).await);
}

#[tokio::test]
async fn large_frames_close_the_socket_that_sent_them() {
    let limits = Limits { message_bytes: 10_000, ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    let (mut large, mut other) = (stand.socket().await, stand.socket().await);
    large.0.send(Message::text(" ".repeat(9000))).await.unwrap();
    assert!(matches!(large.hear().await, ServerMessage::Rejected { .. }));
    large.0.send(Message::text(" ".repeat(11_000))).await.ok();
    assert_eq!(large.close_code().await, Some(1009));
    assert!(is_alive(&mut other).await);
}

#[tokio::test]
async fn silent_sockets_are_closed_and_those_that_answer_pings_are_not() {
    let limits =
        Limits { ping: Duration::from_millis(50), silence: Duration::from_millis(400), ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    let silent = stand.socket().await;
    let mut polite = stand.socket().await;
    let began = Instant::now();
    // Pongs are sent while frames are read.
    while began.elapsed() < Duration::from_secs(1) {
        assert!(matches!(polite.frame().await, Some(Message::Ping(_))));
    }
    assert!(is_alive(&mut polite).await);
    let text = stand.get("/api/metrics").await.body;
    assert!(text.contains("\nstepwell_sockets 1\n"), "{text}");
    drop(silent);
}

#[tokio::test]
async fn too_many_sockets_are_refused_until_one_closes() {
    let limits = Limits { sockets: 2, ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    let (mut first, _second) = (stand.socket().await, stand.socket().await);
    let token = bearer();
    let headers = [("Authorization", token.as_str())];
    assert_eq!(stand.try_socket(&headers).await.err(), Some(503));
    first.0.close(None).await.unwrap();
    assert!(first.close_code().await.is_none() || first.frame().await.is_none());
    let again = tokio::time::timeout(Duration::from_secs(5), async {
        while stand.try_socket(&headers).await.is_err() {
            tokio::task::yield_now().await;
        }
    });
    again.await.expect("the place is not free");
}

#[tokio::test]
async fn floods_are_read_more_slowly_and_lose_nothing() {
    let limits = Limits { burst: 10, per_second: 100, ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    let mut socket = stand.socket().await;
    let began = Instant::now();
    for id in 0..60 {
        socket.say(&tasks(id)).await;
    }
    for expected in 0..60 {
        let ServerMessage::QueryReply { id, .. } = socket.hear().await else { panic!() };
        assert_eq!(id, RequestId(expected));
    }
    assert!(began.elapsed() > Duration::from_millis(400), "{:?}", began.elapsed());
}

/// A reader that does not read is closed; a fast one beside it notices nothing.
#[tokio::test]
async fn a_stalled_reader_costs_only_itself() {
    let limits = Limits { stall: Duration::from_millis(500), ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    let task = TaskId::new("task-0");
    let (mut stalled, mut fast) = (stand.socket().await, stand.socket().await);
    for socket in [&mut stalled, &mut fast] {
        socket.say(&ClientMessage::Follow { id: RequestId(1), task: task.clone(), after: Seq(0) }).await;
        assert!(matches!(socket.hear().await, ServerMessage::Following { .. }));
    }
    let message_id = MessageId::new("m");
    let piece = "x".repeat(64 * 1024);
    for number in 0..400 {
        let event =
            Event::Token { message_id: message_id.clone(), offset: number * 65536, content: piece.clone() };
        stand.engine.tell(&task, event);
        let ServerMessage::Event { record, .. } = fast.hear().await else { panic!() };
        assert!(matches!(record.event, Event::Token { offset, .. } if offset == number * 65536));
    }
    let closed = tokio::time::timeout(Duration::from_secs(10), async {
        while !stand.get("/api/metrics").await.body.contains("\nstepwell_sockets 1\n") {
            tokio::task::yield_now().await;
        }
    });
    closed.await.expect("the stalled socket is still open");
    assert!(is_alive(&mut fast).await);
}
