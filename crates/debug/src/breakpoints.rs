//! Breakpoints of a workspace, stored across sessions and restarts.

pub mod hit_condition;
pub mod log_message;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use stepwell_workspace::files::{self, Privacy};

use crate::ids::BreakpointId;
use crate::{Error, Result};
use hit_condition::HitCondition;

/// Maximum number of breakpoints.
const MOST_BREAKPOINTS: usize = 1000;
/// How many lines away a moved line is searched for.
const FARTHEST_MOVE: usize = 400;

/// A breakpoint or log point on a source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineBreakpoint {
    pub id: BreakpointId,
    pub path: PathBuf,
    pub line: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
    /// The text of the line, to find it again after an edit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl LineBreakpoint {
    pub fn hits(&self) -> Option<HitCondition> {
        self.hit_condition.as_deref().and_then(|condition| condition.parse().ok())
    }
}

/// A breakpoint to set.
#[derive(Clone, Debug, Default)]
pub struct NewBreakpoint {
    pub path: PathBuf,
    pub line: i64,
    pub column: Option<i64>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub log_message: Option<String>,
}

/// A breakpoint on a function, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionBreakpoint {
    pub id: BreakpointId,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct StoredBreakpoints {
    next_id: BreakpointId,
    lines: BTreeMap<BreakpointId, LineBreakpoint>,
    #[serde(default)]
    functions: BTreeMap<BreakpointId, FunctionBreakpoint>,
}

/// All breakpoints of a workspace.
#[derive(Debug)]
pub struct BreakpointStore {
    /// The file they are stored in; `None` in tests.
    file: Option<PathBuf>,
    stored: Mutex<StoredBreakpoints>,
}

impl BreakpointStore {
    /// Reads stored breakpoints. A file that cannot be read counts as empty.
    pub fn open(file: Option<PathBuf>) -> Self {
        let text = file.as_deref().and_then(|file| files::read_if_exists(file).ok().flatten());
        let stored = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let store = Self { file, stored: Mutex::new(stored) };
        store.find_moved_lines();
        store
    }

    /// Sets a breakpoint. One on the same line and column is replaced and keeps its id.
    pub fn set(&self, new: NewBreakpoint) -> Result<LineBreakpoint> {
        if let Some(condition) = &new.hit_condition {
            condition.parse::<HitCondition>().map_err(Error::parameter)?;
        }
        let text = line_text(&new.path, new.line)?;
        let mut stored = self.stored.lock();
        let same = stored
            .lines
            .values()
            .find(|other| other.path == new.path && other.line == new.line && other.column == new.column);
        let id = match same {
            Some(same) => same.id,
            None if stored.lines.len() >= MOST_BREAKPOINTS => {
                return Err(Error::Parameter {
                    what: format!("there are {MOST_BREAKPOINTS} breakpoints already"),
                    hint: Some("remove some with `remove_breakpoint`".to_owned()),
                });
            }
            None => stored.next(),
        };
        let breakpoint = LineBreakpoint {
            id,
            path: new.path,
            line: new.line,
            column: new.column,
            condition: filled(new.condition),
            hit_condition: filled(new.hit_condition),
            log_message: filled(new.log_message),
            text,
        };
        stored.lines.insert(id, breakpoint.clone());
        self.save(&stored);
        Ok(breakpoint)
    }

    pub(crate) fn set_function(
        &self,
        name: &str,
        condition: Option<String>,
        hit_condition: Option<String>,
    ) -> Result<FunctionBreakpoint> {
        if let Some(condition) = &hit_condition {
            condition.parse::<HitCondition>().map_err(Error::parameter)?;
        }
        let mut stored = self.stored.lock();
        let same = stored.functions.values().find(|other| other.name == name).map(|same| same.id);
        let id = same.unwrap_or_else(|| stored.next());
        let breakpoint = FunctionBreakpoint {
            id,
            name: name.to_owned(),
            condition: filled(condition),
            hit_condition: filled(hit_condition),
        };
        stored.functions.insert(id, breakpoint.clone());
        self.save(&stored);
        Ok(breakpoint)
    }

    /// Removes a breakpoint and returns what it was set on.
    pub fn remove(&self, id: BreakpointId) -> Option<Removed> {
        let mut stored = self.stored.lock();
        let line = stored.lines.remove(&id).map(|breakpoint| Removed::Line(breakpoint.path));
        let removed = line.or_else(|| stored.functions.remove(&id).map(|_| Removed::Function));
        self.save(&stored);
        removed
    }

    pub fn at(&self, path: &Path, line: i64) -> Vec<LineBreakpoint> {
        let stored = self.stored.lock();
        stored.lines.values().filter(|found| found.path == path && found.line == line).cloned().collect()
    }

    pub fn clear(&self) -> usize {
        let mut stored = self.stored.lock();
        let count = stored.lines.len() + stored.functions.len();
        stored.lines.clear();
        stored.functions.clear();
        self.save(&stored);
        count
    }

    pub fn get(&self, id: BreakpointId) -> Option<LineBreakpoint> {
        self.stored.lock().lines.get(&id).cloned()
    }

    pub fn lines(&self) -> Vec<LineBreakpoint> {
        self.stored.lock().lines.values().cloned().collect()
    }

    pub fn functions(&self) -> Vec<FunctionBreakpoint> {
        self.stored.lock().functions.values().cloned().collect()
    }

