//! What all wire formats share: a request goes out over HTTP, events come back, deltas come out.
//!
//! A wire format is a [`Dialect`] (how a request is written) with a [`Decoder`] (how an answer is read);
//! [`WireModel`] does the rest for each of them: sniffs whether the server streams, notices a cut-off answer,
//! turns faults into advice and fills in the cost.

pub(crate) mod assembly;
pub(crate) mod conversation;
pub(crate) mod json;
pub(crate) mod text;
pub(crate) mod written;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use secrecy::{ExposeSecret, SecretString};
use stepwell_net::header::{HeaderMap, HeaderName, HeaderValue};
use stepwell_net::{BodyKind, EventTooLong, HttpClient, MAX_EVENT_BYTES, Response, SseEvent, SseParser};
use stepwell_protocol::ErrorKind;
use url::Url;

use crate::advice::{Answer, Peer};
use crate::exchange::{chunk, post, whole};
use crate::model::{DeltaStream, Error, Model, ModelInfo, Request};
use crate::window::{KnownWindow, Question, Server, WindowSize};
use assembly::Assembly;

/// An answer that is not streamed is held whole in memory.
const MAX_WHOLE_BODY: usize = 64 * 1024 * 1024;

/// What of an answer is kept to show how it began.
const LONGEST_BEGINNING: usize = 64;

/// How long a usage report that follows the end of an answer is waited for.
const TRAILING_GRACE: Duration = Duration::from_secs(2);

/// How long the end of the body is waited for after the last event, so that the connection can be used again.
const CLOSING_GRACE: Duration = Duration::from_millis(20);

/// How one wire format writes a request.
pub(crate) trait Dialect: Send + Sync + 'static {
    type Decoder: Decoder;

    fn url(&self, base: &Url, model: &str) -> Result<Url, Error>;

    /// The header that carries the key, and its value.
    fn authorization(&self, key: &str) -> (HeaderName, String);

    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn body(&self, info: &ModelInfo, request: &Request) -> Result<Bytes, Error>;

    fn decoder(&self) -> Self::Decoder;
}

/// How one wire format's answer is read. What it finds goes into the [`Assembly`].
pub(crate) trait Decoder: Send + 'static {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembly) -> Result<(), Fault>;

    /// The whole answer as one JSON text, from a server that does not stream.
    fn whole(&mut self, body: &[u8], out: &mut Assembly) -> Result<(), Fault>;
}

/// What a decoder cannot go on with.
#[derive(Debug)]
pub(crate) enum Fault {
    TooLong(EventTooLong),
    Unreadable {
        data: Vec<u8>,
        cause: String,
    },
    /// The server reports an error inside the stream; this is its JSON.
    Refused {
        body: Vec<u8>,
    },
}

impl From<EventTooLong> for Fault {
    fn from(error: EventTooLong) -> Self {
        Self::TooLong(error)
    }
}

impl Fault {
    pub(crate) fn unreadable(data: &[u8], cause: &impl ToString) -> Self {
        Self::Unreadable { data: data.to_vec(), cause: cause.to_string() }
    }

    fn into_error(self, peer: &Peer) -> Error {
        match self {
            Self::TooLong(error) => {
                Error::new(ErrorKind::LlmProtocol, format!("`{}`: {error}", peer.provider))
            }
            Self::Unreadable { data, cause } => peer.unreadable(&data, &cause),
            Self::Refused { body } => peer.refusal(&Answer {
                status: None,
                html: false,
                retry_after: None,
                location: None,
                body: &body,
            }),
        }
    }
}

/// Reads the text of an event; a byte that is no UTF-8 becomes a replacement character.
pub(crate) fn event_text(data: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(data) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(data),
    }
}

/// Adds path segments to a base URL, keeping its query.
pub(crate) fn join(base: &Url, segments: &[&str]) -> Result<Url, Error> {
    let mut url = base.clone();
    let Ok(mut path) = url.path_segments_mut() else {
        let message = format!("`{base}` cannot be the base of an API address");
        return Err(Error::new(ErrorKind::LlmProtocol, message));
    };
    path.pop_if_empty().extend(segments);
    drop(path);
    Ok(url)
}

/// A model behind HTTP.
pub(crate) struct WireModel<D> {
    wire: Arc<Wire<D>>,
}

struct Wire<D> {
    info: ModelInfo,
    dialect: D,
    peer: Peer,
    headers: HeaderMap,
    client: HttpClient,
    window: KnownWindow,
}

