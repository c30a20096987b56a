//! Rust: cargo builds, its messages name the binary, and that is what is debugged.

use std::path::Path;

use serde_json::json;

use super::build::{BuildStep, Choice};
use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, nearest, shown, target};

/// Flags of cargo that take the next word.
const WITH_VALUE: &[&str] = &[
    "-p",
    "--package",
    "--exclude",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-F",
    "--features",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "-j",
    "--jobs",
    "--color",
    "--config",
    "-Z",
    "--cargo-profile",
    "--build-jobs",
    "--run-ignored",
    "--retries",
];

/// A command line of cargo, sorted.
struct Cargo {
    toolchain: Option<String>,
    flags: Vec<String>,
    names: Vec<String>,
    behind: Vec<String>,
}

impl Cargo {
    fn sort(words: &[String]) -> Self {
        let mut sorted = Self { toolchain: None, flags: Vec::new(), names: Vec::new(), behind: Vec::new() };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                sorted.behind = rest.cloned().collect();
                break;
            }
            if word.starts_with('-') {
                // We read the messages ourselves.
                if word.starts_with("--message-format")
                    || matches!(word.as_str(), "-q" | "--quiet" | "--no-run")
                {
                    continue;
                }
                sorted.flags.push(word.clone());
                if WITH_VALUE.contains(&word.as_str()) {
                    sorted.flags.extend(rest.next().cloned());
                }
            } else {
                sorted.names.push(word.clone());
            }
        }
        sorted
    }

    fn step(&self, call: &Call, command: &[&str], choice: Choice) -> BuildStep {
        let words = self.toolchain.iter().map(String::as_str).chain(command.iter().copied());
        let words = words
            .chain(["--message-format=json-render-diagnostics"])
            .chain(self.flags.iter().map(String::as_str));
        BuildStep {
            program: "cargo".to_owned(),
            arguments: words.map(ToOwned::to_owned).collect(),
            folder: call.folder.clone(),
            environment: call.environment.clone(),
            choice,
            first_failing: None,
        }
    }

    fn warnings(&self) -> Vec<String> {
        let optimised = self.flags.iter().any(|flag| flag == "--release" || flag == "-r");
        let warning = "with `--release` many variables are gone and lines jump; leave it out to see them";
        optimised.then(|| warning.to_owned()).into_iter().collect()
    }
}

pub(super) fn cargo(call: &Call) -> Result<Target> {
    let mut words = call.arguments();
    let toolchain = words.first().filter(|word| word.starts_with('+')).cloned();
    if toolchain.is_some() {
        words = &words[1..];
    }
    let command: Vec<&str> = words.iter().map(String::as_str).collect();
    let (tests, rest) = match command.as_slice() {
        ["test" | "t" | "bench", ..] => (true, &words[1..]),
        ["nextest", "run" | "r", ..] => (true, &words[2..]),
        ["run" | "r", ..] => (false, &words[1..]),
        _ => {
            return Err(TargetError::not_debuggable(
                "cargo",
                "only `cargo run` and `cargo test` start a program",
            ));
        }
    };
    let mut sorted = Cargo::sort(rest);
    sorted.toolchain = toolchain;
    if tests { test(call, &sorted) } else { Ok(run(call, &sorted)) }
}

fn run(call: &Call, cargo: &Cargo) -> Target {
    let wanted = value_of(&cargo.flags, &["--bin", "--example"]);
    // What is no flag belongs to the program, also without `--`.
    let arguments: Vec<_> = cargo.names.iter().chain(&cargo.behind).cloned().collect();
    let what = wanted.clone().map_or_else(|| "the program".to_owned(), |name| format!("`{name}`"));
    let how = format!("Build {what} with cargo and run it under a native debugger.");
    let mut made = target(call, "lldb-dap", "cargo run", json!({"args": arguments}), how);
    made.build = Some(cargo.step(call, &["build"], Choice::Program { name: wanted }));
    made.warnings = cargo.warnings();
    made
}

fn test(call: &Call, cargo: &Cargo) -> Result<Target> {
    if cargo.flags.iter().any(|flag| flag == "-E" || flag == "--filterset") {
        return Err(TargetError::not_debuggable(
            "cargo nextest",
            "a filter expression is not understood; name the test",
        ));
    }
    if cargo.flags.iter().any(|flag| flag == "--doc") {
        return Err(TargetError::not_debuggable(
            "cargo test --doc",
            "examples in documentation have no binary of their own",
        ));
    }
    let mut arguments: Vec<String> = cargo.names.iter().chain(&cargo.behind).cloned().collect();
    if !arguments.iter().any(|word| word == "--nocapture" || word == "--show-output") {
        arguments.push("--nocapture".to_owned());
    }
    let filter = cargo.names.first().cloned();
    let what = filter
        .as_ref()
        .map_or_else(|| "the tests".to_owned(), |name| format!("the tests that match `{name}`"));
    let how = format!("Build with cargo and run {what} under a native debugger.");
    let mut made = target(call, "lldb-dap", "cargo test", json!({"args": arguments}), how);
    let exact = cargo.behind.iter().any(|word| word == "--exact");
    made.build = Some(cargo.step(call, &["test", "--no-run"], Choice::Tests { filter, exact }));
    made.warnings = cargo.warnings();
    Ok(made)
}

fn value_of(flags: &[String], names: &[&str]) -> Option<String> {
    let mut pairs = flags.iter().zip(flags.iter().skip(1));
    pairs.find(|(flag, _)| names.contains(&flag.as_str())).map(|(_, value)| value.clone()).or_else(|| {
        let behind = |flag: &String| {
            names.iter().find_map(|name| flag.strip_prefix(&format!("{name}=")).map(ToOwned::to_owned))
        };
        flags.iter().find_map(behind)
    })
}

/// A source file of Rust: the binary, example or tests that cargo makes of it.
pub(super) fn source(call: &Call, path: &Path, arguments: &[String]) -> Result<Target> {
    let name = shown(path, call);
    let package = nearest(path.parent().unwrap_or(path), "Cargo.toml").ok_or_else(|| {
        TargetError::not_debuggable(
            &name,
            "it belongs to no package of cargo; compile it with `rustc -g` and name the binary",
        )
    })?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let below = path.strip_prefix(&package).unwrap_or(path).to_string_lossy().into_owned();
    let words: Vec<String> = match below.as_str() {
        "src/main.rs" => vec!["run".to_owned()],
        below if below.starts_with("src/bin/") => vec!["run".to_owned(), "--bin".to_owned(), stem],
        below if below.starts_with("examples/") => vec!["run".to_owned(), "--example".to_owned(), stem],
        below if below.starts_with("tests/") => vec!["test".to_owned(), "--test".to_owned(), stem],
        _ => {
            return Err(TargetError::not_debuggable(
                &name,
                "it is a part of a program; name a binary, an example or a test",
            ));
        }
    };
    let mut inner = call.clone();
    inner.folder = package;
    let mut sorted = Cargo::sort(&words[1..]);
    sorted.behind = arguments.to_vec();
    if words[0] == "run" { Ok(run(&inner, &sorted)) } else { test(&inner, &sorted) }
}
