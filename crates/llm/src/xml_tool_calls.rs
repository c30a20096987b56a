//! Tool calls written as XML in the text, for models that have no form of their own.
//!
//! The tools are described in the system prompt, earlier calls and results are told as text, and the answer's
//! text is parsed while it streams, so that the rest of the program sees the one kind of model it knows.

mod parser;
mod render;
mod values;

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use stepwell_protocol::{Message, ToolCallId};

use crate::model::{Delta, DeltaStream, Error, Model, ModelInfo, Request, StopReason, ToolChoice};
use crate::window::WindowSize;
use parser::{Parser, Piece, TextEnd};

/// Told messages are kept up to here before those that are gone are dropped.
const KEPT_MESSAGES: usize = 4096;

/// A message and what was made of it.
type Told = (Weak<Message>, Arc<Message>);

/// A model whose calls are XML. See the module's words.
pub struct XmlToolCalls {
    inner: Arc<dyn Model>,
    told: Mutex<HashMap<usize, Told>>,
}

impl XmlToolCalls {
    pub fn new(inner: Arc<dyn Model>) -> Self {
        Self { inner, told: Mutex::new(HashMap::new()) }
    }

    /// The message as text. The same one comes back each time, so that what is built on it can be kept too.
    fn tell(&self, message: &Arc<Message>) -> Arc<Message> {
        let Some(told) = render::message(message) else { return Arc::clone(message) };
        let mut kept = self.told.lock();
        let address = Arc::as_ptr(message) as usize;
        if let Some((source, told)) = kept.get(&address)
            && std::ptr::eq(source.as_ptr(), Arc::as_ptr(message))
        {
            return Arc::clone(told);
        }
        if kept.len() >= KEPT_MESSAGES {
            kept.retain(|_, (source, _)| source.strong_count() > 0);
        }
        let told = Arc::new(told);
        kept.insert(address, (Arc::downgrade(message), Arc::clone(&told)));
        told
    }
}

impl Model for XmlToolCalls {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn window(&self) -> BoxFuture<'_, WindowSize> {
        self.inner.window()
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let known = request.tools.iter().chain(request.deferred.iter()).cloned().collect();
        let parser = Parser::new(known);
        let inner = self.inner.stream(Request {
            system: render::system(&request.system, &request.tools),
            messages: request.messages.iter().map(|message| self.tell(message)).collect(),
            tools: Arc::from([]),
            deferred: Arc::from([]),
            options: crate::model::RequestOptions { tool_choice: ToolChoice::Auto, ..request.options },
        });
        Box::pin(XmlStream {
            inner,
            parser,
            queue: VecDeque::new(),
            calls: 0,
            native: Vec::new(),
            over: false,
        })
    }
}

struct XmlStream {
    inner: DeltaStream,
    parser: Parser,
    queue: VecDeque<Delta>,
    calls: usize,
    /// Our numbers of calls that the server made in its own form all the same.
    native: Vec<usize>,
    over: bool,
}

impl Stream for XmlStream {
    type Item = Result<Delta, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(delta) = this.queue.pop_front() {
                return Poll::Ready(Some(Ok(delta)));
            }
            if this.over {
                return Poll::Ready(None);
            }
            match this.inner.poll_next_unpin(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => this.over = true,
                Poll::Ready(Some(Err(error))) => {
                    this.over = true;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(Some(Ok(delta))) => this.take(delta),
            }
        }
    }
}

impl XmlStream {
    fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => {
                let pieces = self.parser.feed(&text);
                self.emit(pieces);
            }
            Delta::CallStart { id, name, .. } => {
                self.native.push(self.calls);
                self.queue.push_back(Delta::CallStart { index: self.calls, id, name });
                self.calls += 1;
            }
            Delta::CallArguments { index, json } => {
                let index = self.native.get(index).copied().unwrap_or(index);
                self.queue.push_back(Delta::CallArguments { index, json });
            }
            Delta::CallEnd { index, opaque } => {
                let index = self.native.get(index).copied().unwrap_or(index);
                self.queue.push_back(Delta::CallEnd { index, opaque });
            }
            Delta::Stop(reason) => {
                let end = if reason == StopReason::MaxTokens { TextEnd::CutOff } else { TextEnd::Meant };
                let pieces = self.parser.finish(end);
                self.emit(pieces);
                let reason = match reason {
                    StopReason::EndTurn | StopReason::StopSequence if self.calls > 0 => StopReason::ToolCalls,
                    other => other,
                };
                self.queue.push_back(Delta::Stop(reason));
            }
            Delta::Restarted => {
                self.parser.restart();
                self.calls = 0;
                self.native.clear();
                self.queue.push_back(Delta::Restarted);
            }
            other @ (Delta::Reasoning(_)
            | Delta::ReasoningEnd { .. }
            | Delta::Usage(_)
            | Delta::Retrying { .. }) => self.queue.push_back(other),
        }
    }

    fn emit(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.queue.push_back(Delta::Text(text)),
                Piece::CallStart { name } => {
                    let id = ToolCallId::generate();
                    self.queue.push_back(Delta::CallStart { index: self.calls, id, name });
                    self.calls += 1;
                }
                Piece::Arguments(json) => {
                    let index = self.calls.saturating_sub(1);
                    self.queue.push_back(Delta::CallArguments { index, json });
                    self.queue.push_back(Delta::CallEnd { index, opaque: None });
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "xml_tool_calls_tests.rs"]
mod tests;
