//! One reader of a task's events.

use std::collections::VecDeque;
use std::sync::Arc;

use stepwell_protocol::{Event, EventRecord, Seq, TaskId, Timestamp};
use stepwell_store::{Home, LogReader};

use super::{Feed, Queue};
use crate::error::Result;

/// Bytes of the log that are read at once.
const PAGE: u64 = 256 * 1024;

/// Gives a task's events from a point of the log on: first those of the log, then what happens.
pub struct Follower {
    feed: Arc<Feed>,
    queue: Arc<Queue>,
    home: Home,
    task: TaskId,
    /// The newest durable event that was given.
    delivered: Seq,
    began_at: Seq,
    state: State,
    /// Read and not given yet.
    ready: VecDeque<Arc<EventRecord>>,
}

enum State {
    /// Reading the log up to the record that was the newest when the reading began. What streamed at that moment
    /// follows it.
    CatchingUp {
        reader: Option<LogReader>,
        live_at: Seq,
        live: Vec<Arc<EventRecord>>,
    },
    Live,
}

impl Follower {
    /// Follows from behind a record. `None` when the task is closed.
    pub fn new(feed: &Arc<Feed>, home: &Home, task: &TaskId, after: Seq) -> Option<Self> {
        let queue = feed.subscribe()?;
        let mut follower = Self {
            feed: Arc::clone(feed),
            queue,
            home: home.clone(),
            task: task.clone(),
            delivered: after,
            began_at: feed.last_seq(),
            state: State::Live,
            ready: VecDeque::new(),
        };
        follower.catch_up();
        Some(follower)
    }

    /// The newest durable event at the time when following began.
    pub fn began_at(&self) -> Seq {
        self.began_at
    }

    fn catch_up(&mut self) {
        let (live_at, live) = self.feed.restart(&self.queue);
        self.state = State::CatchingUp { reader: None, live_at, live };
    }

    /// The next event; `None` when the task is closed and everything was delivered. Can be cancelled at any time.
    pub async fn next(&mut self) -> Result<Option<Arc<EventRecord>>> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                if record.event.is_durable() {
                    self.delivered = record.seq;
                }
                return Ok(Some(record));
            }
            if matches!(self.state, State::CatchingUp { .. }) {
                self.read_page().await?;
                continue;
            }
            // Registered before the look, so that a push in between is not missed.
            let queue = Arc::clone(&self.queue);
            let notified = queue.ready.notified();
            let (record, lagged, closed) = {
                let mut waiting = self.queue.state.lock();
                (waiting.pop(), waiting.lagged, waiting.closed)
            };
            match record {
                // Known from the log.
                Some(record) if record.event.is_durable() && record.seq <= self.delivered => {}
                Some(record) => self.ready.push_back(record),
                None if lagged => {
                    self.catch_up();
                    let event = Event::Lagged;
                    let seq = self.delivered;
                    self.ready.push_back(Arc::new(EventRecord { seq, ts: Timestamp::now(), event }));
                }
                None if closed => return Ok(None),
                None => notified.await,
            }
        }
    }

    /// Reads more of the log, beside the rest of the program: a disk may be slow.
    async fn read_page(&mut self) -> Result<()> {
        let State::CatchingUp { reader, live_at, .. } = &mut self.state else { return Ok(()) };
        let (live_at, known) = (*live_at, reader.take());
        // Nothing to read for who has everything.
        if known.is_none() && self.delivered >= live_at {
            self.finish_catching_up();
            return Ok(());
        }
        let (home, task, after) = (self.home.clone(), self.task.clone(), self.delivered);
        let read = tokio::task::spawn_blocking(move || {
            let mut reader = match known {
                Some(reader) => reader,
                None => LogReader::open(&home, &task, after.next())?,
            };
            let records = reader.read_page(PAGE)?;
            Ok::<_, stepwell_store::Error>((reader, records))
        });
        let (reader, records) = read.await.map_err(crate::error::broken)??;
        let at_end = records.is_empty();
        if at_end {
            self.finish_catching_up();
            return Ok(());
        }
        let State::CatchingUp { reader: slot, .. } = &mut self.state else { return Ok(()) };
        *slot = Some(reader);
        // What came after the reading began is in the queue, in its place among what is not in the log.
        let reached = records.last().is_some_and(|record| record.seq >= live_at);
        self.ready.extend(records.into_iter().filter(|record| record.seq <= live_at).map(Arc::new));
        if reached {
            self.finish_catching_up();
        }
        Ok(())
    }

    fn finish_catching_up(&mut self) {
        if let State::CatchingUp { live, .. } = std::mem::replace(&mut self.state, State::Live) {
            self.ready.extend(live);
        }
    }
}
