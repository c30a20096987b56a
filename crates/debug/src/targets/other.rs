//! Core files, tests of CMake, Ruby, Java, scripts of bash.

use std::path::{Path, PathBuf};

use serde_json::json;
use stepwell_workspace::files;

use super::binary::FileKind;
use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, of_program, shown, target, text};
use crate::launch_config::{Context, Request, is_file, shell_words};

pub(super) fn core(core: &str, program: Option<&str>, ctx: &Context) -> Result<Target> {
    let call = Call::plain(vec![core.to_owned()], ctx);
    let path = ctx.folder.join(core);
    if FileKind::of(&path)? != FileKind::Core {
        return Err(TargetError::not_debuggable(core, "it is no core file"));
    }
    let program = match program {
        Some(program) => {
            let program = ctx.folder.join(program);
            match FileKind::of(&program)? {
                FileKind::Binary(binary) => Some((program, binary)),
                _ => {
                    return Err(TargetError::not_debuggable(
                        &text(&program),
                        "it is no program that could have left a core file",
                    ));
                }
            }
        }
        None => None,
    };
    let name = shown(&path, &call);
    let fields =
        json!({"coreFile": text(&path), "program": program.as_ref().map(|(program, _)| text(program))});
    let mut made =
        target(&call, "lldb-dap", &name, fields, format!("Open the core file `{name}`; nothing is run."));
    made.resolved.request = Request::Attach;
    made.warnings = match &program {
        Some((program, binary)) => super::binary::warnings(binary, &shown(program, &call)),
        None => vec!["without the program that left it, a core file shows addresses and few names; name the program too".to_owned()],
    };
    Ok(made)
}

/// `ctest -R name`: the command CMake wrote down for the test.
pub(super) fn ctest(call: &Call, ctx: &Context) -> Result<Target> {
    let mut folder = call.folder.clone();
    let mut filter = None;
    let mut rest = call.arguments().iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-R" | "--tests-regex" => filter = rest.next().cloned(),
            "--test-dir" => folder = call.folder.join(rest.next().map(String::as_str).unwrap_or_default()),
            "-V" | "-VV" | "--verbose" | "--output-on-failure" | "--extra-verbose" => {}
            other => {
                return Err(TargetError::not_debuggable(
                    "ctest",
                    &format!("its flag `{other}` is not understood"),
                ));
            }
        }
    }
    let mut tests = Vec::new();
    collect_tests(&folder, &mut tests, 0)?;
    if tests.is_empty() {
        return Err(TargetError::not_debuggable(
            "ctest",
            "there is no CTestTestfile.cmake with tests; build the project, or name its folder with `--test-dir`",
        ));
    }
    if let Some(filter) = filter {
        let pattern = regex::RegexBuilder::new(&filter).size_limit(1 << 20).build();
        let pattern = pattern
            .map_err(|_| TargetError::not_debuggable("ctest", &format!("`{filter}` is no pattern")))?;
        tests.retain(|test| pattern.is_match(&test.name));
    }
    let names = || tests.iter().map(|test| format!("`{}`", test.name)).collect();
    let [test] = tests.as_slice() else {
        return Err(TargetError::Ambiguous { what: "the test to debug".to_owned(), choices: names() });
    };
    let mut inner = call.clone();
    inner.words.clone_from(&test.words);
    inner.folder.clone_from(&test.folder);
    let program = inner
        .find(&test.words[0], ctx)
        .ok_or_else(|| TargetError::NotFound { program: test.words[0].clone() })?;
    let mut made = of_program(&inner, ctx, &program)?;
    made.how = format!(
        "The test `{}` is `{}`. {}",
        test.name,
        shell_words::joined(test.words.iter().map(String::as_str)),
        made.how
    );
    Ok(made)
}

struct CTest {
    name: String,
    words: Vec<String>,
    folder: PathBuf,
}

/// Folders within folders that are followed.
const DEEPEST: usize = 16;
const MOST_TESTS: usize = 10_000;

