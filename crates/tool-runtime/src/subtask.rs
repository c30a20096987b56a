//! Tasks that are started for another task: what a tool asks for, and what it gets back.

use stepwell_protocol::{RunEnd, TaskId, TodoItem, ToolCallId, Usage};

/// Who works on a sub-task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubtaskWorker {
    /// The agent itself, in this mode.
    Mode(String),
    /// A sub-agent, by its name.
    Agent(String),
}

/// A sub-task that a call starts and waits for.
#[derive(Clone, Debug)]
pub struct SubtaskRequest {
    /// The call that gets the result.
    pub call_id: ToolCallId,
    pub worker: SubtaskWorker,
    /// A few words for lists.
    pub title: Option<String>,
    pub prompt: String,
    /// The todo list it begins with.
    pub todos: Vec<TodoItem>,
}

/// A sub-task that could be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubtaskCheck {
    /// What its worker is called.
    pub name: String,
    /// What it may do that the task itself may not; `None` where it may do no more.
    pub exceeds: Option<String>,
}

/// What came of a sub-task.
#[derive(Clone, Debug, PartialEq)]
pub struct SubtaskResult {
    pub task: TaskId,
    pub number: u32,
    pub name: String,
    pub end: RunEnd,
    /// Its answer, or its last words where it has none.
    pub text: String,
    pub usage: Usage,
}
