//! Turning a value: take a part, filter, aggregate, rename.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Steps applied in this order; absent ones are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transform {
    /// `a.b[0].c`; `[*]` takes all items of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// One value from a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
    /// From path in the value to argument name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub field_mapping: BTreeMap<String, String>,
}

/// Which items of a list stay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Filter {
    Condition(Condition),
    /// Every path has this value: `{"status": "open"}`.
    Fields(BTreeMap<String, Value>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// Path in the item; empty for the item itself.
    #[serde(default)]
    pub field: String,
    #[serde(default)]
    pub op: FilterOperator,
    #[serde(default)]
    pub value: Value,
}

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields: BTreeMap<String, Value> = BTreeMap::deserialize(deserializer)?;
        let only_known = fields.keys().all(|key| matches!(key.as_str(), "field" | "op" | "value"));
        let names_field = fields.contains_key("field") && fields.contains_key("value");
        if only_known && (fields.contains_key("op") || names_field) {
            let condition = Value::Object(fields.into_iter().collect());
            return serde_json::from_value(condition).map(Self::Condition).map_err(D::Error::custom);
        }
        Ok(Self::Fields(fields))
    }
}

impl JsonSchema for Filter {
    fn schema_name() -> Cow<'static, str> {
        "Filter".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Keeps the items of a list that fit: {\"status\": \"open\"} for equal fields, or {field, op, value} \
                            with op one of eq, ne, gt, ge, lt, le, contains, exists.",
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterOperator {
    #[default]
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    Contains,
    Exists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    First,
    Last,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransformError {
    #[error("the path `{path}` leads nowhere: there is no `{part}`{available}")]
    NoSuchPath { path: String, part: String, available: String },
    #[error("`{step}` needs a list, got {got}")]
    NoList { step: &'static str, got: &'static str },
    #[error("`{step}` needs numbers, got {got}")]
    NoNumber { step: &'static str, got: String },
    #[error("`{step}` of an empty list")]
    Empty { step: &'static str },
}

impl Transform {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn apply(&self, value: &Value) -> Result<Value, TransformError> {
        let mut value = match &self.extract_path {
            Some(path) => extract_path(value, path)?,
            None => value.clone(),
        };
        if let Some(filter) = &self.filter {
            let Value::Array(items) = value else {
                return Err(TransformError::NoList { step: "filter", got: kind(&value) });
            };
            value = items.into_iter().filter(|item| filter.fits(item)).collect();
        }
        if let Some(aggregate) = self.aggregate {
            value = aggregate.of(&value)?;
        }
        if self.field_mapping.is_empty() {
            return Ok(value);
        }
        let mut fields = Map::new();
        for (from, to) in &self.field_mapping {
            fields.insert(to.clone(), extract_path(&value, from)?);
        }
        Ok(Value::Object(fields))
    }
}

/// The part of a value a path names: `a.b[0].c`, `results.0.url`, `results[*].id`. The empty path is the whole.
pub fn extract_path(value: &Value, path: &str) -> Result<Value, TransformError> {
    let normal = path.replace('[', ".").replace(']', "");
    let parts: Vec<&str> = normal.split('.').filter(|part| !part.is_empty() && *part != "$").collect();
    follow(value, &parts, path)
}

fn follow(value: &Value, parts: &[&str], path: &str) -> Result<Value, TransformError> {
    let [part, rest @ ..] = parts else { return Ok(value.clone()) };
    if *part == "*" {
        let Value::Array(items) = value else {
            return Err(TransformError::NoList { step: "extract_path", got: kind(value) });
        };
        return items.iter().map(|item| follow(item, rest, path)).collect();
    }
    let next = match value {
        Value::Object(object) => object.get(*part),
        Value::Array(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    };
    match next {
        Some(next) => follow(next, rest, path),
        None => Err(TransformError::NoSuchPath {
            path: path.to_owned(),
            part: (*part).to_owned(),
            available: available(value),
        }),
    }
}

fn available(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().map(String::as_str).take(12).collect();
            format!(" in an object with {}", keys.join(", "))
        }
        Value::Array(items) => format!(" in a list of {}", items.len()),
        other => format!(" in {}", kind(other)),
    }
}

impl Filter {
    fn fits(&self, item: &Value) -> bool {
        match self {
            Self::Condition(condition) => condition.fits(item),
            Self::Fields(fields) => fields.iter().all(|(path, value)| {
                extract_path(item, path).is_ok_and(|found| compare(&found, value) == Some(Ordering::Equal))
            }),
        }
    }
}

impl Condition {
    fn fits(&self, item: &Value) -> bool {
        let Ok(found) = extract_path(item, &self.field) else { return self.op == FilterOperator::Ne };
        let order = || compare(&found, &self.value);
        match self.op {
            FilterOperator::Exists => !found.is_null(),
            FilterOperator::Eq => order() == Some(Ordering::Equal),
            FilterOperator::Ne => order() != Some(Ordering::Equal),
            FilterOperator::Gt => order() == Some(Ordering::Greater),
            FilterOperator::Ge => matches!(order(), Some(Ordering::Greater | Ordering::Equal)),
            FilterOperator::Lt => order() == Some(Ordering::Less),
            FilterOperator::Le => matches!(order(), Some(Ordering::Less | Ordering::Equal)),
            FilterOperator::Contains => match (&found, &self.value) {
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                (Value::Array(items), wanted) => items.contains(wanted),
                _ => false,
            },
        }
    }
}

fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        _ => (left == right).then_some(Ordering::Equal),
    }
}

impl Aggregate {
    fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::First => "first",
            Self::Last => "last",
        }
    }

    fn of(self, value: &Value) -> Result<Value, TransformError> {
        let step = self.name();
        let Value::Array(items) = value else {
            return Err(TransformError::NoList { step, got: kind(value) });
        };
        let empty = TransformError::Empty { step };
        match self {
            Self::Count => Ok(items.len().into()),
            Self::First => items.first().cloned().ok_or(empty),
            Self::Last => items.last().cloned().ok_or(empty),
            Self::Sum => Ok(number(numbers(items, step)?.iter().sum())),
            Self::Avg => {
                let numbers = numbers(items, step)?;
                if numbers.is_empty() {
                    return Err(empty);
                }
                Ok(number(numbers.iter().sum::<f64>() / numbers.len() as f64))
            }
            Self::Min => numbers(items, step)?.into_iter().reduce(f64::min).map(number).ok_or(empty),
            Self::Max => numbers(items, step)?.into_iter().reduce(f64::max).map(number).ok_or(empty),
        }
    }
}

fn numbers(items: &[Value], step: &'static str) -> Result<Vec<f64>, TransformError> {
    let read =
        |item: &Value| item.as_f64().ok_or_else(|| TransformError::NoNumber { step, got: item.to_string() });
    items.iter().map(read).collect()
}

/// Whole numbers stay whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 { (value as i64).into() } else { value.into() }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
