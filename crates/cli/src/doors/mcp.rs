//! `stepwell mcp`: the tools for any MCP client.

mod clients;
pub mod config;
mod entry;
pub mod servers;
mod workspaces;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_mcp::http::{self, Hosts, HttpOptions, Token, TokenError};
use stepwell_mcp::{FilePrompts, McpServer, Offer, ServerParts, WorkspaceChoice};
use stepwell_tool_runtime::Category;
use stepwell_workspace::files;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::args::{ALL_TOOLS, McpServeArgs, McpTools};
use crate::assemble::workspace_root;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::report;
use crate::settings::Places;
use crate::terminal::{error_line, out_line};

use workspaces::ServedWorkspaces;

pub async fn run(args: McpServeArgs) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    if let Some(address) = args.http.filter(|address| !address.ip().is_loopback())
        && !args.allow_remote
    {
        return Err(report::usage(
            format!("`{address}` can be reached by other machines"),
            "use 127.0.0.1, or say that you want this: --allow-remote --token-file FILE",
        ));
    }
    let server = server(&places, &args)?;
    let stop = CancellationToken::new();
    let ending = watch_for_signals(stop.clone())?;
    let served = match args.http {
        Some(address) => serve_http(&places, &server, &args, address, stop).await,
        None => serve_stdio(&server, stop).await,
    };
    server.finish().await;
    ending.abort();
    served.map(|()| Exit::Done)
}

fn server(places: &Places, args: &McpServeArgs) -> anyhow::Result<McpServer> {
    let categories = categories(&args.tools.tools);
    let folder = workspace_root(args.tools.workspace.as_deref())?;
    // A client on the other end of a network must not choose which folder is opened to it.
    let workspace = match (&args.tools.workspace, args.http) {
        (None, None) => WorkspaceChoice::FirstRoot,
        _ => WorkspaceChoice::Fixed,
    };
    let artifacts = artifact_folder(&places.data.join("mcp"));
    Ok(McpServer::new(ServerParts {
        workspaces: Arc::new(ServedWorkspaces::new(folder, &categories)),
        prompts: Arc::new(FilePrompts),
        instructions: instructions(&categories),
        offer: Offer { categories, read_only: args.tools.read_only },
        workspace,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        artifacts,
    }))
}

/// The chosen categories, in their own order.
fn categories(chosen: &[String]) -> Vec<Category> {
    let is_chosen =
        |category: &Category| chosen.iter().any(|name| name == category.name() || name == ALL_TOOLS);
    Category::served().filter(is_chosen).collect()
}

/// What a model should know before it looks at the tools. Short: it stands in every conversation.
fn instructions(categories: &[Category]) -> String {
    let mut text: Vec<&str> = categories.iter().filter_map(|category| category.instructions()).collect();
    text.push("A refusal says what the person can do about it; do not try the same thing in another way.");
    text.join("\n")
}

/// A folder of this process below `parent`; what servers left that are gone is removed.
fn artifact_folder(parent: &Path) -> PathBuf {
    let is_gone = |path: &PathBuf| {
        let number =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<i32>().ok());
        let process = number.and_then(rustix::process::Pid::from_raw);
        process.is_some_and(|process| {
            rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
        })
    };
    let left = files::list_dir(parent).unwrap_or_default();
    for folder in left.iter().filter(|path| is_gone(path)).take(100) {
        // What cannot be removed now can be later.
        files::remove_dir_all(folder).ok();
    }
    parent.join(std::process::id().to_string())
}

/// A signal ends the server; that has its own deadline.
fn watch_for_signals(stop: CancellationToken) -> anyhow::Result<tokio::task::AbortHandle> {
    let mut interrupts = Interrupts::listen()?;
    let watching = tokio::spawn(async move {
        interrupts.next().await;
        stop.cancel();
    });
    Ok(watching.abort_handle())
}

async fn serve_stdio(server: &McpServer, stop: CancellationToken) -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        error_line(
            "waiting for an MCP client on standard input; `stepwell mcp config CLIENT` prints the entry for one",
        );
    }
    server.serve_standard_streams(stop).await.map_err(|problem| {
        report::failed(
            format!("the client did not speak MCP: {problem}"),
            "this command is started by an MCP client; `stepwell mcp config CLIENT` prints the entry for one",
        )
    })
}

async fn serve_http(
    places: &Places,
    server: &McpServer,
    args: &McpServeArgs,
    address: SocketAddr,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let (token, path) = match &args.token_file {
        Some(path) => (Token::read(path), path.clone()),
        None => (Token::read_or_make(&token_path(places)), token_path(places)),
    };
    let token = token.map_err(told)?;
    let hosts =
        if args.allow_remote { Hosts::Remote { names: args.host_name.clone() } } else { Hosts::Loopback };
    let listener = TcpListener::bind(address).await.map_err(|error| {
        report::failed(
            format!("cannot listen on {address}: {error}"),
            "choose another port, or none for a free one",
        )
    })?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    out_line(&url);
    error_line(&format!(
        "token: in {}; entry for a client: stepwell mcp config CLIENT --http {url}",
        path.display()
    ));
    let served = http::serve(server, listener, &HttpOptions::new(token, hosts), stop).await;
    served.map_err(|error| report::failed(format!("the server broke off: {error}"), "start it again"))
}

fn token_path(places: &Places) -> PathBuf {
    places.data.join("mcp-token")
}

fn told(error: TokenError) -> anyhow::Error {
    let hint = error.hint();
    report::usage(error.to_string(), hint)
}

/// The words that make the same choice on another command line.
fn words_of(tools: &McpTools) -> Vec<String> {
    let mut words = vec!["mcp".to_owned()];
    let chosen = categories(&tools.tools);
    if chosen != [Category::Debug] {
        let names: Vec<&str> = chosen.iter().map(|category| category.name()).collect();
        let all = chosen.len() == Category::served().count();
        words.extend(["--tools".to_owned(), if all { "all".to_owned() } else { names.join(",") }]);
    }
    if tools.read_only {
        words.push("--read-only".to_owned());
    }
    words
}
