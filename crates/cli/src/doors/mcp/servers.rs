//! `stepwell mcp list|get|add|remove|test`: the MCP servers of others that the agent uses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use stepwell_mcp::client::{
    self, Origin, ServerEntry, ServerKind, ServerState, ServerStatus, Transport, read_servers_file,
};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_workspace::files::{self, LockFile, Privacy};
use toml_edit::{DocumentMut, Item, Table};

use crate::args::{McpAddArgs, McpScope};
use crate::assemble::mcp::token_folder;
use crate::assemble::{Assembly, workspace_root};
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::settings::{McpServer, Places, SettingsLayer};
use crate::terminal::{Style, error_line, out_line, visible};

const NAME_HINT: &str = "use letters, digits, `-` and `_`";

pub fn list(as_json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let servers = assembly.settings.mcp_servers(&assembly.places);
    let (_, problems) = assembly.settings.mcp_configs(&assembly.places, &assembly.workspace);
    if as_json {
        let rows: Vec<Value> = servers.iter().map(|(name, server)| shown(name, server)).collect();
        let withheld = &assembly.settings.withheld;
        let all = json!({"servers": rows, "problems": problems, "withheld": withheld});
        out_line(&serde_json::to_string_pretty(&all)?);
        return Ok(Exit::Done);
    }
    let style = Style::for_stdout();
    if servers.is_empty() {
        out_line(&said(
            "no MCP servers; add one with `stepwell mcp add NAME COMMAND` or put it into .mcp.json",
        ));
    }
    for (name, server) in &servers {
        let state = if server.entry.disabled { said("(disabled)") } else { String::new() };
        let name = style.bold(&columns::padded(&visible(name), 16));
        out_line(
            format!(
                "{name} {} {} {state}",
                visible(&target(&server.entry)),
                style.dim(&server.source.to_string())
            )
            .trim_end(),
        );
    }
    for problem in problems {
        out_line(&style.yellow(&visible(&said(&problem))));
    }
    assembly.tell_withheld();
    Ok(Exit::Done)
}

pub fn get(name: &str, as_json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let servers = assembly.settings.mcp_servers(&assembly.places);
    let server = servers.get(name).ok_or_else(|| unknown(name, &servers))?;
    let value = shown(name, server);
    if as_json {
        out_line(&serde_json::to_string_pretty(&value)?);
    } else {
        out_line(&Style::for_stdout().dim(&format!("# {}", server.source)));
        out_line(&visible(&serde_json::to_string_pretty(&server.entry.without_secrets())?));
    }
    Ok(Exit::Done)
}

pub fn add(args: &McpAddArgs) -> anyhow::Result<Exit> {
    if args.name.is_empty() || !args.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    {
        return Err(report::usage(format!("`{}` cannot be the name of a server", args.name), NAME_HINT));
    }
    let entry = entry(args)?;
    let places = Places::find()?;
    let root = workspace_root(None)?;
    // Variables may be set later; everything else must be right now.
    if let Err(error) = entry.resolve(&args.name, Origin::User, &root, |_| Some("http://x".to_owned())) {
        return Err(report::usage(error.to_string(), "`stepwell mcp add --help` shows the forms"));
    }
    let path = match args.scope {
        McpScope::User => {
            let path = places.user_settings();
            change_settings(&path, |servers| {
                let table = toml_edit::ser::to_document(&entry)?.as_table().clone();
                servers.insert(&args.name, Item::Table(table));
                Ok(true)
            })?;
            path
        }
        McpScope::Project => {
            let path = Places::project(&root).join(".mcp.json");
            change_file(&path, |servers| {
                servers.insert(args.name.clone(), serde_json::to_value(&entry).unwrap_or_default());
                true
            })?;
            path
        }
    };
    out_line(&said(&format!("added `{}` to {}", args.name, path.display())));
    if args.scope == McpScope::Project {
        out_line(&said("it starts once the folder is trusted: `stepwell config trust`"));
    }
    Ok(Exit::Done)
}

