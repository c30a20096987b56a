//! Recording a run and playing it back without a network.
//!
//! A cassette is text, one JSON object per line: first the model, then one line per request with the request in
//! normal form, the deltas with their times, and the error if it ended in one. It holds no key: a request has none.
//!
//! Two runs of the same task differ in what does not matter: ids, times, durations, where the workspace lies. The
//! [`Normalizer`] takes that out on both sides before they are compared. Ids of calls come from the cassette, so
//! that they stay the same.

mod normal;

use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures::future::BoxFuture;
use futures::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use stepwell_protocol::ErrorKind;

use crate::model::{Delta, DeltaStream, Error, Model, ModelInfo, Request};
use crate::window::WindowSize;
use normal::NormalRequest;
pub use normal::Normalizer;

const CASSETTE_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    cassette: u32,
    model: ModelInfo,
}

/// One request and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Exchange {
    request: NormalRequest,
    deltas: Vec<TimedDelta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
    /// The answer was abandoned before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cancelled: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct TimedDelta {
    /// Since the request.
    at_ms: u64,
    delta: Delta,
}

type Sink = Arc<Mutex<Box<dyn Write + Send>>>;

/// A model that writes down what is asked and answered.
pub struct Recorder {
    inner: Arc<dyn Model>,
    sink: Sink,
    normalizer: Normalizer,
    /// The line about the model, which waits for the window its server tells.
    header: Mutex<Option<Header>>,
}

impl Recorder {
    /// Records to `sink`, beginning with a line about the model.
    pub fn new(inner: Arc<dyn Model>, sink: Box<dyn Write + Send>, normalizer: Normalizer) -> Self {
        let header = Header { cassette: CASSETTE_VERSION, model: inner.info().clone() };
        let sink = Arc::new(Mutex::new(sink));
        Self { inner, sink, normalizer, header: Mutex::new(Some(header)) }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // A run that never asked the model leaves a recording too.
        if let Some(header) = self.header.get_mut().take() {
            write_line(&self.sink, &header);
        }
    }
}

impl Model for Recorder {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn window(&self) -> BoxFuture<'_, WindowSize> {
        Box::pin(async {
            let size = self.inner.window().await;
            if let Some(header) = self.header.lock().as_mut() {
                header.model.context_window = size.tokens;
                header.model.window_source = size.source;
            }
            size
        })
    }

    fn stream(&self, request: Request) -> DeltaStream {
        if let Some(header) = self.header.lock().take() {
            write_line(&self.sink, &header);
        }
        let exchange = Exchange {
            request: self.normalizer.request(&request),
            deltas: Vec::new(),
            error: None,
            cancelled: true,
        };
        Box::pin(RecordingStream {
            inner: self.inner.stream(request),
            exchange: Some(exchange),
            sink: Arc::clone(&self.sink),
            started: Instant::now(),
        })
    }
}

struct RecordingStream {
    inner: DeltaStream,
    exchange: Option<Exchange>,
    sink: Sink,
    started: Instant,
}

impl Stream for RecordingStream {
    type Item = Result<Delta, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = match self.inner.poll_next_unpin(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(item) => item,
        };
        let at_ms = self.started.elapsed().as_millis() as u64;
        if let Some(exchange) = &mut self.exchange {
            let over = match &item {
                Some(Ok(delta)) => {
                    exchange.deltas.push(TimedDelta { at_ms, delta: delta.clone() });
                    matches!(delta, Delta::Stop(_))
                }
                Some(Err(error)) => {
                    exchange.error = Some(error.clone());
                    true
                }
                None => true,
            };
            if over {
                exchange.cancelled = false;
                self.write();
            }
        }
        Poll::Ready(item)
    }
}

impl RecordingStream {
    fn write(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            write_line(&self.sink, &exchange);
        }
    }
}

impl Drop for RecordingStream {
    fn drop(&mut self) {
        self.write();
    }
}

