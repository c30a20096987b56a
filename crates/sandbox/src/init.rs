//! The launcher: the program itself, started once more to become the sandbox of one command.
//!
//! Four processes, each with one duty. The *front* is what the caller started: it stands for the command, hears
//! signals and ends as the command ended. The *supervisor* is out of reach of signals to the caller's process
//! group; whoever dies, it ends everything and looks at what the command left behind. The *first* process of the
//! new process namespace makes the mounts, gives up all rights and starts the *command*. When the first process
//! ends, for whatever reason, the kernel ends every process in its namespace.
//!
//! An *open* sandbox has no command of its own: its first process starts programs on request (`guests`), and a *joiner*
//! stands for each of them outside.

// The ban is there so that there is one door to files and processes; this program builds the walls around it.
#![allow(clippy::disallowed_methods, reason = "the walls are built here")]

mod filter;
mod first;
mod forward;
mod front;
mod guests;
mod joiner;
mod memory;
mod mounts;
mod namespaces;
mod probe;
mod rights;
mod supervisor;
mod watch;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;

pub(crate) use first::Ends;
pub(crate) use mounts::PROXY_SOCKET;
pub use probe::Probed;

/// The word after the program's name that makes it the launcher.
pub const LAUNCHER_WORD: &str = "sandbox-init";
pub(crate) const START: &str = "start";
pub(crate) const INSIDE: &str = "inside";
pub(crate) const JOIN: &str = "join";
pub(crate) const PROBE: &str = "probe";

/// Exit codes a shell and `env` use for the same reasons.
const SETUP_FAILED: u8 = 125;
const STOPPED: u8 = 126;

/// Runs the launcher with the words after [`LAUNCHER_WORD`]; gives its exit code.
pub fn main(words: &[OsString]) -> u8 {
    match words.split_first() {
        Some((word, [])) if word == PROBE => probe::print(),
        Some((word, rest)) if word == START => match Plan::from_words(rest) {
            Ok((plan, program, arguments)) => front::run(&plan, program, arguments),
            Err(error) => complain(&error.to_string()),
        },
        Some((word, rest)) if word == INSIDE => first::run_inside(rest),
        Some((word, rest)) if word == JOIN => joiner::run(rest),
        _ => complain("this command is for Stepwell itself"),
    }
}

/// Tells on standard error what went wrong before anything ran.
fn complain(problem: &str) -> u8 {
    say(&format!("stepwell: the sandbox could not be made, so the command was not run: {problem}\n"));
    SETUP_FAILED
}

/// Standard error belongs to the command's reader; that it is closed is no reason to stop.
fn say(text: &str) {
    io::stderr().write_all(text.as_bytes()).ok();
}

/// A step of the set-up that failed.
#[derive(Debug)]
pub struct Failure {
    step: String,
    source: io::Error,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.step, self.source)
    }
}

impl Failure {
    pub(crate) fn new(step: impl Into<String>, source: io::Error) -> Self {
        Self { step: step.into(), source }
    }
}

type Setup<T> = Result<T, Failure>;

/// Names the step an error comes from.
fn at<E: Into<io::Error>>(step: impl Into<String>) -> impl FnOnce(E) -> Failure {
    move |source| Failure { step: step.into(), source: source.into() }
}

/// How it went, told from process to process.
#[derive(Debug, Serialize, Deserialize)]
enum Report {
    Exited(i32),
    Signalled(i32),
    /// Nothing was run.
    Failed(String),
    /// The command was ended for this reason.
    Stopped(String),
}

/// A pipe whose ends no command inherits.
fn private_pipe() -> Setup<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC).map_err(at("make a pipe"))
}

impl Report {
    fn send(&self, to: OwnedFd) {
        let text = serde_json::to_vec(self).unwrap_or_default();
        // That nobody listens any more means that nobody waits for it.
        std::fs::File::from(to).write_all(&text).ok();
    }

    /// Tells whoever asked for a program how it ended.
    fn tell(&self, guest: &std::os::unix::net::UnixStream) {
        crate::wire::send(guest, self, &[]).ok();
    }

    /// Reads a report to the end of the pipe; `None` when its sender died without one.
    fn receive(from: OwnedFd) -> Option<Self> {
        const LONGEST: u64 = 64 * 1024;
        let mut text = Vec::new();
        std::fs::File::from(from).take(LONGEST).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
