//! The first process of the namespace: makes the walls, starts the command inside, and waits for it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::dup2_stdin;

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, setsid, wait,
};

use super::front::PASSED_ON;
use super::guests::{self, Guests};
use super::memory::{self, Memory};
use super::{Report, Setup, at, complain, forward, mounts, rights};
use crate::plan::{Launch, Plan};
use crate::sys;
use crate::wire::{self, Join};

/// How often memory, room on the disk and the number of processes are looked at: the kernel has no event for them.
const LOOK_MILLISECONDS: u64 = 200;

/// What connects the first process with the supervisor and, in an open sandbox, with Stepwell.
pub(crate) struct Ends {
    pub report_to: OwnedFd,
    pub life: OwnedFd,
    pub control: Option<UnixStream>,
}

/// Becomes the first process and reports how the command ended.
pub(super) fn run(plan: &Plan, program: &OsStr, arguments: &[OsString], ends: Ends) {
    let Ends { report_to, life, control } = ends;
    if plan.waits {
        // The supervisor reads the command from standard input; the command itself has an empty one.
        let empty = fs::File::open("/dev/null").and_then(|empty| Ok(dup2_stdin(empty)?));
        if let Err(error) = empty {
            return Report::Failed(format!("empty standard input: {error}")).send(report_to);
        }
    }
    let built = match plan.launch {
        Launch::Own => {
            mounts::build(plan).and_then(|()| sys::loopback_up().map_err(at("switch loopback on")))
        }
        Launch::Bubblewrap { .. } => Ok(()),
        Launch::WithoutNamespaces => {
            set_child_subreaper(Some(getpid())).map_err(at("adopt what the command leaves behind"))
        }
    };
    let report = built.and_then(|()| work(plan, program, arguments, &life, control));
    let report = report.unwrap_or_else(|failure| Report::Failed(failure.to_string()));
    if plan.launch == Launch::WithoutNamespaces {
        end_descendants();
    }
    report.send(report_to);
}

/// The same where bubblewrap made the namespaces: descriptors and plan come as words.
pub(super) fn run_inside(words: &[OsString]) -> u8 {
    let number = |word: &OsString| word.to_str().and_then(|word| word.parse().ok()).and_then(sys::inherited);
    let Some(([report_to, life, control], rest)) = words.split_first_chunk() else {
        return complain("words are missing");
    };
    let control = number(control).map(UnixStream::from);
    let (Some(report_to), Some(life)) = (number(report_to), number(life)) else {
        return complain("descriptors are missing");
    };
    match Plan::from_words(rest) {
        Ok((plan, program, arguments)) => {
            run(&plan, program, arguments, Ends { report_to, life, control });
            0
        }
        Err(error) => complain(&error.to_string()),
    }
}

fn work(
    plan: &Plan,
    program: &OsStr,
    arguments: &[OsString],
    life: &OwnedFd,
    control: Option<UnixStream>,
) -> Setup<Report> {
    // No terminal of the person's is within reach, and no process group outside can be signalled. Bubblewrap may
    // have done it already.
    setsid().ok();
    let mut watched = PASSED_ON.to_vec();
    watched.push(Signal::CHILD);
    let signals = sys::signal_queue(&watched).map_err(at("hold signals back"))?;
    let forwarders = forward::listen(plan)?;
    rights::give_up(plan)?;
    for forwarder in forwarders {
        forwarder.serve()?;
    }
    // The supervisor says when it watches.
    if !is_told_to_go(life) {
        return Ok(Report::Signalled(Signal::KILL.as_raw()));
    }
    let guests = Guests::default();
    if let Some(control) = control {
        let closed = guests.serve(control)?;
        return Ok(wait_for(&Until::Closed(closed), &guests, plan, life, &signals));
    }
    let mut command = if plan.waits {
        match receive_command(life) {
            Some(wanted) => guests::command_of(&wanted),
            None => return Ok(Report::Signalled(Signal::KILL.as_raw())),
        }
    } else {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&plan.folder.0).process_group(0);
        command
    };
    let child = match sys::spawn_with_open_signals(&mut command) {
        Ok(child) => Pid::from_child(&child),
        Err(error) => {
            let program = command.get_program().display();
            return Ok(Report::Failed(format!("`{program}` cannot be started: {error}")));
        }
    };
    Ok(wait_for(&Until::Ended(child), &guests, plan, life, &signals))
}

/// What the first process waits for.
enum Until {
    /// The end of its command.
    Ended(Pid),
    /// The end of all requests.
    Closed(OwnedFd),
}

fn is_told_to_go(life: &OwnedFd) -> bool {
    loop {
        match rustix::io::read(life, &mut [0; 1]) {
            Err(rustix::io::Errno::INTR) => {}
            read => return read == Ok(1),
        }
    }
}

/// Passes the command of a prepared sandbox on to its first process.
pub(super) fn send_command(alive: &OwnedFd, command: &Join) {
    let Ok(text) = serde_json::to_vec(command) else { return };
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let Ok(alive) = alive.try_clone() else { return };
    let mut alive = fs::File::from(alive);
    // That the first process has died shows in its report.
    alive.write_all(&length.to_le_bytes()).and_then(|()| alive.write_all(&text)).ok();
}

