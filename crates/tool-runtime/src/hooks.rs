//! Programs of the person's that are told what happens and may have a say in it, in the common JSON form.
//!
//! A hook is a command. It gets a JSON object on standard input; exit code 0 lets things go on (its standard
//! output may hold a JSON answer), 2 blocks with standard error as the reason, anything else is only a notice. But a
//! `PreToolUse` hook that cannot be started, crashes or runs too long blocks the call: it could not say no.
//! Several hooks of an event run side by side and a denial wins. A hook can refuse what would be allowed and
//! allow what would be asked; it can never allow what is denied.

mod answer;
mod config;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use regex::Regex;
use serde_json::{Map, Value, json};
use stepwell_protocol::{PermissionMode, ToolCallId};
use tokio_util::sync::CancellationToken;

use crate::{RegisteredTool, Registry};

pub use answer::{HookOutcome, HookPermission};
pub use config::HookConfigError;

/// When hooks are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    UserPromptSubmit,
    Stop,
    /// In a sub-task, instead of `SessionStart`.
    SubagentStart,
    /// In a sub-task, instead of `Stop`.
    SubagentStop,
    SessionStart,
    SessionEnd,
    Notification,
}

impl HookEvent {
    pub const ALL: [Self; 10] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::SessionStart,
        Self::SessionEnd,
        Self::Notification,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Notification => "Notification",
        }
    }
}

/// What every hook is told about the task.
#[derive(Clone, Debug, Default)]
pub struct HookFacts {
    pub session_id: String,
    pub transcript_path: PathBuf,
    pub cwd: PathBuf,
    pub permission_mode: PermissionMode,
}

/// The tool of a call, by every name a matcher may use.
#[derive(Clone, Debug)]
pub struct HookTool {
    pub name: String,
    pub aliases: &'static [&'static str],
}

/// One thing that happened, or is about to.
#[derive(Clone, Debug)]
pub enum HookCall {
    PreToolUse {
        tool: HookTool,
        input: Value,
        call_id: ToolCallId,
    },
    PostToolUse {
        tool: HookTool,
        input: Value,
        call_id: ToolCallId,
        response: Value,
    },
    PostToolUseFailure {
        tool: HookTool,
        input: Value,
        call_id: ToolCallId,
        error: String,
    },
    UserPromptSubmit {
        prompt: String,
    },
    /// `active` tells that the run goes on only because a stop hook said so before.
    Stop {
        active: bool,
    },
    SubagentStart {
        agent: HookAgent,
    },
    SubagentStop {
        agent: HookAgent,
        active: bool,
    },
    /// `startup` or `resume`.
    SessionStart {
        source: String,
    },
    SessionEnd {
        reason: String,
    },
    Notification {
        message: String,
    },
}

/// The sub-task that a hook event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookAgent {
    pub id: String,
    /// Its sub-agent, or its mode.
    pub name: String,
}

/// A process to run for a hook.
#[derive(Clone, Debug)]
pub struct HookProcess {
    pub command: String,
    /// With arguments the command is a program; without it is a line for the shell.
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    pub cwd: PathBuf,
    pub environment: Vec<(String, String)>,
    pub timeout: Duration,
    pub cancel: CancellationToken,
}

/// How a hook's process ended.
#[derive(Clone, Debug)]
pub enum HookExit {
    Exited { code: i32, stdout: String, stderr: String },
    TimedOut,
    Failed { reason: String },
}

impl HookExit {
    /// The kind of the exit in a word, without what the hook wrote.
    fn label(&self) -> &'static str {
        match self {
            Self::Exited { code: 0, .. } => "success",
            Self::Exited { .. } => "failure",
            Self::TimedOut => "timeout",
            Self::Failed { .. } => "not started",
        }
    }
}

/// Runs processes; this crate may not. Kills the whole process group at the time limit.
#[async_trait]
pub trait HookRunner: Send + Sync {
    async fn run(&self, process: HookProcess) -> HookExit;
}

/// The hooks of a task.
#[derive(Default)]
pub struct Hooks {
    groups: BTreeMap<HookEvent, Vec<Group>>,
    runner: Option<Arc<dyn HookRunner>>,
    warnings: Vec<String>,
}

