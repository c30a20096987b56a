//! Questions to Node's inspector and their answers, each with a deadline.
//!
//! Threads of a program are asked through the main one: their messages travel inside of its own.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::websocket::{self, Message, Reader};

/// Messages that may wait to be written.
const WRITE_QUEUE: usize = 256;

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
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
pub trait Ears: Send + Sync {
    /// `route` is the thread's name for the inspector; the main one has none.
    async fn event(&self, route: Option<&str>, method: &str, params: Value);

    /// Something that is no message.
    async fn garbled(&self, reason: &str);

    /// Nothing more will come.
    async fn closed(&self, reason: &str);
}

#[derive(Debug)]
pub struct Wire {
    next: AtomicU64,
    pending: Mutex<Pending>,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// How long Node may take for one answer.
    time: Duration,
}

#[derive(Debug, Default)]
struct Pending {
    waiting: HashMap<u64, oneshot::Sender<Result<Value, Failure>>>,
    /// Questions of threads by those that carry them.
    carried: HashMap<u64, u64>,
    closed: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Incoming {
    id: Option<u64>,
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
    pub fn start(
        (reader, writer): (Reader, Box<dyn AsyncWrite + Send + Unpin>),
        ears: Arc<dyn Ears>,
        time: Duration,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (outgoing, queue) = mpsc::channel(WRITE_QUEUE);
        let wire = Arc::new(Self { next: AtomicU64::new(1), pending: Mutex::default(), outgoing, time });
        tokio::spawn(write_on(writer, queue, stop.clone()));
        tokio::spawn(read_on(reader, Arc::clone(&wire), ears, stop));
        wire
    }

    /// Asks and waits.
    pub async fn call(&self, route: Option<&str>, method: &str, params: Value) -> Result<Value, Failure> {
        self.ask(route, method, params).await.answer(self.time).await
    }

    /// Asks; several questions may be under way. They are answered in order.
    pub async fn ask(&self, route: Option<&str>, method: &str, params: Value) -> Asked<'_> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, waiting) = oneshot::channel();
        let mut asked = Asked { wire: self, id, method: method.to_owned(), waiting };
        let message = json!({ "id": id, "method": method, "params": params }).to_string();
        let message = match route {
            None => message,
            Some(route) => {
                let carrier = self.next.fetch_add(1, Ordering::Relaxed);
                self.pending.lock().carried.insert(carrier, id);
                let params = json!({ "message": message, "sessionId": route });
                json!({ "id": carrier, "method": "NodeWorker.sendMessageToWorker", "params": params })
                    .to_string()
            }
        };
        let closed = {
            let mut pending = self.pending.lock();
            if pending.closed.is_none() {
                pending.waiting.insert(id, answer);
                None
            } else {
                pending.closed.clone()
            }
        };
        if let Some(reason) = closed {
            asked.waiting = failed(Failure::Closed(reason));
        } else if self.outgoing.send(websocket::text(message.as_bytes())).await.is_err() {
            asked.waiting = failed(Failure::Closed(self.why_closed()));
        }
        asked
    }

    fn why_closed(&self) -> String {
        self.pending.lock().closed.clone().unwrap_or_else(|| "it was let go".to_owned())
    }

    fn resolve(&self, id: u64, answer: Result<Value, Failure>) {
        let waiting = self.pending.lock().waiting.remove(&id);
        if let Some(waiting) = waiting {
            waiting.send(answer).ok();
        }
    }

    fn answered(&self, id: u64, answer: Result<Value, Failure>) {
        let carried = self.pending.lock().carried.remove(&id);
        match (carried, answer) {
            // The carrier's own answer says nothing; that it was refused does.
            (Some(carried), Err(failure)) => self.resolve(carried, Err(failure)),
            (Some(_), Ok(_)) => {}
            (None, answer) => self.resolve(id, answer),
        }
    }

    fn close(&self, reason: &str) {
        let mut pending = self.pending.lock();
        pending.closed.get_or_insert_with(|| reason.to_owned());
        pending.carried.clear();
        for (_, waiting) in pending.waiting.drain() {
            waiting.send(Err(Failure::Closed(reason.to_owned()))).ok();
        }
    }
}

fn failed(failure: Failure) -> oneshot::Receiver<Result<Value, Failure>> {
    let (answer, waiting) = oneshot::channel();
    answer.send(Err(failure)).ok();
    waiting
}

/// A question that was asked. Dropping it forgets it.
#[derive(Debug)]
pub struct Asked<'a> {
    wire: &'a Wire,
    id: u64,
    method: String,
    waiting: oneshot::Receiver<Result<Value, Failure>>,
}

impl Asked<'_> {
    pub async fn answer(mut self, time: Duration) -> Result<Value, Failure> {
        match tokio::time::timeout(time, &mut self.waiting).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_gone)) => Err(Failure::Closed(self.wire.why_closed())),
            Err(_) => Err(Failure::Late { method: self.method.clone(), waited: time }),
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut pending = self.wire.pending.lock();
        pending.waiting.remove(&self.id);
        pending.carried.retain(|_, carried| *carried != self.id);
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

async fn read_on(mut reader: Reader, wire: Arc<Wire>, ears: Arc<dyn Ears>, stop: CancellationToken) {
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

async fn hand_out(text: &[u8], route: Option<&str>, wire: &Arc<Wire>, ears: &Arc<dyn Ears>) {
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
fn id_in(beginning: &[u8]) -> Option<u64> {
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
