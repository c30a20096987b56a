//! The judge of a task: rules, the person's grants, automatic approval, the mode.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use stepwell_protocol::{ApprovalAnswer, ApprovalDecision, PermissionMode};

use super::grant::{Grant, GrantKeeper, candidates};
use super::patterns::LOOPBACK_NAMES;
use super::places::JudgePlaces;
use super::rule::{Rule, RuleSource};
use super::ruling::{Court, Ruling};
use super::settings::AutoApprove;
use super::{CallFacts, Effect, PermissionJudge, Verdict};
use crate::Category;
use crate::registry::RegisteredTool;

/// Grants of one task that are remembered.
const MOST_GRANTS: usize = 1000;

/// What a judge decides by.
#[derive(Clone, Default)]
pub struct JudgeOptions {
    pub mode: PermissionMode,
    pub rules: Vec<Rule>,
    pub auto_approve: AutoApprove,
    /// Categories whose calls somebody else has asked the person about, call by call (an MCP client's own dialogue). The
    /// mode does not ask a second time; everything else that asks still does.
    pub asked_for: Vec<Category>,
    pub places: JudgePlaces,
    /// Where "always" is kept; without one it holds for the task.
    pub keeper: Option<Arc<dyn GrantKeeper>>,
}

impl JudgeOptions {
    /// A mode and nothing else.
    pub fn for_mode(mode: PermissionMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

pub struct RuleJudge {
    mode: RwLock<PermissionMode>,
    /// Those of the settings, then those of the task.
    rules: RwLock<Vec<Rule>>,
    auto_approve: AutoApprove,
    asked_for: Vec<Category>,
    places: JudgePlaces,
    keeper: Option<Arc<dyn GrantKeeper>>,
    approved: Mutex<Approved>,
}

/// What was approved by class since the person was last asked.
#[derive(Debug, Default)]
struct Approved {
    calls: u32,
    cost_usd: f64,
}

impl RuleJudge {
    pub fn new(options: JudgeOptions) -> Self {
        Self {
            mode: RwLock::new(options.mode),
            rules: RwLock::new(options.rules),
            auto_approve: options.auto_approve,
            asked_for: options.asked_for,
            places: options.places,
            keeper: options.keeper,
            approved: Mutex::default(),
        }
    }

    pub fn mode(&self) -> PermissionMode {
        *self.mode.read()
    }

    /// Every rule in force, the task's last.
    pub fn rules(&self) -> Vec<Rule> {
        self.rules.read().clone()
    }

    /// The verdict with everything that led to it; counts nothing.
    pub fn explain(&self, facts: &CallFacts) -> Ruling {
        self.rule_on(facts, &self.rules.read())
    }

    /// The grant a yes for longer than this call would be.
    pub fn grant(&self, facts: &CallFacts) -> Option<Grant> {
        let rules = self.rules.read();
        let ruling = self.rule_on(facts, &rules);
        if ruling.always_asks || !matches!(ruling.verdict, Verdict::Ask { .. }) {
            return None;
        }
        // Offered is only what would spare the question.
        candidates(facts, ruling.analysis.as_deref(), &ruling.findings).into_iter().find(|grant| {
            let with: Vec<Rule> = rules.iter().cloned().chain(self.rules_of(grant)).collect();
            self.rule_on(facts, &with).verdict == Verdict::Allow
        })
    }

    fn rule_on(&self, facts: &CallFacts, rules: &[Rule]) -> Ruling {
        let court = Court {
            mode: self.mode(),
            rules,
            auto: &self.auto_approve,
            asked_for: &self.asked_for,
            places: &self.places,
        };
        court.rule_on(facts)
    }

    fn rules_of(&self, grant: &Grant) -> Vec<Rule> {
        match grant {
            Grant::Rules(texts) => {
                let parse =
                    |text: &String| Rule::parse(Effect::Allow, text, RuleSource::Session, &self.places).ok();
                texts.iter().filter_map(parse).collect()
            }
            Grant::Exact { tool, command } => {
                vec![Rule::exact(Effect::Allow, tool, command, RuleSource::Session)]
            }
        }
    }

    /// Why automatic approval has come to its limit.
    fn limit_reached(&self) -> Option<String> {
        let mut approved = self.approved.lock();
        if let Some(most) = self.auto_approve.max_requests
            && approved.calls >= most
        {
            return Some(format!(
                "{most} calls were approved without asking, as many as auto_approve.max_requests says"
            ));
        }
        if let Some(most) = self.auto_approve.max_cost_usd
            && approved.cost_usd >= most
        {
            return Some(format!(
                "${most} were spent without asking, as much as auto_approve.max_cost_usd says"
            ));
        }
        approved.calls += 1;
        None
    }
}

#[async_trait]
impl PermissionJudge for RuleJudge {
    async fn judge(&self, facts: &CallFacts) -> Verdict {
        let ruling = self.explain(facts);
        let by_class = ruling.by_class && self.mode() != PermissionMode::BypassPermissions;
        match (ruling.verdict, by_class) {
            (Verdict::Allow, true) => match (self.limit_reached(), self.mode()) {
                (None, _) => Verdict::Allow,
                (Some(reason), PermissionMode::DontAsk | PermissionMode::Plan) => Verdict::Deny { reason },
                (Some(reason), _) => Verdict::Ask { reason },
            },
            (verdict, _) => verdict,
        }
    }

    fn offer(&self, facts: &CallFacts) -> Option<String> {
        self.grant(facts).map(|grant| grant.to_string())
    }

    fn loopback_ports(&self) -> Vec<u16> {
        let rules = self.rules.read();
        let opened = rules.iter().filter(|rule| rule.effect == Effect::Allow);
        let mut ports: Vec<u16> = opened.filter_map(Rule::loopback_port).collect();
        // Another rule may speak against it, by any of its names.
        let others: Vec<&Rule> = rules.iter().filter(|rule| rule.effect != Effect::Allow).collect();
        let is_closed = |port: u16| {
            let names = LOOPBACK_NAMES.map(|name| format!("{name}:{port}"));
            others.iter().any(|rule| names.iter().any(|name| rule.is_about_host(name)))
        };
        ports.retain(|port| !is_closed(*port));
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    fn insists(&self, facts: &CallFacts) -> bool {
        self.mode() != PermissionMode::BypassPermissions && self.explain(facts).always_asks
    }

    fn granted(&self, facts: &CallFacts, answer: &ApprovalAnswer) -> Result<(), String> {
        *self.approved.lock() = Approved::default();
        if !matches!(answer.decision, ApprovalDecision::YesForSession | ApprovalDecision::Always) {
            return Ok(());
        }
        let Some(grant) = self.grant(facts) else { return Ok(()) };
        let rules = self.rules_of(&grant);
        let mut known = self.rules.write();
        if known.iter().filter(|rule| rule.source == RuleSource::Session).count() < MOST_GRANTS {
            known.extend(rules);
        }
        drop(known);
        match (&self.keeper, answer.decision) {
            (Some(keeper), ApprovalDecision::Always) => keeper.keep(&grant),
            _ => Ok(()),
        }
    }

    fn question_seconds(&self) -> Option<u64> {
        self.auto_approve.questions_after_seconds
    }

    fn denied(&self, tool: &RegisteredTool) -> Option<String> {
        super::denied_tool(&self.rules.read(), tool)
    }

    fn mode(&self) -> PermissionMode {
        *self.mode.read()
    }

    fn set_mode(&self, mode: PermissionMode) {
        *self.mode.write() = mode;
    }

    fn spent(&self, usd: f64) {
        self.approved.lock().cost_usd += usd;
    }
}
