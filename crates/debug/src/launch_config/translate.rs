//! From the keys a configuration is written in to those of the adapter that is really used.

mod native;
mod scripts;

use serde_json::{Map, Value};

use super::error::{LaunchError, Result};
use super::resolve::{Request, Resolved, text};
use super::words;
use crate::adapters::{AdapterKind, ConfiguredAdapter};

/// What the adapter is sent, and what has to be done beside it.
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

/// The adapters that can serve a configuration, the best first, or why there is none.
pub fn adapters_for(
    resolved: &Resolved,
    configured: &[&'static ConfiguredAdapter],
) -> Result<Vec<AdapterKind>> {
    let mut adapters = AdapterKind::from_type(&resolved.kind, configured);
    let asks_for_lldb =
        resolved.kind == "cppdbg" && text(&resolved.arguments, "MIMode").as_deref() == Some("lldb");
    // gdb opens core files over its protocol only in its newest releases.
    let has_core = ["coreDumpPath", "coreFile"]
        .iter()
        .any(|key| text(&resolved.arguments, key).is_some_and(|path| !path.is_empty()));
    if asks_for_lldb || has_core {
        adapters.sort_by_key(|adapter| *adapter == AdapterKind::Gdb);
    }
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

/// Turns a configuration's arguments into those of `adapter`.
pub fn translate(resolved: &Resolved, adapter: AdapterKind) -> Result<Translated> {
    let is_configured = matches!(adapter, AdapterKind::Configured(_));
    if !is_configured && !adapters_for(resolved, &[])?.contains(&adapter) {
        return Err(LaunchError::Refused {
            kind: resolved.kind.clone(),
            reason: format!("{adapter} cannot debug it"),
        });
    }
    match adapter {
        AdapterKind::LldbDap | AdapterKind::CodeLldb | AdapterKind::Gdb => {
            native::translate(resolved, adapter)
        }
        AdapterKind::Debugpy => scripts::debugpy(resolved),
        AdapterKind::Delve => scripts::delve(resolved),
        AdapterKind::JsDebug => scripts::js_debug(resolved),
        AdapterKind::Node => scripts::node(resolved),
        AdapterKind::Configured(_) => match resolved.kind.as_str() {
            "rdbg" | "ruby_lsp" | "ruby" => scripts::rdbg(resolved),
            "java" => scripts::java(resolved),
            "bashdb" | "bash" => scripts::bash(resolved),
            _ => scripts::as_written(resolved),
        },
    }
}

fn bad(resolved: &Resolved, problem: String) -> LaunchError {
    LaunchError::BadConfiguration { name: resolved.name.clone(), problem }
}

/// `args` as a list, also where it is written as one text.
fn arguments_list(resolved: &Resolved, value: Option<Value>) -> Result<Vec<String>> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => words::split(&text)
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

/// A process's number, also where it is written as a text.
fn process_id(resolved: &Resolved, value: &Value) -> Result<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| bad(resolved, format!("has the process `{value}`, which is no process's number")))
}

/// Variables to set, or with `None` to take out.
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