struct Group {
    /// Absent: everything.
    matcher: Option<Regex>,
    commands: Vec<HookCommand>,
}

struct HookCommand {
    command: String,
    args: Vec<String>,
    timeout: Duration,
    once: bool,
    ran: AtomicBool,
}

impl Hooks {
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads `{"hooks": {Event: [...]}}` or the inner object. What is valid but not supported is left out and
    /// told in [`Hooks::warnings`].
    pub fn from_json(settings: &Value, runner: Arc<dyn HookRunner>) -> Result<Self, HookConfigError> {
        let mut hooks = config::read(settings)?;
        hooks.runner = Some(runner);
        Ok(hooks)
    }

    /// Adds the hooks of another layer of settings after these.
    pub fn merge(&mut self, other: Self) {
        for (event, groups) in other.groups {
            self.groups.entry(event).or_default().extend(groups);
        }
        self.runner = self.runner.take().or(other.runner);
        self.warnings.extend(other.warnings);
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The matchers of hooks on tools that no tool has the name for. Tools of MCP servers may come later.
    pub fn unknown_tools(&self, registry: &Registry) -> Vec<String> {
        let on_tools = [HookEvent::PreToolUse, HookEvent::PostToolUse, HookEvent::PostToolUseFailure];
        let groups = on_tools.iter().filter_map(|event| self.groups.get(event)).flatten();
        let tools = registry.list(None, None);
        let deaf = groups.filter(|group| {
            let hears = |tool: &Arc<RegisteredTool>| match group.hears(Some(tool.name()), tool.spec().aliases)
            {
                Hears::As(_) => true,
                Hears::Nothing => false,
            };
            !tools.iter().any(hears)
        });
        let matchers = deaf.filter_map(|group| group.matcher.as_ref());
        let written = matchers
            .map(|matcher| matcher.as_str().trim_start_matches("^(?:").trim_end_matches(")$").to_owned());
        written.filter(|matcher| !matcher.contains("mcp__")).collect()
    }

    /// Whether any hook listens; a cheap question for callers that would have to prepare much.
    pub fn listens(&self, event: HookEvent) -> bool {
        self.runner.is_some() && self.groups.get(&event).is_some_and(|groups| !groups.is_empty())
    }

    /// Calls the hooks of an event side by side and puts their answers together.
    pub async fn fire(&self, facts: &HookFacts, call: &HookCall, cancel: &CancellationToken) -> HookOutcome {
        let Some(runner) = self.runner.as_ref().filter(|_| self.listens(call.event())) else {
            return HookOutcome::default();
        };
        let subject = call.subject();
        let mut runs = Vec::new();
        for group in self.groups.get(&call.event()).into_iter().flatten() {
            let heard_as = match group.hears(subject, call.aliases()) {
                Hears::As(name) => name,
                Hears::Nothing => continue,
            };
            let input = format!("{}\n", call.to_json(facts, heard_as));
            for command in &group.commands {
                if command.once && command.ran.swap(true, Ordering::AcqRel) {
                    continue;
                }
                runs.push(run_command(runner.as_ref(), command, input.clone().into_bytes(), facts, cancel));
            }
        }
        let exits = futures::future::join_all(runs).await;
        let mut outcome = HookOutcome::default();
        for (command, exit) in exits {
            tracing::info!(event = ?call.event(), exit = exit.label(), "hook ran");
            outcome.add(call.event(), command, exit);
        }
        outcome
    }
}

async fn run_command<'a>(
    runner: &dyn HookRunner,
    command: &'a HookCommand,
    stdin: Vec<u8>,
    facts: &HookFacts,
    cancel: &CancellationToken,
) -> (&'a str, HookExit) {
    let project = facts.cwd.display().to_string();
    let process = HookProcess {
        command: command.command.clone(),
        args: command.args.clone(),
        stdin,
        cwd: facts.cwd.clone(),
        environment: vec![
            ("STEPWELL_PROJECT_DIR".to_owned(), project.clone()),
            ("CLAUDE_PROJECT_DIR".to_owned(), project),
        ],
        timeout: command.timeout,
        cancel: cancel.clone(),
    };
    (&command.command, runner.run(process).await)
}

