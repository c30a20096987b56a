//! A process and its group: started, watched, signalled, reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{Ending, ProgramCall};
use crate::{Error, Result};

pub(super) struct ProcessGroup {
    child: Option<Child>,
    pid: Pid,
    /// Readable once the process has ended, before it is reaped.
    watch: AsyncFd<OwnedFd>,
}

impl ProcessGroup {
    /// Starts the program on pipes, or on a terminal.
    pub(super) fn spawn(call: &ProgramCall, has_input: bool, terminal: Option<OwnedFd>) -> Result<Self> {
        let failed = |source| Error::Spawn { program: call.program.to_string_lossy().into_owned(), source };
        let mut command = Command::new(&call.program);
        command
            .args(&call.arguments)
            .current_dir(&call.folder)
            .stdin(if has_input { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Nothing is run between fork and exec, so the standard library can use posix_spawn.
            .process_group(0);
        if let Some(terminal) = terminal {
            let (second, third) =
                (terminal.try_clone().map_err(failed)?, terminal.try_clone().map_err(failed)?);
            command.stdin(terminal).stdout(second).stderr(third);
        }
        for name in &call.environment.removed {
            command.env_remove(name);
        }
        for (name, value) in &call.environment.set {
            command.env(name, value);
        }
        let mut child = command.spawn().map_err(failed)?;
        let pid = Pid::from_child(&child);
        let watch =
            rustix::process::pidfd_open(pid, PidfdFlags::NONBLOCK).map_err(io::Error::from).and_then(watched);
        match watch {
            Ok(watch) => Ok(Self { child: Some(child), pid, watch }),
            Err(source) => {
                rustix::process::kill_process_group(pid, Signal::KILL).ok();
                child.wait().ok();
                Err(failed(source))
            }
        }
    }

    pub(super) fn take_stdin(&mut self) -> Option<OwnedFd> {
        self.child.as_mut()?.stdin.take().map(OwnedFd::from)
    }

    pub(super) fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.child.as_mut()?.stdout.take().map(OwnedFd::from)
    }

    pub(super) fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.child.as_mut()?.stderr.take().map(OwnedFd::from)
    }

    /// Waits for the end of the process, without reaping it.
    pub(super) async fn ended(&self) -> io::Result<()> {
        self.watch.readable().await.map(drop)
    }

    /// Whether the process has ended by now.
    pub(super) fn has_ended(&self) -> bool {
        let mut polled = [PollFd::new(self.watch.get_ref(), PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A descriptor that cannot be asked is taken for that of a process that is gone.
        poll(&mut polled, Some(&at_once)).map_or(true, |ready| ready > 0)
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Signals the process alone, which may have to look after the others.
    pub(super) fn signal_leader(&self, signal: Signal) {
        if self.child.is_some() {
            rustix::process::kill_process(self.pid, signal).ok();
        }
    }

    /// Signals the whole group. That nobody is left to hear it is no error.
    pub(super) fn signal(&self, signal: Signal) {
        if self.child.is_some() {
            rustix::process::kill_process_group(self.pid, signal).ok();
        }
    }

    /// Takes the status of a process that has ended.
    pub(super) fn reap(&mut self) -> Option<Ending> {
        let status = self.child.take()?.wait().ok()?;
        match (status.code(), status.signal()) {
            (Some(code), _) => Some(Ending::Exited(code)),
            (None, Some(signal)) => Some(Ending::Signalled(signal)),
            (None, None) => None,
        }
    }
}

/// The deprecation is about descriptors that others may close; this one is owned.
#[allow(deprecated, reason = "the replacement is unsafe and gains nothing for an owned descriptor")]
pub(super) fn watched(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(pidfd, Interest::READABLE)
}

impl ProcessGroup {
    /// Lets go of a process that ends by itself; it is only reaped.
    pub(super) fn release(&mut self) {
        if let Some(mut child) = self.child.take() {
            // A killed process ends at once, unless it hangs in the kernel: then nobody here waits for it.
            if !matches!(child.try_wait(), Ok(Some(_))) {
                std::thread::spawn(move || child.wait());
            }
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.release();
    }
}
