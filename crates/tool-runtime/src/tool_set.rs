//! Which tools a task may see and call: one gate, asked for definitions and for calls alike.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use stepwell_protocol::{Risk, ToolDefinition};

use crate::permission::{Rule, denied_tool};
use crate::registry::{RegisteredTool, Registry};
use crate::{
    CallFacts, Category, EditScope, ModeLimits, PlanHold, PlanPhase, ToolError, Vocabulary, WorkspaceAccess,
};

/// A choice of tools. Each condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSet {
    categories: Option<BTreeSet<Category>>,
    max_risk: Option<Risk>,
    excluded_risk: Option<Risk>,
    /// Lists of names; a tool must be in each.
    names: Vec<BTreeSet<String>>,
    sources: Option<BTreeSet<String>>,
    excluded: BTreeSet<String>,
    /// Tools that a rule refuses, with the rule.
    denied: BTreeMap<String, String>,
    /// Rules that are asked about every tool, those that come later included.
    rules: Arc<[Rule]>,
    deferred: BTreeSet<Category>,
    deferred_names: BTreeSet<String>,
    /// Names that are not deferred, whatever else says so.
    shown: BTreeSet<String>,
    source_tokens: Option<usize>,
    /// Limits that hold together: those of the mode, and those of what is going on in it, such as planning.
    modes: Vec<Arc<ModeLimits>>,
    vocabulary: Vocabulary,
}

impl ToolSet {
    /// Shows the model the names of a vocabulary.
    pub fn speaking(mut self, vocabulary: Vocabulary) -> Self {
        self.vocabulary = vocabulary;
        self
    }

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

    /// Without tools of exactly this risk, such as those that change files.
    pub fn without_risk(mut self, risk: Risk) -> Self {
        self.excluded_risk = Some(risk);
        self
    }

    /// Only tools of these names, besides what the set leaves out already.
    pub fn with_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names.push(names.into_iter().collect());
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

