//! One answer of the model: deltas in, a finished turn out, everything received kept on the way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::Value;
use stepwell_llm::{Delta, DeltaStream, StopReason};
use stepwell_protocol::{Event, InterruptReason, MessageId, Part, PartialKind, ToolCall, ToolCallId, Usage};
use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::session::Session;

/// A stretch of a streaming answer is put into the log when it is this long or this old.
const KEEP_BYTES: usize = 64 * 1024;
const KEEP_AFTER: Duration = Duration::from_secs(1);
/// Deltas that are there already are handled together.
const DELTAS_AT_ONCE: usize = 512;

/// What the model said in one answer.
#[derive(Debug)]
pub struct Turn {
    pub message_id: MessageId,
    /// Reasoning and text, in order.
    pub parts: Vec<Part>,
    pub calls: Vec<ToolCall>,
    pub usage: Option<Usage>,
    pub stop: Option<StopReason>,
}

/// How receiving an answer ended.
#[derive(Debug)]
pub enum Received {
    Whole(Turn),
    /// The person cancelled; what was received is in the log.
    Cancelled,
    /// The model failed for good; what was received is in the log.
    Failed(stepwell_llm::Error),
}

/// Receives one answer, showing it as it comes.
pub async fn receive(
    session: &Arc<Session>,
    mut stream: DeltaStream,
    cancel: &CancellationToken,
) -> Result<Received> {
    let mut answer = Answer::new();
    let mut deltas = (&mut stream).ready_chunks(DELTAS_AT_ONCE);
    loop {
        let chunk = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                answer.interrupt(session, InterruptReason::Cancelled).await?;
                return Ok(Received::Cancelled);
            }
            chunk = deltas.next() => chunk,
        };
        let Some(chunk) = chunk else { break };
        for delta in chunk {
            match delta {
                Ok(Delta::Restarted) => answer.restart(session).await?,
                Ok(delta) => answer.apply(session, delta),
                Err(error) => {
                    answer.show(session);
                    answer.interrupt(session, InterruptReason::StreamFailed).await?;
                    return Ok(Received::Failed(error));
                }
            }
        }
        answer.show(session);
        answer.keep(session).await?;
    }
    Ok(Received::Whole(answer.finish()))
}

/// An answer as it grows.
struct Answer {
    message_id: MessageId,
    parts: Vec<Part>,
    calls: Vec<FormingCall>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    /// Text and reasoning not yet shown.
    fresh_text: Fresh,
    fresh_reasoning: Fresh,
    text: Kept,
    reasoning: Kept,
    reasoning_open: bool,
    last_kept: Instant,
}

struct FormingCall {
    id: ToolCallId,
    name: String,
    arguments: String,
    /// Bytes of the arguments that were shown; `None` before the call was.
    shown: Option<usize>,
    opaque: Option<Value>,
}

/// Text that was not shown yet, and how many bytes were.
#[derive(Default)]
struct Fresh {
    offset: u64,
    content: String,
}

impl Fresh {
    /// What is new, with its offset.
    fn take(&mut self) -> Option<(u64, String)> {
        if self.content.is_empty() {
            return None;
        }
        let content = std::mem::take(&mut self.content);
        let offset = self.offset;
        self.offset += content.len() as u64;
        Some((offset, content))
    }
}

/// How much of one kind of text was received, and what of it the log does not have yet.
#[derive(Default)]
struct Kept {
    in_log: u64,
    pending: String,
}

impl Answer {
    fn new() -> Self {
        Self {
            message_id: MessageId::generate(),
            parts: Vec::new(),
            calls: Vec::new(),
            usage: None,
            stop: None,
            fresh_text: Fresh::default(),
            fresh_reasoning: Fresh::default(),
            text: Kept::default(),
            reasoning: Kept::default(),
            reasoning_open: false,
            last_kept: Instant::now(),
        }
    }

