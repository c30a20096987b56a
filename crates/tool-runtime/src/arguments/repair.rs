//! JSON from text that is almost JSON.

use serde_json::{Map, Value};

/// Broken text nested deeper than this is not repaired: the repair goes down level by level on the stack.
const DEEPEST: usize = 200;

/// What could be read.
pub(super) struct Repaired {
    pub object: Map<String, Value>,
    /// Whether the text ended inside an object, a list or a string.
    pub truncated: bool,
    pub bytes: usize,
}

/// Reads arguments as a JSON object. The error says what was wrong, for the model.
pub(super) fn to_object(raw: &Value) -> Result<Repaired, String> {
    match raw {
        Value::Object(object) => Ok(complete(object.clone(), 0)),
        Value::Null => Ok(complete(Map::new(), 0)),
        Value::String(text) => from_text(text),
        other => Err(format!("the arguments must be a JSON object, got {}", super::explain::shown(other))),
    }
}

fn complete(object: Map<String, Value>, bytes: usize) -> Repaired {
    Repaired { object, truncated: false, bytes }
}

fn from_text(text: &str) -> Result<Repaired, String> {
    let trimmed = text.trim().trim_start_matches('\u{feff}');
    if trimmed.is_empty() {
        return Ok(complete(Map::new(), 0));
    }
    let reason = match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) => return Ok(complete(object, text.len())),
        // Some servers encode the arguments twice.
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => return from_text(&inner),
        Ok(Value::Null) => return Ok(complete(Map::new(), 0)),
        Ok(other) => {
            return Err(format!(
                "the arguments must be a JSON object, got {}",
                super::explain::shown(&other)
            ));
        }
        Err(error) => error.to_string(),
    };
    let failed = || format!("the arguments are no JSON: {reason}; send one JSON object");
    let Some(start) = trimmed.find('{') else {
        return Err(failed());
    };
    if deepest(trimmed) > DEEPEST {
        return Err(format!("the arguments are nested more than {DEEPEST} levels deep; make them flatter"));
    }
    let (candidate, truncated) = match object_end(&trimmed[start..]) {
        Some(end) => (&trimmed[start..start + end], false),
        None => (without_fence(&trimmed[start..]), true),
    };
    let escaped = escape_stray_backslashes(candidate);
    if let Ok(Value::Object(object)) = serde_json::from_str(&escaped) {
        return Ok(complete(object, text.len()));
    }
    let repaired = jsonrepair_rs::jsonrepair(&escaped).map_err(|_| failed())?;
    match serde_json::from_str(&repaired) {
        Ok(Value::Object(object)) => Ok(Repaired { object, truncated, bytes: text.len() }),
        _ => Err(failed()),
    }
}

/// How deeply brackets are nested at most, those in strings counted too: an upper bound.
fn deepest(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Where the object that starts the text ends; `None` when the text ends first.
fn object_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn without_fence(text: &str) -> &str {
    text.trim_end().trim_end_matches("```").trim_end()
}

/// Doubles backslashes that begin no JSON escape (`"\d+"`), which a repair would otherwise drop.
fn escape_stray_backslashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let valid = match after.bytes().next() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
            Some(b'u') => after.len() >= 5 && after.as_bytes()[1..5].iter().all(u8::is_ascii_hexdigit),
            _ => false,
        };
        if valid {
            // Valid escapes begin with an ASCII character, so two bytes are a boundary.
            out.push_str(&rest[at..at + 2]);
            rest = &rest[at + 2..];
        } else {
            out.push_str("\\\\");
            rest = after;
        }
    }
    out.push_str(rest);
    out
}
