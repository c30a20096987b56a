//! One server from its start to its end: connects in the background, restarts what dies, keeps its tools up to date.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use stepwell_tool_runtime::{DynTool, Registry, SourceError, ToolSource};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::config::ServerConfig;
use super::connection::{ConnectError, Connection, ListError, Session};
use super::sampling::Sampler;
use super::servers::ServersOptions;
use super::tool::{McpTool, ResourceReader};

/// Restarts of a server that dies again and again.
const MOST_RESTARTS: u32 = 5;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// A server that ran for so long has its restarts back.
const HEALTHY: Duration = Duration::from_mins(5);

/// How far a server has come.
#[derive(Clone)]
pub enum ServerState {
    Connecting,
    Ready {
        tools: usize,
        identity: Option<String>,
    },
    /// It died and is started again.
    Restarting {
        reason: String,
    },
    /// It is not used until the person has logged in.
    NeedsLogin,
    Failed {
        reason: String,
    },
    Stopped,
}

impl ServerState {
    /// Whether nothing more will come of it.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::NeedsLogin | Self::Failed { .. } | Self::Stopped)
    }

    fn is_settled(&self) -> bool {
        !matches!(self, Self::Connecting | Self::Restarting { .. })
    }
}

/// A configured server.
pub(crate) struct Supervisor {
    pub config: ServerConfig,
    state: watch::Sender<(ServerState, Option<Arc<Connection>>)>,
    tools: Mutex<Vec<Arc<McpTool>>>,
    /// Each tool as it was first listed, which is how people know it when they approve calls.
    first_listed: Mutex<HashMap<String, Arc<McpTool>>>,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Supervisor {
    /// Starts a server in the background.
    pub fn start(config: ServerConfig, options: Arc<ServersOptions>, registry: Weak<Registry>) -> Arc<Self> {
        let supervisor = Arc::new(Self {
            config,
            state: watch::Sender::new((ServerState::Connecting, None)),
            tools: Mutex::default(),
            first_listed: Mutex::default(),
            stop: CancellationToken::new(),
            task: Mutex::default(),
        });
        let task = tokio::spawn(supervise(Arc::clone(&supervisor), options, registry));
        *supervisor.task.lock() = Some(task);
        supervisor
    }

    pub fn state(&self) -> ServerState {
        self.state.borrow().0.clone()
    }

    /// The names of the server's tools, as the server has them.
    pub fn tool_names(&self) -> Vec<String> {
        self.tools.lock().iter().map(|tool| tool.server_name().to_owned()).collect()
    }

    /// The connection, waited for while the server starts. The error says why there is none.
    pub async fn ready(&self) -> Result<Arc<Connection>, String> {
        let mut state = self.state.subscribe();
        let limit = self.config.start_limit;
        let waiting = state.wait_for(|(state, _)| state.is_settled());
        let name = &self.config.name;
        match timeout(limit, waiting).await {
            Ok(Ok(settled)) => match &*settled {
                (_, Some(connection)) => Ok(Arc::clone(connection)),
                (ServerState::Failed { reason }, None) => {
                    Err(format!("the MCP server `{name}` does not run: {reason}"))
                }
                (ServerState::NeedsLogin, None) => {
                    Err(format!("the MCP server `{name}` asks for a login: `stepwell mcp login {name}`"))
                }
                _ => Err(format!("the MCP server `{name}` was stopped")),
            },
            Ok(Err(_)) => Err(format!("the MCP server `{name}` was stopped")),
            Err(_) => Err(format!("the MCP server `{name}` is still not ready after {} s", limit.as_secs())),
        }
    }

    /// Waits until the server is ready, or will not be.
    pub async fn settled(&self) {
        let mut state = self.state.subscribe();
        timeout(self.config.start_limit, state.wait_for(|(state, _)| state.is_settled())).await.ok();
    }

    /// Tells the server to end, without waiting.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Ends the server and waits for that.
    pub async fn end(&self) {
        self.stop.cancel();
        let task = self.task.lock().take();
        if let Some(mut task) = task {
            let ended = timeout(Duration::from_secs(5), &mut task).await;
            if ended.is_err() {
                task.abort();
            }
        }
    }

    fn set(&self, state: ServerState, connection: Option<Arc<Connection>>) {
        self.state.send_replace((state, connection));
    }
}

/// Why one life of a server is over.
enum Ended {
    /// Another attempt would end the same way.
    ForGood(ServerState),
    Died(String),
}

async fn supervise(server: Arc<Supervisor>, options: Arc<ServersOptions>, registry: Weak<Registry>) {
    let mut restarts = 0;
    let name = server.config.name.clone();
    loop {
        let began = Instant::now();
        let ended = live(&server, &options, &registry).await;
        if server.stop.is_cancelled() {
            server.set(ServerState::Stopped, None);
            return;
        }
        let reason = match ended {
            Ended::ForGood(state) => {
                give_up(&server, state, &registry);
                return;
            }
            Ended::Died(reason) => reason,
        };
        if began.elapsed() > HEALTHY {
            restarts = 0;
        }
        restarts += 1;
        if restarts > MOST_RESTARTS {
            let reason = format!("it was started {MOST_RESTARTS} times more and ended each time: {reason}");
            give_up(&server, ServerState::Failed { reason }, &registry);
            return;
        }
        tracing::warn!(server = name, restarts, "MCP server ended: {reason}");
        server.set(ServerState::Restarting { reason }, None);
        let delay = (FIRST_DELAY * 2_u32.pow(restarts - 1)).min(LONGEST_DELAY);
        if timeout(delay, server.stop.cancelled()).await.is_ok() {
            server.set(ServerState::Stopped, None);
            return;
        }
    }
}

/// A server that will not come back takes its tools along.
fn give_up(server: &Supervisor, state: ServerState, registry: &Weak<Registry>) {
    let name = &server.config.name;
    if let ServerState::Failed { reason } = &state {
        tracing::warn!(server = name, "MCP server is not used: {reason}");
    }
    server.tools.lock().clear();
    if let Some(registry) = registry.upgrade() {
        registry.remove_source(name);
    }
    server.set(state, None);
}

/// Connects, serves and returns when the server is gone or told to end.
async fn live(server: &Arc<Supervisor>, options: &ServersOptions, registry: &Weak<Registry>) -> Ended {
    let config = &server.config;
    let opening = Session::open(config, options);
    let opened = tokio::select! {
        opened = opening => opened,
        () = server.stop.cancelled() => return Ended::Died(String::new()),
    };
    let session = match opened {
        Ok(session) => session,
        Err(ConnectError::NeedsLogin) => return Ended::ForGood(ServerState::NeedsLogin),
        // A program that is not there, or hangs, does the same the next time.
        Err(error @ (ConnectError::Start(_) | ConnectError::Late(_))) => {
            return Ended::ForGood(ServerState::Failed { reason: error.to_string() });
        }
        Err(ConnectError::Failed(reason)) => return Ended::Died(reason),
    };
    let connection = Arc::clone(&session.connection);
    let mut tools_changed = session.tools_changed.clone();
    if let Err(error) = list_tools(server, &connection, registry).await {
        session.end().await;
        return match error {
            ListError::NeedsLogin => Ended::ForGood(ServerState::NeedsLogin),
            ListError::Failed(reason) => Ended::Died(format!("it did not list its tools: {reason}")),
        };
    }
    let mut lost = Box::pin(session.lost(server.stop.clone()));
    loop {
        tokio::select! {
            biased;
            why = &mut lost => return Ended::Died(why),
            changed = tools_changed.changed() => {
                if changed.is_ok()
                    && let Err(reason) = list_tools(server, &connection, registry).await
                {
                    let reason = match reason {
                        ListError::NeedsLogin => "it asks for a login".to_owned(),
                        ListError::Failed(reason) => reason,
                    };
                    tracing::warn!(server = config.name, "MCP server did not list its tools again: {reason}");
                }
            }
        }
    }
}

/// Lists the tools and puts them into the registry. A tool that has not changed stays the same object. One whose
/// description or parameters changed is withheld: approvals were given for what it was.
async fn list_tools(
    server: &Arc<Supervisor>,
    connection: &Arc<Connection>,
    registry: &Weak<Registry>,
) -> Result<(), ListError> {
    let config = &server.config;
    let listed = connection.tools(config.start_limit).await?;
    let mut tools: Vec<Arc<McpTool>> = Vec::with_capacity(listed.len());
    let mut first_listed = server.first_listed.lock().clone();
    for tool in listed.into_iter().filter(|tool| !config.disabled_tools.contains(tool.name.as_ref())) {
        match first_listed.get(tool.name.as_ref()) {
            Some(known) if known.is(&tool) => tools.push(Arc::clone(known)),
            Some(_) => tracing::warn!(
                server = config.name,
                tool = %tool.name,
                "MCP server changed a tool while it runs; the tool is withheld until Stepwell is started again"
            ),
            None => {
                let new = McpTool::new(Arc::downgrade(server), config, tool).map(Arc::new);
                first_listed.extend(new.iter().map(|tool| (tool.server_name().to_owned(), Arc::clone(tool))));
                tools.extend(new);
            }
        }
    }
    *server.first_listed.lock() = first_listed;
    // Settings that changed meanwhile may have put another server in this one's place.
    if server.stop.is_cancelled() {
        return Err(ListError::Failed("it was stopped".to_owned()));
    }
    let count = tools.len();
    *server.tools.lock() = tools;
    if let Some(registry) = registry.upgrade() {
        let reader = connection.has_resources().then(|| ResourceReader::new(Arc::downgrade(server), config));
        let source = ServerTools {
            name: config.name.clone(),
            server: Arc::downgrade(server),
            internal: reader
                .map(|reader| Arc::new(reader) as _)
                .into_iter()
                .chain(Sampler::new(config).map(|sampler| Arc::new(sampler) as _))
                .collect(),
        };
        match registry.add_source(Arc::new(source)).await {
            // It is plugged in from before; its source asks for the tools anew.
            Err(SourceError::Registry(_)) => {
                registry.refresh().await;
            }
            Err(error) => return Err(ListError::Failed(error.to_string())),
            Ok(()) => {}
        }
    }
    let state = ServerState::Ready { tools: count, identity: connection.identity() };
    server.set(state, Some(Arc::clone(connection)));
    Ok(())
}

/// The tools of one server, for the registry.
struct ServerTools {
    name: String,
    server: Weak<Supervisor>,
    /// What reads resources and asks the model, where the server may.
    internal: Vec<Arc<dyn DynTool>>,
}

#[async_trait::async_trait]
impl ToolSource for ServerTools {
    fn name(&self) -> &str {
        &self.name
    }

    async fn tools(&self) -> Result<Vec<Arc<dyn DynTool>>, SourceError> {
        let server = self.server.upgrade();
        let tools = server.map(|server| server.tools.lock().clone()).unwrap_or_default();
        Ok(tools.into_iter().map(|tool| tool as _).chain(self.internal.iter().cloned()).collect())
    }
}
