//! The sub-agents Stepwell comes with.

use std::collections::BTreeSet;

use stepwell_tool_runtime::ToolGroup;

use super::Subagent;
use crate::mode::{DEBUGGING, ModeSource};

struct BuiltIn {
    name: &'static str,
    description: &'static str,
    prompt: &'static str,
    groups: &'static [ToolGroup],
    /// The debugger builds and runs programs, but leaves the fix to others.
    may_edit: bool,
    max_turns: u32,
}

const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "explorer",
        description: "finds out where and how something is done in the code; changes nothing",
        prompt: "You are Stepwell's explorer. You answer one question about the user's repository by searching and reading \
                 it. Search broadly first, then read only what matters. Your answer goes to another agent, not to a \
                 person: give the finding, the places as `path:line` with the lines that show it, and what you looked for \
                 and did not find. Change nothing.",
        groups: &[ToolGroup::Read, ToolGroup::Browser],
        may_edit: true,
        max_turns: 40,
    },
    BuiltIn {
        name: "planner",
        description: "works out the steps of a larger change from the code as it is; changes nothing",
        prompt: "You are Stepwell's planner. You read the code that a change concerns and give back a plan another agent \
                 can carry out: ordered steps, each with the files and functions it touches, its expected outcome and how \
                 that is checked; what was ruled out and why; what only the user can decide. Change nothing.",
        groups: &[ToolGroup::Read, ToolGroup::Browser],
        may_edit: true,
        max_turns: 40,
    },
    BuiltIn {
        name: "coder",
        description: "carries out one well-described change and verifies it",
        prompt: "You are Stepwell's coder. You carry out exactly the change you are given, in the style of the code around \
                 it, run what verifies it, and give back what you changed (`path:line`), what you ran and what it showed, \
                 and anything you noticed that was not part of the change. Do not widen the task.",
        groups: &ToolGroup::ALL,
        may_edit: true,
        max_turns: 80,
    },
    BuiltIn {
        name: "reviewer",
        description: "reviews a change for faults, running what can be run; changes nothing",
        prompt: "You are Stepwell's reviewer. You look at a change with fresh eyes: does it do what was asked, what input \
                 breaks it, what did it miss? Try the doubtful cases instead of arguing about them; programs see the \
                 workspace read-only. Give back the faults, the worst first, each with its place, how to show it, and what \
                 you observed; then what you checked and found right. No praise.",
        groups: &[ToolGroup::Read, ToolGroup::Command, ToolGroup::Debug],
        may_edit: true,
        max_turns: 40,
    },
    BuiltIn {
        name: "debugger",
        description: "gets a symptom (failing command, test, wrong value) and gives back the cause with proof; edits nothing",
        prompt: "You are Stepwell's debugger. You get a symptom and give back its cause with proof. First see the failure \
                 itself (`debug_failure` with the failing command). Then state one `hypothesis` at a time: the claim, the \
                 probe, the value it predicts. Run the probe with the debugger and record the value you saw; a refuted \
                 hypothesis is dropped, not bent. Stop when one confirmed hypothesis explains the symptom. Give back: the \
                 cause in one sentence with its place, the values that prove it and the probe that shows them, the \
                 smallest fix you would make, and how to check it. Do not edit files.",
        groups: &ToolGroup::ALL,
        may_edit: false,
        max_turns: 60,
    },
];

/// The built-in sub-agents.
pub(super) fn subagents() -> Vec<Subagent> {
    BUILT_IN.iter().map(BuiltIn::subagent).collect()
}

impl BuiltIn {
    fn subagent(&self) -> Subagent {
        Subagent {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            prompt: self.prompt.to_owned(),
            groups: self.groups.to_vec(),
            tools: None,
            shown_tools: if self.name == "debugger" {
                DEBUGGING.iter().map(ToString::to_string).collect()
            } else {
                Vec::new()
            },
            excluded_tools: BTreeSet::new(),
            may_edit: self.may_edit,
            model: None,
            permission_mode: None,
            max_turns: Some(self.max_turns),
            source: ModeSource::BuiltIn,
        }
    }
}
