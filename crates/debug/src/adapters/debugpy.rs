//! debugpy: Python. Spoken to over its standard streams, through a few lines that keep its inner socket quick.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, LogSupport, Package, PackageSource, Search, StartMode,
    Transport, default_to, missing, python,
};
use crate::Result;
use crate::launch_config::resolve::{port, text};
use crate::launch_config::translate::{Translated, absolute_program, bad, script_arguments};
use crate::launch_config::{self, Request, Resolved};

/// Starts the adapter with quick acknowledgements on its connection to the program: debugpy 1.8 writes each message in
/// two pieces, and the kernel would hold back the second for 40 ms.
const QUICK_ADAPTER: &str = include_str!("quick_debugpy.py");

#[derive(Debug)]
pub struct Debugpy;

impl Adapter for Debugpy {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Debugpy
    }

    fn name(&self) -> &'static str {
        "debugpy"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["Python"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[("python", 0), ("debugpy", 0)]
    }

    fn locate(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Located> {
        let wanted = python::of_configuration(arguments, search);
        let facts = python::with_debugpy(search, wanted.as_deref()).ok_or_else(|| {
            missing(
                AdapterKind::Debugpy,
                "no Python with the module `debugpy` was found",
                "`stepwell adapters install debugpy` fetches it into Stepwell's own folder",
            )
        })?;
        let mut environment = vec![("PYDEVD_DISABLE_FILE_VALIDATION".into(), "1".into())];
        if let Some(folder) = &facts.debugpy_folder {
            environment.push(("STEPWELL_DEBUGPY".into(), folder.into()));
        }
        Ok(Located {
            program: facts.executable,
            // The folder it is started in must not be searched for modules.
            arguments: vec!["-c".into(), QUICK_ADAPTER.into()],
            environment,
            version: facts.debugpy_version,
        })
    }

    fn read_input_from(
        &self,
        terminal: &Path,
        located: &mut Located,
        _arguments: &mut Map<String, Value>,
    ) -> bool {
        located.environment.push(("STEPWELL_INPUT".into(), terminal.into()));
        true
    }

    fn reach(&self) -> Transport {
        Transport::Pipes
    }

    fn adapter_id(&self) -> &'static str {
        "debugpy"
    }

    fn complete(&self, how: StartMode, arguments: &mut Map<String, Value>, search: &Search) {
        if how == StartMode::Launch {
            default_to(arguments, "console", "internalConsole");
            if !arguments.contains_key("python")
                && let Some(python) = python::of_configuration(arguments, search)
            {
                let executable = python::resolved(search, &python).unwrap_or(python);
                arguments.insert("python".to_owned(), json!([executable]));
            }
        }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        translate(resolved)
    }

    fn package(&self) -> Option<Package> {
        Some(Package {
            source: PackageSource::Wheel,
            expected: "debugpy/__init__.py",
            on_demand: true,
            is_for_this_platform: true,
        })
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            logs: LogSupport::WithCondition,
            exception_filters: &["uncaught"],
            exit_exceptions: &["SystemExit"],
            is_in_tracebacks: true,
            // debugpy 1.8 then waits a minute for the program to connect.
            attach_failure: Some("Attach to PID failed"),
            ..AdapterQuirks::NONE
        }
    }
}

/// Fills in what the Python extension would, and reads older spellings.
fn translate(resolved: &Resolved) -> launch_config::Result<Translated> {
    let mut arguments = script_arguments(resolved)?;
    absolute_program(resolved, &mut arguments);
    if let Some(path) = arguments.shift_remove("pythonPath") {
        arguments.entry("python").or_insert(path);
    }
    let debugger = match arguments.get("python") {
        Some(Value::Array(words)) => words.first().and_then(Value::as_str).map(ToOwned::to_owned),
        Some(Value::String(path)) => Some(path.clone()),
        _ => None,
    };
    match resolved.request {
        Request::Launch => {
            let named =
                ["program", "module", "code"].iter().filter(|key| arguments.contains_key(**key)).count();
            if named == 0 {
                return Err(bad(resolved, "names neither `program` nor `module` nor `code`".to_owned()));
            }
            // What a program prints on a terminal is read there; debugpy would tell it a second time.
            let on_terminal =
                text(&arguments, "console").is_some_and(|console| console.ends_with("Terminal"));
            arguments.entry("redirectOutput").or_insert(json!(!on_terminal));
        }
        Request::Attach => {
            // `host` and `port` were the only way once.
            let old_port = arguments.shift_remove("port");
            let old_host = arguments.shift_remove("host");
            if let Some(number) = old_port.as_ref().and_then(port)
                && !arguments.contains_key("connect")
                && !arguments.contains_key("listen")
            {
                let host = old_host.and_then(|host| host.as_str().map(ToOwned::to_owned));
                let host = host.unwrap_or_else(|| "localhost".to_owned());
                arguments.insert("connect".to_owned(), json!({"host": host, "port": number}));
            }
            let (local, remote) = (arguments.shift_remove("localRoot"), arguments.shift_remove("remoteRoot"));
            if let (Some(local), Some(remote)) = (local, remote) {
                arguments
                    .entry("pathMappings")
                    .or_insert(json!([{"localRoot": local, "remoteRoot": remote}]));
            }
            if !["connect", "listen", "processId"].iter().any(|key| arguments.contains_key(*key)) {
                return Err(bad(resolved, "names neither `connect` nor `listen` nor `processId`".to_owned()));
            }
        }
    }
    arguments.entry("showReturnValue").or_insert(json!(true));
    arguments.insert("name".to_owned(), json!(resolved.name));
    arguments.insert("type".to_owned(), json!("python"));
    arguments.insert("request".to_owned(), json!(resolved.request.name()));
    arguments.entry("workspaceFolder").or_insert(json!(resolved.folder.to_string_lossy()));
    Ok(Translated { arguments, debugger, request: resolved.request, ..Translated::default() })
}
