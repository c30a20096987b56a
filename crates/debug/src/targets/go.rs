//! Go: delve builds by itself, so a package or a file is enough.

mod packages;

use std::path::Path;

use serde_json::json;

use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, shown, target, text};

/// Flags of `go build` that take the next word.
const BUILD_WITH_VALUE: &[&str] = &[
    "-tags",
    "-mod",
    "-ldflags",
    "-gcflags",
    "-asmflags",
    "-p",
    "-C",
    "-modfile",
    "-overlay",
    "-o",
    "-pkgdir",
    "-toolexec",
    "-exec",
];
/// Flags of the test binary, and whether they take a value.
const TEST_FLAGS: &[(&str, bool)] = &[
    ("-run", true),
    ("-skip", true),
    ("-bench", true),
    ("-benchtime", true),
    ("-count", true),
    ("-cpu", true),
    ("-fuzz", true),
    ("-list", true),
    ("-parallel", true),
    ("-shuffle", true),
    ("-timeout", true),
    ("-v", false),
    ("-short", false),
    ("-failfast", false),
    ("-benchmem", false),
];

pub(super) fn go(call: &Call) -> Result<Target> {
    let words = call.arguments();
    match words.first().map(String::as_str) {
        Some("test") => test(call, &words[1..]),
        Some("run") => run(call, &words[1..]),
        _ => Err(TargetError::not_debuggable("go", "only `go test` and `go run` start a program")),
    }
}

fn test(call: &Call, words: &[String]) -> Result<Target> {
    let mut packages: Vec<String> = Vec::new();
    let mut build_flags: Vec<String> = Vec::new();
    let mut arguments: Vec<String> = Vec::new();
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        if word == "-args" || word == "--args" {
            arguments.extend(rest.iter().cloned());
            break;
        }
        if !word.starts_with('-') {
            packages.push(word.clone());
            continue;
        }
        let word = word.strip_prefix('-').filter(|word| word.starts_with('-')).unwrap_or(word);
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (word, None),
        };
        let known = TEST_FLAGS
            .iter()
            .find(|(known, _)| *known == flag || flag.strip_prefix("-test.") == known.strip_prefix('-'));
        let takes_value = known.map_or(BUILD_WITH_VALUE.contains(&flag), |(_, takes_value)| *takes_value);
        let value = match value {
            None if takes_value => {
                let (value, behind) = rest.split_first().ok_or_else(|| {
                    TargetError::not_debuggable("go test", &format!("`{flag}` needs a value"))
                })?;
                rest = behind;
                Some(value.clone())
            }
            value => value,
        };
        match known {
            // A stop at a breakpoint must not end the tests.
            Some((known, _)) if *known == "-timeout" => {}
            Some((known, _)) => {
                arguments.push(format!("-test.{}", known.trim_start_matches('-')));
                match (takes_value, value) {
                    (true, Some(value)) => arguments.push(value),
                    // A flag without a value takes one only behind `=`.
                    (false, Some(value)) => {
                        if let Some(last) = arguments.last_mut() {
                            last.push_str(&format!("={value}"));
                        }
                    }
                    (_, None) => {}
                }
            }
            None if flag == "-json" || flag == "-cover" => {}
            None => {
                build_flags.push(flag.to_owned());
                build_flags.extend(value);
            }
        }
    }
    let package = match packages.as_slice() {
        [] => ".".to_owned(),
        [package] if package.ends_with("...") => one_of_many(call, package, pattern_of(&arguments))?,
        [package] => package.clone(),
        _ => {
            return Err(TargetError::Ambiguous {
                what: "the package to debug".to_owned(),
                choices: packages,
            });
        }
    };
    let path = place_of(call, &package)?;
    let folder =
        if path.extension().is_some_and(|end| end == "go") { path.parent().unwrap_or(&path) } else { &path };
    let name = shown_package(folder, call);
    let fields = json!({
        "mode": "test", "program": text(folder), "args": arguments,
        "buildFlags": flags(&build_flags),
    });
    let mut made = target(
        call,
        "go",
        &format!("go test {name}"),
        fields,
        format!("Build the tests of `{name}` and run them under delve."),
    );
    // A test of Go runs in the folder of its package.
    made.resolved.arguments.insert("cwd".to_owned(), json!(text(folder)));
    Ok(made)
}

