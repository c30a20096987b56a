//! Checks of the tree itself: who depends on whom, how long files are, what they begin with.

mod attacks;
mod docs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Lines a source file may have, tests and all.
const LONGEST_FILE: usize = 700;

/// What crates for development may use; those of the product follow the table in ARCHITECTURE.md.
const DEVELOPMENT: &[(&str, &[&str])] = &[
    ("stepwell-test-support", &["*"]),
    (
        "xtask",
        &[
            "stepwell-code-intel",
            "stepwell-protocol",
            "stepwell-sandbox",
            "stepwell-server",
            "stepwell-workspace",
        ],
    ),
];

/// Which packages each package may use.
fn allowed() -> BTreeMap<String, Vec<String>> {
    let development = DEVELOPMENT
        .iter()
        .map(|(name, used)| ((*name).to_owned(), used.iter().map(|used| (*used).to_owned()).collect()));
    docs::dependency_law().into_iter().chain(development).collect()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(crate::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The product dependencies of every package, by name.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let metadata = metadata();
    let mut all = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let names = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
            .collect();
        all.insert(package["name"].as_str().unwrap().to_owned(), names);
    }
    all
}

fn source_files() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("fixtures") {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&crate::root().join("crates"), &mut found);
    walk(&crate::root().join("xtask"), &mut found);
    found.sort();
    found
}

#[test]
fn crates_use_only_what_the_table_allows() {
    let law = allowed();
    let mut wrong = Vec::new();
    for (package, used) in dependencies() {
        let Some(allowed) = law.get(&package) else {
            wrong.push(format!("`{package}` is not in the table of ARCHITECTURE.md"));
            continue;
        };
        for name in used.iter().filter(|name| name.starts_with("stepwell")) {
            if !allowed.contains(name) && !allowed.iter().any(|allowed| allowed == "*") {
                wrong.push(format!("`{package}` may not use `{name}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dependency_is_used() {
    let metadata = metadata();
    let mut unused = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let text: String = source_files()
            .iter()
            .map(|path| path.canonicalize().unwrap())
            .filter(|path| path.starts_with(folder.canonicalize().unwrap()))
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            if !text.contains(&name.replace('-', "_")) {
                unused.push(format!("`{}` does not use `{name}`", package["name"].as_str().unwrap()));
            }
        }
    }
    assert!(unused.is_empty(), "{}", unused.join("\n"));
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for path in source_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{}: {lines} lines, {LONGEST_FILE} are allowed", path.display()));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not begin with `//!`", path.display()));
        }
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            wrong.push(format!("{}: modules are `name.rs` beside `name/`", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn generated_files_are_fresh() {
    let mut stale = Vec::new();
    for (path, text) in crate::generate::all().unwrap() {
        if std::fs::read_to_string(crate::root().join(&path)).ok().as_deref() != Some(text.as_str()) {
            stale.push(path.display().to_string());
        }
    }
    assert!(stale.is_empty(), "stale: {}; run `cargo xtask generate`", stale.join(", "));
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    let mut found = Vec::new();
    for path in source_files() {
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
