//! What of a configuration only js-debug can do: sources that are not what runs, programs that start programs.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stepwell_workspace::files::{self, ReadFile};

use crate::adapters::text_argument;

/// Where the note on a source map stands, if there is one.
const LOOKED_AT_END: u64 = 64 * 1024;

/// Flags of Node that load what changes sources.
const LOADERS: [&str; 6] =
    ["-r", "--require", "--import", "--loader", "--experimental-loader", "--enable-source-maps"];

/// Flags of Node that make it strip types by itself, in releases that do not do so unasked.
const STRIPS: [&str; 1] = ["--experimental-strip-types"];

/// What is known of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Node alone.
    Node,
    /// A Node that runs TypeScript as it is.
    NodeWithTypes,
    /// js-debug, and why.
    JsDebug(&'static str),
}

/// What a configuration needs.
pub(crate) fn of(arguments: &Map<String, Value>, folder: &Path) -> Requirement {
    let attaches =
        ["processId", "pid", "port", "websocketAddress"].iter().any(|key| arguments.contains_key(*key))
            && text_argument(arguments, "program").is_none();
    let is_true = |name: &str| arguments.get(name).and_then(Value::as_bool) == Some(true);
    if is_true("autoAttachChildProcesses") {
        return Requirement::JsDebug("`autoAttachChildProcesses` asks for programs that the program starts");
    }
    let (local, remote) = (text_argument(arguments, "localRoot"), text_argument(arguments, "remoteRoot"));
    if remote.is_some() && local != remote {
        return Requirement::JsDebug("`remoteRoot` means files of another machine");
    }
    if attaches {
        return if is_true("restart")
            || is_true("attachExistingChildren")
            || arguments.contains_key("outFiles")
        {
            Requirement::JsDebug("the configuration asks for what only it does when it attaches")
        } else {
            Requirement::Node
        };
    }
    if arguments.contains_key("attachSimplePort") || arguments.contains_key("profileStartup") {
        return Requirement::JsDebug("the configuration asks for what only it does when it launches");
    }
    if let Some(runtime) = text_argument(arguments, "runtimeExecutable") {
        let name = Path::new(runtime).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !matches!(name, "node" | "nodejs") {
            return Requirement::JsDebug("another program than `node` runs it");
        }
    }
    let flags: Vec<&str> = arguments
        .get("runtimeArgs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let named = |flag: &str| flag.split('=').next().unwrap_or_default().to_owned();
    if flags.iter().any(|flag| LOADERS.contains(&named(flag).as_str())) {
        return Requirement::JsDebug("what is loaded before the program may change its sources");
    }
    if flags.iter().any(|flag| matches!(*flag, "--test" | "--watch" | "--run")) {
        return Requirement::JsDebug("Node runs it in processes of their own");
    }
    let maps = arguments.get("sourceMaps").and_then(Value::as_bool) != Some(false);
    if maps && arguments.contains_key("outFiles") {
        return Requirement::JsDebug("`outFiles` are made of other sources");
    }
    let Some(program) = text_argument(arguments, "program") else {
        return if flags.is_empty() {
            Requirement::JsDebug("no `program` is named")
        } else {
            Requirement::Node
        };
    };
    let cwd = text_argument(arguments, "cwd").map_or_else(|| folder.to_path_buf(), PathBuf::from);
    let program = folder.join(cwd).join(program);
    if program.components().any(|part| part.as_os_str() == "node_modules") {
        return Requirement::JsDebug("a tool runs it, which may change its sources");
    }
    let end = program.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end {
        "tsx" | "jsx" => Requirement::JsDebug("Node itself does not run such sources"),
        "ts" | "mts" | "cts" if flags.iter().any(|flag| STRIPS.contains(flag)) => Requirement::Node,
        "ts" | "mts" | "cts" => Requirement::NodeWithTypes,
        _ if maps && has_source_map(&program) => {
            Requirement::JsDebug("it is made of other sources, by its source map")
        }
        _ => Requirement::Node,
    }
}

/// Whether a script says that it was made of something else.
fn has_source_map(program: &Path) -> bool {
    let mut beside = program.as_os_str().to_owned();
    beside.push(".map");
    if Path::new(&beside).is_file() {
        return true;
    }
    let length = files::metadata(program).map(|metadata| metadata.len()).unwrap_or_default();
    let end = ReadFile::open(program)
        .and_then(|file| file.read_range(length.saturating_sub(LOOKED_AT_END), LOOKED_AT_END));
    end.is_ok_and(|end| {
        let lines = end.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
        lines.into_iter().any(|line| {
            line.starts_with(b"//# sourceMappingURL=") || line.starts_with(b"//@ sourceMappingURL=")
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn js_debug_is_needed_for_what_node_cannot_say() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            files::write_atomic(&folder.path().join(name), text.as_bytes(), files::Privacy::Shared).unwrap();
        };
        write("plain.js", "const text = '//# sourceMappingURL=x';\n");
        write("made.js", "a();\n//# sourceMappingURL=made.js.map\n");
        write("inline.js", "a();\n  //# sourceMappingURL=data:application/json;base64,e30=");
        write("beside.js", "a();\n");
        write("beside.js.map", "{}");
        let rows = [
            (json!({ "program": "plain.js" }), "node"),
            (json!({ "program": "new.js" }), "node"),
            (json!({ "program": "made.js" }), "js-debug"),
            (json!({ "program": "made.js", "sourceMaps": false }), "node"),
            (json!({ "program": "inline.js" }), "js-debug"),
            (json!({ "program": "beside.js" }), "js-debug"),
            (json!({ "program": "plain.js", "outFiles": ["dist/**"] }), "js-debug"),
            (json!({ "program": "a.ts" }), "types"),
            (json!({ "program": "a.ts", "runtimeArgs": ["--experimental-strip-types"] }), "node"),
            (json!({ "program": "a.tsx" }), "js-debug"),
            (json!({ "program": "plain.js", "runtimeExecutable": "/opt/node/bin/node" }), "node"),
            (json!({ "program": "plain.js", "runtimeExecutable": "npm" }), "js-debug"),
            (json!({ "program": "plain.js", "runtimeArgs": ["--import=tsx"] }), "js-debug"),
            (json!({ "program": "plain.js", "runtimeArgs": ["--expose-gc"] }), "node"),
            (json!({ "program": "plain.js", "autoAttachChildProcesses": true }), "js-debug"),
            (json!({ "program": "plain.js", "autoAttachChildProcesses": false }), "node"),
            (json!({ "program": "node_modules/jest/bin/jest.js" }), "js-debug"),
            (json!({ "runtimeArgs": ["--test"] }), "js-debug"),
            (json!({ "program": "plain.js", "attachSimplePort": 9229 }), "js-debug"),
            (json!({ "runtimeArgs": ["-e", "1"] }), "node"),
            (json!({}), "js-debug"),
            (json!({ "port": 9229 }), "node"),
            (json!({ "processId": "12" }), "node"),
            (json!({ "port": 9229, "localRoot": "/a", "remoteRoot": "/b" }), "js-debug"),
            (json!({ "port": 9229, "restart": true }), "js-debug"),
        ];
        for (arguments, expected) in rows {
            let Value::Object(map) = &arguments else { panic!("no object") };
            let found = match of(map, folder.path()) {
                Requirement::Node => "node",
                Requirement::NodeWithTypes => "types",
                Requirement::JsDebug(_) => "js-debug",
            };
            assert_eq!(found, expected, "{arguments}");
        }
    }
}
