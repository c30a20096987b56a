//! Which tools the agent has from the start, and the names in the settings that no tool has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_tool_runtime::{Category, Hooks, RegisteredTool, Registry, Rule, ToolSet};

use super::Settings;

/// Which tools the agent is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSettings {
    /// Categories (`debug`, `code`, `files`, ...) or names of tools that the model is shown from the start, besides the
    /// basic ones. It sees the others by name only and loads them with `tool_search` when it needs them.
    pub shown: Vec<String>,
    /// Categories or names of tools that the model sees by name only, although they are basic ones. Saves tokens in every
    /// request.
    pub deferred: Vec<String>,
    /// Names of tools the agent does not have.
    pub disabled: Vec<String>,
    /// Tokens that the tools of MCP servers may cost in a request; servers beyond it are seen by name only, as with
    /// `deferred`. 4000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_tokens: Option<usize>,
}

/// Tools that most tasks need. The others are loaded on demand, so that they cost nothing where they are not used.
const SHOWN: &[&str] = &[
    "ask_clarification",
    "attempt_completion",
    "bash",
    "debug_failure",
    "edit",
    "find_definition",
    "grep",
    "list",
    "plan_enter",
    "plan_exit",
    "plan_update",
    "read",
    "skill_loader",
    "step_complete",
    "task",
    "todowrite",
    "tool_search",
    "write",
];

impl Settings {
    /// The tools a task begins with. A tool that a rule refuses altogether is not shown to the model.
    pub fn tool_set(&self, rules: &[Rule], registry: &Registry) -> ToolSet {
        let settings = self.value(|layer| layer.tools.clone()).unwrap_or_default();
        let is_in = |list: &[String], tool: &RegisteredTool| {
            list.iter().any(|name| {
                *name == tool.spec().category.name()
                    || registry.get(name).is_some_and(|known| known.name() == tool.name())
            })
        };
        // Tools of MCP servers are deferred by what they cost.
        let own = registry.list(None, None).into_iter().filter(|tool| tool.source().is_none());
        let is_deferred = |tool: &RegisteredTool| {
            let is_shown = SHOWN.contains(&tool.name()) || is_in(&settings.shown, tool);
            is_in(&settings.deferred, tool) || !is_shown
        };
        let deferred = own.filter(|tool| is_deferred(tool)).map(|tool| tool.name().to_owned());
        let external = settings.deferred.iter().filter_map(|name| Category::by_name(name));
        let named = settings.deferred.iter().filter(|name| name.starts_with("mcp__")).cloned();
        let external = external.filter(|category| *category == Category::External);
        let set = ToolSet::all().deferring(external, deferred.chain(named));
        let set = set.with_source_tokens(self.mcp_tokens());
        let set = settings.disabled.iter().fold(set, |set, name| set.without(name.clone()));
        set.within_rules(rules)
    }

    /// What the settings say about tools that do not exist, each as a sentence.
    pub fn unknown_tools(&self, rules: &[Rule], hooks: &Hooks, registry: &Registry) -> Vec<String> {
        let settings = self.value(|layer| layer.tools.clone()).unwrap_or_default();
        let near = |name: &str| match registry.suggestions(name).first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let mut told: Vec<String> = Vec::new();
        for rule in rules {
            if let Some(name) = rule.unknown_tool(registry) {
                let source = rule.source.name();
                told.push(format!("the {source} rule `{}` names no tool{}", rule.text, near(name)));
            }
        }
        for matcher in hooks.unknown_tools(registry) {
            told.push(format!("the matcher `{matcher}` of a hook names no tool{}", near(&matcher)));
        }
        let lists =
            [("shown", &settings.shown), ("deferred", &settings.deferred), ("disabled", &settings.disabled)];
        for (list, names) in lists {
            let is_unknown = |name: &&String| {
                let is_category = list != "disabled" && Category::by_name(name).is_some();
                !is_category && !name.starts_with("mcp__") && registry.get(name).is_none()
            };
            for name in names.iter().filter(is_unknown) {
                told.push(format!("`{name}` in `tools.{list}` names no tool{}", near(name)));
            }
        }
        told.extend(hooks.warnings().iter().cloned());
        told.dedup();
        told
    }
}
