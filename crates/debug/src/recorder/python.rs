//! Python: a `sitecustomize` module on PYTHONPATH, which the interpreter imports at its start.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stepwell_workspace::process::Environment;

use super::{RecordedCommand, RecordedLanguage, environment_of, installed, leading};
use crate::Result;
use crate::adapters::{AdapterKind, Search, python};
use crate::launch_config::{self, Resolved};

const FILES: &[(&str, &str)] = &[
    ("sitecustomize.py", include_str!("python/sitecustomize.py")),
    ("stepwell_recorder/__init__.py", include_str!("python/stepwell_recorder/__init__.py")),
    ("stepwell_recorder/failures.py", include_str!("python/stepwell_recorder/failures.py")),
    ("stepwell_recorder/hooks.py", include_str!("python/stepwell_recorder/hooks.py")),
    ("stepwell_recorder/pytest_plugin.py", include_str!("python/stepwell_recorder/pytest_plugin.py")),
    ("stepwell_recorder/records.py", include_str!("python/stepwell_recorder/records.py")),
    ("stepwell_recorder/sources.py", include_str!("python/stepwell_recorder/sources.py")),
    ("stepwell_recorder/tracer.py", include_str!("python/stepwell_recorder/tracer.py")),
    ("stepwell_recorder/values.py", include_str!("python/stepwell_recorder/values.py")),
];
const PLUGIN: &str = "stepwell_recorder.pytest_plugin";
/// Events that a second run follows, in the functions that matter alone.
const FOCUSED_BUDGET: &str = "2000000";

/// Returns the command line of a configuration for debugpy; `None` where there is none, or where its flags keep the
/// recorder out.
pub(super) fn command_of(resolved: &Resolved, search: &Search) -> Option<RecordedCommand> {
    let translated = launch_config::translate(resolved, AdapterKind::Debugpy).ok()?;
    let arguments = &translated.arguments;
    let program = python::of_configuration(arguments, search)?;
    let mut words: Vec<OsString> = listed(arguments, "python").into_iter().skip(1).collect();
    words.extend(listed(arguments, "pythonArgs"));
    let keeps_out = |word: &OsString| {
        let word = word.to_string_lossy();
        word.starts_with('-') && !word.starts_with("--") && word.contains(['I', 'E', 'S'])
    };
    if words.iter().any(keeps_out) {
        return None;
    }
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(module) = text("module") {
        words.extend(["-m".into(), module.into()]);
    } else if let Some(code) = text("code") {
        words.extend(["-c".into(), code.into()]);
    } else {
        words.push(text("program")?.into());
    }
    words.extend(listed(arguments, "args"));
    Some(RecordedCommand {
        program,
        arguments: words,
        folder: PathBuf::from(text("cwd")?),
        environment: environment_of(resolved),
        language: RecordedLanguage::Python,
        input: Vec::new(),
        probes: Vec::new(),
    })
}

fn listed(arguments: &Map<String, Value>, name: &str) -> Vec<OsString> {
    match arguments.get(name) {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(OsString::from).collect(),
        Some(Value::String(word)) => vec![word.into()],
        _ => Vec::new(),
    }
}

/// Follows the functions alone.
pub(super) fn focus(environment: &mut Environment, functions: &[(String, i64)]) {
    let only: Vec<String> = functions.iter().map(|(file, line)| format!("{file}:{line}")).collect();
    environment.set.push(("STEPWELL_RECORD_ONLY".into(), only.join("\n").into()));
    environment.set.push(("STEPWELL_RECORD_BUDGET".into(), FOCUSED_BUDGET.into()));
}

/// Puts the recorder before the program's own search path.
pub(super) fn instrument(environment: &mut Environment, records: &Path, search: &Search) -> Result<()> {
    let scripts = installed("python-recorder", FILES, &search.own_folder, records)?;
    let path = leading(environment, "PYTHONPATH", scripts.as_os_str(), ":");
    let plugins = leading(environment, "PYTEST_PLUGINS", OsStr::new(PLUGIN), ",");
    environment.set.push(("PYTHONPATH".into(), path));
    environment.set.push(("PYTEST_PLUGINS".into(), plugins));
    environment.set.push(("STEPWELL_RECORD".into(), records.into()));
    Ok(())
}
