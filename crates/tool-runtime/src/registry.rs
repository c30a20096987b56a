//! Which tools there are, under which names, and how they have fared.
//!
//! Built-in tools are registered; others come from [`ToolSource`]s that are plugged in and out at run time. A
//! source can never take a built-in's name: on a clash its tool is called `source__tool`. What a model is offered of
//! them is decided by a [`ToolGate`](crate::ToolGate).

mod entry;
mod sources;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::near_names::near_names;
use crate::{Category, DynTool};

pub use entry::{RegisteredTool, Statistics, ToolStatus};
pub use sources::{CachedSource, CompositeSource, SourceError, StaticSource, ToolSource};

/// Why a registration was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("a tool named `{name}` is registered already")]
    NameTaken { name: String },
    #[error("`{name}` is no tool name: letters, digits, `_` and `-`, at most 64 characters")]
    BadName { name: String },
    #[error("there is no tool `{name}`")]
    Unknown { name: String },
    #[error("a source named `{name}` is plugged in already")]
    SourceTaken { name: String },
}

#[derive(Default)]
pub struct Registry {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    tools: BTreeMap<Arc<str>, Arc<RegisteredTool>>,
    /// Alias to name. A name always wins over an alias.
    aliases: BTreeMap<String, Arc<str>>,
    sources: Vec<Arc<dyn ToolSource>>,
    /// Counts the changes of the set.
    generation: u64,
}

impl Registry {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a built-in tool.
    pub fn register(&self, tool: Arc<dyn DynTool>) -> Result<(), RegistryError> {
        let mut state = self.state.write();
        let name = tool.name().to_owned();
        state.insert(&name, tool, None)
    }

    pub fn register_all(
        &self,
        tools: impl IntoIterator<Item = Arc<dyn DynTool>>,
    ) -> Result<(), RegistryError> {
        tools.into_iter().try_for_each(|tool| self.register(tool))
    }

    pub fn unregister(&self, name: &str) -> Result<(), RegistryError> {
        let mut state = self.state.write();
        let name = state.resolve(name).ok_or_else(|| unknown(name))?;
        state.remove(&name);
        Ok(())
    }

    pub fn enable(&self, name: &str) -> Result<(), RegistryError> {
        self.set_status(name, ToolStatus::Enabled)
    }

    pub fn disable(&self, name: &str) -> Result<(), RegistryError> {
        self.set_status(name, ToolStatus::Disabled)
    }

    fn set_status(&self, name: &str, status: ToolStatus) -> Result<(), RegistryError> {
        let mut state = self.state.write();
        let name = state.resolve(name).ok_or_else(|| unknown(name))?;
        let changed = state.tools.get(&name).is_some_and(|entry| entry.set_status(status));
        if changed {
            state.generation += 1;
        }
        Ok(())
    }

    /// The tool of this name or alias, enabled or not.
    pub fn get(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        let state = self.state.read();
        let name = state.resolve(name)?;
        state.tools.get(&name).cloned()
    }

    /// Enabled names close to one that is not known.
    pub fn suggestions(&self, name: &str) -> Vec<String> {
        let state = self.state.read();
        let known = state.tools.values().filter(|entry| entry.is_enabled()).map(|entry| entry.name());
        let mut near: Vec<String> = near_names(name, known).into_iter().map(str::to_owned).collect();
        for alias in near_names(name, state.aliases.keys().map(String::as_str)) {
            let target = state.aliases.get(alias).map(ToString::to_string);
            near.extend(target.filter(|target| !near.contains(target)));
        }
        near.truncate(3);
        near
    }

    /// Enabled names, sorted.
    pub fn names(&self) -> Vec<String> {
        let state = self.state.read();
        let enabled = state.tools.values().filter(|entry| entry.is_enabled());
        enabled.map(|entry| entry.name().to_owned()).collect()
    }

    /// The tools of a category and a status, sorted by name; `None` stands for any.
    pub fn list(&self, category: Option<Category>, status: Option<ToolStatus>) -> Vec<Arc<RegisteredTool>> {
        let state = self.state.read();
        let fits = |entry: &&Arc<RegisteredTool>| {
            category.is_none_or(|category| entry.spec().category == category)
                && status.is_none_or(|status| entry.status() == status)
        };
        state.tools.values().filter(fits).cloned().collect()
    }

    /// A number that grows whenever the set of enabled tools changes.
    pub fn generation(&self) -> u64 {
        self.state.read().generation
    }

    pub fn statistics(&self) -> BTreeMap<String, Statistics> {
        let state = self.state.read();
        state.tools.iter().map(|(name, entry)| (name.to_string(), entry.statistics())).collect()
    }

    /// Plugs a source in and lists its tools for the first time.
    pub async fn add_source(&self, source: Arc<dyn ToolSource>) -> Result<(), SourceError> {
        {
            let mut state = self.state.write();
            if state.sources.iter().any(|known| known.name() == source.name()) {
                return Err(RegistryError::SourceTaken { name: source.name().to_owned() }.into());
            }
            state.sources.push(Arc::clone(&source));
        }
        self.refresh_source(source.as_ref()).await
    }

    /// The plugged sources, in the order in which they came.
    pub fn source_names(&self) -> Vec<String> {
        self.state.read().sources.iter().map(|source| source.name().to_owned()).collect()
    }

