//! A sandbox that stays open: programs are started in it one by one, and share its files, processes and loopback.
//!
//! Nothing listens outside. Connections are made by the first process inside, in its own network namespace, and handed
//! out as descriptors, so talking through one costs no more than talking to a program outside.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stepwell_workspace::files;
use stepwell_workspace::process::{Companion, ProgramCall, SpareTerminal, UserSignal};
use tokio::io::AsyncReadExt;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::proxy::private_folder;
use crate::wire::{self, Answer, Request};
use crate::{Error, Policy, Result, Sandbox};

/// Deadline until the sandbox is built.
const BUILD: Duration = Duration::from_secs(30);
/// Deadline of an answer from inside.
const ANSWER: Duration = Duration::from_secs(10);
/// Deadline for the end of everything inside.
const END: Duration = Duration::from_secs(3);
/// Bytes that are kept of what the launcher says.
const LONGEST_MESSAGE: u64 = 16 * 1024;

/// An open sandbox. Dropping it ends everything inside.
pub struct OpenSandbox {
    sandbox: Arc<Sandbox>,
    policy: Policy,
    folder: PathBuf,
    socket: PathBuf,
    control: Arc<Mutex<UnixStream>>,
    /// The same connection, to end it while a request waits for its answer.
    line: UnixStream,
    launcher: tokio::sync::Mutex<Option<Companion>>,
    messages: Arc<Mutex<String>>,
    joins: CancellationToken,
}

impl OpenSandbox {
    /// Builds a sandbox. Its socket lies in a new folder below `place` that only this user can enter.
    pub async fn open(sandbox: Arc<Sandbox>, policy: Policy, place: &Path) -> Result<Self> {
        let failed = |error: io::Error| Error::Open(error.to_string());
        let folder = private_folder(place)?;
        let socket = folder.join("control");
        let opened = async {
            let listener = UnixListener::bind(&socket).map_err(failed)?;
            let (launcher, pipes) = Companion::on_pipes(&sandbox.open_call(&policy, &socket)?)?;
            let messages = Arc::new(Mutex::new(String::new()));
            let collected = tokio::spawn(collect(pipes.stderr, Arc::clone(&messages)));
            let built = tokio::time::timeout(BUILD, connected(&listener, &launcher)).await;
            match built {
                Ok(Ok(control)) => Ok((listener, launcher, messages, control)),
                Ok(Err(error)) => {
                    launcher.end(END).await;
                    // The streams end with the launcher, so its last words are all there.
                    tokio::time::timeout(END, collected).await.ok();
                    let said = messages.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned();
                    Err(Error::Open(if said.is_empty() { error.to_string() } else { said }))
                }
                Err(_) => Err(Error::Open(format!("it is not built after {} seconds", BUILD.as_secs()))),
            }
        };
        let line = |control: &UnixStream| control.try_clone().map_err(failed);
        let opened = opened.await.and_then(|opened| Ok((line(&opened.3)?, opened)));
        let (line, (listener, launcher, messages, control)) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                files::remove_dir_all(&folder).ok();
                return Err(error);
            }
        };
        let control = Arc::new(Mutex::new(control));
        let joins = CancellationToken::new();
        let stopped = joins.clone();
        let joined = pass_joiners(listener, Arc::clone(&control));
        tokio::spawn(async move { stopped.run_until_cancelled(joined).await });
        let launcher = tokio::sync::Mutex::new(Some(launcher));
        Ok(Self { sandbox, policy, folder, socket, control, line, launcher, messages, joins })
    }

    /// Returns the call that runs `call` inside. It ends as the program inside ends.
    pub fn join(&self, call: ProgramCall) -> ProgramCall {
        self.sandbox.join_call(&self.policy, &self.socket, call)
    }

    /// Connects to a port of the sandbox's loopback.
    pub async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let (_, [stream]) = self.ask(Request::Connect { address }).await?;
        Ok(stream.into())
    }

    /// Listens on a port of the sandbox's loopback.
    pub async fn listen(&self) -> io::Result<(TcpListener, u16)> {
        match self.ask(Request::Listen).await? {
            (Answer::Listening { port }, [listener]) => Ok((listener.into(), port)),
            _ => Err(unexpected()),
        }
    }

    /// Opens a terminal that programs inside find by its name.
    pub async fn terminal(&self) -> io::Result<SpareTerminal> {
        match self.ask(Request::Terminal).await? {
            (Answer::Terminal { path }, [ours, theirs]) => SpareTerminal::opened(ours, theirs, path.0),
            _ => Err(unexpected()),
        }
    }

    /// Sends a user signal to a process that handles it, by the number it has inside.
    pub async fn ask_by_user_signal(&self, process: u32, signal: UserSignal) -> io::Result<()> {
        self.ask::<0>(Request::Ask { process, signal: signal.into() }).await.map(drop)
    }

    /// Returns why the sandbox ended by itself, where it said so.
    pub fn messages(&self) -> String {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned()
    }

    /// Ends everything inside, and waits for that.
    pub async fn close(&self) {
        self.hang_up();
        if let Some(launcher) = self.launcher.lock().await.take() {
            launcher.end(END).await;
        }
    }

    fn hang_up(&self) {
        self.joins.cancel();
        self.line.shutdown(std::net::Shutdown::Both).ok();
        files::remove_dir_all(&self.folder).ok();
    }

    async fn ask<const DESCRIPTORS: usize>(
        &self,
        request: Request,
    ) -> io::Result<(Answer, [OwnedFd; DESCRIPTORS])> {
        let control = Arc::clone(&self.control);
        let asked = move || exchange(&control, &request, None);
        let (answer, descriptors) = tokio::task::spawn_blocking(asked).await.map_err(io::Error::other)??;
        Ok((answer, descriptors.try_into().map_err(|_| unexpected())?))
    }
}

