//! Puts the server together: token, listeners, engine; and keeps it until it is stopped.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stepwell_agent::{Engine, EngineOptions};
use stepwell_protocol::Timestamp;
use stepwell_server::{Hosts, Limits, Listener, Server, ServerParts, Tls, Token, connect_with};
use stepwell_workspace::files;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::registry::{Entry, Place, token_file};
use super::running::{link, read_token};
use crate::args::ServeAt;
use crate::assemble::Assembly;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::language::said;
use crate::report;
use crate::settings::Places;
use crate::terminal::error_line;

/// The port, where it is free.
const USUAL_PORT: u16 = 7433;
/// How long runs may take to end.
const TO_FINISH: Duration = Duration::from_secs(10);
/// How long somebody whose window is gone still counts as there: a page that is loaded again comes back.
const ABSENCE: Duration = Duration::from_secs(120);

/// A server that this process runs.
pub struct Served {
    pub token_file: PathBuf,
    port: u16,
    link: String,
    engine: Engine,
    serving: JoinHandle<()>,
    stop: CancellationToken,
    /// From before anybody knows of the server: no signal is lost.
    interrupts: Interrupts,
    place: Place,
}

/// Starts the server.
pub async fn serve(places: &Places, at: &ServeAt, folder: &Path, place: Place) -> anyhow::Result<Served> {
    let listen = at.listen.map(|address| far_listener(at, address)).transpose()?;
    let assembly = Assembly::in_folder(Some(folder))?;
    let engine = assembly.engine_with(EngineOptions {
        approval_deadline: Duration::from_secs(at.approval_timeout),
        absence: ABSENCE,
    });
    let token = Token::new(read_token(places)?.expose())?;
    let host_name = token.host_name();
    let near = bind_near(at.port).await?;
    let port = near.local_addr()?.port();
    let mut listeners =
        vec![Listener { socket: near, tls: None, hosts: Hosts::Loopback { names: vec![host_name.clone()] } }];
    if let Some((address, tls)) = listen {
        let socket = bind(address).await?;
        tell_far(at, socket.local_addr()?);
        listeners.push(Listener { socket, tls, hosts: Hosts::Remote { names: at.host_name.clone() } });
    }
    let stop = CancellationToken::new();
    let interrupts = Interrupts::listen()?;
    let connected = engine.clone();
    let server = Server::new(ServerParts {
        connect: connect_with(move || connected.connect().split()),
        token,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: folder.to_string_lossy().into_owned(),
        memory: resident_memory,
        limits: Limits::STANDARD,
        stop: stop.clone(),
    });
    let link = link(&host_name, port, &server.login_path(), folder);
    let serving = tokio::spawn(async move { server.serve(listeners).await });
    place.announce(&Entry {
        pid: std::process::id(),
        port,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: Timestamp::now().0,
    })?;
    Ok(Served { token_file: token_file(places), port, link, engine, serving, stop, interrupts, place })
}

impl Served {
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A link that signs a browser in.
    pub fn link(&self) -> String {
        self.link.clone()
    }

    /// Serves until a signal comes or a program asks for the end. Runs end and keep what they received.
    pub async fn until_stopped(self) -> anyhow::Result<Exit> {
        let (mut serving, mut interrupts) = (self.serving, self.interrupts);
        tokio::select! {
            () = interrupts.next() => {
                self.stop.cancel();
                serving.await?;
            }
            ended = &mut serving => ended?,
        }
        if tokio::time::timeout(TO_FINISH, self.engine.finish()).await.is_err() {
            tracing::warn!("runs did not end in time");
        }
        drop(self.place);
        Ok(Exit::Done)
    }
}

/// Listens on this machine: at the wanted port, or at the usual one or any.
async fn bind_near(port: Option<u16>) -> anyhow::Result<TcpListener> {
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => bind(at(port)).await,
        None => match TcpListener::bind(at(USUAL_PORT)).await {
            Ok(listener) => Ok(listener),
            Err(_) => bind(at(0)).await,
        },
    }
}

async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        report::failed(
            format!("cannot listen on {address}: {error}"),
            "choose another port, or none for a free one",
        )
    })
}

/// Checks that other machines connect over TLS, or that the person said in so many words that they need not.
fn far_listener(at: &ServeAt, address: SocketAddr) -> anyhow::Result<(SocketAddr, Option<Tls>)> {
    let (Some(certificate), Some(key)) = (&at.tls_cert, &at.tls_key) else {
        if at.insecure_no_tls || address.ip().is_loopback() {
            return Ok((address, None));
        }
        return Err(report::usage(
            format!("`{address}` can be reached by other machines, and there is no certificate"),
            "give --tls-cert FILE and --tls-key FILE, or forward a port: ssh -L 7433:127.0.0.1:7433 MACHINE",
        ));
    };
    let tls = Tls::from_pem(&files::read(certificate)?, &files::read(key)?).map_err(|error| {
        report::usage(
            error.to_string(),
            "both are PEM files; the certificate comes before those it was signed with",
        )
    })?;
    Ok((address, Some(tls)))
}

fn tell_far(at: &ServeAt, address: SocketAddr) {
    let scheme = if at.tls_cert.is_some() { "https" } else { "http" };
    let host = at.host_name.first().cloned().unwrap_or_else(|| match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    });
    let port = address.port();
    error_line(&said(&format!(
        "other machines reach it at {scheme}://{host}:{port}; put that in place of the beginning of a link"
    )));
}

/// Resident memory of this process in bytes.
fn resident_memory() -> Option<u64> {
    let status = files::read_to_string("/proc/self/status".as_ref()).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
