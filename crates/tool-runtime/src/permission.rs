//! Whether a call may run: allow, deny or ask.
//!
//! A [`PermissionJudge`] is asked once per call, with everything that is known about it. Its word binds to
//! exactly these arguments: the executor runs the very value that was judged. Whatever goes wrong on the way is
//! a refusal.

use std::collections::HashSet;

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use stepwell_protocol::{ApprovalAnswer, PermissionMode, Preview, Risk, TaskId};

use crate::Category;

/// What is judged.
#[derive(Clone, Debug)]
pub struct CallFacts {
    pub task: TaskId,
    /// The name the tool is registered under, whatever alias the call used.
    pub tool: String,
    pub category: Category,
    pub risk: Risk,
    /// The arguments as the tool will get them.
    pub arguments: Value,
    pub preview: Preview,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Deny { reason: String },
    Ask { reason: String },
}

#[async_trait]
pub trait PermissionJudge: Send + Sync {
    async fn judge(&self, facts: &CallFacts) -> Verdict;

    /// The person said yes for longer than this call.
    fn granted(&self, facts: &CallFacts, answer: &ApprovalAnswer);
}

/// Judges by mode and risk, and remembers what the person allowed for the session.
#[derive(Debug, Default)]
pub struct ModeJudge {
    mode: RwLock<PermissionMode>,
    grants: Mutex<HashSet<Grant>>,
}

/// What a yes for the session covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Grant {
    /// Every call of a tool.
    Tool { tool: String },
    /// Plain commands of one program, or of one subcommand (`cargo test`) where a program has them.
    Program { tool: String, program: String },
    /// One exact command, where it is more than one plain program call.
    Command { tool: String, command: String },
}

impl Grant {
    /// The grant that would cover a call.
    pub fn covering(facts: &CallFacts) -> Self {
        let tool = facts.tool.clone();
        match &facts.preview.command {
            None => Self::Tool { tool },
            Some(command) => match plain_program(command) {
                Some(program) => Self::Program { tool, program },
                None => Self::Command { tool, command: command.clone() },
            },
        }
    }
}

impl ModeJudge {
    pub fn new(mode: PermissionMode) -> Self {
        Self { mode: RwLock::new(mode), grants: Mutex::default() }
    }

    pub fn mode(&self) -> PermissionMode {
        *self.mode.read()
    }

    pub fn set_mode(&self, mode: PermissionMode) {
        *self.mode.write() = mode;
    }

    /// What the person allowed so far.
    pub fn grants(&self) -> Vec<Grant> {
        self.grants.lock().iter().cloned().collect()
    }
}

#[async_trait]
impl PermissionJudge for ModeJudge {
    async fn judge(&self, facts: &CallFacts) -> Verdict {
        let mode = self.mode();
        let verdict = by_mode(mode, facts.risk);
        match verdict {
            Verdict::Ask { .. } if self.grants.lock().contains(&Grant::covering(facts)) => Verdict::Allow,
            other => other,
        }
    }

    fn granted(&self, facts: &CallFacts, answer: &ApprovalAnswer) {
        if matches!(answer, ApprovalAnswer::YesForSession | ApprovalAnswer::Always) {
            self.grants.lock().insert(Grant::covering(facts));
        }
    }
}

/// The table of permission modes and risks.
pub fn by_mode(mode: PermissionMode, risk: Risk) -> Verdict {
    let what = match risk {
        Risk::Control | Risk::Read => return Verdict::Allow,
        Risk::Write => "changes to files",
        Risk::Execute => "commands",
        Risk::Network => "network access",
    };
    match mode {
        PermissionMode::BypassPermissions => Verdict::Allow,
        PermissionMode::AcceptEdits if risk == Risk::Write => Verdict::Allow,
        PermissionMode::Default | PermissionMode::AcceptEdits => {
            Verdict::Ask { reason: format!("{} mode asks before {what}", mode.name()) }
        }
        PermissionMode::Plan => Verdict::Deny {
            reason: format!("plan mode allows no {what}: only read, and describe what you would do"),
        },
        PermissionMode::DontAsk => {
            Verdict::Deny { reason: format!("dontAsk mode refuses {what} that no rule allows") }
        }
    }
}

/// Programs whose arguments are programs, or too dangerous to allow by their name alone.
const RUNNERS: &[&str] = &[
    "bash", "sh", "dash", "zsh", "fish", "env", "sudo", "doas", "su", "xargs", "nohup", "setsid", "timeout",
    "time", "nice", "ionice", "stdbuf", "watch", "find", "eval", "exec", "command", "builtin", "source", ".",
    "trap", "ssh", "docker", "podman", "chroot", "unshare", "parallel", "script", "strace", "gdb", "busybox",
    "python", "python3", "perl", "ruby", "node", "awk", "rm",
];

/// Programs whose second word says what they do: a yes to `git status` is none to `git push`.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "brew",
    "bun",
    "cargo",
    "deno",
    "dnf",
    "gh",
    "git",
    "go",
    "helm",
    "kubectl",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// The program of a command that is nothing but a call of it, with its subcommand where it has them: no
/// operators, substitutions, redirections, assignments or quoting tricks, so that the first words tell what runs.
fn plain_program(command: &str) -> Option<String> {
    let plain = command.chars().all(|character| {
        character.is_ascii_alphanumeric()
            || matches!(character, ' ' | '-' | '_' | '.' | '/' | ':' | ',' | '@' | '+' | '=' | '%')
    });
    let mut words = command.split_whitespace();
    let program = words.next()?;
    let base = program.rsplit('/').next().unwrap_or(program);
    if !plain || program.contains('=') || RUNNERS.contains(&base) {
        return None;
    }
    if !WITH_SUBCOMMANDS.contains(&base) {
        return Some(program.to_owned());
    }
    // Options before the subcommand change what it does (`git -c core.fsmonitor=./x status`), and git's own
    // write files and run programs (`--output`, `--upload-pack`, `-O`), in any abbreviation.
    let subcommand = words.next().filter(|word| !word.starts_with('-'))?;
    if base == "git" && words.any(|word| word.starts_with('-')) {
        return None;
    }
    Some(format!("{program} {subcommand}"))
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
