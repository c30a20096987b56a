//! Which package `./...` means: the one whose tests match.

use std::path::{Path, PathBuf};

use regex::Regex;
use stepwell_workspace::files;

use crate::launch_config::is_dir;

/// Folders looked into.
const MOST_FOLDERS: usize = 5_000;
/// Bytes read of a file of tests.
const MOST_BYTES: u64 = 1024 * 1024;

/// The folders below that have a test whose name matches, or any test where no pattern is given.
pub(super) fn with_test(root: &Path, pattern: Option<&str>) -> Vec<PathBuf> {
    // Only the first part is about the function; the others are about subtests.
    let name = pattern.and_then(|pattern| pattern.split('/').next());
    let name = match name.map(|name| regex::RegexBuilder::new(name).size_limit(1 << 20).build()) {
        Some(Ok(name)) => Some(name),
        Some(Err(_)) => return Vec::new(),
        None => None,
    };
    let mut found = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    let mut seen = 0;
    // Links are not followed, as Go does not.
    while let Some(folder) = waiting.pop().filter(|_| seen < MOST_FOLDERS) {
        seen += 1;
        let mut has_test = false;
        let real = files::resolved(&folder);
        for path in files::list_dir(&folder).unwrap_or_default() {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.ends_with("_test.go") {
                has_test = has_test || tests_match(&path, name.as_ref());
            } else if !is_passed_over(&file) && is_dir(&path) && files::resolved(&path) == real.join(&file) {
                waiting.push(path);
            }
        }
        if has_test {
            found.push(folder);
        }
    }
    found.sort();
    found
}

/// Folders that Go itself leaves out of `...`.
fn is_passed_over(name: &str) -> bool {
    name.starts_with(['.', '_']) || matches!(name, "testdata" | "vendor" | "node_modules")
}

fn tests_match(path: &Path, name: Option<&Regex>) -> bool {
    let bytes =
        files::ReadFile::open(path).and_then(|file| file.read_range(0, MOST_BYTES)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let functions = text.lines().filter_map(|line| line.strip_prefix("func ")?.split_once('('));
    let mut tests = functions.map(|(function, _)| function.trim()).filter(|function| {
        ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|kind| function.starts_with(kind))
    });
    tests.any(|test| name.is_none_or(|name| name.is_match(test)))
}
