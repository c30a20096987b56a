//! What is wrong with arguments, in words a model can act on: which field, what was got, what is expected.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Map, Value};

use super::coerce::required;
use crate::near_names::{did_you_mean, near_names};
use crate::wording::counted;

/// Names the missing fields, the unknown ones that may have been meant, and shows a call that would do.
pub(super) fn missing(schema: &Value, arguments: &Value, missing: &[String], unknown: &[String]) -> String {
    let mut lines = Vec::new();
    for field in missing {
        let property = schema.get("properties").and_then(|properties| properties.get(field));
        let expected = property.map(expected).unwrap_or_default();
        lines.push(format!("`{field}` is required{expected}"));
    }
    for field in unknown {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
        // One of those that are missing is the likelier one.
        let mut near = near_names(field, missing.iter().map(String::as_str));
        if near.is_empty() {
            near = near_names(field, known);
        }
        match did_you_mean(&near) {
            help if help.is_empty() => lines.push(format!("`{field}` is unknown")),
            help => lines.push(format!("`{field}` is unknown; {help}")),
        }
    }
    if arguments.as_object().is_some_and(Map::is_empty) {
        lines.push("no arguments arrived".to_owned());
    }
    with_example(schema, &lines)
}

pub(super) fn invalid(schema: &Value, problems: &[String]) -> String {
    with_example(schema, problems)
}

/// One validation error in one line.
pub(super) fn problem(error: &ValidationError<'_>) -> String {
    let path = field_path(error.instance_path().as_str());
    let got = shown(error.instance());
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => kind.to_string(),
                TypeKind::Multiple(_) => "another type".to_owned(),
            };
            format!("`{path}` must be {}, got {got}", article(&wanted))
        }
        ValidationErrorKind::Required { property } => {
            format!("`{path}` lacks the required field `{}`", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(ToString::to_string).collect();
            format!("`{path}` must be one of {}, got {got}", options.join(", "))
        }
        ValidationErrorKind::Minimum { limit } => format!("`{path}` must be at least {limit}, got {got}"),
        ValidationErrorKind::Maximum { limit } => format!("`{path}` must be at most {limit}, got {got}"),
        ValidationErrorKind::MinItems { limit } => {
            format!("`{path}` needs at least {}, got {got}", counted(*limit, "item"))
        }
        ValidationErrorKind::MaxItems { limit } => {
            format!("`{path}` takes at most {}, got {got}", counted(*limit, "item"))
        }
        ValidationErrorKind::MinLength { limit } => {
            format!("`{path}` must have at least {}", counted(*limit, "character"))
        }
        ValidationErrorKind::MaxLength { limit } => {
            format!("`{path}` must have at most {}", counted(*limit, "character"))
        }
        _ => format!("`{path}`: {}", cut(&error.to_string())),
    }
}

/// A value as it appears in a message: short.
pub(super) fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(items) => return format!("an array of {}", items.len()),
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().map(String::as_str).take(5).collect();
            return format!(
                "an object with {}",
                if keys.is_empty() { "nothing".into() } else { keys.join(", ") }
            );
        }
    };
    format!("{kind} {}", cut(&value.to_string()))
}

fn cut(text: &str) -> String {
    const LONGEST: usize = 80;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head}…")
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

fn expected(property: &Value) -> String {
    let kind = property.get("type").and_then(Value::as_str).map(article);
    match (kind, property.get("description").and_then(Value::as_str)) {
        (Some(kind), Some(description)) => format!(" ({kind}: {})", cut(description)),
        (Some(kind), None) => format!(" ({kind})"),
        (None, Some(description)) => format!(" ({})", cut(description)),
        (None, None) => String::new(),
    }
}

fn with_example(schema: &Value, problems: &[String]) -> String {
    // The first reason stands on the first line, which is all that a short view shows.
    format!("the arguments do not fit: {}\nexample: {}", problems.join("\n- "), example(schema, 0))
}

/// The smallest value that fits a schema.
fn example(schema: &Value, depth: usize) -> Value {
    if let Some(option) = schema.get("enum").and_then(Value::as_array).and_then(|options| options.first()) {
        return option.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        Some("array") => match schema.get("items") {
            Some(items) if depth < 3 => Value::Array(vec![example(items, depth + 1)]),
            _ => Value::Array(Vec::new()),
        },
        Some("object") if depth < 3 => {
            let properties = schema.get("properties");
            let fields = required(schema).filter_map(|name| {
                let property = properties?.get(name)?;
                Some((name.to_owned(), example(property, depth + 1)))
            });
            Value::Object(fields.collect())
        }
        Some("object") => Value::Object(Map::new()),
        _ => "...".into(),
    }
}

/// `/options/0/label` as `options[0].label`.
fn field_path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() {
            path.push('[');
            path.push_str(part);
            path.push(']');
            continue;
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&part.replace("~1", "/").replace("~0", "~"));
    }
    if path.is_empty() { "arguments".to_owned() } else { path }
}