impl Drop for OpenSandbox {
    fn drop(&mut self) {
        self.hang_up();
    }
}

impl std::fmt::Debug for OpenSandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OpenSandbox").field("socket", &self.socket).finish_non_exhaustive()
    }
}

fn unexpected() -> io::Error {
    io::Error::other("the sandbox answered something else")
}

/// Waits for the first process, which connects once it is about to build the sandbox, and for its word that it has.
async fn connected(listener: &UnixListener, launcher: &Companion) -> io::Result<UnixStream> {
    let end = launcher.watch_end()?;
    let control = tokio::select! {
        accepted = listener.accept() => accepted?.0,
        () = end.ended() => return Err(io::Error::other("its launcher ended")),
    };
    let control = control.into_std()?;
    control.set_nonblocking(false)?;
    control.set_read_timeout(Some(BUILD))?;
    control.set_write_timeout(Some(ANSWER))?;
    let control = Arc::new(Mutex::new(control));
    let asked = Arc::clone(&control);
    let hello = tokio::task::spawn_blocking(move || exchange(&asked, &Request::Hello, None));
    hello.await.map_err(io::Error::other)??;
    let control = Arc::into_inner(control).ok_or_else(unexpected)?;
    let control = control.into_inner().unwrap_or_else(PoisonError::into_inner);
    control.set_read_timeout(Some(ANSWER))?;
    Ok(control)
}

/// Sends a request and waits for its answer.
fn exchange(
    control: &Mutex<UnixStream>,
    request: &Request,
    passed: Option<&UnixStream>,
) -> io::Result<(Answer, Vec<OwnedFd>)> {
    let control = control.lock().unwrap_or_else(PoisonError::into_inner);
    let passed: Vec<_> = passed.iter().map(AsFd::as_fd).collect();
    let answered = wire::send(&control, request, &passed).and_then(|()| wire::receive(&control));
    match answered {
        Ok(Some((Answer::Failed { code: Some(code), .. }, _))) => Err(io::Error::from_raw_os_error(code)),
        Ok(Some((Answer::Failed { problem, .. }, _))) => Err(io::Error::other(problem)),
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(io::Error::other("the sandbox has ended")),
        Err(error) => {
            // An answer that came later would be taken for that of another request.
            control.shutdown(std::net::Shutdown::Both).ok();
            Err(error)
        }
    }
}

/// Hands every joiner's connection to the first process inside.
async fn pass_joiners(listener: UnixListener, control: Arc<Mutex<UnixStream>>) {
    while let Ok((joiner, _)) = listener.accept().await {
        let Ok(joiner) = joiner.into_std() else { continue };
        // The joiner's end is blocking; ours is only passed on, and blocks inside.
        if joiner.set_nonblocking(false).is_err() {
            continue;
        }
        let control = Arc::clone(&control);
        let passed =
            tokio::task::spawn_blocking(move || exchange(&control, &Request::Join, Some(&joiner)).map(drop));
        // A joiner that was not passed on finds its connection closed, and says so.
        passed.await.ok();
    }
}

/// Keeps what the launcher says until its end.
async fn collect(stream: impl tokio::io::AsyncRead + Unpin, messages: Arc<Mutex<String>>) {
    let mut limited = stream.take(LONGEST_MESSAGE);
    let mut buffer = vec![0; 1024];
    while let Ok(read @ 1..) = limited.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..read]);
        messages.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    }
}