/// A recording that fails must not fail the run it records.
fn write_line(sink: &Sink, value: &impl Serialize) {
    let mut line = match serde_json::to_vec(value) {
        Ok(line) => line,
        Err(error) => {
            tracing::warn!(%error, "an exchange cannot be recorded");
            return;
        }
    };
    line.push(b'\n');
    let mut sink = sink.lock();
    if let Err(error) = sink.write_all(&line).and_then(|()| sink.flush()) {
        tracing::warn!(%error, "an exchange could not be recorded");
    }
}

/// How closely a replayed run must follow the recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// Everything the model sees must be the same, after normalizing.
    #[default]
    Strict,
    /// The number of turns and the person's last words must be.
    Lenient,
}

/// A model that answers from a cassette.
pub struct Replay {
    info: ModelInfo,
    exchanges: Mutex<Vec<Option<Exchange>>>,
    matching: Matching,
    normalizer: Normalizer,
}

impl Replay {
    /// Reads a cassette. A torn last line, as a crash leaves it, is passed over.
    pub fn new(cassette: &str, matching: Matching, normalizer: Normalizer) -> Result<Self, Error> {
        let mut lines = cassette.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        let (_, first) = lines.next().ok_or_else(|| malformed(1, &"it is empty"))?;
        let header: Header = serde_json::from_str(first).map_err(|error| malformed(1, &error))?;
        if header.cassette != CASSETTE_VERSION {
            return Err(malformed(1, &format!("version {} is not known", header.cassette)));
        }
        let mut exchanges = Vec::new();
        while let Some((number, line)) = lines.next() {
            match serde_json::from_str::<Exchange>(line) {
                Ok(exchange) => exchanges.push(Some(exchange)),
                Err(error) if lines.peek().is_none() && error.is_eof() => {
                    tracing::warn!(line = number + 1, "the cassette's last line is torn");
                }
                Err(error) => return Err(malformed(number + 1, &error)),
            }
        }
        Ok(Self { info: header.model, exchanges: Mutex::new(exchanges), matching, normalizer })
    }

    /// How many recorded answers have not been asked for.
    pub fn remaining(&self) -> usize {
        self.exchanges.lock().iter().flatten().count()
    }

    /// The next answer in order; of runs side by side, the first that fits.
    fn take(&self, request: &NormalRequest) -> Result<Exchange, Error> {
        let mut exchanges = self.exchanges.lock();
        let total = exchanges.len();
        let Some(next) = exchanges.iter().position(Option::is_some) else {
            return Err(Error::new(
                ErrorKind::LlmProtocol,
                format!("the cassette has {total} answers, and this is request {}", total + 1),
            )
            .with_hint("the run goes on longer than the recorded one; record it anew"));
        };
        let fits = |exchange: &Exchange| exchange.request.difference(request, self.matching).is_none();
        let found = exchanges.iter().position(|exchange| exchange.as_ref().is_some_and(fits));
        if let Some(exchange) = found.and_then(|position| exchanges[position].take()) {
            return Ok(exchange);
        }
        let difference =
            exchanges[next].as_ref().and_then(|exchange| exchange.request.difference(request, self.matching));
        Err(Error::new(
            ErrorKind::LlmProtocol,
            format!("request {} is not the recorded one: {}", next + 1, difference.unwrap_or_default()),
        )
        .with_hint("record the run anew, or replay with lenient matching"))
    }
}

impl Model for Replay {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: Request) -> DeltaStream {
        match self.take(&self.normalizer.request(&request)) {
            Err(error) => Box::pin(stream::iter([Err(error)])),
            Ok(exchange) => {
                // Waits and retries of the recorded run are not lived through again.
                let deltas = exchange.deltas.into_iter().map(|timed| timed.delta);
                let deltas = deltas.filter(|delta| !matches!(delta, Delta::Retrying { .. })).map(Ok);
                Box::pin(stream::iter(deltas.chain(exchange.error.map(Err)).collect::<Vec<_>>()))
            }
        }
    }
}

fn malformed(line: usize, cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::LlmProtocol, format!("line {line} of the cassette cannot be read: {cause}"))
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
