//! The command lines of helpers that a configuration brings along: interpreters, runtimes, adapters, transports. Rules
//! about commands judge them as they judge the program.

use serde_json::Value;

use super::resolve::Resolved;
use super::run_preview::{PlannedCommand, RunRole, folder_of, role_of};
use super::shell_words;

/// Keys of a configuration that hold the arguments of a helper, and those that hold what it runs.
const BEHIND: &[(&str, &[&str])] = &[
    ("runtimeExecutable", &["runtimeArgs", "program", "args"]),
    ("python", &["pythonArgs", "program", "args"]),
    ("pythonPath", &["pythonArgs", "program", "args"]),
    ("miDebuggerPath", &["miDebuggerArgs"]),
    ("debugServerPath", &["debugServerArgs"]),
    ("dlvToolPath", &["dlvFlags"]),
    ("pipeProgram", &["pipeArgs"]),
    ("javaExec", &["vmArgs"]),
];
/// Words with which a debugger's console runs a program.
const CONSOLE_SHELLS: &[&str] = &["platform shell ", "shell ", "pipe ", "make ", "!"];

/// Returns what the helpers of a configuration run.
pub fn helper_commands(resolved: &Resolved) -> Vec<PlannedCommand> {
    let arguments = &resolved.arguments;
    let mut lines: Vec<String> = Vec::new();
    for (key, value) in arguments {
        match (role_of(key), value) {
            (Some(RunRole::Helper), Value::Object(fields)) => {
                for (inner, value) in fields {
                    let is_program = role_of(inner).is_some() && !inner.ends_with("Args");
                    lines.extend(line_of(inner, value, fields).filter(|_| is_program));
                }
                // Cargo is given by its arguments alone.
                lines.extend((key == "cargo").then(|| joined("cargo", fields, &["args"])));
            }
            (Some(RunRole::Helper), value) => lines.extend(line_of(key, value, arguments)),
            (Some(RunRole::DebuggerCommands), value) => lines.extend(console_lines(value)),
            (Some(RunRole::Program), Value::String(code)) if key == "code" => {
                lines.push(format!("python -c {}", shell_words::quoted(code)));
            }
            _ => {}
        }
    }
    // Node is started with flags although no program may be named, such as for `node -e`.
    let is_node = matches!(resolved.kind.as_str(), "node" | "pwa-node" | "node2");
    if is_node && arguments.contains_key("runtimeArgs") && !arguments.contains_key("runtimeExecutable") {
        lines.push(joined("node", arguments, &["runtimeArgs", "program", "args"]));
    }
    let command = |line: String| PlannedCommand { folder: folder_of(&line, resolved), line };
    lines.into_iter().map(command).collect()
}

/// The line of one helper, with the arguments it is given.
fn line_of(key: &str, value: &Value, fields: &serde_json::Map<String, Value>) -> Option<String> {
    let behind =
        BEHIND.iter().find(|(known, _)| *known == key).map(|(_, behind)| *behind).unwrap_or_default();
    match value {
        Value::String(program) if !program.is_empty() => {
            Some(joined(&shell_words::quoted(program), fields, behind))
        }
        Value::Array(words) if !words.is_empty() => {
            let program = shell_words::joined(words.iter().filter_map(Value::as_str));
            Some(joined(&program, fields, behind))
        }
        _ => None,
    }
}

fn joined(program: &str, fields: &serde_json::Map<String, Value>, behind: &[&str]) -> String {
    let mut line = program.to_owned();
    for value in behind.iter().filter_map(|key| fields.get(*key)) {
        let words = match value {
            Value::String(word) => shell_words::quoted(word),
            Value::Array(words) => shell_words::joined(words.iter().filter_map(Value::as_str)),
            _ => continue,
        };
        if !words.is_empty() {
            line.push(' ');
            line.push_str(&words);
        }
    }
    line
}

/// The programs that lines for a debugger's console start.
fn console_lines(value: &Value) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Value::String(text) => vec![text],
        // Those of cppdbg are objects with a `text`.
        Value::Array(items) => {
            items.iter().filter_map(|item| item.as_str().or_else(|| item.get("text")?.as_str())).collect()
        }
        _ => Vec::new(),
    };
    let command = |line: &str| {
        let line = line.trim().trim_start_matches("-exec ").trim_start_matches('?');
        let shell = CONSOLE_SHELLS.iter().find_map(|prefix| line.strip_prefix(prefix))?;
        Some(shell.trim().to_owned()).filter(|line| !line.is_empty())
    };
    texts.into_iter().flat_map(str::lines).filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::launch_config::{Context, resolve_configuration};

    #[test]
    fn whatever_a_configuration_starts_is_a_command_line() {
        let rows = [
            (json!({ "type": "node", "program": "a.js" }), ""),
            (json!({ "type": "node", "runtimeArgs": ["-e", "x()"] }), "node -e 'x()'"),
            (
                json!({ "type": "node", "runtimeExecutable": "curl", "runtimeArgs": ["http://a"], "program": "a.js" }),
                "curl http://a a.js",
            ),
            (
                json!({ "type": "debugpy", "python": ["curl", "http://a"], "program": "a.py" }),
                "curl http://a a.py",
            ),
            (json!({ "type": "debugpy", "code": "import os" }), "python -c 'import os'"),
            (
                json!({ "type": "cppdbg", "program": "a", "miDebuggerPath": "./gdb", "miDebuggerArgs": "-q",
                    "setupCommands": [{ "text": "shell curl http://a" }, { "text": "set x 1" }] }),
                "./gdb -q | curl http://a",
            ),
            (
                json!({ "type": "lldb", "program": "a", "initCommands": ["platform shell touch b", "!touch c"] }),
                "touch b | touch c",
            ),
            (
                json!({ "type": "cppdbg", "program": "a", "pipeTransport": { "pipeProgram": "ssh", "pipeArgs": ["h"] } }),
                "ssh h",
            ),
        ];
        for (mut written, expected) in rows {
            written["name"] = "x".into();
            written["request"] = "launch".into();
            let Value::Object(fields) = &written else { panic!("no object") };
            let ctx = Context::new(Path::new("/work"), BTreeMap::new());
            let resolved = resolve_configuration(fields, &[], &ctx).unwrap();
            let lines: Vec<String> = helper_commands(&resolved).into_iter().map(|one| one.line).collect();
            assert_eq!(lines.join(" | "), expected, "{written}");
        }
    }
}
