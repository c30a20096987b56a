//! Python: interpreters, modules, scripts, pytest.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, shown, target, text};
use crate::launch_config::{Context, find_python, is_file, unused_environment};

/// `python`, `python3`, `python3.11`, `pypy3`.
pub(super) fn is_interpreter(name: &str) -> bool {
    let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|rest| rest.chars().all(|found| found.is_ascii_digit() || found == '.'))
}

/// The interpreter a word means: its path, a version on the search path, or the folder's own.
fn python_for(word: &str, call: &Call, ctx: &Context) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(call.place(word));
    }
    if matches!(word, "python" | "python3") { find_python(ctx) } else { ctx.on_path(word) }
}

/// Why there is no interpreter: the only one lies in a folder that is not trusted, or there is none.
fn no_python(word: &str, ctx: &Context) -> TargetError {
    match unused_environment(ctx) {
        Some(environment) => TargetError::Untrusted { program: format!("{environment}/bin/python") },
        None => TargetError::NotFound { program: word.to_owned() },
    }
}

/// `python [flags] script`, `-m module` or `-c code`.
pub(super) fn interpreter(call: &Call, ctx: &Context) -> Result<Target> {
    let word = &call.words[0];
    let python = python_for(word, call, ctx).ok_or_else(|| no_python(word, ctx))?;
    let mut flags = Vec::new();
    let mut rest = call.arguments().iter();
    while let Some(argument) = rest.next() {
        let behind = rest.as_slice();
        let needed = |what: &str| {
            behind
                .first()
                .cloned()
                .ok_or_else(|| TargetError::not_debuggable(word, &format!("`{argument}` names no {what}")))
        };
        match argument.as_str() {
            "-m" => {
                let module = needed("module")?;
                return Ok(of_module(call, Some(&python), &flags, &module, &behind[1..]));
            }
            "-c" => {
                let code = needed("code")?;
                let arguments =
                    json!({"code": code, "args": behind[1..], "python": text(&python), "pythonArgs": flags});
                return Ok(target(
                    call,
                    "debugpy",
                    "python -c",
                    arguments,
                    "Run the code given to Python under debugpy.".to_owned(),
                ));
            }
            "-X" | "-W" => {
                flags.push(argument.clone());
                flags.push(needed("value")?);
                rest.next();
            }
            "-" => break,
            flag if flag.starts_with('-') => flags.push(flag.to_owned()),
            script => {
                let path = call.place(script);
                if !is_file(&path) && !is_file(&path.join("__main__.py")) {
                    return Err(TargetError::NotFound { program: script.to_owned() });
                }
                return Ok(of_script(call, Some(&python), &flags, &path, behind));
            }
        }
    }
    Err(TargetError::not_debuggable(word, "no script, module or code is given"))
}

/// A script by its file; one with an interpreter in its first line runs with that.
pub(super) fn script(
    call: &Call,
    ctx: &Context,
    path: &Path,
    interpreter: Option<PathBuf>,
    arguments: &[String],
) -> Result<Target> {
    let python = interpreter
        .filter(|python| is_file(python) && !python.starts_with("/usr"))
        .or_else(|| find_python(ctx));
    let python = python.ok_or_else(|| no_python("python3", ctx))?;
    Ok(of_script(call, Some(&python), &[], path, arguments))
}

pub(super) fn pytest(call: &Call, ctx: &Context) -> Result<Target> {
    let word = &call.words[0];
    // The interpreter beside the script of that name is the one it runs with.
    let beside = call.place(word).with_file_name("python");
    let python = if word.contains('/') && is_file(&beside) { Some(beside) } else { find_python(ctx) };
    let python = python.ok_or_else(|| no_python("python3", ctx))?;
    Ok(of_module(call, Some(&python), &[], "pytest", call.arguments()))
}

fn of_module(
    call: &Call,
    python: Option<&Path>,
    flags: &[String],
    module: &str,
    arguments: &[String],
) -> Target {
    let is_tests = matches!(module, "pytest" | "unittest" | "nose2");
    let with = python.map(|python| format!(" with `{}`", shown(python, call))).unwrap_or_default();
    let how = if is_tests {
        format!("Run the tests by {module}{with} under debugpy.")
    } else {
        format!("Run the module `{module}`{with} under debugpy.")
    };
    let fields = json!({
        "module": module,
        "args": arguments,
        "python": python.map(text),
        "pythonArgs": flags,
        // What a test calls is often a library's; its frames matter there.
        "purpose": if is_tests { json!(["debug-test"]) } else { Value::Null },
    });
    target(call, "debugpy", &format!("python -m {module}"), fields, how)
}

fn of_script(
    call: &Call,
    python: Option<&Path>,
    flags: &[String],
    path: &Path,
    arguments: &[String],
) -> Target {
    let name = shown(path, call);
    let with = python.map(|python| format!(" with `{}`", shown(python, call))).unwrap_or_default();
    let fields =
        json!({"program": text(path), "args": arguments, "python": python.map(text), "pythonArgs": flags});
    target(call, "debugpy", &name, fields, format!("Run `{name}`{with} under debugpy."))
}
