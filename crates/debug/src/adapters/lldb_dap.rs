//! lldb-dap (LLDB's own adapter, once lldb-vscode): C, C++, Rust. Measured with 19.1.
//!
//! Under its old name it has no log messages, pages nothing and loses a Rust program's panics (measured with 14.0), so that one is
//! not used.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value, json};
use stepwell_workspace::files;

use super::quirks::without_lines;
use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, LogSupport, RUST_PANIC, Search, StartMode, Transport,
    asked_version, is_rust, missing, prepend,
};
use crate::Result;
use crate::launch_config::translate::Translated;
use crate::launch_config::translate::native::{self, Dialect, Language, Native, Stop};
use crate::launch_config::{self, Resolved};
use crate::output::OutputCategory;

#[derive(Debug)]
pub struct LldbDap;

impl Adapter for LldbDap {
    fn kind(&self) -> AdapterKind {
        AdapterKind::LldbDap
    }

    fn name(&self) -> &'static str {
        "lldb-dap"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["C", "C++", "Rust"]
    }

    fn exit_functions(&self) -> &'static [&'static str] {
        &["exit", "_exit"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[("lldb", 1), ("codelldb", 1), ("lldb-dap", 0), ("lldb-vscode", 0), ("cppdbg", 1), ("gdb", 1)]
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

    fn read_input_from(
        &self,
        terminal: &Path,
        _located: &mut Located,
        arguments: &mut Map<String, Value>,
    ) -> bool {
        prepend(
            arguments,
            "initCommands",
            vec![format!("settings set target.input-path \"{}\"", terminal.display())],
        );
        true
    }

    fn reach(&self) -> Transport {
        Transport::Pipes
    }

    fn adapter_id(&self) -> &'static str {
        "lldb-dap"
    }

    fn initialize_extras(&self, extras: &mut Map<String, Value>) {
        // A repository's `.lldbinit` runs nothing.
        extras.insert("sourceInitFile".to_owned(), Value::Bool(false));
    }

    fn complete(&self, _how: StartMode, arguments: &mut Map<String, Value>, search: &Search) {
        let mut commands = safe_commands();
        if is_rust(arguments, search) {
            commands.extend(rust_values(search));
        }
        prepend(arguments, "initCommands", commands);
    }

    fn panic_functions(&self, arguments: &Map<String, Value>, search: &Search) -> Vec<&'static str> {
        if is_rust(arguments, search) { vec![RUST_PANIC] } else { Vec::new() }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        const DIALECT: Dialect = Dialect {
            name: "lldb-dap",
            own_types: &["lldb-dap", "lldb-vscode"],
            launches_without_program: false,
            takes_debugger_path: false,
            write,
        };
        native::translate(resolved, &DIALECT)
    }

    fn version(&self, located: &Located) -> Option<String> {
        // It has no version of its own; the debugger beside it has.
        let lldb = files::resolved(&located.program).with_file_name("lldb");
        located.version.clone().or_else(|| asked_version(&lldb, "--version"))
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            logs: LogSupport::WithCondition,
            repl_is_command_line: true,
            scopes_follow_last_request: true,
            finds_names_in_scopes: true,
            pages_variables: true,
            clean_output: without_remarks,
            ..AdapterQuirks::NONE
        }
    }
}

/// LLDB complains about debug information that it does not understand, and tells when programs begin and end.
pub(super) fn without_remarks(category: OutputCategory, output: &str) -> Cow<'_, str> {
    without_lines(output, |line| {
        is_complaint(line) || category == OutputCategory::Console && is_process_message(line)
    })
}

/// Whether a line is about an entry of the debug information: `warning: (x86_64) PROGRAM 0x0000abcd: DW_TAG_member ...`.
fn is_complaint(line: &str) -> bool {
    let at_entry = |at: usize| {
        let before = line[..at].trim_end().trim_end_matches([':', '<', '(', '[']);
        let number = before.rsplit([' ', '[', '(']).next().unwrap_or_default();
        number.starts_with("0x") || before.ends_with("DIE") || before.ends_with("die")
    };
    (line.starts_with("warning: ") || line.starts_with("error: "))
        && (line.find("DW_TAG_").is_some_and(at_entry) || line.contains("}: DIE has DW_AT_"))
}

/// Whether a line tells the state of the process.
fn is_process_message(line: &str) -> bool {
    let told = |line: &str| {
        ["exited", "launched", "stopped", "resuming", "detached"].iter().any(|word| line.starts_with(word))
    };
    let of_process = line
        .strip_prefix("Process ")
        .map(|rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start());
    of_process.is_some_and(told)
        || ["Stop reason: ", "Launched process ", "Launching: ", "Attached to process ", "Console is in "]
            .iter()
            .any(|beginning| line.starts_with(beginning))
}

