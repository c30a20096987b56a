//! A pseudo-terminal for programs that behave otherwise without one.
//!
//! It is no controlling terminal: a program that wants a password from `/dev/tty` fails at once instead of waiting.
//! [`run_on_terminal`] is for a shell that a person types into; `setsid --ctty` makes the terminal its own.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize};
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

use super::group::ProcessGroup;
use super::{Ending, GRACE, ProgramCall, READ_BUFFER};
use crate::{Error, Result};

const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// What a person does to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalControl {
    Typed(Vec<u8>),
    Resized { columns: u16, rows: u16 },
}

/// Runs a program on a terminal of its own until it ends or `control` is closed. A reader of `output` that does not
/// read stops the program from printing.
pub async fn run_on_terminal(
    call: &ProgramCall,
    (columns, rows): (u16, u16),
    mut control: mpsc::Receiver<TerminalControl>,
    output: mpsc::Sender<Vec<u8>>,
) -> Result<Ending> {
    let failed = |source| Error::Spawn { program: call.program.to_string_lossy().into_owned(), source };
    let (ours, theirs) = open_pair().map_err(failed)?;
    resize(&ours, columns, rows).map_err(failed)?;
    set_nonblocking(&ours).map_err(failed)?;
    let mut group = ProcessGroup::spawn(call, false, Some(theirs))?;
    let ours = watched(ours).map_err(failed)?;
    let mut buffer = vec![0; READ_BUFFER];
    let ended = loop {
        tokio::select! {
            action = control.recv() => match action {
                None => break false,
                Some(TerminalControl::Resized { columns, rows }) => {
                    // A window that cannot be told its size keeps the old one.
                    resize(ours.get_ref(), columns, rows).ok();
                }
                Some(TerminalControl::Typed(bytes)) => {
                    // A program that does not read must not keep the person from closing the terminal.
                    tokio::time::timeout(GRACE, write_all(&ours, &bytes)).await.ok();
                }
            },
            read = read(&ours, &mut buffer) => match read {
                Ok(count) if count > 0 => {
                    if output.send(buffer[..count].to_vec()).await.is_err() {
                        break false;
                    }
                }
                // The last program that had the terminal open is gone.
                _ => break true,
            },
        }
    };
    if !ended {
        group.signal(Signal::HUP);
    }
    drop(ours);
    let exited = tokio::time::timeout(GRACE, group.ended()).await.is_ok_and(|ended| ended.is_ok());
    group.signal(Signal::KILL);
    Ok(match (ended, exited.then(|| group.reap()).flatten()) {
        (_, Some(ending)) => ending,
        (false, None) => Ending::Cancelled,
        (true, None) => Ending::Signalled(Signal::KILL.as_raw()),
    })
}

fn resize(terminal: &OwnedFd, columns: u16, rows: u16) -> io::Result<()> {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(rustix::termios::tcsetwinsize(terminal, size)?)
}

/// Both ends: ours, and the program's.
pub(super) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = open_pair()?;
    prepare(&ours, &theirs)?;
    Ok((ours, theirs))
}

fn open_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs =
        rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((ours, theirs))
}

/// Sets the size and modes of a terminal.
pub(super) fn prepare(ours: &OwnedFd, theirs: &OwnedFd) -> io::Result<()> {
    rustix::termios::tcsetwinsize(theirs, SIZE)?;
    // What is typed is no output of the program.
    let mut modes = rustix::termios::tcgetattr(theirs)?;
    modes.local_modes.remove(LocalModes::ECHO);
    rustix::termios::tcsetattr(theirs, OptionalActions::Now, &modes)?;
    set_nonblocking(ours)
}

fn set_nonblocking(terminal: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(terminal)?;
    Ok(rustix::fs::fcntl_setfl(terminal, flags | OFlags::NONBLOCK)?)
}

/// The deprecation is about descriptors that others may close; this one is owned.
#[allow(deprecated, reason = "the replacement is unsafe and gains nothing for an owned descriptor")]
pub(super) fn watched(terminal: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(terminal)
}

/// Reads when there is something; the end of the program reads as the end of the file.
pub(super) async fn read(terminal: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = terminal.readable().await?;
        match ready.try_io(|terminal| Ok(rustix::io::read(terminal.get_ref(), &mut *buffer)?)) {
            Ok(read) => return read,
            Err(_would_block) => {}
        }
    }
}

pub(super) async fn write_all(terminal: &AsyncFd<OwnedFd>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut ready = terminal.writable().await?;
        match ready.try_io(|terminal| Ok(rustix::io::write(terminal.get_ref(), bytes)?)) {
            Ok(written) => bytes = &bytes[written?..],
            Err(_would_block) => {}
        }
    }
    Ok(())
}
