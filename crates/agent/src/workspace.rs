//! What the engine needs of a workspace, and where it comes from: the assembly knows tools, settings and providers, the
//! engine does not.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use stepwell_llm::{Model, RequestOptions};
use stepwell_protocol::{ModelItem, PermissionMode, SettingItem};
use stepwell_store::checkpoints::CheckpointLimits;
use stepwell_tool_runtime::{LoopLimits, ToolSet, WorkspacePolicy, WorkspaceServices};

use crate::budget::Budget;
use crate::environment::EnvironmentSettings;
use crate::error::{Error, Result};
use crate::library::Library;
use crate::mode::{Mode, Modes};
use crate::plan::{PLAN_MODE, PlanApproval};
use crate::prompt::Instructions;
use crate::setup::Setup;
use crate::subagent::{Subagents, SubtaskLimits};

/// Where models come from.
#[async_trait]
pub trait ModelSource: Send + Sync {
    /// Finds a model by its `PROVIDER/MODEL` name; nothing is sent yet.
    fn connect(&self, name: &str) -> std::result::Result<Arc<dyn Model>, stepwell_llm::Error>;

    /// Models that can be reached now; asks their servers, within a deadline.
    async fn list(&self) -> Vec<ModelItem>;
}

/// A workspace as the settings of its own folder make it.
pub struct AgentWorkspace {
    /// Shared by every task and door of the workspace.
    pub services: Arc<WorkspaceServices>,
    pub policy: WorkspacePolicy,
    pub settings: RunSettings,
    pub models: Arc<dyn ModelSource>,
    pub instructions: Arc<dyn InstructionSource>,
    /// Commands, skills and nested instructions.
    pub library: Arc<dyn Library>,
}

/// What the settings say about runs.
#[derive(Clone, Debug)]
pub struct RunSettings {
    pub default_model: Option<String>,
    pub default_mode: String,
    pub modes: Arc<Modes>,
    pub subagents: Arc<Subagents>,
    pub subtasks: SubtaskLimits,
    pub max_turns: Option<u32>,
    /// The share of the window at which the context is condensed, in percent; 0 for never.
    pub condense_percent: u64,
    pub budget: Budget,
    pub request: RequestOptions,
    pub loop_limits: LoopLimits,
    /// Which tools a task begins with.
    pub tools: ToolSet,
    pub checkpoints: CheckpointLimits,
    /// Who approves a plan.
    pub plan_approval: PlanApproval,
    /// Every setting in force, for who shows them.
    pub in_force: Vec<SettingItem>,
    /// `2026-11-15`, for the prompt.
    pub date: String,
    /// What of the surroundings is told with a message.
    pub environment: EnvironmentSettings,
}

/// How a task begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    AtOnce,
    WithPlan,
}

impl RunSettings {
    /// The mode a task begins in, and whether it begins with a plan: `plan` stands for that, unless it is the name of a
    /// mode.
    pub fn starting_mode(&self, wanted: Option<String>) -> (String, Start) {
        let wanted = wanted.unwrap_or_else(|| self.default_mode.clone());
        if !self.is_planning(&wanted) {
            return (wanted, Start::AtOnce);
        }
        let standard = Some(self.default_mode.clone()).filter(|mode| !self.is_planning(mode));
        let first = || self.modes.all().next().map(|mode| mode.slug.clone());
        (standard.or_else(first).unwrap_or_default(), Start::WithPlan)
    }

    /// Whether a name stands for planning and not for a mode.
    pub fn is_planning(&self, mode: &str) -> bool {
        mode == PLAN_MODE && self.modes.get(mode).is_none()
    }

    /// The mode of this name.
    pub fn mode(&self, slug: &str) -> Result<&Arc<Mode>> {
        self.modes.get(slug).ok_or_else(|| {
            let known = self.modes.names();
            Error::UnknownMode { mode: slug.to_owned(), known }
        })
    }
}

impl AgentWorkspace {
    /// What needs approval where a task does not say otherwise.
    pub fn permission_mode(&self) -> PermissionMode {
        self.policy.judge.mode
    }
}

/// Opens workspaces.
pub trait WorkspaceSource: Send + Sync {
    /// Opens a folder with its own settings, rules and trust. Services that are open already are shared. Reads files, so
    /// it is called on threads that may block.
    fn open(&self, root: &Path) -> Result<AgentWorkspace>;

    /// What doors may read and change of the set-up; nothing where this is `None`.
    fn setup(self: Arc<Self>) -> Option<Arc<dyn Setup>> {
        None
    }
}

/// Where the instructions of a mode come from.
pub trait InstructionSource: Send + Sync {
    fn instructions(&self, mode: &str) -> Result<Instructions>;
}

impl<F: Fn(&str) -> Result<Instructions> + Send + Sync> InstructionSource for F {
    fn instructions(&self, mode: &str) -> Result<Instructions> {
        self(mode)
    }
}
