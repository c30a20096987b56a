//! Tools as clients are told of them: small, in a stable order, with hints that follow from risk and category.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use stepwell_protocol::{Risk, ToolDefinition};
use stepwell_tool_runtime::{RegisteredTool, Registry, ToolGate};

/// The list of a registry, made anew only when its tools change.
#[derive(Default)]
pub(crate) struct ToolList {
    made: parking_lot::Mutex<Option<Made>>,
}

/// A list and what it was made of.
struct Made {
    of: Arc<[ToolDefinition]>,
    tools: Vec<Tool>,
}

impl ToolList {
    pub(crate) fn get(&self, registry: &Registry, gate: &ToolGate) -> Vec<Tool> {
        let definitions = gate.definitions(registry);
        let mut made = self.made.lock();
        if let Some(made) = made.as_ref()
            && Arc::ptr_eq(&made.of, &definitions)
        {
            return made.tools.clone();
        }
        let offered = definitions.iter().filter_map(|definition| registry.get(&definition.name));
        let tools: Vec<Tool> = offered.map(|tool| described(&tool)).collect();
        *made = Some(Made { of: definitions, tools: tools.clone() });
        tools
    }
}

/// One tool as clients see it.
pub(crate) fn described(tool: &RegisteredTool) -> Tool {
    let definition = tool.definition();
    let input = definition.input_schema.as_object().cloned().unwrap_or_default();
    let mut described = Tool::new(
        Cow::Owned(definition.name.clone()),
        Cow::Owned(definition.description.clone()),
        Arc::new(input),
    )
    .with_annotations(annotations(tool.name(), tool.spec().risk));
    if let Some(schema) = structured_schema(tool) {
        described = described.with_raw_output_schema(Arc::new(schema));
    }
    described
}

fn annotations(name: &str, risk: Risk) -> ToolAnnotations {
    let reads = risk <= Risk::Read;
    let annotations = ToolAnnotations::with_title(title(name)).read_only(reads);
    match risk {
        Risk::Control | Risk::Read => annotations.idempotent(true).open_world(false),
        Risk::Write => annotations.destructive(true).idempotent(false).open_world(false),
        // What a program does is known to nobody before it has run.
        Risk::Execute => annotations.destructive(true).idempotent(false).open_world(true),
        Risk::Network => annotations.destructive(false).idempotent(false).open_world(true),
    }
}

/// `set_breakpoint` as a person reads it: "Set breakpoint".
fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut characters = words.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => words,
    }
}

/// The schema of a tool's structured result. Tools whose answer is data have one; those whose answer is a text, such as
/// the content of a file or the output of a command, give that text alone: told a second time as JSON it would cost
/// twice, and clients that prefer the JSON would show a model escaped lines.
pub(crate) fn structured_schema(tool: &RegisteredTool) -> Option<Map<String, Value>> {
    if !tool.spec().category.is_structured() {
        return None;
    }
    let mut schema = tool.output_schema()?.clone();
    slim(&mut schema);
    let Value::Object(schema) = schema else { return None };
    (schema.get("type").and_then(Value::as_str) == Some("object")).then_some(schema)
}

/// Takes away what a program that checks results does not need.
fn slim(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|keyword, value| {
                let told =
                    matches!(keyword.as_str(), "title" | "description" | "$schema" | "format" | "examples");
                !(told && value.is_string() || keyword == "examples")
            });
            for (keyword, value) in object.iter_mut() {
                match (keyword.as_str(), value) {
                    // The keys below these are names, not keywords.
                    ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                        named.values_mut().for_each(slim);
                    }
                    ("const" | "enum" | "default", _) => {}
                    (_, value) => slim(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(slim),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{slim, title};

    #[test]
    fn names_become_titles() {
        assert_eq!(title("set_breakpoint"), "Set breakpoint");
        assert_eq!(title("bash"), "Bash");
        assert_eq!(title(""), "");
    }

    #[test]
    fn a_schema_loses_its_words_and_keeps_its_names() {
        let mut schema = json!({
            "$schema": "x", "title": "Answer", "description": "words", "type": "object",
            "properties": {
                "title": {"type": "string", "description": "words"},
                "description": {"type": ["string", "null"], "default": "description"},
                "kind": {"enum": ["title", "format"]}
            },
            "required": ["title"]
        });
        slim(&mut schema);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "description": {"type": ["string", "null"], "default": "description"},
                    "kind": {"enum": ["title", "format"]}
                },
                "required": ["title"]
            })
        );
    }
}
