//! Who answers questions about code: the language servers that the settings allow.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stepwell_code_intel::lsp::{self, ReadyBy, ServerSpec, Servers, ServersOptions};
use stepwell_tools::secret_variables;
use stepwell_workspace::Workspace;

use super::confinement::OWN_PROGRAM;
use crate::report;
use crate::settings::{LanguageServer, ServersSetting, Settings};

/// Tokens of the overview where the settings do not say. A task's first message does not wait for it then.
const OVERVIEW_TOKENS: usize = 1_000;
/// An overview that takes longer than this is no help any more.
pub const OVERVIEW_DEADLINE: Duration = Duration::from_secs(120);
const MOST_OVERVIEW_TOKENS: usize = 20_000;
const MOST_OVERVIEW_SECONDS: u64 = 120;
/// How long a question waits for a server, where the settings do not say.
const PATIENCE: u64 = 60;
/// Tools may take longer than this, so that a slow server never costs the answer of the index.
const LONGEST_PATIENCE: u64 = 240;
/// After so long without a question a server is ended: some keep gigabytes.
const IDLE: Duration = Duration::from_mins(10);

/// The language servers of a workspace; none where the settings have them off.
pub fn servers(settings: &Settings, workspace: &Workspace) -> anyhow::Result<Option<Arc<Servers>>> {
    if settings.language_servers() == ServersSetting::Off {
        return Ok(None);
    }
    let seconds = settings.language_server_seconds().unwrap_or(PATIENCE).clamp(1, LONGEST_PATIENCE);
    let providers = settings.providers().into_values().filter_map(|provider| provider.api_key_env);
    let secrets = secret_variables().into_iter().map(|(name, _)| name);
    Ok(Some(Arc::new(Servers::new(ServersOptions {
        workspace: workspace.clone(),
        specs: specs(settings)?,
        keeper: Some(OWN_PROGRAM.into()),
        removed_variables: secrets.chain(providers).collect(),
        patience: Duration::from_secs(seconds),
        idle: IDLE,
    }))))
}

/// Tokens of the overview of the code that a task begins with, none where the settings have it off, and how long it is
/// waited for.
pub fn overview_limits(settings: &Settings) -> (usize, Duration) {
    let tokens = settings.overview_tokens().unwrap_or(OVERVIEW_TOKENS).min(MOST_OVERVIEW_TOKENS);
    let seconds = settings.overview_seconds().unwrap_or_default().min(MOST_OVERVIEW_SECONDS);
    (tokens, Duration::from_secs(seconds))
}

/// Those the person names first, then the known ones.
fn specs(settings: &Settings) -> anyhow::Result<Vec<ServerSpec>> {
    let mut known = lsp::known();
    let mut specs = Vec::new();
    for (name, named) in settings.named_language_servers() {
        let before = known.iter().position(|spec| spec.name == name).map(|place| known.remove(place));
        specs.push(spec(name, named, before)?);
    }
    specs.extend(known);
    Ok(specs)
}

fn spec(name: String, named: LanguageServer, before: Option<ServerSpec>) -> anyhow::Result<ServerSpec> {
    const HINT: &str = "look at `code.server` in your settings; docs/code.md tells what it takes";
    let mut languages = Vec::new();
    for language in &named.languages {
        let found = lsp::language_named(language).ok_or_else(|| {
            report::usage(format!("code.server.{name}: there is no language `{language}`"), HINT)
        })?;
        languages.push(found);
    }
    let is_bad_path = |command: &String| command.contains('/') && !command.starts_with('/');
    if named.command.as_ref().is_some_and(|command| command.is_empty() || is_bad_path(command)) {
        let what = format!("code.server.{name}: `command` is neither a program's name nor a whole path");
        return Err(report::usage(what, HINT));
    }
    let mut spec = match (before, &named.command) {
        (Some(before), _) => before,
        (None, Some(command)) if !languages.is_empty() => ServerSpec {
            name,
            languages: Vec::new(),
            command: command.clone(),
            arguments: Vec::new(),
            environment: Vec::new(),
            initialization: Value::Null,
            ready: ReadyBy::Progress,
            project: Vec::new(),
        },
        _ => {
            let what =
                format!("code.server.{name} is not known by its name: `command` and `languages` are needed");
            return Err(report::usage(what, HINT));
        }
    };
    if let Some(command) = named.command {
        spec.command = command;
    }
    if let Some(arguments) = named.args {
        spec.arguments = arguments;
    }
    if !languages.is_empty() {
        spec.languages = languages;
    }
    spec.environment.extend(named.env);
    if let Some(options) = named.initialization_options {
        spec.initialization = options;
    }
    Ok(spec)
}
