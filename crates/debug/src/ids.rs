//! Identifiers of sessions, threads, frames, variables and breakpoints.
//!
//! Frames and variables have identifiers of our own beside those of the adapter: ours are never used twice and expire
//! with the stop they belong to.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Defines an identifier whose JSON and schema are those of the value inside.
macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident($inner:ty) $(: $more:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize $(, $more)*)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        // By hand, so that input schemas do not repeat a description for every field of this type.
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$inner>::json_schema(generator)
            }
        }
    };
}

identifier! {
    /// A debug session, such as `s1`.
    SessionId(String)
}
identifier! {
    /// A thread of the debugged program, as its adapter numbers it.
    ThreadId(i64): Copy
}
identifier! {
    /// A frame of a stopped thread, as tools see it.
    FrameId(i64): Copy
}
identifier! {
    /// A scope or value with variables inside, as tools see it; zero where there are none.
    VariablesReference(i64): Copy
}
identifier! {
    /// A breakpoint of the workspace.
    BreakpointId(i64): Copy
}
identifier! {
    /// A frame, as its adapter numbers it.
    AdapterFrameId(i64): Copy
}
identifier! {
    /// A scope or value with variables inside, as its adapter numbers it; zero where there are none.
    AdapterReference(i64): Copy
}

impl From<&str> for SessionId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl AdapterReference {
    /// Whether there is nothing inside to ask for.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BreakpointId {
    /// A line where a tool needs the program to stop for a while.
    pub(crate) const PROBE: Self = Self(0);
    /// A function where a language's runtime reports a failure that its debugger does not stop at.
    pub(crate) const PANIC: Self = Self(-1);

    /// Whether it is one that the person or a model has set.
    pub(crate) fn is_set_by_user(self) -> bool {
        self > Self::PROBE
    }
}

/// A frame of a stopped thread.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameRef {
    pub session: SessionId,
    pub thread: ThreadId,
    pub adapter_id: AdapterFrameId,
}

/// A scope or a value that has variables inside.
#[derive(Clone, Debug, PartialEq)]
pub struct VariablesRef {
    pub session: SessionId,
    pub adapter_ref: AdapterReference,
    /// The frame whose scope it is, where it is a scope.
    pub scope_of: Option<AdapterFrameId>,
    pub indexed: Option<i64>,
    pub named: Option<i64>,
}

/// Maps our identifiers of frames and variables to the adapter's.
#[derive(Debug)]
pub(crate) struct IdTable {
    next: AtomicI64,
    frames: Mutex<HashMap<FrameId, FrameRef>>,
    variables: Mutex<HashMap<VariablesReference, VariablesRef>>,
}

impl Default for IdTable {
    fn default() -> Self {
        Self { next: AtomicI64::new(1), frames: Mutex::default(), variables: Mutex::default() }
    }
}

impl IdTable {
    /// Returns the identifier of a frame, the same one as long as the stop lasts.
    pub(crate) fn frame(&self, frame: FrameRef) -> FrameId {
        let mut frames = self.frames.lock();
        // Asking twice about the same stop must not make the table grow.
        if let Some((id, _)) = frames.iter().find(|(_, known)| **known == frame) {
            return *id;
        }
        let id = FrameId(self.next.fetch_add(1, Ordering::Relaxed));
        frames.insert(id, frame);
        id
    }

    /// Returns a new identifier for variables; zero where there are none, as in the protocol.
    pub(crate) fn variables(&self, variables: VariablesRef) -> VariablesReference {
        if variables.adapter_ref.is_empty() {
            return VariablesReference(0);
        }
        let id = VariablesReference(self.next.fetch_add(1, Ordering::Relaxed));
        self.variables.lock().insert(id, variables);
        id
    }

    pub(crate) fn frame_of(&self, id: FrameId) -> Result<FrameRef> {
        self.frames.lock().get(&id).cloned().ok_or_else(|| self.unknown("frame", id.0))
    }

    pub(crate) fn variables_of(&self, id: VariablesReference) -> Result<VariablesRef> {
        self.variables.lock().get(&id).cloned().ok_or_else(|| self.unknown("variables reference", id.0))
    }

    fn unknown(&self, what: &str, id: i64) -> Error {
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
    pub(crate) fn forget(&self, session: &SessionId) {
        self.frames.lock().retain(|_, frame| frame.session != *session);
        self.variables.lock().retain(|_, variables| variables.session != *session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_ids_are_never_reused_and_expire_with_their_stop() {
        let ids = IdTable::default();
        let session = |id: &str| SessionId(id.to_owned());
        let frame = FrameRef { session: session("a"), thread: ThreadId(1), adapter_id: AdapterFrameId(1000) };
        let first = ids.frame(frame.clone());
        assert_eq!(ids.frame(frame.clone()), first);
        assert_eq!(ids.frame_of(first).unwrap(), frame);
        ids.forget(&session("b"));
        assert!(ids.frame_of(first).is_ok());
        ids.forget(&session("a"));
        assert!(matches!(ids.frame_of(first), Err(Error::Expired { .. })));
        assert!(matches!(ids.frame_of(FrameId(99)), Err(Error::Parameter { .. })));
        assert!(ids.frame(frame) > first);
    }
}
