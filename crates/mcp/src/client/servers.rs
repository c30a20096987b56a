//! The servers of a workspace: which there are, how they fare, and their common end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use futures::FutureExt;
use parking_lot::Mutex;
use stepwell_net::HttpClient;
use stepwell_tool_runtime::{Registry, StaticSource};

use super::bridge::bridge_tools;
use super::config::ServerConfig;
use super::connection::{Connection, ServerPrompt, ServerResource};
use super::stdio::LaunchProgram;
use super::supervisor::{ServerState, Supervisor};
use super::tool::clean;

/// The source of the tools that speak to any server.
const BRIDGE_SOURCE: &str = "mcp";

/// What servers are started with.
pub struct ServersOptions {
    /// The folders a server is told of.
    pub roots: Vec<PathBuf>,
    pub launch: Arc<dyn LaunchProgram>,
    /// Variables that programs do not get, such as keys of models.
    pub removed_variables: Vec<String>,
    pub http: HttpClient,
    /// Where the tokens of logins are kept.
    pub tokens: PathBuf,
    /// The version of this program, as servers are told.
    pub version: String,
}

/// A server and how it fares.
#[derive(Clone)]
pub struct ServerStatus {
    pub config: ServerConfig,
    pub state: ServerState,
    pub tools: Vec<String>,
}

/// The servers of a workspace. They end with this.
pub struct Servers {
    options: Arc<ServersOptions>,
    registry: Weak<Registry>,
    running: Mutex<BTreeMap<String, Arc<Supervisor>>>,
}

impl Servers {
    pub fn new(options: ServersOptions, registry: &Arc<Registry>) -> Arc<Self> {
        Arc::new(Self {
            options: Arc::new(options),
            registry: Arc::downgrade(registry),
            running: Mutex::default(),
        })
    }

    /// Makes these the servers of the workspace: starts new ones, restarts changed ones, ends the others. Returns at
    /// once; servers connect in the background.
    pub fn apply(self: &Arc<Self>, configs: Vec<ServerConfig>) {
        let is_empty = {
            let mut running = self.running.lock();
            let mut before = std::mem::take(&mut *running);
            for config in configs {
                let server = match before.remove(&config.name) {
                    // One that was given up has another chance: the person may have logged in or installed it.
                    Some(server) if server.config == config && !server.state().is_over() => server,
                    changed => {
                        if let Some(server) = changed {
                            self.unplug(&server);
                        }
                        Supervisor::start(config, Arc::clone(&self.options), Weak::clone(&self.registry))
                    }
                };
                running.insert(server.config.name.clone(), server);
            }
            for server in before.values() {
                self.unplug(server);
            }
            running.is_empty()
        };
        let Some(registry) = self.registry.upgrade() else { return };
        if is_empty {
            registry.remove_source(BRIDGE_SOURCE);
        } else {
            let source = Arc::new(StaticSource::new(BRIDGE_SOURCE, bridge_tools(self)));
            // A static source answers at once. That it is plugged in already is no error.
            registry.add_source(source).now_or_never().and_then(Result::ok);
        }
    }

    fn unplug(&self, server: &Supervisor) {
        server.stop();
        if let Some(registry) = self.registry.upgrade() {
            registry.remove_source(&server.config.name);
        }
    }

    /// Ends a server, so that the next [`Self::apply`] connects it anew; `false` when there is none of this name.
    pub fn forget(&self, name: &str) -> bool {
        let Some(server) = self.running.lock().remove(name) else { return false };
        self.unplug(&server);
        true
    }

    /// Every server with its state, by name.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        let running = self.running.lock();
        let status = |server: &Arc<Supervisor>| ServerStatus {
            config: server.config.clone(),
            state: server.state(),
            tools: server.tool_names(),
        };
        running.values().map(status).collect()
    }

    /// Waits until every server is ready or will not be, each at most for its start limit.
    pub async fn settled(&self) {
        let servers: Vec<Arc<Supervisor>> = self.running.lock().values().cloned().collect();
        futures::future::join_all(servers.iter().map(|server| server.settled())).await;
    }

    /// Ends every server and waits for that.
    pub async fn close(&self) {
        let servers: Vec<Arc<Supervisor>> = std::mem::take(&mut *self.running.lock()).into_values().collect();
        futures::future::join_all(servers.iter().map(|server| server.end())).await;
    }

    /// The server of a name, as it is written or as it stands in tool names.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Supervisor>> {
        let running = self.running.lock();
        let by_clean_name = || running.values().find(|server| clean(&server.config.name) == clean(name));
        running.get(name).or_else(by_clean_name).cloned()
    }

    /// The names of all servers.
    pub(crate) fn names(&self) -> Vec<String> {
        self.running.lock().keys().cloned().collect()
    }

    async fn connection(&self, server: &str) -> Result<Arc<Connection>, String> {
        let found = self.find(server).ok_or_else(|| format!("there is no MCP server `{server}`"))?;
        found.ready().await
    }

    /// The resources a server offers.
    pub async fn resources(&self, server: &str) -> Result<Vec<ServerResource>, String> {
        let resources = self.connection(server).await?.resources().await?;
        let resource = |resource: rmcp::model::Resource| ServerResource {
            uri: resource.uri,
            name: resource.name,
            description: resource.description,
            media_type: resource.mime_type,
        };
        Ok(resources.into_iter().map(resource).collect())
    }

    /// The prompts a server offers, which can be used as commands.
    pub async fn prompts(&self, server: &str) -> Result<Vec<ServerPrompt>, String> {
        self.connection(server).await?.prompts().await
    }

    /// The text of a prompt with its arguments.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> Result<String, String> {
        self.connection(server).await?.prompt(name, arguments).await
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for server in self.running.get_mut().values() {
            server.stop();
        }
    }
}
