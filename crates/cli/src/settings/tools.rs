//! Which tools the agent has from the start, and the names in the settings that no tool has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_tool_runtime::{Category, Hooks, Registry, Rule, ToolSet, denied_tool};

use super::Settings;

/// Which tools the agent is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSettings {
    /// Categories (`debug`, `code`, `files`, ...) or names of tools that the model sees by name only and loads with
    /// `tool_search` when it needs them. Saves tokens in every request.
    pub deferred: Vec<String>,
    /// Names of tools the agent does not have.
    pub disabled: Vec<String>,
    /// Tokens that the tools of MCP servers may cost in a request; servers beyond it are seen by name only, as with
    /// `deferred`. 4000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_tokens: Option<usize>,
}

/// Tools that few tasks need: their definitions are loaded on demand.
const RARE: &[&str] = &["fetch_instructions", "generate_image", "run_slash_command", "skill_installer"];

impl Settings {
    /// The tools a task begins with. A tool that a rule refuses altogether is not shown to the model.
    pub fn tool_set(&self, rules: &[Rule], registry: &Registry) -> ToolSet {
        let settings = self.value(|layer| layer.tools.clone()).unwrap_or_default();
        let (categories, names): (Vec<&String>, Vec<&String>) =
            settings.deferred.iter().partition(|name| Category::by_name(name).is_some());
        let categories = categories.into_iter().filter_map(|name| Category::by_name(name));
        let rare = RARE.iter().map(|name| (*name).to_owned());
        let set = ToolSet::all().deferring(categories, names.into_iter().cloned().chain(rare));
        let set = set.with_source_tokens(self.mcp_tokens());
        let set = settings.disabled.iter().fold(set, |set, name| set.without(name.clone()));
        registry.list(None, None).iter().fold(set, |set, tool| match denied_tool(rules, tool) {
            Some(rule) => set.without_denied(tool.name(), rule),
            None => set,
        })
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
        for (list, names) in [("deferred", &settings.deferred), ("disabled", &settings.disabled)] {
            let is_unknown = |name: &&String| {
                let is_category = list == "deferred" && Category::by_name(name).is_some();
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
