//! What can be wrong with a configuration, with the value that is wrong and what to do.

use std::path::PathBuf;
use std::time::Duration;

use super::inputs::InputRequest;

pub type Result<T> = std::result::Result<T, LaunchError>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
    #[error("`{path}` is broken in line {line}, column {column}: {problem}")]
    Broken { path: PathBuf, line: usize, column: usize, problem: String },
    #[error("`{path}` cannot be used: {problem}")]
    Shape { path: PathBuf, problem: String },
    #[error("there is no configuration `{name}`{}", listed("; there are", known))]
    UnknownConfiguration { name: String, known: Vec<String> },
    #[error("configuration `{name}` {problem}")]
    BadConfiguration { name: String, problem: String },
    #[error("`{variable}` cannot be resolved: {reason}")]
    Variable { variable: String, reason: String },
    #[error("{}", missing(inputs))]
    MissingInputs { inputs: Vec<InputRequest> },
    #[error("`{value}` is no choice for input `{id}`{}", listed("; choose one of", options))]
    BadInput { id: String, value: String, options: Vec<String> },
    #[error("`${{command:{command}}}` needs an editor's extension")]
    Command { command: String },
    #[error("`${{command:{command}}}` asks which process is meant")]
    PickProcess { command: String },
    #[error("the configuration grows beyond {limit} bytes when its variables are resolved")]
    TooLong { limit: usize },
    #[error("configuration type `{kind}` cannot run here: {reason}")]
    Refused { kind: String, reason: String },
    #[error("there is no task `{label}`{}", listed("; there are", known))]
    UnknownTask { label: String, known: Vec<String> },
    #[error("task `{label}` {problem}")]
    BadTask { label: String, problem: String },
    #[error("tasks wait for each other: {}", labels.join(" -> "))]
    TaskCycle { labels: Vec<String> },
    #[error("task `{label}` {how}{}", tail_of(tail))]
    TaskFailed { label: String, how: String, tail: String },
    #[error("task `{label}` was not {awaited} within {} seconds{}", limit.as_secs(), tail_of(tail))]
    TaskTimedOut { label: String, awaited: &'static str, limit: Duration, tail: String },
    #[error("task `{label}` was cancelled")]
    TaskCancelled { label: String },
}

impl LaunchError {
    /// What to do next, where that can be said.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Workspace(error) => return error.hint(),
            Self::Broken { .. } => "mend the file at that place; comments and trailing commas are fine",
            Self::Shape { .. } | Self::BadConfiguration { .. } => "mend the configuration and try again",
            Self::UnknownConfiguration { .. } => "name one of the configurations exactly as it is written",
            Self::Variable { .. } => "give what the variable stands for, or write the value itself",
            Self::MissingInputs { .. } => "give a value for each as `inputs`",
            Self::BadInput { .. } => "give one of the choices",
            Self::Command { .. } => "give its value as `commands`, or write the value into the configuration",
            Self::PickProcess { .. } => "choose one of the running processes and give its number",
            Self::TooLong { .. } => "look for a variable whose value contains itself",
            Self::Refused { .. } => "use another type, or name the program to debug directly",
            Self::UnknownTask { .. } => "name a task of tasks.json, or start without it",
            Self::BadTask { .. } => "mend the task in tasks.json",
            Self::TaskCycle { .. } => "take one of these out of `dependsOn`",
            Self::TaskFailed { .. } => "mend what the output says, or start without the task",
            Self::TaskTimedOut { .. } => "allow more time, or check the pattern that says the task is ready",
            Self::TaskCancelled { .. } => return None,
        })
    }
}

/// `; there are a, b`, or nothing.
fn listed(before: &str, names: &[String]) -> String {
    const MOST: usize = 20;
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<_> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST { format!(" and {} more", names.len() - MOST) } else { String::new() };
    format!("{before} {}{more}", shown.join(", "))
}

fn missing(inputs: &[InputRequest]) -> String {
    let each: Vec<_> = inputs.iter().map(ToString::to_string).collect();
    format!("values are needed for {}", each.join("; "))
}

fn tail_of(tail: &str) -> String {
    let tail = tail.trim_end();
    if tail.is_empty() { String::new() } else { format!("; the output ends with:\n{tail}") }
}
