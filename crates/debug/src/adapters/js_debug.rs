//! js-debug: JavaScript and TypeScript on Node. Measured with 1.112. The program runs in a child session.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::quirks::without_lines;
use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, LogSupport, Package, PackageSource, Search, StartMode,
    Transport, default_to, missing, noted_version, text_argument,
};
use crate::Result;
use crate::launch_config::resolve::{port, text};
use crate::launch_config::translate::{Translated, arguments_list, bad, below, leave_out};
use crate::launch_config::{self, Request, Resolved};
use crate::output::OutputCategory;

#[derive(Debug)]
pub struct JsDebug;

impl Adapter for JsDebug {
    fn kind(&self) -> AdapterKind {
        AdapterKind::JsDebug
    }

    fn name(&self) -> &'static str {
        "js-debug"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["JavaScript", "TypeScript"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[
            ("node", 1),
            ("pwa-node", 1),
            ("node2", 1),
            ("js-debug", 0),
            ("node-terminal", 0),
            ("pwa-extensionHost", 0),
            ("extensionHost", 0),
            ("chrome", 0),
            ("pwa-chrome", 0),
            ("msedge", 0),
            ("pwa-msedge", 0),
        ]
    }

    fn locate(&self, search: &Search, _arguments: &Map<String, Value>) -> Result<Located> {
        let own = search.own_folder.join("js-debug");
        let names = ["src/dapDebugServer.js", "vsDebugServer.cjs", "vsDebugServer.js", "dapDebugServer.js"];
        let configured = search.configured.get(&self.kind()).cloned();
        let server: PathBuf = configured
            .or_else(|| names.iter().map(|name| own.join(name)).find(|server| server.is_file()))
            .ok_or_else(|| {
                missing(
                    self.kind(),
                    "js-debug is not installed",
                    "`stepwell adapters install js-debug` fetches it into Stepwell's own folder",
                )
            })?;
        let node = search
            .program(&["node", "nodejs"])
            .ok_or_else(|| missing(self.kind(), "node is not installed", "install Node.js 18 or newer"))?;
        Ok(Located { program: node, arguments: vec![server.into()], environment: Vec::new(), version: None })
    }

    fn reach(&self) -> Transport {
        Transport::Socket
    }

    fn address_words(&self, address: &str) -> Vec<OsString> {
        vec![address.into()]
    }

    fn adapter_id(&self) -> &'static str {
        "pwa-node"
    }

    fn complete(&self, how: StartMode, arguments: &mut Map<String, Value>, search: &Search) {
        default_to(arguments, "type", "pwa-node");
        // It goes by this word, not by the request: without it an attach starts a Node of its own.
        default_to(arguments, "request", if how == StartMode::Attach { "attach" } else { "launch" });
        // A pause inside Node's own code would be stepped out of line by line, which takes it a minute. Steps do not enter that
        // code either way; only what is generated from other sources needs it.
        let is_plain = text_argument(arguments, "program").is_none_or(|program| {
            Path::new(program).extension().is_some_and(|end| end == "js" || end == "mjs" || end == "cjs")
        });
        if is_plain && !arguments.contains_key("outFiles") {
            default_to(arguments, "smartStep", false);
        }
        if how == StartMode::Launch {
            default_to(arguments, "console", "internalConsole");
            default_to(arguments, "outputCapture", "std");
            default_to(arguments, "cwd", search.workspace.to_string_lossy().into_owned());
        }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        translate(resolved)
    }

    fn version(&self, located: &Located) -> Option<String> {
        let server = Path::new(located.arguments.first()?);
        noted_version(&server.with_file_name("manifest.json"))
    }

    fn package(&self) -> Option<Package> {
        Some(Package {
            source: PackageSource::NpmFolder("js-debug"),
            expected: "vsDebugServer.cjs",
            on_demand: true,
            is_for_this_platform: true,
        })
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            logs: LogSupport::Alone,
            pages_variables: true,
            exception_filters: &["uncaught"],
            stops_at_handled_exceptions: true,
            handled_exception_condition: Some(comes_from),
            clean_output: without_inspector_messages,
            ..AdapterQuirks::NONE
        }
    }
}

/// A test runner handles hundreds of exceptions of its own. Only those matter that came through the folder's code; what is
/// thrown without a stack may have.
fn comes_from(folder: &Path) -> String {
    let folder = json!(format!("{}/", folder.display()));
    format!(
        "!(error && error.stack) || String(error.stack).split('\\n').some(line => line.includes({folder}) && !line.includes('/node_modules/'))"
    )
}

/// Node tells on its error stream when a debugger comes and goes.
fn without_inspector_messages(_: OutputCategory, output: &str) -> Cow<'_, str> {
    without_lines(output, |line| {
        matches!(line, "Debugger attached." | "Waiting for the debugger to disconnect...")
            || line.starts_with("Debugger listening on ws://")
            || line.starts_with("Debugger ending on ws://")
            || line.starts_with("For help, see: https://nodejs.org/")
    })
}

/// Fills in what VS Code would, and drops what has a meaning in an editor alone.
pub(super) fn translate(resolved: &Resolved) -> launch_config::Result<Translated> {
    let mut arguments = resolved.arguments.clone();
    if let Some(args) = arguments.get("args").cloned() {
        arguments.insert("args".to_owned(), json!(arguments_list(resolved, Some(args))?));
    }
    let kind = match resolved.kind.as_str() {
        "chrome" | "pwa-chrome" => "pwa-chrome",
        "msedge" | "pwa-msedge" => "pwa-msedge",
        "extensionHost" | "pwa-extensionHost" => "pwa-extensionHost",
        _ => "pwa-node",
    };
    let mut notes = Vec::new();
    leave_out(&mut arguments, &["runtimeVersion"], "js-debug outside of an editor", &mut notes);
    for older in ["protocol", "useWSL"] {
        arguments.shift_remove(older);
    }
    if resolved.kind == "node-terminal" && resolved.request == Request::Launch {
        let Some(command) = arguments.shift_remove("command").filter(Value::is_string) else {
            return Err(bad(resolved, "names no `command`".to_owned()));
        };
        arguments.insert("runtimeExecutable".to_owned(), json!("/bin/sh"));
        arguments.insert("runtimeArgs".to_owned(), json!(["-c", command]));
    }
    if kind == "pwa-node" {
        let cwd = below(resolved, text(&arguments, "cwd"));
        arguments.insert("cwd".to_owned(), json!(cwd.to_string_lossy()));
        if let Some(program) = text(&arguments, "program") {
            arguments.insert("program".to_owned(), json!(cwd.join(program).to_string_lossy()));
        }
    }
    if let Some(number) = arguments.get("port").and_then(port) {
        arguments.insert("port".to_owned(), json!(number));
    }
    let debugger = text(&arguments, "runtimeExecutable").filter(|_| resolved.kind != "node-terminal");
    arguments.insert("name".to_owned(), json!(resolved.name));
    arguments.insert("type".to_owned(), json!(kind));
    arguments.insert("request".to_owned(), json!(resolved.request.name()));
    arguments.insert("__workspaceFolder".to_owned(), json!(resolved.folder.to_string_lossy()));
    Ok(Translated { arguments, debugger, notes, request: resolved.request, ..Translated::default() })
}
