//! The command line of `stepwell mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use stepwell_mcp::client::ServerKind;
use stepwell_tool_runtime::Category;

const MCP_HELP: &str = "Without --http the client is on standard input and output, which is how clients start servers. \
    `stepwell mcp config CLIENT` prints the entry that makes them do so.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = MCP_HELP)]
pub struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    #[command(flatten)]
    pub serve: McpServeArgs,
}

#[derive(Debug, Args)]
pub struct McpServeArgs {
    #[command(flatten)]
    pub tools: McpTools,
    /// Listen on HTTP instead, at a free port of 127.0.0.1 or at this port or address
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = parse_address)]
    pub http: Option<SocketAddr>,
    /// Let other machines connect; needs --token-file
    #[arg(long, requires = "http", requires = "token_file")]
    pub allow_remote: bool,
    /// The file with the token clients must send; without it one is made and kept in Stepwell's data folder
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// A name under which other machines reach this one (may be given several times)
    #[arg(long, value_name = "NAME", requires = "allow_remote")]
    pub host_name: Vec<String>,
}

/// What is served; the same words stand in a client's entry.
#[derive(Debug, Args)]
pub struct McpTools {
    /// The groups of tools to serve
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(group_names()),
        value_delimiter = ',',
        default_value = "debug",
        value_name = "GROUPS"
    )]
    pub tools: Vec<String>,
    /// Serve only tools that change nothing and run nothing
    #[arg(long)]
    pub read_only: bool,
    /// Work in this folder; without it, in the client's first root or the current folder
    #[arg(short = 'C', long, value_name = "DIR", visible_alias = "cwd")]
    pub workspace: Option<PathBuf>,
}

/// The word for every group.
pub const ALL_TOOLS: &str = "all";

/// The names of the groups, as the categories of tools are called.
fn group_names() -> Vec<&'static str> {
    Category::served().map(Category::name).chain([ALL_TOOLS]).collect()
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Print the entry for a client's settings, or put it there
    Config(McpConfigArgs),
    /// List the MCP servers of others that the agent uses
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show the entry of a server
    Get {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Let the agent use another MCP server
    Add(McpAddArgs),
    /// Take a server's entry away
    Remove {
        name: String,
        /// From your settings or from the project's files only
        #[arg(long, value_enum, value_name = "SCOPE")]
        scope: Option<McpScope>,
    },
    /// Log in at a server over HTTP, in a browser
    Login { name: String },
    /// Connect to one server, or to all, and show what they offer
    Test {
        name: Option<String>,
        #[arg(long)]
        json: bool,
    },
}

const ADD_HELP: &str = "Examples:\n  stepwell mcp add time uvx mcp-server-time\n  \
    stepwell mcp add docs https://docs.example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'";

#[derive(Debug, Args)]
#[command(after_help = ADD_HELP)]
pub struct McpAddArgs {
    pub name: String,
    /// The server's address, or its command and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub target: Vec<String>,
    /// For all your projects (your settings), or for this one (.mcp.json)
    #[arg(long, value_enum, default_value_t = McpScope::User, value_name = "SCOPE")]
    pub scope: McpScope,
    /// How the server is reached; by default `stdio` for a command and `http` for an address
    #[arg(long = "type", value_parser = parse_kind, value_name = "TYPE")]
    pub kind: Option<ServerKind>,
    /// A variable for the server's program (may be given several times)
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header of every request (may be given several times)
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Seconds a call may take without a sign of progress
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Run the server's program in the sandbox
    #[arg(long)]
    pub sandbox: bool,
}

fn parse_kind(text: &str) -> Result<ServerKind, String> {
    serde_json::from_value(text.into()).map_err(|_| "known: stdio, http, sse".to_owned())
}

#[derive(Debug, Args)]
pub struct McpConfigArgs {
    #[arg(value_enum)]
    pub client: McpClient,
    /// Put the entry into the client's settings; comments and everything else stay
    #[arg(long)]
    pub install: bool,
    /// Print the entry and where it belongs (this is what happens without --install)
    #[arg(long, conflicts_with = "install")]
    pub print: bool,
    /// For all your projects, or for the one in the current folder
    #[arg(long, value_enum, default_value_t = McpScope::User, value_name = "SCOPE")]
    pub scope: McpScope,
    /// For a server that runs at this address (`stepwell mcp --http`)
    #[arg(long, value_name = "URL")]
    pub http: Option<String>,
    /// The file with the server's token, where it was started with one
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "stepwell")]
    pub name: String,
    #[command(flatten)]
    pub tools: McpTools,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpScope {
    User,
    Project,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    Cline,
    Roo,
    Vscode,
    Zed,
    Gemini,
    Opencode,
}

/// `8000`, `127.0.0.1`, `localhost:8000`, `[::1]:8000`.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(local, port));
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(address) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, 0));
    }
    match text.strip_prefix("localhost") {
        Some("") => Ok(SocketAddr::new(local, 0)),
        Some(rest) => match rest.strip_prefix(':').and_then(|port| port.parse().ok()) {
            Some(port) => Ok(SocketAddr::new(local, port)),
            None => Err("a port must be a number up to 65535".into()),
        },
        None => Err("a port, or an address in digits with one, such as 127.0.0.1:8000".into()),
    }
}
