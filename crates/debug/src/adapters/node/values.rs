//! Values as text, and the numbers by which they are looked into. Both belong to one stop of one thread.

use std::collections::HashMap;

use serde_json::Value;

use super::target::CallFrame;
use crate::output::floor_boundary;

/// The inspector's name for all values we hold; they are let go together.
pub(crate) const GROUP: &str = "stepwell";
/// Values that can be looked into during one stop.
const MOST_REFERENCES: usize = 200_000;
/// Letters of one value.
const LONGEST_VALUE: usize = 1024 * 1024;
const LONGEST_FUNCTION: usize = 120;

/// Something that has variables.
#[derive(Clone, Debug)]
pub(crate) enum Reference {
    Scope {
        frame: Box<CallFrame>,
        number: usize,
        object: String,
    },
    Object {
        object: String,
        shape: Shape,
    },
    /// A property that runs code to be read.
    Getter {
        owner: String,
        getter: String,
    },
}

/// How an object's parts are had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// By names alone.
    Named,
    /// An instance of a class, whose properties may be the class's.
    Instance,
    /// So many elements by number, and what has names.
    List(i64),
    Map(i64),
    Set(i64),
}

impl Shape {
    pub(crate) fn of(value: &Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let count = counted(text("description"));
        match (text("subtype"), text("className")) {
            ("array" | "typedarray", _) => Self::List(count),
            ("map", _) => Self::Map(count),
            ("set", _) => Self::Set(count),
            ("", class) if class != "Object" && text("type") == "object" => Self::Instance,
            _ => Self::Named,
        }
    }

    /// How many parts have numbers.
    pub(crate) fn indexed(self) -> Option<i64> {
        match self {
            Self::List(count) | Self::Map(count) | Self::Set(count) => Some(count),
            Self::Named | Self::Instance => None,
        }
    }
}

/// The number in `Array(12)`.
fn counted(description: &str) -> i64 {
    let inner = description.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    inner.and_then(|(_, count)| count.parse().ok()).unwrap_or_default()
}

#[derive(Debug)]
pub(crate) struct Referred {
    pub thread: i64,
    pub what: Reference,
    /// The expression that has this value, where one is known.
    pub path: Option<String>,
}

/// What numbers stand for.
#[derive(Debug, Default)]
pub(crate) struct References {
    last: i64,
    known: HashMap<i64, Referred>,
}

impl References {
    pub(crate) fn add(&mut self, thread: i64, what: Reference, path: Option<String>) -> Result<i64, String> {
        if self.known.len() >= MOST_REFERENCES {
            return Err(
                "too many values were looked into in one stop; let the program go on first".to_owned()
            );
        }
        self.last += 1;
        self.known.insert(self.last, Referred { thread, what, path });
        Ok(self.last)
    }

    pub(crate) fn get(&self, number: i64) -> Result<&Referred, String> {
        self.known.get(&number).ok_or_else(|| format!("value {number} belongs to a stop that is over"))
    }

    /// A thread goes on: its values are gone.
    pub(crate) fn forget(&mut self, thread: i64) {
        self.known.retain(|_, referred| referred.thread != thread);
    }
}

/// A value as people write it.
pub(crate) fn shown(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let description = text("description").unwrap_or_default();
    let shown = match (text("type").unwrap_or_default(), text("subtype").unwrap_or_default()) {
        ("undefined", _) => "undefined".to_owned(),
        ("string", _) => quoted(text("value").unwrap_or_default()),
        ("object", "null") => "null".to_owned(),
        ("boolean", _) => value.get("value").map(ToString::to_string).unwrap_or_default(),
        ("function", _) => function(description),
        ("object", "error") => {
            description.split("\n    at ").next().unwrap_or_default().trim_end().to_owned()
        }
        ("object", "date" | "regexp" | "node" | "weakmap" | "weakset" | "arraybuffer" | "dataview") => {
            description.to_owned()
        }
        ("object", _) => match value.get("preview") {
            Some(preview) => previewed(preview),
            None => description.to_owned(),
        },
        _ => text("unserializableValue").unwrap_or(description).to_owned(),
    };
    cut(shown)
}

fn cut(text: String) -> String {
    if text.len() <= LONGEST_VALUE {
        return text;
    }
    format!("{}… ({} bytes)", &text[..floor_boundary(&text, LONGEST_VALUE)], text.len())
}

