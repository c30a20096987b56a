//! Programs the person runs through us: an editor on their terminal, their keyring's own command.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{Ending, ProgramCall};
use crate::{Error, Result};

/// How long a helper program may take.
const CAPTURE_LIMIT: Duration = Duration::from_secs(10);
/// Bytes of its output that are read.
const LONGEST_TEXT: u64 = 1024 * 1024;

/// Runs a program on the person's terminal with a path as its last argument; `true` when it ended well.
/// `program` may hold arguments, as `$EDITOR` often does.
pub fn run_in_foreground(program: &str, path: &Path) -> Result<bool> {
    let mut words = program.split_whitespace();
    let name = words.next().unwrap_or("vi");
    let status = Command::new(name)
        .args(words)
        .arg(path)
        .status()
        .map_err(|error| Error::io("start", Path::new(name), error))?;
    Ok(status.success())
}

/// Starts a program of the person's desktop, such as a browser, with a path as its last argument. It is not waited for and
/// outlives this process.
pub fn start_apart(program: &Path, path: &Path) -> Result<()> {
    let mut child = Command::new(program)
        .arg(path)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| Error::io("start", program, error))?;
    // Its end is taken note of, so that the kernel need not keep it.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Runs a program with this process's own input and output. Signals from the terminal reach it as they reach this
/// process; the time limit and what is said about input and output do not count.
pub async fn run_attached(call: &ProgramCall) -> Result<Ending> {
    let failed = |source| Error::Spawn { program: call.program.to_string_lossy().into_owned(), source };
    let mut command = tokio::process::Command::new(&call.program);
    command.args(&call.arguments).current_dir(&call.folder).kill_on_drop(true);
    for name in &call.environment.removed {
        command.env_remove(name);
    }
    command.envs(call.environment.set.iter().cloned());
    let status = command.spawn().map_err(failed)?.wait().await.map_err(failed)?;
    Ok(match status.code() {
        Some(code) => Ending::Exited(code),
        None => Ending::Signalled(status.signal().unwrap_or_default()),
    })
}

/// What a program prints, or `None` when it is not there, fails, or takes too long. It runs in the root folder: files of
/// the current one (modules, `rust-toolchain.toml`, settings of version managers) must not decide what it does.
pub fn capture_text(program: &str, arguments: &[&str]) -> Option<String> {
    capture_text_in(Path::new("/"), program, arguments)
}

/// The same in a folder that may decide what the program does.
pub fn capture_text_in(folder: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let started = Instant::now();
    let mut stdout = child.stdout.take()?.take(LONGEST_TEXT);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text).is_ok();
        sender.send(read.then_some(text)).ok();
    });
    let text = receiver.recv_timeout(CAPTURE_LIMIT).ok().flatten();
    // Output that is over does not mean that the program is.
    let left = CAPTURE_LIMIT.saturating_sub(started.elapsed());
    if text.is_none() || !ended.is_ok_and(|ended| is_readable_within(&ended, left)) {
        child.kill().ok();
    }
    let status = child.wait().ok()?;
    text.filter(|_| status.success())
}

fn is_readable_within(descriptor: &OwnedFd, time: Duration) -> bool {
    let time = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
    let mut polled = [PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut polled, Some(&time)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_captured_from_programs_that_end_well() {
        assert_eq!(capture_text("echo", &["hi"]).as_deref(), Some("hi\n"));
        assert_eq!(capture_text("false", &[]), None);
        assert_eq!(capture_text("no-such-program-here", &[]), None);
        let late = capture_text("bash", &["-c", "echo hi; exec >&-; sleep 0.05"]);
        assert_eq!(late.as_deref(), Some("hi\n"), "the end is waited for, not guessed");
    }
}
