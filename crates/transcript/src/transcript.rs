//! What the person sees, item by item, in the order in which things began.

use serde::Serialize;
use stepwell_protocol::{
    AnswerOrigin, ApprovalAnswer, ApprovalRequest, ApprovalSource, ChangedFile, Condensing, ErrorReport,
    Event, EventRecord, Message, MessageId, OutputStream, Part, PartialKind, PermissionMode, Plan,
    PlanStatus, Question, QuestionAnswer, RunEnd, Seq, StepStatus, TaskId, Timestamp, ToolCall, ToolCallId,
    ToolResult, Usage,
};

use crate::activity::{Activity, splice};
use crate::summary::TaskSummary;

/// Bytes of live output that a card shows; older ones are dropped, the result has them.
const LIVE_OUTPUT: usize = 64 * 1024;
/// How far back a streaming answer or an open card can be: only notices and the like come between.
const LOOK_BACK: usize = 32;

/// A task as a person sees it. Its JSON form is what the page's own fold is compared with.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Transcript {
    items: Vec<Item>,
    /// Indexes of cards, approvals and questions that still wait for their end. Few at any time.
    #[serde(skip)]
    waiting: Vec<usize>,
    pub summary: TaskSummary,
    pub activity: Activity,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// The record the item began with.
    pub seq: Seq,
    pub ts: Timestamp,
    pub entry: Entry,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    User {
        message: Message,
    },
    /// What the model said or thought before it acted or answered.
    Thought {
        message_id: MessageId,
        text: String,
        reasoning: String,
    },
    Tool(Box<ToolCard>),
    Approval {
        request: Box<ApprovalRequest>,
        resolved: Option<(ApprovalAnswer, ApprovalSource)>,
    },
    Question {
        question: Question,
        answer: Option<QuestionAnswer>,
    },
    Answer {
        message_id: MessageId,
        content: String,
        reasoning: String,
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
    PermissionMode {
        permission_mode: PermissionMode,
    },
    Plan {
        plan: Plan,
    },
    Step {
        step: u32,
        status: StepStatus,
        result: String,
        /// How the expected outcome was checked.
        evidence: Option<String>,
    },
    Subtask {
        task: TaskId,
        number: u32,
        title: String,
        mode: String,
        agent: Option<String>,
        end: Option<RunEnd>,
    },
    /// Older messages are sent to the model as a summary.
    Condensed {
        condensing: Box<Condensing>,
    },
    /// So many large outputs are no longer sent to the model.
    OutputsDropped {
        outputs: u64,
        bytes: u64,
    },
    CondensingUndone,
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

/// A tool call from its first word to its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCard {
    pub message_id: MessageId,
    pub call: ToolCall,
    /// What the tool says of its progress, while it runs.
    pub progress: Option<String>,
    /// The end of what it printed, while it runs.
    pub output: String,
    pub result: Option<ToolResult>,
    /// What it changed, where that can be undone.
    pub checkpoint: Option<CheckpointMark>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointMark {
    pub checkpoint: u64,
    pub changed: u64,
    /// The first of the changed files.
    pub files: Vec<ChangedFile>,
}

impl Transcript {
    pub fn of(records: &[EventRecord]) -> Self {
        let mut transcript = Self::default();
        for record in records {
            transcript.apply(record);
        }
        transcript
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The card of a call, if it is among the newest items.
    pub fn card(&self, call: &ToolCallId) -> Option<&ToolCard> {
        self.items.iter().rev().take(LOOK_BACK).find_map(|item| match &item.entry {
            Entry::Tool(card) if card.call.id == *call => Some(card.as_ref()),
            _ => None,
        })
    }

    /// Requests for approval that wait for the person.
    pub fn open_approvals(&self) -> &[ApprovalRequest] {
        &self.summary.open_approvals
    }

    /// Takes in an event. Durable events that are known already are passed over, so a reader that lost its place may
    /// read a piece of the log again.
    pub fn apply(&mut self, record: &EventRecord) {
        if record.event.is_durable() && record.seq <= self.summary.last_seq {
            return;
        }
        let plan = match &record.event {
            Event::Plan { .. } => self.summary.plan.clone(),
            _ => None,
        };
        self.summary.apply(record);
        self.activity.apply(&record.event);
        match &record.event {
            Event::UserMessage { message } => {
                self.push(record, Entry::User { message: message.clone() });
            }
            Event::Thought { message_id, parts } => self.thought(record, message_id, parts),
            Event::Action { message_id, call } => {
                self.drop_streaming(message_id);
                self.push_waiting(
                    record,
                    Entry::Tool(Box::new(ToolCard {
                        message_id: message_id.clone(),
                        call: call.clone(),
                        progress: None,
                        output: String::new(),
                        result: None,
                        checkpoint: None,
                    })),
                );
            }
            Event::Observation { result } => self.finish(|entry| match entry {
                Entry::Tool(card) if card.call.id == result.call_id => {
                    card.result = Some(result.clone());
                    card.progress = None;
                    card.output = String::new();
                    true
                }
                _ => false,
            }),
            Event::CheckpointSaved { checkpoint, call_id, changed, files, .. } => {
                let mark =
                    CheckpointMark { checkpoint: *checkpoint, changed: *changed, files: files.clone() };
                self.change_card(call_id, |card| card.checkpoint = Some(mark));
            }
            Event::ToolProgress { call_id, text } => {
                self.change_card(call_id, |card| card.progress = Some(text.clone()));
            }
            Event::ToolOutput { call_id, stream, chunk } => self.change_card(call_id, |card| {
                // Both streams are one text here, as on a terminal.
                match stream {
                    OutputStream::Stdout | OutputStream::Stderr => card.output.push_str(chunk),
                }
                if card.output.len() > LIVE_OUTPUT {
                    let cut = card.output.ceil_char_boundary(card.output.len() - LIVE_OUTPUT / 2);
                    card.output.drain(..cut);
                }
            }),
            Event::Answer { message_id, content, origin } => {
                // What streamed is nearly always the answer, and need not be copied.
                let streamed = self.take_streaming(message_id).filter(|streamed| streamed == content);
                let entry = Entry::Answer {
                    message_id: message_id.clone(),
                    content: streamed.unwrap_or_else(|| content.clone()),
                    // Its reasoning is a thought of its own.
                    reasoning: String::new(),
                    origin: *origin,
                    unfinished: false,
                };
                self.push(record, entry);
            }
            Event::PartialAnswer { message_id, kind, offset, content } => {
                self.stream(record, message_id, *kind, *offset, content);
            }
            Event::Token { message_id, offset, content } => {
                self.stream(record, message_id, PartialKind::Text, *offset, content);
            }
            Event::ReasoningToken { message_id, offset, content } => {
                self.stream(record, message_id, PartialKind::Reasoning, *offset, content);
            }
            Event::AnswerRestarted { message_id } => {
                self.drop_streaming(message_id);
            }
            Event::ApprovalRequested { request } => {
                let request = Box::new(request.clone());
                self.push_waiting(record, Entry::Approval { request, resolved: None });
            }
            Event::ApprovalResolved { id, answer, source } => self.finish(|entry| match entry {
                Entry::Approval { request, resolved } if request.id == *id => {
                    *resolved = Some((answer.clone(), *source));
                    true
                }
                _ => false,
            }),
            Event::QuestionAsked { question } => {
                let question = question.clone();
                self.push_waiting(record, Entry::Question { question, answer: None });
            }
            Event::QuestionAnswered { id, answer } => self.finish(|entry| match entry {
                Entry::Question { question, answer: slot } if question.id == *id => {
                    *slot = Some(answer.clone());
                    true
                }
                _ => false,
            }),
            Event::HistoryRewound { to_before } => self.rewind(to_before),
            Event::Usage { model, usage } => {
                self.push(record, Entry::Request { model: model.clone(), usage: *usage });
            }
            Event::ModeChanged { mode, reason } => {
                self.push(record, Entry::Mode { mode: mode.clone(), reason: reason.clone() });
            }
            Event::ModelChanged { model } => self.push(record, Entry::Model { model: model.clone() }),
            Event::PermissionModeChanged { permission_mode } => {
                self.push(record, Entry::PermissionMode { permission_mode: *permission_mode });
            }
            Event::Plan { plan: new, .. } => {
                // How far its steps are is told by the steps themselves.
                if plan.is_none_or(|known| says_something_else(&known, new)) {
                    self.push(record, Entry::Plan { plan: new.clone() });
                }
            }
            Event::StepComplete { step, result, status, evidence } => {
                let entry = Entry::Step {
                    step: *step,
                    status: *status,
                    result: result.clone(),
                    evidence: evidence.clone(),
                };
                self.push(record, entry);
            }
            Event::SubtaskStarted { task, number, title, mode, agent, .. } => {
                let entry = Entry::Subtask {
                    task: task.clone(),
                    number: *number,
                    title: title.clone(),
                    mode: mode.clone(),
                    agent: agent.clone(),
                    end: None,
                };
                self.push_waiting(record, entry);
            }
            Event::SubtaskEnded { task, end } => self.finish(|entry| match entry {
                Entry::Subtask { task: known, end: slot, .. } if known == task => {
                    *slot = Some(end.clone());
                    true
                }
                _ => false,
            }),
            Event::ContextCondensed { condensing } => {
                self.push(record, Entry::Condensed { condensing: Box::new(condensing.clone()) });
            }
            Event::OutputsDropped { outputs } => {
                let bytes = outputs.iter().map(|output| output.bytes).sum();
                self.push(record, Entry::OutputsDropped { outputs: outputs.len() as u64, bytes });
            }
            Event::CondensingUndone => self.push(record, Entry::CondensingUndone),
            Event::ContextTruncated { dropped_messages, .. } => {
                self.push(record, Entry::ContextTruncated { dropped_messages: *dropped_messages });
            }
            Event::Error { error } => self.push(record, Entry::Error { error: error.clone() }),
            Event::Notice { text } => self.push(record, Entry::Notice { text: text.clone() }),
            // An answer that was cut off is marked unfinished from its first piece on.
            Event::AnswerInterrupted { .. }
            | Event::TaskCreated { .. }
            | Event::TaskRenamed { .. }
            | Event::FavouriteChanged { .. }
            | Event::StateChanged { .. }
            | Event::MessageQueued { .. }
            | Event::EnvironmentDetails { .. }
            | Event::InstructionsGiven { .. }
            | Event::Todo { .. }
            | Event::Hypotheses { .. }
            | Event::FilesSeen { .. }
            | Event::CallForming { .. }
            | Event::AgentStateChanged { .. }
            | Event::RunEnded { .. }
            | Event::DebugSession { .. }
            | Event::BackgroundCommand { .. }
            | Event::Lagged
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
        // The reasoning before an answer whose text streams on stands before that.
        let streaming = self.streaming_position(message_id);
        self.change_streaming(message_id, |_, streamed| streamed.clear());
        if text.is_empty() && reasoning.is_empty() {
            return;
        }
        let entry = Entry::Thought { message_id: message_id.clone(), text, reasoning };
        match streaming {
            Some(position) => {
                self.items.insert(position, Item { seq: record.seq, ts: record.ts, entry });
                for waiting in self.waiting.iter_mut().filter(|waiting| **waiting >= position) {
                    *waiting += 1;
                }
            }
            None => self.push(record, entry),
        }
    }

    /// Adds a piece of a streaming answer.
    fn stream(&mut self, record: &EventRecord, id: &MessageId, kind: PartialKind, offset: u64, piece: &str) {
        let streamed = self.change_streaming(id, |content, reasoning| match kind {
            PartialKind::Text => splice(content, offset, piece),
            PartialKind::Reasoning => splice(reasoning, offset, piece),
        });
        if streamed {
            return;
        }
        let (content, reasoning) = match kind {
            PartialKind::Text => (piece.to_owned(), String::new()),
            PartialKind::Reasoning => (String::new(), piece.to_owned()),
        };
        let entry = Entry::Answer {
            message_id: id.clone(),
            content,
            reasoning,
            origin: AnswerOrigin::Text,
            unfinished: true,
        };
        self.push(record, entry);
    }

    /// Changes the text and the reasoning of a streaming answer; `false` where there is none.
    fn change_streaming(&mut self, id: &MessageId, change: impl FnOnce(&mut String, &mut String)) -> bool {
        let found = self.items.iter_mut().rev().take(LOOK_BACK).find(|item| item.is_streaming(id));
        match found {
            Some(Item { entry: Entry::Answer { content, reasoning, .. }, .. }) => {
                change(content, reasoning);
                true
            }
            _ => false,
        }
    }

    fn streaming_position(&self, id: &MessageId) -> Option<usize> {
        let recent = self.items.len().saturating_sub(LOOK_BACK);
        self.items[recent..].iter().rposition(|item| item.is_streaming(id)).map(|position| recent + position)
    }

    /// Removes what streamed of a message, because it is replaced by what it became.
    fn drop_streaming(&mut self, id: &MessageId) {
        self.take_streaming(id);
    }

    /// The same, and gives its text.
    fn take_streaming(&mut self, id: &MessageId) -> Option<String> {
        let position = self.streaming_position(id)?;
        let item = self.items.remove(position);
        for waiting in &mut self.waiting {
            if *waiting > position {
                *waiting -= 1;
            }
        }
        match item.entry {
            Entry::Answer { content, .. } => Some(content),
            _ => None,
        }
    }

    /// Changes the card of a call that runs.
    fn change_card(&mut self, call: &ToolCallId, change: impl FnOnce(&mut ToolCard)) {
        let items = &mut self.items;
        let index = self.waiting.iter().rev().find(|index| {
            matches!(items.get(**index), Some(Item { entry: Entry::Tool(card), .. }) if card.call.id == *call)
        });
        if let Some(Entry::Tool(card)) =
            index.and_then(|index| items.get_mut(*index)).map(|item| &mut item.entry)
        {
            change(card);
        }
    }

    fn push(&mut self, record: &EventRecord, entry: Entry) {
        self.items.push(Item { seq: record.seq, ts: record.ts, entry });
    }

    fn push_waiting(&mut self, record: &EventRecord, entry: Entry) {
        self.waiting.push(self.items.len());
        self.push(record, entry);
    }

    /// Ends the first waiting item for which `end` finds that it belongs to it.
    fn finish(&mut self, mut end: impl FnMut(&mut Entry) -> bool) {
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

/// Whether a plan has another status or other steps than before.
fn says_something_else(before: &Plan, after: &Plan) -> bool {
    let texts = |plan: &Plan| -> Vec<(String, String)> {
        plan.steps.iter().map(|step| (step.description.clone(), step.expected_outcome.clone())).collect()
    };
    let approved = |plan: &Plan| if plan.is_under_way() { PlanStatus::Approved } else { plan.status };
    before.id != after.id
        || before.goal != after.goal
        || approved(before) != approved(after)
        || texts(before) != texts(after)
}

impl Item {
    /// The message the item belongs to, where it belongs to one.
    pub fn message_id(&self) -> Option<&MessageId> {
        match &self.entry {
            Entry::User { message } => Some(&message.id),
            Entry::Thought { message_id, .. } | Entry::Answer { message_id, .. } => Some(message_id),
            Entry::Tool(card) => Some(&card.message_id),
            Entry::Approval { .. }
            | Entry::Question { .. }
            | Entry::Request { .. }
            | Entry::Mode { .. }
            | Entry::Model { .. }
            | Entry::PermissionMode { .. }
            | Entry::Plan { .. }
            | Entry::Step { .. }
            | Entry::Subtask { .. }
            | Entry::Condensed { .. }
            | Entry::OutputsDropped { .. }
            | Entry::CondensingUndone
            | Entry::ContextTruncated { .. }
            | Entry::Error { .. }
            | Entry::Notice { .. } => None,
        }
    }

    fn is_streaming(&self, id: &MessageId) -> bool {
        matches!(&self.entry, Entry::Answer { message_id, unfinished: true, .. } if message_id == id)
    }
}
