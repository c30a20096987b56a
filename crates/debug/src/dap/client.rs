//! Pairs answers with questions, each with a deadline, and passes on what an adapter says by itself.
//!
//! One task reads, one writes. Events go to the listener in the order they came, before the next message is read; the
//! listener must not wait. So nothing queues up in memory: an adapter that floods is slowed down by its own pipe.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use stepwell_workspace::frames::write_frames;
use stepwell_workspace::pending::{PendingRequest, PendingRequests, RequestId, Unanswered};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::transport::Link;
use super::wire::{self, Envelope, Incoming, MessageReader};
use crate::{Error, Result};

/// Messages that may wait to be written; an adapter that does not read makes requests fail, not memory grow.
const WRITE_QUEUE: usize = 64;
/// Requests of an adapter that are answered at the same time.
const MOST_REVERSE: usize = 32;

/// Hears what an adapter says by itself. Called from the task that reads: it must not wait.
pub(crate) trait Listener: Send + Sync + 'static {
    fn event(&self, name: &str, body: Option<&RawValue>);

    /// The adapter asks something; the answer may be given at any time later.
    fn reverse_request(&self, request: ReverseRequest);

    /// A message that cannot be understood; one is not worth a session.
    fn garbled(&self, reason: &str);

    /// Nothing more will come; the reason in plain words.
    fn closed(&self, reason: &str);
}

/// A question of the adapter.
#[derive(Debug)]
pub(crate) struct ReverseRequest {
    pub command: String,
    pub arguments: Option<Box<RawValue>>,
    pub reply: Reply,
}

/// Answers a question of the adapter, once. Dropped unused, it says that the request is not supported.
#[derive(Debug)]
pub(crate) struct Reply {
    request_seq: i64,
    command: String,
    wires: Option<Arc<Wires>>,
    /// Counts it among those that are answered at the same time, until it is.
    _turn: Option<tokio::sync::OwnedSemaphorePermit>,
}

impl Reply {
    pub(crate) fn succeed(mut self, body: Value) {
        if let Some(wires) = self.wires.take() {
            wires.answer(self.request_seq, &self.command, Ok(body));
        }
    }

    pub(crate) fn fail(mut self, message: &str) {
        if let Some(wires) = self.wires.take() {
            wires.answer(self.request_seq, &self.command, Err(message));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(wires) = self.wires.take() {
            wires.answer(self.request_seq, &self.command, Err("not supported by this client"));
        }
    }
}

/// A connection to an adapter. Clones share it; it closes when the last one is gone.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    wires: Arc<Wires>,
    _reading: Arc<DropGuard>,
}

#[derive(Debug)]
struct Wires {
    pending: PendingRequests<Answer>,
    outgoing: mpsc::Sender<Vec<u8>>,
    reverse: Arc<tokio::sync::Semaphore>,
}

type Answer = Result<Option<Box<RawValue>>>;

impl Client {
    pub(crate) fn new(link: Link, listener: Arc<dyn Listener>) -> Self {
        let (outgoing, queue) = mpsc::channel(WRITE_QUEUE);
        let wires = Arc::new(Wires {
            pending: PendingRequests::new(),
            outgoing,
            reverse: Arc::new(tokio::sync::Semaphore::new(MOST_REVERSE)),
        });
        let stop = CancellationToken::new();
        tokio::spawn(write_frames(link.writer, queue, stop.clone()));
        tokio::spawn(read_on(MessageReader::new(link.reader), Arc::clone(&wires), listener, stop.clone()));
        Self { wires, _reading: Arc::new(stop.drop_guard()) }
    }

    /// Asks and waits for the answer's body.
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        command: &str,
        arguments: impl Serialize,
        time: Duration,
    ) -> Result<T> {
        let sent = self.send(command, arguments)?;
        let body = sent.answer(time).await?;
        let text = body.as_deref().map_or("{}", RawValue::get);
        serde_json::from_str(if text == "null" { "{}" } else { text })
            .map_err(|source| Error::Answer { command: command.to_owned(), source })
    }

    /// Asks; the answer is waited for later, or not at all.
    pub(crate) fn send(&self, command: &str, arguments: impl Serialize) -> Result<Sent> {
        let closed = |unanswered| failure(command, Duration::ZERO, unanswered);
        let pending = self.wires.pending.register().map_err(closed)?;
        let message = Request { seq: pending.id().0, kind: "request", command, arguments };
        let frame =
            wire::frame(&message).map_err(|source| Error::Answer { command: command.to_owned(), source })?;
        self.wires.outgoing.try_send(frame).map_err(|_| Error::NotReading { command: command.to_owned() })?;
        Ok(Sent { command: command.to_owned(), pending })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.wires.pending.is_closed()
    }
}

