//! A conversation made shorter for the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{MessageId, ToolCallId};

/// Older messages that the model is sent as a summary from here on. The log keeps the originals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Condensing {
    /// Of the message that holds the summary.
    pub message_id: MessageId,
    /// Made by the model.
    pub summary: String,
    /// What stands word for word beside it: later words of the person, plan, todo list, breakpoints, refuted hypotheses,
    /// files being edited.
    pub pinned: String,
    /// The first message that is sent as it was; absent where all are summed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<MessageId>,
    /// How many messages the summary stands for.
    #[ts(type = "number")]
    pub replaced: u64,
    #[ts(type = "number")]
    pub tokens_before: u64,
    #[ts(type = "number")]
    pub tokens_after: u64,
    pub reason: CondenseReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CondenseReason {
    /// The context reached its share of the model's window.
    Window,
    /// The server found the context too long.
    Overflow,
    /// The person asked for it.
    Person,
}

/// The output of a call that the model is sent no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DroppedOutput {
    pub call_id: ToolCallId,
    #[ts(type = "number")]
    pub bytes: u64,
    /// The file it can be read from again.
    pub path: String,
}
