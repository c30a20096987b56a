//! Where each client keeps its MCP servers, and in which form. Facts about other programs, as a table.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::entry::{Entry, Server};
use crate::args::{McpClient, McpScope};

/// The file and the key below which a client looks for servers.
pub struct Place {
    pub path: PathBuf,
    pub format: Format,
    /// The object that holds the servers by name.
    pub key: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON; comments and trailing commas are kept where a client allows them.
    Json,
    Toml,
}

/// The folders a place may lie in.
pub struct Folders {
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME` or `~/.config`.
    pub config: PathBuf,
    /// `$CODEX_HOME` or `~/.codex`.
    pub codex: PathBuf,
    pub project: PathBuf,
}

impl McpClient {
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Cline => "Cline",
            Self::Roo => "Roo Code",
            Self::Vscode => "VS Code",
            Self::Zed => "Zed",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
        }
    }

    /// `None` where the client has no settings of this scope.
    pub fn place(self, scope: McpScope, folders: &Folders) -> Option<Place> {
        let Folders { home, config, codex, project } = folders;
        // VS Code and its extensions follow the system's habits.
        let code = if cfg!(target_os = "macos") {
            home.join("Library/Application Support/Code/User")
        } else {
            config.join("Code/User")
        };
        let storage = |extension: &str| code.join("globalStorage").join(extension).join("settings");
        let json = |path: PathBuf, key| Some(Place { path, format: Format::Json, key });
        let toml = |path: PathBuf, key| Some(Place { path, format: Format::Toml, key });
        match (self, scope) {
            (Self::ClaudeCode, McpScope::User) => json(home.join(".claude.json"), "mcpServers"),
            (Self::ClaudeCode, McpScope::Project) => json(project.join(".mcp.json"), "mcpServers"),
            (Self::ClaudeDesktop, McpScope::User) => {
                let folder = if cfg!(target_os = "macos") {
                    home.join("Library/Application Support/Claude")
                } else {
                    config.join("Claude")
                };
                json(folder.join("claude_desktop_config.json"), "mcpServers")
            }
            (Self::Codex, McpScope::User) => toml(codex.join("config.toml"), "mcp_servers"),
            (Self::Codex, McpScope::Project) => toml(project.join(".codex/config.toml"), "mcp_servers"),
            (Self::Cursor, McpScope::User) => json(home.join(".cursor/mcp.json"), "mcpServers"),
            (Self::Cursor, McpScope::Project) => json(project.join(".cursor/mcp.json"), "mcpServers"),
            (Self::Cline, McpScope::User) => {
                json(storage("saoudrizwan.claude-dev").join("cline_mcp_settings.json"), "mcpServers")
            }
            (Self::Roo, McpScope::User) => {
                json(storage("rooveterinaryinc.roo-cline").join("mcp_settings.json"), "mcpServers")
            }
            (Self::Roo, McpScope::Project) => json(project.join(".roo/mcp.json"), "mcpServers"),
            (Self::Vscode, McpScope::User) => json(code.join("mcp.json"), "servers"),
            (Self::Vscode, McpScope::Project) => json(project.join(".vscode/mcp.json"), "servers"),
            (Self::Zed, McpScope::User) => {
                // Zed lies in ~/.config on macOS too.
                json(config.join("zed/settings.json"), "context_servers")
            }
            (Self::Zed, McpScope::Project) => json(project.join(".zed/settings.json"), "context_servers"),
            (Self::Gemini, McpScope::User) => json(home.join(".gemini/settings.json"), "mcpServers"),
            (Self::Gemini, McpScope::Project) => json(project.join(".gemini/settings.json"), "mcpServers"),
            (Self::Opencode, McpScope::User) => json(either(config.join("opencode/opencode.json")), "mcp"),
            (Self::Opencode, McpScope::Project) => json(either(project.join("opencode.json")), "mcp"),
            (Self::ClaudeDesktop | Self::Cline, McpScope::Project) => None,
        }
    }

    /// The entry as this client writes it. The error says why it has none of this kind.
    pub fn entry(self, entry: &Entry) -> Result<Value, String> {
        let headers = |token: &str| json!({"Authorization": format!("Bearer {token}")});
        Ok(match (self, &entry.server) {
            (Self::ClaudeDesktop, Server::Http { .. }) => {
                return Err(
                    "Claude Desktop's file takes servers that it starts itself; leave out --http".to_owned()
                );
            }
            (Self::ClaudeCode | Self::Vscode, Server::Command { program, words }) => {
                json!({"type": "stdio", "command": program, "args": words})
            }
            (Self::ClaudeCode | Self::Vscode, Server::Http { url, token }) => {
                json!({"type": "http", "url": url, "headers": headers(token)})
            }
            (Self::Zed, Server::Command { program, words }) => {
                json!({"source": "custom", "command": program, "args": words, "env": Map::new()})
            }
            (Self::Zed, Server::Http { url, token }) => {
                json!({"source": "custom", "url": url, "headers": headers(token)})
            }
            (Self::Opencode, Server::Command { program, words }) => {
                let command: Vec<&String> = std::iter::once(program).chain(words).collect();
                json!({"type": "local", "command": command, "enabled": true})
            }
            (Self::Opencode, Server::Http { url, token }) => {
                json!({"type": "remote", "url": url, "headers": headers(token), "enabled": true})
            }
            (Self::Gemini, Server::Http { url, token }) => json!({"httpUrl": url, "headers": headers(token)}),
            (Self::Cursor, Server::Http { url, token }) => json!({"url": url, "headers": headers(token)}),
            (Self::Cline, Server::Http { url, token }) => {
                json!({"type": "streamableHttp", "url": url, "headers": headers(token)})
            }
            (Self::Roo, Server::Http { url, token }) => {
                json!({"type": "streamable-http", "url": url, "headers": headers(token)})
            }
            (Self::Codex, Server::Http { url, token }) => json!({"url": url, "http_headers": headers(token)}),
            (
                Self::ClaudeDesktop | Self::Codex | Self::Cursor | Self::Cline | Self::Roo | Self::Gemini,
                Server::Command { program, words },
            ) => json!({"command": program, "args": words}),
        })
    }
}

/// The `.jsonc` beside a `.json` file where only that exists.
fn either(path: PathBuf) -> PathBuf {
    let with_comments = path.with_extension("jsonc");
    if !path.exists() && with_comments.exists() { with_comments } else { path }
}
