//! The commands Stepwell comes with.

use super::SlashCommand;
use crate::library::Origin;

const INIT: &str = "Write an `AGENTS.md` for this repository, or improve the one that is there.\n\n\
It is read by coding agents at the start of every task, so it holds what they cannot see at a glance and would \
otherwise get wrong: how to build, test and run (the exact commands, also for one single test), how the code is laid \
out and where to start reading, the conventions that are followed here, and traps. Find these out by looking: build \
files, CI, README, the rules of other agents (`CLAUDE.md`, `.cursorrules`, `.roo/rules`, `.github/copilot-instructions.md`), \
and by running the commands you name.\n\n\
Keep it under 100 lines. No general advice, no list of every file, nothing that changes weekly. Keep what a person has \
written there already, unless it is wrong.\n\n$ARGUMENTS";

pub(super) fn commands() -> Vec<SlashCommand> {
    vec![SlashCommand {
        name: "init".to_owned(),
        description: Some("Write AGENTS.md: what an agent must know of this repository".to_owned()),
        argument_hint: Some("[what matters most]".to_owned()),
        mode: None,
        model: None,
        allowed_tools: Vec::new(),
        body: INIT.to_owned(),
        origin: Origin::BuiltIn,
    }]
}
