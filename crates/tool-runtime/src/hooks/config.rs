//! The settings form of hooks.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::{Group, HookCommand, HookEvent, Hooks};

const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Clone, Debug, thiserror::Error)]
pub enum HookConfigError {
    #[error("there is no hook event `{event}`; events: {}", known_events())]
    UnknownEvent { event: String },
    #[error("hooks must be an object of event names, got {got}")]
    NoObject { got: String },
    #[error("hooks of `{event}`: {reason}")]
    BadGroup { event: String, reason: String },
    #[error("hooks of `{event}`: the matcher `{matcher}` is no regular expression: {reason}")]
    BadMatcher { event: String, matcher: String, reason: String },
}

/// Events that other agents know: settings shared with them are no mistake.
const OF_OTHERS: &[&str] = &[
    "ConfigChange",
    "Elicitation",
    "ElicitationResult",
    "InstructionsLoaded",
    "PermissionRequest",
    "PostCompact",
    "PreCompact",
    "Setup",
    "TaskCompleted",
    "TeammateIdle",
    "WorktreeCreate",
    "WorktreeRemove",
];

fn known_events() -> String {
    HookEvent::ALL.map(HookEvent::name).join(", ")
}

#[derive(Deserialize)]
struct GroupSettings {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<HookSettings>,
}

#[derive(Deserialize)]
struct HookSettings {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    /// Seconds.
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    once: bool,
    #[serde(rename = "if", default)]
    condition: Option<String>,
}

pub(super) fn read(settings: &Value) -> Result<Hooks, HookConfigError> {
    let events = settings.get("hooks").unwrap_or(settings);
    let Some(events) = events.as_object() else {
        return Err(HookConfigError::NoObject { got: events.to_string().chars().take(80).collect() });
    };
    let mut hooks = Hooks::none();
    for (name, groups) in events {
        let Some(event) = HookEvent::ALL.into_iter().find(|event| event.name() == name) else {
            if !OF_OTHERS.contains(&name.as_str()) {
                return Err(HookConfigError::UnknownEvent { event: name.clone() });
            }
            hooks.warnings.push(format!("hooks of `{name}` are not called: Stepwell has no such event"));
            continue;
        };
        let settings: Vec<GroupSettings> = serde_json::from_value(groups.clone())
            .map_err(|error| HookConfigError::BadGroup { event: name.clone(), reason: error.to_string() })?;
        for group in settings {
            let group = read_group(name, group, &mut hooks.warnings)?;
            hooks.groups.entry(event).or_default().push(group);
        }
    }
    Ok(hooks)
}

fn read_group(
    event: &str,
    settings: GroupSettings,
    warnings: &mut Vec<String>,
) -> Result<Group, HookConfigError> {
    let matcher = match settings.matcher.as_deref() {
        None | Some("" | "*") => None,
        Some(pattern) => {
            Some(Regex::new(&format!("^(?:{pattern})$")).map_err(|error| HookConfigError::BadMatcher {
                event: event.to_owned(),
                matcher: pattern.to_owned(),
                reason: error.to_string(),
            })?)
        }
    };
    let mut commands = Vec::new();
    for hook in settings.hooks {
        let kind = hook.kind.as_deref().unwrap_or("command");
        let Some(command) = hook.command.filter(|_| kind == "command") else {
            warnings.push(format!("a hook of `{event}` is left out: the type `{kind}` is not supported"));
            continue;
        };
        if let Some(condition) = hook.condition {
            warnings.push(format!(
                "the hook `{command}` of `{event}` is left out: its condition `{condition}` is not supported"
            ));
            continue;
        }
        let timeout = hook
            .timeout
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|timeout| !timeout.is_zero())
            .unwrap_or(DEFAULT_TIMEOUT)
            .min(LONGEST_TIMEOUT);
        commands.push(HookCommand {
            command,
            args: hook.args,
            timeout,
            once: hook.once,
            ran: AtomicBool::new(false),
        });
    }
    Ok(Group { matcher, commands })
}

/// The name under which other agents know one of our tools, so that their hooks work unchanged.
pub(super) fn common_name(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "bash" => "Bash",
        "read" => "Read",
        "write" => "Write",
        "edit" => "Edit",
        "list" => "LS",
        "glob" => "Glob",
        "grep" => "Grep",
        "todowrite" => "TodoWrite",
        "todoread" => "TodoRead",
        "fetch" => "WebFetch",
        "web_search" => "WebSearch",
        "new_task" => "Task",
        _ => return None,
    })
}
