//! CodeLLDB: C, C++, Rust. Measured with 1.11.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{
    Adapter, AdapterKind, How, Located, LogDialect, Manners, Reach, Search, is_rust, lldb_dap, manners,
    missing, prepend,
};
use crate::Result;

#[derive(Debug)]
pub struct CodeLldb;

impl Adapter for CodeLldb {
    fn kind(&self) -> AdapterKind {
        AdapterKind::CodeLldb
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

    fn reach(&self) -> Reach {
        Reach::ConnectsBack
    }

    fn address_words(&self, address: &str) -> Vec<OsString> {
        // It takes the port alone.
        let port = address.rsplit_once(':').map_or(address, |(_, port)| port);
        vec!["--connect".into(), port.into()]
    }

    fn adapter_id(&self) -> &'static str {
        "lldb"
    }

    fn complete(&self, how: How, arguments: &mut Map<String, Value>, search: &Search) {
        prepend(arguments, "initCommands", lldb_dap::safe_commands());
        // Its own way of reading expressions is Python's: `a && b` would be an error there, and the condition as good as none.
        arguments.entry("expressions").or_insert_with(|| json!("native"));
        if is_rust(arguments, search) {
            arguments.entry("sourceLanguages").or_insert_with(|| json!(["rust"]));
        }
        if how == How::Launch {
            // Output reaches us as events; a terminal of its own would swallow it.
            arguments.entry("terminal").or_insert_with(|| json!("console"));
        }
    }

    fn manners(&self) -> &'static Manners {
        &Manners {
            logs: LogDialect::WithCondition,
            repl_is_command_line: true,
            scopes_follow_last_request: false,
            walks_plain_paths: true,
            pages_variables: false,
            exception_filters: &["rust_panic"],
            prints_for_the_program: false,
            closes_at_the_end: false,
            prints_late: false,
            clean_output: manners::as_it_is,
            passing_exceptions: &[],
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
