//! Stands between this program and one it started, so that nothing the other started outlives either.
//!
//! It is this program started once more under a hidden word. Descendants that leave the process group or lose their
//! parent become its children; when the kept program ends, when it is told to end, or when this program dies,
//! however that happens, it ends them all.

use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use tokio::signal::unix::{SignalKind, signal};

use super::ProgramCall;
use super::group::watched;

/// The hidden word of the command line.
pub const KEEPER_WORD: &str = "keep-process";

/// How long ending everything may take; what hangs in the kernel is left to it.
const MOST_ENDING: Duration = Duration::from_secs(3);

/// The same call, with the keeper in front of it.
pub fn kept(keeper: &Path, mut call: ProgramCall) -> ProgramCall {
    let mut arguments =
        vec![OsString::from(KEEPER_WORD), std::process::id().to_string().into(), call.program];
    arguments.append(&mut call.arguments);
    ProgramCall { program: keeper.into(), arguments, ..call }
}

/// The keeper's main function: the words after [`KEEPER_WORD`]. Gives its exit code.
pub fn main(words: &[OsString]) -> u8 {
    let [parent, program, arguments @ ..] = words else {
        return report("it is started by Stepwell alone");
    };
    let Some(parent) = parent.to_str().and_then(|parent| parent.parse().ok()).and_then(Pid::from_raw) else {
        return report("the first word must be the number of a process");
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&error.to_string()),
    };
    match runtime.block_on(keep(parent, program, arguments)) {
        Ok(code) => code,
        Err(error) => report(&format!("`{}` cannot be started: {error}", program.to_string_lossy())),
    }
}

fn report(what: &str) -> u8 {
    use std::io::Write;
    writeln!(io::stderr(), "error: {what}").ok();
    127
}

async fn keep(parent: Pid, program: &OsString, arguments: &[OsString]) -> io::Result<u8> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let parent_gone = watched(rustix::process::pidfd_open(parent, PidfdFlags::NONBLOCK)?)?;
    // Whoever started this may be gone already, and its number somebody else's.
    if rustix::process::getppid() != Some(parent) {
        return Ok(0);
    }
    let mut told = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut child = Command::new(program).args(arguments).spawn()?;
    let child_pid = Pid::from_child(&child);
    let child_gone = watched(rustix::process::pidfd_open(child_pid, PidfdFlags::NONBLOCK)?)?;
    tokio::select! {
        biased;
        _ = child_gone.readable() => {}
        _ = parent_gone.readable() => {}
        () = heard(told.recv()) => {}
        () = heard(interrupted.recv()) => {}
    }
    let status = child.try_wait()?;
    end_descendants();
    Ok(status.map_or(0, exit_code))
}

async fn heard(signal: impl Future<Output = Option<()>>) {
    signal.await;
}

fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(1),
        (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(1),
        (None, None) => 1,
    }
}

/// Ends every process below this one. A process that is ended may have started another meanwhile, so until there is
/// none left; orphans become children of this process and are found again.
fn end_descendants() {
    let started = Instant::now();
    loop {
        let found = descendants(rustix::process::getpid());
        for pid in &found {
            rustix::process::kill_process(*pid, Signal::KILL).ok();
        }
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_no_children) => return,
            }
        }
        if started.elapsed() > MOST_ENDING {
            return;
        }
        // A killed child becomes reapable within moments; waiting for one event covers all that matter.
        if let Some(first) = found.first()
            && let Ok(watch) = rustix::process::pidfd_open(*first, PidfdFlags::empty())
        {
            let brief = rustix::event::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            let mut polled = [rustix::event::PollFd::new(&watch, rustix::event::PollFlags::IN)];
            rustix::event::poll(&mut polled, Some(&brief)).ok();
        }
    }
}

/// All processes below one, by what `/proc` says of parents.
pub fn descendants(ancestor: Pid) -> Vec<Pid> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok())
            && let Ok(stat) = std::fs::read_to_string(entry.path().join("stat"))
            && let Some(parent) = parent_in(&stat)
        {
            parents.push((pid, parent));
        }
    }
    let mut found = vec![ancestor.as_raw_nonzero().get()];
    let mut at = 0;
    while at < found.len() {
        let of = found[at];
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        at += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// The parent in a line of `/proc/PID/stat`; the name in parentheses may hold anything.
fn parent_in(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (a) b) c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in("12 (x"), None);
    }

    #[test]
    fn children_of_this_process_are_among_its_descendants() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let found = descendants(rustix::process::getpid());
        assert!(found.contains(&Pid::from_child(&child)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
