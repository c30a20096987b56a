//! The sandbox's way to the network: a proxy that asks about every host.
//!
//! It speaks HTTP (`CONNECT` and plain requests) and SOCKS5 on one socket that is a file, which the launcher shows
//! inside. Names are resolved here, never by the command. Every address a name has must be public, and the
//! address that was checked is the one that is dialled, so a name that changes its answer gains nothing. Of this
//! machine only those ports of its loopback are reached that the gate names.

mod address;
mod allowed;
mod dial;
mod host;
mod http;
mod relay;
mod socks;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use stepwell_workspace::files;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{Error, Result};

pub use address::refusal as address_refusal;
pub use allowed::AllowedHosts;
use dial::Dialler;
pub use dial::{Connector, Resolver, System};

/// Connections at a time; more wait.
const MOST_CONNECTIONS: usize = 64;
/// From the first byte of a request to the host's answer.
const SET_UP: Duration = Duration::from_secs(120);

/// Says whether a command may talk to a host.
#[async_trait]
pub trait HostGate: Send + Sync {
    /// `Err` holds the reason, which the command is told.
    async fn admit(&self, host: &str, port: u16) -> Result<(), String>;

    /// Returns the ports of this machine's own loopback that are open. They must be named one by one: what covers every
    /// host does not cover these.
    fn loopback_ports(&self) -> Vec<u16> {
        Vec::new()
    }
}

/// Both directions of a connection.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A proxy that runs until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    folder: PathBuf,
    socket: PathBuf,
    cancel: CancellationToken,
}

impl Proxy {
    /// Listens on a socket in a new folder below `place` that only this user can enter.
    pub fn start(place: &Path, gate: Arc<dyn HostGate>) -> Result<Self> {
        Self::start_with(place, gate, Arc::new(System), Arc::new(System))
    }

    /// As [`Proxy::start`], with other ways to resolve names and to connect.
    pub fn start_with(
        place: &Path,
        gate: Arc<dyn HostGate>,
        resolver: Arc<dyn Resolver>,
        connector: Arc<dyn Connector>,
    ) -> Result<Self> {
        let folder = private_folder(place)?;
        let socket = folder.join("proxy");
        let listener = UnixListener::bind(&socket).map_err(Error::Proxy)?;
        let cancel = CancellationToken::new();
        let dialler = Arc::new(Dialler { gate, resolver, connector });
        let stopped = cancel.clone();
        tokio::spawn(async move {
            stopped.run_until_cancelled(accept(listener, dialler, stopped.clone())).await;
        });
        Ok(Self { folder, socket, cancel })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cancel.cancel();
        files::remove_dir_all(&self.folder).ok();
    }
}

/// Makes a folder for a socket. Its name is short, because the path of a socket has a hundred bytes.
pub(crate) fn private_folder(place: &Path) -> Result<PathBuf> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let folder = place.join(format!("{}-{number:x}", std::process::id()));
    files::create_private_dir(&folder)?;
    Ok(folder)
}

async fn accept(listener: UnixListener, dialler: Arc<Dialler>, cancel: CancellationToken) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else { return };
        let (dialler, cancel) = (Arc::clone(&dialler), cancel.clone());
        tokio::spawn(async move {
            cancel.run_until_cancelled(serve(client, &dialler)).await;
            drop(permit);
        });
    }
}

/// One connection, from its first byte on.
async fn serve(mut client: impl Duplex, dialler: &Dialler) {
    let set_up = async {
        let first = client.read_u8().await.ok()?;
        if first == socks::VERSION {
            socks::open(&mut client, dialler).await
        } else {
            http::open(first, &mut client, dialler).await
        }
    };
    match tokio::time::timeout(SET_UP, set_up).await {
        Ok(Some((host, further))) => relay::both_ways(&mut client, host, further).await,
        Ok(None) => {}
        Err(_) => return,
    }
    relay::hear_out(client).await;
}
