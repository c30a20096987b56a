//! JSON schema as Gemini takes it: a subset of OpenAPI's, in which an unknown word is an error.

use serde_json::{Map, Value, json};

/// Deeper schemas are cut off; a recursive type would have no end.
const MAX_DEPTH: usize = 24;

const KEPT: [&str; 14] = [
    "type",
    "description",
    "enum",
    "required",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "nullable",
    "title",
    "default",
];

/// The schema with references resolved and everything that the API does not know left out or said otherwise.
pub(super) fn adapt(schema: &Value) -> Value {
    convert(schema, schema, 0)
}

fn convert(schema: &Value, root: &Value, depth: usize) -> Value {
    let Value::Object(members) = schema else { return json!({ "type": "string" }) };
    if depth > MAX_DEPTH {
        return json!({ "type": "object" });
    }
    if let Some(target) = members.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        let mut resolved =
            found.map_or_else(|| json!({ "type": "object" }), |found| convert(found, root, depth + 1));
        if let (Some(description), Value::Object(resolved)) = (members.get("description"), &mut resolved) {
            resolved.insert("description".into(), description.clone());
        }
        return resolved;
    }
    let mut out = Map::new();
    for (name, value) in members {
        match name.as_str() {
            "type" => write_type(value, &mut out),
            "const" => drop(out.insert("enum".into(), json!([value]))),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let converted: Map<String, Value> =
                    properties.map(|(name, value)| (name.clone(), convert(value, root, depth + 1))).collect();
                out.insert("properties".into(), Value::Object(converted));
            }
            "items" => drop(out.insert("items".into(), convert(value, root, depth + 1))),
            "anyOf" | "oneOf" | "allOf" => write_choices(value, root, depth, &mut out),
            // The API knows few formats, and refuses the others.
            "format" if matches!(value.as_str(), Some("date-time" | "enum")) => {
                out.insert("format".into(), value.clone());
            }
            name if KEPT.contains(&name) => drop(out.insert(name.to_owned(), value.clone())),
            _ => {}
        }
    }
    if out.get("type").is_some_and(|kind| kind == "array") && !out.contains_key("items") {
        out.insert("items".into(), json!({ "type": "string" }));
    }
    // Only strings can be enumerated.
    if out.contains_key("enum") && out.get("type").is_none_or(|kind| kind != "string") {
        if out["enum"].as_array().is_some_and(|values| values.iter().all(Value::is_string)) {
            out.insert("type".into(), json!("string"));
        } else {
            out.remove("enum");
        }
    }
    Value::Object(out)
}

/// `["string", "null"]` is a string that may be null.
fn write_type(value: &Value, out: &mut Map<String, Value>) {
    match value {
        Value::Array(kinds) => {
            if kinds.iter().any(|kind| kind == "null") {
                out.insert("nullable".into(), json!(true));
            }
            let kind = kinds.iter().find(|kind| *kind != "null");
            out.insert("type".into(), kind.cloned().unwrap_or_else(|| json!("string")));
        }
        other => drop(out.insert("type".into(), other.clone())),
    }
}

fn write_choices(value: &Value, root: &Value, depth: usize, out: &mut Map<String, Value>) {
    let choices: Vec<&Value> = value.as_array().into_iter().flatten().collect();
    let real: Vec<&Value> = choices.iter().copied().filter(|choice| choice["type"] != "null").collect();
    if real.len() < choices.len() {
        out.insert("nullable".into(), json!(true));
    }
    let converted: Vec<Value> = real.into_iter().map(|choice| convert(choice, root, depth + 1)).collect();
    let constants: Option<Vec<&Value>> = converted
        .iter()
        .map(|choice| choice.get("enum").and_then(Value::as_array))
        .collect::<Option<Vec<_>>>()
        .map(|lists| lists.into_iter().flatten().collect());
    match (constants, converted.as_slice()) {
        // An enum whose variants have doc comments comes as a choice of constants.
        (Some(constants), [_, _, ..]) => {
            let constants: Vec<Value> = constants.into_iter().cloned().collect();
            out.insert("type".into(), json!("string"));
            out.insert("enum".into(), Value::Array(constants));
        }
        (_, [Value::Object(single)]) => {
            for (name, value) in single {
                out.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        (_, []) => {}
        _ => drop(out.insert("anyOf".into(), Value::Array(converted.clone()))),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(schema: Value, expect: Expect) {
        expect.assert_eq(&adapt(&schema).to_string());
    }

    #[test]
    fn unknown_words_go_and_references_are_resolved() {
        check(
            json!({
                "$schema": "x", "type": "object", "additionalProperties": false, "required": ["a"],
                "properties": {
                    "a": { "$ref": "#/$defs/A", "description": "which" },
                    "b": { "type": ["integer", "null"], "format": "uint32", "minimum": 0 },
                    "c": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                    "d": { "type": "array" },
                },
                "$defs": { "A": { "oneOf": [{ "type": "string", "const": "x" }, { "type": "string", "const": "y" }] } },
            }),
            expect![[
                r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":["x","y"],"description":"which"},"b":{"nullable":true,"type":"integer","minimum":0},"c":{"nullable":true,"type":"string"},"d":{"type":"array","items":{"type":"string"}}}}"#
            ]],
        );
    }

    #[test]
    fn a_recursive_type_ends() {
        let schema = json!({ "$ref": "#/$defs/T", "$defs": { "T": { "type": "object", "properties": { "t": { "$ref": "#/$defs/T" } } } } });
        assert!(adapt(&schema).to_string().len() < 5000);
    }
}
