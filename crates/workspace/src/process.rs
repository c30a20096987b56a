//! Runs programs: always ended, with all their children, and never more output in memory than is kept.
//!
//! A program gets its own process group. At the time limit or on cancel the group gets SIGTERM, and SIGKILL
//! after a grace. When the program itself has ended, a child of its that still holds the pipes delays the
//! answer by a moment at most and is then ended too. No threads and no polling: one task waits for the pipes,
//! the process's descriptor and the clock.

mod capture;
mod companion;
mod foreground;
mod group;
pub mod keeper;
mod listening;
mod program;
mod terminal;
mod text_pieces;

use std::borrow::Cow;
use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use stepwell_protocol::OutputStream;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Error, Result};
use capture::Capture;
use group::ProcessGroup;

pub use capture::{Captured, KeepOutput};
pub use companion::{Companion, EndWatch, Pipes, SpareTerminal, TerminalEnd};
pub use foreground::{capture_text, capture_text_in, run_attached, run_in_foreground, start_apart};
pub use listening::{UserSignal, ask_by_user_signal, listening};
pub use program::find_program;
pub use terminal::{TerminalControl, run_on_terminal};
pub use text_pieces::TextPieces;

/// After SIGTERM, before SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long pipes that stay open are read after the program has ended.
const DRAIN: Duration = Duration::from_millis(100);
/// How long a killed process may take to disappear before it is left to the system.
const REAP: Duration = Duration::from_secs(2);
/// The clock does not hold `Duration::MAX`.
const LONGEST_LIMIT: Duration = Duration::from_hours(24 * 365);
const READ_BUFFER: usize = 32 * 1024;
/// Bytes read of a pipe after its program was ended; no pipe holds more unless its owner made it larger.
const MOST_LEFT_OVER: usize = 1024 * 1024;

/// A program to run.
#[derive(Clone, Debug)]
pub struct ProgramCall {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    pub environment: Environment,
    /// What it reads on standard input; `None` is an empty input.
    pub input: Option<Vec<u8>>,
    pub time_limit: Duration,
    pub keep: KeepOutput,
}

/// Changes to the inherited environment.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub removed: Vec<OsString>,
    pub set: Vec<(OsString, OsString)>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    /// It was ended at the time limit.
    TimedOut,
    Cancelled,
}

#[derive(Debug)]
pub struct Finished {
    pub ending: Ending,
    pub output: Captured,
    pub duration: Duration,
}

/// Changes a stream's text before anyone keeps or sees it, such as to hide secrets. What is held back comes with
/// a later piece or at the end.
pub trait TextFilter: Send {
    fn push(&mut self, text: &str) -> String;

    fn finish(&mut self) -> String;
}

/// A filter for each stream: their pieces arrive mixed.
pub struct OutputFilters {
    pub stdout: Box<dyn TextFilter>,
    pub stderr: Box<dyn TextFilter>,
}

/// Runs a program to its end. `on_output` gets the text of both streams as it arrives.
///
/// Dropping the future ends the program and its group at once.
pub async fn run(
    call: ProgramCall,
    cancel: &CancellationToken,
    on_output: impl FnMut(OutputStream, &str) + Send,
) -> Result<Finished> {
    run_through(call, None, None, None, cancel, on_output).await
}

/// As [`run`], with all output, kept or shown, passed through filters first.
pub async fn run_filtered(
    call: ProgramCall,
    filters: OutputFilters,
    cancel: &CancellationToken,
    on_output: impl FnMut(OutputStream, &str) + Send,
) -> Result<Finished> {
    run_through(call, None, Some(filters), None, cancel, on_output).await
}

/// As [`run_filtered`], by a program that was started before. `call.input` is what it waits for.
pub async fn run_waiting(
    waiting: Waiting,
    call: ProgramCall,
    filters: OutputFilters,
    cancel: &CancellationToken,
    on_output: impl FnMut(OutputStream, &str) + Send,
) -> Result<Finished> {
    run_through(call, Some(waiting), Some(filters), None, cancel, on_output).await
}

/// A program that was started ahead of its call and waits for its standard input. Dropping it ends it.
pub struct Waiting(ProcessGroup);

impl Waiting {
    /// Starts a program; its input, time limit and output come with the call that it is used for.
    pub fn start(call: &ProgramCall) -> Result<Self> {
        ProcessGroup::spawn(call, true, None).map(Self)
    }

    /// Whether the program has ended, so that it is of no use.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Waiting").field(&self.0.pid()).finish()
    }
}

