//! Numbers for frames and variables that are ours: never used twice, and gone with the stop they belong to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;

use crate::{Error, Result};

/// A frame of a stopped thread.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameRef {
    pub session: String,
    pub thread: i64,
    /// The adapter's number.
    pub adapter_id: i64,
}

/// Something that has variables in it.
#[derive(Clone, Debug, PartialEq)]
pub struct VariablesRef {
    pub session: String,
    /// The adapter's number.
    pub adapter_ref: i64,
    /// The frame it was found in, by the adapter's number, where it is a scope.
    pub scope_of: Option<i64>,
    pub indexed: Option<i64>,
    pub named: Option<i64>,
}

#[derive(Debug)]
pub struct Ids {
    next: AtomicI64,
    frames: Mutex<HashMap<i64, FrameRef>>,
    variables: Mutex<HashMap<i64, VariablesRef>>,
}

impl Default for Ids {
    fn default() -> Self {
        Self { next: AtomicI64::new(1), frames: Mutex::default(), variables: Mutex::default() }
    }
}

impl Ids {
    pub fn frame(&self, frame: FrameRef) -> i64 {
        let mut frames = self.frames.lock();
        // Asking twice about the same stop must not make the table grow.
        if let Some((id, _)) = frames.iter().find(|(_, known)| **known == frame) {
            return *id;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        frames.insert(id, frame);
        id
    }

    /// Zero for what has no variables, as in the protocol.
    pub fn variables(&self, variables: VariablesRef) -> i64 {
        if variables.adapter_ref == 0 {
            return 0;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.variables.lock().insert(id, variables);
        id
    }

    pub fn frame_of(&self, id: i64) -> Result<FrameRef> {
        self.frames.lock().get(&id).cloned().ok_or_else(|| self.gone("frame", id))
    }

    pub fn variables_of(&self, id: i64) -> Result<VariablesRef> {
        self.variables.lock().get(&id).cloned().ok_or_else(|| self.gone("variables reference", id))
    }

    fn gone(&self, what: &str, id: i64) -> Error {
        if id > 0 && id < self.next.load(Ordering::Relaxed) {
            Error::Expired {
                what: format!("{what} {id} belongs to a stop that is over"),
                hint: "use the numbers of the newest stop".to_owned(),
            }
        } else {
            Error::Parameter {
                what: format!("there is no {what} {id}"),
                hint: Some("take it from `stop_event_data`, `get_call_stack` or `get_scopes`".to_owned()),
            }
        }
    }

    /// Forgets what belongs to a session's stop.
    pub fn forget(&self, session: &str) {
        self.frames.lock().retain(|_, frame| frame.session != session);
        self.variables.lock().retain(|_, variables| variables.session != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_used_again_and_say_when_they_are_old() {
        let ids = Ids::default();
        let frame = FrameRef { session: "a".to_owned(), thread: 1, adapter_id: 1000 };
        let first = ids.frame(frame.clone());
        assert_eq!(ids.frame(frame.clone()), first);
        assert_eq!(ids.frame_of(first).unwrap(), frame);
        ids.forget("b");
        assert!(ids.frame_of(first).is_ok());
        ids.forget("a");
        assert!(matches!(ids.frame_of(first), Err(Error::Expired { .. })));
        assert!(matches!(ids.frame_of(99), Err(Error::Parameter { .. })));
        assert!(ids.frame(frame) > first);
    }
}
