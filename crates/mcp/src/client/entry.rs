//! A server's entry as a person writes it: in `.mcp.json`, `.roo/mcp.json` or the settings.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An MCP server of somebody else, whose tools the agent may use.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerEntry {
    /// How the server is reached. Without it: `stdio` for a `command`, `http` for a `url`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ServerKind>,
    /// The program of a `stdio` server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The program's arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables for the program. Values may hold `${VAR}`, `${VAR:-default}` and `${env:VAR}`, as every text here may.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The folder the program starts in; the workspace by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The address of an `http` or `sse` server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of every request to it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Keeps the entry without using the server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Seconds a call may take without a sign of progress; 60 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Seconds the server may take to start and to list its tools; 30 by default.
    #[serde(alias = "startupTimeout", skip_serializing_if = "Option::is_none")]
    pub startup_timeout: Option<u64>,
    /// Tools that are called without asking.
    #[serde(alias = "alwaysAllow", skip_serializing_if = "Vec::is_empty")]
    pub always_allow: Vec<String>,
    /// Tools that are not used.
    #[serde(alias = "disabledTools", skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    /// Runs the program of a `stdio` server in the sandbox of commands.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,
    /// The client id for the login (OAuth), where the authorization server gave one out or knows one by its address;
    /// without it, this client registers itself.
    #[serde(alias = "clientId", skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The variable that holds the secret of `client_id`.
    #[serde(alias = "clientSecretEnv", skip_serializing_if = "Option::is_none")]
    pub client_secret_env: Option<String>,
    /// How a token is got: `authorization_code` (a login in the browser, the default) or `client_credentials` (with
    /// `client_id` and its secret, without a person).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
    /// Lets the server ask the model of the task that called it (sampling). Only your own settings can turn it on, and
    /// each request is asked about.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sampling: bool,
}

/// How a token for a server is got (OAuth).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    #[default]
    AuthorizationCode,
    ClientCredentials,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    Stdio,
    #[serde(alias = "streamable-http", alias = "streamableHttp", alias = "streamable_http")]
    Http,
    Sse,
}

/// The keys of an entry, as other agents write them too. Entries hold more keys than these; the rest is theirs.
const KEYS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "disabled",
    "timeout",
    "startup_timeout",
    "startupTimeout",
    "always_allow",
    "alwaysAllow",
    "disabled_tools",
    "disabledTools",
    "sandbox",
    "client_id",
    "clientId",
    "client_secret_env",
    "clientSecretEnv",
    "grant",
];

/// Why a file of servers cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    #[error("it is no JSON: {0}")]
    NoJson(String),
    #[error("it has no object `mcpServers`")]
    NoServers,
    #[error("the server `{name}` cannot be read: {problem}")]
    BadEntry { name: String, problem: String },
}

/// Reads the servers of a file in the form `{"mcpServers": {"name": {...}}}`. Keys that only other agents know are
/// ignored.
pub fn read_servers_file(text: &str) -> Result<BTreeMap<String, ServerEntry>, EntryError> {
    let mut file: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| EntryError::NoJson(error.to_string()))?;
    let Some(Value::Object(servers)) = file.get_mut("mcpServers").map(Value::take) else {
        return Err(EntryError::NoServers);
    };
    let mut found = BTreeMap::new();
    for (name, mut value) in servers {
        if let Value::Object(fields) = &mut value {
            fields.retain(|key, _| KEYS.contains(&key.as_str()));
        }
        let entry = serde_json::from_value(value)
            .map_err(|error| EntryError::BadEntry { name: name.clone(), problem: error.to_string() })?;
        found.insert(name, entry);
    }
    Ok(found)
}

impl ServerEntry {
    /// The same entry with the values of variables and headers left out, for people to look at: they may be keys.
    pub fn without_secrets(&self) -> Self {
        let hide = |values: &BTreeMap<String, String>| {
            values.keys().map(|name| (name.clone(), "…".to_owned())).collect()
        };
        Self { env: hide(&self.env), headers: hide(&self.headers), ..self.clone() }
    }
}

/// Keys stand in variables and headers, so only their names are shown.
impl fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEntry")
            .field("kind", &self.kind)
            .field("command", &self.command)
            .field("url", &self.url)
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_claude_code_and_roo_are_read_as_they_are() {
        let text = r#"{"mcpServers": {
            "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "UTC"}},
            "docs": {"type": "streamable-http", "url": "https://docs.test/mcp", "headers": {"X": "y"}, "timeout": 5},
            "old": {"type": "sse", "url": "http://localhost:1/sse", "alwaysAllow": ["a"], "disabledTools": ["b"],
                    "watchPaths": ["x"], "disabled": true}}}"#;
        let servers = read_servers_file(text).unwrap();
        assert_eq!(servers.keys().collect::<Vec<_>>(), ["docs", "old", "time"]);
        assert_eq!(servers["docs"].kind, Some(ServerKind::Http));
        assert_eq!(servers["docs"].timeout, Some(5));
        assert_eq!(servers["time"].args, ["mcp-server-time"]);
        let old = &servers["old"];
        assert!(old.disabled && old.always_allow == ["a"] && old.disabled_tools == ["b"], "{old:?}");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("{", "it is no JSON"),
            ("{}", "no object `mcpServers`"),
            (r#"{"mcpServers": {"x": {"args": "one"}}}"#, "the server `x` cannot be read"),
            (r#"{"mcpServers": {"x": {"type": "carrier-pigeon"}}}"#, "carrier-pigeon"),
            (r#"{"mcpServers": {"x": 5}}"#, "the server `x`"),
        ] {
            let told = read_servers_file(text).unwrap_err().to_string();
            assert!(told.contains(expected), "{text}: {told}");
        }
    }

    #[test]
    fn debug_output_holds_no_values_of_variables() {
        let text = r#"{"mcpServers": {"x": {"command": "c", "env": {"KEY": "s3cret"}, "headers": {"A": "s3cret"}}}}"#;
        let servers = read_servers_file(text).unwrap();
        assert!(!format!("{servers:?}").contains("s3cret"));
        assert!(!serde_json::to_string(&servers["x"].without_secrets()).unwrap().contains("s3cret"));
    }
}
