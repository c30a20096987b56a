//! Delve: Go. Measured with 1.20.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use stepwell_workspace::files::ReadFile;

use super::quirks::without_lines;
use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, LogSupport, Search, StartMode, Transport, asked_version,
    default_to, missing, text_argument,
};
use crate::Result;
use crate::launch_config::resolve::text;
use crate::launch_config::translate::{Translated, arguments_list, below, leave_out, process_id};
use crate::launch_config::{self, Request, Resolved, is_file};
use crate::output::OutputCategory;

#[derive(Debug)]
pub struct Delve;

impl Adapter for Delve {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Delve
    }

    fn name(&self) -> &'static str {
        "delve"
    }

    fn languages(&self) -> &'static [&'static str] {
        &["Go"]
    }

    fn exit_functions(&self) -> &'static [&'static str] {
        &["os.Exit"]
    }

    fn types(&self) -> &'static [(&'static str, u8)] {
        &[("go", 0), ("delve", 0)]
    }

    fn locate(&self, search: &Search, _arguments: &Map<String, Value>) -> Result<Located> {
        let configured = search.configured.get(&self.kind()).cloned();
        let at_home = ["GOBIN", "GOPATH"].iter().find_map(|name| {
            let folder = PathBuf::from(std::env::var_os(name)?);
            [folder.join("dlv"), folder.join("bin/dlv")].into_iter().find(|dlv| dlv.is_file())
        });
        let default = std::env::var_os("HOME").map(|home| PathBuf::from(home).join("go/bin/dlv"));
        let program = configured
            .or_else(|| search.program(&["dlv"]))
            .or(at_home)
            .or_else(|| default.filter(|dlv| dlv.is_file()))
            .ok_or_else(|| {
                missing(
                    self.kind(),
                    "delve (dlv) is not installed",
                    "install it: `go install github.com/go-delve/delve/cmd/dlv@latest` or `apt install delve`",
                )
            })?;
        Ok(Located {
            program,
            arguments: vec!["dap".into(), "--check-go-version=false".into()],
            environment: Vec::new(),
            version: None,
        })
    }

    fn reach(&self) -> Transport {
        Transport::ConnectBack
    }

    fn address_words(&self, address: &str) -> Vec<OsString> {
        vec![format!("--client-addr={address}").into()]
    }

    fn adapter_id(&self) -> &'static str {
        "go"
    }

    fn complete(&self, how: StartMode, arguments: &mut Map<String, Value>, _search: &Search) {
        if how == StartMode::Launch {
            default_to(arguments, "mode", "debug");
            // From 1.24 on output comes as events; before, through the adapter's own streams.
            default_to(arguments, "outputMode", "remote");
            default_to(arguments, "hideSystemGoroutines", true);
        } else {
            default_to(arguments, "mode", "local");
        }
    }

    /// It builds where it stands, and that must be inside the module.
    fn folder(&self, arguments: &Map<String, Value>) -> Option<PathBuf> {
        let program = PathBuf::from(text_argument(arguments, "program")?);
        let folder = if program.is_dir() { program } else { program.parent().map(Path::to_path_buf)? };
        folder.is_dir().then_some(folder)
    }

    /// A test that fails without a panic says so there.
    fn panic_functions(&self, arguments: &Map<String, Value>, _search: &Search) -> Vec<&'static str> {
        if text_argument(arguments, "mode") == Some("test") {
            vec!["testing.(*common).Fail"]
        } else {
            Vec::new()
        }
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        translate(resolved)
    }

    fn version(&self, located: &Located) -> Option<String> {
        asked_version(&located.program, "version")
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        &AdapterQuirks {
            logs: LogSupport::WithCondition,
            pages_variables: true,
            stdio_is_program_output: true,
            clean_output: without_goroutine,
            ..AdapterQuirks::NONE
        }
    }
}

/// Delve puts the goroutine before each message of a log point: `> [Go 1]: text`. It also says what it does.
fn without_goroutine(category: OutputCategory, output: &str) -> Cow<'_, str> {
    let message = output.strip_prefix("> [Go ").and_then(|rest| rest.split_once("]: "));
    match message {
        Some((number, message)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Cow::Borrowed(message),
        // Before 1.24 the adapter's own streams are the program's.
        _ => without_lines(output, |line| {
            line == "Detaching" && category == OutputCategory::Console
                || line.starts_with("DAP server listening at: ")
                || line.starts_with("Type 'dlv help' ")
                || line.starts_with("API server listening at: ")
        }),
    }
}

/// Chooses the mode and the package as the Go extension would.
fn translate(resolved: &Resolved) -> launch_config::Result<Translated> {
    let mut arguments = resolved.arguments.clone();
    let args = arguments_list(resolved, arguments.shift_remove("args"))?;
    if !args.is_empty() {
        arguments.insert("args".to_owned(), json!(args));
    }
    let debugger = text(&arguments, "dlvToolPath");
    let mut notes = Vec::new();
    leave_out(&mut arguments, &["dlvFlags", "asRoot"], "delve's protocol", &mut notes);
    for extensions_own in
        ["apiVersion", "debugAdapter", "dlvToolPath", "logDest", "logOutput", "showLog", "trace"]
    {
        arguments.shift_remove(extensions_own);
    }
    match resolved.request {
        Request::Launch => launch_with_delve(resolved, &mut arguments),
        Request::Attach => {
            let mode =
                text(&arguments, "mode").filter(|mode| mode != "auto").unwrap_or_else(|| "local".to_owned());
            if mode == "local" {
                let process = arguments.get("processId").cloned().unwrap_or_default();
                arguments.insert("processId".to_owned(), json!(process_id(resolved, &process)?));
            }
            arguments.insert("mode".to_owned(), json!(mode));
        }
    }
    // Without it the program's output is lost over TCP; releases before 1.24 ignore it.
    arguments.entry("outputMode").or_insert(json!("remote"));
    Ok(Translated { arguments, debugger, notes, request: resolved.request, ..Translated::default() })
}

fn launch_with_delve(resolved: &Resolved, arguments: &mut Map<String, Value>) {
    let program = below(resolved, text(arguments, "program"));
    let written = text(arguments, "mode").filter(|mode| mode != "auto" && !mode.is_empty());
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let mode = written.unwrap_or_else(|| {
        let mode = if name.ends_with("_test.go") {
            "test"
        } else if is_elf(&program) {
            "exec"
        } else {
            "debug"
        };
        mode.to_owned()
    });
    let is_source = name.ends_with(".go");
    // A test is of a package, not of a file.
    let package = if is_source { program.parent().unwrap_or(&program) } else { &program };
    let target = if mode == "test" { package } else { &program };
    arguments.insert("program".to_owned(), json!(target.to_string_lossy()));
    if matches!(mode.as_str(), "debug" | "test") {
        // Go looks for go.mod from the folder it is started in.
        arguments.entry("dlvCwd").or_insert(json!(package.to_string_lossy()));
    }
    arguments.insert("mode".to_owned(), json!(mode));
}

fn is_elf(path: &Path) -> bool {
    is_file(path)
        && ReadFile::open(path).and_then(|file| file.read_range(0, 4)).is_ok_and(|bytes| bytes == b"\x7fELF")
}
