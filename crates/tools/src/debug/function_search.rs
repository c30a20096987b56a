//! Finds a function by its name in the sources of the workspace, for debuggers that cannot stop at such a name.

use std::path::{Path, PathBuf};

use stepwell_debug::{Error, FunctionFinder, Result};

use super::functions::SyntaxFunctions;
use super::service::DebugService;

/// Files that are read at most.
const MOST_FILES: usize = 3000;
/// Longer files are made by programs.
const LONGEST_FILE: u64 = 1024 * 1024;
/// Places that an error lists.
const LISTED: usize = 5;
/// Endings of sources that run in Node.
const SCRIPTS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
const GO: &[&str] = &["go"];

/// The first line of a function's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FunctionPlace {
    pub path: PathBuf,
    pub line: i64,
}

/// Returns the file extensions to search for a function, if its debugger needs a line instead of a name: JavaScript
/// debuggers have no function breakpoints, and delve needs the package name.
pub(super) fn sources_of(kind: &str, name: &str) -> Option<&'static [&'static str]> {
    let is_script = |kind| matches!(kind, "node" | "js-debug" | "node-terminal" | "chrome" | "msedge");
    match kind.strip_prefix("pwa-").unwrap_or(kind) {
        kind if is_script(kind) => Some(SCRIPTS),
        "go" if !name.contains('.') => Some(GO),
        _ => None,
    }
}

/// Returns the place of a function in a file.
pub(super) fn in_file(path: &Path, name: &str) -> Option<FunctionPlace> {
    let text = stepwell_workspace::files::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    if !text.contains(last) {
        return None;
    }
    let function = SyntaxFunctions.function_named(path, &text, name)?;
    Some(FunctionPlace { path: path.to_path_buf(), line: function.first_line })
}

impl DebugService {
    /// Returns the only function of that name in sources with these endings; those of the program come first.
    pub(super) fn function_place(
        &self,
        name: &str,
        endings: &[&str],
        program: Option<&Path>,
    ) -> Result<FunctionPlace> {
        if let Some(found) = program.and_then(|program| in_file(program, name)) {
            return Ok(found);
        }
        let folder = program.map(|path| if path.is_dir() { path } else { path.parent().unwrap_or(path) });
        let mut found: Vec<FunctionPlace> =
            self.sources(endings).iter().filter_map(|path| in_file(path, name)).collect();
        let is_beside = |place: &FunctionPlace| folder.is_some_and(|folder| place.path.starts_with(folder));
        if found.iter().any(is_beside) {
            found.retain(is_beside);
        }
        match (found.pop(), found.as_slice()) {
            (Some(only), []) => Ok(only),
            (None, _) => Err(Error::Parameter {
                what: format!("no source of the workspace has a function `{name}`"),
                hint: Some("give its first line by `file_path` and `line_number`".to_owned()),
            }),
            (Some(last), others) => {
                let root = self.workspace.root();
                let listed = others.iter().chain([&last]).take(LISTED).map(|place| {
                    let path = place.path.strip_prefix(root).unwrap_or(&place.path);
                    format!("{}:{}", path.display(), place.line)
                });
                let listed: Vec<String> = listed.collect();
                Err(Error::Parameter {
                    what: format!("{} functions are called `{name}`", others.len() + 1),
                    hint: Some(format!("give the `file_path` of one: {}", listed.join(", "))),
                })
            }
        }
    }

    /// Returns the sources of the workspace with these endings, without those of packages.
    fn sources(&self, endings: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.workspace.root().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for (path, kind) in stepwell_workspace::files::list_kinds(&folder).unwrap_or_default() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let is_package = matches!(&*name, "node_modules" | "vendor") || name.starts_with('.');
                if kind.is_dir() && !is_package {
                    folders.push(path);
                } else if kind.is_file() && is_source(&path, endings) {
                    found.push(path);
                }
                if found.len() >= MOST_FILES {
                    return found;
                }
            }
        }
        found
    }
}

fn is_source(path: &Path, endings: &[&str]) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    endings.contains(&end)
        && stepwell_workspace::files::metadata(path).is_ok_and(|facts| facts.len() <= LONGEST_FILE)
}
