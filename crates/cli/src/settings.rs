//! The settings: layers of TOML, merged into one set of values that remember where they come from.
//!
//! From the weakest to the strongest: built in, managed, user, project, environment, command line. A project's
//! own settings are somebody else's text until the person trusts the folder: before that they can narrow what
//! the agent may do, never widen it, and can neither name servers nor programs.

mod change;
mod claude;
mod code;
mod given;
mod in_force;
mod keep;
mod layer;
mod links;
mod mcp;
mod modes;
mod places;
mod read;
mod runtimes;
mod sandbox;
mod steering;
mod subagents;
mod tools;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stepwell_agent::subagent::SubtaskLimits;
use stepwell_llm::{Effort, ModelFacts, ProviderConfig};
use stepwell_protocol::PermissionMode;
use stepwell_tool_runtime::{
    AutoApprove, DeniedReads, FollowLinks, JudgePlaces, LookAtGit, LoopLimits, Rule, RuleSource,
};
use stepwell_workspace::Denial;

pub use change::{file_of, problem_of, set};
pub use claude::hook_files;
pub use code::{CodeSettings, EmbeddingSettings, LanguageServer, ServersSetting};
pub use given::keep as keep_given;
pub use keep::UserSettingsKeeper;
pub use layer::{CheckpointSettings, CustomAdapter, JavaScriptDebugger, SettingsLayer};
pub use mcp::{McpServer, project_files as mcp_files};
pub use modes::ModeSettings;
pub use places::Places;
use read::Place;
pub use runtimes::runtime_files;
pub use sandbox::SandboxSettings;
pub use steering::named_files;
pub use subagents::SubtaskSettings;
pub use tools::ToolSettings;
pub use trust::{is_trusted, revoke, trust, trusted_files};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    File(std::path::PathBuf),
    Environment,
    CommandLine,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment => f.write_str("environment"),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

/// The settings in force.
#[derive(Debug)]
pub struct Settings {
    pub layers: Vec<(Source, SettingsLayer)>,
    /// What a project's settings wanted and did not get, in words.
    pub withheld: Vec<String>,
    /// Whether the person trusts what the project's own files say.
    pub trusted: bool,
    /// What is wrong with the project's files of MCP servers and hooks.
    pub mcp_problems: Vec<String>,
}

