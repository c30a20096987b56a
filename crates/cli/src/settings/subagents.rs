//! The sub-agents of a workspace: built in, of the person, of the project.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_agent::subagent::{Subagents, SubtaskLimits, read_subagents};

use super::{Places, Settings};

/// How sub-tasks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubtaskSettings {
    /// How many sub-tasks of one task run side by side; others wait.
    #[schemars(range(min = 1, max = 32))]
    pub parallel: usize,
    /// How deep sub-tasks may start sub-tasks; 0 for none at all.
    #[schemars(range(max = 8))]
    pub depth: usize,
    /// The share of what is left of the budget that one sub-task may use, in percent.
    #[schemars(range(min = 1, max = 100))]
    pub budget_percent: u64,
}

impl Default for SubtaskSettings {
    fn default() -> Self {
        let SubtaskLimits { parallel, depth, budget_percent } = SubtaskLimits::default();
        Self { parallel, depth, budget_percent }
    }
}

impl SubtaskSettings {
    pub fn limits(self) -> SubtaskLimits {
        SubtaskLimits {
            parallel: self.parallel.clamp(1, 32),
            depth: self.depth.min(8),
            budget_percent: self.budget_percent.clamp(1, 100),
        }
    }
}

impl Settings {
    /// Every sub-agent there is, and what is wrong with some. A folder that is not trusted can add sub-agents, but can
    /// neither replace one nor choose a model.
    pub fn subagents(&self, places: &Places, workspace: &Path) -> anyhow::Result<(Subagents, Vec<String>)> {
        let mut found = Subagents::default();
        let mut problems = Vec::new();
        let of_plugins = self.plugins().into_iter().map(|plugin| plugin.join("agents"));
        for folder in of_plugins.chain(personal_folders(places)) {
            let (subagents, faults) = read_subagents(&folder)?;
            problems.extend(faults.iter().map(ToString::to_string));
            for subagent in subagents {
                found.add(subagent);
            }
        }
        let project = Places::project(workspace);
        for folder in [project.join(".claude/agents"), project.join(".stepwell/agents")] {
            let (subagents, faults) = read_subagents(&folder)?;
            problems.extend(faults.iter().map(ToString::to_string));
            for mut subagent in subagents {
                if !self.trusted {
                    if found.find(&subagent.name).is_ok() {
                        problems.push(format!(
                            "{}: the sub-agent `{}` would replace another one, which needs `stepwell config trust`",
                            subagent.source, subagent.name
                        ));
                        continue;
                    }
                    subagent.model = None;
                }
                found.add(subagent);
            }
        }
        Ok((found, problems))
    }
}

/// Folders with sub-agents of the person, the strongest last.
fn personal_folders(places: &Places) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    folders.extend(places.user_home.as_ref().map(|home| home.join(".claude/agents")));
    folders.push(places.config.join("agents"));
    folders
}
