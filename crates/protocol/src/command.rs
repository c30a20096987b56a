//! What a door may ask of the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ApprovalAnswer, ApprovalId, MessageId, Part, QuestionAnswer, QuestionId, TaskId};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Starts a task with its first message. Mode and model default to the settings'.
    StartTask {
        task: TaskId,
        prompt: Vec<Part>,
        workspace: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<TaskId>,
    },
    /// Says something in a task. While the agent works the message is queued and delivered at the next turn;
    /// it never answers an approval or a question.
    SendMessage {
        task: TaskId,
        parts: Vec<Part>,
    },
    /// Goes on with a task that was cut off, paused or stopped at a limit, without a new message.
    ResumeTask {
        task: TaskId,
    },
    /// Stops at once and keeps what was received.
    Cancel {
        task: TaskId,
    },
    /// Stops before the next request to the model.
    Pause {
        task: TaskId,
    },
    Approve {
        task: TaskId,
        approval: ApprovalId,
        #[serde(flatten)]
        answer: ApprovalAnswer,
    },
    AnswerQuestion {
        task: TaskId,
        question: QuestionId,
        answer: QuestionAnswer,
    },
    /// Makes a new task that shares the history up to and including `message` (all of it when absent).
    ForkTask {
        task: TaskId,
        new_task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
    },
    /// Takes back everything from a user message on and says it anew.
    EditMessage {
        task: TaskId,
        message: MessageId,
        parts: Vec<Part>,
    },
    RenameTask {
        task: TaskId,
        title: String,
    },
    SetFavourite {
        task: TaskId,
        favourite: bool,
    },
    SetModel {
        task: TaskId,
        model: String,
    },
    DeleteTask {
        task: TaskId,
    },
}
