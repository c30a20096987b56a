//! Node: a script that NODE_OPTIONS names, for commands in which other programs start Node or change its sources: test
//! runners, package scripts, transpilers. Node's own scripts run under `adapters::node`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stepwell_workspace::process::{Environment, find_program};

use super::{RecordedCommand, RecordedLanguage, environment_of, installed, words_of, write_all};
use crate::Result;
use crate::adapters::{Search, needs_js_debug};
use crate::launch_config::Resolved;

const FILES: &[(&str, &str)] = &[
    ("recorder.cjs", include_str!("node/recorder.cjs")),
    ("source_maps.cjs", include_str!("node/source_maps.cjs")),
];
const PROBES: &str = "probes.json";

/// A function that is followed: its lines, and the names whose values count.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub file: PathBuf,
    pub lines: Vec<i64>,
    pub names: Vec<String>,
}

/// Returns the command line of a configuration for js-debug; `None` for what it alone can do.
pub(super) fn command_of(resolved: &Resolved, search: &Search) -> Option<RecordedCommand> {
    if needs_js_debug(&resolved.arguments, &search.workspace) {
        any_command_of(resolved, search)
    } else {
        None
    }
}

/// The same for scripts that a debugger outside of Node can run as well.
pub(super) fn any_command_of(resolved: &Resolved, search: &Search) -> Option<RecordedCommand> {
    let arguments = &resolved.arguments;
    if arguments.contains_key("outFiles") {
        return None;
    }
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let runtime = text("runtimeExecutable").unwrap_or("node");
    let mut words = words_of(resolved, "runtimeArgs");
    words.extend(text("program").map(OsString::from));
    words.extend(words_of(resolved, "args"));
    if words.is_empty() {
        return None;
    }
    let is_debuggers = |word: &OsString| {
        word.to_string_lossy().starts_with("--inspect")
            || resolved.only_for_debuggers.iter().any(|own| word == own.as_str())
    };
    words.retain(|word| !is_debuggers(word));
    Some(RecordedCommand {
        program: find_program(runtime, &search.workspace)?,
        arguments: words,
        folder: PathBuf::from(text("cwd")?),
        environment: environment_of(resolved),
        language: RecordedLanguage::Node,
        input: Vec::new(),
        probes: Vec::new(),
    })
}

/// Lets Node load the recorder before anything else.
pub(super) fn instrument(
    environment: &mut Environment,
    records: &Path,
    search: &Search,
    probes: &[Probe],
) -> Result<()> {
    let scripts = installed("node-recorder", FILES, &search.own_folder, records)?;
    // Where one hangs, each process opens an inspector at a port of its own.
    let mut options = OsString::from("--inspect-port=127.0.0.1:0 --require=");
    // Node takes a quoted word whole; a quote in it is escaped.
    options.push(quoted(scripts.join("recorder.cjs").as_os_str()));
    let options = super::leading(environment, "NODE_OPTIONS", &options, " ");
    environment.set.push(("NODE_OPTIONS".into(), options));
    environment.set.push(("STEPWELL_RECORD".into(), records.into()));
    if !probes.is_empty() {
        let listed = probes.iter().map(
            |probe| json!({ "file": probe.file.to_string_lossy(), "lines": probe.lines, "names": probe.names }),
        );
        let listed = Value::Array(listed.collect()).to_string();
        write_all(records, &[(PROBES, &listed)])?;
        environment.set.push(("STEPWELL_RECORD_PROBES".into(), records.join(PROBES).into()));
    }
    Ok(())
}

fn quoted(word: &OsStr) -> String {
    format!("\"{}\"", word.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}
