//! A program that stands outside for one inside of an open sandbox: hands over its streams, passes signals on, and ends
//! as the other ended.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};

use super::front::{PASSED_ON, end_as};
use super::{Report, complain};
use crate::plan::HostPath;
use crate::sys;
use crate::wire::{self, Join, PassedOn};

/// Runs with the words: the sandbox's socket, the folder to run in, the program, its arguments.
pub(super) fn run(words: &[OsString]) -> u8 {
    let [socket, folder, program, arguments @ ..] = words else {
        return complain("words are missing");
    };
    let wanted = Join {
        program: HostPath(program.into()),
        arguments: arguments.iter().map(|word| HostPath(word.into())).collect(),
        folder: HostPath(folder.into()),
        environment: std::env::vars_os()
            .map(|(name, value)| (HostPath(name.into()), HostPath(value.into())))
            .collect(),
    };
    let joined = UnixStream::connect(socket).and_then(|sandbox| join(&sandbox, &wanted));
    match joined {
        Ok(Some(report)) => end_as(Some(report)),
        Ok(None) => complain("it has ended"),
        Err(error) => complain(&error.to_string()),
    }
}

fn join(sandbox: &UnixStream, wanted: &Join) -> io::Result<Option<Report>> {
    let signals = sys::signal_queue(&PASSED_ON)?;
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    wire::send(sandbox, wanted, &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
    // Held here too, the streams would not end with the program.
    let nowhere = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    loop {
        let mut polled = [PollFd::new(sandbox, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        // An interrupted wait is waited for again.
        poll(&mut polled, None).ok();
        let [reported, signalled] = polled.map(|one| !one.revents().is_empty());
        if reported {
            return Ok(wire::receive(sandbox)?.map(|(report, _)| report));
        }
        if signalled {
            while let Some(signal) = sys::next_signal(&signals) {
                wire::send(sandbox, &PassedOn { signal: signal.as_raw() }, &[])?;
            }
        }
    }
}
