//! The sandbox that adapters and debugged programs run in, as sessions see it. The caller makes it.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use stepwell_workspace::process::{ProgramCall, SpareTerminal, UserSignal};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use crate::{Error, Result};

/// Opens sandboxes for launches.
#[async_trait]
pub trait SandboxSource: Send + Sync + std::fmt::Debug {
    /// The error says why there is none; nothing is run then.
    async fn open(&self) -> std::result::Result<Arc<dyn SessionSandbox>, String>;
}

/// An open sandbox, shared by all programs of a launch. Dropping it ends them.
#[async_trait]
pub trait SessionSandbox: Send + Sync + std::fmt::Debug {
    /// Returns the call that runs `call` inside.
    fn join(&self, call: ProgramCall) -> ProgramCall;

    /// Connects to a port of the sandbox's own loopback.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream>;

    /// Listens on a port of the sandbox's own loopback.
    async fn listen(&self) -> io::Result<(TcpListener, u16)>;

    /// Opens a terminal that programs inside find by its name.
    async fn terminal(&self) -> io::Result<SpareTerminal>;

    /// Sends a user signal to a process that handles it, by the number it has inside.
    async fn ask_by_user_signal(&self, process: u32, signal: UserSignal) -> io::Result<()>;

    /// A private folder that has the same path inside and outside, and can be written on both sides.
    fn folder(&self) -> &Path;

    /// Returns why the sandbox ended by itself, where it said so.
    fn messages(&self) -> String;

    /// Ends everything inside, and waits for that.
    async fn close(&self);
}

/// Makes a temporary folder that only this user can enter: in a sandbox's own folder, which both sides see, or in that of
/// the machine.
pub fn private_folder(prefix: &str, sandbox: Option<&dyn SessionSandbox>) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    // By default others can enter as far as the umask lets them.
    builder.prefix(prefix).permissions(std::fs::Permissions::from_mode(0o700));
    match sandbox {
        Some(sandbox) => builder.tempdir_in(sandbox.folder()),
        None => builder.tempdir(),
    }
}

/// Where a session runs: in the sandbox of its launch while that is open, else in a new one.
#[derive(Clone, Debug)]
pub struct Isolation {
    source: Arc<dyn SandboxSource>,
    open: Option<Weak<dyn SessionSandbox>>,
}

impl Isolation {
    pub fn new(source: Arc<dyn SandboxSource>) -> Self {
        Self { source, open: None }
    }

    /// Opens the sandbox, and returns the isolation of sessions that share it.
    pub(crate) async fn opened(&self) -> Result<(Self, Arc<dyn SessionSandbox>)> {
        let sandbox = match self.open.as_ref().and_then(Weak::upgrade) {
            Some(sandbox) => sandbox,
            None => self.source.open().await.map_err(|reason| Error::Launch { reason, hint: None })?,
        };
        Ok((self.within(&sandbox), sandbox))
    }

    /// Returns the isolation of a session in a sandbox that is open.
    pub(crate) fn within(&self, sandbox: &Arc<dyn SessionSandbox>) -> Self {
        Self { source: Arc::clone(&self.source), open: Some(Arc::downgrade(sandbox)) }
    }
}
