//! Translates a configuration from the keys it is written in to those of the adapter that is used. Each adapter's own part
//! is in its file.

pub(crate) mod native;

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::error::{LaunchError, Result};
use super::resolve::{Request, Resolved, text};
use super::shell_words;
use crate::adapters::{AdapterKind, ConfiguredAdapter};

/// A configuration in the adapter's own keys, and what has to be done beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Translated {
    /// Not always the configuration's own: a core file is attached to.
    pub request: Request,
    /// The arguments of the `launch` or `attach` request.
    pub arguments: Map<String, Value>,
    /// Lines for the debugger's own command line, to be run before the request: gdb has no key for them. The
    /// program's environment is among them.
    pub debugger_commands: Vec<String>,
    /// The debugger or interpreter the configuration names. It may come from a repository: judge it before it is run.
    pub debugger: Option<String>,
    /// What of the configuration this adapter cannot do, one sentence each.
    pub notes: Vec<String>,
}

/// Returns the adapters that can serve a configuration, the best first.
pub(crate) fn adapters_for(
    resolved: &Resolved,
    configured: &[&'static ConfiguredAdapter],
) -> Result<Vec<AdapterKind>> {
    let mut adapters = AdapterKind::from_type(&resolved.kind, configured);
    adapters.sort_by_key(|kind| !kind.adapter().suits(resolved));
    if adapters.is_empty() {
        let reason = match resolved.kind.as_str() {
            "cppvsdbg" => {
                "it needs Visual Studio's debugger, which exists on Windows alone; `cppdbg` or `lldb` do the same here"
            }
            "coreclr" | "clr" | "dotnet" => "no debugger for .NET is supported",
            "php" => "no debugger for PHP is supported",
            _ => "no adapter for it is known; `debug.custom` in the settings names one by its command",
        };
        return Err(LaunchError::Refused { kind: resolved.kind.clone(), reason: reason.to_owned() });
    }
    Ok(adapters)
}

/// Translates a configuration's arguments for `adapter`.
pub(crate) fn translate(resolved: &Resolved, adapter: AdapterKind) -> Result<Translated> {
    let is_configured = matches!(adapter, AdapterKind::Configured(_));
    if !is_configured && !adapters_for(resolved, &[])?.contains(&adapter) {
        return Err(LaunchError::Refused {
            kind: resolved.kind.clone(),
            reason: format!("{adapter} cannot debug it"),
        });
    }
    adapter.adapter().translate(resolved)
}

/// An error in the configuration.
pub(crate) fn bad(resolved: &Resolved, problem: String) -> LaunchError {
    LaunchError::BadConfiguration { name: resolved.name.clone(), problem }
}

/// Returns `args` as a list, also where it is written as one string.
pub(crate) fn arguments_list(resolved: &Resolved, value: Option<Value>) -> Result<Vec<String>> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => shell_words::split(&text)
            .ok_or_else(|| bad(resolved, "has `args` with a quote that is not closed".to_owned())),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                Value::Number(_) | Value::Bool(_) => Ok(item.to_string()),
                _ => Err(bad(resolved, "has `args` that are no texts".to_owned())),
            })
            .collect(),
        Some(_) => Err(bad(resolved, "has `args` that are neither a list nor a text".to_owned())),
    }
}

/// Returns a process id, also where it is written as a string.
pub(crate) fn process_id(resolved: &Resolved, value: &Value) -> Result<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| bad(resolved, format!("has the process `{value}`, which is no process's number")))
}

/// Returns the arguments with `args` as a list and a folder to run in.
pub(crate) fn script_arguments(resolved: &Resolved) -> Result<Map<String, Value>> {
    let mut arguments = resolved.arguments.clone();
    if let Some(args) = arguments.get("args").cloned() {
        arguments.insert("args".to_owned(), json!(arguments_list(resolved, Some(args))?));
    }
    if resolved.request == Request::Launch && text(&arguments, "cwd").is_none_or(|cwd| cwd.is_empty()) {
        arguments.insert("cwd".to_owned(), json!(resolved.folder.to_string_lossy()));
    }
    if let Some(process) = arguments.get("processId").filter(|value| !value.is_null()) {
        let process = process_id(resolved, process)?;
        arguments.insert("processId".to_owned(), json!(process));
    }
    Ok(arguments)
}

/// Makes the path of `program` absolute.
pub(crate) fn absolute_program(resolved: &Resolved, arguments: &mut Map<String, Value>) {
    if let Some(program) = text(arguments, "program").filter(|program| !program.is_empty()) {
        let path = resolved.folder.join(program);
        arguments.insert("program".to_owned(), json!(path.to_string_lossy()));
    }
}

/// Resolves a path against the folder; the folder itself where none is written.
pub(crate) fn below(resolved: &Resolved, path: Option<String>) -> PathBuf {
    match path.filter(|path| !path.is_empty()) {
        Some(path) => resolved.folder.join(path),
        None => resolved.folder.clone(),
    }
}

/// Removes keys that an adapter does not know, with a note for each.
pub(crate) fn leave_out(
    arguments: &mut Map<String, Value>,
    keys: &[&str],
    adapter: &str,
    notes: &mut Vec<String>,
) {
    for key in keys {
        if arguments.shift_remove(*key).is_some() {
            notes.push(format!("`{key}` has no meaning for {adapter} and is left out"));
        }
    }
}

/// Returns the variables to set, or with `None` to remove.
fn environment(resolved: &Resolved, value: Option<Value>) -> Result<Vec<(String, Option<String>)>> {
    let wrong = || {
        bad(
            resolved,
            "has an environment that is neither an object nor a list of names and values".to_owned(),
        )
    };
    let as_text = |value: &Value| match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok(Some(value.to_string())),
        _ => Err(wrong()),
    };
    let pairs: Result<Vec<_>> = match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(fields)) => {
            fields.iter().map(|(name, value)| Ok((name.clone(), as_text(value)?))).collect()
        }
        // cpptools writes `{"name", "value"}`, lldb-dap `NAME=value`.
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| match item {
                Value::Object(fields) => {
                    let name = fields.get("name").and_then(Value::as_str).ok_or_else(wrong)?;
                    Ok((name.to_owned(), as_text(fields.get("value").unwrap_or(&Value::Null))?))
                }
                Value::String(pair) => {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    Ok((name.to_owned(), Some(value.to_owned())))
                }
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    };
    // A name with a space would be something else on a debugger's command line.
    let no_name = |name: &str| {
        name.is_empty()
            || name.contains(|found: char| found == '=' || found.is_whitespace() || found.is_control())
    };
    let pairs = pairs?;
    match pairs.iter().find(|(name, _)| no_name(name)) {
        Some((name, _)) => {
            Err(bad(resolved, format!("sets the variable `{}`, which is no name", name.escape_default())))
        }
        None => Ok(pairs),
    }
}
