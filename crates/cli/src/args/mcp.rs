//! The command line of `stepwell mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
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
