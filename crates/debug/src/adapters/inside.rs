//! Adapters that live inside this process: what they may ask of their session, and how they are reached.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use async_trait::async_trait;
use stepwell_workspace::process::{EndWatch, Ending, TerminalEnd};
use tokio::io::{AsyncRead, DuplexStream, ReadBuf};
use tokio::net::unix::pipe;

use crate::Result;
use crate::dap::Link;

/// Bytes that may be under way between a session and its adapter.
const UNDER_WAY: usize = 64 * 1024;

/// A program that an adapter wants to run.
#[derive(Debug)]
pub struct Wanted {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    /// `None` takes a variable out.
    pub environment: Vec<(OsString, Option<OsString>)>,
    pub input: ProgramInput,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramInput {
    /// It reads its end at once.
    Nothing,
    /// Somebody may type something: it runs on a terminal, for programs behave otherwise on a pipe that stays open.
    Typed,
}

/// What a program prints.
#[derive(Debug)]
pub enum Streams {
    Apart {
        stdout: pipe::Receiver,
        stderr: pipe::Receiver,
    },
    /// Both in one.
    Terminal(TerminalEnd),
}

/// A program that was started. The session ends it; the adapter hears it.
#[derive(Debug)]
pub struct Started {
    pub streams: Streams,
    pub end: EndWatch,
}

/// What an adapter stands on: its session, which starts and ends processes for it.
#[async_trait]
pub trait Ground: Send + Sync + std::fmt::Debug {
    fn start(&self, wanted: Wanted) -> Result<Started>;

    /// How the program ended, once it has.
    async fn ending(&self) -> Option<Ending>;
}

/// Why an adapter gave up, for whoever reads its last bytes.
#[derive(Clone, Debug, Default)]
pub struct LastWords(Arc<OnceLock<String>>);

impl LastWords {
    pub fn say(&self, reason: impl Into<String>) {
        self.0.set(reason.into()).ok();
    }
}

/// Both ends of a connection that never leaves the process; the first is the session's.
pub fn connected() -> (Link, DuplexStream, LastWords) {
    let (theirs, ours) = tokio::io::duplex(UNDER_WAY);
    let last_words = LastWords::default();
    let (reader, writer) = tokio::io::split(theirs);
    (Link::new(Told { reader, last_words: last_words.clone() }, writer), ours, last_words)
}

/// A stream whose end is an error where a reason for it is known.
struct Told<R> {
    reader: R,
    last_words: LastWords,
}

impl<R: AsyncRead + Unpin> AsyncRead for Told<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        match (&polled, self.last_words.0.get()) {
            (Poll::Ready(Ok(())), Some(reason)) if buffer.filled().len() == before => {
                Poll::Ready(Err(io::Error::other(reason.clone())))
            }
            _ => polled,
        }
    }
}
