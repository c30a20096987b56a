//! What of the conversation the model is sent: all of it while it fits, else the goal and the newest part.
//!
//! The cut moves in large steps, so that between two cuts the beginning of the request stays the same from
//! turn to turn and a provider's prompt cache keeps working. A tool call is never parted from its result.

use std::sync::{Arc, Weak};

use serde_json::Value;
use stepwell_llm::estimate_message;
use stepwell_protocol::{Message, Part, Role};

/// After a cut this share of the room is used; the rest is for the turns to come.
const REFILL_PERCENT: u64 = 70;
/// What the note about left-out messages costs at most.
const NOTE_TOKENS: u64 = 64;
/// A message is never clipped below this many bytes of text.
const SMALLEST_CLIP: usize = 120;

/// Keeps the place of the last cut and the size of every message.
#[derive(Debug, Default)]
pub struct ContextWindow {
    sizes: Vec<Size>,
    /// Index of the first message kept after the goal.
    start: usize,
}

/// A message is known by its address: the weak reference keeps that from being used again, and makes whoever
/// changes the message move it.
#[derive(Debug)]
struct Size {
    message: Weak<Message>,
    tokens: u64,
    /// Tokens of this message and all before it.
    up_to_here: u64,
}

/// The messages to send.
#[derive(Debug)]
pub struct Fitted {
    pub messages: Vec<Arc<Message>>,
    pub tokens: u64,
    /// How many messages of the history are not among them.
    pub dropped: usize,
    /// Messages of the history before this one are left out, except the goal.
    pub start: usize,
    /// Whether this turn moved the cut.
    pub moved: bool,
    /// Whether messages that are sent had to be shortened.
    pub clipped: bool,
}

/// Not even the goal and the newest messages, clipped, fit the model's window.
#[derive(Debug, PartialEq, Eq)]
pub struct DoesNotFit {
    pub needed: u64,
    pub room: u64,
}

impl ContextWindow {
    /// Chooses what of `history` to send in `room` tokens.
    pub fn fit(&mut self, history: &[Arc<Message>], room: u64) -> Result<Fitted, DoesNotFit> {
        self.measure(history);
        self.start = self.start.min(history.len());
        let whole = self.tokens_before(history.len());
        if self.start == 0 && whole <= room {
            return Ok(Fitted {
                messages: history.to_vec(),
                tokens: whole,
                dropped: 0,
                start: 0,
                moved: false,
                clipped: false,
            });
        }
        let goal = history.iter().position(|message| message.role == Role::User);
        let goal_tokens = goal.map_or(0, |index| self.sizes[index].tokens) + NOTE_TOKENS;
        let mut moved = false;
        let mut kept = self.tail_tokens() + goal_tokens;
        if kept > room {
            moved = true;
            let target = room * REFILL_PERCENT / 100;
            while kept > target {
                let Some(next) = next_start(history, self.start, goal) else { break };
                self.start = next;
                kept = self.tail_tokens() + goal_tokens;
            }
        }
        let mut messages = Vec::with_capacity(history.len() - self.start + 1);
        if let Some(index) = goal.filter(|index| *index < self.start) {
            messages.push(with_note(&history[index], self.start - 1));
        }
        messages.extend_from_slice(&history[self.start..]);
        let dropped = history.len()
            - (history.len() - self.start)
            - usize::from(goal.is_some_and(|index| index < self.start));
        let clipped = kept > room;
        if clipped {
            kept = clip(&mut messages, room)?;
        }
        Ok(Fitted { messages, tokens: kept, dropped, start: self.start, moved, clipped })
    }

    /// The size of the whole history.
    pub fn size(&mut self, history: &[Arc<Message>]) -> u64 {
        self.measure(history);
        self.tokens_before(history.len())
    }

    fn tail_tokens(&self) -> u64 {
        self.tokens_before(self.sizes.len()) - self.tokens_before(self.start)
    }

    fn tokens_before(&self, index: usize) -> u64 {
        index.checked_sub(1).and_then(|last| self.sizes.get(last)).map_or(0, |size| size.up_to_here)
    }