    fn apply(&mut self, session: &Arc<Session>, delta: Delta) {
        match delta {
            Delta::Text(piece) => {
                self.reasoning_open = false;
                self.fresh_text.content.push_str(&piece);
                self.text.pending.push_str(&piece);
                match self.parts.last_mut() {
                    Some(Part::Text { text }) => text.push_str(&piece),
                    _ => self.parts.push(Part::Text { text: piece }),
                }
            }
            Delta::Reasoning(piece) => {
                self.fresh_reasoning.content.push_str(&piece);
                self.reasoning.pending.push_str(&piece);
                match self.parts.last_mut() {
                    Some(Part::Reasoning { text, .. }) if self.reasoning_open => text.push_str(&piece),
                    _ => self.parts.push(Part::Reasoning { text: piece, opaque: None }),
                }
                self.reasoning_open = true;
            }
            Delta::ReasoningEnd { opaque } => {
                match self.parts.last_mut() {
                    Some(Part::Reasoning { opaque: slot, .. }) if self.reasoning_open => *slot = opaque,
                    // Reasoning the provider hides: nothing to read, but it wants it back.
                    _ if opaque.is_some() => self.parts.push(Part::Reasoning { text: String::new(), opaque }),
                    _ => {}
                }
                self.reasoning_open = false;
            }
            Delta::CallStart { index, id, name } => {
                self.reasoning_open = false;
                let call = FormingCall { id, name, arguments: String::new(), shown: None, opaque: None };
                if index < self.calls.len() {
                    self.calls[index] = call;
                } else {
                    self.calls.push(call);
                }
            }
            Delta::CallArguments { index, json } => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.arguments.push_str(&json);
                }
            }
            Delta::CallEnd { index, opaque } => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.opaque = opaque;
                }
            }
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Retrying { attempt, limit, delay, reason } => {
                let delay_ms = delay.as_millis() as u64;
                session.show(Event::Retrying { attempt, limit, delay_ms, reason });
            }
            // Begins the answer anew, which is recorded; see `restart`.
            Delta::Restarted => {}
            Delta::Stop(stop) => self.stop = Some(stop),
        }
    }

    /// Begins anew under the same id: what was received before is void, in the log too.
    async fn restart(&mut self, session: &Arc<Session>) -> Result<()> {
        self.show(session);
        let message_id = self.message_id.clone();
        *self = Self { message_id: message_id.clone(), ..Self::new() };
        session.record(vec![Event::AnswerRestarted { message_id }]).await
    }

    /// Shows what came since the last time.
    fn show(&mut self, session: &Session) {
        let message_id = || self.message_id.clone();
        if let Some((offset, content)) = self.fresh_reasoning.take() {
            session.show(Event::ReasoningToken { message_id: message_id(), offset, content });
        }
        if let Some((offset, content)) = self.fresh_text.take() {
            session.show(Event::Token { message_id: message_id(), offset, content });
        }
        for call in &mut self.calls {
            let shown = call.shown.unwrap_or(0);
            if call.shown.is_some() && shown == call.arguments.len() {
                continue;
            }
            session.show(Event::CallForming {
                message_id: self.message_id.clone(),
                call_id: call.id.clone(),
                name: call.name.clone(),
                offset: shown as u64,
                arguments: call.arguments[shown..].to_owned(),
            });
            call.shown = Some(call.arguments.len());
        }
    }

    /// Puts a long or slow answer into the log piece by piece; short quick ones wait for their end.
    async fn keep(&mut self, session: &Arc<Session>) -> Result<()> {
        let pending = self.text.pending.len() + self.reasoning.pending.len();
        if pending >= KEEP_BYTES || (pending > 0 && self.last_kept.elapsed() >= KEEP_AFTER) {
            self.keep_now(session, Vec::new()).await?;
        }
        Ok(())
    }

    async fn keep_now(&mut self, session: &Arc<Session>, then: Vec<Event>) -> Result<()> {
        let mut events = Vec::new();
        for (kind, kept) in
            [(PartialKind::Reasoning, &mut self.reasoning), (PartialKind::Text, &mut self.text)]
        {
            if kept.pending.is_empty() {
                continue;
            }
            let content = std::mem::take(&mut kept.pending);
            let offset = kept.in_log;
            kept.in_log += content.len() as u64;
            events.push(Event::PartialAnswer { message_id: self.message_id.clone(), kind, offset, content });
        }
        events.extend(then);
        self.last_kept = Instant::now();
        if events.is_empty() { Ok(()) } else { session.record(events).await }
    }

    async fn interrupt(&mut self, session: &Arc<Session>, reason: InterruptReason) -> Result<()> {
        let received = self.text.in_log + self.reasoning.in_log > 0
            || !self.text.pending.is_empty()
            || !self.reasoning.pending.is_empty();
        if !received {
            return Ok(());
        }
        let message_id = self.message_id.clone();
        self.keep_now(session, vec![Event::AnswerInterrupted { message_id, reason }]).await
    }

    fn finish(self) -> Turn {
        Turn {
            message_id: self.message_id,
            parts: self.parts,
            calls: self.calls.into_iter().map(FormingCall::finish).collect(),
            usage: self.usage,
            stop: self.stop,
        }
    }
}

impl FormingCall {
    fn finish(self) -> ToolCall {
        let arguments = if self.arguments.trim().is_empty() {
            Value::Object(serde_json::Map::new())
        } else {
            // What is no JSON goes on as text: the executor repairs it or tells the model what is wrong.
            serde_json::from_str(&self.arguments).unwrap_or(Value::String(self.arguments))
        };
        ToolCall { id: self.id, name: self.name, arguments, opaque: self.opaque }
    }
}

impl Turn {
    /// Whether the turn has no text but white space.
    pub fn says_nothing(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part, Part::Text { text } if !text.trim().is_empty()))
    }

    /// Takes the text out of the turn, without reasoning. A long text in one piece is not copied.
    /// What was said, reasoning left out.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub fn take_text(&mut self) -> String {
        let mut whole = String::new();
        for part in &mut self.parts {
            match part {
                Part::Text { text } if whole.is_empty() => whole = std::mem::take(text),
                Part::Text { text } => whole.push_str(text),
                _ => {}
            }
        }
        whole
    }
}