fn entry(args: &McpAddArgs) -> anyhow::Result<ServerEntry> {
    let (target, arguments) = args
        .target
        .split_first()
        .ok_or_else(|| report::usage("a command or an address is missing", NAME_HINT))?;
    let is_url = target.starts_with("http://") || target.starts_with("https://");
    let pairs = |given: &[String], sign: char, what: &str| -> anyhow::Result<BTreeMap<String, String>> {
        let pair = |text: &String| {
            let (name, value) = text.split_once(sign)?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        };
        let read = |text: &String| {
            pair(text).ok_or_else(|| {
                report::usage(
                    format!("`{text}` is no {what}"),
                    "write NAME=VALUE, or `NAME: VALUE` for a header",
                )
            })
        };
        given.iter().map(read).collect()
    };
    let mut entry = ServerEntry {
        kind: args.kind,
        env: pairs(&args.env, '=', "variable")?,
        headers: pairs(&args.header, ':', "header")?,
        timeout: args.timeout,
        sandbox: args.sandbox,
        ..ServerEntry::default()
    };
    if is_url && args.kind != Some(ServerKind::Stdio) {
        entry.kind = entry.kind.or(Some(ServerKind::Http));
        entry.url = Some(target.clone());
    } else {
        entry.command = Some(target.clone());
        entry.args = arguments.to_vec();
    }
    Ok(entry)
}

pub fn remove(name: &str, scope: Option<McpScope>) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    let root = workspace_root(None)?;
    let mut removed: Vec<PathBuf> = Vec::new();
    let user = places.user_settings();
    if scope != Some(McpScope::Project) && user.is_file() {
        let found = change_settings(&user, |servers| Ok(servers.remove(name).is_some()))?;
        removed.extend(found.then_some(user));
    }
    if scope != Some(McpScope::User) {
        for path in crate::settings::mcp_files(Places::project(&root)) {
            let found = change_file(&path, |servers| servers.shift_remove(name).is_some())?;
            removed.extend(found.then_some(path));
        }
    }
    if removed.is_empty() {
        let servers = Assembly::here()?.settings.mcp_servers(&places);
        return Err(unknown(name, &servers));
    }
    for path in removed {
        out_line(&said(&format!("removed `{name}` from {}", path.display())));
    }
    Ok(Exit::Done)
}

/// Changes the servers of a settings file; comments and order stay. Returns whether anything was changed.
fn change_settings(
    path: &Path,
    change: impl FnOnce(&mut Table) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    if let Some(folder) = path.parent() {
        files::create_private_dir(folder)?;
    }
    let _lock = LockFile::take(&path.with_extension("toml.lock"))?;
    let before = files::read_if_exists(path)?.unwrap_or_default();
    let mut document: DocumentMut = before.parse()?;
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_mut().ok_or_else(|| {
        report::usage(format!("`mcp_servers` in `{}` is no table", path.display()), "edit the file by hand")
    })?;
    if !change(servers)? {
        return Ok(false);
    }
    let after = document.to_string();
    // A file that could not be read again would lock the person out.
    toml::from_str::<SettingsLayer>(&after)?;
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    files::write_atomic(&target, after.as_bytes(), Privacy::Private)?;
    Ok(true)
}

/// Changes the servers of a file in the form other agents use. Returns whether anything was changed.
fn change_file(path: &Path, change: impl FnOnce(&mut Map<String, Value>) -> bool) -> anyhow::Result<bool> {
    let before = files::read_if_exists(path)?.unwrap_or_else(|| "{\"mcpServers\": {}}".to_owned());
    let unusable = |problem: String| {
        let told = format!("`{}` cannot be changed: {problem}", path.display());
        report::usage(told, "repair the file by hand first")
    };
    read_servers_file(&before).map_err(|error| unusable(error.to_string()))?;
    let mut file: Value = serde_json::from_str(&before).map_err(|error| unusable(error.to_string()))?;
    let servers = file.get_mut("mcpServers").and_then(Value::as_object_mut);
    let servers = servers.ok_or_else(|| unusable("it has no object `mcpServers`".to_owned()))?;
    if !change(servers) {
        return Ok(false);
    }
    let text = serde_json::to_string_pretty(&file)? + "\n";
    files::write_atomic(path, text.as_bytes(), Privacy::Shared)?;
    Ok(true)
}