impl Group {
    fn hears<'a>(&self, subject: Option<&'a str>, aliases: &'static [&'static str]) -> Hears<'a> {
        let (Some(matcher), Some(subject)) = (&self.matcher, subject) else { return Hears::As(subject) };
        if matcher.is_match(subject) {
            return Hears::As(Some(subject));
        }
        let mut others = config::common_name(subject).into_iter().chain(aliases.iter().copied());
        match others.find(|other| matcher.is_match(other)) {
            Some(other) => Hears::As(Some(other)),
            None => Hears::Nothing,
        }
    }
}

/// Whether a group listens to a subject, and under which name it hears of it.
enum Hears<'a> {
    As(Option<&'a str>),
    Nothing,
}

impl HookCall {
    pub fn event(&self) -> HookEvent {
        match self {
            Self::PreToolUse { .. } => HookEvent::PreToolUse,
            Self::PostToolUse { .. } => HookEvent::PostToolUse,
            Self::PostToolUseFailure { .. } => HookEvent::PostToolUseFailure,
            Self::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            Self::Stop { .. } => HookEvent::Stop,
            Self::SubagentStart { .. } => HookEvent::SubagentStart,
            Self::SubagentStop { .. } => HookEvent::SubagentStop,
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::SessionEnd { .. } => HookEvent::SessionEnd,
            Self::Notification { .. } => HookEvent::Notification,
        }
    }

    /// What a matcher is held against.
    fn subject(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { tool, .. }
            | Self::PostToolUse { tool, .. }
            | Self::PostToolUseFailure { tool, .. } => Some(&tool.name),
            Self::SubagentStart { agent } | Self::SubagentStop { agent, .. } => Some(&agent.name),
            Self::SessionStart { source } => Some(source),
            Self::SessionEnd { reason } => Some(reason),
            Self::UserPromptSubmit { .. } | Self::Stop { .. } | Self::Notification { .. } => None,
        }
    }

    fn aliases(&self) -> &'static [&'static str] {
        match self {
            Self::PreToolUse { tool, .. }
            | Self::PostToolUse { tool, .. }
            | Self::PostToolUseFailure { tool, .. } => tool.aliases,
            _ => &[],
        }
    }

    fn to_json(&self, facts: &HookFacts, heard_as: Option<&str>) -> Value {
        let mut input = Map::new();
        let mut put = |name: &str, value: Value| {
            input.insert(name.to_owned(), value);
        };
        put("session_id", json!(facts.session_id));
        put("transcript_path", json!(facts.transcript_path));
        put("cwd", json!(facts.cwd));
        put("permission_mode", json!(facts.permission_mode));
        put("hook_event_name", json!(self.event().name()));
        match self {
            Self::PreToolUse { input: arguments, call_id, .. } => {
                put("tool_name", json!(heard_as));
                put("tool_input", arguments.clone());
                put("tool_use_id", json!(call_id));
            }
            Self::PostToolUse { input: arguments, call_id, response, .. } => {
                put("tool_name", json!(heard_as));
                put("tool_input", arguments.clone());
                put("tool_use_id", json!(call_id));
                put("tool_response", response.clone());
            }
            Self::PostToolUseFailure { input: arguments, call_id, error, .. } => {
                put("tool_name", json!(heard_as));
                put("tool_input", arguments.clone());
                put("tool_use_id", json!(call_id));
                put("error", json!(error));
            }
            Self::UserPromptSubmit { prompt } => put("prompt", json!(prompt)),
            Self::Stop { active } => put("stop_hook_active", json!(active)),
            Self::SubagentStart { agent } => {
                put("agent_id", json!(agent.id));
                put("agent_type", json!(agent.name));
            }
            Self::SubagentStop { agent, active } => {
                put("agent_id", json!(agent.id));
                put("agent_type", json!(agent.name));
                put("agent_transcript_path", json!(facts.transcript_path));
                put("stop_hook_active", json!(active));
            }
            Self::SessionStart { source } => put("source", json!(source)),
            Self::SessionEnd { reason } => put("reason", json!(reason)),
            Self::Notification { message } => put("message", json!(message)),
        }
        Value::Object(input)
    }
}

#[cfg(test)]
#[path = "hooks/tests.rs"]
mod tests;