fn collect_tests(folder: &Path, tests: &mut Vec<CTest>, depth: usize) -> Result<()> {
    let path = folder.join("CTestTestfile.cmake");
    if depth > DEEPEST || tests.len() > MOST_TESTS || !is_file(&path) {
        return Ok(());
    }
    for line in files::read_to_string(&path)?.lines().map(str::trim) {
        let inside = |command: &str| line.strip_prefix(command)?.strip_prefix('(')?.strip_suffix(')');
        if let Some(arguments) = inside("add_test").and_then(cmake_words) {
            if let Some((name, words)) = arguments.split_first().filter(|(_, words)| !words.is_empty()) {
                tests.push(CTest { name: name.clone(), words: words.to_vec(), folder: folder.to_path_buf() });
            }
        } else if let Some(folders) = inside("subdirs").and_then(cmake_words) {
            for below in folders {
                collect_tests(&folder.join(below), tests, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// CMake quotes with `"` or, newer, with `[=[` and `]=]`.
fn cmake_words(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("[=[") {
            let end = inner.find("]=]")?;
            found.push(inner[..end].to_owned());
            rest = inner[end + 3..].trim_start();
        } else {
            let end = if rest.starts_with('"') {
                end_of_quoted(rest)?
            } else {
                rest.find(char::is_whitespace).unwrap_or(rest.len())
            };
            found.extend(shell_words::split(&rest[..end])?);
            rest = rest[end..].trim_start();
        }
    }
    Some(found)
}

/// Behind the closing quote of a text that begins with one.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    let at = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(at + 2)
}

/// `ruby script`, or a tool of Ruby such as rspec.
pub(super) fn ruby(call: &Call) -> Result<Target> {
    let program = call.words[0].rsplit('/').next().unwrap_or_default();
    if program != "ruby" {
        let fields = json!({"command": call.words[0], "args": call.arguments()});
        return Ok(target(call, "rdbg", program, fields, format!("Run {program} under rdbg.")));
    }
    let script = call.arguments().iter().position(|word| !word.starts_with('-'));
    let at = script.ok_or_else(|| TargetError::not_debuggable("ruby", "no script is given"))?;
    if at > 0 {
        let fields = json!({"command": call.words[0], "args": call.arguments()});
        return Ok(target(
            call,
            "rdbg",
            "ruby",
            fields,
            format!("Run `{}` under rdbg.", call.arguments()[at]),
        ));
    }
    let path = call.place(&call.arguments()[at]);
    ruby_script(call, &path, &call.arguments()[at + 1..])
}

pub(super) fn ruby_script(call: &Call, path: &Path, arguments: &[String]) -> Result<Target> {
    if !is_file(path) {
        return Err(TargetError::NotFound { program: text(path) });
    }
    let name = shown(path, call);
    let fields = json!({"script": text(path), "args": arguments});
    Ok(target(call, "rdbg", &name, fields, format!("Run `{name}` under rdbg.")))
}

/// `java -cp path Main`.
pub(super) fn java(call: &Call) -> Result<Target> {
    let mut paths = Vec::new();
    let mut flags = Vec::new();
    let mut rest = call.arguments().iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-cp" | "-classpath" | "--class-path" => {
                paths.extend(
                    rest.next()
                        .into_iter()
                        .flat_map(|path| path.split(':'))
                        .map(|path| text(&call.place(path))),
                );
            }
            "-jar" => {
                return Err(TargetError::not_debuggable(
                    "java -jar",
                    "name the class with `java -cp FILE.jar CLASS` instead",
                ));
            }
            flag if flag.starts_with('-') => flags.push(flag.to_owned()),
            class => {
                let arguments = rest.as_slice();
                let vm = if flags.is_empty() {
                    None
                } else {
                    Some(shell_words::joined(flags.iter().map(String::as_str)))
                };
                let fields =
                    json!({"mainClass": class, "classPaths": paths, "args": arguments, "vmArgs": vm});
                return Ok(target(
                    call,
                    "java",
                    class,
                    fields,
                    format!("Run the class `{class}` in a Java virtual machine that is debugged."),
                ));
            }
        }
    }
    Err(TargetError::not_debuggable("java", "no class is given"))
}

/// `bash script`.
pub(super) fn bash(call: &Call) -> Result<Target> {
    match call.arguments().split_first() {
        Some((script, arguments)) if !script.starts_with('-') => {
            let path = call.place(script);
            if !is_file(&path) {
                return Err(TargetError::NotFound { program: script.clone() });
            }
            Ok(bash_script(call, &path, arguments))
        }
        Some((flag, _)) if flag == "-c" => {
            Err(TargetError::not_debuggable("bash -c", "name the command inside, without the shell"))
        }
        _ => Err(TargetError::not_debuggable("bash", "no script is given")),
    }
}

pub(super) fn bash_script(call: &Call, path: &Path, arguments: &[String]) -> Target {
    let name = shown(path, call);
    let fields = json!({"program": text(path), "args": arguments});
    target(call, "bashdb", &name, fields, format!("Run the script `{name}` under bash's debugger."))
}