/// What a program that runs on is given while it runs.
#[derive(Debug)]
pub struct Interaction {
    /// Bytes for its standard input; closed when the sender is dropped. A terminal's stays open.
    pub input: mpsc::Receiver<Vec<u8>>,
    /// Gives it a terminal instead of pipes; both streams are then one.
    pub terminal: bool,
}

/// As [`run_filtered`], for a program that is talked to while it runs.
pub async fn run_interactive(
    call: ProgramCall,
    filters: OutputFilters,
    interaction: Interaction,
    cancel: &CancellationToken,
    on_output: impl FnMut(OutputStream, &str) + Send,
) -> Result<Finished> {
    run_through(call, None, Some(filters), Some(interaction), cancel, on_output).await
}

async fn run_through(
    call: ProgramCall,
    waiting: Option<Waiting>,
    filters: Option<OutputFilters>,
    interaction: Option<Interaction>,
    cancel: &CancellationToken,
    mut on_output: impl FnMut(OutputStream, &str) + Send,
) -> Result<Finished> {
    let started = Instant::now();
    let mut capture = Capture::new(call.keep.clone());
    let failed = |source| Error::Spawn { program: call.program.to_string_lossy().into_owned(), source };
    let wants_terminal = interaction.as_ref().is_some_and(|interaction| interaction.terminal);
    let terminal = wants_terminal.then(terminal::open).transpose().map_err(failed)?;
    let (ours, theirs) = terminal.unzip();
    let has_input = call.input.is_some() || interaction.is_some();
    let mut group = match waiting {
        Some(waiting) => waiting.0,
        None => ProcessGroup::spawn(&call, has_input, theirs)?,
    };
    let ours = ours.map(terminal::watched).transpose().map_err(failed)?.map(Arc::new);
    let (out_filter, err_filter) = filters.map(|filters| (filters.stdout, filters.stderr)).unzip();
    let out = Source::new(group.take_stdout(), ours.clone()).map_err(failed)?;
    let err = Source::new(group.take_stderr(), None).map_err(failed)?;
    let mut stdout = Reader::new(OutputStream::Stdout, out, out_filter);
    let mut stderr = Reader::new(OutputStream::Stderr, err, err_filter);
    let mut feeding = match interaction {
        Some(interaction) => pass_on(group.take_stdin(), ours, interaction.input),
        None => feed(group.take_stdin(), call.input.clone()),
    }
    .map_err(failed)?;

    let clock = tokio::time::sleep_until(started + call.time_limit.min(LONGEST_LIMIT));
    tokio::pin!(clock);
    let mut stopped = None;
    let mut exited = false;
    let mut killed = false;
    let mut fed = false;
    while !(exited && stdout.closed && stderr.closed) {
        tokio::select! {
            biased;
            () = cancel.cancelled(), if stopped.is_none() && !exited => {
                stopped = Some(Ending::Cancelled);
                group.signal(Signal::TERM);
                clock.as_mut().reset(Instant::now() + GRACE);
            }
            () = &mut clock => {
                if killed {
                    break;
                }
                let next = if exited {
                    killed = true;
                    group.signal(Signal::KILL);
                    DRAIN / 4
                } else if stopped.is_none() {
                    stopped = Some(Ending::TimedOut);
                    group.signal(Signal::TERM);
                    GRACE
                } else {
                    killed = true;
                    group.signal(Signal::KILL);
                    REAP
                };
                clock.as_mut().reset(Instant::now() + next);
            }
            ended = group.ended(), if !exited => {
                ended.map_err(failed)?;
                exited = true;
                clock.as_mut().reset(Instant::now() + DRAIN);
            }
            () = &mut feeding, if !fed => fed = true,
            read = stdout.read(), if !stdout.closed => {
                stdout.take(read, &mut capture, &mut on_output);
            }
            read = stderr.read(), if !stderr.closed => {
                stderr.take(read, &mut capture, &mut on_output);
            }
        }
    }
    for reader in [&mut stdout, &mut stderr] {
        reader.finish(&mut capture, &mut on_output);
    }
    // The group is ended before its leader is reaped, so that its number cannot belong to anyone else by now.
    group.signal(Signal::KILL);
    let status = if exited { group.reap() } else { None };
    let ending = match (stopped, status) {
        (Some(stopped), _) => stopped,
        (None, Some(status)) => status,
        (None, None) => Ending::Signalled(Signal::KILL.as_raw()),
    };
    Ok(Finished { ending, output: capture.finish(), duration: started.elapsed() })
}

/// One of the program's streams.
struct Reader {
    stream: OutputStream,
    source: Source,
    buffer: Vec<u8>,
    text: TextPieces,
    filter: Option<Box<dyn TextFilter>>,
    closed: bool,
}

