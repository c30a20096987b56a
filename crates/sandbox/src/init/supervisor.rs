//! The process that outlives everyone else: ends all, then looks at what was left behind.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::io::fcntl_dupfd_cloexec;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, setsid, waitpid};

use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::first::Ends;
use super::front::PASSED_ON;
use super::watch::Watch;
use super::{Report, Setup, at, first, namespaces, private_pipe, say};
use crate::bubblewrap;
use crate::plan::{Launch, Plan};
use crate::sys::{self, Forked};
use crate::wire::Order;

/// After SIGTERM; shorter than the caller's own patience, so that there is time to look at what is left.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the command to its end and reports.
pub(super) fn run(plan: &Plan, program: &OsStr, arguments: &[OsString], report_to: OwnedFd, front: &OwnedFd) {
    let (report, watch) = match supervise(plan, program, arguments, front) {
        Ok((report, watch)) => (report, Some(watch)),
        Err(failure) => (Report::Failed(failure.to_string()), None),
    };
    // The caller waits for the end of the command's output, which must not wait for this process.
    if let Ok(nowhere) = nowhere() {
        dup2_stderr(nowhere).ok();
    }
    report.send(report_to);
    // Taking a watch down takes the kernel many milliseconds; nobody waits for it any more.
    drop(watch);
}

fn nowhere() -> std::io::Result<std::fs::File> {
    std::fs::File::options().read(true).write(true).open("/dev/null")
}

fn supervise(
    plan: &Plan,
    program: &OsStr,
    arguments: &[OsString],
    front: &OwnedFd,
) -> Setup<(Report, Watch)> {
    setsid().map_err(at("leave the caller's session"))?;
    let signals = sys::signal_queue(&PASSED_ON).map_err(at("hold signals back"))?;
    let (result, result_to) = private_pipe()?;
    // The first process waits for a word on this pipe, and ends when it closes.
    let (life, alive) = private_pipe()?;
    // Connected here, where the socket's folder is still to be seen.
    let control = plan.control.as_ref().map(|socket| UnixStream::connect(&socket.0));
    let control = control.transpose().map_err(at("reach Stepwell"))?;
    let ends = Ends { report_to: result_to, life, control };
    let first = match &plan.launch {
        Launch::Bubblewrap { program: bubblewrap } => {
            let pid = bubblewrap::start(bubblewrap, plan, program, arguments, &ends)?;
            drop(ends);
            pid
        }
        Launch::Own | Launch::WithoutNamespaces => {
            if plan.launch == Launch::Own {
                namespaces::enter()?;
            }
            match sys::fork().map_err(at("start the first process"))? {
                Forked::Child => {
                    drop((result, alive, signals));
                    first::run(plan, program, arguments, ends);
                    std::process::exit(0);
                }
                Forked::Parent(pid) => {
                    drop(ends);
                    pid
                }
            }
        }
    };
    let orders = plan.waits.then(|| fcntl_dupfd_cloexec(std::io::stdin(), 3)).transpose();
    let orders = orders.map_err(at("keep standard input"))?;
    let nowhere = nowhere().map_err(at("leave input and output to the command"))?;
    dup2_stdin(&nowhere).and_then(|()| dup2_stdout(&nowhere)).map_err(at("leave input and output"))?;
    let order = match orders.map(|orders| wait_for_order(orders, &result, front, &signals)) {
        Some(Some(order)) => Some(order),
        // Nobody needs it any more, or it could not be built.
        Some(None) => {
            end(first);
            let report = Report::receive(result).unwrap_or(Report::Signalled(Signal::KILL.as_raw()));
            return Ok((report, Watch::start(&[], None)?));
        }
        None => None,
    };
    let watched = order.as_ref().map_or(&plan.watched, |order| &order.watched);
    let mut watch = match Watch::start(watched, plan.withheld.as_ref()) {
        Ok(watch) => watch,
        Err(failure) => {
            end(first);
            return Err(failure);
        }
    };
    // That the first process has died already shows in its report.
    rustix::io::write(&alive, b"g").ok();
    if let Some(order) = order {
        first::send_command(&alive, &order.command);
    }
    wait_for_end(first, &result, front, &signals, &mut watch);
    end(first);
    let report = Report::receive(result).unwrap_or_else(|| Report::Signalled(Signal::KILL.as_raw()));
    Ok((after(report, watch.sweep()), watch))
}

/// Waits for the command of a prepared sandbox; `None` when none will come, or when none could be run any more.
fn wait_for_order(orders: OwnedFd, result: &OwnedFd, front: &OwnedFd, signals: &OwnedFd) -> Option<Order> {
    loop {
        let mut polled = [&orders, result, front, signals].map(|one| PollFd::new(one, PollFlags::IN));
        // An interrupted wait is waited for again.
        poll(&mut polled, None).ok();
        let [ordered, ended, orphaned, signalled] = polled.map(|one| !one.revents().is_empty());
        if ended || orphaned || signalled {
            return None;
        }
        if ordered {
            let mut text = Vec::new();
            let most = crate::wire::LONGEST as u64;
            std::fs::File::from(orders).take(most).read_to_end(&mut text).ok()?;
            return serde_json::from_slice(&text).ok();
        }
    }
}

/// Waits until there is a result, or a reason not to wait for it.
fn wait_for_end(first: Pid, result: &OwnedFd, front: &OwnedFd, signals: &OwnedFd, watch: &mut Watch) {
    let mut deadline: Option<Instant> = None;
    loop {
        let mut polled = vec![
            PollFd::new(result, PollFlags::IN),
            PollFd::new(front, PollFlags::IN),
            PollFd::new(signals, PollFlags::IN),
        ];
        polled.extend(watch.descriptor().map(|queue| PollFd::new(queue, PollFlags::IN)));
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        });
        poll(&mut polled, left.as_ref()).ok();
        let ready: Vec<bool> = polled.iter().map(|one| !one.revents().is_empty()).collect();
        drop(polled);
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if ready[0] || ready[1] || is_late {
            return;
        }
        if ready[2] {
            while let Some(signal) = sys::next_signal(signals) {
                kill_process(first, signal).ok();
                if signal == Signal::TERM {
                    deadline.get_or_insert(Instant::now() + GRACE);
                }
            }
        }
        if ready.get(3) == Some(&true) && watch.has_found() {
            return;
        }
    }
}

/// Ends the first process, and with it the whole namespace.
fn end(first: Pid) {
    kill_process(first, Signal::KILL).ok();
    waitpid(Some(first), WaitOptions::empty()).ok();
}

/// What is told when a command made what it may not make.
fn after(report: Report, withheld: Vec<String>) -> Report {
    if withheld.is_empty() || matches!(report, Report::Failed(_)) {
        return report;
    }
    if let Report::Stopped(reason) = report {
        say(&format!("stepwell: {reason}\n"));
    }
    Report::Stopped(format!(
        "the command was refused: files that steer tools, editors or agents cannot be made by a command\n{}\n\
         stepwell: if it is wanted, make it with the file tools, which ask the person",
        withheld.join("\n")
    ))
}
