//! The MCP servers of others: which the settings and the project's own files name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stepwell_mcp::client::{Origin, ServerConfig, ServerEntry, read_servers_file, tool_name};
use stepwell_tool_runtime::{Effect, JudgePlaces, Rule, RuleSource};
use stepwell_workspace::files;

use super::{Places, Settings, SettingsLayer, Source};

/// Tokens that the tools of MCP servers may cost before they are deferred.
const MCP_TOKENS: usize = 4_000;
/// Bytes of a file of servers; a larger one is no such file.
const LONGEST_FILE: u64 = 1024 * 1024;

/// The files of a project that name MCP servers, in the form other agents use; the later one wins.
pub fn project_files(project: &Path) -> Vec<PathBuf> {
    let files = [project.join(".mcp.json"), project.join(".roo/mcp.json")];
    files.into_iter().filter(|path| path.is_file()).collect()
}

/// What the files of a project say about MCP servers.
#[derive(Debug, Default)]
pub(super) struct ProjectServers {
    pub layers: Vec<(Source, SettingsLayer)>,
    /// Servers that are not used because the folder is not trusted, with their file.
    pub withheld: Vec<String>,
    pub problems: Vec<String>,
}

/// Reads the servers of a project. Without trust they are only named.
pub(super) fn project_servers(project: &Path, trusted: bool) -> ProjectServers {
    let mut found = ProjectServers::default();
    for path in project_files(project) {
        let small = path.metadata().is_ok_and(|file| file.len() <= LONGEST_FILE);
        let text = if small {
            files::read_to_string(&path).map_err(|error| error.to_string())
        } else {
            Err("it is too large".to_owned())
        };
        let servers = text.and_then(|text| read_servers_file(&text).map_err(|error| error.to_string()));
        let name = path.strip_prefix(project).unwrap_or(&path).display().to_string();
        match servers {
            Err(problem) => found.problems.push(format!("{name} cannot be used: {problem}")),
            Ok(servers) if servers.is_empty() => {}
            Ok(mcp_servers) if trusted => {
                let layer = SettingsLayer { mcp_servers, ..SettingsLayer::default() };
                found.layers.push((Source::File(path), layer));
            }
            Ok(servers) => {
                let names: Vec<&str> = servers.keys().map(String::as_str).collect();
                found.withheld.push(format!("MCP servers of {name} ({})", names.join(", ")));
            }
        }
    }
    found
}

/// A server with where its entry stands.
#[derive(Clone, Debug)]
pub struct McpServer {
    pub entry: ServerEntry,
    pub origin: Origin,
    pub source: Source,
}

impl Settings {
    /// Every server that is named, by name; a stronger layer replaces the whole entry.
    pub fn mcp_servers(&self, places: &Places) -> BTreeMap<String, McpServer> {
        let mut servers = BTreeMap::new();
        for (source, layer) in &self.layers {
            let origin = match source {
                Source::File(path)
                    if *path != places.user_settings() && *path != Places::managed_settings() =>
                {
                    Origin::Project
                }
                _ => Origin::User,
            };
            for (name, entry) in &layer.mcp_servers {
                let server = McpServer { entry: entry.clone(), origin, source: source.clone() };
                servers.insert(name.clone(), server);
            }
        }
        servers
    }

    /// The servers to connect to, and what is wrong with the others.
    pub fn mcp_configs(&self, places: &Places, root: &Path) -> (Vec<ServerConfig>, Vec<String>) {
        let mut configs = Vec::new();
        let mut problems = self.mcp_problems.clone();
        for (name, server) in self.mcp_servers(places) {
            if server.entry.disabled {
                continue;
            }
            let variable = |name: &str| std::env::var(name).ok();
            match server.entry.resolve(&name, server.origin, root, variable) {
                Ok(config) => configs.push(config),
                Err(error) => problems.push(error.to_string()),
            }
        }
        (configs, problems)
    }

    /// Tokens that the tools of MCP servers may cost before they are deferred.
    pub fn mcp_tokens(&self) -> usize {
        self.value(|layer| layer.tools.as_ref()?.mcp_tokens).unwrap_or(MCP_TOKENS)
    }
}

/// The rules that entries of a layer stand for: tools that are called without asking.
pub(super) fn rules(layer: &SettingsLayer, from: RuleSource, places: &JudgePlaces) -> Vec<Rule> {
    let entries = layer.mcp_servers.iter();
    let tools = entries.flat_map(|(server, entry)| entry.always_allow.iter().map(move |tool| (server, tool)));
    // Names of tools are made of letters that rules accept.
    tools
        .filter_map(|(server, tool)| Rule::parse(Effect::Allow, &tool_name(server, tool), from, places).ok())
        .collect()
}
