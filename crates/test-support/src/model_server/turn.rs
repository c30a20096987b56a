//! One scripted turn: what is said, and what goes wrong while it is said.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, watch};

/// What the server does with one request.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) reply: Reply,
    pub(super) headers: Vec<(String, String)>,
    /// The connection is cut after this many bytes of the body.
    pub(super) drop_after: Option<usize>,
    /// Nothing more comes after this many bytes, and the connection stays open.
    pub(super) stall_after: Option<usize>,
    pub(super) gate: Option<Gate>,
    pub(super) pause: Option<Duration>,
    /// The body is cut into pieces of this size, regardless of events.
    pub(super) write_size: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    Answer(Answer),
    Error { status: u16, message: String, code: Option<String> },
    Raw { status: u16, content_type: String, pieces: Vec<Vec<u8>> },
}

/// A model's answer, in no wire format yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub reasoning: Option<String>,
    pub text: String,
    pub calls: Vec<ScriptedCall>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub truncated: bool,
    pub refused: bool,
    /// Characters of text or arguments per event.
    pub chunk: usize,
    pub streamed: bool,
}

/// A tool call that the model makes.
#[derive(Clone, Debug)]
pub struct ScriptedCall {
    pub id: Option<String>,
    pub name: String,
    /// The arguments' text; need not be JSON.
    pub arguments: String,
}

/// A call with these arguments.
pub fn call(name: &str, arguments: Value) -> ScriptedCall {
    ScriptedCall { id: None, name: name.to_owned(), arguments: arguments.to_string() }
}

impl ScriptedCall {
    /// Arguments that are no JSON, as weak models write them.
    pub fn malformed(name: &str, arguments: &str) -> Self {
        Self { id: None, name: name.to_owned(), arguments: arguments.to_owned() }
    }

    pub fn with_id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }
}

impl Turn {
    fn new(reply: Reply) -> Self {
        Self {
            reply,
            headers: Vec::new(),
            drop_after: None,
            stall_after: None,
            gate: None,
            pause: None,
            write_size: None,
        }
    }

    fn answer(answer: Answer) -> Self {
        Self::new(Reply::Answer(Answer {
            input_tokens: 10,
            output_tokens: 5,
            chunk: 8,
            streamed: true,
            ..answer
        }))
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Answer { text: text.into(), ..Answer::default() })
    }

    pub fn calls(calls: impl IntoIterator<Item = ScriptedCall>) -> Self {
        Self::answer(Answer { calls: calls.into_iter().collect(), ..Answer::default() })
    }

    /// An error in the form of whichever wire format asks.
    pub fn error(status: u16, message: &str) -> Self {
        Self::new(Reply::Error { status, message: message.to_owned(), code: None })
    }

    /// Bytes that are no answer in any format, declared as an event stream.
    pub fn garbage(bytes: impl Into<Vec<u8>>) -> Self {
        Self::raw(200, "text/event-stream", bytes)
    }

    /// Any answer at all.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Reply::Raw { status, content_type: content_type.to_owned(), pieces: vec![body.into()] })
    }

    /// Events as they stand: each becomes `data: ...` and an empty line, sent on its own.
    pub fn raw_sse<T: AsRef<str>>(events: impl IntoIterator<Item = T>) -> Self {
        let pieces = events.into_iter().map(|event| format!("data: {}\n\n", event.as_ref()).into_bytes());
        Self::new(Reply::Raw {
            status: 200,
            content_type: "text/event-stream".to_owned(),
            pieces: pieces.collect(),
        })
    }

    /// Sends the head of an answer and then nothing, with the connection open.
    pub fn silent() -> Self {
        Self::text("").stall_after_bytes(0)
    }

    fn edit(mut self, edit: impl FnOnce(&mut Answer)) -> Self {
        match &mut self.reply {
            Reply::Answer(answer) => edit(answer),
            other => panic!("only an answer can be given this, not {other:?}"),
        }
        self
    }

    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.edit(|answer| answer.text = text.into())
    }

    pub fn with_reasoning(self, text: impl Into<String>) -> Self {
        self.edit(|answer| answer.reasoning = Some(text.into()))
    }

    /// Input and output tokens; the input is what was read from no cache.
    pub fn with_usage(self, input: u64, output: u64) -> Self {
        self.edit(|answer| {
            answer.input_tokens = input;
            answer.output_tokens = output;
        })
    }

    pub fn with_cache(self, read: u64, written: u64) -> Self {
        self.edit(|answer| {
            answer.cache_read = read;
            answer.cache_write = written;
        })
    }

    /// The answer ends because it reached the limit of its length.
    pub fn truncated(self) -> Self {
        self.edit(|answer| answer.truncated = true)
    }

    /// The answer ends because the provider's filter stopped it.
    pub fn refused(self) -> Self {
        self.edit(|answer| answer.refused = true)
    }

    /// Characters of text or arguments per event; 8 unless told.
    pub fn chunk_size(self, characters: usize) -> Self {
        self.edit(|answer| answer.chunk = characters.max(1))
    }

    /// Answers with one JSON text, as a server does that cannot stream.
    pub fn without_streaming(self) -> Self {
        self.edit(|answer| answer.streamed = false)
    }

    /// The error's code, where the wire format has one.
    pub fn with_code(mut self, name: &str) -> Self {
        if let Reply::Error { code, .. } = &mut self.reply {
            *code = Some(name.to_owned());
        }
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn retry_after(self, value: &str) -> Self {
        self.header("retry-after", value)
    }

    /// Cuts the connection after this many bytes of the body.
    pub fn drop_after_bytes(mut self, bytes: usize) -> Self {
        self.drop_after = Some(bytes);
        self
    }

    /// Sends this many bytes of the body and then nothing, with the connection open.
    pub fn stall_after_bytes(mut self, bytes: usize) -> Self {
        self.stall_after = Some(bytes);
        self
    }

    /// Cuts the body into writes of this many bytes, regardless of events.
    pub fn write_size(mut self, bytes: usize) -> Self {
        self.write_size = Some(bytes.max(1));
        self
    }

    /// Waits this long before each piece; for demonstrations. A test uses [`Turn::gated`].
    pub fn slow(mut self, pause: Duration) -> Self {
        self.pause = Some(pause);
        self
    }

    /// Each piece of the body, an event as a rule, waits until the test lets it through.
    pub fn gated(mut self) -> (Self, Gate) {
        let gate = Gate { permits: Arc::new(Semaphore::new(0)), sent: Arc::new(watch::Sender::new(0)) };
        self.gate = Some(gate.clone());
        (self, gate)
    }
}

/// Holds a turn's pieces back.
#[derive(Clone, Debug)]
pub struct Gate {
    permits: Arc<Semaphore>,
    sent: Arc<watch::Sender<usize>>,
}

impl Gate {
    /// Lets this many more pieces through.
    pub fn release(&self, pieces: usize) {
        self.permits.add_permits(pieces);
    }

    /// Lets everything through.
    pub fn open(&self) {
        self.permits.close();
    }

    /// Waits until this many pieces were sent.
    pub async fn sent(&self, pieces: usize) {
        let mut sent = self.sent.subscribe();
        // The sender lives as long as this gate, so the wait cannot fail.
        drop(sent.wait_for(|sent| *sent >= pieces).await);
    }

    pub(super) async fn pass(&self) {
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }

    pub(super) fn note_sent(&self) {
        self.sent.send_modify(|sent| *sent += 1);
    }
}
