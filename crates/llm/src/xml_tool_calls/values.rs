//! From the inside of a call's tag to arguments as JSON, typed by the tool's schema.

use serde_json::{Map, Value};
use stepwell_protocol::ToolDefinition;

/// What a call's inside says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    Arguments(String),
    /// The text ended within a value. What there is of it is no JSON, so that nobody acts on half a file; the
    /// executor tells the model.
    CutOff(String),
    /// Not a call at all.
    NoCall,
}

impl Parsed {
    /// The same as no JSON, of a call whose end never came.
    pub(super) fn cut_off(self) -> Self {
        match self {
            Self::Arguments(mut json) => {
                json.pop();
                Self::CutOff(json)
            }
            Self::NoCall => Self::CutOff("{".to_owned()),
            Self::CutOff(json) => Self::CutOff(json),
        }
    }
}

/// Tags that models put around all parameters of a call.
const WRAPPERS: [&str; 3] = ["args", "arguments", "parameters"];

/// The parameters of a tool under every name that is understood, with their schemas.
fn parameters(tool: &ToolDefinition) -> impl Iterator<Item = (&str, &Value)> {
    let offered = tool.input_schema.get("properties").and_then(Value::as_object);
    let named = offered.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema));
    let others = tool.forms.parameters.iter().map(move |(alias, name)| {
        (alias.as_str(), offered.and_then(|offered| offered.get(name)).unwrap_or(&Value::Null))
    });
    named.chain(others)
}

/// The inside without a tag around all of it that is no parameter.
fn unwrapped<'t>(tool: &ToolDefinition, body: &'t str) -> &'t str {
    let trimmed = body.trim();
    let inside = WRAPPERS.iter().find_map(|tag| {
        let inside = trimmed.strip_prefix(&format!("<{tag}>"))?.strip_suffix(&format!("</{tag}>"))?;
        (!parameters(tool).any(|(name, _)| name == *tag)).then_some(inside)
    });
    inside.unwrap_or(body)
}

/// Whether a parameter of the tool has been opened.
pub(super) fn has_parameter(tool: &ToolDefinition, body: &str) -> bool {
    parameters(tool).any(|(name, _)| body.contains(&format!("<{name}>")))
}

/// Whether the tool's end tag may stand after this: nothing before it is left open.
pub(super) fn is_complete(tool: &ToolDefinition, body: &str) -> bool {
    let body = unwrapped(tool, body).trim_end();
    let last_end = parameters(tool).filter_map(|(name, _)| {
        let close = format!("</{name}>");
        body.rfind(&close).map(|at| at + close.len())
    });
    match last_end.max() {
        Some(end) => body[end..].trim().is_empty() || elements(&body[end..]).is_some(),
        None => !has_parameter(tool, body),
    }
}

/// The inside of `<tool>...</tool>`.
pub(super) fn named(tool: &ToolDefinition, body: &str) -> Parsed {
    let mut arguments = Map::new();
    let body = unwrapped(tool, body);
    let mut rest = body;
    while let Some((name, schema, start)) = next_parameter(tool, rest) {
        unknown(&rest[..start], &mut arguments);
        let after = &rest[start + name.len() + 2..];
        match value_end(tool, name, after) {
            Some(end) => {
                arguments.insert(name.to_owned(), typed(schema, tool, &after[..end]));
                rest = &after[end + name.len() + 3..];
            }
            None => return cut_off(&arguments, name, after),
        }
    }
    unknown(rest, &mut arguments);
    if !arguments.is_empty() {
        return Parsed::Arguments(Value::Object(arguments).to_string());
    }
    without_parameters(tool, body)
}

/// Keeps parameters that the tool does not have: the executor says so to the model.
fn unknown(text: &str, arguments: &mut Map<String, Value>) {
    for (name, value) in elements(text).into_iter().flatten() {
        arguments.entry(name).or_insert_with(|| Value::from(without_outer_newlines(value)));
    }
}

/// A text that is nothing but tags side by side, taken apart.
fn elements(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix('<')?.split_once('>')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_name) {
            return None;
        }
        let close = format!("</{name}>");
        let end = after.find(&close)?;
        found.push((name, &after[..end]));
        rest = after[end + close.len()..].trim_start();
    }
    (!found.is_empty()).then_some(found)
}

/// A body without parameters: JSON, the only parameter's value, or no call.
fn without_parameters(tool: &ToolDefinition, body: &str) -> Parsed {
    let trimmed = body.trim();
    if let Ok(object @ Value::Object(_)) = serde_json::from_str(trimmed) {
        return Parsed::Arguments(object.to_string());
    }
    let required = tool.input_schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    match (trimmed.is_empty(), required) {
        (true, 0) => Parsed::Arguments("{}".to_owned()),
        (false, 1) => {
            let only = tool.input_schema["required"][0].as_str().unwrap_or_default();
            let schema = tool.input_schema.pointer("/properties").and_then(|members| members.get(only));
            let mut arguments = Map::new();
            arguments.insert(only.to_owned(), typed(schema.unwrap_or(&Value::Null), tool, body));
            Parsed::Arguments(Value::Object(arguments).to_string())
        }
        _ => Parsed::NoCall,
    }
}

