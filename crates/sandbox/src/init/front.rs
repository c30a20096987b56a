//! The process the caller started and waits for.

use std::ffi::{OsStr, OsString};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getppid, kill_process, pidfd_open};

use super::{Report, Setup, at, complain, private_pipe, say, supervisor};
use crate::plan::Plan;
use crate::sys::{self, Forked};

/// Signals that are passed on instead of ending this process.
pub(super) const PASSED_ON: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];

pub(super) fn run(plan: &Plan, program: &OsStr, arguments: &[OsString]) -> u8 {
    match start(plan, program, arguments) {
        Ok(report) => end_as(report),
        Err(failure) => complain(&failure.to_string()),
    }
}

/// Ends as the command ended: by the same signal, or with the exit code that is returned.
pub(super) fn end_as(report: Option<Report>) -> u8 {
    match report {
        Some(Report::Exited(code)) => code as u8,
        Some(Report::Signalled(signal)) => {
            sys::die_by(signal);
            // A signal that does not end a process was not what ended the command.
            128_u8.saturating_add(signal as u8)
        }
        Some(Report::Failed(problem)) => complain(&problem),
        Some(Report::Stopped(reason)) => {
            say(&format!("stepwell: {reason}\n"));
            super::STOPPED
        }
        None => complain("its supervisor ended without a word"),
    }
}

fn start(plan: &Plan, program: &OsStr, arguments: &[OsString]) -> Setup<Option<Report>> {
    let parent = i32::try_from(plan.parent).ok().and_then(Pid::from_raw);
    let caller = parent.filter(|parent| getppid() == Some(*parent));
    let Some(caller) = caller else {
        return Err(at("find the caller")(std::io::Error::other("it has ended")));
    };
    let caller = pidfd_open(caller, PidfdFlags::empty()).map_err(at("watch the caller"))?;
    let signals = sys::signal_queue(&PASSED_ON).map_err(at("hold signals back"))?;
    let (report, report_to) = private_pipe()?;
    // Its other end closes with this process, however that ends.
    let (life, alive) = private_pipe()?;
    let supervisor = match sys::fork().map_err(at("start the supervisor"))? {
        Forked::Child => {
            drop((report, alive, signals, caller));
            supervisor::run(plan, program, arguments, report_to, &life);
            std::process::exit(0);
        }
        Forked::Parent(pid) => pid,
    };
    drop((report_to, life));
    loop {
        let mut polled = [
            PollFd::new(&report, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
            PollFd::new(&caller, PollFlags::IN),
        ];
        // An interrupted wait is waited for again.
        poll(&mut polled, None).ok();
        let [reported, signalled, orphaned] = polled.map(|one| !one.revents().is_empty());
        if reported {
            return Ok(Report::receive(report));
        }
        if orphaned {
            return Ok(Some(Report::Signalled(Signal::KILL.as_raw())));
        }
        if signalled {
            while let Some(signal) = sys::next_signal(&signals) {
                kill_process(supervisor, signal).ok();
            }
        }
    }
}