    /// Unplugs a source; its tools go with it. Calls that run finish.
    pub fn remove_source(&self, name: &str) -> bool {
        let mut state = self.state.write();
        let before = state.sources.len();
        state.sources.retain(|source| source.name() != name);
        state.remove_tools_of(name);
        state.sources.len() != before
    }

    /// Lists the tools of every source anew. A source that fails keeps the tools it had.
    pub async fn refresh(&self) -> Vec<(String, SourceError)> {
        let sources = self.state.read().sources.clone();
        let mut failures = Vec::new();
        for source in sources {
            if let Err(error) = self.refresh_source(source.as_ref()).await {
                failures.push((source.name().to_owned(), error));
            }
        }
        failures
    }

    /// Follows the change notices of a plugged source until they end or it is unplugged. A refresh that fails
    /// leaves the tools as they were.
    pub async fn follow_source(&self, name: &str) {
        let find = || self.state.read().sources.iter().find(|source| source.name() == name).cloned();
        let Some(source) = find() else { return };
        let mut bells = source.changes();
        while !bells.is_empty() {
            let waiting = bells.iter_mut().map(|bell| Box::pin(bell.changed()));
            let (rung, index, rest) = futures::future::select_all(waiting).await;
            drop(rest);
            if rung.is_err() {
                bells.swap_remove(index);
                continue;
            }
            if find().is_none() {
                return;
            }
            self.refresh_source(source.as_ref()).await.ok();
        }
    }

    async fn refresh_source(&self, source: &dyn ToolSource) -> Result<(), SourceError> {
        let tools = source.tools().await?;
        let mut state = self.state.write();
        // Unplugged while it was listing.
        if !state.sources.iter().any(|known| known.name() == source.name()) {
            return Ok(());
        }
        state.replace_tools_of(source.name(), tools);
        Ok(())
    }
}

fn unknown(name: &str) -> RegistryError {
    RegistryError::Unknown { name: name.to_owned() }
}

impl State {
    fn resolve(&self, name: &str) -> Option<Arc<str>> {
        if let Some((name, _)) = self.tools.get_key_value(name) {
            return Some(Arc::clone(name));
        }
        if let Some(name) = self.aliases.get(name) {
            return Some(Arc::clone(name));
        }
        let lower = name.to_ascii_lowercase();
        let mut folded = self.tools.keys().filter(|known| known.eq_ignore_ascii_case(&lower));
        let only = folded.next().filter(|_| folded.next().is_none()).cloned();
        only.or_else(|| self.aliases.get(&lower).cloned())
    }

    fn insert(
        &mut self,
        name: &str,
        tool: Arc<dyn DynTool>,
        source: Option<&str>,
    ) -> Result<(), RegistryError> {
        let fine = (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if !fine {
            return Err(RegistryError::BadName { name: name.to_owned() });
        }
        if self.tools.contains_key(name) {
            return Err(RegistryError::NameTaken { name: name.to_owned() });
        }
        let name: Arc<str> = name.into();
        if source.is_none() {
            for alias in tool.spec().aliases {
                self.aliases.entry((*alias).to_owned()).or_insert_with(|| Arc::clone(&name));
            }
        }
        let entry = RegisteredTool::new(Arc::clone(&name), tool, source.map(Into::into));
        self.tools.insert(name, Arc::new(entry));
        self.generation += 1;
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        self.tools.remove(name);
        self.aliases.retain(|_, target| target.as_ref() != name);
        self.generation += 1;
    }

    fn remove_tools_of(&mut self, source: &str) {
        let gone: Vec<Arc<str>> = self
            .tools
            .iter()
            .filter(|(_, entry)| entry.source() == Some(source))
            .map(|(name, _)| Arc::clone(name))
            .collect();
        for name in gone {
            self.remove(&name);
        }
    }

    fn replace_tools_of(&mut self, source: &str, tools: Vec<Arc<dyn DynTool>>) {
        let same = |state: &Self| {
            let current: Vec<_> =
                state.tools.values().filter(|entry| entry.source() == Some(source)).collect();
            current.len() == tools.len()
                && tools.iter().all(|tool| current.iter().any(|entry| Arc::ptr_eq(entry.tool(), tool)))
        };
        if same(self) {
            return;
        }
        let kept: Vec<Arc<RegisteredTool>> =
            self.tools.values().filter(|entry| entry.source() == Some(source)).cloned().collect();
        self.remove_tools_of(source);
        for tool in tools {
            let plain = tool.name().to_owned();
            let taken = self.tools.contains_key(plain.as_str()) || self.aliases.contains_key(plain.as_str());
            let name = if taken { namespaced(source, &plain) } else { plain };
            // A second clash or an impossible name leaves the tool out: a source is never trusted to replace.
            if self.insert(&name, tool, Some(source)).is_ok() {
                let earlier = kept.iter().find(|entry| entry.name() == name);
                if let (Some(earlier), Some(entry)) = (earlier, self.tools.get(name.as_str())) {
                    entry.inherit(earlier);
                }
            }
        }
    }
}

fn namespaced(source: &str, tool: &str) -> String {
    let clean = |text: &str| -> String {
        text.chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
            .collect()
    };
    let mut name = format!("{}__{}", clean(source), clean(tool));
    name.truncate(64);
    name
}

#[cfg(test)]
#[path = "registry/tests.rs"]
mod tests;