#[derive(Serialize)]
struct Request<'a, T> {
    seq: i64,
    #[serde(rename = "type")]
    kind: &'a str,
    command: &'a str,
    arguments: T,
}

/// A question that was asked. Dropping it forgets it.
#[derive(Debug)]
pub struct Sent {
    command: String,
    pending: PendingRequest<Answer>,
}

impl Sent {
    pub async fn answer(self, time: Duration) -> Answer {
        let Self { command, pending } = self;
        match pending.answer(Instant::now() + time).await {
            Ok(answer) => answer,
            Err(unanswered) => Err(failure(&command, time, unanswered)),
        }
    }
}

fn failure(command: &str, waited: Duration, unanswered: Unanswered) -> Error {
    let command = command.to_owned();
    match unanswered {
        Unanswered::Closed(reason) => Error::Closed { command, reason },
        Unanswered::Late => Error::NoAnswer { command, waited },
    }
}

impl Wires {
    fn answer(&self, request_seq: i64, command: &str, answer: std::result::Result<Value, &str>) {
        let seq = self.pending.next_id().0;
        let message = match answer {
            Ok(body) => json!({ "seq": seq, "type": "response", "request_seq": request_seq,
                "success": true, "command": command, "body": body }),
            Err(message) => json!({ "seq": seq, "type": "response", "request_seq": request_seq,
                "success": false, "command": command, "message": message }),
        };
        if let Ok(frame) = wire::frame(&message) {
            self.outgoing.try_send(frame).ok();
        }
    }
}

async fn read_on(
    mut reader: MessageReader<Box<dyn tokio::io::AsyncRead + Send + Unpin>>,
    wires: Arc<Wires>,
    listener: Arc<dyn Listener>,
    stop: CancellationToken,
) {
    let reason = loop {
        let incoming = tokio::select! {
            incoming = reader.next() => incoming,
            () = stop.cancelled() => break "the session was closed".to_owned(),
        };
        match incoming {
            Ok(Incoming::Message(message)) => hand_out(message, &wires, &listener),
            Ok(Incoming::TooLong { length, request_seq }) => {
                if let Some(seq) = request_seq {
                    wires.pending.resolve(RequestId(seq), Err(Error::TooLong { length }));
                }
            }
            Ok(Incoming::Malformed(reason)) => listener.garbled(&reason),
            Err(error) => break error.to_string(),
        }
    };
    wires.pending.close(&reason);
    let unmatched = wires.pending.unmatched_answers();
    tracing::info!(unmatched, "debug adapter disconnected");
    listener.closed(&reason);
}

fn hand_out(message: Envelope, wires: &Arc<Wires>, listener: &Arc<dyn Listener>) {
    match message.kind.as_str() {
        "response" => {
            let answer = if message.success {
                Ok(message.body)
            } else {
                Err(Error::Refused { command: message.command.clone(), reason: reason_of(&message) })
            };
            wires.pending.resolve(RequestId(message.request_seq), answer);
        }
        "event" => listener.event(&message.event, message.body.as_deref()),
        "request" => {
            let turn = Arc::clone(&wires.reverse).try_acquire_owned().ok();
            let is_one_too_many = turn.is_none();
            let reply = Reply {
                request_seq: message.seq,
                command: message.command.clone(),
                wires: Some(Arc::clone(wires)),
                _turn: turn,
            };
            if is_one_too_many {
                reply.fail("too many requests at once");
            } else {
                let (command, arguments) = (message.command, message.arguments);
                listener.reverse_request(ReverseRequest { command, arguments, reply });
            }
        }
        _ => {}
    }
}

/// Why a request failed: adapters put it into `body.error.format`, with places for variables, or into `message`.
fn reason_of(message: &Envelope) -> String {
    #[derive(serde::Deserialize)]
    struct Failure {
        error: Option<Details>,
    }
    #[derive(serde::Deserialize)]
    struct Details {
        #[serde(default)]
        format: String,
        #[serde(default)]
        variables: serde_json::Map<String, Value>,
    }
    let details = message.body.as_deref().and_then(|body| serde_json::from_str::<Failure>(body.get()).ok());
    if let Some(Details { format, variables }) = details.and_then(|failure| failure.error)
        && !format.is_empty()
    {
        return variables.iter().fold(format, |text, (name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.replace(&format!("{{{name}}}"), &value)
        });
    }
    match &message.message {
        Some(Value::String(text)) if !text.is_empty() => text.clone(),
        Some(other) if !other.is_null() => other.to_string(),
        _ => "no reason was given".to_owned(),
    }
}
