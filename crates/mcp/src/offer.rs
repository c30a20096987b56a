//! Which tools are served.

use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Exclusion, RegisteredTool, ToolSet};

use crate::ports::ServedWorkspace;

/// The person's choice of tools. Those of other categories (the person's questions, the plan, the end of a task) are the
/// agent's own: a client has its own ways for these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub categories: Vec<Category>,
    /// Only tools that change nothing and run nothing.
    pub read_only: bool,
}

impl Offer {
    /// The tools that are served. No call reaches another one, not even a call made by a served tool.
    pub fn tool_set(&self) -> ToolSet {
        let set = ToolSet::all().with_categories(self.categories.iter().copied());
        if self.read_only { set.with_max_risk(Risk::Read) } else { set }
    }

    /// The tools that are served of a workspace: those that its rules refuse altogether are not.
    pub(crate) fn without_denied(&self, workspace: &ServedWorkspace) -> ToolSet {
        let tools = workspace.services.executor.registry().list(None, None);
        tools.iter().fold(self.tool_set(), |set, tool| match workspace.permission.denied(tool) {
            Some(rule) => set.without_denied(tool.name(), rule),
            None => set,
        })
    }

    /// Why a tool that is known is not served, and what would serve it.
    pub(crate) fn why_not(&self, workspace: &ServedWorkspace, tool: &RegisteredTool) -> String {
        let name = tool.name();
        match self.without_denied(workspace).refuses(tool) {
            Some(Exclusion::Denied(rule)) => format!("the tool `{name}` is not served: {rule} denies it"),
            Some(Exclusion::Category(category)) if category.instructions().is_some() => {
                let mut names: Vec<&str> = self.categories.iter().map(|category| category.name()).collect();
                names.push(category.name());
                format!(
                    "the tool `{name}` is in the group `{}`, which this server was not started with; the person can \
                     start it with `stepwell mcp --tools {}`",
                    category.name(),
                    names.join(",")
                )
            }
            Some(Exclusion::Risk(_)) => format!("the tool `{name}` is not served with --read-only"),
            _ => format!("the tool `{name}` is for Stepwell's own agent and is not served"),
        }
    }
}
