//! Identities as newtypes: one kind of id cannot be passed for another.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(transparent)]
        #[schemars(with = "String")]
        #[ts(type = "string")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps an id that came from outside (a provider, a file).
            pub fn new(value: impl Into<Arc<str>>) -> Self {
                Self(value.into())
            }

            /// Makes an id that sorts by time of creation and is never reused.
            pub fn generate() -> Self {
                Self(format!(concat!($prefix, "{}"), uuid::Uuid::now_v7().simple()).into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self(value.into())
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self(value.into())
            }
        }
    };
}

string_id!(
    /// One task: a conversation with its own log, state and directory.
    TaskId, ""
);
string_id!(
    /// One message of a task.
    MessageId, "msg_"
);
string_id!(
    /// One tool call, as the model named it (or as we named it for models that do not).
    ToolCallId, "call_"
);
string_id!(
    /// One request for approval.
    ApprovalId, "apr_"
);
string_id!(
    /// One question to the person.
    QuestionId, "qst_"
);
string_id!(
    /// One plan.
    PlanId, "plan_"
);
string_id!(
    /// One terminal of a connection.
    TerminalId, "term_"
);
string_id!(
    /// One kept tool output.
    ArtifactId, "art_"
);

impl TaskId {
    /// Whether the id may be used as a directory name: letters, digits, `-` and `_`, at most 64.
    pub fn is_valid(&self) -> bool {
        let text = self.as_str();
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    }
}

/// Position of a durable event in its task's log; the first is 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(transparent)]
pub struct Seq(#[ts(type = "number")] pub u64);

impl Seq {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Milliseconds since 1970-01-01 UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(transparent)]
pub struct Timestamp(#[ts(type = "number")] pub i64);

impl Timestamp {
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self(since.as_millis() as i64)
    }
}