impl Settings {
    /// Reads every layer that applies to a workspace.
    pub fn load(places: &Places, workspace: &Path, command_line: SettingsLayer) -> anyhow::Result<Self> {
        let mut problems = Vec::new();
        let settings = Self::gather(places, workspace, command_line, &mut problems)?;
        match problems.into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(settings),
        }
    }

    /// Reads every layer that can be used, and says what is wrong with the others.
    pub fn load_usable(places: &Places, workspace: &Path) -> anyhow::Result<(Self, Vec<anyhow::Error>)> {
        let mut problems = Vec::new();
        let settings = Self::gather(places, workspace, SettingsLayer::default(), &mut problems)?;
        Ok((settings, problems))
    }

    fn gather(
        places: &Places,
        workspace: &Path,
        command_line: SettingsLayer,
        problems: &mut Vec<anyhow::Error>,
    ) -> anyhow::Result<Self> {
        let mut layers = Vec::new();
        for path in [Places::managed_settings(), places.user_settings()] {
            if let Some(layer) = usable(read::file(&path), problems).flatten() {
                layers.push((Source::File(path), layer));
            }
        }
        let mut withheld = Vec::new();
        let project = Places::project(workspace);
        // Looked at only where there is something to trust.
        let trusted = !trust::needs_trust(project)? || is_trusted(places, project)?;
        let mcp = mcp::project_servers(project, trusted);
        layers.extend(mcp.layers);
        let hooks = claude::project_hooks(project, trusted);
        layers.extend(hooks.layers);
        let path = Places::project_settings(project);
        if let Some(mut layer) = usable(read::file(&path), problems).flatten() {
            if !trusted {
                let before =
                    Self { layers: layers.clone(), withheld: Vec::new(), trusted, mcp_problems: Vec::new() };
                withheld = layer.narrow(before.permission_mode());
            }
            layers.push((Source::File(path), layer));
        }
        if !trusted && trusted_files(project)?.iter().any(|path| trust::is_prompt(path)) {
            withheld.push("the system prompt".into());
        }
        withheld.extend(mcp.withheld);
        withheld.extend(hooks.withheld);
        layers.extend(
            usable(SettingsLayer::from_environment(), problems).map(|layer| (Source::Environment, layer)),
        );
        // Flags such as `--model` say the same more plainly, so they come last.
        layers.extend(given::layer().map(|layer| (Source::CommandLine, layer.clone())));
        layers.push((Source::CommandLine, command_line));
        let mcp_problems = mcp.problems.into_iter().chain(hooks.problems).collect();
        let mut settings = Self { layers, withheld, trusted, mcp_problems };
        // Rules are tried here, so that a mistake in one is told before anything is done.
        if let Err(problem) = settings.rules(places, &judge_places(places, workspace, &[])) {
            problems.push(problem);
            for (_, layer) in &mut settings.layers {
                layer.permissions = None;
            }
        }
        Ok(settings)
    }

    /// The rules of every layer, with where each comes from.
    pub fn rules(&self, places: &Places, judged: &JudgePlaces) -> anyhow::Result<Vec<Rule>> {
        let mut rules = Vec::new();
        for (source, layer) in &self.layers {
            if layer.permissions.is_none() && layer.mcp_servers.is_empty() {
                continue;
            }
            let (from, place) = match source {
                Source::File(path) => {
                    let from = match path {
                        path if *path == Places::managed_settings() => RuleSource::Managed,
                        path if *path == places.user_settings() => RuleSource::User,
                        _ => RuleSource::Project,
                    };
                    (from, Place::File(path.clone()))
                }
                Source::BuiltIn | Source::Environment => continue,
                Source::CommandLine => (RuleSource::User, Place::CommandLine),
            };
            rules.extend(mcp::rules(layer, from, judged));
            let Some(permissions) = &layer.permissions else { continue };
            let found = permissions.rules(from, judged).map_err(|problem| {
                let hint =
                    "docs/permissions.md tells how rules are written; `stepwell permissions test` tries them";
                read::unusable(&place, &problem, Some(hint.into()))
            })?;
            rules.extend(found);
        }
        Ok(rules)
    }

    pub fn auto_approve(&self) -> AutoApprove {
        self.value(|layer| layer.auto_approve.clone()).unwrap_or_default()
    }

    /// The strongest layer's value, with its source.
    pub fn pick<T>(&self, field: impl Fn(&SettingsLayer) -> Option<T>) -> Option<(T, &Source)> {
        self.layers.iter().rev().find_map(|(source, layer)| field(layer).map(|value| (value, source)))
    }

    fn value<T>(&self, field: impl Fn(&SettingsLayer) -> Option<T>) -> Option<T> {
        self.pick(field).map(|(value, _)| value)
    }

    pub fn model(&self) -> Option<String> {
        self.value(|layer| layer.model.clone())
    }

    pub fn mode(&self) -> String {
        self.value(|layer| layer.mode.clone()).unwrap_or_else(|| "code".into())
    }

    pub fn permission_mode(&self) -> PermissionMode {
        self.value(|layer| layer.permission_mode).unwrap_or_default()
    }

    pub fn language(&self) -> Option<String> {
        self.value(|layer| layer.language.clone())
    }

    pub fn max_turns(&self) -> Option<u32> {
        self.value(|layer| layer.max_turns)
    }

    pub fn max_cost_usd(&self) -> Option<f64> {
        self.value(|layer| layer.max_cost_usd)
    }

    pub fn max_tokens(&self) -> Option<u64> {
        self.value(|layer| layer.max_tokens)
    }

    pub fn max_output_tokens(&self) -> Option<u64> {
        self.value(|layer| layer.max_output_tokens)
    }

    pub fn temperature(&self) -> Option<f64> {
        self.value(|layer| layer.temperature)
    }

    pub fn effort(&self) -> Option<Effort> {
        self.value(|layer| layer.effort)
    }

    /// All instructions texts, the weakest first.
    pub fn instructions(&self) -> Option<String> {
        let texts: Vec<&str> =
            self.layers.iter().filter_map(|(_, layer)| layer.instructions.as_deref()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Providers of every layer; a stronger layer says only what it wants to be different.
    pub fn providers(&self) -> BTreeMap<String, ProviderConfig> {
        let mut providers: BTreeMap<String, ProviderConfig> = BTreeMap::new();
        for (_, layer) in &self.layers {
            for (name, stronger) in &layer.providers {
                let provider = providers.entry(name.clone()).or_default();
                provider.kind = stronger.kind.or(provider.kind);
                provider.base_url = stronger.base_url.clone().or(provider.base_url.take());
                provider.api_key_env = stronger.api_key_env.clone().or(provider.api_key_env.take());
                provider.tool_calls = stronger.tool_calls.or(provider.tool_calls);
                provider.headers.extend(stronger.headers.clone());
                provider.quirks = stronger.quirks;
            }
        }
        providers
    }

    /// The user's additions to the table of models.
    pub fn models(&self) -> BTreeMap<String, ModelFacts> {
        self.layers.iter().flat_map(|(_, layer)| layer.models.clone()).collect()
    }

    /// Hooks of every layer; all of them run.
    pub fn hooks(&self) -> Vec<serde_json::Value> {
        self.layers.iter().filter_map(|(_, layer)| layer.hooks.clone()).collect()
    }

    pub fn environment_details(&self) -> bool {
        self.value(|layer| layer.environment_details).unwrap_or(true)
    }

    pub fn image_model(&self) -> Option<String> {
        self.value(|layer| layer.image_model.clone())
    }

    /// Folders of plug-ins of every layer.
    pub fn plugins(&self) -> Vec<PathBuf> {
        self.layers.iter().flat_map(|(_, layer)| layer.plugins.clone()).collect()
    }

    pub fn checkpoints(&self) -> CheckpointSettings {
        self.value(|layer| layer.checkpoints).unwrap_or_default()
    }

    /// Programs of debug adapters that the person named.
    pub fn debug_adapters(&self) -> BTreeMap<String, PathBuf> {
        let layers = self.layers.iter().filter_map(|(_, layer)| layer.debug.clone());
        layers.flat_map(|debug| debug.adapters).collect()
    }

    pub fn prefers_js_debug(&self) -> bool {
        self.value(|layer| layer.debug.as_ref()?.javascript) == Some(JavaScriptDebugger::JsDebug)
    }

    pub fn auto_installs_adapters(&self) -> bool {
        self.value(|layer| layer.debug.as_ref()?.auto_install).unwrap_or(false)
    }

    pub fn custom_debug_adapters(&self) -> BTreeMap<String, CustomAdapter> {
        let layers = self.layers.iter().filter_map(|(_, layer)| layer.debug.clone());
        layers.flat_map(|debug| debug.custom).collect()
    }

    pub fn language_servers(&self) -> ServersSetting {
        self.value(|layer| layer.code.as_ref()?.servers).unwrap_or_default()
    }

    pub fn language_server_seconds(&self) -> Option<u64> {
        self.value(|layer| layer.code.as_ref()?.server_seconds)
    }

    pub fn embeddings(&self) -> Option<EmbeddingSettings> {
        self.value(|layer| layer.code.as_ref()?.embeddings.clone())
    }

    pub fn overview_tokens(&self) -> Option<usize> {
        self.value(|layer| layer.code.as_ref()?.overview_tokens)
    }

    pub fn overview_seconds(&self) -> Option<u64> {
        self.value(|layer| layer.code.as_ref()?.overview_seconds)
    }

    /// The language servers that the person names, by name.
    pub fn named_language_servers(&self) -> BTreeMap<String, LanguageServer> {
        let layers = self.layers.iter().filter_map(|(_, layer)| layer.code.clone());
        layers.flat_map(|code| code.server).collect()
    }

    pub fn sandbox(&self) -> SandboxSettings {
        let layers = self.layers.iter().filter_map(|(_, layer)| layer.sandbox.as_ref());
        layers.fold(SandboxSettings::default(), SandboxSettings::with)
    }

    /// The share of the window at which the context is condensed.
    pub fn condense_percent(&self) -> u64 {
        self.value(|layer| layer.condense_at_percent).unwrap_or(75).min(95)
    }

    pub fn subtask_limits(&self) -> SubtaskLimits {
        self.value(|layer| layer.subtasks).unwrap_or_default().limits()
    }

    pub fn loop_limits(&self) -> LoopLimits {
        let settings = self.value(|layer| layer.loop_guard).unwrap_or_default();
        LoopLimits { repetitions: settings.repetitions, window: Duration::from_secs(settings.window_seconds) }
    }
}

/// What was read, unless it cannot be used.
fn usable<T>(read: anyhow::Result<T>, problems: &mut Vec<anyhow::Error>) -> Option<T> {
    read.map_err(|problem| problems.push(problem)).ok()
}

/// The files of a project that the agent may not change unasked: what settings name, and with what its interpreters
/// begin.
pub fn guarded_files(project: &Path) -> Vec<std::path::PathBuf> {
    let mut found = named_files(project);
    found.extend(runtimes::starting_files(project));
    found
}

/// The folders that paths in rules and calls are judged against.
pub fn judge_places(places: &Places, workspace: &Path, extra_roots: &[std::path::PathBuf]) -> JudgePlaces {
    let text = |path: &Path| path.to_string_lossy().trim_end_matches('/').to_owned();
    let roots = std::iter::once(workspace).chain(extra_roots.iter().map(std::path::PathBuf::as_path));
    let mut roots: Vec<String> = roots.map(text).collect();
    // Where links are followed, a root has its real name too.
    roots.extend(extra_roots.iter().filter_map(|root| root.canonicalize().ok()).map(|root| text(&root)));
    JudgePlaces {
        roots,
        home: places.user_home.as_deref().map(text),
        links: FollowLinks::new(links::follow),
        steering: guarded_files(Places::project(workspace)).iter().map(|path| text(path)).collect(),
        git: LookAtGit::new(|folder| stepwell_workspace::git::hazard(Path::new(folder))),
    }
}

/// What the person's rules deny reading, as the walls of tools and commands understand it.
pub fn denial(denied: Option<DeniedReads>) -> Denial {
    denied.map_or_else(Denial::default, |denied| {
        Denial::new(move |path: &Path| denied.rule_for(&path.to_string_lossy()))
    })
}
