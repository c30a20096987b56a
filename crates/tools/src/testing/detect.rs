//! Finds the test framework of a path: the files that say so, from the path's folder up to the workspace.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_tool_runtime::ToolError;
use stepwell_workspace::search::WalkRules;
use stepwell_workspace::{EntryKind, Workspace, files};

use super::framework::Framework;

/// Maximum size of a file that is read for detection.
const LARGEST_MANIFEST: u64 = 1024 * 1024;
const LARGEST_BINARY: u64 = 64 * 1024 * 1024;
/// Files of a folder that are looked at for tests of Python.
const MOST_FILES: usize = 20_000;
const MOST_READ: usize = 40;

/// Where tests are run, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub framework: Framework,
    /// The folder that the framework runs in.
    pub folder: PathBuf,
    /// Others that the same folder could be tested with.
    pub others: Vec<Framework>,
}

/// Finds what runs the tests of a path. `wanted` takes only one framework into account.
pub fn detect(workspace: &Workspace, path: &Path, wanted: Option<Framework>) -> Result<Found, ToolError> {
    let is_file = path.is_file();
    if is_file && wanted.is_none_or(|wanted| wanted == Framework::Gtest) && is_googletest(path) {
        let folder = path.parent().unwrap_or(path).to_path_buf();
        return Ok(Found { framework: Framework::Gtest, folder, others: Vec::new() });
    }
    let start = if is_file { path.parent().unwrap_or(path) } else { path };
    let is_inside = |folder: &&Path| workspace.roots().any(|root| folder.starts_with(root));
    for folder in start.ancestors().take_while(is_inside) {
        let mut all = in_folder(workspace, folder);
        if is_file {
            all.retain(|framework| is_of_language(*framework, path));
        }
        match wanted {
            Some(wanted) if all.contains(&wanted) => {
                return Ok(Found { framework: wanted, folder: folder.to_path_buf(), others: Vec::new() });
            }
            Some(_) => {}
            None => {
                if let Some((framework, others)) = all.split_first() {
                    let folder = folder.to_path_buf();
                    return Ok(Found { framework: *framework, folder, others: others.to_vec() });
                }
            }
        }
    }
    match wanted {
        // The person knows better what a folder without any sign is tested with.
        Some(framework) => {
            let folder = workspace.roots().find(|root| path.starts_with(root)).unwrap_or(workspace.root());
            Ok(Found { framework, folder: folder.to_path_buf(), others: Vec::new() })
        }
        None => Err(ToolError::validation(format!(
            "no test framework was found for `{}`; name one with `framework`, or give `command` and `report`",
            path.display()
        ))),
    }
}

fn is_of_language(framework: Framework, path: &Path) -> bool {
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ends: &[&str] = match framework {
        Framework::Pytest | Framework::Unittest => &["py"],
        Framework::Cargo | Framework::Nextest => &["rs", "toml"],
        Framework::GoTest => &["go"],
        Framework::Jest | Framework::Vitest | Framework::Node | Framework::Mocha => {
            &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"]
        }
        Framework::Ctest | Framework::Gtest => &["c", "cc", "cpp", "cxx", "h", "hpp", "cmake", "txt"],
        Framework::Maven | Framework::Gradle => &["java", "kt", "scala", "groovy"],
    };
    ends.contains(&end.as_str())
}

/// The frameworks that files of a folder speak for, the surest first.
fn in_folder(workspace: &Workspace, folder: &Path) -> Vec<Framework> {
    let has = |name: &str| folder.join(name).is_file();
    let mut found = Vec::new();
    if has("Cargo.toml") {
        let is_nextest = has(".config/nextest.toml");
        found.push(if is_nextest { Framework::Nextest } else { Framework::Cargo });
        found.push(if is_nextest { Framework::Cargo } else { Framework::Nextest });
    }
    if has("go.mod") {
        found.push(Framework::GoTest);
    }
    if let Some(manifest) = manifest(&folder.join("package.json")) {
        found.extend(of_package(folder, &manifest));
    }
    found.extend(of_python(workspace, folder));
    if has("CTestTestfile.cmake") || build_folder(folder).is_some() {
        found.push(Framework::Ctest);
    }
    if has("pom.xml") {
        found.push(Framework::Maven);
    }
    if has("build.gradle") || has("build.gradle.kts") {
        found.push(Framework::Gradle);
    }
    found
}

/// The folder below a C++ project in which ctest runs.
pub fn build_folder(folder: &Path) -> Option<PathBuf> {
    if folder.join("CTestTestfile.cmake").is_file() {
        return Some(folder.to_path_buf());
    }
    let children = files::list_dir(folder).ok()?;
    let is_build = |path: &&PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        (name.contains("build") || name == "out") && path.join("CTestTestfile.cmake").is_file()
    };
    children.iter().find(is_build).cloned()
}

