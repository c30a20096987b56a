//! What the person saw: a plain list for front ends and exports.

use stepwell_protocol::{
    AnswerOrigin, ApprovalAnswer, ApprovalRequest, ApprovalSource, ErrorReport, Event, EventRecord, Message,
    MessageId, Part, PartialKind, Plan, Question, QuestionAnswer, Seq, Timestamp, ToolCall, ToolResult,
    Usage,
};

/// The person's history, in the order in which things began.
#[derive(Clone, Debug, Default)]
pub struct PersonHistory {
    items: Vec<PersonItem>,
    /// Places of calls, approvals and questions that still wait for their end. Few at any time.
    waiting: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PersonItem {
    /// The record the item began with.
    pub seq: Seq,
    pub ts: Timestamp,
    pub entry: PersonEntry,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PersonEntry {
    User {
        message: Message,
    },
    /// What the model said or thought before it acted or answered.
    Thought {
        message_id: MessageId,
        text: String,
        reasoning: String,
    },
    Action {
        message_id: MessageId,
        call: ToolCall,
        result: Option<ToolResult>,
    },
    Approval {
        request: ApprovalRequest,
        resolved: Option<(ApprovalAnswer, ApprovalSource)>,
    },
    Question {
        question: Question,
        answer: Option<QuestionAnswer>,
    },
    Answer {
        message_id: MessageId,
        content: String,
        origin: AnswerOrigin,
        /// Streaming, or cut off.
        unfinished: bool,
    },
    /// One request to the model.
    Request {
        model: String,
        usage: Usage,
    },
    Mode {
        mode: String,
        reason: Option<String>,
    },
    Model {
        model: String,
    },
    Plan {
        plan: Plan,
    },
    Step {
        step: u32,
        result: String,
    },
    ContextTruncated {
        dropped_messages: u64,
    },
    Error {
        error: ErrorReport,
    },
    Notice {
        text: String,
    },
}

impl PersonHistory {
    pub fn of(records: &[EventRecord]) -> Self {
        let mut history = Self::default();
        for record in records {
            history.apply(record);
        }
        history
    }

    pub fn items(&self) -> &[PersonItem] {
        &self.items
    }

    pub fn apply(&mut self, record: &EventRecord) {
        match &record.event {
            Event::UserMessage { message } => {
                self.push(record, PersonEntry::User { message: message.clone() });
            }
            Event::Thought { message_id, parts } => self.thought(record, message_id, parts),
            Event::Action { message_id, call } => {
                self.drop_streaming(message_id);
                let (message_id, call) = (message_id.clone(), call.clone());
                self.push_waiting(record, PersonEntry::Action { message_id, call, result: None });
            }
            Event::Observation { result } => self.finish(|entry| match entry {
                PersonEntry::Action { call, result: slot, .. } if call.id == result.call_id => {
                    *slot = Some(result.clone());
                    true
                }
                _ => false,
            }),
            Event::Answer { message_id, content, origin } => {
                self.drop_streaming(message_id);
                let (message_id, content) = (message_id.clone(), content.clone());
                self.push(
                    record,
                    PersonEntry::Answer { message_id, content, origin: *origin, unfinished: false },
                );
            }
            Event::PartialAnswer { message_id, kind: PartialKind::Text, offset, content } => {
                self.partial(record, message_id, *offset, content);
            }
            Event::ApprovalRequested { request } => {
                let request = request.clone();
                self.push_waiting(record, PersonEntry::Approval { request, resolved: None });
            }
            Event::ApprovalResolved { id, answer, source } => self.finish(|entry| match entry {
                PersonEntry::Approval { request, resolved } if request.id == *id => {
                    *resolved = Some((answer.clone(), *source));
                    true
                }
                _ => false,
            }),
            Event::QuestionAsked { question } => {
                let question = question.clone();
                self.push_waiting(record, PersonEntry::Question { question, answer: None });
            }
            Event::QuestionAnswered { id, answer } => self.finish(|entry| match entry {
                PersonEntry::Question { question, answer: slot } if question.id == *id => {
                    *slot = Some(answer.clone());
                    true
                }
                _ => false,
            }),
            Event::HistoryRewound { to_before } => self.rewind(to_before),
            Event::Usage { model, usage } => {
                self.push(record, PersonEntry::Request { model: model.clone(), usage: *usage });
            }
            Event::ModeChanged { mode, reason } => {
                self.push(record, PersonEntry::Mode { mode: mode.clone(), reason: reason.clone() });
            }
            Event::ModelChanged { model } => self.push(record, PersonEntry::Model { model: model.clone() }),
            Event::Plan { plan } => self.push(record, PersonEntry::Plan { plan: plan.clone() }),
            Event::StepComplete { step, result } => {
                self.push(record, PersonEntry::Step { step: *step, result: result.clone() });
            }
            Event::ContextTruncated { dropped_messages, .. } => {
                self.push(record, PersonEntry::ContextTruncated { dropped_messages: *dropped_messages });
            }
            Event::Error { error } => self.push(record, PersonEntry::Error { error: error.clone() }),
            Event::Notice { text } => self.push(record, PersonEntry::Notice { text: text.clone() }),
            // An answer that was cut off is marked unfinished from its first stretch on.
            Event::AnswerInterrupted { .. }
            | Event::PartialAnswer { kind: PartialKind::Reasoning, .. }
            | Event::TaskCreated { .. }
            | Event::TaskRenamed { .. }
            | Event::FavouriteChanged { .. }
            | Event::StateChanged { .. }
            | Event::MessageQueued { .. }
            | Event::Todo { .. }
            | Event::CheckpointSaved { .. }
            | Event::FilesSeen { .. }
            | Event::Token { .. }
            | Event::ReasoningToken { .. }
            | Event::CallForming { .. }
            | Event::AnswerRestarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolOutput { .. }
            | Event::AgentStateChanged { .. }
            | Event::Retrying { .. } => {}
        }
    }

    fn thought(&mut self, record: &EventRecord, message_id: &MessageId, parts: &[Part]) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        for part in parts {
            match part {
                Part::Text { text: said } => text.push_str(said),
                Part::Reasoning { text: thought, .. } => reasoning.push_str(thought),
                Part::Image { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => {}
            }
        }
        if !text.is_empty() {
            self.drop_streaming(message_id);
        }
        if !text.is_empty() || !reasoning.is_empty() {
            self.push(record, PersonEntry::Thought { message_id: message_id.clone(), text, reasoning });
        }
    }

    fn partial(&mut self, record: &EventRecord, id: &MessageId, offset: u64, more: &str) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        match self.items.iter_mut().rev().take(LOOK_BACK).find(|item| item.is_streaming(id)) {
            Some(PersonItem { entry: PersonEntry::Answer { content, .. }, .. }) => {
                if offset < content.len() {
                    content.truncate(content.floor_char_boundary(offset));
                }
                content.push_str(more);
            }
            _ => self.push(
                record,
                PersonEntry::Answer {
                    message_id: id.clone(),
                    content: more.to_owned(),
                    origin: AnswerOrigin::Text,
                    unfinished: true,
                },
            ),
        }
    }

    /// What streamed of a message is replaced by what it became.
    fn drop_streaming(&mut self, id: &MessageId) {
        let recent = self.items.len().saturating_sub(LOOK_BACK);
        if let Some(position) = self.items[recent..].iter().rposition(|item| item.is_streaming(id)) {
            let position = recent + position;
            self.items.remove(position);
            for waiting in &mut self.waiting {
                if *waiting > position {
                    *waiting -= 1;
                }
            }
        }
    }

    fn push(&mut self, record: &EventRecord, entry: PersonEntry) {
        self.items.push(PersonItem { seq: record.seq, ts: record.ts, entry });
    }

    fn push_waiting(&mut self, record: &EventRecord, entry: PersonEntry) {
        self.waiting.push(self.items.len());
        self.push(record, entry);
    }

    /// Ends the first waiting item for which `end` finds that it belongs to it.
    fn finish(&mut self, mut end: impl FnMut(&mut PersonEntry) -> bool) {
        let items = &mut self.items;
        let ended = self
            .waiting
            .iter()
            .position(|index| items.get_mut(*index).is_some_and(|item| end(&mut item.entry)));
        if let Some(position) = ended {
            self.waiting.remove(position);
        }
    }

    fn rewind(&mut self, to_before: &MessageId) {
        if let Some(position) = self.items.iter().position(|item| item.message_id() == Some(to_before)) {
            self.items.truncate(position);
            self.waiting.retain(|waiting| *waiting < position);
        }
    }
}

/// How far back a streaming answer can be: only notices and the like come between its stretches.
const LOOK_BACK: usize = 32;

impl PersonItem {
    /// The message the item belongs to, where it belongs to one.
    pub fn message_id(&self) -> Option<&MessageId> {
        match &self.entry {
            PersonEntry::User { message } => Some(&message.id),
            PersonEntry::Thought { message_id, .. }
            | PersonEntry::Action { message_id, .. }
            | PersonEntry::Answer { message_id, .. } => Some(message_id),
            PersonEntry::Approval { .. }
            | PersonEntry::Question { .. }
            | PersonEntry::Request { .. }
            | PersonEntry::Mode { .. }
            | PersonEntry::Model { .. }
            | PersonEntry::Plan { .. }
            | PersonEntry::Step { .. }
            | PersonEntry::ContextTruncated { .. }
            | PersonEntry::Error { .. }
            | PersonEntry::Notice { .. } => None,
        }
    }

    fn is_streaming(&self, id: &MessageId) -> bool {
        matches!(&self.entry, PersonEntry::Answer { message_id, unfinished: true, .. } if message_id == id)
    }
}
