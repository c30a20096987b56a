//! Bends values to the schema where only one meaning is possible.

use serde_json::{Map, Number, Value};

use super::nested;
use crate::ALIASES_KEYWORD;
use crate::erased::{HIDDEN_KEYWORD, TEXT_KEYWORD};

/// Changes `value` in place. Applying it twice changes nothing more.
pub fn coerce(value: &mut Value, schema: &Value) {
    let Some(kind) = single_type(schema) else {
        // Another agent's form, which may be tags.
        if schema.get(HIDDEN_KEYWORD).is_some()
            && let Some(object) = value.as_str().and_then(nested::object)
        {
            *value = object;
        }
        coerce_enum(value, schema);
        return;
    };
    match kind {
        "string" => {
            if let Value::Number(_) | Value::Bool(_) = value {
                *value = Value::String(value.to_string());
            }
        }
        "integer" => coerce_integer(value),
        "number" => {
            if let Some(number) =
                value.as_str().and_then(|text| text.trim().parse().ok()).and_then(Number::from_f64)
            {
                *value = Value::Number(whole(number));
            }
        }
        "boolean" => coerce_boolean(value),
        "array" => coerce_array(value, schema),
        "object" => coerce_object(value, schema),
        _ => {}
    }
    coerce_enum(value, schema);
}

/// The names a schema requires.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn single_type(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        _ => None,
    }
}

fn coerce_integer(value: &mut Value) {
    let number = match value {
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(number) => return *value = number.into(),
            Err(_) => text.trim().parse::<f64>().ok(),
        },
        Value::Number(number) if number.is_f64() => number.as_f64(),
        _ => None,
    };
    if let Some(number) = number.filter(|number| number.fract() == 0.0 && number.abs() < 9.0e15) {
        *value = (number as i64).into();
    }
}

fn whole(number: Number) -> Number {
    match number.as_f64() {
        Some(float) if float.fract() == 0.0 && float.abs() < 9.0e15 => (float as i64).into(),
        _ => number,
    }
}

fn coerce_boolean(value: &mut Value) {
    let meant = match value {
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        },
        Value::Number(number) => match number.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        _ => None,
    };
    if let Some(meant) = meant {
        *value = Value::Bool(meant);
    }
}

fn coerce_array(value: &mut Value, schema: &Value) {
    match value {
        Value::Array(_) | Value::Null => {}
        Value::String(text) if text.trim().is_empty() => *value = Value::Array(Vec::new()),
        Value::String(text) => {
            let parsed = serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_array);
            let parsed = parsed.or_else(|| nested::list(text));
            *value = parsed.unwrap_or_else(|| Value::Array(vec![value.take()]));
        }
        _ => *value = Value::Array(vec![value.take()]),
    }
    if let (Some(items), Value::Array(values)) = (schema.get("items"), value) {
        for item in values {
            coerce(item, items);
        }
    }
}

fn coerce_object(value: &mut Value, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        parse_object(value);
        return;
    };
    if !parse_object(value) {
        // Text where an object with one required text is wanted: the text is that one, or the field declared for it.
        let mut names = required(schema);
        let declared = properties.iter().find(|(_, field)| field.get(TEXT_KEYWORD).is_some());
        let declared = declared.map(|(name, _)| name.as_str());
        let only = declared.or_else(|| names.next().filter(|_| names.next().is_none()));
        let text_field = only.filter(|name| {
            value.is_string() && properties.get(*name).and_then(single_type) == Some("string")
        });
        if let Some(name) = text_field {
            let mut object = Map::new();
            object.insert(name.to_owned(), value.take());
            *value = Value::Object(object);
        }
    }
    let Value::Object(object) = value else { return };
    rename_fields(object, properties);
    let required: Vec<&str> = required(schema).collect();
    object.retain(|name, field| {
        !(field.is_null() && properties.contains_key(name) && !required.contains(&name.as_str()))
    });
    for (name, field) in object.iter_mut() {
        if let Some(property) = properties.get(name) {
            coerce(field, property);
        }
    }
}

/// Makes an object of text that is one; returns whether the value is an object.
fn parse_object(value: &mut Value) -> bool {
    let parsed = value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text.trim()).ok().or_else(|| nested::object(text)));
    if let Some(parsed) = parsed.filter(Value::is_object) {
        *value = parsed;
    }
    value.is_object()
}

/// Gives fields their right name: declared aliases, and other ways to write the same words (`filePath`).
fn rename_fields(object: &mut Map<String, Value>, properties: &Map<String, Value>) {
    let unknown: Vec<String> =
        object.keys().filter(|name| !properties.contains_key(*name)).cloned().collect();
    for name in unknown {
        let folded = fold(&name);
        let target = properties
            .iter()
            .find(|(property, schema)| {
                fold(property) == folded || aliases(schema).any(|alias| fold(alias) == folded)
            })
            .map(|(property, _)| property.clone());
        let Some(target) = target.filter(|target| !object.contains_key(target)) else { continue };
        if let Some(field) = object.shift_remove(&name) {
            object.insert(target, field);
        }
    }
}

fn aliases(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get(ALIASES_KEYWORD).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn fold(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// `In-Progress` for `in_progress`.
fn coerce_enum(value: &mut Value, schema: &Value) {
    let (Some(options), Some(text)) = (schema.get("enum").and_then(Value::as_array), value.as_str()) else {
        return;
    };
    if options.iter().any(|option| option == text) {
        return;
    }
    let folded = fold(text.trim());
    let matching = options.iter().find(|option| option.as_str().is_some_and(|option| fold(option) == folded));
    if let Some(option) = matching {
        *value = option.clone();
    }
}
