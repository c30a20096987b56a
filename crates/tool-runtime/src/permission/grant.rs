//! What a yes for longer than one call covers. What the person is shown is what is kept, word for word.

use std::fmt;

use super::{CallFacts, Effect, Finding};
use crate::shell::{Analysis, Part, base_name, visible};

/// A permission the person gives beyond one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Rules in the form settings have them.
    Rules(Vec<String>),
    /// One command line and nothing else.
    Exact { tool: String, command: String },
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules(rules) => {
                let quoted: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
                f.write_str(&quoted.join(", "))
            }
            Self::Exact { command, .. } => write!(f, "exactly `{}`", visible(command)),
        }
    }
}

/// Keeps grants beyond the task; the one who assembles the program gives an implementation.
pub trait GrantKeeper: Send + Sync {
    fn keep(&self, grant: &Grant) -> Result<(), String>;
}

/// The grants that would cover a call, the widest first.
pub(super) fn candidates(facts: &CallFacts, analysis: Option<&Analysis>, findings: &[Finding]) -> Vec<Grant> {
    let Some(command) = &facts.preview.command else {
        let hosts = &facts.preview.hosts;
        let rules = if hosts.is_empty() {
            vec![facts.tool.clone()]
        } else {
            // A yes is for the host, whatever the port.
            hosts.iter().map(|host| format!("network({})", without_port(host))).collect()
        };
        return vec![Grant::Rules(rules)];
    };
    let by_words = analysis.and_then(|analysis| by_words(facts, analysis, findings)).map(Grant::Rules);
    let exact = Grant::Exact { tool: facts.tool.clone(), command: command.clone() };
    by_words.into_iter().chain([exact]).collect()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

/// A rule for each part that needs one, where all of them are plain.
fn by_words(facts: &CallFacts, analysis: &Analysis, findings: &[Finding]) -> Option<Vec<String>> {
    if analysis.opaque().is_some() || !analysis.functions.is_empty() {
        return None;
    }
    let mut rules: Vec<String> = Vec::new();
    for part in analysis.parts.iter().filter(|part| !part.transparent && !part.words.is_empty()) {
        let needs = findings.iter().any(|finding| {
            finding.what == part.source && finding.within == part.within && finding.effect == Effect::Ask
        });
        if needs {
            let rule = format!("{}({} *)", facts.tool, beginning(part)?);
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    (!rules.is_empty()).then_some(rules)
}

/// Programs too dangerous to allow by their name: what they do is in their operands.
const ONLY_EXACTLY: &[&str] = &[
    "rm",
    "rmdir",
    "mv",
    "cp",
    "dd",
    "ln",
    "install",
    "shred",
    "truncate",
    "tee",
    "chmod",
    "chown",
    "chgrp",
    "kill",
    "pkill",
    "killall",
    "sudo",
    "doas",
    "pkexec",
    "curl",
    "wget",
    "nc",
    "ncat",
    "scp",
    "sftp",
    "rsync",
    "find",
    "xargs",
    "awk",
    "sed",
    "perl",
    "ruby",
    "python",
    "python3",
    "node",
    "php",
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "mount",
    "umount",
    "systemctl",
    "service",
    "iptables",
    "crontab",
    "export",
    "eval",
    "exec",
    "env",
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
    "terraform",
    "uv",
    "yarn",
    "dotnet",
    "gradle",
    "mvn",
    "bazel",
    "just",
    "make",
    "docker",
];
/// Subcommands whose third word says what they do.
const WITH_SCRIPTS: &[&str] = &["run", "tool", "task", "script"];
/// Subcommands that fetch and run what others wrote, or change what is elsewhere.
const ONLY_EXACTLY_SUBCOMMANDS: &[&str] = &[
    "push",
    "reset",
    "clean",
    "rebase",
    "checkout",
    "restore",
    "filter-branch",
    "install",
    "add",
    "remove",
    "uninstall",
    "publish",
    "exec",
    "x",
    "dlx",
    "apply",
    "delete",
    "destroy",
    "auth",
    "login",
    "login",
    "release",
    "deploy",
    "upgrade",
    "update",
    "init",
    "create",
];

/// The words a rule for a part begins with.
fn beginning(part: &Part) -> Option<String> {
    let program = part.program()?;
    let base = base_name(program);
    let safe = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '+'))
    };
    if !safe(program)
        || ONLY_EXACTLY.contains(&base)
        || !part.redirected.is_empty()
        || !part.assignments.is_empty()
    {
        return None;
    }
    if !WITH_SUBCOMMANDS.contains(&base) {
        return Some(program.to_owned());
    }
    let mut words = part.arguments().iter();
    let subcommand = words.next()?.known().filter(|word| safe(word) && !word.starts_with('-'))?;
    if ONLY_EXACTLY_SUBCOMMANDS.contains(&subcommand) {
        return None;
    }
    if WITH_SCRIPTS.contains(&subcommand) && base != "cargo" && base != "go" {
        let script = words.next()?.known().filter(|word| safe(word) && !word.starts_with('-'))?;
        return Some(format!("{program} {subcommand} {script}"));
    }
    Some(format!("{program} {subcommand}"))
}