/// The first parameter that is opened in the text, and where.
fn next_parameter<'a>(tool: &'a ToolDefinition, text: &str) -> Option<(&'a str, &'a Value, usize)> {
    parameters(tool)
        .filter_map(|(name, schema)| text.find(&format!("<{name}>")).map(|at| (name, schema, at)))
        .min_by_key(|(_, _, at)| *at)
}

/// Where a value ends: at the first end tag after which comes another parameter or nothing. A value may contain
/// its own end tag, as a file about these tools does; failing that it is the last one.
fn value_end(tool: &ToolDefinition, name: &str, text: &str) -> Option<usize> {
    let close = format!("</{name}>");
    let mut last = None;
    for (at, _) in text.match_indices(&close) {
        last = Some(at);
        let after = text[at + close.len()..].trim_start();
        let next = parameters(tool).any(|(other, _)| {
            other != name
                && after.starts_with(&format!("<{other}>"))
                && after.contains(&format!("</{other}>"))
        });
        if after.is_empty() || next {
            return last;
        }
    }
    last
}

/// `<parameter=x>...</parameter>` or JSON inside `<function=name>...</function>`.
pub(super) fn function(tool: &ToolDefinition, body: &str) -> Parsed {
    const OPEN: &str = "<parameter=";
    const CLOSE: &str = "</parameter>";
    let mut arguments = Map::new();
    let mut rest = body;
    while let Some(start) = rest.find(OPEN) {
        let after = &rest[start + OPEN.len()..];
        let Some(name_end) = after.find('>') else { break };
        let name = after[..name_end].trim_matches(['"', '\'', ' ']);
        let value = &after[name_end + 1..];
        // The last end tag before the next parameter, as values may contain one.
        let limit = value.find(&format!("{CLOSE}\n{OPEN}")).map_or(value.len(), |at| at + CLOSE.len());
        let Some(end) = value[..limit].rfind(CLOSE).or_else(|| value.find(CLOSE)) else {
            return cut_off(&arguments, name, value);
        };
        let end = match value.find(OPEN) {
            Some(next) if next < end => value[..next].rfind(CLOSE).unwrap_or(end),
            _ => end,
        };
        let known = parameters(tool).find(|(known, _)| *known == name);
        let schema = known.map_or(&Value::Null, |(_, schema)| schema);
        arguments.insert(name.to_owned(), typed(schema, tool, &value[..end]));
        rest = &value[end + CLOSE.len()..];
    }
    if arguments.is_empty() {
        return without_parameters(tool, body);
    }
    Parsed::Arguments(Value::Object(arguments).to_string())
}

/// `{"name": ..., "arguments": {...}}`, in the spellings that are found.
pub(super) fn json_call(body: &str) -> Option<(String, String)> {
    let value: Value = serde_json::from_str(body.trim()).ok()?;
    let call = value.get("function").filter(|inner| inner.is_object()).unwrap_or(&value);
    let name = call.get("name")?.as_str()?.to_owned();
    let arguments = ["arguments", "parameters", "input"].iter().find_map(|field| call.get(field));
    Some(match arguments {
        None | Some(Value::Null) => (name, "{}".to_owned()),
        Some(Value::String(text)) => (name, text.clone()),
        Some(other) => (name, other.to_string()),
    })
}

fn cut_off(arguments: &Map<String, Value>, name: &str, value: &str) -> Parsed {
    let mut all = arguments.clone();
    all.insert(name.to_owned(), Value::from(value));
    let mut text = Value::Object(all).to_string();
    // Without its last quote and brace.
    text.truncate(text.len() - 2);
    Parsed::CutOff(text)
}

/// The value as the schema has it; what does not fit stays text, and validation says so.
fn typed(schema: &Value, tool: &ToolDefinition, text: &str) -> Value {
    let kinds = kinds(schema, &tool.input_schema, 0);
    let trimmed = text.trim();
    let has = |kind: &str| kinds.iter().any(|found| found == kind);
    if has("string") {
        return Value::from(without_outer_newlines(text));
    }
    if has("boolean") && trimmed.eq_ignore_ascii_case("true") {
        return Value::Bool(true);
    }
    if has("boolean") && trimmed.eq_ignore_ascii_case("false") {
        return Value::Bool(false);
    }
    let parsed: Option<Value> = serde_json::from_str(trimmed).ok();
    match parsed {
        Some(value @ Value::Number(_)) if has("integer") || has("number") => value,
        Some(value @ Value::Array(_)) if has("array") || kinds.is_empty() => value,
        Some(value @ Value::Object(_)) if has("object") || kinds.is_empty() => value,
        Some(value @ Value::Null) if has("null") => value,
        _ => Value::from(without_outer_newlines(text)),
    }
}

/// The types a schema allows, through references and choices; empty if it does not say.
fn kinds(schema: &Value, root: &Value, depth: usize) -> Vec<String> {
    if depth > 8 {
        return Vec::new();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return found.map_or_else(Vec::new, |found| kinds(found, root, depth + 1));
    }
    let mut out: Vec<String> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        _ => Vec::new(),
    };
    for field in ["anyOf", "oneOf", "allOf"] {
        for choice in schema.get(field).and_then(Value::as_array).into_iter().flatten() {
            out.extend(kinds(choice, root, depth + 1));
        }
    }
    if schema.get("enum").or(schema.get("const")).is_some() && out.is_empty() {
        out.push("string".to_owned());
    }
    out
}

/// A value on lines of its own loses the line ends next to its tags.
fn without_outer_newlines(text: &str) -> &str {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}
