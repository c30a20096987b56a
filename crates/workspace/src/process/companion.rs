//! A program that is talked to for as long as it lives, such as a debug adapter.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{PidfdFlags, Signal};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::group::ProcessGroup;
use super::{Ending, ProgramCall, terminal};
use crate::{Error, Result};

/// The program's streams.
#[derive(Debug)]
pub struct Pipes {
    pub stdin: pipe::Sender,
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
}

/// Our end of a program's terminal; both of its streams are one.
#[derive(Clone, Debug)]
pub struct TerminalEnd(Arc<AsyncFd<OwnedFd>>);

impl TerminalEnd {
    /// Reads when there is something; the program's end reads as zero bytes or as an error.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        terminal::read(&self.0, buffer).await
    }

    pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        terminal::write_all(&self.0, bytes).await
    }
}

/// A terminal that a program is yet to be put on, by its name. It stays open until it is dropped.
#[derive(Debug)]
pub struct SpareTerminal {
    pub end: TerminalEnd,
    pub path: PathBuf,
    _theirs: OwnedFd,
}

impl SpareTerminal {
    pub fn open() -> io::Result<Self> {
        let (ours, theirs) = terminal::open()?;
        let name = rustix::termios::ttyname(&theirs, Vec::new())?;
        let path = PathBuf::from(OsString::from_vec(name.into_bytes()));
        let end = TerminalEnd(Arc::new(terminal::watched(ours)?));
        Ok(Self { end, path, _theirs: theirs })
    }

    /// Takes over a terminal that was opened elsewhere, such as in a sandbox, where it has this name.
    pub fn opened(ours: OwnedFd, theirs: OwnedFd, path: PathBuf) -> io::Result<Self> {
        terminal::prepare(&ours, &theirs)?;
        let end = TerminalEnd(Arc::new(terminal::watched(ours)?));
        Ok(Self { end, path, _theirs: theirs })
    }
}

/// The program itself. Dropping it ends it and its group at once; a keeper is told to, and does it.
pub struct Companion {
    group: ProcessGroup,
    is_keeper: bool,
}

impl Companion {
    /// Starts a program on pipes. The call's time limit and what it says about input and output do not count.
    pub fn on_pipes(call: &ProgramCall) -> Result<(Self, Pipes)> {
        let failed = |source| Error::Spawn { program: call.program.to_string_lossy().into_owned(), source };
        let missing = || failed(io::Error::other("a pipe is missing"));
        let mut group = ProcessGroup::spawn(call, true, None)?;
        let pipes = Pipes {
            stdin: pipe::Sender::from_owned_fd(group.take_stdin().ok_or_else(missing)?).map_err(failed)?,
            stdout: pipe::Receiver::from_owned_fd(group.take_stdout().ok_or_else(missing)?)
                .map_err(failed)?,
            stderr: pipe::Receiver::from_owned_fd(group.take_stderr().ok_or_else(missing)?)
                .map_err(failed)?,
        };
        Ok((Self { group, is_keeper: is_keeper(call) }, pipes))
    }

    /// Starts a program on a terminal.
    pub fn on_terminal(call: &ProgramCall) -> Result<(Self, TerminalEnd)> {
        let failed = |source| Error::Spawn { program: call.program.to_string_lossy().into_owned(), source };
        let (ours, theirs) = terminal::open().map_err(failed)?;
        let group = ProcessGroup::spawn(call, false, Some(theirs))?;
        let ours = terminal::watched(ours).map_err(failed)?;
        Ok((Self { group, is_keeper: is_keeper(call) }, TerminalEnd(Arc::new(ours))))
    }

    pub fn pid(&self) -> u32 {
        self.group.pid().as_raw_nonzero().get().cast_unsigned()
    }

    /// Watches for the program's end beside whoever owns it.
    pub fn watch_end(&self) -> io::Result<EndWatch> {
        let pidfd = rustix::process::pidfd_open(self.group.pid(), PidfdFlags::NONBLOCK)?;
        Ok(EndWatch(super::group::watched(pidfd)?))
    }

    /// Asks it to end, and ends it with its group after the grace. How it ended, where that is known.
    pub async fn end(mut self, grace: Duration) -> Option<Ending> {
        self.group.signal_leader(Signal::TERM);
        let ended = timeout(grace, self.group.ended()).await.is_ok();
        self.group.signal(Signal::KILL);
        if ended || timeout(super::REAP, self.group.ended()).await.is_ok() { self.group.reap() } else { None }
    }
}

fn is_keeper(call: &ProgramCall) -> bool {
    call.arguments.first().is_some_and(|first| first == super::keeper::KEEPER_WORD)
}

impl Drop for Companion {
    fn drop(&mut self) {
        if self.is_keeper {
            self.group.signal_leader(Signal::TERM);
            self.group.release();
        }
    }
}

/// Tells when a program has ended, without taking its status.
#[derive(Debug)]
pub struct EndWatch(AsyncFd<OwnedFd>);

impl EndWatch {
    pub async fn ended(&self) {
        self.0.readable().await.ok();
    }
}

impl std::fmt::Debug for Companion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Companion").field("pid", &self.pid()).finish()
    }
}
