//! How messages reach an adapter: pipes of a process, a connection to it, or a connection from it.
//!
//! Several adapters write a message's header and body apart and without `TCP_NODELAY`, so the body waits for our
//! acknowledgement, which the kernel delays by 40 ms. Every socket here asks for a quick acknowledgement before every
//! read; that turns 44 ms for each request into about one.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::time::{Instant, timeout, timeout_at};

use crate::sandbox::SessionSandbox;

/// Between two attempts to reach an adapter that is not listening yet.
const RETRY: Duration = Duration::from_millis(15);

/// Both directions of a connection.
pub struct Link {
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Link {
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }

    fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (reader, writer): (OwnedReadHalf, OwnedWriteHalf) = stream.into_split();
        Ok(Self::new(QuickAck(reader), writer))
    }

    /// A connection over a socket in the file system, where an adapter can.
    pub async fn unix(path: &Path, deadline: Instant) -> io::Result<Self> {
        let stream = retried(deadline, || UnixStream::connect(path)).await?;
        let (reader, writer) = stream.into_split();
        Ok(Self::new(reader, writer))
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Link")
    }
}

/// Connects to an adapter that listens, or will within the deadline: on this machine, or on a sandbox's loopback.
pub async fn connect(
    address: SocketAddr,
    sandbox: Option<&dyn SessionSandbox>,
    deadline: Instant,
) -> io::Result<Link> {
    Link::tcp(match sandbox {
        Some(sandbox) => retried(deadline, || sandbox.connect(address)).await?,
        None => retried(deadline, || TcpStream::connect(address)).await?,
    })
}

async fn retried<T, F: Future<Output = io::Result<T>>>(
    deadline: Instant,
    mut attempt: impl FnMut() -> F,
) -> io::Result<T> {
    loop {
        let error = match timeout_at(deadline, attempt()).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => error,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        let refused = matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound);
        if !refused || Instant::now() + RETRY > deadline {
            return Err(error);
        }
        // Nothing tells when a port begins to listen, so this is asked for again.
        timeout(RETRY, std::future::pending::<()>()).await.ok();
    }
}

/// A port of this machine that an adapter is told to connect to. Nobody can use it to reach the program that is
/// debugged: what connects is asked by us and never answered.
pub async fn listen(sandbox: Option<&dyn SessionSandbox>) -> io::Result<(TcpListener, u16)> {
    if let Some(sandbox) = sandbox {
        return sandbox.listen().await;
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// The first connection to a listener, which is closed then.
pub(crate) async fn accept_one(listener: TcpListener, deadline: Instant) -> io::Result<Link> {
    let (stream, _) =
        timeout_at(deadline, listener.accept()).await.map_err(|_| io::ErrorKind::TimedOut)??;
    Link::tcp(stream)
}

/// Acknowledges what arrives at once; the kernel forgets the wish, so it is said before every read.
struct QuickAck(OwnedReadHalf);

impl AsyncRead for QuickAck {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Only Linux has it; elsewhere nothing is lost but speed.
        #[cfg(target_os = "linux")]
        self.0.as_ref().set_quickack(true).ok();
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}