impl Reader {
    fn new(stream: OutputStream, source: Source, filter: Option<Box<dyn TextFilter>>) -> Self {
        let closed = matches!(source, Source::Nothing);
        Self { stream, source, buffer: vec![0; READ_BUFFER], text: TextPieces::default(), filter, closed }
    }

    async fn read(&mut self) -> io::Result<usize> {
        match &mut self.source {
            Source::Pipe(pipe) => pipe.read(&mut self.buffer).await,
            Source::Terminal(terminal) => terminal::read(terminal, &mut self.buffer).await,
            Source::Nothing => Ok(0),
        }
    }

    /// Passes on what was read.
    fn take(
        &mut self,
        read: io::Result<usize>,
        capture: &mut Capture,
        on_output: &mut (impl FnMut(OutputStream, &str) + Send),
    ) {
        match read {
            Ok(count) if count > 0 => {
                let text = self.text.push(&self.buffer[..count]);
                let text = match &mut self.filter {
                    Some(filter) => Cow::Owned(filter.push(&text)),
                    None => text,
                };
                hand_out(self.stream, &text, capture, on_output);
            }
            // An error on a pipe means as little as its end: nothing more will come.
            _ => self.closed = true,
        }
    }

    /// Passes on what the pipe still holds, without waiting for more, and what was held back.
    fn finish(&mut self, capture: &mut Capture, on_output: &mut (impl FnMut(OutputStream, &str) + Send)) {
        // Bounded, because a process that left the group may write on and on.
        for _ in 0..MOST_LEFT_OVER / READ_BUFFER {
            if self.closed {
                break;
            }
            let read = match &self.source {
                Source::Pipe(pipe) => rustix::io::read(pipe, &mut self.buffer[..]),
                Source::Terminal(terminal) => rustix::io::read(terminal.get_ref(), &mut self.buffer[..]),
                Source::Nothing => break,
            };
            let read = read.map_err(io::Error::from);
            self.take(read, capture, on_output);
        }
        let rest = self.text.finish();
        let rest = match &mut self.filter {
            Some(filter) => filter.push(&rest) + &filter.finish(),
            None => rest,
        };
        hand_out(self.stream, &rest, capture, on_output);
    }
}

/// Where a stream comes from.
enum Source {
    Pipe(pipe::Receiver),
    Terminal(Arc<AsyncFd<OwnedFd>>),
    Nothing,
}

impl Source {
    fn new(pipe: Option<OwnedFd>, terminal: Option<Arc<AsyncFd<OwnedFd>>>) -> io::Result<Self> {
        Ok(match (pipe, terminal) {
            (Some(pipe), _) => Self::Pipe(pipe::Receiver::from_owned_fd(pipe)?),
            (None, Some(terminal)) => Self::Terminal(terminal),
            (None, None) => Self::Nothing,
        })
    }
}

fn hand_out(
    stream: OutputStream,
    text: &str,
    capture: &mut Capture,
    on_output: &mut (impl FnMut(OutputStream, &str) + Send),
) {
    if !text.is_empty() {
        capture.add(text);
        on_output(stream, text);
    }
}

/// Writes the input beside everything else; a program that does not read it is no error.
fn feed(stdin: Option<OwnedFd>, input: Option<Vec<u8>>) -> io::Result<Feeding> {
    let (Some(stdin), Some(input)) = (stdin, input) else {
        return Ok(Box::pin(std::future::ready(())));
    };
    let mut sender = pipe::Sender::from_owned_fd(stdin)?;
    Ok(Box::pin(async move {
        sender.write_all(&input).await.ok();
    }))
}

/// Passes on input as it comes.
fn pass_on(
    stdin: Option<OwnedFd>,
    terminal: Option<Arc<AsyncFd<OwnedFd>>>,
    mut input: mpsc::Receiver<Vec<u8>>,
) -> io::Result<Feeding> {
    let mut pipe = stdin.map(pipe::Sender::from_owned_fd).transpose()?;
    Ok(Box::pin(async move {
        while let Some(bytes) = input.recv().await {
            let written = match (&mut pipe, &terminal) {
                (Some(pipe), _) => pipe.write_all(&bytes).await,
                (None, Some(terminal)) => terminal::write_all(terminal, &bytes).await,
                (None, None) => return,
            };
            if written.is_err() {
                return;
            }
        }
    }))
}

type Feeding = Pin<Box<dyn Future<Output = ()> + Send>>;

#[cfg(test)]
#[path = "process/tests.rs"]
mod tests;
