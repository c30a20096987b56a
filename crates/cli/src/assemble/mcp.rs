//! Connects a workspace to the MCP servers of others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_mcp::client::{LaunchProgram, ServerConfig, Servers, ServersOptions, Transport};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_sandbox::{AllowedHosts, HostGate, Network, Policy, Proxy, Sandbox};
use stepwell_tool_runtime::{DeniedReads, Redactor, Registry};
use stepwell_tools::secret_variables;
use stepwell_workspace::process::{ProgramCall, keeper};

use super::confinement::{self, OWN_PROGRAM};
use crate::settings::{Places, Settings};

/// Values shorter than this are no keys, and would be found everywhere.
const SHORTEST_SECRET: usize = 8;

/// The servers of a workspace. None is started yet.
pub fn servers(
    places: &Places,
    settings: &Settings,
    roots: &[PathBuf],
    denied: Option<&DeniedReads>,
    registry: &Arc<Registry>,
) -> anyhow::Result<Arc<Servers>> {
    let workspace = roots.first().map_or(Path::new("/"), PathBuf::as_path);
    let providers = settings.providers().into_values().filter_map(|provider| provider.api_key_env);
    let secrets = secret_variables().into_iter().map(|(name, _)| name);
    let launch = Launch {
        sandbox: confinement::sandbox(workspace),
        policy: confinement::policy(places, settings, roots, denied),
        hosts: confinement::allowed_hosts(&settings.sandbox().network)?,
        place: places.data.join("sandbox"),
        proxy: parking_lot::Mutex::default(),
    };
    let options = ServersOptions {
        roots: roots.to_vec(),
        launch: Arc::new(launch),
        removed_variables: secrets.chain(providers).collect(),
        tokens: token_folder(places),
        http: HttpClient::new(Timeouts::STANDARD),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(Servers::new(options, registry))
}

/// Where the tokens of logins at MCP servers are kept.
pub fn token_folder(places: &Places) -> PathBuf {
    places.shared.join("mcp-logins")
}

/// Keeps what the entries of servers hold of keys out of logs and out of what the model reads.
pub fn hide_secrets(configs: &[ServerConfig], redactor: &Redactor) {
    let long = |value: &&str| value.len() >= SHORTEST_SECRET;
    for config in configs {
        let secrets: Vec<(String, String)> = match &config.transport {
            Transport::Stdio(stdio) => {
                let named = |name: &str| {
                    let name = name.to_ascii_uppercase();
                    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.contains(word))
                };
                let values =
                    stdio.environment.iter().filter(|(name, value)| named(name) && long(&value.as_str()));
                values.map(|(name, value)| (name.clone(), value.clone())).collect()
            }
            Transport::Http(http) | Transport::Sse(http) => {
                let values = http.headers.iter().filter_map(|(name, value)| {
                    let value = value.to_str().ok()?;
                    let value = value.split_once(' ').map_or(value, |(_, token)| token);
                    Some((name.to_string(), value)).filter(|(_, value)| long(value))
                });
                let oauth = http.oauth.secret.as_ref().filter(|secret| long(&secret.as_str()));
                let oauth = oauth.map(|secret| ("client_secret".to_owned(), secret.clone()));
                values.map(|(name, value)| (name, value.to_owned())).chain(oauth).collect()
            }
        };
        redactor.add_secrets(secrets);
    }
}

/// Starts the programs of servers: with a keeper that ends them with us, or in the sandbox of commands.
struct Launch {
    sandbox: Arc<Sandbox>,
    policy: Policy,
    hosts: AllowedHosts,
    place: PathBuf,
    /// Admits the hosts of the settings; runs while there may be a server in the sandbox.
    proxy: parking_lot::Mutex<Option<Proxy>>,
}

impl LaunchProgram for Launch {
    fn prepare(&self, call: ProgramCall, sandbox: bool) -> Result<ProgramCall, String> {
        if !sandbox {
            return Ok(keeper::kept(Path::new(OWN_PROGRAM), call));
        }
        if let Some(missing) = self.sandbox.layers().missing() {
            return Err(format!("it would not be confined: {missing}"));
        }
        let mut policy = self.policy.clone();
        if !self.hosts.is_empty() {
            let mut proxy = self.proxy.lock();
            if proxy.is_none() {
                let hosts = Arc::new(self.hosts.clone());
                *proxy = Some(Proxy::start(&self.place, hosts).map_err(|error| error.to_string())?);
            }
            if let Some(proxy) = proxy.as_ref() {
                let loopback = self.hosts.loopback_ports();
                policy.network = Network::Proxy { socket: proxy.socket().to_path_buf(), loopback };
            }
        }
        self.sandbox.confine(&policy, call).map_err(|error| error.to_string())
    }
}
