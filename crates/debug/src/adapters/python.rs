//! Which Python a program is run with, and where debugpy is.
//!
//! Asking an interpreter takes as long as starting a session, so what it said is kept on the disk and believed as long
//! as the files it named are there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process::{capture_text_in, find_program};

use super::Search;

/// Prints what is asked of an interpreter, a fact a line.
const QUESTION: &str = "import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util as u
s = u.find_spec('debugpy')
print(sys.executable)
print('.'.join(map(str, sys.version_info[:3])))
print(s.origin if s and s.origin else '')
if s and s.origin:
    import debugpy
    print(debugpy.__version__)";

/// Interpreters whose answers are kept.
const MOST_KEPT: usize = 50;

/// What an interpreter said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PythonFacts {
    pub executable: PathBuf,
    pub version: String,
    /// The folder that must be searched for debugpy, where the interpreter would not look there by itself.
    #[serde(default)]
    pub debugpy_folder: Option<PathBuf>,
    #[serde(default)]
    pub debugpy_file: Option<PathBuf>,
    #[serde(default)]
    pub debugpy_version: Option<String>,
}

/// The interpreter a configuration names, that of a trusted workspace's virtual environment, or the person's.
pub(crate) fn of_configuration(arguments: &Map<String, Value>, search: &Search) -> Option<PathBuf> {
    let named = ["python", "pythonPath"].iter().find_map(|key| match arguments.get(*key) {
        Some(Value::String(python)) => Some(python.clone()),
        Some(Value::Array(words)) => words.first().and_then(Value::as_str).map(str::to_owned),
        _ => None,
    });
    if let Some(named) = named {
        let path = PathBuf::from(&named);
        return if path.components().count() > 1 {
            Some(path)
        } else {
            find_program(&named, &search.workspace)
        };
    }
    let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let below = [".venv", "venv", "env"].map(|name| search.workspace.join(name));
    environment
        .into_iter()
        .chain(below.into_iter().filter(|_| search.trusted))
        .map(|folder| folder.join("bin/python"))
        .find(|python| python.is_file())
        .or_else(|| search.program(&["python3", "python"]))
}

/// The interpreter that runs the adapter: the program's own where it has debugpy, else the person's, else any with
/// Stepwell's copy.
pub(crate) fn with_debugpy(search: &Search, wanted: Option<&Path>) -> Option<PythonFacts> {
    let own = search.own_folder.join("debugpy");
    let own = own.join("debugpy/__init__.py").is_file().then_some(own);
    let theirs = search.program(&["python3", "python"]);
    let mut candidates: Vec<PathBuf> =
        search.configured.get(&super::AdapterKind::Debugpy).cloned().into_iter().collect();
    candidates.extend(wanted.map(Path::to_path_buf));
    candidates.extend(theirs);
    let mut fallback = None;
    for python in candidates {
        let Some(facts) = facts_of(search, &python) else { continue };
        if facts.debugpy_file.is_some() {
            return Some(facts);
        }
        if fallback.is_none() {
            fallback = own.clone().map(|own| PythonFacts { debugpy_folder: Some(own), ..facts });
        }
    }
    fallback
}

/// The interpreter behind a shim or a link. What a folder that is not trusted decides is left open.
pub fn resolved(search: &Search, python: &Path) -> Option<PathBuf> {
    if !search.trusted && search.workspace.join(".python-version").is_file() {
        return None;
    }
    facts_of(search, python).map(|facts| facts.executable)
}

/// What an interpreter says of itself. One of the workspace is not run before a session does so: what it would say is
/// read from its files, and only where the person trusts the folder.
fn facts_of(search: &Search, python: &Path) -> Option<PythonFacts> {
    if search.is_in_workspace(python) {
        return search.trusted.then(|| facts_on_disk(python))?;
    }
    let kept_in = search.own_folder.join("python.json");
    let key = python.display().to_string();
    let mut kept: BTreeMap<String, PythonFacts> = files::read_if_exists(&kept_in)
        .ok()
        .flatten()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    if let Some(facts) = kept.get(&key)
        && !search.workspace.join(".python-version").is_file()
        && facts.executable.is_file()
        && facts.debugpy_file.as_ref().is_some_and(|file| file.is_file())
    {
        return Some(facts.clone());
    }
    let folder = if search.trusted { search.workspace.as_path() } else { Path::new("/") };
    let said = capture_text_in(folder, &python.to_string_lossy(), &["-c", QUESTION])?;
    let mut lines = said.lines().map(str::trim);
    let mut next = || lines.next().filter(|line| !line.is_empty());
    let facts = PythonFacts {
        executable: next()?.into(),
        version: next()?.to_owned(),
        debugpy_folder: None,
        debugpy_file: next().map(PathBuf::from),
        debugpy_version: next().map(str::to_owned),
    };
    // Only what can be checked without asking again is worth keeping. What stands behind a shim also depends on the
    // folder's own `.python-version`.
    let chooses_by_folder = search.workspace.join(".python-version").is_file();
    if facts.debugpy_file.is_some() && !chooses_by_folder {
        kept.retain(|_, facts| facts.executable.is_file());
        while kept.len() >= MOST_KEPT {
            kept.pop_first();
        }
        kept.insert(key, facts.clone());
        if let Ok(text) = serde_json::to_vec(&kept) {
            files::create_private_dir(&search.own_folder).ok();
            files::write_atomic(&kept_in, &text, Privacy::Private).ok();
        }
    }
    Some(facts)
}

/// The facts of a virtual environment, from its files.
fn facts_on_disk(python: &Path) -> Option<PythonFacts> {
    let environment = python.parent()?.parent()?;
    let settings = files::read_to_string(&environment.join("pyvenv.cfg")).ok()?;
    let version = settings.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        matches!(key.trim(), "version" | "version_info").then(|| value.trim().to_owned())
    })?;
    let libraries = files::list_dir(&environment.join("lib")).unwrap_or_default();
    let packages = libraries.iter().map(|library| library.join("site-packages"));
    let packages = packages.into_iter().find(|packages| packages.join("debugpy/__init__.py").is_file());
    let debugpy_version = packages.as_ref().and_then(|packages| {
        let names = files::list_dir(packages).ok()?;
        names.iter().find_map(|path| {
            let name = path.file_name()?.to_str()?;
            Some(name.strip_prefix("debugpy-")?.strip_suffix(".dist-info")?.to_owned())
        })
    });
    Some(PythonFacts {
        executable: python.to_path_buf(),
        version: version.split('.').take(3).collect::<Vec<_>>().join("."),
        debugpy_folder: None,
        debugpy_file: packages.map(|packages| packages.join("debugpy/__init__.py")),
        debugpy_version,
    })
}
