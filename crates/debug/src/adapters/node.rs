//! Node by its own inspector, with nothing between: plain JavaScript, and TypeScript that Node runs as it is.
//!
//! The adapter lives in this process (`inspector`) and speaks Node's protocol (`cdp`) over a WebSocket. Measured with Node
//! 18 to 24.

mod attach;
mod breakpoints;
mod cdp;
mod evaluate;
mod events;
mod exceptions;
mod frames;
mod inspector;
mod inspector_messages;
mod launch;
mod requirements;
mod skip_files;
mod stops;
mod target;
mod values;
mod variables;
mod websocket;
mod workers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use stepwell_workspace::process::capture_text;

use super::in_process::ProgramHost;
use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, Search, StartMode, Transport, asked_version, default_to,
    js_debug, missing, text_argument,
};
use crate::dap::Link;
use crate::launch_config::translate::Translated;
use crate::launch_config::{self, Resolved};
use crate::{Error, Result};
use inspector::Inspector;
use requirements::Requirement;

pub(crate) use exceptions::described;
pub(crate) use launch::OLDEST;
pub(crate) use values::{kind, shown};

const INSTALL_JS_DEBUG: &str = "`stepwell adapters install js-debug` fetches it into Stepwell's own folder";

/// Whether a configuration asks for what Node's own inspector cannot do, such as following programs that it starts.
pub(crate) fn needs_js_debug(arguments: &Map<String, Value>, folder: &Path) -> bool {
    matches!(requirements::of(arguments, folder), Requirement::JsDebug(_))
}

#[derive(Debug)]
pub struct Node;

impl Node {
    /// The program that runs scripts: the one a configuration names, or that of the settings, or of the search path.
    fn program(&self, search: &Search, arguments: &Map<String, Value>) -> Result<PathBuf> {
        let not_there =
            |what: String| missing(self.kind(), what, format!("install Node.js {OLDEST} or newer"));
        if let Some(named) = text_argument(arguments, "runtimeExecutable") {
            let path = Path::new(named);
            let found = if path.is_absolute() {
                path.is_file().then(|| path.to_path_buf())
            } else {
                search.program(&[named])
            };
            return found.ok_or_else(|| not_there(format!("`{named}` is not there")));
        }
        let configured = search.configured.get(&self.kind()).cloned();
        configured
            .or_else(|| search.program(&["node", "nodejs"]))
            .ok_or_else(|| not_there("node is not installed".to_owned()))
    }
}

impl Adapter for Node {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Node
    }

    fn name(&self) -> &'static str {
        "node"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["JavaScript", "TypeScript"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[("node", 0), ("pwa-node", 0), ("node2", 0)]
    }

    fn locate(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Located> {
        let needs = if arguments.is_empty() {
            Requirement::Node
        } else {
            requirements::of(arguments, &search.workspace)
        };
        if let Requirement::JsDebug(why) = needs {
            return Err(missing(self.kind(), format!("js-debug is needed: {why}"), INSTALL_JS_DEBUG));
        }
        let program = self.program(search, arguments)?;
        let mut version = None;
        if needs == Requirement::NodeWithTypes {
            let is_foreign = search.is_in_workspace(&program);
            version =
                if is_foreign { None } else { capture_text(&program.to_string_lossy(), &["--version"]) };
            if !version.as_deref().is_some_and(strips_types) {
                let found = version.as_deref().unwrap_or("this Node").trim();
                let why = format!("js-debug is needed: {found} does not run TypeScript by itself");
                return Err(missing(self.kind(), why, INSTALL_JS_DEBUG));
            }
        }
        let version = version.map(|version| version.trim().trim_start_matches('v').to_owned());
        Ok(Located { program, arguments: Vec::new(), environment: Vec::new(), version })
    }

    fn reach(&self) -> Transport {
        Transport::InProcess
    }

    fn serve(&self, located: &Located, program_host: Arc<dyn ProgramHost>, time: Duration) -> Option<Link> {
        Some(Inspector::serve(located.clone(), program_host, time))
    }

    fn adapter_id(&self) -> &'static str {
        "node"
    }

    fn complete(&self, how: StartMode, arguments: &mut Map<String, Value>, search: &Search) {
        if how == StartMode::Launch {
            default_to(arguments, "cwd", search.workspace.to_string_lossy().into_owned());
        }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        let mut translated = js_debug::translate(resolved)?;
        // Node takes the same keys, except those of the extension.
        for key in ["type", "__workspaceFolder"] {
            translated.arguments.shift_remove(key);
        }
        Ok(translated)
    }

    fn version(&self, located: &Located) -> Option<String> {
        located.version.clone().or_else(|| asked_version(&located.program, "--version"))
    }

    fn check_version(&self, version: &str) -> Result<()> {
        too_old(version).map_or(Ok(()), Err)
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            pages_variables: true,
            exception_filters: &["uncaught"],
            stops_at_handled_exceptions: true,
            ignores_source_maps: true,
            ..AdapterQuirks::NONE
        }
    }
}

/// What will debug a configuration of Node's, for people.
pub(crate) fn debugger_name(arguments: &Map<String, Value>, folder: &Path) -> &'static str {
    match requirements::of(arguments, folder) {
        Requirement::Node => "its own debugger",
        Requirement::NodeWithTypes => "its own debugger, or js-debug where node is too old for TypeScript",
        Requirement::JsDebug(_) => "js-debug",
    }
}

/// Returns why a Node of this version cannot be used.
fn too_old(version: &str) -> Option<Error> {
    let major = launch::major(version)?;
    (major < OLDEST).then(|| {
        missing(
            AdapterKind::Node,
            format!("Node {} is too old", version.trim().trim_start_matches('v')),
            format!("install Node.js {OLDEST} or newer"),
        )
    })
}

/// Whether a release runs TypeScript by itself, by putting spaces for types: 22.18, 23.6 and what came after.
fn strips_types(version: &str) -> bool {
    let mut numbers =
        version.trim().trim_start_matches('v').split('.').map(|part| part.parse::<u64>().unwrap_or_default());
    match (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) {
        (22, minor) => minor >= 18,
        (23, minor) => minor >= 6,
        (major, _) => major > 23,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_told_apart() {
        let rows = [
            ("v16.20.2", true, false),
            ("v18.0.0", false, false),
            ("v22.17.1", false, false),
            ("v22.18.0", false, true),
            ("v23.5.0", false, false),
            ("v23.6.0\n", false, true),
            ("24.1.0", false, true),
        ];
        for (version, old, strips) in rows {
            assert_eq!((too_old(version).is_some(), strips_types(version)), (old, strips), "{version}");
        }
    }
}