/// The type as people name it.
pub(crate) fn kind(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match (text("type").unwrap_or_default(), text("subtype")) {
        ("object", Some("null")) => "null".to_owned(),
        ("object", _) => text("className").unwrap_or("Object").to_owned(),
        (other, _) => other.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for letter in text.chars() {
        match letter {
            '\'' => quoted.push_str("\\'"),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => quoted.push_str(&format!("\\x{:02x}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// The head of a function; its text may be long.
fn function(source: &str) -> String {
    let head = source.lines().next().unwrap_or_default();
    if head.starts_with("class ") || head == "class" {
        return head.split('{').next().unwrap_or_default().trim_end().to_owned();
    }
    let head = match (head.find("=>"), head.find('{')) {
        (Some(arrow), brace) if brace.is_none_or(|brace| arrow < brace) => &head[..arrow + 2],
        (_, Some(brace)) => &head[..brace],
        _ => head,
    };
    let head = head.trim_end();
    let head = head.strip_prefix("function").map_or(head, str::trim_start);
    let head = &head[..floor_boundary(head, LONGEST_FUNCTION)];
    format!("ƒ {head}")
}

/// What the inspector shows of an object's inside.
fn previewed(preview: &Value) -> String {
    let text = |name: &str| preview.get(name).and_then(Value::as_str).unwrap_or_default();
    let list = |name: &str| preview.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let more = if preview.get("overflow").and_then(Value::as_bool) == Some(true) { ", …" } else { "" };
    let (description, properties) = (text("description"), list("properties"));
    match text("subtype") {
        "array" | "typedarray" => {
            let elements = properties.iter().filter(|one| one["name"].as_str().is_some_and(is_index));
            let elements: Vec<String> = elements.map(property_value).collect();
            let class = description.split('(').next().unwrap_or_default();
            let class = if class == "Array" { String::new() } else { format!("{class} ") };
            format!("{class}({}) [{}{more}]", counted(description), elements.join(", "))
        }
        "map" | "set" | "weakmap" | "weakset" => {
            let entry = |entry: &Value| {
                let value = preview_value(&entry["value"]);
                match entry.get("key") {
                    Some(key) => format!("{} => {value}", preview_value(key)),
                    None => value,
                }
            };
            let entries: Vec<String> = list("entries").iter().map(entry).collect();
            format!("{description} {{{}{more}}}", entries.join(", "))
        }
        _ => {
            let named: Vec<String> = properties
                .iter()
                .map(|one| format!("{}: {}", one["name"].as_str().unwrap_or_default(), property_value(one)))
                .collect();
            let class = if description == "Object" { String::new() } else { format!("{description} ") };
            format!("{class}{{{}{more}}}", named.join(", "))
        }
    }
}

/// A value inside of an object that is itself only shown.
fn preview_value(preview: &Value) -> String {
    let text = |name: &str| preview.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "string" => quoted(text("description")),
        "object" if preview.get("properties").is_some() => previewed(preview),
        "function" => "ƒ".to_owned(),
        _ => text("description").to_owned(),
    }
}

fn property_value(property: &Value) -> String {
    let text = |name: &str| property.get(name).and_then(Value::as_str).unwrap_or_default();
    let value = text("value");
    match (text("type"), text("subtype")) {
        ("string", _) => quoted(value),
        ("accessor", _) => "(...)".to_owned(),
        ("function", _) => "ƒ".to_owned(),
        ("object", "") if value == "Object" => "{…}".to_owned(),
        _ => value.to_owned(),
    }
}

pub(crate) fn is_index(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_people_write_them() {
        let list = json!({ "type": "object", "subtype": "array", "className": "Array", "description": "Array(3)",
            "preview": { "type": "object", "subtype": "array", "description": "Array(3)", "overflow": true,
                "properties": [{ "name": "0", "type": "number", "value": "1" }, { "name": "1", "type": "string", "value": "a" }] } });
        let map = json!({ "type": "object", "subtype": "map", "className": "Map", "description": "Map(1)",
            "preview": { "type": "object", "subtype": "map", "description": "Map(1)", "overflow": false, "properties": [],
                "entries": [{ "key": { "type": "string", "description": "tea" }, "value": { "type": "number", "description": "3" } }] } });
        let account = json!({ "type": "object", "className": "Account", "description": "Account",
            "preview": { "type": "object", "description": "Account", "overflow": false, "properties": [
                { "name": "owner", "type": "string", "value": "Ada" }, { "name": "all", "type": "accessor", "value": "" },
                { "name": "inner", "type": "object", "value": "Object" }] } });
        let rows = [
            (json!({ "type": "undefined" }), "undefined", "undefined"),
            (json!({ "type": "object", "subtype": "null", "value": null }), "null", "null"),
            (json!({ "type": "string", "value": "it's\n\u{1b}" }), "'it\\'s\\n\\x1b'", "string"),
            (json!({ "type": "number", "value": 3, "description": "3" }), "3", "number"),
            (json!({ "type": "number", "unserializableValue": "-0", "description": "-0" }), "-0", "number"),
            (json!({ "type": "boolean", "value": true }), "true", "boolean"),
            (
                json!({ "type": "bigint", "unserializableValue": "10n", "description": "10n" }),
                "10n",
                "bigint",
            ),
            (
                json!({ "type": "function", "description": "function add(a, b) {\n  return 1 }" }),
                "ƒ add(a, b)",
                "function",
            ),
            (json!({ "type": "function", "description": "(a) => a + 1" }), "ƒ (a) =>", "function"),
            (
                json!({ "type": "function", "description": "class A extends B { }" }),
                "class A extends B",
                "function",
            ),
            (list, "(3) [1, 'a', …]", "Array"),
            (map, "Map(1) {'tea' => 3}", "Map"),
            (account, "Account {owner: 'Ada', all: (...), inner: {…}}", "Account"),
        ];
        for (value, text, class) in rows {
            assert_eq!((shown(&value).as_str(), kind(&value).as_str()), (text, class), "{value}");
        }
    }

    #[test]
    fn numbers_of_another_stop_are_refused() {
        let mut references = References::default();
        let what = || Reference::Object { object: "1".to_owned(), shape: Shape::Named };
        let (one, other) =
            (references.add(1, what(), None).unwrap(), references.add(2, what(), None).unwrap());
        references.forget(1);
        assert!(references.get(one).unwrap_err().contains("a stop that is over"));
        assert!(references.get(other).is_ok());
    }
}
