//! Workspaces as the server opens them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_mcp::{ServedWorkspace, WorkspaceSource};
use stepwell_tool_runtime::{Category, RuleJudge};

use crate::assemble::{Assembly, AssemblyOptions, workspace_root};
use crate::settings::SettingsLayer;

pub struct ServedWorkspaces {
    /// Where the server works when the client names no folder.
    folder: PathBuf,
    asked_for: Vec<Category>,
}

impl ServedWorkspaces {
    /// Calls of these categories count as asked for: the client shows them to the person before it makes them.
    pub fn new(folder: PathBuf, categories: &[Category]) -> Self {
        Self { folder, asked_for: categories.to_vec() }
    }

    fn assemble(&self, workspace: Option<&Path>) -> anyhow::Result<ServedWorkspace> {
        let root = workspace_root(Some(workspace.unwrap_or(&self.folder)))?;
        let assembly = Assembly::new(AssemblyOptions {
            workspace: root,
            extra_roots: Vec::new(),
            command_line: SettingsLayer::default(),
            record: None,
        })?;
        assembly.tell_withheld();
        let opened = assembly.open()?;
        let mut judge = opened.policy.judge.clone();
        judge.asked_for.clone_from(&self.asked_for);
        Ok(ServedWorkspace {
            permission_mode: judge.mode,
            permission: Arc::new(RuleJudge::new(judge)),
            hooks: opened.policy.hooks,
            services: opened.services,
        })
    }
}

impl WorkspaceSource for ServedWorkspaces {
    fn open(&self, workspace: Option<&Path>) -> Result<ServedWorkspace, String> {
        self.assemble(workspace).map_err(|error| {
            let report = crate::report::to_error_report(&error);
            match report.hint {
                Some(hint) => format!("{}; {hint}", report.message),
                None => report.message,
            }
        })
    }
}
