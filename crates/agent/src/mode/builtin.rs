//! The modes that are always there.

use stepwell_tool_runtime::{FilePattern, ToolGroup, Vocabulary};

use super::{Mode, ModeGroup, ModeSource};

struct BuiltIn {
    slug: &'static str,
    name: &'static str,
    description: &'static str,
    when_to_use: &'static str,
    role: &'static str,
    instructions: Option<&'static str>,
    groups: &'static [ToolGroup],
    shown_tools: &'static [&'static str],
    /// What files may be changed, where not all.
    files: Option<(&'static str, &'static str)>,
}

/// The way into a running program, for who debugs.
pub(crate) const DEBUGGING: &[&str] = &["start_debugging", "set_breakpoint", "debug_trace", "hypothesis"];

const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        slug: "code",
        name: "Code",
        description: "Write, change and fix code",
        when_to_use: "to write, change, refactor or fix code",
        role: "",
        instructions: None,
        groups: &ToolGroup::ALL,
        shown_tools: &[],
        files: None,
    },
    BuiltIn {
        slug: "architect",
        name: "Architect",
        description: "Design and plan; changes Markdown files only",
        when_to_use: "to design a change, weigh options or write a plan before any code is changed",
        role: "You are Stepwell, a software architect at work in the user's repository through the tools you are given. You \
               find out how the code is built today, weigh the ways to change it, and write down a plan that another \
               engineer can carry out.",
        instructions: Some(
            "Read the code that the change concerns before you propose anything. Ask about what the code cannot tell you. \
             Name files, types and functions in the plan, the order of the steps, how each step is verified, and what was \
             ruled out and why. You may only change Markdown files; offer to switch to `code` when the plan is agreed.",
        ),
        groups: &[ToolGroup::Read, ToolGroup::Edit, ToolGroup::Browser, ToolGroup::Mcp],
        shown_tools: &[],
        files: Some((r"\.md$", "Markdown files")),
    },
    BuiltIn {
        slug: "ask",
        name: "Ask",
        description: "Explain code and answer questions; changes nothing",
        when_to_use: "to have something explained or looked up, without any change",
        role: "You are Stepwell, an engineer who explains the user's repository. You answer from what you read in it, and \
               name the place each claim rests on.",
        instructions: Some(
            "Answer the question completely before you suggest anything. Do not change code; you have no tools for it.",
        ),
        groups: &[ToolGroup::Read, ToolGroup::Browser, ToolGroup::Mcp],
        shown_tools: &[],
        files: None,
    },
    BuiltIn {
        slug: "debug",
        name: "Debug",
        description: "Find out why something fails with the debugger, then fix it",
        when_to_use: "to find out why a program or a test fails",
        role: "You are Stepwell, an engineer who finds out why programs fail. You look at the running program with real \
               debuggers; you do not guess.",
        instructions: Some(
            "Before any edit, see the failure: `debug_failure` for a failing command or test. State one hypothesis at a time \
             with the value it predicts, probe it with the debugger, and drop it when the value differs. Change the code only \
             for a cause you saw, run the same probe again after the fix, and give both values as proof.",
        ),
        groups: &ToolGroup::ALL,
        shown_tools: DEBUGGING,
        files: None,
    },
    BuiltIn {
        slug: "orchestrator",
        name: "Orchestrator",
        description: "Divide a large goal into sub-tasks and give them to others; changes nothing itself",
        when_to_use: "for a goal of several parts that need different kinds of work",
        role: "You are Stepwell, the engineer who leads the work on a large goal. You divide it into sub-tasks, give each to \
               the sub-agent or mode that fits, and judge what comes back.",
        instructions: Some(
            "You have no tools for files or programs. Find out what is needed with `task` (an explorer or a planner), then \
             give out the parts in the order in which they depend on each other; independent ones together. Each prompt \
             must stand on its own: the goal, what is known with its places, what may not be changed, and what to give \
             back. Check a result before you build on it, with a reviewer where it matters. At the end say what was done, \
             by whom it was verified, and what remains.",
        ),
        groups: &[],
        shown_tools: &["new_task"],
        files: None,
    },
];

/// The built-in modes, the default first.
pub(super) fn modes() -> Vec<Mode> {
    BUILT_IN.iter().map(BuiltIn::mode).collect()
}

impl BuiltIn {
    fn mode(&self) -> Mode {
        let pattern =
            self.files.and_then(|(pattern, what)| FilePattern::new(pattern, Some(what.to_owned())).ok());
        let groups = self.groups.iter().map(|group| ModeGroup {
            group: *group,
            files: pattern.clone().filter(|_| *group == ToolGroup::Edit),
        });
        Mode {
            slug: self.slug.to_owned(),
            name: self.name.to_owned(),
            role: self.role.to_owned(),
            when_to_use: Some(self.when_to_use.to_owned()),
            description: Some(self.description.to_owned()),
            instructions: self.instructions.map(str::to_owned),
            groups: groups.collect(),
            shown_tools: self.shown_tools.iter().map(ToString::to_string).collect(),
            model: None,
            vocabulary: Vocabulary::default(),
            source: ModeSource::BuiltIn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architect_may_change_markdown_alone() {
        let modes = modes();
        let architect = modes.iter().find(|mode| mode.slug == "architect").unwrap();
        let edit = architect.groups.iter().find(|group| group.group == ToolGroup::Edit).unwrap();
        assert_eq!(edit.files.as_ref().unwrap().text(), r"\.md$");
        assert!(architect.groups.iter().all(|group| group.group != ToolGroup::Command));
    }
}
