//! Adapters that run in this process: how they start programs, and the connection to them.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use async_trait::async_trait;
use stepwell_workspace::process::{EndWatch, Ending, TerminalEnd};
use tokio::io::{AsyncRead, DuplexStream, ReadBuf};
use tokio::net::unix::pipe;
use tokio::time::Instant;

use crate::Result;
use crate::dap::Link;

/// Size of the buffer between a session and its adapter, in bytes.
const UNDER_WAY: usize = 64 * 1024;

/// The command of a program that an adapter starts.
#[derive(Debug)]
pub struct ProgramCommand {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    /// `None` removes a variable.
    pub environment: Vec<(OsString, Option<OsString>)>,
    pub input: ProgramInput,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramInput {
    /// The program reads the end of the file at once.
    Nothing,
    /// The program runs on a terminal, where something can be typed.
    Typed,
}

/// The output streams of a program.
#[derive(Debug)]
pub enum Streams {
    Separate {
        stdout: pipe::Receiver,
        stderr: pipe::Receiver,
    },
    /// Both streams, on a terminal.
    Terminal(TerminalEnd),
}

/// A program that was started. The session ends it; the adapter reads its output.
#[derive(Debug)]
pub struct Started {
    pub streams: Streams,
    pub end: EndWatch,
}

/// Starts programs for an adapter in this process. Implemented by its session, which also ends them.
#[async_trait]
pub trait ProgramHost: Send + Sync + std::fmt::Debug {
    fn start(&self, wanted: ProgramCommand) -> Result<Started>;

    /// Connects to a port that the program listens on.
    async fn connect(&self, address: SocketAddr, deadline: Instant) -> io::Result<Link>;

    /// Returns how the program ended, once it has.
    async fn ending(&self) -> Option<Ending>;
}

/// The reason for which an adapter closes the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct CloseReason(Arc<OnceLock<String>>);

impl CloseReason {
    pub(crate) fn say(&self, reason: impl Into<String>) {
        self.0.set(reason.into()).ok();
    }
}

/// Returns both ends of a connection inside the process; the first is the session's.
pub(crate) fn connected() -> (Link, DuplexStream, CloseReason) {
    let (theirs, ours) = tokio::io::duplex(UNDER_WAY);
    let close_reason = CloseReason::default();
    let (reader, writer) = tokio::io::split(theirs);
    (Link::new(ReasonedReader { reader, close_reason: close_reason.clone() }, writer), ours, close_reason)
}

/// A reader that fails at the end of the stream where a reason is known.
struct ReasonedReader<R> {
    reader: R,
    close_reason: CloseReason,
}

impl<R: AsyncRead + Unpin> AsyncRead for ReasonedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        match (&polled, self.close_reason.0.get()) {
            (Poll::Ready(Ok(())), Some(reason)) if buffer.filled().len() == before => {
                Poll::Ready(Err(io::Error::other(reason.clone())))
            }
            _ => polled,
        }
    }
}
