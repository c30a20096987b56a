//! What an entry means: a program or an address, with its variables replaced and its limits set.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stepwell_net::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::entry::{Grant, ServerEntry, ServerKind};
use super::variables::{Lookup, expand};

const CALL_LIMIT: u64 = 60;
const START_LIMIT: u64 = 30;
/// Roo allows up to an hour.
const LONGEST_LIMIT: u64 = 3600;

/// Whose settings name a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The person's own settings. What the server says of its tools is believed.
    User,
    /// A file of the project, which the person trusts as it is now.
    Project,
}

/// A server that can be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    pub name: String,
    pub origin: Origin,
    pub transport: Transport,
    /// How long a call may take without a sign of progress.
    pub call_limit: Duration,
    /// How long the server may take to start and to list its tools.
    pub start_limit: Duration,
    pub disabled_tools: BTreeSet<String>,
    /// Whether the server may ask the model, where the person agrees.
    pub sampling: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    Stdio(StdioConfig),
    Http(HttpConfig),
    /// The older form of HTTP: one stream of events, and a POST per message.
    Sse(HttpConfig),
}

impl Transport {
    /// The name of the transport, as entries have it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct StdioConfig {
    pub program: String,
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
    /// Whether the program runs in the sandbox of commands.
    pub sandbox: bool,
}

/// Values of variables may be keys.
impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioConfig")
            .field("program", &self.program)
            .field("folder", &self.folder)
            .field("environment", &self.environment.keys())
            .finish_non_exhaustive()
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    pub url: Url,
    pub headers: HeaderMap,
    pub oauth: OAuthClient,
}

/// As whom this client asks for tokens.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OAuthClient {
    /// Without an id, this client registers itself.
    pub id: Option<String>,
    pub secret: Option<String>,
    pub grant: Grant,
}

/// Headers and the query of an address may hold keys.
impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = stepwell_net::without_secrets(&self.url);
        f.debug_struct("HttpConfig").field("url", &address).finish_non_exhaustive()
    }
}

/// Why an entry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("the MCP server `{server}` needs a `command` or a `url`")]
    NoTarget { server: String },
    #[error("the MCP server `{server}` has both a `command` and a `url`; give one")]
    TwoTargets { server: String },
    #[error("the MCP server `{server}` is of type `{kind}`, which needs a `{needed}`")]
    WrongTarget { server: String, kind: &'static str, needed: &'static str },
    #[error("the MCP server `{server}` uses the variable `{variable}`, which is not set")]
    NoVariable { server: String, variable: String },
    #[error("the address of the MCP server `{server}` cannot be used: {problem}")]
    BadUrl { server: String, problem: String },
    #[error("the MCP server `{server}` has `{given}` without `{needed}`")]
    Incomplete { server: String, given: &'static str, needed: &'static str },
    #[error("the header `{header}` of the MCP server `{server}` cannot be sent")]
    BadHeader { server: String, header: String },
}

