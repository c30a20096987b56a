//! A conversation over a WebSocket: one message a text frame, many tasks over one socket.
//!
//! What cannot be understood is answered with `rejected`, and the socket stays open. A client that sends too much is read
//! more slowly; one that does not read, or says nothing for too long, is closed. It comes back and follows its tasks
//! after the last number it has.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures::stream::{SplitSink, SplitStream};
use futures::{FutureExt, SinkExt, StreamExt};
use stepwell_protocol::{ClientMessage, ErrorKind, ErrorReport, ServerMessage};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;

use crate::connect::{EngineSink, EngineStream};
use crate::problem::Problem;
use crate::rate::Bucket;
use crate::server::Shared;

/// Refusals that wait to be written.
const REFUSALS: usize = 8;
/// Messages that are written before the connection is flushed.
const BATCH: usize = 64;
/// Bytes of a message that cost as much as one more message.
const BYTES_PER_UNIT: usize = 16 * 1024;
/// Bytes that are read at once.
const READ_BUFFER: usize = 4 * 1024;
/// Bytes that are gathered before they are written.
const WRITE_BUFFER: usize = 16 * 1024;
/// How long the last frame may take.
const LAST_FRAME: Duration = Duration::from_secs(1);

/// Why a socket ends, with the code of its close frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The client closed it, or is gone.
    Left,
    ServerStops,
    TooLarge,
    NotWebSocket,
    Silent,
    Stalled,
    EngineGone,
}

impl End {
    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left | Self::Stalled => return None,
            Self::ServerStops => (1001, "the server stops"),
            Self::NotWebSocket => (1002, "the frames are not those of a WebSocket"),
            Self::TooLarge => (1009, "the message is too large"),
            Self::Silent => (1008, "nothing was heard for too long"),
            Self::EngineGone => (1011, "the engine has ended"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

pub(crate) async fn open(
    State(shared): State<Arc<Shared>>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            let status = rejection.into_response().status();
            // Some of axum's rejections are 4xx without a body that says what to do.
            let status = if status.is_client_error() { status } else { StatusCode::BAD_REQUEST };
            return Problem::new(status, "this is a WebSocket", "connect with a WebSocket client")
                .into_response();
        }
    };
    let Ok(place) = Arc::clone(&shared.sockets).try_acquire_owned() else {
        return Problem::busy("too many sockets are open").into_response();
    };
    let largest = shared.limits.message_bytes;
    // The library's buffers of 128 KiB each would be most of what a quiet socket costs.
    let upgrade = upgrade.read_buffer_size(READ_BUFFER).write_buffer_size(WRITE_BUFFER);
    upgrade.max_message_size(largest).max_frame_size(largest).on_upgrade(async move |socket| {
        let counted = shared.metrics.sockets.count();
        shared.metrics.sockets_opened.add(1);
        let end = converse(socket, &shared).await;
        tracing::debug!(?end, "a socket ended");
        drop((counted, place));
    })
}

async fn converse(socket: WebSocket, shared: &Shared) -> End {
    let (mut sink, stream) = socket.split();
    let (to_engine, from_engine) = (shared.connect)();
    let (refused, refusals) = mpsc::channel(REFUSALS);
    // A reader that does not read must hold up nobody but itself, and must still be heard when it leaves.
    let end = tokio::select! {
        () = shared.stop.cancelled() => End::ServerStops,
        end = read_all(stream, to_engine, refused, shared) => end,
        end = write_all(&mut sink, from_engine, refusals, shared) => end,
    };
    if let Some(frame) = end.frame() {
        timeout(LAST_FRAME, sink.send(Message::Close(Some(frame)))).await.ok();
    }
    end
}

