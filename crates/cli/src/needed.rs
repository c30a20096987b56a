//! What a person can do so that a refused call runs next time: a rule that allows no more than it, or a mode.

use stepwell_protocol::{ApprovalRequest, PermissionMode, Risk};

use crate::language::Language;

/// Rules that are named; more would be no hint any more.
const MOST_RULES: usize = 5;

/// What some refused calls would have needed.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    rules: Vec<String>,
    /// Whether rules alone would not do.
    has_others: bool,
    mode: PermissionMode,
}

impl Needed {
    pub fn add(&mut self, request: &ApprovalRequest) {
        let rules = rules_of(request);
        self.has_others |= rules.is_empty();
        for rule in rules {
            if !self.rules.contains(&rule) {
                self.rules.push(rule);
            }
        }
        // Editing is the only thing a smaller step than everything would have allowed.
        self.mode = match (request.risk, self.mode) {
            (Risk::Write, PermissionMode::Default | PermissionMode::AcceptEdits) => {
                PermissionMode::AcceptEdits
            }
            _ => PermissionMode::BypassPermissions,
        };
    }

    /// What to do, in words.
    pub fn told(&self, language: Language) -> String {
        let mode = format!("`--permission-mode {}`", self.mode.name());
        let has_rules = !self.rules.is_empty() && self.rules.len() <= MOST_RULES && !self.has_others;
        let quoted: Vec<String> = self.rules.iter().map(|rule| format!("{rule:?}")).collect();
        let rules = format!("`allow = [{}]`", quoted.join(", "));
        match (language, has_rules) {
            (Language::English, true) => {
                format!(
                    "allow it with {rules} under `[permissions]` in the settings, or everything like it with {mode}"
                )
            }
            (Language::English, false) => format!("allow it with {mode}"),
            (Language::Chinese, true) => {
                format!("可在设置的 `[permissions]` 中写 {rules} 来允许，或用 {mode} 允许所有同类操作")
            }
            (Language::Chinese, false) => format!("可用 {mode} 允许"),
        }
    }
}

/// The rules that would allow a call, as the request names them: in backquotes, which no rule holds. A command that is
/// offered exactly as it stands has none.
fn rules_of(request: &ApprovalRequest) -> Vec<String> {
    let grant = request.grant.as_deref().unwrap_or_default();
    let inner = grant.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inner.map(|rules| rules.split("`, `").map(str::to_owned).collect()).unwrap_or_default()
}
