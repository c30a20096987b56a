//! `stepwell mcp config`: the entry that makes a client use the server.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stepwell_mcp::http::Token;
use stepwell_workspace::files::{self, LockFile, Privacy};

use super::clients::{Folders, Format, Place};
use super::entry::{Change, Entry, Server, put};
use super::{token_path, told, words_of};
use crate::args::{McpConfigArgs, McpScope};
use crate::assemble::current_dir;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::settings::Places;
use crate::terminal::{error_line, out, out_line};

/// Stands for the token where it is only shown.
const TOKEN_PLACE: &str = "TOKEN";

pub fn run(args: &McpConfigArgs) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    let folders = folders(&places)?;
    let title = args.client.title();
    let place = args.client.place(args.scope, &folders).ok_or_else(|| {
        report::usage(format!("{title} has no settings of a project"), "leave out `--scope project`")
    })?;
    if args.name.is_empty() || !args.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    {
        return Err(report::usage(
            format!("`{}` cannot be the name of an entry", args.name),
            "use letters, digits, `-` and `_`",
        ));
    }
    if args.http.is_some() && args.install && args.scope == McpScope::Project {
        return Err(report::usage(
            "the token would stand in a file of the project, which others may get to see",
            "use `--scope user`, or print the entry and put the token in by a variable of the client's",
        ));
    }
    let entry = Entry { name: args.name.clone(), server: server(&places, args)? };
    let value = args.client.entry(&entry).map_err(|problem| {
        report::usage(problem, format!("`stepwell mcp config {}` prints the other kind", client_word(args)))
    })?;
    if args.install {
        install(title, &place, &entry, &value)
    } else {
        show(args, &places, &place, &entry, &value)
    }
}

fn client_word(args: &McpConfigArgs) -> String {
    use clap::ValueEnum;
    args.client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn folders(places: &Places) -> anyhow::Result<Folders> {
    let home = places
        .user_home
        .clone()
        .ok_or_else(|| report::usage("HOME names no absolute folder", "set HOME to your folder"))?;
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Ok(Folders {
        config: named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        codex: named("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
        project: current_dir()?,
        home,
    })
}

fn server(places: &Places, args: &McpConfigArgs) -> anyhow::Result<Server> {
    if let Some(url) = &args.http {
        let fits = url.starts_with("http://") || url.starts_with("https://");
        if !fits {
            return Err(report::usage(
                format!("`{url}` is no address of a server"),
                "give what `stepwell mcp --http` printed, such as http://127.0.0.1:8000/mcp",
            ));
        }
        let token = if args.install {
            let path = args.token_file.clone().unwrap_or_else(|| token_path(places));
            let token =
                if args.token_file.is_some() { Token::read(&path) } else { Token::read_or_make(&path) };
            token.map_err(told)?.expose().to_owned()
        } else {
            TOKEN_PLACE.to_owned()
        };
        return Ok(Server::Http { url: url.clone(), token });
    }
    let program = match args.scope {
        // Others have it elsewhere.
        McpScope::Project => "stepwell".to_owned(),
        McpScope::User => own_path()?,
    };
    let mut words = words_of(&args.tools);
    if let Some(folder) = &args.tools.workspace {
        let folder = crate::assemble::workspace_root(Some(folder))?;
        words.extend(["--workspace".to_owned(), folder.display().to_string()]);
    }
    Ok(Server::Command { program, words })
}

/// Clients that are started from a desktop have another search path than a shell.
fn own_path() -> anyhow::Result<String> {
    let path = std::env::current_exe()?;
    path.into_os_string().into_string().map_err(|path| {
        report::usage(
            format!("the path `{}` is not UTF-8", path.display()),
            "move the program to another folder",
        )
    })
}

/// Prints the entry in its place, as it would stand in a file of its own.
fn show(
    args: &McpConfigArgs,
    places: &Places,
    place: &Place,
    entry: &Entry,
    value: &Value,
) -> anyhow::Result<Exit> {
    let text = match place.format {
        Format::Json => {
            let whole = json!({place.key: {entry.name.as_str(): value}});
            format!("{}\n", serde_json::to_string_pretty(&whole)?)
        }
        Format::Toml => match put(place.format, "", place.key, &entry.name, value) {
            Ok(Change::Added(text)) => text,
            Ok(_) | Err(_) => String::new(),
        },
    };
    out(&text);
    error_line(&said(&format!("\nfor {}, in {}", args.client.title(), place.path.display())));
    if args.http.is_some() {
        let path = args.token_file.clone().unwrap_or_else(|| token_path(places));
        error_line(&said(&format!("put the token from {} in the place of {TOKEN_PLACE}", path.display())));
    }
    let http = args.http.as_ref().map(|url| format!(" --http {url}")).unwrap_or_default();
    let command = format!("stepwell mcp config {}{http} --install", client_word(args));
    error_line(&said(&format!("put it there with: {command}")));
    Ok(Exit::Done)
}

fn install(title: &str, place: &Place, entry: &Entry, value: &Value) -> anyhow::Result<Exit> {
    // Settings that are kept elsewhere and linked here stay there.
    let path = files::resolved(&place.path);
    if let Some(folder) = path.parent() {
        files::create_private_dir(folder)?;
    }
    let _lock = LockFile::take(&beside(&path, ".stepwell-lock"))?;
    let before = files::read_if_exists(&path)?;
    let change = put(place.format, before.as_deref().unwrap_or_default(), place.key, &entry.name, value);
    let change = change.map_err(|problem| {
        report::failed(
            format!("`{}` cannot be changed: {problem}", path.display()),
            "mend the file, or put the entry in by hand: leave out `--install` to see it",
        )
    })?;
    let (text, done) = match change {
        Change::Nothing => {
            out_line(&said(&format!("{title} has `{}` already: {}", entry.name, path.display())));
            return Ok(Exit::Done);
        }
        Change::Added(text) => (text, "added to"),
        Change::Replaced(text) => (text, "changed in"),
    };
    files::write_atomic(&path, text.as_bytes(), privacy(&path, before.is_some(), &entry.server))?;
    out_line(&said(&format!("`{}` {done} {title}'s settings: {}", entry.name, path.display())));
    Ok(Exit::Done)
}

/// A file that only its owner could read stays so, and so does one with a token.
fn privacy(path: &Path, exists: bool, server: &Server) -> Privacy {
    let is_open = files::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
    match (exists, server) {
        (_, Server::Http { .. }) => Privacy::Private,
        (true, Server::Command { .. }) if !is_open => Privacy::Private,
        _ => Privacy::Shared,
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
