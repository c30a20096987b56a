//! From what a model wrote to arguments a tool can run with.
//!
//! Three steps, each in its own module: [`repair`] makes JSON of text, [`coerce`](mod@coerce) bends values to the schema
//! where the meaning is beyond doubt (`"5"` for 5, one value for a list of one, tags for an object), [`explain`] says what is
//! wrong with the rest so that the model can send it right. What was cut off in the middle is never completed
//! by guessing for a tool that changes anything: half a command is another command.

mod coerce;
mod explain;
mod nested;
mod repair;

use jsonschema::Validator;
use serde_json::{Map, Value};
use stepwell_protocol::Risk;

use crate::ToolError;
use crate::near_names::{did_you_mean, near_names};
use crate::wording::counted;

pub use coerce::coerce;
pub(crate) use coerce::required;

/// Arguments that fit the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    pub arguments: Value,
    /// What was bent or left out, for the model to know.
    pub notes: Vec<String>,
}

/// What is known about a tool's arguments.
pub struct ArgumentSchema {
    schema: Value,
    validator: Option<Validator>,
}

impl ArgumentSchema {
    /// A schema that cannot be compiled (a foreign tool's) is not checked; the tool judges for itself.
    pub fn new(schema: Value) -> Self {
        let validator = jsonschema::draft202012::new(&schema).ok();
        Self { schema, validator }
    }

    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Repairs, coerces and validates.
    pub fn prepare(&self, raw: &Value, risk: Risk) -> Result<Prepared, ToolError> {
        let repaired = repair::to_object(raw).map_err(ToolError::parameter)?;
        if repaired.truncated && risk != Risk::Read {
            return Err(ToolError::parameter(format!(
                "the arguments end in the middle ({} arrived), so the call was not run; send the call again, \
                 in smaller parts if it is long",
                counted(repaired.bytes as u64, "byte")
            )));
        }
        let mut arguments = Value::Object(repaired.object);
        coerce(&mut arguments, &self.schema);
        let mut notes = Vec::new();
        if repaired.truncated {
            notes.push("the arguments ended in the middle; what arrived was used".to_owned());
        }
        let unknown = self.unknown_fields(&arguments);
        let missing = self.missing_fields(&arguments);
        if !missing.is_empty() {
            return Err(ToolError::parameter(explain::missing(&self.schema, &arguments, &missing, &unknown)));
        }
        if let Some(object) = arguments.as_object_mut() {
            for field in &unknown {
                object.shift_remove(field);
                notes.push(self.unknown_note(field));
            }
        }
        if let Some(validator) = &self.validator {
            let problems: Vec<String> =
                validator.iter_errors(&arguments).take(5).map(|error| explain::problem(&error)).collect();
            if !problems.is_empty() {
                return Err(ToolError::parameter(explain::invalid(&self.schema, &problems)));
            }
        }
        Ok(Prepared { arguments, notes })
    }

    fn properties(&self) -> Option<&Map<String, Value>> {
        self.schema.get("properties").and_then(Value::as_object)
    }

    fn unknown_fields(&self, arguments: &Value) -> Vec<String> {
        let open = self.schema.get("additionalProperties").is_some_and(|extra| *extra != Value::Bool(false));
        let (Some(properties), Some(object), false) = (self.properties(), arguments.as_object(), open) else {
            return Vec::new();
        };
        object.keys().filter(|key| !properties.contains_key(*key)).cloned().collect()
    }

    fn missing_fields(&self, arguments: &Value) -> Vec<String> {
        coerce::required(&self.schema)
            .filter(|field| arguments.get(field).is_none())
            .map(str::to_owned)
            .collect()
    }

    fn unknown_note(&self, field: &str) -> String {
        let known = self.properties().into_iter().flat_map(Map::keys).map(String::as_str);
        match did_you_mean(&near_names(field, known)) {
            help if help.is_empty() => format!("unknown argument `{field}` was ignored"),
            help => format!("unknown argument `{field}` was ignored; {help}"),
        }
    }
}

#[cfg(test)]
#[path = "arguments/tests.rs"]
mod tests;
