//! Events to everyone who looks at a task, without anyone being able to hold the task up.
//!
//! Each follower has a queue of its own. Tokens that wait in it run together into one, so a slow reader gets
//! larger pieces instead of more of them, and nothing is lost. A reader that stops reading altogether loses
//! transient events once its queue is full; durable ones it can always read from the log.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use stepwell_protocol::{Event, EventRecord, Seq};
use tokio::sync::Notify;

/// Bytes of streamed text a queue holds before transient events are dropped.
const QUEUE_LIMIT: usize = 32 << 20;

#[derive(Default)]
pub struct Feed {
    followers: Mutex<Vec<Weak<Queue>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    ready: Notify,
}

#[derive(Default)]
struct QueueState {
    records: VecDeque<Arc<EventRecord>>,
    transient_bytes: usize,
    closed: bool,
}

/// One reader of a task's events, from a point in the log onwards.
pub struct Follower {
    queue: Arc<Queue>,
    /// Records read from the log that come before the live ones.
    replay: VecDeque<Arc<EventRecord>>,
    /// Live records up to this one are in `replay` already.
    replayed_to: Seq,
}

impl Feed {
    /// Starts a follower; the caller fills in what the log has up to `replayed_to`.
    pub fn follow(&self, replay: Vec<EventRecord>, replayed_to: Seq) -> Follower {
        let queue = Arc::new(Queue::default());
        self.followers.lock().push(Arc::downgrade(&queue));
        Follower { queue, replay: replay.into_iter().map(Arc::new).collect(), replayed_to }
    }

    pub fn publish(&self, record: &Arc<EventRecord>) {
        self.followers.lock().retain(|follower| {
            let Some(queue) = follower.upgrade() else { return false };
            queue.state.lock().push(record);
            queue.ready.notify_one();
            true
        });
    }

    /// Whether anyone is looking; what nobody sees need not be made.
    pub fn is_followed(&self) -> bool {
        !self.followers.lock().is_empty()
    }

    /// Ends every follower after what it has queued.
    pub fn close(&self) {
        for follower in self.followers.lock().drain(..) {
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
        let bytes = transient_bytes(&record.event);
        if !record.event.is_durable() && self.transient_bytes + bytes > QUEUE_LIMIT {
            return;
        }
        self.transient_bytes += bytes;
        let joined = match (self.records.back_mut(), &record.event) {
            (Some(last), Event::Token { message_id, content }) => match &last.event {
                Event::Token { message_id: before, .. } if before == message_id => {
                    match &mut Arc::make_mut(last).event {
                        Event::Token { content: text, .. } => {
                            text.push_str(content);
                            true
                        }
                        _ => false,
                    }
                }
                _ => false,
            },
            _ => false,
        };
        if !joined {
            self.records.push_back(Arc::clone(record));
        }
    }
}

fn transient_bytes(event: &Event) -> usize {
    match event {
        Event::Token { content, .. } | Event::ReasoningToken { content, .. } => content.len(),
        Event::ToolOutput { chunk, .. } => chunk.len(),
        _ => 0,
    }
}

impl Follower {
    /// The next event; `None` when the task is closed and everything was delivered.
    pub async fn next(&mut self) -> Option<Arc<EventRecord>> {
        if let Some(record) = self.replay.pop_front() {
            return Some(record);
        }
        loop {
            // Registered before the look, so that a push in between is not missed.
            let ready = self.queue.ready.notified();
            let record = {
                let mut state = self.queue.state.lock();
                let record = state.records.pop_front();
                if let Some(record) = &record {
                    state.transient_bytes =
                        state.transient_bytes.saturating_sub(transient_bytes(&record.event));
                } else if state.closed {
                    return None;
                }
                record
            };
            match record {
                Some(record) if record.event.is_durable() && record.seq <= self.replayed_to => {}
                Some(record) => return Some(record),
                None => ready.await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stepwell_protocol::{MessageId, Timestamp, ToolCallId};

    use super::*;

    fn record(event: Event) -> Arc<EventRecord> {
        Arc::new(EventRecord { seq: Seq(1), ts: Timestamp(0), event })
    }

    fn token(text: &str) -> Arc<EventRecord> {
        record(Event::Token { message_id: MessageId::new("m"), content: text.into() })
    }

    #[tokio::test]
    async fn tokens_that_wait_run_together() {
        let feed = Feed::default();
        let mut follower = feed.follow(Vec::new(), Seq(0));
        for text in ["a", "b", "c"] {
            feed.publish(&token(text));
        }
        feed.publish(&record(Event::ToolProgress { call_id: ToolCallId::new("c"), text: "x".into() }));
        feed.publish(&token("d"));
        feed.close();
        let mut seen = Vec::new();
        while let Some(record) = follower.next().await {
            match &record.event {
                Event::Token { content, .. } => seen.push(content.clone()),
                _ => seen.push("|".into()),
            }
        }
        assert_eq!(seen, ["abc", "|", "d"]);
    }

    #[tokio::test]
    async fn a_reader_that_never_reads_costs_a_bounded_amount() {
        let feed = Feed::default();
        let follower = feed.follow(Vec::new(), Seq(0));
        let chunk = "x".repeat(1 << 20);
        for _ in 0..100 {
            feed.publish(&token(&chunk));
        }
        assert!(follower.queue.state.lock().transient_bytes <= QUEUE_LIMIT);
    }

    #[tokio::test]
    async fn live_records_that_were_replayed_are_not_given_twice() {
        let feed = Feed::default();
        let notice = |seq| EventRecord {
            seq: Seq(seq),
            ts: Timestamp(0),
            event: Event::Notice { text: seq.to_string() },
        };
        let mut follower = feed.follow(vec![notice(1), notice(2)], Seq(2));
        feed.publish(&Arc::new(notice(2)));
        feed.publish(&Arc::new(notice(3)));
        feed.close();
        let mut seen = Vec::new();
        while let Some(record) = follower.next().await {
            seen.push(record.seq.0);
        }
        assert_eq!(seen, [1, 2, 3]);
    }
}
