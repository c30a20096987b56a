//! Questions to Node's inspector and their answers, each with a deadline.
//!
//! Threads of a program are asked through the main one: their messages travel inside of its own.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_workspace::pending::{PendingRequest, PendingRequests, RequestId, Unanswered};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::websocket::{self, Message, Reader};

/// Messages that may wait to be written.
const WRITE_QUEUE: usize = 256;

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Refused(String),
    #[error("Node did not answer `{method}` within {waited:?}")]
    Late { method: String, waited: Duration },
    #[error("the connection to Node is gone: {0}")]
    Closed(String),
    #[error("Node's answer has {0} bytes, which is too much")]
    TooLong(u64),
}

/// Hears what Node says by itself, in order. It may wait for whoever reads us, never for Node.
#[async_trait]
pub(crate) trait CdpListener: Send + Sync {
    /// `route` is the thread's name for the inspector; the main one has none.
    async fn event(&self, route: Option<&str>, method: &str, params: Value);

    /// Something that is no message.
    async fn garbled(&self, reason: &str);

    /// Nothing more will come.
    async fn closed(&self, reason: &str);
}

#[derive(Debug)]
pub(crate) struct Wire {
    pending: PendingRequests<Result<Value, Failure>>,
    /// Requests of threads by those that carry them.
    carried: Mutex<HashMap<RequestId, RequestId>>,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// How long Node may take for one answer.
    time: Duration,
}

#[derive(Debug, Deserialize)]
struct Incoming {
    id: Option<i64>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Refusal>,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

impl Wire {
    /// Talks over a WebSocket that is open, until it closes or `stop` is said.
    pub(crate) fn start(
        (reader, writer): (Reader, Box<dyn AsyncWrite + Send + Unpin>),
        ears: Arc<dyn CdpListener>,
        time: Duration,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (outgoing, queue) = mpsc::channel(WRITE_QUEUE);
        let wire =
            Arc::new(Self { pending: PendingRequests::new(), carried: Mutex::default(), outgoing, time });
        tokio::spawn(write_on(writer, queue, stop.clone()));
        tokio::spawn(read_on(reader, Arc::clone(&wire), ears, stop));
        wire
    }

    /// Asks and waits.
    pub(crate) async fn call(
        &self,
        route: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Failure> {
        self.ask(route, method, params).await.answer(self.time).await
    }

    /// Asks; several questions may be under way. They are answered in order.
    pub(crate) async fn ask(&self, route: Option<&str>, method: &str, params: Value) -> Asked<'_> {
        let method = method.to_owned();
        let pending = match self.pending.register() {
            Ok(pending) => pending,
            Err(closed) => return Asked { method, pending: Err(closed), _carrier: None },
        };
        let mut carrier = None;
        let message = json!({ "id": pending.id().0, "method": method, "params": params }).to_string();
        let message = match route {
            None => message,
            Some(route) => {
                let id = self.pending.next_id();
                self.carried.lock().insert(id, pending.id());
                carrier = Some(Carrier { wire: self, id });
                let params = json!({ "message": message, "sessionId": route });
                json!({ "id": id.0, "method": "NodeWorker.sendMessageToWorker", "params": params })
                    .to_string()
            }
        };
        if self.outgoing.send(websocket::text(message.as_bytes())).await.is_err() {
            self.close("it was let go");
        }
        Asked { method, pending: Ok(pending), _carrier: carrier }
    }

    fn answered(&self, id: i64, answer: Result<Value, Failure>) {
        let id = RequestId(id);
        let carried = self.carried.lock().remove(&id);
        match (carried, answer) {
            // The carrier's own answer says nothing; that it was refused does.
            (Some(carried), Err(failure)) => {
                self.pending.resolve(carried, Err(failure));
            }
            (Some(_), Ok(_)) => {}
            (None, answer) => {
                self.pending.resolve(id, answer);
            }
        }
    }

    fn close(&self, reason: &str) {
        self.carried.lock().clear();
        self.pending.close(reason);
    }
}

/// A request that was sent. Dropping it forgets it.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    method: String,
    pending: Result<PendingRequest<Result<Value, Failure>>, Unanswered>,
    _carrier: Option<Carrier<'a>>,
}

impl Asked<'_> {
    pub(crate) async fn answer(self, time: Duration) -> Result<Value, Failure> {
        let answer = match self.pending {
            Ok(pending) => pending.answer(Instant::now() + time).await,
            Err(unanswered) => Err(unanswered),
        };
        answer.unwrap_or_else(|unanswered| match unanswered {
            Unanswered::Closed(reason) => Err(Failure::Closed(reason)),
            Unanswered::Late => Err(Failure::Late { method: self.method, waited: time }),
        })
    }
}

