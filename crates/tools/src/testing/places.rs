//! Where a failure happened, read from the text that a framework prints about it.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// `File "a.py", line 3`, of Python.
static TRACEBACK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"File "([^"]+)", line (\d+)"#).ok());
/// `a.py:3: AssertionError` at the start of a line, of pytest.
static PYTEST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m)^([^\s:]+\.py):(\d+): ").ok());
/// `path/file.ext:3`, anywhere.
static ANYWHERE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:file://)?([^\s:()'\x22\[\]]+\.[A-Za-z]{1,5})[:(](\d+)").ok());

/// The place in the workspace that a failure is about. Python tells its innermost frame last, others first.
pub fn find_place(text: &str, folder: &Path, root: &Path) -> Option<(String, u32)> {
    let last = [&PYTEST, &TRACEBACK];
    for shape in last.into_iter().filter_map(|shape| shape.as_ref()) {
        let places: Vec<(&str, &str)> = shape
            .captures_iter(text)
            .filter_map(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())))
            .collect();
        let found = places.iter().rev().find_map(|(file, line)| own_place(file, line, folder, root));
        if found.is_some() {
            return found;
        }
    }
    let shape = ANYWHERE.as_ref()?;
    shape
        .captures_iter(text)
        .find_map(|found| own_place(found.get(1)?.as_str(), found.get(2)?.as_str(), folder, root))
}

/// A file of the workspace that is no package of others, with its line.
pub fn own_place(file: &str, line: &str, folder: &Path, root: &Path) -> Option<(String, u32)> {
    let line = line.parse().ok().filter(|line| *line > 0)?;
    Some((own_file(file, folder, root)?, line))
}

/// A file of the workspace as it is shown, where it exists.
pub fn own_file(file: &str, folder: &Path, root: &Path) -> Option<String> {
    if file.contains("node_modules") || file.contains("site-packages") {
        return None;
    }
    let path = [folder.join(file), root.join(file)].into_iter().find(|path| path.is_file())?;
    let path = stepwell_workspace::files::resolved(&path);
    let relative = path.strip_prefix(root).ok()?;
    Some(relative.display().to_string())
}
