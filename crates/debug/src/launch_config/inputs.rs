//! The `inputs` of launch.json and tasks.json: what a person is asked before a configuration starts.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::context::Context;
use super::error::{LaunchError, Result};

/// An input a file declares, and all a door needs to ask for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputRequest {
    pub id: String,
    pub description: Option<String>,
    pub default: Option<String>,
    pub kind: InputKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum InputKind {
    PromptString {
        password: bool,
    },
    PickString {
        options: Vec<PickOption>,
    },
    /// An extension of the editor would give the value.
    Command {
        command: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PickOption {
    pub label: String,
    pub value: String,
}

impl InputRequest {
    /// `None` for an entry without an id or of a kind that does not exist.
    pub(super) fn from_json(fields: &Map<String, Value>) -> Option<Self> {
        let text = |key: &str| fields.get(key).and_then(plain_text);
        let kind = match fields.get("type").and_then(Value::as_str)? {
            "promptString" => InputKind::PromptString {
                password: fields.get("password").and_then(Value::as_bool).unwrap_or(false),
            },
            "pickString" => InputKind::PickString {
                options: fields
                    .get("options")
                    .and_then(Value::as_array)?
                    .iter()
                    .filter_map(pick_option)
                    .collect(),
            },
            "command" => InputKind::Command { command: text("command")? },
            _ => return None,
        };
        Some(Self { id: text("id")?, description: text("description"), default: text("default"), kind })
    }

    /// The value given, or the default; `None` when a person must be asked.
    pub(super) fn value(&self, ctx: &Context) -> Result<Option<String>> {
        let given = ctx.inputs.get(&self.id);
        match &self.kind {
            InputKind::PromptString { .. } => Ok(given.or(self.default.as_ref()).cloned()),
            InputKind::PickString { options } => {
                let Some(given) = given else { return Ok(self.default.clone()) };
                let chosen = options
                    .iter()
                    .find(|option| option.value == *given)
                    .or_else(|| options.iter().find(|option| option.label == *given));
                match chosen {
                    Some(option) => Ok(Some(option.value.clone())),
                    None => Err(LaunchError::BadInput {
                        id: self.id.clone(),
                        value: given.clone(),
                        options: options.iter().map(|option| option.value.clone()).collect(),
                    }),
                }
            }
            InputKind::Command { command } => Ok(given.or_else(|| ctx.commands.get(command)).cloned()),
        }
    }
}

impl fmt::Display for InputRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.id)?;
        if let Some(description) = &self.description {
            write!(formatter, " ({description})")?;
        }
        match &self.kind {
            InputKind::PromptString { .. } => Ok(()),
            InputKind::PickString { options } => {
                let values: Vec<_> = options.iter().map(|option| format!("`{}`", option.value)).collect();
                write!(formatter, ": one of {}", values.join(", "))
            }
            InputKind::Command { command } => {
                write!(formatter, ", which `{command}` would give in an editor")
            }
        }
    }
}

fn pick_option(option: &Value) -> Option<PickOption> {
    match option {
        Value::Object(fields) => {
            let value = plain_text(fields.get("value")?)?;
            let label = fields.get("label").and_then(plain_text).unwrap_or_else(|| value.clone());
            Some(PickOption { label, value })
        }
        other => plain_text(other).map(|value| PickOption { label: value.clone(), value }),
    }
}

/// A value as JavaScript would put it into a string; lists and objects have no such form here.
pub(super) fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
