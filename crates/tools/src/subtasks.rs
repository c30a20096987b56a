//! `task` and `new_task`: work that is given to a sub-agent, or done in a mode of its own, with a context of its own.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk, RunEnd, TodoItem, TodoPriority, TodoStatus};
use stepwell_tool_runtime::{
    Category, Planned, SubtaskRequest, SubtaskResult, SubtaskWorker, Tool, ToolContext, ToolError,
    ToolOutput, ToolSpec,
};

use crate::todo::checklist_line;

/// Longest text of a sub-task that the model is given, in bytes; the rest is kept as an artifact.
const LONGEST_RESULT: usize = 30_000;

pub struct Task;
pub struct NewTask;

/// Gives work to a sub-agent with a context of its own and returns its result. Say everything it must know: it sees
/// nothing of this conversation. Several calls in one turn run side by side.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{"agent": "explorer", "description": "Find the retry logic",
    "prompt": "Where are failed requests retried, how often, and with which delays?"}]))]
pub struct TaskInput {
    /// The sub-agent.
    #[schemars(extend("x-aliases" = ["subagent_type", "agent_type", "subagent", "name"]))]
    agent: String,
    /// What it is to do, complete in itself.
    #[schemars(extend("x-aliases" = ["message", "instructions", "task"]))]
    prompt: String,
    /// A few words for the list of tasks.
    #[schemars(extend("x-aliases" = ["title"]))]
    description: Option<String>,
}

/// Starts a sub-task in a mode, waits for it, and returns its result. It begins with an empty context, so the message
/// must say everything it needs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewTaskInput {
    /// The mode it works in.
    #[schemars(extend("x-aliases" = ["mode_slug"]))]
    mode: String,
    /// What it is to do, complete in itself.
    #[schemars(extend("x-aliases" = ["prompt", "task"]))]
    message: String,
    /// A checklist of `- [ ]` lines it begins with.
    todos: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SubtaskOutput {
    task: String,
    /// The number people call it by.
    number: u32,
    agent: String,
    /// How it ended: `answered`, `stopped`, `paused`, `cancelled` or `failed`.
    outcome: &'static str,
    result: String,
    tokens: u64,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for SubtaskOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

fn spec(name: &'static str, aliases: &'static [&'static str]) -> ToolSpec {
    ToolSpec {
        name,
        aliases,
        category: Category::Subtasks,
        // A sub-task may run programs.
        risk: Risk::Execute,
        // The run of the sub-task has its own limits, and ends with this call.
        time_limit: Duration::MAX,
        output_limit: LONGEST_RESULT,
    }
}

/// A sub-task that may do no more than its parent needs no approval: its calls are judged one by one.
fn planned(ctx: &ToolContext, request: SubtaskRequest) -> Planned<SubtaskRequest> {
    let begins = request.prompt.trim().lines().next().unwrap_or_default();
    let begins: String = begins.chars().take(120).collect();
    match ctx.host.check_subtask(&request.call_id, &request.worker) {
        Ok(check) => {
            let summary = format!("Start a sub-task with `{}`: {begins}", check.name);
            let warnings = check.exceeds.iter().map(|more| format!("it may do more than this task: {more}"));
            let preview = Preview {
                summary,
                warnings: warnings.collect(),
                within_rights: check.exceeds.is_none(),
                ..Preview::default()
            };
            Planned::ready(preview, request)
        }
        Err(error) => {
            let preview =
                Preview { summary: "Start a sub-task".into(), within_rights: true, ..Preview::default() };
            Planned::new(preview, Err(ToolError::validation(error.0)))
        }
    }
}

async fn run(ctx: &ToolContext, request: SubtaskRequest) -> Result<SubtaskOutput, ToolError> {
    let result = ctx.host.run_subtask(request).await.map_err(|error| ToolError::execution(error.0))?;
    let SubtaskResult { task, number, name, end, text, usage } = result;
    let (outcome, why) = match &end {
        RunEnd::Answered => ("answered", None),
        RunEnd::Paused => ("paused", Some("it was paused".to_owned())),
        RunEnd::Cancelled => ("cancelled", Some("it was cancelled".to_owned())),
        RunEnd::Stopped { error } => ("stopped", Some(error.message.clone())),
        RunEnd::Failed { error } => ("failed", Some(error.message.clone())),
    };
    let shown = match why {
        None => text.clone(),
        Some(why) if ctx.cancel.is_cancelled() => return Err(ToolError::interrupted(why)),
        Some(why) => {
            format!("The sub-task {number} of `{name}` has not finished: {why}.\nIts last words:\n{text}")
        }
    };
    Ok(SubtaskOutput {
        task: task.to_string(),
        number,
        agent: name,
        outcome,
        result: text,
        tokens: usage.total(),
        text: shown,
    })
}

#[async_trait]
impl Tool for Task {
    type Input = TaskInput;
    type Plan = SubtaskRequest;
    type Output = SubtaskOutput;

    fn spec(&self) -> ToolSpec {
        spec("task", &["subagent", "delegate"])
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let request = SubtaskRequest {
            call_id: ctx.call_id.clone(),
            worker: SubtaskWorker::Agent(input.agent),
            title: input.description,
            prompt: input.prompt,
            todos: Vec::new(),
        };
        planned(ctx, request)
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        run(ctx, plan).await
    }

    fn runs_side_by_side(&self) -> bool {
        true
    }
}

#[async_trait]
impl Tool for NewTask {
    type Input = NewTaskInput;
    type Plan = SubtaskRequest;
    type Output = SubtaskOutput;

    fn spec(&self) -> ToolSpec {
        spec("new_task", &[])
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let request = SubtaskRequest {
            call_id: ctx.call_id.clone(),
            worker: SubtaskWorker::Mode(input.mode),
            title: None,
            prompt: input.message,
            todos: input.todos.as_deref().map(checklist).unwrap_or_default(),
        };
        planned(ctx, request)
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        run(ctx, plan).await
    }
}

/// The items of a checklist.
fn checklist(text: &str) -> Vec<TodoItem> {
    let item = |(index, (status, content)): (usize, (TodoStatus, &str))| TodoItem {
        id: (index + 1).to_string(),
        content: content.to_owned(),
        status,
        priority: TodoPriority::default(),
    };
    text.lines().filter_map(checklist_line).enumerate().map(item).collect()
}
