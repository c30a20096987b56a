//! `stepwell serve`: the engine for browsers and programs, one server for each user of a machine.

mod http;
mod registry;
mod running;
mod stdio;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::args::{ServeArgs, ServeCommand};
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::settings::Places;
use crate::terminal::{error_line, out_json, out_line};

pub use http::{Served, serve};
pub use registry::{Claim, Registry, folder as serve_folder};
pub use running::RunningServer;

/// How long a server may take to end.
const TO_END: Duration = Duration::from_secs(20);

pub async fn run(args: ServeArgs) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    match args.command {
        Some(ServeCommand::Status { json }) => return status(&places, json).await,
        Some(ServeCommand::Stop) => return stop(&places).await,
        None => {}
    }
    let folder = crate::assemble::workspace_root(args.at.cwd.as_deref())?;
    match Registry::of(&places)?.claim().await? {
        Claim::Running(running) => {
            let running = RunningServer::verified(&places, running).await?;
            out_line(&running.address());
            error_line(&said("a server is running already; the options of this command do not change it"));
            tell_link(&running.link(&folder).await?);
            Ok(Exit::Done)
        }
        Claim::Ours(place) => {
            let served = serve(&places, &args.at, &folder, place).await?;
            out_line(&served.address());
            tell_link(&served.link());
            tell_token(&served);
            served.until_stopped().await
        }
    }
}

/// Speaks with the program that started this one.
pub async fn stdio(folder: Option<PathBuf>) -> anyhow::Result<Exit> {
    stdio::run(folder.as_deref()).await
}

pub fn tell_link(link: &str) {
    error_line(&said("open this in a browser; it is good once, for two minutes:"));
    error_line(&format!("  {link}"));
}

fn tell_token(served: &Served) {
    let path = served.token_file.display();
    error_line(&said(&format!("programs send the token in {path}; docs/serve.md describes the API")));
}

async fn status(places: &Places, as_json: bool) -> anyhow::Result<Exit> {
    let Some(running) = Registry::of(places)?.running()? else {
        if as_json {
            out_json(&json!({ "running": false }));
        } else {
            out_line(&said("no server is running"));
        }
        return Ok(Exit::Failed);
    };
    let running = RunningServer::verified(places, running).await?;
    let entry = &running.entry;
    if as_json {
        out_json(&json!({
            "running": true,
            "address": running.address(),
            "pid": entry.pid,
            "port": entry.port,
            "version": entry.version,
            "started_at": entry.started_at,
        }));
    } else {
        let (address, pid, version) = (running.address(), entry.pid, &entry.version);
        out_line(&said(&format!("running at {address}: process {pid}, version {version}")));
    }
    Ok(Exit::Done)
}

async fn stop(places: &Places) -> anyhow::Result<Exit> {
    let registry = Registry::of(places)?;
    let Some(entry) = registry.running()? else {
        out_line(&said("no server is running"));
        return Ok(Exit::Done);
    };
    let pid = entry.pid;
    let asked = match RunningServer::verified(places, entry).await {
        Ok(running) => running.stop().await,
        Err(error) => Err(error),
    };
    if let Err(error) = asked {
        tracing::warn!(%error, "the server did not take the request to stop");
        // The lock says that this process is the server, whatever else is wrong with it.
        registry.terminate(pid)?;
    }
    if registry.wait_until_free(TO_END).await {
        out_line(&said("the server has ended"));
        return Ok(Exit::Done);
    }
    Err(report::failed(
        format!("process {pid} has not ended within {} s", TO_END.as_secs()),
        format!(
            "it may be at work on something; `kill -9 {pid}` ends it at once and loses nothing that was kept"
        ),
    ))
}