/// Connects to one server, or to all, and tells what it offers.
pub async fn test(name: Option<String>, as_json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let servers = assembly.settings.mcp_servers(&assembly.places);
    if let Some(name) = &name
        && !servers.contains_key(name)
    {
        return Err(unknown(name, &servers));
    }
    let workspace = assembly.open()?;
    let (mut configs, problems) = assembly.settings.mcp_configs(&assembly.places, &assembly.workspace);
    configs.retain(|config| name.as_ref().is_none_or(|name| *name == config.name));
    workspace.mcp.apply(configs);
    workspace.mcp.settled().await;
    let statuses = workspace.mcp.statuses();
    workspace.mcp.close().await;
    let all_ready = statuses.iter().all(|status| matches!(status.state, ServerState::Ready { .. }));
    if as_json {
        let rows: Vec<Value> = statuses.iter().map(status_row).collect();
        out_line(&serde_json::to_string_pretty(&json!({"servers": rows, "problems": problems}))?);
    } else {
        statuses.iter().for_each(show_status);
        let style = Style::for_stdout();
        for problem in &problems {
            out_line(&style.yellow(&visible(&said(problem))));
        }
        assembly.tell_withheld();
    }
    Ok(if all_ready && problems.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Logs in at a server that asks for it. The tokens are kept for later runs.
pub async fn login(name: String) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let servers = assembly.settings.mcp_servers(&assembly.places);
    if !servers.contains_key(&name) {
        return Err(unknown(&name, &servers));
    }
    let (configs, problems) = assembly.settings.mcp_configs(&assembly.places, &assembly.workspace);
    let Some(config) = configs.into_iter().find(|config| config.name == name) else {
        let problem =
            problems.into_iter().next().unwrap_or_else(|| format!("the server `{name}` is disabled"));
        return Err(report::usage(problem, "`stepwell mcp list` shows them all"));
    };
    let Transport::Http(http) = &config.transport else {
        return Err(report::usage(
            format!("the server `{name}` is of type `{}`, which has no login", config.transport.name()),
            "only servers of type `http` can ask for one",
        ));
    };
    let show = |address: &str| {
        error_line(&said("open this address in a browser and log in:"));
        out_line(address);
    };
    let connections = HttpClient::new(Timeouts::STANDARD);
    let kept = client::login(&name, http, &connections, &token_folder(&assembly.places), show).await;
    let kept = kept.map_err(|error| {
        report::failed(error.to_string(), "a server that knows no OAuth takes a key in `headers`")
    })?;
    out_line(&said(&format!("logged in; the tokens are in {}", kept.display())));
    Ok(Exit::Done)
}

fn show_status(status: &ServerStatus) {
    let style = Style::for_stdout();
    let name = style.bold(&visible(&status.config.name));
    match &status.state {
        ServerState::Ready { tools, identity } => {
            let who = identity.as_deref().unwrap_or_default();
            let count = said(&format!("{tools} tools"));
            out_line(&format!("{} {name}  {}  {count}", style.green("✓"), visible(who)));
            for tool in &status.tools {
                out_line(&format!("    {}", visible(tool)));
            }
        }
        state => {
            let reason = state_words(state);
            out_line(&format!("{} {name}  {}", style.red("✗"), visible(&said(&reason))));
        }
    }
}

fn status_row(status: &ServerStatus) -> Value {
    let reason = match &status.state {
        ServerState::Ready { .. } => None,
        state => Some(state_words(state)),
    };
    json!({
        "name": status.config.name,
        "type": status.config.transport.name(),
        "ready": reason.is_none(),
        "reason": reason,
        "tools": status.tools,
    })
}

fn state_words(state: &ServerState) -> String {
    match state {
        ServerState::Connecting => "it is still connecting".to_owned(),
        ServerState::Ready { .. } => "it is ready".to_owned(),
        ServerState::Restarting { reason } => format!("it ended and is started again: {reason}"),
        ServerState::NeedsLogin => "it asks for a login".to_owned(),
        ServerState::Failed { reason } => reason.clone(),
        ServerState::Stopped => "it was stopped".to_owned(),
    }
}

/// The program with its words, or the address.
pub fn target(entry: &ServerEntry) -> String {
    match (&entry.command, &entry.url) {
        (Some(command), _) => {
            std::iter::once(command).chain(&entry.args).cloned().collect::<Vec<_>>().join(" ")
        }
        (None, Some(url)) => url.clone(),
        (None, None) => String::new(),
    }
}

fn shown(name: &str, server: &McpServer) -> Value {
    let own = if server.origin == Origin::User { "user" } else { "project" };
    json!({
        "name": name,
        "scope": own,
        "source": server.source.to_string(),
        "entry": server.entry.without_secrets(),
    })
}

fn unknown(name: &str, servers: &BTreeMap<String, McpServer>) -> anyhow::Error {
    let near = stepwell_tool_runtime::near_names(name, servers.keys().map(String::as_str));
    let hint = match near.first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`stepwell mcp list` shows them all".to_owned(),
    };
    report::usage(format!("there is no MCP server `{name}`"), hint)
}
