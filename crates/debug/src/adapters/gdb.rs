//! GDB's own adapter, from version 14 on: C, C++, Rust. Measured with 16.3.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value, json};
use stepwell_workspace::process::capture_text;

use super::quirks::without_lines;
use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, LogSupport, RUST_PANIC, Search, Transport, is_rust,
    missing, rust_sources_folder,
};
use crate::Result;
use crate::launch_config::resolve::text;
use crate::launch_config::translate::native::{self, Dialect, Language, Native, Stop};
use crate::launch_config::translate::{Translated, bad};
use crate::launch_config::{self, Resolved, shell_words};
use crate::output::OutputCategory;

/// The first version that speaks the protocol.
const FIRST: u32 = 14;

#[derive(Debug)]
pub struct Gdb;

impl Adapter for Gdb {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Gdb
    }

    fn name(&self) -> &'static str {
        "gdb"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["C", "C++", "Rust"]
    }

    fn exit_functions(&self) -> &'static [&'static str] {
        &["exit", "_exit"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[("lldb", 2), ("codelldb", 2), ("lldb-dap", 2), ("lldb-vscode", 2), ("cppdbg", 0), ("gdb", 0)]
    }

    fn locate(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Located> {
        let configured = search.configured.get(&self.kind()).cloned();
        let program = configured.or_else(|| search.program(&["gdb"])).ok_or_else(|| {
            missing(
                self.kind(),
                "gdb is not installed",
                "install it with your system's packages, or use lldb-dap",
            )
        })?;
        let said = capture_text(&program.to_string_lossy(), &["-nx", "--version"]).unwrap_or_default();
        let version = version_in(&said);
        let major = version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        if major.is_none_or(|major| major < FIRST) {
            let version = version.as_deref().unwrap_or("unknown");
            return Err(missing(
                self.kind(),
                format!(
                    "gdb {version} does not speak the Debug Adapter Protocol, which began with gdb {FIRST}"
                ),
                "install a newer gdb, or lldb-dap (`apt install lldb-19`)",
            ));
        }
        let quiet = [
            "-nx",
            "-q",
            "-iex",
            "set auto-load off",
            "-iex",
            "set debuginfod enabled off",
            "-iex",
            "set breakpoint pending on",
            "-i",
            "dap",
        ];
        let mut words: Vec<OsString> = quiet.map(Into::into).to_vec();
        if is_rust(arguments, search) {
            words.extend(rust_printers(search));
        }
        Ok(Located { program, arguments: words, environment: Vec::new(), version })
    }

    fn reach(&self) -> Transport {
        Transport::Pipes
    }

    fn read_input_from(
        &self,
        terminal: &Path,
        located: &mut Located,
        _arguments: &mut Map<String, Value>,
    ) -> bool {
        located.arguments.extend(self.terminal_words(terminal).unwrap_or_default());
        true
    }

    fn terminal_words(&self, terminal: &Path) -> Option<Vec<OsString>> {
        let mut command = OsString::from("set inferior-tty ");
        command.push(terminal);
        Some(vec!["-iex".into(), command])
    }

    fn adapter_id(&self) -> &'static str {
        "gdb"
    }

    fn panic_functions(&self, arguments: &Map<String, Value>, search: &Search) -> Vec<&'static str> {
        if is_rust(arguments, search) { vec![RUST_PANIC, "__rustc::rust_panic"] } else { Vec::new() }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        const DIALECT: Dialect = Dialect {
            name: "gdb",
            own_types: &["gdb"],
            launches_without_program: false,
            takes_debugger_path: true,
            write,
        };
        native::translate(resolved, &DIALECT)
    }

    fn suits(&self, resolved: &Resolved) -> bool {
        let asks_for_lldb =
            resolved.kind == "cppdbg" && text(&resolved.arguments, "MIMode").as_deref() == Some("lldb");
        // gdb opens core files over its protocol only in its newest releases.
        let has_core = ["coreDumpPath", "coreFile"]
            .iter()
            .any(|key| text(&resolved.arguments, key).is_some_and(|path| !path.is_empty()));
        !asks_for_lldb && !has_core
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            logs: LogSupport::AloneWithNewline,
            repl_is_command_line: true,
            finds_names_in_scopes: true,
            pages_variables: true,
            prints_after_exit: true,
            clean_output: without_remarks,
            ..AdapterQuirks::NONE
        }
    }
}

