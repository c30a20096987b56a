//! Why a program stopped.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason of a `stopped` event. Adapters may use words that the protocol does not list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    Step,
    Breakpoint,
    Exception,
    Pause,
    Entry,
    Goto,
    FunctionBreakpoint,
    DataBreakpoint,
    InstructionBreakpoint,
    /// A word of the adapter's own, such as `signal`.
    Other(String),
}

impl StopReason {
    /// The words that the protocol lists.
    const KNOWN: [(Self, &'static str); 9] = [
        (Self::Step, "step"),
        (Self::Breakpoint, "breakpoint"),
        (Self::Exception, "exception"),
        (Self::Pause, "pause"),
        (Self::Entry, "entry"),
        (Self::Goto, "goto"),
        (Self::FunctionBreakpoint, "function breakpoint"),
        (Self::DataBreakpoint, "data breakpoint"),
        (Self::InstructionBreakpoint, "instruction breakpoint"),
    ];

    /// Returns the protocol's word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(word) => word,
            known => Self::KNOWN.iter().find(|(reason, _)| reason == known).map_or("", |(_, word)| word),
        }
    }

    /// Whether the adapter calls it a breakpoint of any kind.
    pub(crate) fn is_breakpoint(&self) -> bool {
        self.as_str().contains("breakpoint")
    }

    /// Whether the adapter may mean a data breakpoint: some call it a plain breakpoint or a watchpoint.
    pub(crate) fn may_be_data_breakpoint(&self) -> bool {
        self.is_breakpoint() || self.as_str().contains("watchpoint")
    }

    /// Whether the stop can be a failure: an exception, a signal, a panic.
    pub(crate) fn may_be_failure(&self) -> bool {
        !matches!(self, Self::Entry | Self::Step | Self::Pause | Self::Breakpoint | Self::Goto)
    }
}

impl Default for StopReason {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl From<&str> for StopReason {
    fn from(word: &str) -> Self {
        let known = Self::KNOWN.into_iter().find(|(_, known)| *known == word);
        known.map_or_else(|| Self::Other(word.to_owned()), |(reason, _)| reason)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for StopReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(String::deserialize(deserializer)?.as_str().into())
    }
}

impl JsonSchema for StopReason {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StopReason".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "examples": Self::KNOWN.map(|(_, word)| word),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_keep_the_words_of_the_adapter() {
        for word in ["step", "data breakpoint", "signal", "my watchpoint", ""] {
            let reason: StopReason = serde_json::from_value(word.into()).unwrap();
            assert_eq!(serde_json::to_value(&reason).unwrap(), word);
            assert_eq!(matches!(reason, StopReason::Other(_)), !["step", "data breakpoint"].contains(&word));
        }
        assert!(StopReason::from("function breakpoint").is_breakpoint());
        assert!(StopReason::from("watchpoint").may_be_data_breakpoint());
        assert!(StopReason::from("signal").may_be_failure());
    }
}