/// Scripts beside a binary are not run.
pub(super) fn safe_commands() -> Vec<String> {
    vec!["settings set target.load-script-from-symbol-file false".to_owned()]
}

/// Shows Rust's values as Rust prints them. The scripts that come with Rust take an `Ok` for an `Err` where LLDB cuts the
/// numbers of variants, and may not return from a variant that is not there.
fn rust_values(search: &Search) -> Option<String> {
    let contents = [("rust_values.py", include_str!("lldb_dap/rust_values.py"))];
    let folder = crate::recorder::kept("rust-values", &contents, &search.own_folder)?;
    Some(format!("command script import \"{}\"", folder.join(contents[0].0).display()))
}

/// Writes the keys that LLDB's two adapters share.
pub(super) fn write_lldb(
    native: &mut Native,
    more_init: Vec<String>,
    notes: &mut Vec<String>,
) -> Map<String, Value> {
    let mut arguments = native.program_arguments();
    let mut put = |key: &str, value: Value| {
        arguments.insert(key.to_owned(), value);
    };
    match native.stop {
        Stop::No => {}
        Stop::AtEntry => put("stopOnEntry", json!(true)),
        Stop::AtMain => native.commands.pre_run.push("breakpoint set --one-shot true --name main".to_owned()),
    }
    if let Some(process) = native.process {
        put("pid", json!(process));
    }
    if native.wait_for {
        put("waitFor", json!(true));
    }
    if native.commands.language == Language::Gdb && !native.commands.init.is_empty() {
        notes.push(format!("commands for gdb are left out: {}", native.commands.init.join("; ")));
        native.commands.init.clear();
    }
    native.commands.init.extend(more_init);
    let commands = &native.commands;
    for (key, lines) in [
        ("initCommands", &commands.init),
        ("preRunCommands", &commands.pre_run),
        ("exitCommands", &commands.exit),
    ] {
        if !lines.is_empty() {
            put(key, json!(lines));
        }
    }
    arguments
}

/// Writes a configuration in lldb-dap's keys.
#[expect(clippy::unnecessary_wraps, reason = "gdb's can fail, and all have one type")]
fn write(_: &Resolved, mut native: Native, notes: &mut Vec<String>) -> launch_config::Result<Translated> {
    let taken_out = native.env.iter().filter(|(_, value)| value.is_none());
    let unset = taken_out
        .map(|(name, _)| format!("settings append target.unset-env-vars {name}"))
        .collect::<Vec<_>>();
    native.env.retain(|(_, value)| value.is_some());
    let mut arguments = write_lldb(&mut native, unset, notes);
    if !native.env.is_empty() {
        // Releases before 21 take a list alone.
        let pairs: Vec<_> = native
            .env
            .iter()
            .map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or_default()))
            .collect();
        arguments.insert("env".to_owned(), json!(pairs));
    }
    if native.terminal {
        arguments.insert("runInTerminal".to_owned(), json!(true));
    }
    if !native.source_map.is_empty() {
        arguments.insert("sourceMap".to_owned(), json!(native.source_map));
    }
    if let Some(core) = native.core {
        arguments.insert("coreFile".to_owned(), json!(core));
    } else if let Some(remote) = native.remote {
        arguments.insert("attachCommands".to_owned(), json!([format!("gdb-remote {remote}")]));
    } else if !native.commands.instead.is_empty() {
        let key = if native.process.is_some() { "attachCommands" } else { "launchCommands" };
        arguments.insert(key.to_owned(), json!(native.commands.instead));
    }
    Ok(Translated { arguments, debugger: native.debugger, ..Translated::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_about_debug_information_are_no_output_of_the_program() {
        let complaints = "\
            warning: (x86_64) /work/shop 0x0000a1b2: DW_TAG_member '_M_local_buf' refers to type 0x0000c3d4 which extends beyond the bounds of 0x0000a1aa\n\
            error: shop {0x0000004b}: DIE has DW_AT_ranges(DW_FORM_sec_offset 0x47) attribute, but range extraction failed\n\
            error: shop [0x0000000000000a2f]: DW_TAG_structure_type has an invalid attribute\n\
            warning: (x86_64) shop unable to locate module needed for external types: die 0x12 DW_TAG_typedef\n";
        let own =
            "begin\nerror: no DW_TAG_member in this file\nDW_TAG_member is a word\nwarning: 0x10 apples\n";
        for category in [OutputCategory::Stdout, OutputCategory::Stderr, OutputCategory::Console] {
            let mixed = format!("{complaints}{own}");
            assert_eq!(without_remarks(category, &mixed), own, "{category:?}");
        }
    }
}