/// Rust's own way of showing its vectors, strings and maps, and ours of showing everything in one text.
fn rust_printers(search: &Search) -> Vec<OsString> {
    let Some(folder) = rust_sources_folder() else { return Vec::new() };
    let load = format!(
        "python import sys; sys.path.insert(0, {:?}); import gdb_lookup; gdb_lookup.register_printers(gdb)",
        folder.to_string_lossy()
    );
    let mut words = vec!["-iex".into(), load.into()];
    let contents = [("rust_values.py", include_str!("gdb/rust_values.py"))];
    if let Some(folder) = crate::recorder::kept("rust-values-gdb", &contents, &search.own_folder) {
        let mut command = OsString::from("source ");
        command.push(folder.join(contents[0].0));
        words.extend(["-iex".into(), command]);
    }
    words
}

/// Breakpoints are set before the program is loaded, and gdb says of each that it will wait for it. It also greets, and
/// remarks on threads and libraries.
fn without_remarks(category: OutputCategory, output: &str) -> Cow<'_, str> {
    const REMARKS: [&str; 13] = [
        "No source file named ",
        "No symbol table is loaded.",
        "Function \"",
        "GNU gdb (",
        "[Thread debugging using ",
        "Using host libthread_db ",
        "[New Thread ",
        "[Thread 0x",
        "[Inferior ",
        "[Detaching ",
        "warning: Error disabling address space randomization",
        "Download failed: ",
        "warning: could not find ",
    ];
    let is_remark = |line: &str| {
        REMARKS.iter().any(|remark| line.starts_with(remark))
            || line.starts_with("Breakpoint ") && line.ends_with(" pending.")
    };
    if category == OutputCategory::Console {
        without_lines(output, is_remark)
    } else {
        // gdb 16 sends these as standard output.
        without_lines(output, |line| is_remark(line) && !line.starts_with('['))
    }
}

/// `16.3` of `GNU gdb (Debian 16.3-1) 16.3`.
fn version_in(said: &str) -> Option<String> {
    let line = said.lines().next()?;
    line.split_whitespace()
        .rev()
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
        .map(str::to_owned)
}

/// Writes a configuration in gdb's keys and commands.
fn write(resolved: &Resolved, native: Native, notes: &mut Vec<String>) -> launch_config::Result<Translated> {
    let mut arguments = native.program_arguments();
    let mut put = |key: &str, value: Value| {
        arguments.insert(key.to_owned(), value);
    };
    match native.stop {
        Stop::No => {}
        Stop::AtEntry => put("stopOnEntry", json!(true)),
        Stop::AtMain => put("stopAtBeginningOfMainSubprogram", json!(true)),
    }
    if let Some(process) = native.process {
        put("pid", json!(process));
    }
    if let Some(remote) = &native.remote {
        put("target", json!(remote));
    }
    if let Some(core) = &native.core {
        put("coreFile", json!(core));
        notes.push("gdb opens core files from release 17 on; lldb-dap does in every release".to_owned());
    }
    if native.wait_for {
        return Err(bad(resolved, "uses `waitFor`, which gdb cannot; start the program first".to_owned()));
    }
    if native.terminal {
        put("console", json!("integratedTerminal"));
    }
    let mut commands = Vec::new();
    // gdb's own key `env` would replace the whole environment.
    for (name, value) in &native.env {
        commands.push(match value {
            Some(value) => format!("set environment {name}={value}"),
            None => format!("unset environment {name}"),
        });
    }
    commands.extend(native.source_map.iter().map(|(from, to)| {
        format!("set substitute-path {} {}", shell_words::quoted(from), shell_words::quoted(to))
    }));
    if commands.iter().any(|line| line.contains(['\n', '\r'])) {
        return Err(bad(
            resolved,
            "has a variable or path of more than one line, which gdb cannot be told".to_owned(),
        ));
    }
    match native.commands.language {
        Language::Gdb => commands.extend(native.commands.init),
        Language::Lldb => {
            let all = [
                &native.commands.init,
                &native.commands.pre_run,
                &native.commands.exit,
                &native.commands.instead,
            ];
            let left: Vec<_> = all.into_iter().flatten().map(String::as_str).collect();
            if !left.is_empty() && native.core.is_none() {
                notes.push(format!("commands for LLDB are left out: {}", left.join("; ")));
            }
        }
    }
    Ok(Translated {
        arguments,
        debugger_commands: commands,
        debugger: native.debugger,
        ..Translated::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_read() {
        assert_eq!(super::version_in("GNU gdb (Debian 16.3-1) 16.3\nmore").as_deref(), Some("16.3"));
        assert_eq!(super::version_in("GNU gdb (GDB) 14.1").as_deref(), Some("14.1"));
        assert_eq!(super::version_in(""), None);
    }
}
