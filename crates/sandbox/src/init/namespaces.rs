//! New namespaces: users, processes, network, IPC, host name. Mounts follow in the first process.

use std::fs;
use std::io;

use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::{Setup, at};
use crate::sys;

/// Enters the namespaces. Process numbers begin anew with the next child.
pub(super) fn enter() -> Setup<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    sys::unshare(
        UnshareFlags::NEWUSER
            | UnshareFlags::NEWPID
            | UnshareFlags::NEWNET
            | UnshareFlags::NEWIPC
            | UnshareFlags::NEWUTS,
    )
    .map_err(at("make namespaces"))?;
    map_ids(user, group).map_err(at("map the user"))?;
    Ok(())
}

/// The user and the group keep their numbers; there are no others.
pub(super) fn map_ids(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
