//! lldb-dap (LLDB's own adapter, once lldb-vscode): C, C++, Rust. Measured with 19.1.
//!
//! Under its old name it has no log messages, pages nothing and loses a Rust program's panics (measured with 14.0), so that one is
//! not used.

use std::path::Path;

use serde_json::{Map, Value};

use super::{
    Adapter, AdapterKind, How, Located, LogDialect, Manners, RUST_PANIC, Reach, Search, is_rust, manners,
    missing, prepend, rust_sources_folder,
};
use crate::Result;

#[derive(Debug)]
pub struct LldbDap;

impl Adapter for LldbDap {
    fn kind(&self) -> AdapterKind {
        AdapterKind::LldbDap
    }

    fn locate(&self, search: &Search, _arguments: &Map<String, Value>) -> Result<Located> {
        let names: Vec<String> = std::iter::once("lldb-dap".to_owned())
            .chain((18..=23).rev().map(|version| format!("lldb-dap-{version}")))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let configured = search.configured.get(&self.kind()).cloned();
        // By its absolute path, or its way of running programs in a terminal looks for it in the current folder.
        let program = configured.or_else(|| search.program(&names)).ok_or_else(|| {
            let too_old = search.program(&[
                "lldb-vscode",
                "lldb-vscode-17",
                "lldb-vscode-16",
                "lldb-vscode-15",
                "lldb-vscode-14",
            ]);
            missing(
                self.kind(),
                match too_old.as_deref().and_then(Path::file_name) {
                    Some(name) => {
                        format!("`{}` is older than lldb-dap, which began with LLDB 18", name.display())
                    }
                    None => "lldb-dap is not installed".to_owned(),
                },
                "install it: `apt install lldb-19`, `brew install llvm`, or your system's package of LLDB",
            )
        })?;
        let version = program
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.rsplit_once('-'))
            .map(|(_, version)| version.to_owned())
            .filter(|version| version.parse::<u32>().is_ok());
        Ok(Located { program, arguments: Vec::new(), environment: Vec::new(), version })
    }

    fn reach(&self) -> Reach {
        Reach::Pipes
    }

    fn adapter_id(&self) -> &'static str {
        "lldb-dap"
    }

    fn initialize_extras(&self, extras: &mut Map<String, Value>) {
        // A repository's `.lldbinit` runs nothing.
        extras.insert("sourceInitFile".to_owned(), Value::Bool(false));
    }

    fn complete(&self, _how: How, arguments: &mut Map<String, Value>, search: &Search) {
        let mut commands = safe_commands();
        if is_rust(arguments, search) {
            commands.extend(rust_formatters());
        }
        prepend(arguments, "initCommands", commands);
    }

    fn panic_functions(&self, arguments: &Map<String, Value>, search: &Search) -> Vec<&'static str> {
        if is_rust(arguments, search) { vec![RUST_PANIC] } else { Vec::new() }
    }

    fn manners(&self) -> &'static Manners {
        &Manners {
            logs: LogDialect::WithCondition,
            repl_is_command_line: true,
            scopes_follow_last_request: true,
            walks_plain_paths: true,
            pages_variables: true,
            exception_filters: &[],
            prints_for_the_program: false,
            closes_at_the_end: false,
            prints_late: false,
            clean_output: manners::as_it_is,
            passing_exceptions: &[],
        }
    }
}

/// Scripts beside a binary are not run.
pub(super) fn safe_commands() -> Vec<String> {
    vec!["settings set target.load-script-from-symbol-file false".to_owned()]
}

/// Rust's own way of showing its vectors, strings and maps.
pub(super) fn rust_formatters() -> Vec<String> {
    let Some(folder) = rust_sources_folder() else { return Vec::new() };
    let (lookup, commands) = (folder.join("lldb_lookup.py"), folder.join("lldb_commands"));
    if !lookup.is_file() || !commands.is_file() {
        return Vec::new();
    }
    vec![
        format!("command script import \"{}\"", lookup.display()),
        format!("command source -s 1 \"{}\"", commands.display()),
    ]
}
