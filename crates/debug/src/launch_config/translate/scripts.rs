//! Python, Go, JavaScript, Ruby, Java and shell scripts: defaults that extensions would fill in, older spellings.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use stepwell_workspace::files::ReadFile;

use super::{Translated, arguments_list, bad, process_id};
use crate::launch_config::context::is_file;
use crate::launch_config::error::Result;
use crate::launch_config::resolve::{Request, Resolved, port, text};

/// The arguments with `args` as a list and a folder to run in.
fn base(resolved: &Resolved) -> Result<Map<String, Value>> {
    let mut arguments = resolved.arguments.clone();
    if let Some(args) = arguments.get("args").cloned() {
        arguments.insert("args".to_owned(), json!(arguments_list(resolved, Some(args))?));
    }
    if resolved.request == Request::Launch && text(&arguments, "cwd").is_none_or(|cwd| cwd.is_empty()) {
        arguments.insert("cwd".to_owned(), json!(resolved.folder.to_string_lossy()));
    }
    if let Some(process) = arguments.get("processId").filter(|value| !value.is_null()) {
        let process = process_id(resolved, process)?;
        arguments.insert("processId".to_owned(), json!(process));
    }
    Ok(arguments)
}

/// The path of `program` seen from the folder.
fn absolute_program(resolved: &Resolved, arguments: &mut Map<String, Value>) {
    if let Some(program) = text(arguments, "program").filter(|program| !program.is_empty()) {
        let path = resolved.folder.join(program);
        arguments.insert("program".to_owned(), json!(path.to_string_lossy()));
    }
}

/// A path seen from the folder, which is meant where none is written.
fn below(resolved: &Resolved, path: Option<String>) -> PathBuf {
    match path.filter(|path| !path.is_empty()) {
        Some(path) => resolved.folder.join(path),
        None => resolved.folder.clone(),
    }
}

fn leave_out(arguments: &mut Map<String, Value>, keys: &[&str], adapter: &str, notes: &mut Vec<String>) {
    for key in keys {
        if arguments.shift_remove(*key).is_some() {
            notes.push(format!("`{key}` has no meaning for {adapter} and is left out"));
        }
    }
}

pub(super) fn debugpy(resolved: &Resolved) -> Result<Translated> {
    let mut arguments = base(resolved)?;
    absolute_program(resolved, &mut arguments);
    if let Some(path) = arguments.shift_remove("pythonPath") {
        arguments.entry("python").or_insert(path);
    }
    let debugger = match arguments.get("python") {
        Some(Value::Array(words)) => words.first().and_then(Value::as_str).map(ToOwned::to_owned),
        Some(Value::String(path)) => Some(path.clone()),
        _ => None,
    };
    match resolved.request {
        Request::Launch => {
            let named =
                ["program", "module", "code"].iter().filter(|key| arguments.contains_key(**key)).count();
            if named == 0 {
                return Err(bad(resolved, "names neither `program` nor `module` nor `code`".to_owned()));
            }
            arguments.entry("redirectOutput").or_insert(json!(true));
        }
        Request::Attach => {
            // `host` and `port` were the only way once.
            let old_port = arguments.shift_remove("port");
            let old_host = arguments.shift_remove("host");
            if let Some(number) = old_port.as_ref().and_then(port)
                && !arguments.contains_key("connect")
                && !arguments.contains_key("listen")
            {
                let host = old_host.and_then(|host| host.as_str().map(ToOwned::to_owned));
                let host = host.unwrap_or_else(|| "localhost".to_owned());
                arguments.insert("connect".to_owned(), json!({"host": host, "port": number}));
            }
            let (local, remote) = (arguments.shift_remove("localRoot"), arguments.shift_remove("remoteRoot"));
            if let (Some(local), Some(remote)) = (local, remote) {
                arguments
                    .entry("pathMappings")
                    .or_insert(json!([{"localRoot": local, "remoteRoot": remote}]));
            }
            if !["connect", "listen", "processId"].iter().any(|key| arguments.contains_key(*key)) {
                return Err(bad(resolved, "names neither `connect` nor `listen` nor `processId`".to_owned()));
            }
        }
    }
    arguments.entry("showReturnValue").or_insert(json!(true));
    arguments.insert("name".to_owned(), json!(resolved.name));
    arguments.insert("type".to_owned(), json!("python"));
    arguments.insert("request".to_owned(), json!(resolved.request.name()));
    arguments.entry("workspaceFolder").or_insert(json!(resolved.folder.to_string_lossy()));
    Ok(Translated { arguments, debugger, request: resolved.request, ..Translated::default() })
}

