//! What the model saw: the messages of the next request.

use std::borrow::Cow;
use std::sync::Arc;

use stepwell_protocol::{
    AnswerOrigin, Event, EventRecord, Message, MessageId, Part, PartialKind, Role, Timestamp, ToolCall,
    ToolCallId, ToolResult,
};

use super::condensed::Condensed;

/// The model's history. Every call's result stands in a [`Role::Tool`] message right after the message that
/// made the call, whatever the order of the records.
#[derive(Clone, Debug, Default)]
pub struct ModelHistory {
    messages: Vec<Arc<Message>>,
    /// Calls without a result, in the order they were made.
    open_calls: Vec<(MessageId, ToolCall)>,
    half_answer: Option<HalfAnswer>,
    condensed: Condensed,
}

/// An answer that was streaming when the records end.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfAnswer {
    pub message_id: MessageId,
    pub ts: Timestamp,
    pub text: String,
    pub reasoning: String,
}

/// The id of the message that holds the results of another's calls.
pub fn results_id(assistant: &MessageId) -> MessageId {
    MessageId::new(format!("{assistant}.results"))
}

impl ModelHistory {
    pub fn of(records: &[EventRecord]) -> Self {
        let mut history = Self::default();
        for record in records {
            history.apply(record);
        }
        history
    }

    /// The messages, with what was received of an unfinished answer as the last. A message that was cut off
    /// when it held nothing but reasoning is left out: providers refuse one that says and does nothing.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        let says_or_does = |message: &&Arc<Message>| {
            message.role != Role::Assistant
                || message.parts.iter().any(|part| !matches!(part, Part::Reasoning { .. }))
        };
        let sent = if self.condensed.is_empty() { None } else { Some(self.condensed.view(&self.messages)) };
        let sent = sent.as_deref().unwrap_or(&self.messages);
        let mut messages: Vec<_> = sent.iter().filter(says_or_does).cloned().collect();
        if let Some(half) = self.half_answer.as_ref().filter(|half| !half.text.is_empty()) {
            match self.position(&half.message_id) {
                // Its reasoning is in the history already and has just been left out for saying nothing.
                Some(position) => {
                    let mut begun = vec![Arc::clone(&self.messages[position])];
                    attach_half(&mut begun, half);
                    messages.retain(|message| message.id != half.message_id);
                    messages.append(&mut begun);
                }
                None => attach_half(&mut messages, half),
            }
        }
        messages
    }

    /// Every message, also those that are sent as a summary.
    pub fn originals(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Whether something was condensed that can be undone.
    pub fn is_condensed(&self) -> bool {
        !self.condensed.is_empty()
    }

    /// Calls that have no result yet, with the message that made them.
    pub fn open_calls(&self) -> &[(MessageId, ToolCall)] {
        &self.open_calls
    }

    pub fn half_answer(&self) -> Option<&HalfAnswer> {
        self.half_answer.as_ref()
    }

    pub fn apply(&mut self, record: &EventRecord) {
        match &record.event {
            Event::UserMessage { message } => {
                self.settle_half(None);
                self.messages.push(Arc::new(message.clone()));
            }
            Event::EnvironmentDetails { message_id, text }
            | Event::InstructionsGiven { message_id, text, .. } => {
                self.settle_half(None);
                self.messages.push(Arc::new(Message {
                    id: message_id.clone(),
                    role: Role::User,
                    parts: vec![Part::surroundings(text)],
                    ts: record.ts,
                    interrupted: false,
                }));
            }
            Event::Thought { message_id, parts } => self.thought(record.ts, message_id, parts),
            Event::Action { message_id, call } => {
                self.settle_half(Some(message_id));
                self.half_answer = None;
                self.extend(record.ts, message_id, [Part::ToolCall { call: call.clone() }]);
                self.open_calls.push((message_id.clone(), call.clone()));
            }
            Event::Observation { result } => self.observation(record.ts, result),
            Event::Answer { message_id, content, origin: AnswerOrigin::Text } => {
                self.settle_half(Some(message_id));
                self.half_answer = None;
                if !content.is_empty() {
                    self.extend(record.ts, message_id, [Part::text(bounded(content))]);
                }
            }
            Event::PartialAnswer { message_id, kind, offset, content } => {
                self.settle_half(Some(message_id));
                let half = self.half_answer.get_or_insert_with(|| HalfAnswer {
                    message_id: message_id.clone(),
                    ts: record.ts,
                    text: String::new(),
                    reasoning: String::new(),
                });
                half.add(*kind, *offset, content);
            }
            Event::AnswerRestarted { message_id } => {
                self.half_answer.take_if(|half| half.message_id == *message_id);
            }
            Event::AnswerInterrupted { message_id, .. } => {
                self.settle_half(Some(message_id));
                self.settle_half(None);
                if let Some(position) = self.position(message_id) {
                    Arc::make_mut(&mut self.messages[position]).interrupted = true;
                }
            }
            Event::HistoryRewound { to_before } => self.rewind(to_before),
            Event::ContextCondensed { condensing } => {
                self.settle_half(None);
                self.condensed.summarise(record.ts, condensing);
            }
            Event::OutputsDropped { outputs } => self.condensed.drop_outputs(outputs, &self.messages),
            Event::CondensingUndone => {
                self.condensed.undo(&self.messages);
            }
            _ => {}
        }
    }

    fn thought(&mut self, ts: Timestamp, message_id: &MessageId, parts: &[Part]) {
        self.settle_half(Some(message_id));
        let says_something = parts.iter().any(|part| matches!(part, Part::Text { .. }));
        match &mut self.half_answer {
            // Reasoning is whole now; the text still streams, or is said by the answer to come.
            Some(half) if !says_something && !half.text.is_empty() => half.reasoning.clear(),
            half => *half = None,
        }
        self.extend(ts, message_id, parts.iter().cloned());
    }

    /// Adds parts to an assistant's message, which begins with its first part.
    fn extend(&mut self, ts: Timestamp, message_id: &MessageId, parts: impl IntoIterator<Item = Part>) {
        let mut parts = parts.into_iter().peekable();
        if parts.peek().is_none() {
            return;
        }
        match self.position(message_id) {
            Some(position) => Arc::make_mut(&mut self.messages[position]).parts.extend(parts),
            None => self.messages.push(Arc::new(Message {
                id: message_id.clone(),
                role: Role::Assistant,
                parts: parts.collect(),
                ts,
                interrupted: false,
            })),
        }
    }

    fn observation(&mut self, ts: Timestamp, result: &ToolResult) {
        // Some providers number calls anew in each message: the oldest open call of this id is the one answered.
        let Some(index) = self.open_calls.iter().position(|(_, call)| call.id == result.call_id) else {
            return;
        };
        let (message_id, _) = self.open_calls.remove(index);
        let Some(position) = self.position(&message_id) else { return };
        let part = Part::ToolResult { result: result.clone() };
        match self.messages.get_mut(position + 1).filter(|message| message.role == Role::Tool) {
            Some(message) => Arc::make_mut(message).parts.push(part),
            None => self.messages.insert(
                position + 1,
                Arc::new(Message {
                    id: results_id(&message_id),
                    role: Role::Tool,
                    parts: vec![part],
                    ts,
                    interrupted: false,
                }),
            ),
        }
    }

    /// Makes a half answer a message of its own, unless it belongs to the message that goes on.
    fn settle_half(&mut self, goes_on: Option<&MessageId>) {
        if self.half_answer.as_ref().is_some_and(|half| Some(&half.message_id) != goes_on)
            && let Some(half) = self.half_answer.take()
            && !half.text.is_empty()
        {
            attach_half(&mut self.messages, &half);
        }
    }

    fn rewind(&mut self, to_before: &MessageId) {
        self.half_answer = None;
        if let Some(position) = self.messages.iter().rposition(|message| message.id == *to_before) {
            self.messages.truncate(position);
            let messages = &self.messages;
            self.open_calls.retain(|(owner, _)| messages.iter().any(|message| message.id == *owner));
            self.condensed.rewound(&self.messages);
        }
    }

    /// Where an assistant's message stands; the search begins at the end, where it nearly always is.
    fn position(&self, id: &MessageId) -> Option<usize> {
        self.messages.iter().rposition(|message| message.id == *id && message.role == Role::Assistant)
    }

    /// Whether a call still waits for its result.
    pub fn is_open(&self, call: &ToolCallId) -> bool {
        self.open_calls.iter().any(|(_, open)| open.id == *call)
    }
}

