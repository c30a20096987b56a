//! One entry in a file of servers: put in, changed or found as it should be, with everything around it untouched.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

use super::clients::Format;

/// How a client reaches the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    Command { program: String, words: Vec<String> },
    Http { url: String, token: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub server: Server,
}

/// What putting an entry in came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The file already has it.
    Nothing,
    Added(String),
    /// There was another entry of this name.
    Replaced(String),
}

/// The text of a file with an entry below a key. The error says what of the file cannot be understood.
pub fn put(format: Format, text: &str, key: &str, name: &str, value: &Value) -> Result<Change, String> {
    match format {
        Format::Json => put_json(text, key, name, value),
        Format::Toml => put_toml(text, key, name, value),
    }
}

fn put_json(text: &str, key: &str, name: &str, value: &Value) -> Result<Change, String> {
    // Only what JSON with comments allows: a file that is something else is better left alone.
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    let text = text.trim_start_matches('\u{feff}');
    let root = CstRootNode::parse(if text.trim().is_empty() { "{}\n" } else { text }, &options)
        .map_err(|error| error.to_string())?;
    let object = root.object_value_or_create().ok_or("it holds no JSON object")?;
    let servers = object.object_value_or_create(key).ok_or_else(|| format!("`{key}` is no object"))?;
    let replaced = if let Some(known) = servers.get(name) {
        if known.value().and_then(|known| known.to_serde_value()).as_ref() == Some(value) {
            return Ok(Change::Nothing);
        }
        known.set_value(input(value));
        true
    } else {
        servers.append(name, input(value));
        false
    };
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(if replaced { Change::Replaced(text) } else { Change::Added(text) })
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

fn put_toml(text: &str, key: &str, name: &str, value: &Value) -> Result<Change, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let servers = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| format!("`{key}` is no table"))?;
    let fields = value.as_object().ok_or("the entry is no table")?;
    let replaced = if let Some(known) = servers.get_mut(name) {
        let table = known.as_table_like_mut().ok_or_else(|| format!("`{key}.{name}` is no table"))?;
        let same = fields.iter().all(|(field, value)| {
            table.get(field).and_then(Item::as_value).is_some_and(|known| is_same(known, value))
        });
        // What the person added, such as a time limit, stays; another way to reach the server goes.
        let others = ["command", "args", "url", "http_headers", "bearer_token_env_var"];
        let foreign = others.iter().any(|other| table.contains_key(other) && !fields.contains_key(*other));
        if same && !foreign {
            return Ok(Change::Nothing);
        }
        for other in others {
            table.remove(other);
        }
        for (field, value) in fields {
            table.insert(field, Item::Value(toml_value(value)));
        }
        true
    } else {
        let mut table = Table::new();
        for (field, value) in fields {
            table.insert(field, Item::Value(toml_value(value)));
        }
        servers.insert(name, Item::Table(table));
        false
    };
    let text = document.to_string();
    Ok(if replaced { Change::Replaced(text) } else { Change::Added(text) })
}

fn is_same(known: &toml_edit::Value, value: &Value) -> bool {
    match (known, value) {
        (toml_edit::Value::String(known), Value::String(text)) => known.value() == text,
        (toml_edit::Value::Boolean(known), Value::Bool(value)) => known.value() == value,
        (toml_edit::Value::Array(known), Value::Array(items)) => {
            known.len() == items.len() && known.iter().zip(items).all(|(known, value)| is_same(known, value))
        }
        (toml_edit::Value::InlineTable(known), Value::Object(fields)) => {
            known.len() == fields.len()
                && fields
                    .iter()
                    .all(|(name, value)| known.get(name).is_some_and(|known| is_same(known, value)))
        }
        _ => false,
    }
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(toml_value).collect::<Array>().into(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.as_str(), toml_value(value)))
            .collect::<InlineTable>()
            .into(),
        // Entries hold no others.
        Value::Null | Value::Number(_) => value.to_string().into(),
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