impl ServerEntry {
    /// Replaces the variables and checks the entry. `root` is the workspace; relative folders lie in it.
    pub fn resolve(
        &self,
        server: &str,
        origin: Origin,
        root: &Path,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<ServerConfig, ConfigError> {
        let variables = |name: &str| match name {
            "workspaceFolder" | "CLAUDE_PROJECT_DIR" | "STEPWELL_PROJECT_DIR" => {
                Some(root.to_string_lossy().into_owned())
            }
            name => environment(name),
        };
        let transport = self.transport(server, root, &variables)?;
        let limit = |given: Option<u64>, usual: u64| {
            Duration::from_secs(given.unwrap_or(usual).clamp(1, LONGEST_LIMIT))
        };
        Ok(ServerConfig {
            name: server.to_owned(),
            origin,
            transport,
            call_limit: limit(self.timeout, CALL_LIMIT),
            start_limit: limit(self.startup_timeout, START_LIMIT),
            disabled_tools: self.disabled_tools.iter().cloned().collect(),
            // A project cannot spend the person's tokens.
            sampling: self.sampling && origin == Origin::User,
        })
    }

    fn transport(&self, server: &str, root: &Path, variables: &dyn Lookup) -> Result<Transport, ConfigError> {
        let name = || server.to_owned();
        let fill = |text: &String| {
            expand(text, variables).map_err(|variable| ConfigError::NoVariable { server: name(), variable })
        };
        let wrong = |kind, needed| ConfigError::WrongTarget { server: name(), kind, needed };
        let kind = match (self.kind, &self.command, &self.url) {
            (_, Some(_), Some(_)) => return Err(ConfigError::TwoTargets { server: name() }),
            (None, None, None) => return Err(ConfigError::NoTarget { server: name() }),
            (Some(kind), _, _) => kind,
            (None, Some(_), None) => ServerKind::Stdio,
            (None, None, Some(_)) => ServerKind::Http,
        };
        if kind == ServerKind::Stdio {
            let command = self.command.as_ref().filter(|command| !command.trim().is_empty());
            let folder = self.cwd.as_ref().map(fill).transpose()?;
            return Ok(Transport::Stdio(StdioConfig {
                program: fill(command.ok_or_else(|| wrong("stdio", "command"))?)?,
                arguments: self.args.iter().map(fill).collect::<Result<_, _>>()?,
                environment: self
                    .env
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), fill(value)?)))
                    .collect::<Result<_, _>>()?,
                folder: folder.map_or_else(|| root.to_path_buf(), |folder| root.join(folder)),
                sandbox: self.sandbox,
            }));
        }
        let kind_name = if kind == ServerKind::Sse { "sse" } else { "http" };
        let url = fill(self.url.as_ref().ok_or_else(|| wrong(kind_name, "url"))?)?;
        let bad = |problem: String| ConfigError::BadUrl { server: name(), problem };
        let url = Url::parse(&url).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(bad("it must begin with http:// or https:// and name a host".to_owned()));
        }
        let mut headers = HeaderMap::new();
        for (header, value) in &self.headers {
            let bad = || ConfigError::BadHeader { server: name(), header: header.clone() };
            let mut value = HeaderValue::from_str(&fill(value)?).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_bytes(header.as_bytes()).map_err(|_| bad())?, value);
        }
        let config = HttpConfig { url, headers, oauth: self.oauth(server, variables)? };
        Ok(if kind == ServerKind::Sse { Transport::Sse(config) } else { Transport::Http(config) })
    }

    fn oauth(&self, server: &str, variables: &dyn Lookup) -> Result<OAuthClient, ConfigError> {
        let name = || server.to_owned();
        let incomplete = |given, needed| ConfigError::Incomplete { server: name(), given, needed };
        let id = self.client_id.as_ref().map(|id| {
            expand(id, variables).map_err(|variable| ConfigError::NoVariable { server: name(), variable })
        });
        let secret = self.client_secret_env.as_ref().map(|variable| {
            let missing = || ConfigError::NoVariable { server: name(), variable: variable.clone() };
            variables.value(variable).ok_or_else(missing)
        });
        let oauth = OAuthClient {
            id: id.transpose()?,
            secret: secret.transpose()?,
            grant: self.grant.unwrap_or_default(),
        };
        if oauth.secret.is_some() && oauth.id.is_none() {
            return Err(incomplete("client_secret_env", "client_id"));
        }
        if oauth.grant == Grant::ClientCredentials && oauth.secret.is_none() {
            return Err(incomplete("grant = \"client_credentials\"", "client_secret_env"));
        }
        Ok(oauth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(json: &str) -> Result<ServerConfig, String> {
        let entry: ServerEntry = serde_json::from_str(json).unwrap();
        let environment = |name: &str| (name == "KEY").then(|| "k".to_owned());
        entry.resolve("s", Origin::User, Path::new("/w"), environment).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_become_programs_and_addresses() {
        let config = resolved(
            r#"{"command": "${workspaceFolder}/s", "args": ["${KEY}"], "cwd": "sub", "timeout": 0}"#,
        );
        let config = config.unwrap();
        let Transport::Stdio(stdio) = &config.transport else { panic!("{config:?}") };
        assert_eq!((stdio.program.as_str(), &stdio.arguments[..]), ("/w/s", &["k".to_owned()][..]));
        assert_eq!(stdio.folder, Path::new("/w/sub"));
        assert_eq!(config.call_limit, Duration::from_secs(1));
        let config =
            resolved(r#"{"url": "https://h.test/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}"#);
        let Transport::Http(http) = config.unwrap().transport else { panic!() };
        assert_eq!(http.headers["authorization"], "Bearer k");
        assert!(!format!("{http:?}").contains("Bearer"));
        assert!(matches!(
            resolved(r#"{"type": "sse", "url": "http://h"}"#).unwrap().transport,
            Transport::Sse(_)
        ));
    }

    #[test]
    fn only_the_persons_own_settings_turn_sampling_on() {
        let entry: ServerEntry = serde_json::from_str(r#"{"command": "s", "sampling": true}"#).unwrap();
        for (origin, expected) in [(Origin::User, true), (Origin::Project, false)] {
            assert_eq!(entry.resolve("s", origin, Path::new("/w"), |_| None).unwrap().sampling, expected);
        }
    }

    #[test]
    fn entries_that_cannot_be_used_say_why() {
        for (json, expected) in [
            ("{}", "needs a `command` or a `url`"),
            (r#"{"command": "a", "url": "http://h"}"#, "both"),
            (r#"{"type": "http", "command": "a"}"#, "needs a `url`"),
            (r#"{"type": "stdio", "url": "http://h"}"#, "needs a `command`"),
            (r#"{"command": "${NONE}"}"#, "the variable `NONE`"),
            (r#"{"url": "http://h", "client_id": "a", "client_secret_env": "NONE"}"#, "the variable `NONE`"),
            (r#"{"url": "http://h", "client_secret_env": "KEY"}"#, "without `client_id`"),
            (
                r#"{"url": "http://h", "client_id": "a", "grant": "client_credentials"}"#,
                "`client_secret_env`",
            ),
            (r#"{"url": "ftp://h"}"#, "must begin with http"),
            (r#"{"url": "http://h", "headers": {"a b": "c"}}"#, "header `a b`"),
        ] {
            let told = resolved(json).unwrap_err();
            assert!(told.contains(expected), "{json}: {told}");
        }
    }
}
