//! The same walls with bubblewrap, where it may make namespaces and Stepwell may not.

// Part of the launcher, as everything in `init`.
#![allow(clippy::disallowed_methods, reason = "the walls are built here")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::process::Command;

use rustix::process::Pid;

use crate::init::{Ends, Failure, INSIDE, LAUNCHER_WORD};
use crate::plan::Plan;

/// Starts bubblewrap, with the launcher as the first process inside.
pub(crate) fn start(
    bubblewrap: &Path,
    plan: &Plan,
    program: &OsStr,
    arguments: &[OsString],
    ends: &Ends,
) -> Result<Pid, Failure> {
    let failed = |source: io::Error| Failure::new("start bubblewrap", source);
    let launcher = std::env::current_exe().map_err(failed)?;
    // Copies that the program inherits.
    let copy = |end: BorrowedFd<'_>| rustix::io::dup(end).map_err(|error| failed(error.into()));
    let (report_to, life) = (copy(ends.report_to.as_fd())?, copy(ends.life.as_fd())?);
    let control = ends.control.as_ref().map(|control| copy(control.as_fd())).transpose()?;
    // No descriptor has this number where there is nothing to answer.
    let control_number = control.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let words = plan.to_words(program, arguments).map_err(|error| failed(io::Error::other(error)))?;
    let mut command = Command::new(bubblewrap);
    command
        .args(options(plan, &launcher))
        .arg("--")
        .arg(launcher)
        .args([LAUNCHER_WORD, INSIDE])
        .args([report_to.as_raw_fd(), life.as_raw_fd(), control_number].map(|number| number.to_string()))
        .args(words);
    let child = crate::sys::spawn_with_open_signals(&mut command).map_err(failed)?;
    Ok(Pid::from_child(&child))
}

/// Bubblewrap's options, in the order in which it mounts.
fn options(plan: &Plan, launcher: &Path) -> Vec<OsString> {
    let mut options: Vec<OsString> = [
        "--unshare-user-try",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
    ]
    .map(Into::into)
    .to_vec();
    let mut add = |words: &[&OsStr]| options.extend(words.iter().map(OsString::from));
    // Their rights and owner are those of the machine's devices.
    for device in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"] {
        add(&["--remount-ro", device].map(OsStr::new));
    }
    let size = plan.limits.temporary_bytes.to_string();
    match &plan.temporary {
        Some(folder) => add(&[OsStr::new("--bind"), folder.as_os_str(), OsStr::new("/tmp")]),
        None => add(&["--size", &size, "--perms", "1777", "--tmpfs", "/tmp"].map(OsStr::new)),
    }
    for emptied in ["/run", "/var/run", "/var/tmp"] {
        if Path::new(emptied).symlink_metadata().is_ok_and(|found| found.is_dir()) {
            add(&["--size", &size, "--perms", "1777", "--tmpfs", emptied].map(OsStr::new));
        }
    }
    // A folder comes before what lies in it.
    let writable = plan.writable.iter().chain(&plan.pinned).map(|path| ("--bind", &path.0));
    let locked = plan.locked.iter().chain(&plan.read_only).map(|path| ("--ro-bind", &path.0));
    let mut places: Vec<(&str, &std::path::PathBuf)> = writable.chain(locked).collect();
    places.sort_by_key(|(_, path)| path.components().count());
    for (option, path) in places {
        add(&[OsStr::new(option), path.as_os_str(), path.as_os_str()]);
    }
    add(&[OsStr::new("--ro-bind"), launcher.as_os_str(), launcher.as_os_str()]);
    for path in &plan.hidden {
        if path.is_dir() {
            let revealed: Vec<_> = plan.revealed.iter().filter(|inner| inner.starts_with(&path.0)).collect();
            let rights = if revealed.is_empty() { "000" } else { "111" };
            add(&[OsStr::new("--perms"), OsStr::new(rights), OsStr::new("--tmpfs"), path.as_os_str()]);
            for inner in revealed {
                add(&[OsStr::new("--ro-bind"), inner.as_os_str(), inner.as_os_str()]);
            }
            add(&[OsStr::new("--remount-ro"), path.as_os_str()]);
        } else {
            add(&[OsStr::new("--ro-bind"), OsStr::new("/dev/null"), path.as_os_str()]);
        }
    }
    if let Some(socket) = &plan.proxy {
        add(&[OsStr::new("--bind"), socket.as_os_str(), OsStr::new(crate::init::PROXY_SOCKET)]);
    }
    options
}