/// Bytes of an answer that the history keeps; no model's window takes more.
const LONGEST_ANSWER: usize = 8 << 20;

/// An answer as far as any model could be sent it: the middle of an endless one is left out.
fn bounded(text: &str) -> Cow<'_, str> {
    const MARK: &str = "\n[... left out: longer than any context window ...]\n";
    if text.len() <= LONGEST_ANSWER {
        return Cow::Borrowed(text);
    }
    let side = LONGEST_ANSWER / 2;
    let head = text.floor_char_boundary(side);
    let tail = text.ceil_char_boundary(text.len() - side);
    Cow::Owned(format!("{}{MARK}{}", &text[..head], &text[tail..]))
}

impl HalfAnswer {
    /// A stretch that begins before the end of what is there replaces it: the request was sent again.
    fn add(&mut self, kind: PartialKind, offset: u64, content: &str) {
        let kept = match kind {
            PartialKind::Text => &mut self.text,
            PartialKind::Reasoning => &mut self.reasoning,
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if offset < kept.len() {
            kept.truncate(kept.floor_char_boundary(offset));
        }
        kept.push_str(content);
    }
}

fn attach_half(messages: &mut Vec<Arc<Message>>, half: &HalfAnswer) {
    let part = Part::text(&half.text);
    match messages.last_mut().filter(|last| last.id == half.message_id) {
        Some(last) => {
            let last = Arc::make_mut(last);
            last.parts.push(part);
            last.interrupted = true;
        }
        None => messages.push(Arc::new(Message {
            id: half.message_id.clone(),
            role: Role::Assistant,
            parts: vec![part],
            ts: half.ts,
            interrupted: true,
        })),
    }
}
