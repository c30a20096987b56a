//! Which tools a task may see and call: one gate, asked for definitions and for calls alike.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use stepwell_protocol::{Risk, ToolDefinition};

use crate::registry::{RegisteredTool, Registry};
use crate::{CallFacts, Category, ModeLimits, ToolError, WorkspaceAccess};

/// A choice of tools. Each condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSet {
    categories: Option<BTreeSet<Category>>,
    max_risk: Option<Risk>,
    names: Option<BTreeSet<String>>,
    sources: Option<BTreeSet<String>>,
    excluded: BTreeSet<String>,
    /// Tools that a rule refuses, with the rule.
    denied: BTreeMap<String, String>,
    deferred: BTreeSet<Category>,
    deferred_names: BTreeSet<String>,
    /// Limits that hold together: those of the mode, and those of what is going on in it, such as planning.
    modes: Vec<Arc<ModeLimits>>,
}

impl ToolSet {
    /// Every tool.
    pub fn all() -> Self {
        Self::default()
    }

    /// Only tools of these categories.
    pub fn with_categories(mut self, categories: impl IntoIterator<Item = Category>) -> Self {
        self.categories = Some(categories.into_iter().collect());
        self
    }

    /// Only tools that risk no more than this.
    pub fn with_max_risk(mut self, risk: Risk) -> Self {
        self.max_risk = Some(risk);
        self
    }

    /// Only tools of these names.
    pub fn with_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names = Some(names.into_iter().collect());
        self
    }

    /// Besides the built-in tools only those of these sources.
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = String>) -> Self {
        self.sources = Some(sources.into_iter().collect());
        self
    }

    /// Without a tool that a rule refuses whatever it is called with.
    pub fn without_denied(mut self, name: impl Into<String>, rule: impl Into<String>) -> Self {
        self.denied.insert(name.into(), rule.into());
        self
    }

    /// Only what a mode allows, besides what the set allows already.
    pub fn within_mode(mut self, limits: ModeLimits) -> Self {
        self.modes.push(Arc::new(limits));
        self
    }

    /// Without the tool of this name or alias.
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.excluded.insert(name.into());
        self
    }

    /// Defers tools by category or name: the model sees their names only, until it loads them with `tool_search`.
    pub fn deferring(
        mut self,
        categories: impl IntoIterator<Item = Category>,
        names: impl IntoIterator<Item = String>,
    ) -> Self {
        self.deferred.extend(categories);
        self.deferred_names.extend(names);
        self
    }

    /// Why a tool is not in the set; `None` for one that is.
    pub fn refuses(&self, tool: &RegisteredTool) -> Option<Exclusion> {
        let spec = tool.spec();
        if is_named(&self.excluded, tool) || self.names.as_ref().is_some_and(|names| !is_named(names, tool)) {
            return Some(Exclusion::Name);
        }
        if let Some(reason) = self.modes.iter().find_map(|mode| mode.refuses(tool)) {
            return Some(Exclusion::Mode(reason));
        }
        if let Some(rule) = self.denied.get(tool.name()) {
            return Some(Exclusion::Denied(rule.clone()));
        }
        if self.categories.as_ref().is_some_and(|categories| !categories.contains(&spec.category)) {
            return Some(Exclusion::Category(spec.category));
        }
        if self.max_risk.is_some_and(|most| spec.risk > most) {
            return Some(Exclusion::Risk(spec.risk));
        }
        let from_other =
            |source: &str| self.sources.as_ref().is_some_and(|sources| !sources.contains(source));
        tool.source().filter(|source| from_other(source)).map(|source| Exclusion::Source(source.to_owned()))
    }

    fn defers(&self, tool: &RegisteredTool) -> bool {
        self.deferred.contains(&tool.spec().category) || is_named(&self.deferred_names, tool)
    }
}

/// Whether a tool is in a list of names, by its name or by one of its aliases.
fn is_named(names: &BTreeSet<String>, tool: &RegisteredTool) -> bool {
    let is = |name: &String| {
        tool.name().eq_ignore_ascii_case(name) || tool.spec().aliases.contains(&name.as_str())
    };
    names.iter().any(is)
}

/// Why a tool is not in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exclusion {
    Name,
    /// By the mode, with what it says.
    Mode(String),
    /// By a rule, as it is written.
    Denied(String),
    Category(Category),
    Risk(Risk),
    Source(String),
}

impl std::fmt::Display for Exclusion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name => f.write_str("it is left out by name"),
            Self::Mode(reason) => f.write_str(reason),
            Self::Denied(rule) => write!(f, "{rule} denies it"),
            Self::Category(category) => write!(f, "tools of the category `{}` are left out", category.name()),
            Self::Risk(risk) => write!(f, "tools that may {} are left out", risk_verb(*risk)),
            Self::Source(source) => write!(f, "tools of `{source}` are left out"),
        }
    }
}

fn risk_verb(risk: Risk) -> &'static str {
    match risk {
        Risk::Control => "talk to the person",
        Risk::Read => "read files",
        Risk::Write => "change files",
        Risk::Execute => "run programs",
        Risk::Network => "reach other machines",
    }
}

/// The set of a task, which may change from turn to turn, and what the model has loaded of its deferred tools.
#[derive(Default)]
pub struct ToolGate {
    state: RwLock<GateState>,
    definitions: Mutex<Option<Offered>>,
}

#[derive(Default)]
struct GateState {
    set: ToolSet,
    /// Deferred tools the model asked for, in the order in which it did.
    loaded: Vec<String>,
    changes: u64,
}