impl<D: Dialect> WireModel<D> {
    pub(crate) fn new(
        dialect: D,
        info: ModelInfo,
        peer: Peer,
        headers: HeaderMap,
        client: HttpClient,
        question: Question,
    ) -> Self {
        let size = WindowSize { tokens: info.context_window, source: info.window_source };
        let window = KnownWindow::new(size, question);
        Self { wire: Arc::new(Wire { info, dialect, peer, headers, client, window }) }
    }
}

impl<D: Dialect> Model for WireModel<D> {
    fn info(&self) -> &ModelInfo {
        &self.wire.info
    }

    fn window(&self) -> BoxFuture<'_, WindowSize> {
        Box::pin(async {
            let Wire { dialect, peer, client, window, .. } = &*self.wire;
            let mut headers = self.wire.headers.clone();
            // A key that cannot be sent is told by the first request.
            headers.extend(key_header(dialect, peer.key.as_ref(), peer).unwrap_or_default());
            window.get(&Server { client, peer, headers }).await
        })
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let run = Run {
            decoder: self.wire.dialect.decoder(),
            wire: Arc::clone(&self.wire),
            assembly: Assembly::new(self.wire.info.price),
            parser: SseParser::new(MAX_EVENT_BYTES),
            beginning: Vec::new(),
            phase: Phase::Start(Box::new(request)),
        };
        Box::pin(stream::unfold(run, |mut run| async move {
            loop {
                if let Some(delta) = run.assembly.pop() {
                    return Some((Ok(delta), run));
                }
                match std::mem::replace(&mut run.phase, Phase::Done) {
                    Phase::Done => return None,
                    Phase::Failed(error) => return Some((Err(*error), run)),
                    phase => run.phase = run.advance(phase).await,
                }
            }
        }))
    }
}

/// One request under way.
struct Run<D: Dialect> {
    wire: Arc<Wire<D>>,
    decoder: D::Decoder,
    assembly: Assembly,
    parser: SseParser,
    /// The first bytes of the answer, for the message when nothing in it can be understood.
    beginning: Vec<u8>,
    phase: Phase,
}

enum Phase {
    Start(Box<Request>),
    /// The first bytes decide whether this is a stream of events or one JSON text.
    Opened(Box<Response>),
    Events(Box<Response>),
    Whole(Box<Response>, Vec<u8>),
    Failed(Box<Error>),
    Done,
}

impl<D: Dialect> Run<D> {
    async fn advance(&mut self, phase: Phase) -> Phase {
        let outcome = match phase {
            Phase::Start(request) => self.open(&request).await,
            Phase::Opened(reply) => self.sniff(reply).await,
            Phase::Events(reply) => self.read_events(reply).await,
            Phase::Whole(reply, start) => self.read_whole(reply, start).await,
            Phase::Failed(error) => Err(*error),
            Phase::Done => Ok(Phase::Done),
        };
        outcome.unwrap_or_else(|error| {
            if let Some(limit) = error.overflow.limit {
                self.wire.window.learn(limit);
            }
            Phase::Failed(Box::new(error))
        })
    }

