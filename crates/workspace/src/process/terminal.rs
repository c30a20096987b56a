//! A pseudo-terminal for programs that behave otherwise without one.
//!
//! It is no controlling terminal: a program that wants a password from `/dev/tty` fails at once instead of waiting.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize};
use tokio::io::unix::AsyncFd;

const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// Both ends: ours, and the program's.
pub(super) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs =
        rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    prepare(&ours, &theirs)?;
    Ok((ours, theirs))
}

/// Sets the size and modes of a terminal.
pub(super) fn prepare(ours: &OwnedFd, theirs: &OwnedFd) -> io::Result<()> {
    rustix::termios::tcsetwinsize(theirs, SIZE)?;
    // What is typed is no output of the program.
    let mut modes = rustix::termios::tcgetattr(theirs)?;
    modes.local_modes.remove(LocalModes::ECHO);
    rustix::termios::tcsetattr(theirs, OptionalActions::Now, &modes)?;
    let flags = rustix::fs::fcntl_getfl(ours)?;
    rustix::fs::fcntl_setfl(ours, flags | OFlags::NONBLOCK)?;
    Ok(())
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