/// The definitions of a state of the gate and of the registry.
struct Offered {
    registry: u64,
    gate: u64,
    definitions: Arc<[ToolDefinition]>,
}

impl ToolGate {
    pub fn new(set: ToolSet) -> Self {
        Self { state: RwLock::new(GateState { set, ..GateState::default() }), definitions: Mutex::default() }
    }

    pub fn set(&self) -> ToolSet {
        self.state.read().set.clone()
    }

    /// Uses another set from now on.
    pub fn replace(&self, set: ToolSet) {
        let mut state = self.state.write();
        if state.set != set {
            state.set = set;
            state.changes += 1;
        }
    }

    /// Refuses a tool that is not in the set.
    pub fn check(&self, tool: &RegisteredTool) -> Result<(), ToolError> {
        match self.state.read().set.refuses(tool) {
            None => Ok(()),
            Some(why) => {
                Err(ToolError::permission(format!("the tool `{}` is not available here: {why}", tool.name())))
            }
        }
    }

    /// Refuses a planned call that would change what the mode may not.
    pub fn check_call(&self, facts: &CallFacts, root: &std::path::Path) -> Result<(), String> {
        let state = self.state.read();
        match state.set.modes.iter().find_map(|mode| mode.refuses_call(facts, root)) {
            None => Ok(()),
            Some(reason) => Err(reason),
        }
    }

    /// Whether programs may write in the workspace.
    pub fn access(&self) -> WorkspaceAccess {
        let state = self.state.read();
        let is_read_only = |mode: &Arc<ModeLimits>| mode.access() == WorkspaceAccess::ReadOnly;
        if state.set.modes.iter().any(is_read_only) {
            WorkspaceAccess::ReadOnly
        } else {
            WorkspaceAccess::Full
        }
    }

    /// Deferred tools that are not loaded.
    pub fn deferred(&self, registry: &Registry) -> Vec<Arc<RegisteredTool>> {
        let state = self.state.read();
        let mut tools = registry.list(None, None);
        tools.retain(|tool| state.offers(tool) && state.set.defers(tool) && !state.is_loaded(tool));
        tools
    }

    /// Shows a deferred tool to the model from the next request on.
    pub fn load(&self, tool: &RegisteredTool) {
        let mut state = self.state.write();
        if state.set.defers(tool) && !state.is_loaded(tool) {
            state.loaded.push(tool.name().to_owned());
            state.changes += 1;
        }
    }

    /// What the model is offered: the tools of the set by name, then the loaded ones in the order of loading, so that
    /// what a provider has cached stays valid. The same object until something changes.
    pub fn definitions(&self, registry: &Registry) -> Arc<[ToolDefinition]> {
        let state = self.state.read();
        let generation = registry.generation();
        let mut offered = self.definitions.lock();
        if let Some(offered) =
            offered.as_ref().filter(|offered| offered.registry == generation && offered.gate == state.changes)
        {
            return Arc::clone(&offered.definitions);
        }
        let tools: Vec<Arc<RegisteredTool>> =
            registry.list(None, None).into_iter().filter(|tool| state.offers(tool)).collect();
        let deferred: Vec<&Arc<RegisteredTool>> =
            tools.iter().filter(|tool| state.set.defers(tool)).collect();
        let mut definitions: Vec<ToolDefinition> = tools
            .iter()
            .filter(|tool| !state.set.defers(tool))
            .filter(|tool| !tool.tool().loads_deferred() || !deferred.is_empty())
            .map(|tool| tool.definition().clone())
            .collect();
        for definition in &mut definitions {
            let loads = registry.get(&definition.name).is_some_and(|tool| tool.tool().loads_deferred());
            if loads {
                definition.description.push_str(&listing(&deferred));
            }
        }
        let loaded = state.loaded.iter().filter_map(|name| deferred.iter().find(|tool| tool.name() == name));
        definitions.extend(loaded.map(|tool| tool.definition().clone()));
        let definitions: Arc<[ToolDefinition]> = definitions.into();
        *offered = Some(Offered {
            registry: generation,
            gate: state.changes,
            definitions: Arc::clone(&definitions),
        });
        definitions
    }

    /// What the tools of the set want the model to be told about their use, each text once.
    pub fn guidance(&self, registry: &Registry) -> Vec<&'static str> {
        let state = self.state.read();
        let mut texts: Vec<&'static str> = Vec::new();
        for tool in registry.list(None, None).iter().filter(|tool| state.offers(tool)) {
            texts.extend(tool.tool().guidance().filter(|text| !texts.contains(text)));
        }
        texts
    }
}

impl GateState {
    fn offers(&self, tool: &RegisteredTool) -> bool {
        tool.is_enabled() && self.set.refuses(tool).is_none()
    }

    fn is_loaded(&self, tool: &RegisteredTool) -> bool {
        self.loaded.iter().any(|name| name == tool.name())
    }
}

/// The deferred tools with a line each. All of them, also those that are loaded: the text must not change.
fn listing(deferred: &[&Arc<RegisteredTool>]) -> String {
    let line = |tool: &&Arc<RegisteredTool>| {
        let description = &tool.definition().description;
        let first = description.split(['.', '\n']).next().unwrap_or_default();
        format!("\n- {}: {}", tool.name(), first.trim())
    };
    format!("\n\nTools that can be loaded:{}", deferred.iter().map(line).collect::<String>())
}

#[cfg(test)]
#[path = "tool_set_tests.rs"]
mod tests;
