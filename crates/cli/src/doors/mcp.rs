//! `stepwell mcp`: the tools for any MCP client.

mod bench;
mod clients;
pub mod config;
mod entry;
mod resources;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_mcp::http::{self, Hosts, HttpOptions, Token, TokenError};
use stepwell_mcp::{FilePrompts, McpServer, Offer, ServerParts, ToolGroup, WorkspaceChoice};
use stepwell_workspace::files;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::args::{McpServeArgs, McpTools, ToolGroupArg};
use crate::assemble::workspace_root;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::report;
use crate::settings::Places;
use crate::terminal::{error_line, out_line};

use bench::WorkspaceBenches;

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
    let groups = groups(&args.tools.tools);
    let folder = workspace_root(args.tools.workspace.as_deref())?;
    // A client on the other end of a network must not choose which folder is opened to it.
    let workspace = match (&args.tools.workspace, args.http) {
        (None, None) => WorkspaceChoice::FirstRoot,
        _ => WorkspaceChoice::Fixed,
    };
    let artifacts = artifact_folder(&places.data.join("mcp"));
    Ok(McpServer::new(ServerParts {
        benches: Arc::new(WorkspaceBenches::new(folder, &groups)),
        prompts: Arc::new(FilePrompts),
        instructions: instructions(&groups),
        offer: Offer { groups, read_only: args.tools.read_only },
        workspace,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        artifacts,
    }))
}

fn groups(chosen: &[ToolGroupArg]) -> Vec<ToolGroup> {
    let is_chosen = |group: &ToolGroup| {
        let arg = match group {
            ToolGroup::Debug => ToolGroupArg::Debug,
            ToolGroup::Files => ToolGroupArg::Files,
            ToolGroup::Shell => ToolGroupArg::Shell,
            ToolGroup::Code => ToolGroupArg::Code,
        };
        chosen.contains(&arg) || chosen.contains(&ToolGroupArg::All)
    };
    ToolGroup::ALL.into_iter().filter(is_chosen).collect()
}

/// What a model should know before it looks at the tools. Short: it stands in every conversation.
fn instructions(groups: &[ToolGroup]) -> String {
    let mut text = Vec::new();
    for group in groups {
        text.push(match group {
            ToolGroup::Debug => {
                "Stepwell debugs running programs with real debuggers. Use it as soon as a failure is not plain from the code: \
                 first see what happens (`debug_failure` for a failing command or test, `start_debugging` for a program), then \
                 ask one question at a time with a probe (`debug_trace` for a call, `debug_watch` for who writes a value, \
                 `debug_tracepoints` for values over a run, breakpoints for a look around), and change code only when the cause \
                 was seen. Sessions are named by `session_id`; end them with `stop_debugging`."
            }
            ToolGroup::Files => {
                "The file tools work in the workspace alone; `edit` and `apply_diff` change all files of a call or none."
            }
            ToolGroup::Shell => {
                "`bash` runs commands confined by the kernel: writing in the workspace, no network but allowed hosts. Long ones \
                 run on with `run_in_background`."
            }
            ToolGroup::Code => "The code tools answer questions about symbols and structure without reading whole files.",
        });
    }
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
    let chosen = groups(&tools.tools);
    if chosen != [ToolGroup::Debug] {
        let names: Vec<&str> = chosen.iter().map(|group| group.name()).collect();
        let all = chosen.len() == ToolGroup::ALL.len();
        words.extend(["--tools".to_owned(), if all { "all".to_owned() } else { names.join(",") }]);
    }
    if tools.read_only {
        words.push("--read-only".to_owned());
    }
    words
}
