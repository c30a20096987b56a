//! Whether a call may run: allow, deny or ask.
//!
//! A [`PermissionJudge`] is asked once per call, with everything that is known about it. Its word binds to
//! exactly these arguments: the executor runs the very value that was judged. Whatever goes wrong on the way is
//! a refusal. [`RuleJudge`] is the judge of the product; the order in which it decides is told in `ruling.rs`.

mod blacklist;
mod denied;
mod grant;
mod judge;
mod patterns;
mod places;
mod rule;
mod ruling;
mod settings;
mod warnings;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stepwell_protocol::{ApprovalAnswer, PermissionMode, Preview, Risk, TaskId};

use crate::Category;
use crate::registry::RegisteredTool;
use crate::shell::Analysis;

pub use denied::DeniedReads;
pub use grant::{Grant, GrantKeeper};
pub use judge::{JudgeOptions, RuleJudge};
pub use places::{Below, FollowLinks, JudgePlaces, LookAtGit};
pub use rule::{Rule, RuleSource, denied_tool};
pub use ruling::{Finding, Ruling};
pub use settings::{AutoApprove, PermissionSettings, RuleTable};
pub use warnings::add_warnings;

/// What is judged.
#[derive(Clone, Debug)]
pub struct CallFacts {
    pub task: TaskId,
    /// The name the tool is registered under, whatever alias the call used.
    pub tool: String,
    /// Its other names; a rule may use any of them.
    pub aliases: &'static [&'static str],
    pub category: Category,
    pub risk: Risk,
    /// The arguments as the tool will get them.
    pub arguments: Value,
    pub preview: Preview,
    /// The command of the preview, taken apart once for everybody who looks at it.
    pub command: Option<Arc<Analysis>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Deny { reason: String },
    Ask { reason: String },
}

/// What a rule says; the later, the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Allow,
    Ask,
    Deny,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

#[async_trait]
pub trait PermissionJudge: Send + Sync {
    async fn judge(&self, facts: &CallFacts) -> Verdict;

    /// What a yes for longer than this call would allow, in words; nothing where it would allow nothing more.
    fn offer(&self, _facts: &CallFacts) -> Option<String> {
        None
    }

    /// Whether the person must be asked even where a hook would allow the call.
    fn insists(&self, _facts: &CallFacts) -> bool {
        false
    }

    /// Returns the ports of this machine's loopback that rules open by name.
    fn loopback_ports(&self) -> Vec<u16> {
        Vec::new()
    }

    /// The person said yes. An error says why a yes for longer could not be kept; the call runs all the same.
    fn granted(&self, facts: &CallFacts, answer: &ApprovalAnswer) -> Result<(), String>;

    /// After how many seconds questions are answered by their default.
    fn question_seconds(&self) -> Option<u64> {
        None
    }

    /// The rule that refuses every call of a tool, as it is written. Such a tool need not be offered.
    fn denied(&self, _tool: &RegisteredTool) -> Option<String> {
        None
    }

    /// The mode it decides by.
    fn mode(&self) -> PermissionMode {
        PermissionMode::Default
    }

    /// Decides by another mode from now on.
    fn set_mode(&self, mode: PermissionMode);

    /// What the task has cost since the last time, for limits on what is approved without asking.
    fn spent(&self, _usd: f64) {}
}

/// The table of permission modes and risks.
pub fn by_mode(mode: PermissionMode, risk: Risk) -> Verdict {
    let what = match risk {
        Risk::Control | Risk::Read => return Verdict::Allow,
        Risk::Write => "changes to files",
        Risk::Execute => "commands",
        Risk::Network => "network access",
    };
    match mode {
        PermissionMode::BypassPermissions => Verdict::Allow,
        PermissionMode::AcceptEdits if risk == Risk::Write => Verdict::Allow,
        PermissionMode::Default | PermissionMode::AcceptEdits => {
            Verdict::Ask { reason: format!("{} mode asks before {what}", mode.name()) }
        }
        PermissionMode::Plan => Verdict::Deny {
            reason: format!("plan mode allows no {what}: only read, and describe what you would do"),
        },
        PermissionMode::DontAsk => {
            Verdict::Deny { reason: format!("dontAsk mode refuses {what} that no rule allows") }
        }
    }
}

#[cfg(test)]
mod tests;
