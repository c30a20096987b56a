//! What a mode lets the model do: groups of tools, and which files it may change.
//!
//! Enforced by the executor for every call, nested ones included. A tool outside the mode's groups is neither shown nor
//! run. Files are judged by the paths of the call's plan. Programs cannot be judged by paths, so in a mode that may not
//! change every file they run with the workspace read-only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::{Regex, RegexBuilder};
use serde::Serialize;
use serde_json::Value;
use stepwell_protocol::Risk;

use crate::registry::RegisteredTool;
use crate::{CallFacts, Category};

/// Largest compiled file pattern of a mode, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// A group of tools, by the name that files of modes use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolGroup {
    /// Reading files and asking about code.
    Read,
    /// Changing files.
    Edit,
    /// Running commands.
    Command,
    /// Running programs under a debugger.
    Debug,
    /// Reaching other machines.
    Browser,
    /// Tools of MCP servers.
    Mcp,
}

impl ToolGroup {
    pub const ALL: [Self; 6] = [Self::Read, Self::Edit, Self::Command, Self::Debug, Self::Browser, Self::Mcp];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Command => "command",
            Self::Debug => "debug",
            Self::Browser => "browser",
            Self::Mcp => "mcp",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.name() == name)
    }

    /// The group of a tool. `None` for tools that every mode has: asking the person, the todo list, plans, ending.
    pub fn of(tool: &RegisteredTool) -> Option<Self> {
        let spec = tool.spec();
        match (spec.category, spec.risk) {
            (Category::External, _) => Some(Self::Mcp),
            (Category::Debug, _) => Some(Self::Debug),
            (Category::Browser, _) => Some(Self::Browser),
            // Switching modes and starting tasks ask by their own class; a chain is judged call by call.
            (Category::Modes | Category::Subtasks | Category::Composition, _) | (_, Risk::Control) => None,
            (_, Risk::Read) => Some(Self::Read),
            (_, Risk::Write) => Some(Self::Edit),
            (_, Risk::Execute) => Some(Self::Command),
            (_, Risk::Network) => Some(Self::Browser),
        }
    }
}

/// A regular expression that files must match, tried on paths relative to the workspace.
#[derive(Clone, Debug)]
pub struct FilePattern {
    regex: Regex,
    /// What the pattern stands for, such as "Markdown files".
    description: Option<String>,
}

impl FilePattern {
    /// Compiles a pattern; its size is bounded, because it may come from a repository.
    pub fn new(pattern: &str, description: Option<String>) -> Result<Self, String> {
        let regex = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
        let regex = regex.map_err(|error| format!("`{pattern}` is no pattern for files: {error}"))?;
        Ok(Self { regex, description })
    }

    pub fn text(&self) -> &str {
        self.regex.as_str()
    }

    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl PartialEq for FilePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() && self.description == other.description
    }
}

impl Eq for FilePattern {}

/// Which files a mode may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditScope {
    Everything,
    /// Files that match one of the patterns.
    Matching(Vec<FilePattern>),
    Nothing,
}

/// Whether programs may write in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WorkspaceAccess {
    #[default]
    Full,
    ReadOnly,
}

/// What a mode allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeLimits {
    mode: String,
    groups: BTreeSet<ToolGroup>,
    edits: EditScope,
    /// Modes that may use a group, for refusals.
    elsewhere: BTreeMap<ToolGroup, Vec<String>>,
    /// Whether tools of MCP servers run that do not say they only read.
    mcp_may_write: bool,
}

impl ModeLimits {
    /// Limits of the mode `mode`: the groups it has, and the files it may change where `Edit` is among them.
    pub fn new(
        mode: impl Into<String>,
        groups: impl IntoIterator<Item = ToolGroup>,
        edits: EditScope,
    ) -> Self {
        let groups: BTreeSet<ToolGroup> = groups.into_iter().collect();
        let edits = if groups.contains(&ToolGroup::Edit) { edits } else { EditScope::Nothing };
        Self { mode: mode.into(), groups, edits, elsewhere: BTreeMap::new(), mcp_may_write: true }
    }

