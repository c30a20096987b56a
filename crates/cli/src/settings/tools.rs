//! Which tools the agent has from the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_tool_runtime::{Category, ToolSet};

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
}

impl Settings {
    /// The tools a task begins with.
    pub fn tool_set(&self) -> ToolSet {
        let settings = self.value(|layer| layer.tools.clone()).unwrap_or_default();
        let (categories, names): (Vec<&String>, Vec<&String>) =
            settings.deferred.iter().partition(|name| Category::by_name(name).is_some());
        let categories = categories.into_iter().filter_map(|name| Category::by_name(name));
        let set = ToolSet::all().deferring(categories, names.into_iter().cloned());
        settings.disabled.iter().fold(set, |set, name| set.without(name.clone()))
    }
}
