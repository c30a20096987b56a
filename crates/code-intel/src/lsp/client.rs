//! Pairs answers with questions, each with a deadline, and hears what a server says by itself.
//!
//! One task reads, one writes. The listener is called by the task that reads and must not wait, so nothing queues up
//! in memory: a server that floods is slowed down by its own pipe.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use stepwell_workspace::frames::{Frame, FrameError, FrameReader, framed, write_frames};
use stepwell_workspace::pending::{PendingRequests, RequestId, Unanswered};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Messages that may wait to be written; a server that does not read makes requests fail, not memory grow.
const WRITE_QUEUE: usize = 256;
/// JSON-RPC's word for a request that nobody knows.
pub(crate) const UNKNOWN_METHOD: i64 = -32601;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerError {
    /// The server is not there any more.
    Gone(String),
    /// It did not answer in time.
    Late(String),
    /// It answered with an error.
    Refused { code: i64, message: String },
    /// It answered what cannot be used.
    Useless(String),
}

/// Hears what a server says by itself. Called from the task that reads: it must not wait.
pub(crate) trait Listener: Send + Sync + 'static {
    fn notification(&self, method: &str, params: &Value);

    /// The server asks something: the answer, or nothing where such a question is not known.
    fn request(&self, method: &str, params: &Value) -> Option<Value>;

    /// Nothing more will come; the reason in plain words.
    fn closed(&self, reason: &str);
}

/// A connection to a server. Clones share it; it closes when the last one is gone.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    wires: Arc<Wires>,
    _reading: Arc<DropGuard>,
}

#[derive(Debug)]
struct Wires {
    pending: PendingRequests<Answer>,
    outgoing: mpsc::Sender<Vec<u8>>,
}

type Answer = Result<Option<Box<RawValue>>, ServerError>;

#[derive(Debug, Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Failure>,
}

#[derive(Debug, Deserialize)]
struct Failure {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl Client {
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        listener: Arc<dyn Listener>,
    ) -> Self {
        let (outgoing, queue) = mpsc::channel(WRITE_QUEUE);
        let wires = Arc::new(Wires { pending: PendingRequests::new(), outgoing });
        let stop = CancellationToken::new();
        tokio::spawn(write_frames(writer, queue, stop.clone()));
        tokio::spawn(read_on(FrameReader::new(reader), Arc::clone(&wires), listener, stop.clone()));
        Self { wires, _reading: Arc::new(stop.drop_guard()) }
    }

    /// Asks and waits for the answer, which is `null` where there is none.
    pub async fn request(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, ServerError> {
        let failure = |unanswered| match unanswered {
            Unanswered::Closed(reason) => ServerError::Gone(reason),
            Unanswered::Late => ServerError::Late(format!("it did not answer `{method}` in time")),
        };
        let pending = self.wires.pending.register().map_err(failure)?;
        let wires = Arc::clone(&self.wires);
        // The server may stop working on a request that nobody waits for.
        let pending = pending.on_cancel(move |id| {
            let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id.0}});
            wires.send(&cancel).ok();
        });
        self.send(&json!({"jsonrpc": "2.0", "id": pending.id().0, "method": method, "params": params}))?;
        let result = pending.answer(deadline).await.map_err(failure)??;
        let Some(result) = result else { return Ok(Value::Null) };
        serde_json::from_str(result.get()).map_err(|error| {
            ServerError::Useless(format!("its answer to `{method}` cannot be read: {error}"))
        })
    }

    pub fn notify(&self, method: &str, params: &Value) -> Result<(), ServerError> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn send(&self, message: &Value) -> Result<(), ServerError> {
        self.wires
            .send(message)
            .map_err(|()| ServerError::Late("it does not read what it is told".to_owned()))
    }

    pub fn is_closed(&self) -> bool {
        self.wires.pending.is_closed()
    }
}

impl Wires {
    fn send(&self, message: &Value) -> Result<(), ()> {
        self.outgoing.try_send(framed(message.to_string().as_bytes())).map_err(|_| ())
    }
}

async fn read_on(
    mut reader: FrameReader<impl AsyncRead + Send + Unpin>,
    wires: Arc<Wires>,
    listener: Arc<dyn Listener>,
    stop: CancellationToken,
) {
    let reason = loop {
        let frame = tokio::select! {
            frame = reader.next() => frame,
            () = stop.cancelled() => break "the connection was given up".to_owned(),
        };
        match frame {
            Ok(Frame::Whole(body)) => {
                if let Some(message) = decoded(body) {
                    hand_out(message, &wires, &*listener);
                }
            }
            Ok(Frame::TooLong { length, beginning }) => {
                if let Some(id) = id_in(&beginning) {
                    let what = format!("its answer has {} MiB, which is too much", length / (1024 * 1024));
                    wires.pending.resolve(RequestId(id), Err(ServerError::Useless(what)));
                }
            }
            Err(FrameError::Closed) => break "it ended".to_owned(),
            Err(FrameError::Garbage(what)) => {
                break format!("it does not speak the Language Server Protocol: {what}");
            }
            Err(FrameError::Io(error)) => break format!("the connection to it failed: {error}"),
        }
    };
    wires.pending.close(&reason);
    listener.closed(&reason);
}

/// A message; one that is no JSON is passed over, and whoever waits for it is told at the deadline.
fn decoded(body: &[u8]) -> Option<Envelope> {
    serde_json::from_slice(body).ok().or_else(|| serde_json::from_str(&String::from_utf8_lossy(body)).ok())
}

fn hand_out(message: Envelope, wires: &Wires, listener: &dyn Listener) {
    let params = message.params.unwrap_or(Value::Null);
    match (message.method, message.id) {
        (Some(method), None) => listener.notification(&method, &params),
        (Some(method), Some(id)) => {
            let answer = match listener.request(&method, &params) {
                Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                None => json!({"jsonrpc": "2.0", "id": id,
                    "error": {"code": UNKNOWN_METHOD, "message": "not supported by this client"}}),
            };
            wires.send(&answer).ok();
        }
        (None, Some(id)) => {
            let answer = match message.error {
                Some(Failure { code, message }) => Err(ServerError::Refused { code, message }),
                None => Ok(message.result),
            };
            if let Some(id) = id.as_i64() {
                wires.pending.resolve(RequestId(id), answer);
            }
        }
        (None, None) => {}
    }
}

/// Whose answer a message is of which only the beginning was kept.
fn id_in(beginning: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(beginning);
    let (_, rest) = text.split_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
