//! js-debug: JavaScript and TypeScript on Node. Measured with 1.112. The program runs in a child session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{
    Adapter, AdapterKind, How, Located, LogDialect, Manners, Reach, Search, default_to, manners, missing,
    text_argument,
};
use crate::Result;

#[derive(Debug)]
pub struct JsDebug;

impl Adapter for JsDebug {
    fn kind(&self) -> AdapterKind {
        AdapterKind::JsDebug
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

    fn reach(&self) -> Reach {
        Reach::Socket
    }

    fn address_words(&self, address: &str) -> Vec<OsString> {
        vec![address.into()]
    }

    fn adapter_id(&self) -> &'static str {
        "pwa-node"
    }

    fn complete(&self, how: How, arguments: &mut Map<String, Value>, search: &Search) {
        default_to(arguments, "type", "pwa-node");
        // It goes by this word, not by the request: without it an attach starts a Node of its own.
        default_to(arguments, "request", if how == How::Attach { "attach" } else { "launch" });
        // A pause inside Node's own code would be stepped out of line by line, which takes it a minute. Steps do not enter that
        // code either way; only what is generated from other sources needs it.
        let is_plain = text_argument(arguments, "program").is_none_or(|program| {
            Path::new(program).extension().is_some_and(|end| end == "js" || end == "mjs" || end == "cjs")
        });
        if is_plain && !arguments.contains_key("outFiles") {
            default_to(arguments, "smartStep", false);
        }
        if how == How::Launch {
            default_to(arguments, "console", "internalConsole");
            default_to(arguments, "outputCapture", "std");
            default_to(arguments, "cwd", search.workspace.to_string_lossy().into_owned());
        }
    }

    fn manners(&self) -> &'static Manners {
        &Manners {
            logs: LogDialect::Alone,
            repl_is_command_line: false,
            scopes_follow_last_request: false,
            walks_plain_paths: false,
            pages_variables: true,
            exception_filters: &["uncaught"],
            prints_for_the_program: false,
            closes_at_the_end: false,
            prints_late: false,
            clean_output: manners::as_it_is,
            passing_exceptions: &[],
        }
    }
}
