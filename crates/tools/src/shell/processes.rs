//! `process_read`, `process_input`, `process_kill`: the commands that run in the background.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{
    Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, WorkspaceAccess, counted,
};
use stepwell_workspace::process::Ending;

use super::background::{BackgroundCommands, Command, State};

const LONGEST_WAIT: u64 = 120;

pub struct ProcessRead {
    commands: BackgroundCommands,
}

pub struct ProcessInput {
    commands: BackgroundCommands,
}

pub struct ProcessKill {
    commands: BackgroundCommands,
}

impl ProcessRead {
    pub fn new(commands: BackgroundCommands) -> Self {
        Self { commands }
    }
}

impl ProcessInput {
    pub fn new(commands: BackgroundCommands) -> Self {
        Self { commands }
    }
}

impl ProcessKill {
    pub fn new(commands: BackgroundCommands) -> Self {
        Self { commands }
    }
}

/// Reads the new output of a command that `bash` runs in the background. Without an id it lists them all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ProcessReadInput {
    #[schemars(extend("x-aliases" = ["process_id", "artifact_id", "bash_id"]))]
    id: Option<u32>,
    /// Seconds to wait for new output or the end; 0 by default, at most 120.
    #[schemars(extend("x-aliases" = ["timeout"]))]
    wait: Option<u64>,
}

/// Writes to the standard input of a command in the background.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ProcessInputInput {
    #[schemars(extend("x-aliases" = ["process_id"]))]
    id: u32,
    /// Sent as it is; end it with a line feed where the program reads lines.
    #[schemars(extend("x-aliases" = ["input", "data"]))]
    text: String,
    /// Seconds to wait for an answer; 1 by default, at most 120.
    wait: Option<u64>,
}

/// Ends a command in the background with all its children.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ProcessKillInput {
    #[schemars(extend("x-aliases" = ["process_id", "bash_id"]))]
    id: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessOutput {
    processes: Vec<ProcessState>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessState {
    id: u32,
    command: String,
    running: bool,
    seconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// How it stands, in words.
    state: String,
    /// The output since it was last read; absent in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

impl ProcessState {
    pub(super) fn of(command: &Command, output: Option<String>) -> Self {
        let state = command.state();
        let (exit_code, signal, words) = match &state {
            State::Running { .. } => (None, None, "running".to_owned()),
            State::Ended(Ending::Exited(code)) => (Some(*code), None, format!("exit code {code}")),
            State::Ended(Ending::Signalled(signal)) => {
                (None, Some(*signal), format!("ended by signal {signal}"))
            }
            State::Ended(Ending::TimedOut) => (None, None, "ended at its time limit".to_owned()),
            State::Ended(Ending::Cancelled) => (None, None, "ended by request".to_owned()),
            State::Failed(reason) => (None, None, format!("could not run: {reason}")),
        };
        Self {
            id: command.id,
            command: command.line.clone(),
            running: command.is_running(),
            seconds: command.seconds(),
            exit_code,
            signal,
            state: words,
            output,
        }
    }
}

impl ToolOutput for ProcessOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let mut text = String::new();
        for process in &self.processes {
            let Some(output) = &process.output else {
                // Writing to a string cannot fail.
                writeln!(text, "{}: {} [{}]", process.id, process.command, process.state).ok();
                continue;
            };
            let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            let shown = if output.is_empty() { "(no new output)\n" } else { output };
            write!(text, "{shown}{gap}[{}]", process.state).ok();
        }
        if text.is_empty() {
            return Cow::Borrowed("(no command runs in the background)");
        }
        Cow::Owned(text)
    }
}

/// The output that is new, with a word about what was lost of it.
fn new_output(command: &Command) -> String {
    let (text, lost) = command.read();
    if lost == 0 { text } else { format!("[{} before this were not kept]\n{text}", counted(lost, "byte")) }
}

fn one(command: &Command) -> ProcessOutput {
    let output = new_output(command);
    ProcessOutput { processes: vec![ProcessState::of(command, Some(output))] }
}

fn spec(name: &'static str, aliases: &'static [&'static str], risk: Risk) -> ToolSpec {
    ToolSpec {
        name,
        aliases,
        category: Category::Shell,
        risk,
        time_limit: Duration::from_secs(LONGEST_WAIT + 10),
        output_limit: 50 * 1024,
    }
}

#[async_trait]
impl Tool for ProcessRead {
    type Input = ProcessReadInput;
    type Plan = ProcessReadInput;
    type Output = ProcessOutput;

    fn spec(&self) -> ToolSpec {
        spec("process_read", &["read_command_output", "bash_output"], Risk::Read)
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview =
            Preview { summary: "Read the output of a background command".to_owned(), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let Some(id) = input.id else {
            let all = self.commands.list();
            let processes = all.iter().map(|command| ProcessState::of(command, None)).collect();
            return Ok(ProcessOutput { processes });
        };
        let command = self.commands.find(id)?;
        let time = Duration::from_secs(input.wait.unwrap_or(0).min(LONGEST_WAIT));
        tokio::select! {
            () = command.wait(time) => Ok(one(&command)),
            () = ctx.cancel.cancelled() => Err(ToolError::interrupted("the wait was cancelled; the command runs on")),
        }
    }
}

#[async_trait]
impl Tool for ProcessInput {
    type Input = ProcessInputInput;
    type Plan = ProcessInputInput;
    type Output = ProcessOutput;

    fn spec(&self) -> ToolSpec {
        spec("process_input", &["bash_input"], Risk::Execute)
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let to = self.commands.find(input.id);
        let to = to.map_or_else(|_| String::new(), |command| format!(" (`{}`)", command.line));
        let preview = Preview {
            summary: format!("Write to background command {}{to}: {:?}", input.id, input.text),
            ..Preview::default()
        };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let command = self.commands.find(input.id)?;
        if ctx.access == WorkspaceAccess::ReadOnly && command.access == WorkspaceAccess::Full {
            return Err(ToolError::permission(format!(
                "background command {} was started in a mode that may edit, so it could change files; this mode may not \
                 type into it",
                input.id
            )));
        }
        command.write(input.text).await?;
        let time = Duration::from_secs(input.wait.unwrap_or(1).min(LONGEST_WAIT));
        tokio::select! {
            () = command.wait(time) => {}
            () = ctx.cancel.cancelled() => {}
        }
        Ok(one(&command))
    }
}

#[async_trait]
impl Tool for ProcessKill {
    type Input = ProcessKillInput;
    type Plan = ProcessKillInput;
    type Output = ProcessOutput;

    fn spec(&self) -> ToolSpec {
        spec("process_kill", &["kill_process", "kill_bash"], Risk::Control)
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview =
            Preview { summary: format!("End background command {}", input.id), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, _: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let command = self.commands.find(input.id)?;
        command.kill().await;
        Ok(one(&command))
    }
}
