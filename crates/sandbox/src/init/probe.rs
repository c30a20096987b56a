//! Trying what the kernel allows, in a process that ends afterwards.

use std::io::{self, Write};

use rustix::process::{WaitOptions, getegid, geteuid, waitpid};
use rustix::thread::{UnshareFlags, set_no_new_privs};
use serde::{Deserialize, Serialize};

use super::{Setup, at, mounts, namespaces, private_pipe, rights};
use crate::plan::{HostPath, Launch, Plan};
use crate::policy::Limits;
use crate::sys::{self, Forked};

/// What the launcher found; `Err` says why something does not work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probed {
    pub user_namespace: Result<(), String>,
    pub network_namespace: Result<(), String>,
    /// Processes, mounts and a `/proc` of their own.
    pub mounts: Result<(), String>,
    /// The version of Landlock; 0 where there is none.
    pub landlock: i32,
    pub seccomp: Result<(), String>,
    pub own_process_numbers: bool,
    pub is_root: bool,
}

/// Prints what works, as JSON.
pub(super) fn print() -> u8 {
    let probed = Probed {
        user_namespace: tried(|| {
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            sys::unshare(UnshareFlags::NEWUSER).map_err(at("make a user namespace"))?;
            namespaces::map_ids(user, group).map_err(at("map the user"))
        }),
        network_namespace: tried(|| {
            namespaces::enter()?;
            sys::loopback_up().map_err(at("switch loopback on"))
        }),
        mounts: tried(|| {
            namespaces::enter()?;
            in_child(|| mounts::build(&trial_plan()))
        }),
        landlock: sys::landlock_version(),
        seccomp: tried(|| {
            set_no_new_privs(true).map_err(at("give up new privileges"))?;
            sys::install_filter(&super::filter::program(&trial_plan())).map_err(at("install a filter"))
        }),
        own_process_numbers: rights::has_own_process_numbers(),
        is_root: geteuid().is_root(),
    };
    let text = serde_json::to_vec(&probed).unwrap_or_default();
    match io::stdout().write_all(&text) {
        Ok(()) => 0,
        Err(_) => super::SETUP_FAILED,
    }
}

/// The least plan there is.
fn trial_plan() -> Plan {
    let limits = Limits {
        processes: 64,
        memory_bytes: 1 << 30,
        file_bytes: 1 << 20,
        open_files: 64,
        temporary_bytes: 1 << 20,
        spare_bytes: 0,
    };
    Plan {
        parent: 0,
        launch: Launch::Own,
        folder: HostPath::from("/"),
        writable: Vec::new(),
        pinned: Vec::new(),
        locked: Vec::new(),
        read_only: Vec::new(),
        hidden: Vec::new(),
        revealed: Vec::new(),
        watched: Vec::new(),
        withheld: None,
        temporary: None,
        proxy: None,
        loopback: Vec::new(),
        waits: false,
        control: None,
        unix_sockets: true,
        limits,
    }
}

fn tried(step: impl FnOnce() -> Setup<()>) -> Result<(), String> {
    in_child(step).map_err(|failure| failure.to_string())
}

/// Does a step in a process of its own, so that it changes nothing here.
fn in_child(step: impl FnOnce() -> Setup<()>) -> Setup<()> {
    let (from, to) = private_pipe()?;
    match sys::fork().map_err(at("start a process"))? {
        Forked::Child => {
            let report = match step() {
                Ok(()) => super::Report::Exited(0),
                Err(failure) => super::Report::Failed(failure.to_string()),
            };
            report.send(to);
            std::process::exit(0);
        }
        Forked::Parent(child) => {
            drop(to);
            let report = super::Report::receive(from);
            waitpid(Some(child), WaitOptions::empty()).ok();
            match report {
                Some(super::Report::Exited(_)) => Ok(()),
                Some(super::Report::Failed(problem)) => Err(at("try it")(io::Error::other(problem))),
                _ => Err(at("try it")(io::Error::other("the process died"))),
            }
        }
    }
}