/// Passes on what the client says.
async fn read_all(
    mut stream: SplitStream<WebSocket>,
    mut to_engine: EngineSink,
    refused: mpsc::Sender<ServerMessage>,
    shared: &Shared,
) -> End {
    let mut bucket = Bucket::new(shared.limits.burst, shared.limits.per_second);
    loop {
        let Ok(frame) = timeout(shared.limits.silence, stream.next()).await else { return End::Silent };
        let message = match frame {
            None | Some(Ok(Message::Close(_))) => return End::Left,
            Some(Err(error)) => return broken(error),
            Some(Ok(message)) => message,
        };
        let cost = 1 + (length(&message) / BYTES_PER_UNIT) as u32;
        if let Some(wait) = bucket.take(cost) {
            // Nothing is lost: the client waits in its own buffers.
            timeout(wait, shared.stop.cancelled()).await.ok();
        }
        let read = match &message {
            Message::Text(text) => serde_json::from_str(text).map_err(|error| not_understood(&error)),
            Message::Binary(_) => Err(not_text()),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => continue,
        };
        shared.metrics.messages_received.add(1);
        let is_taken = match read {
            Ok(message) => to_engine.send(message).await.is_ok(),
            Err(error) => {
                shared.metrics.messages_rejected.add(1);
                refused.send(ServerMessage::Rejected { error }).await.is_ok()
            }
        };
        if !is_taken {
            return End::EngineGone;
        }
    }
}

fn length(message: &Message) -> usize {
    match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
        Message::Close(_) => 0,
    }
}

fn broken(error: axum::Error) -> End {
    match error.into_inner().downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(_)) => End::TooLarge,
        Some(tungstenite::Error::Protocol(_) | tungstenite::Error::Utf8(_)) => End::NotWebSocket,
        _ => End::Left,
    }
}

pub(crate) fn not_understood(error: &serde_json::Error) -> ErrorReport {
    ErrorReport {
        kind: ErrorKind::Rejected,
        message: format!("this is no message of the protocol: {error}"),
        hint: Some("docs/schema/protocol.json describes `ClientMessage`".into()),
    }
}

fn not_text() -> ErrorReport {
    ErrorReport {
        kind: ErrorKind::Rejected,
        message: "binary frames are not understood".into(),
        hint: Some("send each `ClientMessage` as JSON in a text frame".into()),
    }
}

/// Writes what the engine says, and asks now and then whether somebody is there.
async fn write_all(
    sink: &mut SplitSink<WebSocket, Message>,
    mut from_engine: EngineStream,
    mut refusals: mpsc::Receiver<ServerMessage>,
    shared: &Shared,
) -> End {
    let mut pings = tokio::time::interval(shared.limits.ping);
    pings.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    pings.tick().await;
    loop {
        let message = tokio::select! {
            Some(message) = refusals.recv() => message,
            message = from_engine.next() => match message {
                Some(message) => message,
                None => return End::EngineGone,
            },
            _ = pings.tick() => {
                let ping = sink.send(Message::Ping(bytes::Bytes::new()));
                match timeout(shared.limits.stall, ping).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(_)) => return End::Left,
                    Err(_) => return End::Stalled,
                }
            }
        };
        let written = timeout(shared.limits.stall, async {
            sink.feed(frame(&message)).await?;
            let mut count = 1;
            // What is there already goes out with it.
            while count < BATCH
                && let Some(Some(message)) = from_engine.next().now_or_never()
            {
                sink.feed(frame(&message)).await?;
                count += 1;
            }
            shared.metrics.messages_sent.add(count as u64);
            sink.flush().await
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return End::Left,
            Err(_) => {
                shared.metrics.stalled.add(1);
                return End::Stalled;
            }
        }
    }
}

/// Types of ours always have a JSON form.
fn frame(message: &ServerMessage) -> Message {
    Message::Text(serde_json::to_string(message).unwrap_or_default().into())
}

/// Waits for the first message that `pick` wants.
pub(crate) async fn first<T>(
    from_engine: &mut EngineStream,
    mut pick: impl FnMut(ServerMessage) -> Option<T>,
) -> Option<T> {
    loop {
        if let Some(found) = pick(from_engine.next().await?) {
            return Some(found);
        }
    }
}

/// Sends messages of a conversation that the server itself holds.
pub(crate) async fn say(to_engine: &mut EngineSink, messages: Vec<ClientMessage>) -> bool {
    for message in messages {
        if to_engine.send(message).await.is_err() {
            return false;
        }
    }
    true
}