    fn measure(&mut self, history: &[Arc<Message>]) {
        let same = self
            .sizes
            .iter()
            .zip(history)
            .take_while(|(size, message)| std::ptr::eq(size.message.as_ptr(), Arc::as_ptr(message)))
            .count();
        self.sizes.truncate(same);
        if self.start > same {
            // The history was rewound behind the cut.
            self.start = 0;
        }
        let mut up_to_here = self.tokens_before(same);
        for message in &history[same..] {
            let tokens = estimate_message(message);
            up_to_here += tokens;
            self.sizes.push(Size { message: Arc::downgrade(message), tokens, up_to_here });
        }
    }
}

/// The next place where the history may be cut: not before a tool result, and not past the newest exchange.
fn next_start(history: &[Arc<Message>], start: usize, goal: Option<usize>) -> Option<usize> {
    let first = start.max(goal.map_or(0, |index| index + 1));
    // Environment details belong to the exchange that they follow.
    let begins = |message: &Message| message.role != Role::Tool && !message.is_environment_details();
    let newest = history.iter().rposition(|message| begins(message))?;
    (first.max(start + 1)..=newest).find(|index| begins(&history[*index]))
}

fn with_note(goal: &Arc<Message>, left_out: usize) -> Arc<Message> {
    let mut goal = Message::clone(goal);
    goal.parts.push(Part::text(format!(
        "\n[{left_out} earlier messages were left out to fit the context window. Read files again if you need them.]"
    )));
    Arc::new(goal)
}

/// Shortens the longest texts until the messages fit. What was added about the surroundings goes first: nobody said it.
fn clip(messages: &mut Vec<Arc<Message>>, room: u64) -> Result<u64, DoesNotFit> {
    let size = |messages: &[Arc<Message>]| messages.iter().map(|message| estimate_message(message)).sum();
    messages.retain(|message| !message.is_environment_details());
    for message in messages.iter_mut() {
        if message.parts.iter().skip(1).any(Part::is_surroundings) {
            let mut first = true;
            let is_said = |part: &Part| std::mem::take(&mut first) || !part.is_surroundings();
            Arc::make_mut(message).parts.retain(is_said);
        }
    }
    let mut tokens: u64 = size(messages);
    let mut limit = 64 * 1024;
    while tokens > room && limit >= SMALLEST_CLIP {
        for message in messages.iter_mut() {
            if message.parts.iter().any(|part| longest_text(part) > limit) {
                let message = Arc::make_mut(message);
                message.parts.iter_mut().for_each(|part| clip_part(part, limit));
            }
        }
        tokens = size(messages);
        limit /= 2;
    }
    if tokens > room { Err(DoesNotFit { needed: tokens, room }) } else { Ok(tokens) }
}

fn longest_text(part: &Part) -> usize {
    match part {
        // Reasoning that a provider signed must go back as it came.
        Part::Text { text } | Part::Reasoning { text, opaque: None } => text.len(),
        Part::ToolResult { result } => result.output.len(),
        Part::ToolCall { call } => longest_string(&call.arguments),
        Part::Reasoning { .. } | Part::Image { .. } => 0,
    }
}

fn longest_string(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest_string).max().unwrap_or(0),
        Value::Object(fields) => fields.values().map(longest_string).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn clip_part(part: &mut Part, limit: usize) {
    match part {
        Part::Text { text } | Part::Reasoning { text, opaque: None } => clip_text(text, limit),
        Part::ToolResult { result } => clip_text(&mut result.output, limit),
        Part::ToolCall { call } => clip_strings(&mut call.arguments, limit),
        Part::Reasoning { .. } | Part::Image { .. } => {}
    }
}

fn clip_strings(value: &mut Value, limit: usize) {
    match value {
        Value::String(text) => clip_text(text, limit),
        Value::Array(items) => items.iter_mut().for_each(|item| clip_strings(item, limit)),
        Value::Object(fields) => fields.values_mut().for_each(|field| clip_strings(field, limit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn clip_text(text: &mut String, limit: usize) {
    const MARK: &str = "\n[... left out to fit the context window ...]\n";
    if text.len() <= limit {
        return;
    }
    let side = (limit.saturating_sub(MARK.len())) / 2;
    let head = text.floor_char_boundary(side);
    let tail = text.ceil_char_boundary(text.len() - side);
    *text = format!("{}{MARK}{}", &text[..head], &text[tail..]);
}