    /// Without tools that a rule refuses whatever they are called with, also those that are registered later.
    pub fn within_rules(mut self, rules: &[Rule]) -> Self {
        self.rules = rules.into();
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

    /// Shows tools from the start that would be deferred.
    pub fn showing(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.shown.extend(names);
        self
    }

    /// Defers the tools of sources, such as MCP servers, that would cost more than so many tokens together. A source is
    /// offered as a whole or deferred as a whole; those that were plugged in first come first.
    pub fn with_source_tokens(mut self, tokens: usize) -> Self {
        self.source_tokens = Some(tokens);
        self
    }

    /// Why a tool is not in the set; `None` for one that is.
    pub fn refuses(&self, tool: &RegisteredTool) -> Option<Exclusion> {
        let spec = tool.spec();
        if is_named(&self.excluded, tool) || !self.names.iter().all(|names| is_named(names, tool)) {
            return Some(Exclusion::Name);
        }
        if let Some(reason) = self.modes.iter().find_map(|mode| mode.refuses(tool)) {
            return Some(Exclusion::Mode(reason));
        }
        let by_rule = || denied_tool(&self.rules, tool);
        if let Some(rule) = self.denied.get(tool.name()).cloned().or_else(by_rule) {
            return Some(Exclusion::Denied(rule));
        }
        if self.categories.as_ref().is_some_and(|categories| !categories.contains(&spec.category)) {
            return Some(Exclusion::Category(spec.category));
        }
        if self.max_risk.is_some_and(|most| spec.risk > most) || self.excluded_risk == Some(spec.risk) {
            return Some(Exclusion::Risk(spec.risk));
        }
        let from_other =
            |source: &str| self.sources.as_ref().is_some_and(|sources| !sources.contains(source));
        tool.source().filter(|source| from_other(source)).map(|source| Exclusion::Source(source.to_owned()))
    }

    /// What a task with the `other` set may do that one with this set may not; `None` where it may do no more.
    pub fn exceeded_by(&self, other: &Self, registry: &Registry) -> Option<String> {
        let tools = registry.list(None, None);
        let more = tools.iter().find(|tool| other.refuses(tool).is_none() && self.refuses(tool).is_some());
        if let Some(tool) = more {
            return Some(format!("it may use `{}`", tool.name()));
        }
        let scopes = |set: &Self| -> Vec<EditScope> {
            let limited = set.modes.iter().map(|mode| mode.edits().clone());
            limited.filter(|edits| *edits != EditScope::Everything).collect()
        };
        let others = scopes(other);
        let is_kept = |scope: &EditScope| others.contains(scope) || others.contains(&EditScope::Nothing);
        (!scopes(self).iter().all(is_kept)).then(|| "it may change other files".to_owned())
    }

    fn defers(&self, tool: &RegisteredTool) -> bool {
        let deferred = self.deferred.contains(&tool.spec().category) || is_named(&self.deferred_names, tool);
        deferred && !is_named(&self.shown, tool)
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
    /// By a plan that is not approved, with what it says.
    Plan(String),
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
            Self::Mode(reason) | Self::Plan(reason) => f.write_str(reason),
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
    /// The plan of the task, which may forbid changes.
    plan: RwLock<Arc<PlanHold>>,
    /// Tools that came after the first request, or may have, in the order in which they were first offered.
    appended: Mutex<Vec<String>>,
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
    plan: (PlanPhase, bool),
    definitions: Arc<[ToolDefinition]>,
    /// Deferred tools, loaded or not.
    deferred: Arc<[ToolDefinition]>,
}

impl ToolGate {
    pub fn new(set: ToolSet) -> Self {
        Self { state: RwLock::new(GateState { set, ..GateState::default() }), ..Self::default() }
    }

    /// Obeys the plan of a task from now on.
    pub fn obey(&self, plan: Arc<PlanHold>) {
        *self.plan.write() = plan;
    }

    fn plan(&self) -> Arc<PlanHold> {
        Arc::clone(&self.plan.read())
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
        let refused = self.state.read().set.refuses(tool);
        match refused.or_else(|| self.plan().refuses(tool).map(Exclusion::Plan)) {
            None => Ok(()),
            Some(why) => {
                Err(ToolError::permission(format!("the tool `{}` is not available here: {why}", tool.name())))
            }
        }
    }

    /// Refuses a planned call that would change what the mode may not.
    pub fn check_call(&self, facts: &CallFacts, root: &std::path::Path) -> Result<(), String> {
        let state = self.state.read();
        let by_mode = state.set.modes.iter().find_map(|mode| mode.refuses_call(facts, root));
        match by_mode.or_else(|| self.plan().refuses_call(facts, root)) {
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
            self.plan().access()
        }
    }

    /// Deferred tools that are not loaded.
    pub fn deferred(&self, registry: &Registry) -> Vec<Arc<RegisteredTool>> {
        let state = self.state.read();
        let (_, mut deferred) = state.parted(registry, &self.plan());
        deferred.retain(|tool| !state.is_loaded(tool));
        deferred
    }

    /// Shows a deferred tool to the model from the next request on.
    pub fn load(&self, tool: &RegisteredTool) {
        let mut state = self.state.write();
        let may_be_deferred = state.set.defers(tool) || tool.source().is_some();
        if may_be_deferred && !state.is_loaded(tool) {
            state.loaded.push(tool.name().to_owned());
            state.changes += 1;
        }
    }

    /// What the model is offered: the built-in tools of the set by name, then those of sources and the loaded ones in the
    /// order in which they came, so that what a provider has cached stays valid. The same object until something
    /// changes.
    pub fn definitions(&self, registry: &Registry) -> Arc<[ToolDefinition]> {
        let state = self.state.read();
        let generation = registry.generation();
        let plan = self.plan();
        let of_plan = plan.offered_state();
        let mut offered = self.definitions.lock();
        let is_current = |offered: &&Offered| {
            offered.registry == generation && offered.gate == state.changes && offered.plan == of_plan
        };
        if let Some(offered) = offered.as_ref().filter(is_current) {
            return Arc::clone(&offered.definitions);
        }
        let (tools, deferred) = state.parted(registry, &plan);
        // What only sources make necessary comes with them.
        let loads_from_start = deferred.iter().any(|tool| state.set.defers(tool));
        let is_later = |tool: &RegisteredTool| {
            tool.source().is_some() || tool.tool().loads_deferred() && !loads_from_start
        };
        let offered_tools =
            tools.into_iter().filter(|tool| !tool.tool().loads_deferred() || !deferred.is_empty());
        let (later, tools): (Vec<_>, Vec<_>) = offered_tools.partition(|tool| is_later(tool));
        let definition = |tool: &Arc<RegisteredTool>| {
            let mut definition = tool.definition().clone();
            if tool.tool().loads_deferred() {
                definition.description.push_str(&listing(&deferred));
            }
            state.set.vocabulary.shown(definition)
        };
        let mut definitions: Vec<ToolDefinition> = tools.iter().map(definition).collect();
        let loaded = state.loaded.iter().filter_map(|name| deferred.iter().find(|tool| tool.name() == name));
        // What came later stands later, so that what a provider has cached stays valid.
        let mut appended = self.appended.lock();
        let later: Vec<&Arc<RegisteredTool>> = later.iter().chain(loaded).collect();
        let is_new = |name: &str| !appended.iter().any(|known| known == name);
        let new: Vec<String> =
            later.iter().map(|tool| tool.name().to_owned()).filter(|name| is_new(name)).collect();
        appended.extend(new);
        let in_order = appended.iter().filter_map(|name| later.iter().find(|tool| tool.name() == name));
        definitions.extend(in_order.map(|tool| definition(tool)));
        let definitions: Arc<[ToolDefinition]> = definitions.into();
        *offered = Some(Offered {
            registry: generation,
            gate: state.changes,
            plan: of_plan,
            definitions: Arc::clone(&definitions),
            deferred: deferred.iter().map(|tool| tool.definition().clone()).collect(),
        });
        definitions
    }

    /// The deferred tools that go with [`ToolGate::definitions`]: they may be called although they are not described. The
    /// same object until something changes.
    pub fn deferred_definitions(&self, registry: &Registry) -> Arc<[ToolDefinition]> {
        self.definitions(registry);
        self.definitions.lock().as_ref().map(|offered| Arc::clone(&offered.deferred)).unwrap_or_default()
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
        tool.is_enabled() && !tool.tool().is_internal() && self.set.refuses(tool).is_none()
    }

    /// The tools of the set: those that are offered, and those that are deferred.
    fn parted(
        &self,
        registry: &Registry,
        plan: &PlanHold,
    ) -> (Vec<Arc<RegisteredTool>>, Vec<Arc<RegisteredTool>>) {
        let is_offered = |tool: &Arc<RegisteredTool>| self.offers(tool) && plan.offers(tool);
        let tools = registry.list(None, None).into_iter().filter(is_offered);
        let (deferred, offered): (Vec<_>, Vec<_>) = tools.partition(|tool| self.set.defers(tool));
        let Some(budget) = self.set.source_tokens else { return (offered, deferred) };
        let mut costs: BTreeMap<String, usize> = BTreeMap::new();
        for tool in &offered {
            if let Some(source) = tool.source() {
                *costs.entry(source.to_owned()).or_default() += estimated_tokens(tool.definition());
            }
        }
        let mut left = budget;
        let mut fitting: BTreeSet<String> = BTreeSet::new();
        for source in registry.source_names() {
            if let Some(rest) = costs.get(&source).and_then(|cost| left.checked_sub(*cost)) {
                left = rest;
                fitting.insert(source);
            }
        }
        let fits = |tool: &Arc<RegisteredTool>| tool.source().is_none_or(|source| fitting.contains(source));
        let (offered, too_much): (Vec<_>, Vec<_>) = offered.into_iter().partition(fits);
        (offered, deferred.into_iter().chain(too_much).collect())
    }

    fn is_loaded(&self, tool: &RegisteredTool) -> bool {
        self.loaded.iter().any(|name| name == tool.name())
    }
}

/// Tokens that a definition costs, by the rule of thumb of four bytes each.
fn estimated_tokens(definition: &ToolDefinition) -> usize {
    let schema = definition.input_schema.to_string().len();
    (definition.name.len() + definition.description.len() + schema).div_ceil(4)
}

/// The names of the deferred tools by category, also those that are loaded: the text must not change. Tools that another
/// one in the list brings come with that one and are not named.
fn listing(deferred: &[Arc<RegisteredTool>]) -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let brought: BTreeSet<&str> = deferred.iter().flat_map(|tool| tool.tool().brings()).copied().collect();
    for tool in deferred.iter().filter(|tool| !brought.contains(tool.name())) {
        groups.entry(tool.spec().category.name()).or_default().push(tool.name());
    }
    let line = |(category, names): (&str, Vec<&str>)| format!("\n- {category}: {}", names.join(", "));
    format!("\n\nTools that can be loaded:{}", groups.into_iter().map(line).collect::<String>())
}

#[cfg(test)]
#[path = "tool_set_tests.rs"]
mod tests;