    async fn open(&mut self, request: &Request) -> Result<Phase, Error> {
        let wire = &self.wire;
        let url = wire.dialect.url(&wire.peer.base_url, &wire.info.id)?;
        let body = wire.dialect.body(&wire.info, request)?;
        let mut headers = wire.headers.clone();
        if let Some(key) = &wire.peer.key {
            let (name, value) = wire.dialect.authorization(key.expose_secret());
            headers.insert(name, secret_header(&value, &wire.peer)?);
        }
        for (name, value) in wire.dialect.extra_headers() {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let (provider, model) = (&wire.peer.provider, &wire.info.id);
        tracing::info!(provider, model, bytes = body.len(), "model request");
        let reply = post(&wire.client, &url, headers, body, &wire.peer).await?;
        tracing::debug!(status = reply.status(), "model answer begins");
        Ok(Phase::Opened(Box::new(reply)))
    }

    async fn sniff(&mut self, mut reply: Box<Response>) -> Result<Phase, Error> {
        let Some(bytes) = chunk(&mut reply, None, &self.wire.peer).await? else {
            return Err(self.wire.peer.cut_off());
        };
        if let Some(compression) = reply.compression() {
            return Err(self.wire.peer.unreadable(&bytes, &format!("compressed with `{compression}`")));
        }
        if self.beginning.is_empty() {
            self.beginning = bytes[..bytes.len().min(LONGEST_BEGINNING)].to_vec();
        }
        let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else {
            self.feed(&bytes)?;
            return Ok(Phase::Opened(reply));
        };
        if reply.kind() != BodyKind::Events && matches!(first, b'{' | b'[') {
            return Ok(Phase::Whole(reply, bytes.to_vec()));
        }
        if reply.kind() == BodyKind::Html || *first == b'<' {
            let mut page = bytes.to_vec();
            // Whatever more can be had of the page is only for the message.
            page.extend(reply.bytes(16 * 1024).await.unwrap_or_default());
            let answer = Answer { status: None, html: true, retry_after: None, location: None, body: &page };
            return Err(self.wire.peer.refusal(&answer));
        }
        // Events begin with ASCII or a byte order mark; more of this would only be more of the same.
        if !is_text(*first) && *first != b'\xef' {
            return Err(self.wire.peer.unreadable(&bytes, &"no text"));
        }
        self.feed(&bytes)?;
        Ok(Phase::Events(reply))
    }

    async fn read_events(&mut self, mut reply: Box<Response>) -> Result<Phase, Error> {
        let grace = if self.assembly.is_closed() {
            Some(CLOSING_GRACE)
        } else if self.assembly.has_stop() {
            Some(TRAILING_GRACE)
        } else {
            None
        };
        match chunk(&mut reply, grace, &self.wire.peer).await {
            Ok(Some(bytes)) if !self.assembly.is_closed() => {
                self.feed(&bytes)?;
                Ok(Phase::Events(reply))
            }
            Ok(Some(_)) => Ok(Phase::Events(reply)),
            Ok(None) => {
                let Self { parser, decoder, assembly, .. } = self;
                let outcome = parser.finish::<Fault>(|event| decoder.event(event, assembly));
                self.end(outcome)
            }
            Err(error) if self.assembly.has_stop() => {
                tracing::debug!(%error, "the body did not end after the answer had");
                self.end(Ok(()))
            }
            Err(error) => Err(error),
        }
    }

    /// The body is over: is the answer?
    fn end(&mut self, outcome: Result<(), Fault>) -> Result<Phase, Error> {
        if self.assembly.finish() {
            return Ok(Phase::Done);
        }
        match outcome {
            Err(fault @ Fault::Refused { .. }) => Err(fault.into_error(&self.wire.peer)),
            _ if !may_be_events(&self.beginning) => {
                Err(self.wire.peer.unreadable(&self.beginning, &"neither events nor JSON"))
            }
            // An event cut in two by the end of the stream is a dropped connection, not a strange server.
            _ => Err(self.wire.peer.cut_off()),
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Self { parser, decoder, assembly, wire, .. } = self;
        parser
            .feed::<Fault>(
                bytes,
                |event| {
                    if assembly.is_closed() { Ok(()) } else { decoder.event(event, assembly) }
                },
            )
            .map_err(|fault| fault.into_error(&wire.peer))
    }

    async fn read_whole(&mut self, mut reply: Box<Response>, mut body: Vec<u8>) -> Result<Phase, Error> {
        body.extend(whole(&mut reply, MAX_WHOLE_BODY, &self.wire.peer).await?);
        let outcome = self.decoder.whole(&body, &mut self.assembly);
        if let Err(fault) = outcome {
            return Err(fault.into_error(&self.wire.peer));
        }
        if self.assembly.finish() {
            return Ok(Phase::Done);
        }
        Err(self.wire.peer.unreadable(&body, &"no answer in it"))
    }
}

fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// Whether an answer that begins like this can be a stream of events, or the first bytes of one.
fn may_be_events(beginning: &[u8]) -> bool {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning).trim_ascii_start();
    let fields: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b":"];
    fields.iter().any(|field| beginning.starts_with(field) || field.starts_with(beginning))
}

/// A header that never shows in a log or an error.
pub(crate) fn secret_header(value: &str, peer: &Peer) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        let place = peer.api_key_env.as_deref().unwrap_or("the settings");
        Error::new(ErrorKind::LlmAuthentication, "the key contains characters that cannot be sent")
            .with_hint(format!("look for line ends and quotes around the key in `{place}`"))
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The key as a request header, for requests other than a model's.
pub(crate) fn key_header<D: Dialect>(
    dialect: &D,
    key: Option<&SecretString>,
    peer: &Peer,
) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let (name, value) = dialect.authorization(key.expose_secret());
        headers.insert(name, secret_header(&value, peer)?);
    }
    for (name, value) in dialect.extra_headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Ok(headers)
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