    /// Names other modes for refusals: each with the groups it has.
    pub fn with_other_modes<'m>(
        mut self,
        modes: impl IntoIterator<Item = (&'m str, &'m [ToolGroup])>,
    ) -> Self {
        for (mode, groups) in modes {
            for group in groups {
                self.elsewhere.entry(*group).or_default().push(mode.to_owned());
            }
        }
        self
    }

    /// The same limits, with only those MCP tools that say they read.
    pub fn with_reading_mcp(mut self) -> Self {
        self.mcp_may_write = false;
        self
    }

    pub fn mode(&self) -> &str {
        &self.mode
    }

    pub fn edits(&self) -> &EditScope {
        &self.edits
    }

    /// Whether programs that the model starts may write in the workspace.
    pub fn access(&self) -> WorkspaceAccess {
        match self.edits {
            EditScope::Everything => WorkspaceAccess::Full,
            EditScope::Matching(_) | EditScope::Nothing => WorkspaceAccess::ReadOnly,
        }
    }

    /// Why the mode does not have a tool; `None` for one it has.
    pub fn refuses(&self, tool: &RegisteredTool) -> Option<String> {
        let group = ToolGroup::of(tool)?;
        if !self.groups.contains(&group) {
            let what = format!("the mode `{}` has no tools of the group `{}`", self.mode, group.name());
            return Some(match self.elsewhere.get(&group).map(Vec::as_slice) {
                None | Some([]) => what,
                Some(modes) => {
                    let names: Vec<String> = modes.iter().map(|mode| format!("`{mode}`")).collect();
                    format!("{what}; {} has them", names.join(" or "))
                }
            });
        }
        let may_write = group == ToolGroup::Mcp && tool.spec().risk > Risk::Read;
        (may_write && !self.mcp_may_write)
            .then(|| format!("the mode `{}` has only those MCP tools that say they read", self.mode))
    }

    /// Why a planned call may not run: it touches a file that the mode may not change, or its program cannot be kept
    /// from doing so.
    pub fn refuses_call(&self, facts: &CallFacts, root: &Path) -> Option<String> {
        if self.edits == EditScope::Everything {
            return None;
        }
        if facts.category == Category::External {
            return self.refuses_paths(path_arguments(&facts.arguments), facts, root);
        }
        if facts.category == Category::Composition {
            return None;
        }
        match facts.risk {
            Risk::Control | Risk::Read | Risk::Network => None,
            Risk::Write => self.refuses_paths(facts.preview.paths.iter().map(String::as_str), facts, root),
            // A step of a program that was started confined stays confined.
            Risk::Execute if facts.preview.continues_approved => None,
            Risk::Execute => facts.preview.unconfined.as_ref().map(|why| {
                format!("the mode `{}` keeps the workspace read-only for programs, but {why}", self.mode)
            }),
        }
    }

    fn refuses_paths<'p>(
        &self,
        paths: impl Iterator<Item = &'p str>,
        facts: &CallFacts,
        root: &Path,
    ) -> Option<String> {
        if facts.risk <= Risk::Read {
            return None;
        }
        for path in paths {
            let relative = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
            let relative = relative.to_string_lossy();
            let relative = relative.strip_prefix("./").unwrap_or(&relative);
            match &self.edits {
                EditScope::Everything => {}
                EditScope::Matching(patterns)
                    if patterns.iter().any(|known| known.regex.is_match(relative)) => {}
                EditScope::Matching(patterns) => {
                    let told: Vec<String> = patterns.iter().map(described).collect();
                    return Some(format!(
                        "the mode `{}` may only change {}, not `{relative}`",
                        self.mode,
                        told.join(" or ")
                    ));
                }
                EditScope::Nothing => {
                    return Some(format!(
                        "the mode `{}` may not change files such as `{relative}`",
                        self.mode
                    ));
                }
            }
        }
        None
    }
}

fn described(pattern: &FilePattern) -> String {
    match pattern.description() {
        Some(description) => format!("{description} (`{}`)", pattern.text()),
        None => format!("files that match `{}`", pattern.text()),
    }
}

/// Values of arguments that are named like paths, at any depth. MCP tools have no plan that would name them.
fn path_arguments(arguments: &Value) -> impl Iterator<Item = &str> {
    let mut found = Vec::new();
    collect_paths(arguments, false, &mut found);
    found.into_iter()
}

fn collect_paths<'v>(value: &'v Value, is_path: bool, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if is_path => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_paths(item, is_path, found)),
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = name.to_ascii_lowercase();
                let named = ["path", "file", "filename", "destination", "target", "uri"].iter().any(|word| {
                    name == *word || name.ends_with(&format!("_{word}")) || name == format!("{word}s")
                });
                collect_paths(field, is_path || named, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "mode_tests.rs"]
mod tests;
