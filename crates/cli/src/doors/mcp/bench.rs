//! The tools of a workspace, as the settings of that workspace want them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_mcp::{Bench, Benches, ToolGroup};
use stepwell_protocol::TaskId;
use stepwell_tool_runtime::{Category, HookFacts, RuleJudge};

use super::resources::DebugResources;
use crate::assemble::{Assembly, AssemblyOptions, ToolsAndDesks, workspace_root};
use crate::settings::SettingsLayer;

pub struct WorkspaceBenches {
    /// Where the server works when the client names no folder.
    folder: PathBuf,
    asked_for: Vec<Category>,
}

impl WorkspaceBenches {
    /// Calls of these groups count as asked for: the client shows them to the person before it makes them.
    pub fn new(folder: PathBuf, groups: &[ToolGroup]) -> Self {
        Self { folder, asked_for: groups.iter().map(|group| group.category()).collect() }
    }

    fn assemble(&self, workspace: Option<&Path>) -> anyhow::Result<Bench> {
        let root = workspace_root(Some(workspace.unwrap_or(&self.folder)))?;
        let assembly = Assembly::new(AssemblyOptions {
            workspace: root.clone(),
            extra_roots: Vec::new(),
            command_line: SettingsLayer::default(),
            record: None,
        })?;
        assembly.tell_withheld();
        let benches = assembly.benches();
        let mut judge = benches.judge_options(&root)?;
        judge.asked_for.clone_from(&self.asked_for);
        let ToolsAndDesks { executor, debugger: desk, .. } = benches.tools(&root)?;
        let redactor = benches.redactor();
        Ok(Bench {
            executor,
            permission: Arc::new(RuleJudge::new(judge)),
            hooks: Arc::new(benches.hooks()?),
            hook_facts: HookFacts {
                session_id: TaskId::generate().to_string(),
                cwd: root.clone(),
                permission_mode: benches.permission_mode(),
                ..HookFacts::default()
            },
            redactor: Arc::clone(&redactor),
            checkpoints: benches.checkpoints(&root)?,
            resources: Arc::new(DebugResources { desk, redactor }),
        })
    }
}

impl Benches for WorkspaceBenches {
    fn open(&self, workspace: Option<&Path>) -> Result<Bench, String> {
        self.assemble(workspace).map_err(|error| {
            let report = crate::report::to_error_report(&error);
            match report.hint {
                Some(hint) => format!("{}; {hint}", report.message),
                None => report.message,
            }
        })
    }
}