pub(super) fn delve(resolved: &Resolved) -> Result<Translated> {
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

pub(super) fn js_debug(resolved: &Resolved) -> Result<Translated> {
    let mut arguments = resolved.arguments.clone();
    if let Some(args) = arguments.get("args").cloned() {
        arguments.insert("args".to_owned(), json!(arguments_list(resolved, Some(args))?));
    }
    let kind = match resolved.kind.as_str() {
        "chrome" | "pwa-chrome" => "pwa-chrome",
        "msedge" | "pwa-msedge" => "pwa-msedge",
        "extensionHost" | "pwa-extensionHost" => "pwa-extensionHost",
        _ => "pwa-node",
    };
    let mut notes = Vec::new();
    leave_out(&mut arguments, &["runtimeVersion"], "js-debug outside of an editor", &mut notes);
    for older in ["protocol", "useWSL"] {
        arguments.shift_remove(older);
    }
    if resolved.kind == "node-terminal" && resolved.request == Request::Launch {
        let Some(command) = arguments.shift_remove("command").filter(Value::is_string) else {
            return Err(bad(resolved, "names no `command`".to_owned()));
        };
        arguments.insert("runtimeExecutable".to_owned(), json!("/bin/sh"));
        arguments.insert("runtimeArgs".to_owned(), json!(["-c", command]));
    }
    if kind == "pwa-node" {
        let cwd = below(resolved, text(&arguments, "cwd"));
        arguments.insert("cwd".to_owned(), json!(cwd.to_string_lossy()));
        if let Some(program) = text(&arguments, "program") {
            arguments.insert("program".to_owned(), json!(cwd.join(program).to_string_lossy()));
        }
    }
    if let Some(number) = arguments.get("port").and_then(port) {
        arguments.insert("port".to_owned(), json!(number));
    }
    let debugger = text(&arguments, "runtimeExecutable").filter(|_| resolved.kind != "node-terminal");
    arguments.insert("name".to_owned(), json!(resolved.name));
    arguments.insert("type".to_owned(), json!(kind));
    arguments.insert("request".to_owned(), json!(resolved.request.name()));
    arguments.insert("__workspaceFolder".to_owned(), json!(resolved.folder.to_string_lossy()));
    Ok(Translated { arguments, debugger, notes, request: resolved.request, ..Translated::default() })
}

/// Node itself takes the same words, as far as they mean something without an editor.
pub(super) fn node(resolved: &Resolved) -> Result<Translated> {
    let mut translated = js_debug(resolved)?;
    for extensions_own in ["type", "__workspaceFolder"] {
        translated.arguments.shift_remove(extensions_own);
    }
    Ok(translated)
}

pub(super) fn rdbg(resolved: &Resolved) -> Result<Translated> {
    let mut arguments = base(resolved)?;
    // The language server's extension writes a whole command line into `program`.
    if let Some(line) =
        arguments.shift_remove("program").and_then(|line| line.as_str().map(ToOwned::to_owned))
    {
        let mut words = arguments_list(resolved, Some(json!(line)))?.into_iter().peekable();
        if words.next_if(|word| word == "ruby").is_none()
            && let Some(command) =
                words.next_if(|word| Path::new(word).extension().is_none_or(|end| end != "rb"))
        {
            arguments.insert("command".to_owned(), json!(command));
        }
        if let Some(script) = words.next() {
            arguments.insert("script".to_owned(), json!(script));
        }
        let rest: Vec<String> = words.collect();
        if !rest.is_empty() {
            arguments.insert("args".to_owned(), json!(rest));
        }
    }
    if resolved.request == Request::Launch
        && !arguments.contains_key("script")
        && !arguments.contains_key("command")
    {
        return Err(bad(resolved, "names no `script`".to_owned()));
    }
    let debugger = text(&arguments, "rdbgPath");
    arguments.insert("localfs".to_owned(), json!(true));
    Ok(Translated { arguments, debugger, request: resolved.request, ..Translated::default() })
}

/// For an adapter of which nothing is known.
pub(super) fn as_written(resolved: &Resolved) -> Result<Translated> {
    let arguments = base(resolved)?;
    Ok(Translated { arguments, request: resolved.request, ..Translated::default() })
}

pub(super) fn java(resolved: &Resolved) -> Result<Translated> {
    let mut arguments = base(resolved)?;
    if resolved.request == Request::Launch && text(&arguments, "mainClass").is_none() {
        return Err(bad(resolved, "names no `mainClass`".to_owned()));
    }
    // Java's extension lists the class path; a virtual machine takes one text.
    let paths: Vec<_> = arguments
        .get("classPaths")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // `$Auto` and its like stand for what the extension computes.
    let paths: Vec<_> = paths.into_iter().filter(|path| !path.starts_with('$')).collect();
    if !paths.is_empty() {
        let joined = paths.join(":");
        arguments.insert("classpath".to_owned(), json!(joined));
    }
    let debugger = text(&arguments, "javaExec");
    Ok(Translated { arguments, debugger, request: resolved.request, ..Translated::default() })
}

pub(super) fn bash(resolved: &Resolved) -> Result<Translated> {
    let mut arguments = base(resolved)?;
    if resolved.request == Request::Attach {
        return Err(bad(resolved, "attaches, which a shell script's debugger cannot".to_owned()));
    }
    if text(&arguments, "program").is_none_or(|program| program.is_empty()) {
        return Err(bad(resolved, "names no `program`".to_owned()));
    }
    absolute_program(resolved, &mut arguments);
    let debugger = text(&arguments, "pathBash");
    let mut notes = Vec::new();
    arguments.shift_remove("pathBash");
    let keys = ["pathBashdb", "pathBashdbLib", "pathCat", "pathMkfifo", "pathPkill", "terminalKind"];
    leave_out(&mut arguments, &keys, "bash-dap", &mut notes);
    Ok(Translated { arguments, debugger, notes, request: resolved.request, ..Translated::default() })
}