/// Reads the command that the supervisor passes on.
fn receive_command(life: &OwnedFd) -> Option<Join> {
    let mut life = fs::File::from(life.try_clone().ok()?);
    let mut length = [0; 4];
    life.read_exact(&mut length).ok()?;
    let length =
        usize::try_from(u32::from_le_bytes(length)).ok().filter(|length| *length <= wire::LONGEST)?;
    let mut text = vec![0; length];
    life.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn wait_for(until: &Until, guests: &Guests, plan: &Plan, life: &OwnedFd, signals: &OwnedFd) -> Report {
    // Where the kernel counts processes itself, for root of the machine too, nobody needs to.
    let counted = !rights::has_own_process_numbers() && plan.launch != Launch::WithoutNamespaces;
    let mut next_look = LOOK_MILLISECONDS;
    let mut last_look = Instant::now();
    loop {
        if let Some(report) = reap(until, guests) {
            return report;
        }
        let mut polled = vec![PollFd::new(signals, PollFlags::IN), PollFd::new(life, PollFlags::IN)];
        if let Until::Closed(closed) = until {
            polled.push(PollFd::new(closed, PollFlags::IN));
        }
        let wait = Timespec { tv_sec: 0, tv_nsec: next_look.cast_signed() * 1_000_000 };
        poll(&mut polled, Some(&wait)).ok();
        let is_ready = |at: usize| polled.get(at).is_some_and(|one| !one.revents().is_empty());
        let (signalled, orphaned, closed) = (is_ready(0), is_ready(1), is_ready(2));
        if orphaned {
            return Report::Signalled(Signal::KILL.as_raw());
        }
        if closed {
            return Report::Exited(0);
        }
        if signalled {
            while let Some(signal) = sys::next_signal(signals) {
                if signal == Signal::CHILD {
                    continue;
                }
                match (&plan.launch, until) {
                    (Launch::WithoutNamespaces, Until::Ended(child)) => {
                        rustix::process::kill_process_group(*child, signal).ok();
                    }
                    (Launch::WithoutNamespaces, Until::Closed(_)) => {
                        for guest in guests.lock().keys() {
                            rustix::process::kill_process_group(*guest, signal).ok();
                        }
                    }
                    (Launch::Own | Launch::Bubblewrap { .. }, _) => sys::signal_everyone(signal),
                }
            }
        }
        // Also after a signal: a command could send them to keep this from looking.
        if !signalled || last_look.elapsed() >= Duration::from_millis(next_look) {
            last_look = Instant::now();
            match memory::look(plan) {
                Memory::UsedUp(reason) => return Report::Stopped(reason),
                Memory::Fine(due) => next_look = due.min(LOOK_MILLISECONDS),
            }
            if let Some(reason) = used_up(plan, counted) {
                return Report::Stopped(reason);
            }
        }
    }
}

/// Takes the status of every process that has ended; the command's, if it is among them.
fn reap(until: &Until, guests: &Guests) -> Option<Report> {
    let mut running = guests.lock();
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        match until {
            Until::Ended(command) if pid == *command => return Some(report_of(status)),
            _ => {
                if let Some(guest) = running.remove(&pid) {
                    report_of(status).tell(&guest);
                }
            }
        }
    }
    None
}

fn report_of(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Signalled(signal),
        (None, None) => Report::Signalled(Signal::KILL.as_raw()),
    }
}

/// What has run out, in words.
fn used_up(plan: &Plan, counted: bool) -> Option<String> {
    for root in plan.writable.iter().chain(&plan.temporary) {
        // A temporary folder has its own name inside.
        let root = if Some(root) == plan.temporary.as_ref() { Path::new("/tmp") } else { &root.0 };
        let Ok(disk) = rustix::fs::statvfs(root) else { continue };
        let room = disk.f_bavail.saturating_mul(disk.f_frsize);
        let spare = plan.limits.spare_bytes.min(disk.f_blocks.saturating_mul(disk.f_frsize) / 50);
        if room < spare {
            return Some(format!(
                "the command was stopped because the disk of `{}` is nearly full: {} MB are left",
                root.display(),
                room >> 20
            ));
        }
    }
    if counted && fs::read_dir("/proc").is_ok_and(|all| all.count() > plan.limits.processes as usize + 64) {
        return Some(format!(
            "the command was stopped: it had more than {} processes",
            plan.limits.processes
        ));
    }
    None
}

/// Ends every process that descends from this one. Without a process namespace it is the best there is.
fn end_descendants() {
    const MOST_ROUNDS: usize = 200;
    let own = format!("/proc/self/task/{}/children", getpid().as_raw_nonzero());
    for _ in 0..MOST_ROUNDS {
        let children = fs::read_to_string(Path::new(&own)).unwrap_or_default();
        let children: Vec<Pid> =
            children.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect();
        if children.is_empty() {
            return;
        }
        for child in children {
            kill_process(child, Signal::KILL).ok();
        }
        // Children of the killed come to this process as theirs are reaped.
        wait(WaitOptions::empty()).ok();
    }
}
