//! Tools, calls and results as text for a model that knows only text.

mod example;

use std::sync::Arc;

use serde_json::Value;
use stepwell_protocol::{Message, Part, Role, ToolDefinition, ToolResult};

use crate::wire::conversation::result_text;

const HOW_TO_CALL: &str = "
# Tools

You can use the tools below. To use one, write its name as an XML tag with one tag per parameter inside, and \
nothing else around it:

<tool_name>
<parameter_name>value</parameter_name>
</tool_name>

Values are taken as they stand: do not escape them and do not put the call in a code fence. Lists and objects are \
written as JSON. After your calls stop and wait: the results come in the next message. Never write a result \
yourself.
";

/// The system prompt with the tools described.
pub(super) fn system(system: &Arc<str>, tools: &[ToolDefinition]) -> Arc<str> {
    if tools.is_empty() {
        return Arc::clone(system);
    }
    let mut out = format!("{system}\n{HOW_TO_CALL}");
    for tool in tools {
        describe(tool, &mut out);
    }
    out.into()
}

fn describe(tool: &ToolDefinition, out: &mut String) {
    let mut parameters = String::new();
    let required = required(&tool.input_schema);
    for (name, schema) in properties(&tool.input_schema) {
        let need = if required.contains(&name.as_str()) { "required" } else { "optional" };
        let kind = schema.get("type").map_or_else(String::new, |kind| match kind {
            Value::String(kind) => format!("{kind}, "),
            other => format!("{other}, "),
        });
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let choices = schema.get("enum").map_or_else(String::new, |choices| format!(" One of {choices}."));
        parameters.push_str(&format!("- {name} ({kind}{need}): {description}{choices}\n"));
    }
    let name = &tool.name;
    out.push_str(&format!("\n## {name}\n{}\n", tool.description.trim()));
    if !parameters.is_empty() {
        out.push_str(&format!("Parameters:\n{parameters}"));
    }
    out.push_str(&format!("Use:\n{}\n", written(name, &example::arguments(tool))));
}

fn required(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// The message with calls and results as text, or nothing if it has none.
pub(super) fn message(message: &Message) -> Option<Message> {
    let special = |part: &Part| matches!(part, Part::ToolCall { .. } | Part::ToolResult { .. });
    if message.role != Role::Tool && !message.parts.iter().any(special) {
        return None;
    }
    let mut told = message.clone();
    if told.role == Role::Tool {
        told.role = Role::User;
    }
    told.parts.clear();
    for part in &message.parts {
        match part {
            Part::ToolCall { call } => {
                let text = written(&call.name, &call.arguments);
                match told.parts.last_mut() {
                    Some(Part::Text { text: said }) => {
                        said.push_str("\n\n");
                        said.push_str(&text);
                    }
                    _ => told.parts.push(Part::text(text)),
                }
            }
            Part::ToolResult { result } => {
                told.parts.push(Part::text(write_result(result)));
                told.parts.extend(result.images.iter().map(|image| Part::Image { image: image.clone() }));
            }
            other => told.parts.push(other.clone()),
        }
    }
    Some(told)
}

/// A call as the model would have written it.
fn written(name: &str, arguments: &Value) -> String {
    let mut out = format!("<{name}>\n");
    match arguments {
        Value::Object(arguments) => {
            for (name, value) in arguments {
                let text = match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                out.push_str(&format!("<{name}>{text}</{name}>\n"));
            }
        }
        Value::String(text) => out.push_str(&format!("{text}\n")),
        _ => {}
    }
    out.push_str(&format!("</{name}>"));
    out
}

fn write_result(result: &ToolResult) -> String {
    format!("[Result of {}]\n{}", result.tool, result_text(result))
}
