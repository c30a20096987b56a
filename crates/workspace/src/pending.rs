//! Pending requests: pairs the answers of a peer with the requests they belong to.
//!
//! Debug adapters, language servers and Node's inspector number their requests and answer in any order. A client
//! registers each request here, sends it, and waits for its answer until a deadline. The task that reads from the
//! peer resolves requests by number and closes the table when the peer is gone.
//!
//! ```
//! use std::time::Duration;
//! use stepwell_workspace::pending::{PendingRequests, RequestId};
//! use tokio::time::Instant;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let pending = PendingRequests::new();
//! let request = pending.register()?;
//! // The request goes out with its number; the task that reads finds the number in the answer.
//! pending.resolve(request.id(), "pong");
//! assert_eq!(request.answer(Instant::now() + Duration::from_secs(5)).await?, "pong");
//! # Ok::<(), stepwell_workspace::pending::Unanswered>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// The number of a request, unique on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub i64);

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The peer is gone; the reason was given to [`PendingRequests::close`].
    #[error("the connection is closed: {0}")]
    Closed(String),
    #[error("no answer came in time")]
    Late,
}

/// The requests of one connection that wait for an answer. Clones share the table.
pub struct PendingRequests<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    next_id: AtomicI64,
    unmatched: AtomicU64,
    table: Mutex<Table<T>>,
}

struct Table<T> {
    waiting: HashMap<RequestId, oneshot::Sender<T>>,
    /// Why there will be no more answers.
    closed: Option<String>,
}

impl<T> PendingRequests<T> {
    /// Creates an empty table; numbers start at 1.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                next_id: AtomicI64::new(1),
                unmatched: AtomicU64::new(0),
                table: Mutex::new(Table { waiting: HashMap::new(), closed: None }),
            }),
        }
    }

    /// Takes the next number without waiting for an answer: for messages that are numbered but not answered.
    pub fn next_id(&self) -> RequestId {
        RequestId(self.shared.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Registers a request under a fresh number. Fails with [`Unanswered::Closed`] when the peer is gone.
    pub fn register(&self) -> Result<PendingRequest<T>, Unanswered> {
        let id = self.next_id();
        let (sender, answer) = oneshot::channel();
        let mut table = self.shared.table.lock();
        if let Some(reason) = &table.closed {
            return Err(Unanswered::Closed(reason.clone()));
        }
        table.waiting.insert(id, sender);
        Ok(PendingRequest { id, answer, on_cancel: None, shared: Arc::clone(&self.shared) })
    }

    /// Hands an answer to the request it belongs to. Returns whether one waited for it; an answer that comes too
    /// late, twice or for an unknown number is dropped and counted.
    pub fn resolve(&self, id: RequestId, answer: T) -> bool {
        let sender = self.shared.table.lock().waiting.remove(&id);
        let was_taken = sender.is_some_and(|sender| sender.send(answer).is_ok());
        if !was_taken {
            self.shared.unmatched.fetch_add(1, Ordering::Relaxed);
        }
        was_taken
    }

    /// Fails all requests, those registered later included. The first reason given is kept.
    pub fn close(&self, reason: &str) {
        let waiting = {
            let mut table = self.shared.table.lock();
            table.closed.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut table.waiting)
        };
        // Dropping the senders wakes those who wait; none of that happens under the lock.
        drop(waiting);
    }

    pub fn is_closed(&self) -> bool {
        self.shared.table.lock().closed.is_some()
    }

    /// Requests that wait for an answer.
    pub fn len(&self) -> usize {
        self.shared.table.lock().waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Answers that no request waited for.
    pub fn unmatched_answers(&self) -> u64 {
        self.shared.unmatched.load(Ordering::Relaxed)
    }
}

impl<T> Default for PendingRequests<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for PendingRequests<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> fmt::Debug for PendingRequests<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.shared.table.lock();
        f.debug_struct("PendingRequests")
            .field("waiting", &table.waiting.len())
            .field("closed", &table.closed)
            .field("unmatched", &self.unmatched_answers())
            .finish()
    }
}

/// One request that waits for its answer. Dropping it cancels the request.
pub struct PendingRequest<T> {
    id: RequestId,
    answer: oneshot::Receiver<T>,
    on_cancel: Option<Box<dyn FnOnce(RequestId) + Send + Sync>>,
    shared: Arc<Shared<T>>,
}

impl<T> PendingRequest<T> {
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// Calls `cancel` when the request is dropped or its deadline passes before the peer answered or closed, such
    /// as to tell the peer. It must not wait.
    pub fn on_cancel(mut self, cancel: impl FnOnce(RequestId) + Send + Sync + 'static) -> Self {
        self.on_cancel = Some(Box::new(cancel));
        self
    }

    /// Waits for the answer until `deadline`.
    pub async fn answer(mut self, deadline: Instant) -> Result<T, Unanswered> {
        match timeout_at(deadline, &mut self.answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_closed)) => {
                let reason = self.shared.table.lock().closed.clone();
                Err(Unanswered::Closed(reason.unwrap_or_else(|| "it was dropped".to_owned())))
            }
            Err(_elapsed) => Err(Unanswered::Late),
        }
    }
}

impl<T> Drop for PendingRequest<T> {
    fn drop(&mut self) {
        // Answers and the end of the connection take the entry out: one that is still there was given up by us.
        let was_waiting = self.shared.table.lock().waiting.remove(&self.id).is_some();
        if was_waiting && let Some(cancel) = self.on_cancel.take() {
            cancel(self.id);
        }
    }
}

impl<T> fmt::Debug for PendingRequest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingRequest").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
