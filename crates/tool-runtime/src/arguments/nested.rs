//! Values that a model wrote as tags within tags: `<file><path>a.rs</path></file>`.

use serde_json::{Map, Value};

/// Tags nested deeper than this stay text.
const DEEPEST: usize = 8;

/// The tags of a text as fields: those of the same name become a list, one without tags inside is a text. `None` where
/// the text is anything but tags side by side.
pub(super) fn object(text: &str) -> Option<Value> {
    fields(text, 0).map(Value::Object)
}

/// The tags of a text as a list: what a single kind of tag holds, else one object of them all.
pub(super) fn list(text: &str) -> Option<Value> {
    let mut fields = fields(text, 0)?;
    let only = if fields.len() == 1 { fields.values_mut().next().map(Value::take) } else { None };
    Some(match only {
        Some(list @ Value::Array(_)) => list,
        Some(one) => Value::Array(vec![one]),
        None => Value::Array(vec![Value::Object(fields)]),
    })
}

fn fields(text: &str, depth: usize) -> Option<Map<String, Value>> {
    let mut rest = text.trim();
    if depth > DEEPEST || !rest.starts_with('<') {
        return None;
    }
    let mut found = Map::new();
    while !rest.is_empty() {
        let (tag, after) = rest.strip_prefix('<')?.split_once('>')?;
        // Attributes say nothing that an argument has room for.
        let name = tag.split(char::is_whitespace).next().filter(|name| is_name(name))?;
        let (close, end) = closing(name, after)?;
        let inside = &after[..end];
        let value = fields(inside, depth + 1).map_or_else(|| leaf(inside).into(), Value::Object);
        match found.get_mut(name) {
            None => drop(found.insert(name.to_owned(), value)),
            Some(Value::Array(list)) => list.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
        rest = after[end + close..].trim_start();
    }
    Some(found)
}

/// The length of the end tag and where it stands, past tags of the same name within.
fn closing(name: &str, text: &str) -> Option<(usize, usize)> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut inner = 0usize;
    let mut at = 0;
    loop {
        let end = at + text[at..].find(&close)?;
        inner += text[at..end].matches(&open).count();
        if inner == 0 {
            return Some((close.len(), end));
        }
        inner -= 1;
        at = end + close.len();
    }
}

fn leaf(text: &str) -> &str {
    let inner = text.strip_prefix('\n').unwrap_or(text);
    let inner = inner.strip_suffix('\n').unwrap_or(inner);
    if inner.contains('\n') { inner } else { inner.trim() }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_become_objects_and_lists() {
        for (text, as_object, as_list) in [
            (
                "<file>\n<path>a</path>\n<line_range>1-5</line_range>\n</file>\n<file><path>b</path></file>",
                json!({"file": [{"path": "a", "line_range": "1-5"}, {"path": "b"}]}),
                json!([{"path": "a", "line_range": "1-5"}, {"path": "b"}]),
            ),
            ("<file><path>a</path></file>", json!({"file": {"path": "a"}}), json!([{"path": "a"}])),
            (
                "<suggest>Yes</suggest><suggest mode=\"code\">No, 1 < 2</suggest>",
                json!({"suggest": ["Yes", "No, 1 < 2"]}),
                json!(["Yes", "No, 1 < 2"]),
            ),
            ("<a>x</a><b>y</b>", json!({"a": "x", "b": "y"}), json!([{"a": "x", "b": "y"}])),
            ("<a><a>x</a></a>", json!({"a": {"a": "x"}}), json!([{"a": "x"}])),
            ("<c>one\n  two</c>", json!({"c": "one\n  two"}), json!(["one\n  two"])),
        ] {
            assert_eq!(object(text), Some(as_object), "{text}");
            assert_eq!(list(text), Some(as_list), "{text}");
        }
        for text in ["", "words", "<a>x", "<a>x</a> and words", "< a>x</a>", "<1>x</1>", "<a></b>"] {
            assert_eq!(object(text), None, "{text}");
        }
    }
}