    pub(crate) fn in_file(&self, path: &Path) -> Vec<LineBreakpoint> {
        self.stored.lock().lines.values().filter(|found| found.path == path).cloned().collect()
    }

    /// Moves breakpoints with their lines in files that changed, and returns these files.
    pub(crate) fn find_moved_lines(&self) -> Vec<PathBuf> {
        let mut stored = self.stored.lock();
        let mut moved = Vec::new();
        let mut texts: BTreeMap<PathBuf, Option<Vec<String>>> = BTreeMap::new();
        for breakpoint in stored.lines.values_mut() {
            let lines = texts.entry(breakpoint.path.clone()).or_insert_with(|| {
                let text = files::read(&breakpoint.path).ok()?;
                Some(String::from_utf8_lossy(&text).lines().map(|line| line.trim().to_owned()).collect())
            });
            let Some(lines) = lines else { continue };
            if let Some(line) = found_again(lines, breakpoint) {
                breakpoint.line = line;
                moved.push(breakpoint.path.clone());
            }
        }
        if !moved.is_empty() {
            self.save(&stored);
        }
        moved.dedup();
        moved
    }

    /// Stores the breakpoints. A failure is ignored: they still hold for this run.
    fn save(&self, stored: &StoredBreakpoints) {
        if let Some(file) = &self.file
            && let Ok(text) = serde_json::to_vec_pretty(stored)
        {
            if let Some(folder) = file.parent() {
                files::create_private_dir(folder).ok();
            }
            files::write_atomic(file, &text, Privacy::Private).ok();
        }
    }
}

/// What a removed breakpoint was set on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    Line(PathBuf),
    Function,
}

impl StoredBreakpoints {
    fn next(&mut self) -> BreakpointId {
        self.next_id.0 += 1;
        self.next_id
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Returns the text of a line without indentation.
fn line_text(path: &Path, line: i64) -> Result<String> {
    let content = files::read(path).map_err(|_| Error::Parameter {
        what: format!("`{}` cannot be read", path.display()),
        hint: Some("give the path of a source file, absolute or from the workspace's root".to_owned()),
    })?;
    let content = String::from_utf8_lossy(&content);
    let wanted = usize::try_from(line).ok().filter(|line| *line > 0);
    let found = wanted.and_then(|line| content.lines().nth(line - 1));
    found.map(|text| text.trim().to_owned()).ok_or_else(|| Error::Parameter {
        what: format!("`{}` has no line {line}", path.display()),
        hint: Some(format!("it has {} lines", content.lines().count())),
    })
}

/// Returns the line to which a breakpoint's text has moved.
fn found_again(lines: &[String], breakpoint: &LineBreakpoint) -> Option<i64> {
    let at = usize::try_from(breakpoint.line).ok()?.checked_sub(1)?;
    let is_there = |line: usize| lines.get(line).is_some_and(|text| *text == breakpoint.text);
    if breakpoint.text.is_empty() || is_there(at) {
        return None;
    }
    let near = (1..FARTHEST_MOVE).find_map(|distance| {
        at.checked_sub(distance)
            .filter(|line| is_there(*line))
            .or_else(|| Some(at + distance).filter(|line| is_there(*line)))
    })?;
    i64::try_from(near + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("a.py");
        files::write_atomic(&path, text.as_bytes(), Privacy::Private).unwrap();
        path
    }

    fn new(path: &Path, line: i64) -> NewBreakpoint {
        NewBreakpoint { path: path.to_owned(), line, ..NewBreakpoint::default() }
    }

    #[test]
    fn breakpoints_are_kept_and_follow_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "a = 1\nb = 2\nc = 3\n");
        let stored = Some(folder.path().join("kept/breakpoints.json"));
        let store = BreakpointStore::open(stored.clone());
        let first = store.set(new(&path, 2)).unwrap();
        let again = store.set(NewBreakpoint { condition: Some("b".to_owned()), ..new(&path, 2) }).unwrap();
        assert_eq!(first.id, again.id, "the same place is the same breakpoint");
        store.set_function("main", None, None).unwrap();

        file(folder.path(), "# new\n# new\na = 1\nb = 2\nc = 3\n");
        let reopened = BreakpointStore::open(stored);
        let found = reopened.get(first.id).unwrap();
        assert_eq!((found.line, found.condition.as_deref()), (4, Some("b")));
        assert_eq!(reopened.functions().len(), 1);
        assert_eq!(reopened.remove(first.id), Some(Removed::Line(path.clone())));
        assert_eq!(reopened.remove(first.id), None);
        assert!(reopened.set(new(&path, 1)).unwrap().id > first.id, "numbers are not used again");
    }

    #[test]
    fn places_that_do_not_exist_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "a = 1\n");
        let store = BreakpointStore::open(None);
        let no_line = store.set(new(&path, 9)).unwrap_err();
        assert_eq!(no_line.hint(), Some("it has 1 lines"));
        assert!(store.set(new(&path, 0)).is_err());
        assert!(store.set(new(Path::new("/no/such/file"), 1)).is_err());
        let bad = NewBreakpoint { hit_condition: Some("often".to_owned()), ..new(&path, 1) };
        assert!(store.set(bad).unwrap_err().to_string().contains("no hit condition"));
    }
}
