//! Arguments for the example of a tool: small, and such that the call could be made.

use serde_json::{Map, Value, json};
use stepwell_protocol::ToolDefinition;

use super::{properties, required};

/// Deeper objects are left empty.
const DEEPEST: usize = 3;

/// What stands for a text, by a word in the name of the parameter; the first that fits.
const TEXTS: [(&str, &str); 22] = [
    ("command", "ls -la"),
    ("regex", "fn main"),
    ("pattern", "fn main"),
    ("glob", "src/**/*.rs"),
    ("old_str", "total = 0"),
    ("new_str", "total = 1"),
    ("diff", "<<<<<<< SEARCH\ntotal = 0\n=======\ntotal = 1\n>>>>>>> REPLACE"),
    ("content", "The new content."),
    ("file", "src/main.rs"),
    ("path", "src/main.rs"),
    ("dir", "src"),
    ("url", "https://example.org/"),
    ("symbol", "main"),
    ("function", "main"),
    ("expression", "total + 1"),
    ("question", "Which of the two is meant?"),
    ("query", "where requests are retried"),
    ("result", "Done: the test passes."),
    ("label", "The first"),
    ("tool", "read"),
    ("name", "main"),
    ("id", "1"),
];

/// The tool's own example, else the least that its schema asks for.
pub(super) fn arguments(tool: &ToolDefinition) -> Value {
    if let Some(example) = &tool.forms.example {
        return example.clone();
    }
    let schema = &tool.input_schema;
    let required = required(schema);
    let mut shown = Map::new();
    for (name, property) in properties(schema) {
        // A tool that needs nothing is shown with the parameter that its author put first.
        if required.contains(&name.as_str()) || (required.is_empty() && shown.is_empty()) {
            shown.insert(name.clone(), value(name, property, schema, 0));
        }
    }
    Value::Object(shown)
}

fn value(name: &str, schema: &Value, root: &Value, depth: usize) -> Value {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    if let Some(target) = reference.and_then(|pointer| root.pointer(pointer)).filter(|_| depth < DEEPEST) {
        return value(name, target, root, depth + 1);
    }
    let given = ["examples", "enum"].iter().find_map(|field| schema.get(field)?.as_array()?.first());
    if let Some(given) = given.or_else(|| schema.get("const")).or_else(|| schema.get("default")) {
        return given.clone();
    }
    let choice = ["anyOf", "oneOf"].iter().find_map(|field| schema.get(field)?.as_array()?.first());
    if let Some(choice) = choice.filter(|_| depth < DEEPEST) {
        return value(name, choice, root, depth + 1);
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        _ => "string",
    };
    match kind {
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => match schema.get("items").filter(|_| depth < DEEPEST) {
            Some(items) => json!([value(name.trim_end_matches('s'), items, root, depth + 1)]),
            None => json!([]),
        },
        "object" => {
            let required = required(schema);
            let fields = properties(schema).filter(|(field, _)| required.contains(&field.as_str()));
            let shown =
                fields.map(|(field, property)| (field.clone(), value(field, property, root, depth + 1)));
            if depth < DEEPEST { Value::Object(shown.collect()) } else { json!({}) }
        }
        _ => text(name).into(),
    }
}

fn text(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    TEXTS.iter().find(|(word, _)| lower.contains(word)).map_or("some text", |(_, text)| text)
}
