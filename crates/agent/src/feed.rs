//! Events to everyone who follows a task, without anyone being able to hold the task up.
//!
//! Each follower has a queue, bounded by bytes. When the queue of a slow reader is full, it is emptied, the reader gets
//! [`Event::Lagged`] and catches up from the log. A slow reader slows down neither the loop nor other readers.
//! Joining late is the same: durable events come from the log, and what streams at that moment comes from
//! [`LiveAnswer`], the part of the answer that the log does not have.

mod follower;
mod live;

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use stepwell_protocol::{Event, EventRecord, Seq};
use tokio::sync::Notify;

pub use follower::Follower;
use live::LiveAnswer;

/// Bytes that wait for one follower at most.
const QUEUE_LIMIT: usize = 1 << 20;

#[derive(Default)]
pub struct Feed {
    state: Mutex<FeedState>,
}

#[derive(Default)]
struct FeedState {
    followers: Vec<Weak<Queue>>,
    live: LiveAnswer,
    /// The newest durable event that was published.
    last_seq: Seq,
    closed: bool,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    ready: Notify,
}

#[derive(Default)]
struct QueueState {
    records: VecDeque<Arc<EventRecord>>,
    bytes: usize,
    /// The queue was full; what comes is passed over until the reader catches up.
    lagged: bool,
    closed: bool,
}

impl Feed {
    /// A feed of a task whose log ends at this record.
    pub fn new(last_seq: Seq) -> Self {
        Self { state: Mutex::new(FeedState { last_seq, ..FeedState::default() }) }
    }

    /// Starts a queue for a follower. `None` when the feed is closed.
    fn subscribe(&self) -> Option<Arc<Queue>> {
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        let queue = Arc::new(Queue::default());
        state.followers.push(Arc::downgrade(&queue));
        Some(queue)
    }

    /// Empties a queue, and tells what streams at this moment. Everything published from here on is in the queue.
    fn restart(&self, queue: &Queue) -> (Seq, Vec<Arc<EventRecord>>) {
        let state = self.state.lock();
        let mut waiting = queue.state.lock();
        waiting.records.clear();
        waiting.bytes = 0;
        waiting.lagged = false;
        (state.last_seq, state.live.records(state.last_seq))
    }

    pub fn publish(&self, record: &Arc<EventRecord>) {
        let mut state = self.state.lock();
        if record.event.is_durable() {
            state.last_seq = record.seq;
        }
        state.live.apply(&record.event);
        state.followers.retain(|follower| {
            let Some(queue) = follower.upgrade() else { return false };
            queue.state.lock().push(record);
            queue.ready.notify_one();
            true
        });
    }

    /// The newest durable event that was published.
    pub fn last_seq(&self) -> Seq {
        self.state.lock().last_seq
    }

    /// Ends every follower after what it has queued.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for follower in state.followers.drain(..) {
            if let Some(queue) = follower.upgrade() {
                queue.state.lock().closed = true;
                queue.ready.notify_one();
            }
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.close();
    }
}

impl QueueState {
    fn push(&mut self, record: &Arc<EventRecord>) {
        if self.lagged {
            return;
        }
        let bytes = weight(&record.event);
        // One record is always taken, however long: it is shared with who made it.
        if self.bytes + bytes > QUEUE_LIMIT && !self.records.is_empty() {
            self.records.clear();
            self.bytes = 0;
            self.lagged = true;
            return;
        }
        self.bytes += bytes;
        let joined = self.records.back_mut().is_some_and(|last| join(last, &record.event));
        if !joined {
            self.records.push_back(Arc::clone(record));
        }
    }

    fn pop(&mut self) -> Option<Arc<EventRecord>> {
        let record = self.records.pop_front()?;
        self.bytes = self.bytes.saturating_sub(weight(&record.event));
        Some(record)
    }
}

/// Adds a piece of text to the piece before it, so that a slow reader gets larger pieces instead of more of them.
fn join(last: &mut Arc<EventRecord>, event: &Event) -> bool {
    let follows = match (&last.event, event) {
        (
            Event::Token { message_id: before, offset: start, content },
            Event::Token { message_id, offset, .. },
        )
        | (
            Event::ReasoningToken { message_id: before, offset: start, content },
            Event::ReasoningToken { message_id, offset, .. },
        ) => before == message_id && start + content.len() as u64 == *offset,
        _ => false,
    };
    if !follows {
        return false;
    }
    match (&mut Arc::make_mut(last).event, event) {
        (Event::Token { content: text, .. }, Event::Token { content, .. })
        | (Event::ReasoningToken { content: text, .. }, Event::ReasoningToken { content, .. }) => {
            text.push_str(content);
            true
        }
        _ => false,
    }
}

/// About how many bytes an event holds.
fn weight(event: &Event) -> usize {
    const RECORD: usize = 256;
    let text = match event {
        Event::Token { content, .. }
        | Event::ReasoningToken { content, .. }
        | Event::PartialAnswer { content, .. }
        | Event::Answer { content, .. } => content.len(),
        Event::ToolOutput { chunk, .. } => chunk.len(),
        Event::CallForming { arguments, .. } => arguments.len(),
        Event::Observation { result } => {
            let images: usize = result.images.iter().map(|image| image.data.len()).sum();
            // The detail repeats parts of the output.
            2 * result.output.len() + images
        }
        Event::UserMessage { message } | Event::MessageQueued { message } => {
            message.parts.iter().map(part_weight).sum()
        }
        Event::Thought { parts, .. } => parts.iter().map(part_weight).sum(),
        Event::Action { call, .. } => value_weight(&call.arguments),
        Event::ApprovalRequested { request } => {
            value_weight(&request.call.arguments) + 2 * request.preview.diff.as_ref().map_or(0, String::len)
        }
        _ => RECORD,
    };
    // Joined pieces are weighed by their text, so the sum stays right.
    match event {
        Event::Token { .. } | Event::ReasoningToken { .. } => text,
        _ => text + RECORD,
    }
}

fn part_weight(part: &stepwell_protocol::Part) -> usize {
    use stepwell_protocol::Part;
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.len(),
        Part::Image { image } => image.data.len(),
        Part::ToolCall { call } => value_weight(&call.arguments),
        Part::ToolResult { result } => result.output.len(),
    }
}

fn value_weight(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_weight).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + value_weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
