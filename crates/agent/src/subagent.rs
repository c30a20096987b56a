//! Sub-agents: specialists with a prompt, tools, a model and limits of their own, who work on sub-tasks.
//!
//! Five are built in; others come from `.stepwell/agents` and `.claude/agents`. What a sub-agent may do is enforced by
//! the tool gate of its task, like the limits of a mode.

mod builtin;
mod file;

use std::collections::BTreeSet;
use std::sync::Arc;

use stepwell_protocol::{PermissionMode, Risk};
use stepwell_tool_runtime::{ToolGroup, ToolSet, Vocabulary, near_names};

use crate::error::{Error, Result};
use crate::mode::{Mode, ModeGroup, ModeSource, Modes};

pub use file::read_subagents;

/// Tools that every sub-agent has, whatever list it is given: they only keep its own books.
const ALWAYS: &[&str] =
    &["attempt_completion", "todoread", "todowrite", "tool_search", "ask_clarification", "hypothesis"];
/// Tools that only sub-agents have whose list names them.
const NAMED_ONLY: &[&str] = &["task", "new_task", "switch_mode"];

/// A specialist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagent {
    pub name: String,
    /// When to give it work; the model reads this.
    pub description: String,
    /// Its role in the system prompt.
    pub prompt: String,
    pub groups: Vec<ToolGroup>,
    /// The only tools it has of its groups; all of them where absent.
    pub tools: Option<BTreeSet<String>>,
    pub excluded_tools: BTreeSet<String>,
    /// Whether it has the tools that change files.
    pub may_edit: bool,
    /// Tools it is shown from the start that others load on demand.
    pub shown_tools: Vec<String>,
    /// As `PROVIDER/MODEL`; that of the task that starts it where absent.
    pub model: Option<String>,
    /// Holds where it is narrower than that of the task that starts it.
    pub permission_mode: Option<PermissionMode>,
    pub max_turns: Option<u32>,
    pub source: ModeSource,
}

impl Subagent {
    /// The sub-agent as a mode: its role in the prompt and its groups of tools.
    pub fn mode(&self) -> Mode {
        Mode {
            slug: self.name.clone(),
            name: self.name.clone(),
            role: self.prompt.clone(),
            when_to_use: Some(self.description.clone()),
            description: Some(self.description.clone()),
            instructions: None,
            groups: self.groups.iter().map(|group| ModeGroup { group: *group, files: None }).collect(),
            shown_tools: self.shown_tools.clone(),
            model: self.model.clone(),
            vocabulary: Vocabulary::default(),
            source: self.source.clone(),
        }
    }

    /// What it may use of a workspace's tools.
    pub fn tool_set(&self, base: ToolSet, modes: &Modes) -> ToolSet {
        let mut set = base.within_mode(modes.limits(&self.mode())).showing(self.shown_tools.iter().cloned());
        if let Some(tools) = &self.tools {
            set = set.showing(tools.iter().cloned());
            set = set.with_names(tools.iter().cloned().chain(ALWAYS.iter().map(ToString::to_string)));
        }
        if !self.may_edit {
            set = set.without_risk(Risk::Write);
        }
        let is_named = |name: &str| self.tools.as_ref().is_some_and(|tools| tools.contains(name));
        for name in NAMED_ONLY.iter().filter(|name| !is_named(name)) {
            set = set.without(*name);
        }
        for name in &self.excluded_tools {
            set = set.without(name.clone());
        }
        set
    }
}

/// The sub-agents of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagents(Vec<Arc<Subagent>>);

impl Default for Subagents {
    fn default() -> Self {
        Self(builtin::subagents().into_iter().map(Arc::new).collect())
    }
}

impl Subagents {
    /// Adds a sub-agent. It takes the place of one with the same name.
    pub fn add(&mut self, subagent: Subagent) {
        match self.0.iter_mut().find(|known| known.name == subagent.name) {
            Some(known) => *known = Arc::new(subagent),
            None => self.0.push(Arc::new(subagent)),
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<Subagent>> {
        self.0.iter()
    }

    /// The sub-agent of this name, in any case of letters.
    pub fn find(&self, name: &str) -> Result<&Arc<Subagent>> {
        self.0.iter().find(|known| known.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|known| known.name.as_str()).collect();
            let near = near_names(name, names.iter().copied());
            Error::Setup {
                message: format!("there is no sub-agent `{name}`; known: {}", names.join(", ")),
                hint: near.first().map(|near| format!("did you mean `{near}`?")),
            }
        })
    }
}

/// How many sub-tasks there may be, and how much they may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubtaskLimits {
    /// How many sub-tasks of one task run side by side; others wait.
    pub parallel: usize,
    /// How deep sub-tasks may start sub-tasks.
    pub depth: usize,
    /// The share of what is left of the budget that one sub-task may use, in percent.
    pub budget_percent: u64,
}

impl Default for SubtaskLimits {
    fn default() -> Self {
        Self { parallel: 4, depth: 3, budget_percent: 50 }
    }
}
