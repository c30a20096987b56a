//! Modes: the role, instructions and permissions of the agent for one kind of work.
//!
//! A mode is data: a role, instructions, groups of tools with file patterns, and perhaps a model. Four are built in;
//! others come from the settings and from the files Roo-Code uses. [`ModeLimits`] makes the executor enforce a mode.

mod builtin;
mod roo_file;

use std::path::PathBuf;
use std::sync::Arc;

use stepwell_protocol::ModeItem;
use stepwell_tool_runtime::{EditScope, FilePattern, ModeLimits, ToolGroup, Vocabulary};

use crate::plan::PLAN_MODE;

pub(crate) use builtin::DEBUGGING;
pub use roo_file::read_roo_modes;

/// A mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    pub slug: String,
    pub name: String,
    /// The role section of the system prompt; empty for the built-in one.
    pub role: String,
    pub when_to_use: Option<String>,
    pub description: Option<String>,
    /// Stands among the instructions while the mode is in use.
    pub instructions: Option<String>,
    pub groups: Vec<ModeGroup>,
    /// Tools it is shown from the start that others load on demand.
    pub shown_tools: Vec<String>,
    /// The model to switch to with the mode.
    pub model: Option<String>,
    /// Which names of tools the model is shown.
    pub vocabulary: Vocabulary,
    pub source: ModeSource,
}

/// A group of tools that a mode has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeGroup {
    pub group: ToolGroup,
    /// The files that may be changed, where the group is `edit`.
    pub files: Option<FilePattern>,
}

/// Where a mode comes from; the later, the stronger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModeSource {
    BuiltIn,
    Settings,
    File(PathBuf),
}

impl std::fmt::Display for ModeSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Settings => f.write_str("settings"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The vocabulary of a name, or what is wrong with the name.
pub fn vocabulary(name: &str) -> std::result::Result<Vocabulary, String> {
    let known = Vocabulary::ALL.map(|vocabulary| format!("`{}`", vocabulary.name())).join(" and ");
    Vocabulary::by_name(name).ok_or_else(|| format!("there is no vocabulary `{name}`; known: {known}"))
}

impl Mode {
    fn groups(&self) -> Vec<ToolGroup> {
        self.groups.iter().map(|group| group.group).collect()
    }

    /// Which files the mode may change.
    fn edits(&self) -> EditScope {
        let mut patterns = Vec::new();
        for group in self.groups.iter().filter(|group| group.group == ToolGroup::Edit) {
            match &group.files {
                None => return EditScope::Everything,
                Some(pattern) => patterns.push(pattern.clone()),
            }
        }
        if patterns.is_empty() { EditScope::Nothing } else { EditScope::Matching(patterns) }
    }
}

/// The modes of a workspace.
#[derive(Clone, Debug)]
pub struct Modes(Vec<Arc<Mode>>);

impl Default for Modes {
    fn default() -> Self {
        Self(builtin::modes().into_iter().map(Arc::new).collect())
    }
}

impl Modes {
    /// Adds a mode. It takes the place of one with the same name.
    pub fn add(&mut self, mode: Mode) {
        match self.0.iter_mut().find(|known| known.slug == mode.slug) {
            Some(known) => *known = Arc::new(mode),
            None => self.0.push(Arc::new(mode)),
        }
    }

    pub fn get(&self, slug: &str) -> Option<&Arc<Mode>> {
        self.0.iter().find(|mode| mode.slug == slug)
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<Mode>> {
        self.0.iter()
    }

    /// The names of all modes, for messages.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|mode| mode.slug.as_str()).collect();
        names.join(", ")
    }

    /// What the executor enforces while a mode is in use.
    pub fn limits(&self, mode: &Mode) -> ModeLimits {
        let others: Vec<(&str, Vec<ToolGroup>)> = self
            .0
            .iter()
            .filter(|other| other.slug != mode.slug)
            .map(|other| (other.slug.as_str(), other.groups()))
            .collect();
        ModeLimits::new(mode.slug.clone(), mode.groups(), mode.edits())
            .with_other_modes(others.iter().map(|(slug, groups)| (*slug, groups.as_slice())))
    }

    /// The modes as front ends list them.
    pub fn items(&self) -> Vec<ModeItem> {
        let item = |mode: &Arc<Mode>| ModeItem {
            slug: mode.slug.clone(),
            name: mode.name.clone(),
            when_to_use: mode.when_to_use.clone(),
            description: mode.description.clone(),
            groups: mode.groups.iter().map(group_text).collect(),
            model: mode.model.clone(),
            source: mode.source.to_string(),
        };
        let mut items: Vec<ModeItem> = self.0.iter().map(item).collect();
        if self.get(PLAN_MODE).is_none() {
            items.push(planning());
        }
        items
    }
}

/// Planning, as front ends list it among the modes: it can be chosen like one.
fn planning() -> ModeItem {
    let groups = ToolGroup::ALL.into_iter().filter(|group| *group != ToolGroup::Edit);
    ModeItem {
        slug: PLAN_MODE.to_owned(),
        name: "Plan".to_owned(),
        when_to_use: Some("To plan first: nothing is changed before you approve the plan".to_owned()),
        description: None,
        groups: groups.map(|group| group.name().to_owned()).collect(),
        model: None,
        source: ModeSource::BuiltIn.to_string(),
    }
}

/// A group in words: `read`, or `edit (\.md$)`.
fn group_text(group: &ModeGroup) -> String {
    match &group.files {
        None => group.group.name().to_owned(),
        Some(pattern) => format!("{} ({})", group.group.name(), pattern.text()),
    }
}
