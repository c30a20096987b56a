//! Rules and automatic approval as they stand in settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::JudgePlaces;
use super::rule::{Deed, Rule, RuleSource};
use super::{CallFacts, Effect};
use crate::Category;
use crate::shell;
use stepwell_protocol::{Preview, Risk};

/// What may be done without asking, what must be asked, and what never happens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionSettings {
    /// What is done without asking, as `tool` or `tool(what)`: `bash(cargo test *)`, `edit(src/**)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// What is asked about even where it would be allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// What never happens, in no mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Rules with a reason, and examples that are checked when the settings are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleTable>,
}

/// One rule, as a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleTable {
    pub effect: Effect,
    /// The tool, or an alias of it; `edit` and `read` stand for every tool that changes or reads files.
    pub tool: String,
    /// The words a command begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// One command line and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// Paths, as in `.gitignore`: relative to the workspace, below `~/`, or absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A host, or `*.example.com`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What is told when the rule decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Examples the rule must be about; the settings are refused when one is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub r#match: Vec<String>,
    /// Examples the rule must not be about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<String>,
}

/// Classes of calls that need no asking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AutoApprove {
    /// Reading files outside the workspace by commands that only read.
    pub read: bool,
    /// Changing files in the workspace.
    pub write: bool,
    /// Changing files outside the workspace, as far as the sandbox lets it happen.
    pub write_outside: bool,
    /// Changing files that steer tools and agents (`.git`, `.vscode`, `AGENTS.md`).
    pub protected: bool,
    /// Commands of which it is known what they run.
    pub commands: bool,
    /// The browser.
    pub browser: bool,
    /// Tools of MCP servers.
    pub mcp: bool,
    /// Changing the mode.
    pub mode_switch: bool,
    /// Starting sub-tasks.
    pub subtasks: bool,
    /// Questions are answered with their default after so many seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions_after_seconds: Option<u64>,
    /// So many calls in a task are approved by this table; then the person is asked, and the count begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_requests: Option<u32>,
    /// The same for what a task costs, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

impl PermissionSettings {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes away what allows, for a folder that is not trusted.
    pub fn without_allowing(&mut self) -> bool {
        let before = self.allow.len() + self.rules.len();
        self.allow.clear();
        self.rules.retain(|rule| rule.effect != Effect::Allow);
        self.allow.len() + self.rules.len() != before
    }

    /// The rules, checked. The error names the rule or the example that is wrong.
    pub fn rules(&self, source: RuleSource, places: &JudgePlaces) -> Result<Vec<Rule>, String> {
        let mut rules = Vec::new();
        for (effect, texts) in
            [(Effect::Allow, &self.allow), (Effect::Ask, &self.ask), (Effect::Deny, &self.deny)]
        {
            for text in texts {
                let rule = Rule::parse(effect, text, source, places);
                rules.push(rule.map_err(|problem| format!("the rule `{text}` cannot be used: {problem}"))?);
            }
        }
        for table in &self.rules {
            rules.push(table.rule(source, places)?);
        }
        Ok(rules)
    }
}

impl RuleTable {
    /// The rule, after its examples were tried.
    fn rule(&self, source: RuleSource, places: &JudgePlaces) -> Result<Rule, String> {
        let named = |problem: String| format!("the rule about `{}` cannot be used: {problem}", self.tool);
        let specs = [&self.command, &self.path, &self.host, &self.exact];
        if specs.iter().filter(|spec| spec.is_some()).count() > 1 {
            return Err(named("give one of `command`, `exact`, `path` and `host`".to_owned()));
        }
        let mut rule = if let Some(command) = &self.exact {
            Rule::exact(self.effect, &self.tool, command, source)
        } else {
            let spec = self.command.as_ref().or(self.path.as_ref()).or(self.host.as_ref());
            let tool = if self.host.is_some() { "network" } else { &self.tool };
            Rule::build(self.effect, tool, spec.map(String::as_str), source, places).map_err(named)?
        };
        rule.reason.clone_from(&self.reason);
        for (examples, expected) in [(&self.r#match, true), (&self.not_match, false)] {
            for example in examples {
                if self.is_about(&rule, example, places) != expected {
                    let (list, not) = if expected { ("match", "not ") } else { ("not_match", "") };
                    return Err(format!(
                        "the rule `{}` is {not}about its example `{example}` in `{list}`",
                        rule.text
                    ));
                }
            }
        }
        Ok(rule)
    }

    /// Whether a rule is about an example: a command, a path or a host, as the rule is.
    fn is_about(&self, rule: &Rule, example: &str, places: &JudgePlaces) -> bool {
        let mut facts = CallFacts {
            task: "example".into(),
            tool: self.tool.to_ascii_lowercase(),
            aliases: &[],
            category: Category::External,
            risk: Risk::Execute,
            arguments: serde_json::Value::Null,
            preview: Preview::default(),
            command: None,
        };
        if self.path.is_some() {
            let path = places.resolve(example, None);
            return rule.covers(&facts, Deed::Write(&path)) || rule.covers(&facts, Deed::Read(&path));
        }
        if self.host.is_some() {
            return rule.covers(&facts, Deed::Host(example));
        }
        facts.preview.command = Some(example.to_owned());
        if rule.is_exact() {
            return rule.covers(&facts, Deed::Call);
        }
        let analysis = shell::analyse(example);
        let mut parts = analysis.parts.iter().filter(|part| !part.transparent && !part.words.is_empty());
        match self.effect {
            Effect::Allow => {
                parts.all(|part| rule.covers(&facts, Deed::Command(part))) && !analysis.parts.is_empty()
            }
            Effect::Ask | Effect::Deny => parts.any(|part| rule.covers(&facts, Deed::Command(part))),
        }
    }
}