/// The pattern of `-test.run`.
fn pattern_of(arguments: &[String]) -> Option<&str> {
    let at = arguments.iter().position(|word| word == "-test.run")?;
    arguments.get(at + 1).map(String::as_str)
}

/// The package below `dir/...` that has the test.
fn one_of_many(call: &Call, package: &str, pattern: Option<&str>) -> Result<String> {
    let root = place_of(call, package.trim_end_matches("...").trim_end_matches('/'))?;
    let found = packages::with_test(&root, pattern);
    match found.as_slice() {
        [folder] => Ok(text(folder)),
        [] => {
            Err(TargetError::not_debuggable("go test", &format!("no package of `{package}` has such a test")))
        }
        _ => Err(TargetError::Ambiguous {
            what: "the package to debug".to_owned(),
            choices: found.iter().take(20).map(|folder| format!("`./{}`", shown(folder, call))).collect(),
        }),
    }
}

fn run(call: &Call, words: &[String]) -> Result<Target> {
    let mut build_flags: Vec<String> = Vec::new();
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        rest = behind;
        build_flags.push(word.clone());
        if BUILD_WITH_VALUE.contains(&word.as_str())
            && let Some((value, behind)) = rest.split_first()
        {
            build_flags.push(value.clone());
            rest = behind;
        }
    }
    let (program, mut rest) =
        rest.split_first().ok_or_else(|| TargetError::not_debuggable("go run", "no package is given"))?;
    let is_source = |word: &str| Path::new(word).extension().is_some_and(|end| end == "go");
    let mut path = place_of(call, program)?;
    // Several files make one package together.
    while is_source(program)
        && let Some((_, behind)) = rest.split_first().filter(|(word, _)| is_source(word))
    {
        rest = behind;
        path = path
            .parent()
            .filter(|_| is_source(&path.to_string_lossy()))
            .map_or(path.clone(), Path::to_path_buf);
    }
    let name = shown_package(&path, call);
    let fields =
        json!({"mode": "debug", "program": text(&path), "args": rest, "buildFlags": flags(&build_flags)});
    Ok(target(
        call,
        "go",
        &format!("go run {name}"),
        fields,
        format!("Build `{name}` and run it under delve."),
    ))
}

/// A source file of Go, named alone.
pub(super) fn source(call: &Call, path: &Path, arguments: &[String]) -> Result<Target> {
    if path.to_string_lossy().ends_with("_test.go") {
        let folder = path.parent().unwrap_or(path).to_string_lossy().into_owned();
        let mut words = vec![folder];
        if !arguments.is_empty() {
            words.push("-args".to_owned());
            words.extend(arguments.iter().cloned());
        }
        return test(call, &words);
    }
    let words: Vec<String> = std::iter::once(text(path)).chain(arguments.iter().cloned()).collect();
    run(call, &words)
}

/// The folder or file of a package's path; import paths of other modules are not looked up.
fn place_of(call: &Call, package: &str) -> Result<std::path::PathBuf> {
    let path = call.place(package);
    match stepwell_workspace::files::metadata(&path) {
        Ok(_) => Ok(path),
        Err(_) => Err(TargetError::NotFound { program: package.to_owned() }),
    }
}

fn shown_package(path: &Path, call: &Call) -> String {
    let name = shown(path, call);
    if name.is_empty() { ".".to_owned() } else { name }
}

/// delve takes the flags of the build as one text.
fn flags(words: &[String]) -> serde_json::Value {
    if words.is_empty() {
        return serde_json::Value::Null;
    }
    json!(crate::launch_config::shell_words::joined(words.iter().map(String::as_str)))
}