/// The request of the main thread that carries one of another thread. Dropping it forgets it.
#[derive(Debug)]
struct Carrier<'a> {
    wire: &'a Wire,
    id: RequestId,
}

impl Drop for Carrier<'_> {
    fn drop(&mut self) {
        self.wire.carried.lock().remove(&self.id);
    }
}

async fn write_on(
    mut writer: Box<dyn AsyncWrite + Send + Unpin>,
    mut queue: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    loop {
        let frame = tokio::select! {
            biased;
            frame = queue.recv() => frame,
            () = stop.cancelled() => None,
        };
        let (frame, is_last) = frame.map_or_else(|| (websocket::close(), true), |frame| (frame, false));
        if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() || is_last {
            writer.shutdown().await.ok();
            return;
        }
    }
}

async fn read_on(mut reader: Reader, wire: Arc<Wire>, ears: Arc<dyn CdpListener>, stop: CancellationToken) {
    let reason = loop {
        let message = tokio::select! {
            message = reader.next() => message,
            () = stop.cancelled() => break "it was let go".to_owned(),
        };
        match message {
            Ok(Message::Text(text)) => hand_out(&text, None, &wire, &ears).await,
            Ok(Message::TooLong { length, beginning }) => {
                if let Some(id) = id_in(&beginning) {
                    wire.answered(id, Err(Failure::TooLong(length)));
                }
            }
            Ok(Message::Ping(told)) => drop(wire.outgoing.send(websocket::pong(&told)).await),
            Ok(Message::Closed) => break "Node closed it".to_owned(),
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
                break "Node closed it".to_owned();
            }
            Err(error) => break error.to_string(),
        }
    };
    wire.close(&reason);
    ears.closed(&reason).await;
}

async fn hand_out(text: &[u8], route: Option<&str>, wire: &Arc<Wire>, ears: &Arc<dyn CdpListener>) {
    let incoming: Incoming = match serde_json::from_slice(text) {
        Ok(incoming) => incoming,
        Err(error) => match serde_json::from_str(&with_whole_letters(&String::from_utf8_lossy(text))) {
            Ok(incoming) => incoming,
            Err(_) => return ears.garbled(&error.to_string()).await,
        },
    };
    if let Some(id) = incoming.id {
        let answer = match incoming.error {
            None => Ok(incoming.result),
            Some(Refusal { message, data }) => {
                let more = data.as_str().map(|data| format!(": {data}")).unwrap_or_default();
                Err(Failure::Refused(format!("{message}{more}")))
            }
        };
        wire.answered(id, answer);
    } else if incoming.method == "NodeWorker.receivedMessageFromWorker" && route.is_none() {
        let thread = incoming.params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let message = incoming.params.get("message").and_then(Value::as_str).unwrap_or_default();
        Box::pin(hand_out(message.as_bytes(), Some(thread), wire, ears)).await;
    } else {
        ears.event(route, &incoming.method, incoming.params).await;
    }
}

/// The number at the beginning of `{"id":12,"result":...`.
fn id_in(beginning: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(beginning);
    let digits = text.strip_prefix("{\"id\":")?;
    digits.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Text of a program may hold half of a pair that stands for one letter, which JSON's escapes can say and Rust's text
/// cannot hold: such halves become the letter that stands for what is missing.
fn with_whole_letters(text: &str) -> String {
    let half = |at: usize| -> Option<u16> {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok().filter(|unit| (0xd800..0xe000).contains(unit))
    };
    let mut clean = String::with_capacity(text.len());
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += found;
        match (half(at), half(at + 6)) {
            (Some(high), Some(low)) if high < 0xdc00 && low >= 0xdc00 => at += 12,
            (Some(_), _) => {
                clean.push_str(&text[kept..at]);
                clean.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            // Whatever is escaped is one byte, or the beginning of an escape that is whole.
            (None, _) => at = (at + 2).min(text.len()),
        }
        if !text.is_char_boundary(at) {
            at = text.len();
        }
    }
    clean.push_str(&text[kept..]);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_letters_are_replaced_and_whole_ones_stay() {
        let rows = [
            (r#""plain""#, "plain"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""x\n\ud83d é""#, "x\n\u{fffd} é"),
        ];
        for (json, expected) in rows {
            let text: String = serde_json::from_str(&with_whole_letters(json)).unwrap();
            assert_eq!(text, expected, "{json}");
        }
    }

    #[test]
    fn the_number_of_a_long_answer_is_found() {
        assert_eq!(id_in(br#"{"id":12,"result":{"#), Some(12));
        assert_eq!(id_in(br#"{"method":"Debugger.paused""#), None);
    }
}
