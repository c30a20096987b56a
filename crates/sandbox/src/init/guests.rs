//! Programs of an open sandbox: started, signalled and reported by its first process, on request from outside.
//!
//! The first process has given up its rights already. What it starts is confined as it is itself, and shares with the
//! others the domain of Landlock in which they may debug each other.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use stepwell_workspace::process::ask_by_user_signal;

use super::{Report, Setup, at, private_pipe};
use crate::plan::HostPath;
use crate::sys;
use crate::wire::{self, Answer, Join, PassedOn, Request};

/// A loopback answers at once, unless a listener takes nobody.
const CONNECT: Duration = Duration::from_secs(5);

/// The programs that were started on request, and where the end of each is reported.
#[derive(Clone, Default)]
pub(super) struct Guests(Arc<Mutex<HashMap<Pid, UnixStream>>>);

impl Guests {
    /// Answers requests beside everything else. What is returned becomes readable when nobody asks any more.
    pub(super) fn serve(&self, control: UnixStream) -> Setup<OwnedFd> {
        let (closed, open) = private_pipe()?;
        let guests = self.clone();
        in_background(move || {
            while let Ok(Some((request, descriptors))) = wire::receive(&control) {
                if guests.answer(&control, request, descriptors).is_err() {
                    break;
                }
            }
            drop(open);
        })
        .map_err(at("answer requests"))?;
        Ok(closed)
    }

    /// Held while a program is started and while ended ones are reaped: the standard library waits for a program that
    /// cannot be executed, and must be the one that finds it.
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<Pid, UnixStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, control: &UnixStream, request: Request, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let answered = match request {
            Request::Hello => Ok((Answer::Done, Vec::new())),
            Request::Connect { address } => connect(address),
            Request::Listen => listen(),
            Request::Terminal => terminal(),
            Request::Ask { process, signal } => {
                ask_by_user_signal(process, signal.into()).map(|()| (Answer::Done, Vec::new()))
            }
            Request::Join => self.join(descriptors),
        };
        let (answer, passed) = answered.unwrap_or_else(|error| {
            (Answer::Failed { code: error.raw_os_error(), problem: error.to_string() }, Vec::new())
        });
        let passed: Vec<_> = passed.iter().map(AsFd::as_fd).collect();
        wire::send(control, &answer, &passed)
    }

    fn join(&self, descriptors: Vec<OwnedFd>) -> Answered {
        let guest = descriptors.into_iter().next().ok_or(io::ErrorKind::InvalidInput)?;
        let (guests, guest) = (self.clone(), UnixStream::from(guest));
        in_background(move || {
            if let Err(error) = guests.host(&guest) {
                Report::Failed(error.to_string()).tell(&guest);
            }
        })?;
        Ok((Answer::Done, Vec::new()))
    }

    /// Starts a program, and passes signals on to it until whoever asked for it is gone.
    fn host(&self, guest: &UnixStream) -> io::Result<()> {
        let (wanted, streams) = wire::receive::<Join>(guest)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let report_to = guest.try_clone()?;
        let program = {
            let mut running = self.lock();
            let program = start(&wanted, streams).map_err(|error| {
                io::Error::other(format!("`{}` cannot be started: {error}", wanted.program.display()))
            })?;
            running.insert(program, report_to);
            program
        };
        while let Ok(Some((PassedOn { signal }, _))) = wire::receive::<PassedOn>(guest) {
            let running = self.lock();
            if let Some(signal) = Signal::from_named_raw(signal).filter(|_| running.contains_key(&program)) {
                kill_process_group(program, signal).ok();
            }
        }
        // Looked for under the lock: once a program is reaped, its number may be another's.
        let mut running = self.lock();
        if running.remove(&program).is_some() {
            kill_process_group(program, Signal::KILL).ok();
        }
        Ok(())
    }
}

type Answered = io::Result<(Answer, Vec<OwnedFd>)>;

/// The command that starts a program as it was asked for.
pub(super) fn command_of(wanted: &Join) -> Command {
    let mut command = Command::new(&wanted.program.0);
    command
        .args(wanted.arguments.iter().map(|word| &word.0))
        .current_dir(&wanted.folder.0)
        .env_clear()
        .envs(wanted.environment.iter().map(|(name, value)| (&name.0, &value.0)))
        .process_group(0);
    command
}

fn start(wanted: &Join, streams: Vec<OwnedFd>) -> io::Result<Pid> {
    let Ok([stdin, stdout, stderr]) = <[OwnedFd; 3]>::try_from(streams) else {
        return Err(io::Error::other("its streams are missing"));
    };
    let mut command = command_of(wanted);
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    sys::spawn_with_open_signals(&mut command).map(|child| Pid::from_child(&child))
}

fn connect(address: SocketAddr) -> Answered {
    let stream = TcpStream::connect_timeout(&address, CONNECT)?;
    Ok((Answer::Done, vec![stream.into()]))
}

fn listen() -> Answered {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok((Answer::Listening { port: listener.local_addr()?.port() }, vec![listener.into()]))
}

/// Opens a terminal of the sandbox's own, which its programs find by its name.
fn terminal() -> Answered {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    let path = HostPath(std::ffi::OsStr::new(&*name.to_string_lossy()).into());
    Ok((Answer::Terminal { path }, vec![ours, theirs]))
}

fn in_background(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().spawn(work).map(drop)
}
