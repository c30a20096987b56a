//! Calls that wait for the person between two requests.
//!
//! From protocol 2026-07-28 on a server may not send requests. A call that must ask answers `input_required`; the call
//! itself goes on waiting here, and the client's next request brings the answer to it. Nothing runs twice, and a
//! question in the middle of a running command works like one before it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::asking::Pending;
use crate::call::Run;

/// Calls that wait at the same time.
const MOST_PARKED: usize = 32;
/// How long the person has for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

#[derive(Default)]
pub(crate) struct Parked {
    waiting: Mutex<HashMap<String, Waiting>>,
}

struct Waiting {
    run: Run,
    pending: Pending,
    /// Ends the watch over it.
    taken: CancellationToken,
}

impl Parked {
    /// Keeps a call for its answer and gives the word that finds it again. `None` when too many wait already; the call
    /// then ends.
    pub(crate) fn keep(self: &Arc<Self>, run: Run, pending: Pending) -> Option<String> {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= MOST_PARKED {
            return None;
        }
        let state = format!("{:032x}", rand::random::<u128>());
        let taken = CancellationToken::new();
        waiting.insert(state.clone(), Waiting { run, pending, taken: taken.clone() });
        let (parked, key) = (Arc::downgrade(self), state.clone());
        tokio::spawn(async move {
            if tokio::time::timeout(PATIENCE, taken.cancelled()).await.is_err()
                && let Some(parked) = parked.upgrade()
                && let Some(late) = parked.waiting.lock().remove(&key)
            {
                late.pending.too_late();
            }
        });
        Some(state)
    }

    /// The call of this word, when it is the same call.
    pub(crate) fn take(
        &self,
        state: &str,
        name: &str,
        arguments: &serde_json::Value,
    ) -> Option<(Run, Pending)> {
        let mut all = self.waiting.lock();
        if !all.get(state)?.run.is_for(name, arguments) {
            return None;
        }
        let Waiting { run, pending, taken } = all.remove(state)?;
        taken.cancel();
        Some((run, pending))
    }

    /// Ends all of them.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.waiting.lock());
        for waiting in all.into_values() {
            waiting.taken.cancel();
        }
    }
}
