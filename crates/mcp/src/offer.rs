//! Which tools are served.

use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Registry};

/// Tools that are chosen together. The rest of the registry (the person's questions, the plan, the end of a task) is the
/// agent's own: a client has its own ways for these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolGroup {
    Debug,
    Files,
    Shell,
    Code,
}

impl ToolGroup {
    pub const ALL: [Self; 4] = [Self::Debug, Self::Files, Self::Shell, Self::Code];

    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Files => "files",
            Self::Shell => "shell",
            Self::Code => "code",
        }
    }

    pub fn category(self) -> Category {
        match self {
            Self::Debug => Category::Debug,
            Self::Files => Category::Files,
            Self::Shell => Category::Shell,
            Self::Code => Category::Code,
        }
    }

    fn of(category: Category) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.category() == category)
    }
}

/// The person's choice of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub groups: Vec<ToolGroup>,
    /// Only tools that change nothing and run nothing.
    pub read_only: bool,
}

impl Offer {
    fn includes(&self, category: Category, risk: Risk) -> bool {
        ToolGroup::of(category).is_some_and(|group| self.groups.contains(&group))
            && (!self.read_only || risk <= Risk::Read)
    }

    /// Switches off what is not served, so that no call reaches it, not even one made by a served tool.
    pub(crate) fn apply(&self, registry: &Registry) {
        for tool in registry.list(None, None) {
            let spec = tool.spec();
            if !self.includes(spec.category, spec.risk) {
                // Only a name that is not registered is refused, and this one was just listed.
                registry.disable(tool.name()).ok();
            }
        }
    }

    /// Why a tool that is known is not served, and what would serve it.
    pub(crate) fn why_not(&self, name: &str, category: Category) -> String {
        match ToolGroup::of(category) {
            Some(group) if self.groups.contains(&group) => {
                format!("the tool `{name}` is not served with --read-only")
            }
            Some(group) => {
                let mut names: Vec<&str> = self.groups.iter().map(|group| group.name()).collect();
                names.push(group.name());
                format!(
                    "the tool `{name}` is in the group `{}`, which this server was not started with; the person can \
                     start it with `stepwell mcp --tools {}`",
                    group.name(),
                    names.join(",")
                )
            }
            None => format!("the tool `{name}` is for Stepwell's own agent and is not served"),
        }
    }
}
