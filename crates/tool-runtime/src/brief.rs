//! Tools told in fewer words, for models whose window has no room for all of them.

use std::sync::Arc;

use serde_json::{Map, Value};
use stepwell_protocol::ToolDefinition;

use crate::Registry;

/// Optional arguments a brief definition still names; the others are understood all the same.
const OPTIONAL_NAMED: usize = 3;
/// Characters of a brief description.
const LONGEST: usize = 120;

/// How much a model is told about the tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    #[default]
    Full,
    /// Every tool in a line.
    Brief,
    /// The basic tools in a line each.
    Basic,
}

impl Detail {
    /// The next shorter form.
    pub fn less(self) -> Option<Self> {
        match self {
            Self::Full => Some(Self::Brief),
            Self::Brief => Some(Self::Basic),
            Self::Basic => None,
        }
    }
}

/// The definitions at a level of detail.
pub fn at_detail(full: &Arc<[ToolDefinition]>, registry: &Registry, detail: Detail) -> Arc<[ToolDefinition]> {
    let is_basic =
        |tool: &&ToolDefinition| registry.get(&tool.name).is_some_and(|tool| tool.tool().is_basic());
    match detail {
        Detail::Full => Arc::clone(full),
        Detail::Brief => full.iter().map(brief).collect(),
        // A set without any of them is small.
        Detail::Basic if !full.iter().any(|tool| is_basic(&tool)) => full.iter().map(brief).collect(),
        Detail::Basic => full.iter().filter(is_basic).map(brief).collect(),
    }
}

fn brief(tool: &ToolDefinition) -> ToolDefinition {
    let first = tool.description.split(['\n', ':']).next().unwrap_or_default();
    let sentence = first.split_once(". ").map_or(first, |(sentence, _)| sentence);
    let input_schema = brief_schema(&tool.input_schema);
    ToolDefinition {
        name: tool.name.clone(),
        description: sentence.chars().take(LONGEST).collect(),
        input_schema,
        forms: tool.forms.clone(),
    }
}

/// Types, choices and names of a schema, without its words.
fn brief_schema(schema: &Value) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let required = |name: &str| {
        let names = object.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let mut short = Map::new();
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("type" | "enum" | "required", value) => drop(short.insert(keyword.clone(), value.clone())),
            ("items", items) => drop(short.insert(keyword.clone(), brief_schema(items))),
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                let choices = choices.iter().map(brief_schema).collect();
                short.insert(keyword.clone(), Value::Array(choices));
            }
            ("properties", Value::Object(properties)) => {
                let mut optional = 0;
                let named = properties.iter().filter(|(name, _)| {
                    optional += usize::from(!required(name));
                    required(name) || optional <= OPTIONAL_NAMED
                });
                let named = named.map(|(name, property)| (name.clone(), brief_schema(property)));
                short.insert(keyword.clone(), Value::Object(named.collect()));
            }
            _ => {}
        }
    }
    Value::Object(short)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stepwell_protocol::CallForms;

    use super::*;

    #[test]
    fn a_brief_tool_keeps_names_and_types() {
        let tool = ToolDefinition {
            name: "read".into(),
            description: "Reads files: text, images. More words.\n\nAnd more.".into(),
            input_schema: json!({"type": "object", "required": ["path"], "properties": {
                "path": {"type": "string", "description": "Where."},
                "a": {"type": "integer", "minimum": 1}, "b": {"enum": ["x"], "default": "x"},
                "c": {"type": "array", "items": {"type": "object", "description": "w", "properties": {}}},
                "d": {"type": "string"},
            }}),
            forms: CallForms::default(),
        };
        let short = brief(&tool);
        assert_eq!(short.description, "Reads files");
        assert_eq!(
            short.input_schema,
            json!({"type": "object", "required": ["path"], "properties": {
                "path": {"type": "string"}, "a": {"type": "integer"}, "b": {"enum": ["x"]},
                "c": {"type": "array", "items": {"type": "object", "properties": {}}},
            }})
        );
    }
}
