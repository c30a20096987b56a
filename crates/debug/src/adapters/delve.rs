//! Delve: Go. Measured with 1.20.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{
    Adapter, AdapterKind, How, Located, LogDialect, Manners, Reach, Search, default_to, missing,
    text_argument,
};
use crate::Result;

#[derive(Debug)]
pub struct Delve;

impl Adapter for Delve {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Delve
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

    fn reach(&self) -> Reach {
        Reach::ConnectsBack
    }

    fn address_words(&self, address: &str) -> Vec<OsString> {
        vec![format!("--client-addr={address}").into()]
    }

    fn adapter_id(&self) -> &'static str {
        "go"
    }

    fn complete(&self, how: How, arguments: &mut Map<String, Value>, _search: &Search) {
        if how == How::Launch {
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

    fn manners(&self) -> &'static Manners {
        &Manners {
            logs: LogDialect::WithCondition,
            repl_is_command_line: false,
            scopes_follow_last_request: false,
            walks_plain_paths: false,
            pages_variables: true,
            exception_filters: &[],
            prints_for_the_program: true,
            closes_at_the_end: false,
            prints_late: false,
            clean_output: without_goroutine,
            passing_exceptions: &[],
        }
    }
}

/// Delve puts the goroutine before each message of a log point: `> [Go 1]: text`.
fn without_goroutine(output: &str) -> Cow<'_, str> {
    let message = output.strip_prefix("> [Go ").and_then(|rest| rest.split_once("]: "));
    match message {
        Some((number, message)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Cow::Borrowed(message),
        // Its own last word.
        _ if output == "Detaching\n" => Cow::Borrowed(""),
        _ => Cow::Borrowed(output),
    }
}
