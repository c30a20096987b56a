//! Programs the person runs through us: an editor on their terminal, their keyring's own command.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::{Error, Result};

/// How long a helper program may take.
const CAPTURE_LIMIT: Duration = Duration::from_secs(10);

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

/// What a program prints, or `None` when it is not there, fails, or takes too long.
pub fn capture_text(program: &str, arguments: &[&str]) -> Option<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text).is_ok();
        sender.send(read.then_some(text)).ok();
    });
    let text = receiver.recv_timeout(CAPTURE_LIMIT).ok().flatten();
    if text.is_none() {
        child.kill().ok();
    }
    let status = child.wait().ok()?;
    text.filter(|_| status.success())
}