fn read(path: &Path) -> Option<String> {
    if files::metadata(path).ok()?.len() > LARGEST_MANIFEST {
        return None;
    }
    files::read_to_string(path).ok()
}

fn manifest(path: &Path) -> Option<Value> {
    serde_json::from_str(&read(path)?).ok()
}

/// What a package of JavaScript is tested with: its script first, then what it depends on.
fn of_package(folder: &Path, manifest: &Value) -> Vec<Framework> {
    let script = manifest["scripts"]["test"].as_str().unwrap_or_default();
    let depends = |name: &str| {
        ["devDependencies", "dependencies"].iter().any(|list| manifest[*list].get(name).is_some())
    };
    let configured = |stem: &str| {
        ["js", "cjs", "mjs", "ts", "json", "mts"]
            .iter()
            .any(|end| folder.join(format!("{stem}.{end}")).is_file())
    };
    let installed = |name: &str| folder.join("node_modules/.bin").join(name).exists();
    let runners = [(Framework::Vitest, "vitest"), (Framework::Jest, "jest"), (Framework::Mocha, "mocha")];
    let words: Vec<&str> = script.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
    let mut found: Vec<Framework> =
        runners.iter().filter(|(_, name)| words.contains(name)).map(|(framework, _)| *framework).collect();
    if script.contains("node --test") || script.contains("node:test") {
        found.push(Framework::Node);
    }
    for (framework, name) in runners {
        let is_there = depends(name)
            || configured(&format!("{name}.config"))
            || manifest.get(name).is_some()
            || name == "mocha" && configured(".mocharc")
            || installed(name);
        if is_there && !found.contains(&framework) {
            found.push(framework);
        }
    }
    if !found.contains(&Framework::Node) {
        found.push(Framework::Node);
    }
    found
}

/// What a folder of Python is tested with.
fn of_python(workspace: &Workspace, folder: &Path) -> Vec<Framework> {
    let says = |name: &str, words: &[&str]| {
        read(&folder.join(name)).is_some_and(|text| words.iter().any(|word| text.contains(word)))
    };
    let is_configured = folder.join("pytest.ini").is_file()
        || folder.join("conftest.py").is_file()
        || folder.join("tests/conftest.py").is_file()
        || says("pyproject.toml", &["pytest"])
        || says("setup.cfg", &["[tool:pytest]"])
        || says("tox.ini", &["[pytest]", "pytest"])
        || says("requirements.txt", &["pytest"])
        || says("requirements-dev.txt", &["pytest"]);
    let is_project =
        ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|name| folder.join(name).is_file());
    if is_configured {
        return vec![Framework::Pytest, Framework::Unittest];
    }
    // Without any setting the tests themselves tell; that is asked once, for the workspace or a project in it.
    let is_root = workspace.roots().any(|root| root == folder);
    if !is_root && !is_project {
        return Vec::new();
    }
    match tests_of_python(workspace, folder) {
        Some(true) => vec![Framework::Pytest, Framework::Unittest],
        Some(false) => vec![Framework::Unittest, Framework::Pytest],
        None => Vec::new(),
    }
}

/// Whether the tests below a folder need pytest; `None` where there are none.
fn tests_of_python(workspace: &Workspace, folder: &Path) -> Option<bool> {
    let place = workspace.place(&folder.to_string_lossy()).ok()?;
    let rules = WalkRules { globs: vec!["*.py".to_owned()], ..WalkRules::default() };
    let listing = workspace.list(&place, &rules, MOST_FILES, &|| false).ok()?;
    let tests: Vec<PathBuf> = listing
        .entries
        .iter()
        .filter(|entry| matches!(entry.kind, EntryKind::File { .. }))
        .filter(|entry| Framework::Pytest.is_test_file(&entry.path.to_string_lossy()))
        .map(|entry| folder.join(&entry.path))
        .collect();
    if tests.is_empty() {
        return None;
    }
    let needs_pytest = |text: String| {
        text.contains("import pytest") || text.lines().any(|line| line.starts_with("def test"))
    };
    Some(tests.iter().take(MOST_READ).filter_map(|path| read(path)).any(needs_pytest))
}

/// Whether a file is a program that was built with googletest.
fn is_googletest(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program = files::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    if !is_program {
        return false;
    }
    let content = files::read_beginning(path, LARGEST_BINARY).unwrap_or_default();
    content.starts_with(b"\x7fELF") && memchr::memmem::find(&content, b"gtest_output").is_some()
}
