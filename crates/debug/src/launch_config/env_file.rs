//! Environment files: `NAME=value` lines, as `envFile` names them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::context::Context;
use super::error::{LaunchError, Result};
use super::jsonc;
use super::secrets::{SecretUse, Secrets};

const LONGEST_FILE: u64 = 1024 * 1024;

/// Takes `envFile` out of the arguments and puts its variables under those of `env`. Returns the files that were named, and
/// the values that stay placeholders.
pub(super) fn merge(
    name: &str,
    kind: &str,
    arguments: &mut Map<String, Value>,
    ctx: &Context,
) -> Result<(Vec<PathBuf>, Secrets)> {
    let named: Vec<String> = match arguments.shift_remove("envFile") {
        None | Some(Value::Null) => return Ok(Default::default()),
        Some(Value::String(path)) if path.is_empty() => return Ok(Default::default()),
        Some(Value::String(path)) => vec![path],
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        Some(_) => return Err(bad(name, "has an `envFile` that is neither a path nor a list of paths")),
    };
    let files: Vec<PathBuf> = named.iter().map(|path| ctx.absolute(path)).collect();
    let mut merged = Map::new();
    for path in &files {
        match jsonc::read_text(path, LONGEST_FILE)? {
            Some(text) => {
                for (variable, value) in parse(&text, kind, &merged, ctx) {
                    merged.insert(variable, Value::String(value));
                }
            }
            // Python's extension names `.env` by default, whether there is one or not.
            None if matches!(kind, "python" | "debugpy") => {}
            None => {
                return Err(bad(
                    name,
                    &format!("names the `envFile` `{}`, which does not exist", path.display()),
                ));
            }
        }
    }
    let secrets = if ctx.secrets == SecretUse::Plain { Secrets::default() } else { hold(&mut merged) };
    match arguments.get("env") {
        None | Some(Value::Null) => {}
        Some(Value::Object(own)) => merged.extend(own.clone()),
        Some(_) => return Err(bad(name, "has an `env` that is no object")),
    }
    if !merged.is_empty() {
        arguments.insert("env".to_owned(), Value::Object(merged));
    }
    Ok((files, secrets))
}

/// Puts a placeholder for each value: who keeps variables in a file keeps them from being read.
fn hold(variables: &mut Map<String, Value>) -> Secrets {
    let held = variables.iter_mut().filter_map(|(name, value)| {
        let placeholder = format!("${{envFile:{name}}}");
        match std::mem::replace(value, Value::String(placeholder.clone())) {
            Value::String(text) => Some((placeholder, text)),
            _ => None,
        }
    });
    held.collect()
}

fn bad(name: &str, problem: &str) -> LaunchError {
    LaunchError::BadConfiguration { name: name.to_owned(), problem: problem.to_owned() }
}

fn parse(text: &str, kind: &str, before: &Map<String, Value>, ctx: &Context) -> Vec<(String, String)> {
    // Python's and Go's extensions put values for `${NAME}`; Node's takes it literally.
    let expands = matches!(kind, "python" | "debugpy" | "go" | "delve");
    let mut known: BTreeMap<String, String> =
        before.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let line = line.strip_prefix("export ").map_or(line, str::trim_start);
        if line.starts_with('#') {
            continue;
        }
        let Some((variable, value)) = line.split_once('=') else { continue };
        let variable = variable.trim();
        if variable.is_empty() || variable.contains(char::is_whitespace) {
            continue;
        }
        let (value, literal) = unquoted(value.trim());
        let value = if expands && !literal { expanded(&value, &known, ctx) } else { value };
        known.insert(variable.to_owned(), value.clone());
        found.push((variable.to_owned(), value));
    }
    found
}

/// The value without its quotes or the comment behind it, and whether it is to be taken literally.
fn unquoted(value: &str) -> (String, bool) {
    if let Some(inner) = value.strip_prefix('\'')
        && let Some(end) = inner.find('\'')
    {
        return (inner[..end].to_owned(), true);
    }
    if let Some(inner) = value.strip_prefix('"')
        && let Some(end) = end_of_quoted(inner)
    {
        let text = inner[..end].replace("\\n", "\n").replace("\\r", "\r").replace("\\\"", "\"");
        return (text, false);
    }
    let end = value.find(" #").unwrap_or(value.len());
    (value[..end].trim_end().to_owned(), false)
}

fn end_of_quoted(inner: &str) -> Option<usize> {
    let mut escaped = false;
    inner.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

fn expanded(value: &str, known: &BTreeMap<String, String>, ctx: &Context) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}').map(|length| start + length) else { break };
        let name = &rest[start + 2..end];
        text.push_str(&rest[..start]);
        text.push_str(known.get(name).or_else(|| ctx.environment.get(name)).map_or("", String::as_str));
        rest = &rest[end + 1..];
    }
    text + rest
}

/// What the file says, for tests of the format alone.
#[cfg(test)]
pub(super) fn parse_for_test(text: &str, kind: &str) -> String {
    let ctx = Context::new(std::path::Path::new("/w"), [("HOME".to_owned(), "/home/me".to_owned())].into());
    let pairs = parse(text, kind, &Map::new(), &ctx);
    pairs.iter().map(|(name, value)| format!("{name}={value:?}\n")).collect::<Vec<_>>().concat()
}
