//! Answers of the debugger's tools: an object that always has a `status`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use stepwell_debug::Error;
use stepwell_protocol::ErrorClass;
use stepwell_tool_runtime::{ToolError, ToolOutput};

/// An object, written without spaces: models pay for each.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Answer(Map<String, Value>);

impl Answer {
    pub fn success() -> Self {
        Self::of("success")
    }

    pub fn of(status: &str) -> Self {
        Self(Map::from_iter([("status".to_owned(), status.into())]))
    }

    /// Adds a field.
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.0.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// Adds a field where there is something to tell.
    pub fn maybe(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub fn notes(self, notes: &[String]) -> Self {
        if notes.is_empty() { self } else { self.with("notes", notes) }
    }
}

impl JsonSchema for Answer {
    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "status": { "type": "string" } },
            "required": ["status"],
        })
    }
}

impl ToolOutput for Answer {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Owned(serde_json::to_string(&self.0).unwrap_or_default())
    }
}

/// A failure in the same form, so that a program reads every answer alike.
pub fn failed(error: Error) -> ToolError {
    let class = match &error {
        Error::Parameter { .. } | Error::Expired { .. } | Error::NoSession { .. } | Error::NoSessionAtAll => {
            ErrorClass::ParameterError
        }
        _ => ErrorClass::ExecutionError,
    };
    let mut answer = json!({ "status": "error", "message": error.to_string() });
    if let Some(hint) = error.hint() {
        answer["hint"] = hint.into();
    }
    ToolError::new(class, answer.to_string())
}
