//! The conversation of a door with the engine: messages in both directions, over any transport.
//!
//! A door sends [`ClientMessage`]s and gets [`ServerMessage`]s. Commands and queries carry a number the door chooses; the
//! reply carries the same number. Events of a followed task come in the order of its log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    Command, CommandReply, ErrorReport, EventRecord, Query, QueryReply, Seq, TaskId, TaskListItem, TerminalId,
};

/// The number a door gives to a message; the reply has the same.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(transparent)]
pub struct RequestId(#[ts(type = "number")] pub u64);

/// From a door to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Says who is at this end. Without it nobody is.
    Hello {
        /// Whether a person sits here who can answer for the tasks this door starts, goes on with or follows.
        attended: bool,
        /// What others call this end, such as `Firefox on lab-3`: they see who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    Command {
        id: RequestId,
        command: Command,
    },
    Query {
        id: RequestId,
        query: Query,
    },
    /// Follows a task: everything after `after`, then what happens. Following it again starts anew from there.
    Follow {
        id: RequestId,
        task: TaskId,
        after: Seq,
    },
    Unfollow {
        id: RequestId,
        task: TaskId,
    },
    /// Hears of every change of the list of tasks.
    FollowTasks {
        id: RequestId,
    },
}

/// From the engine to a door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// A message could not be understood; nothing was done about it.
    Rejected {
        error: ErrorReport,
    },
    CommandReply {
        id: RequestId,
        reply: CommandReply,
    },
    QueryReply {
        id: RequestId,
        reply: QueryReply,
    },
    /// The task is followed from here on. Events up to `last_seq` were there before; what comes after is new.
    Following {
        id: RequestId,
        task: TaskId,
        last_seq: Seq,
    },
    /// What was asked for cannot be followed.
    FollowFailed {
        id: RequestId,
        error: ErrorReport,
    },
    /// The task is no longer followed: because the door said so, or because the task was closed or deleted.
    FollowEnded {
        task: TaskId,
    },
    Event {
        task: TaskId,
        record: EventRecord,
    },
    /// A task was made or changed.
    TaskChanged {
        task: TaskListItem,
    },
    TaskDeleted {
        task: TaskId,
    },
    /// What a terminal of this connection printed.
    TerminalOutput {
        terminal: TerminalId,
        /// Bytes printed before.
        #[ts(type = "number")]
        offset: u64,
        /// Base64: a piece may end within a character.
        data: String,
    },
    /// The shell of a terminal ended.
    TerminalClosed {
        terminal: TerminalId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
}
