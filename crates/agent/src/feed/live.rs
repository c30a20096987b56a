//! What streams at this moment and is not in the log yet.

use std::sync::Arc;

use stepwell_protocol::{Event, EventRecord, MessageId, Part, PartialKind, Seq, Timestamp, ToolCallId};

/// The end of a streaming answer: text and reasoning since the last stretch in the log, and calls that are being written.
#[derive(Default)]
pub struct LiveAnswer {
    message_id: Option<MessageId>,
    text: Tail,
    reasoning: Tail,
    calls: Vec<LiveCall>,
}

/// The part of a text behind an offset.
#[derive(Default)]
struct Tail {
    offset: u64,
    content: String,
}

struct LiveCall {
    call_id: ToolCallId,
    name: String,
    arguments: String,
}

impl LiveAnswer {
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Token { message_id, offset, content } => self.of(message_id).text.add(*offset, content),
            Event::ReasoningToken { message_id, offset, content } => {
                self.of(message_id).reasoning.add(*offset, content);
            }
            Event::CallForming { message_id, call_id, name, offset, arguments } => {
                let calls = &mut self.of(message_id).calls;
                match calls.iter_mut().find(|call| call.call_id == *call_id) {
                    Some(call) if call.arguments.len() as u64 == *offset => {
                        call.arguments.push_str(arguments);
                    }
                    Some(_) => {}
                    None => calls.push(LiveCall {
                        call_id: call_id.clone(),
                        name: name.clone(),
                        arguments: arguments.clone(),
                    }),
                }
            }
            Event::PartialAnswer { message_id, kind, offset, content } => {
                let live = self.of(message_id);
                let tail = match kind {
                    PartialKind::Text => &mut live.text,
                    PartialKind::Reasoning => &mut live.reasoning,
                };
                tail.forget_before(offset + content.len() as u64);
            }
            // The reasoning before an answer; the answer itself follows.
            Event::Thought { message_id, parts }
                if self.message_id.as_ref() == Some(message_id)
                    && !parts.iter().any(|part| matches!(part, Part::Text { .. })) =>
            {
                self.reasoning = Tail::default();
            }
            // Durable events say from here on what it became.
            Event::Thought { message_id, .. }
            | Event::Answer { message_id, .. }
            | Event::AnswerRestarted { message_id }
            | Event::AnswerInterrupted { message_id, .. }
                if self.message_id.as_ref() == Some(message_id) =>
            {
                *self = Self::default();
            }
            Event::RunEnded { .. } => *self = Self::default(),
            _ => {}
        }
    }

    /// The same as events, for somebody who has the log.
    pub fn records(&self, seq: Seq) -> Vec<Arc<EventRecord>> {
        let Some(message_id) = &self.message_id else { return Vec::new() };
        let id = || message_id.clone();
        let mut events = Vec::new();
        if !self.reasoning.content.is_empty() {
            let Tail { offset, content } = &self.reasoning;
            events.push(Event::ReasoningToken {
                message_id: id(),
                offset: *offset,
                content: content.clone(),
            });
        }
        if !self.text.content.is_empty() {
            let Tail { offset, content } = &self.text;
            events.push(Event::Token { message_id: id(), offset: *offset, content: content.clone() });
        }
        events.extend(self.calls.iter().map(|call| Event::CallForming {
            message_id: id(),
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            offset: 0,
            arguments: call.arguments.clone(),
        }));
        let ts = Timestamp::now();
        events.into_iter().map(|event| Arc::new(EventRecord { seq, ts, event })).collect()
    }

    /// This answer, or a new one where another message streams.
    fn of(&mut self, message_id: &MessageId) -> &mut Self {
        if self.message_id.as_ref() != Some(message_id) {
            *self = Self { message_id: Some(message_id.clone()), ..Self::default() };
        }
        self
    }
}

impl Tail {
    fn add(&mut self, offset: u64, content: &str) {
        if self.content.is_empty() {
            self.offset = offset;
        }
        self.content.push_str(content);
    }

    fn forget_before(&mut self, offset: u64) {
        let known = offset.saturating_sub(self.offset);
        let cut = usize::try_from(known).unwrap_or(usize::MAX).min(self.content.len());
        self.content.drain(..self.content.floor_char_boundary(cut));
        self.offset = offset;
    }
}
