//! Where a process of this person listens, and the signal by which programs are asked for something.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::process::{Pid, Signal};

/// The TCP addresses that a process listens on. What cannot be seen, such as of somebody else's process, is left out.
pub fn listening(pid: u32) -> Vec<SocketAddr> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let links = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let own: HashSet<u64> = links
        .filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
        .collect();
    let tables = ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")));
    let lines: Vec<String> = tables.into_iter().flatten().flat_map(|text| lines_of(&text)).collect();
    lines
        .iter()
        .filter_map(|line| listener(line))
        .filter(|(inode, _)| own.contains(inode))
        .map(|(_, address)| address)
        .collect()
}

fn lines_of(table: &str) -> Vec<String> {
    table.lines().skip(1).map(str::to_owned).collect()
}

/// The socket and the address of a line of `/proc/net/tcp` that is about somebody who listens.
fn listener(line: &str) -> Option<(u64, SocketAddr)> {
    const LISTENS: &str = "0A";
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, state, inode) = (words.get(1)?, words.get(3)?, words.get(9)?);
    if *state != LISTENS {
        return None;
    }
    let (host, port) = address.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Words of the machine's own order, written as numbers.
    let parts: Option<Vec<u8>> = (0..host.len() / 8)
        .map(|at| u32::from_str_radix(host.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect::<Option<Vec<_>>>()
        .map(|words| words.concat());
    let parts = parts?;
    let host = match parts.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(parts).ok()?)),
        16 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(parts).ok()?)),
        _ => return None,
    };
    Some((inode.parse().ok()?, SocketAddr::new(host, port)))
}

/// A signal whose meaning programs choose themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserSignal {
    First,
    Second,
}

/// Sends a user signal, but only to a process that handles it: any other would be ended by it.
pub fn ask_by_user_signal(pid: u32, signal: UserSignal) -> io::Result<()> {
    let (signal, name) = match signal {
        UserSignal::First => (Signal::USR1, "SIGUSR1"),
        UserSignal::Second => (Signal::USR2, "SIGUSR2"),
    };
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    if caught & (1 << (signal.as_raw() - 1)) == 0 {
        return Err(io::Error::other(format!("it does not handle the signal {name}, which would end it")));
    }
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let number = number.ok_or_else(|| io::Error::other("it is no process"))?;
    Ok(rustix::process::kill_process(number, signal)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = listening(std::process::id());
        assert!(found.contains(&listener.local_addr().unwrap()), "{found:?}");
    }

    #[test]
    fn only_listeners_are_read() {
        let line = |state: &str| {
            format!(
                "   0: 0100007F:2406 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000        0 77 1 0"
            )
        };
        assert_eq!(listener(&line("0A")), Some((77, "127.0.0.1:9222".parse().unwrap())));
        assert_eq!(listener(&line("01")), None);
        assert_eq!(listener("nonsense"), None);
    }

    #[test]
    fn a_program_that_would_be_ended_is_not_signalled() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let refused = ask_by_user_signal(child.id(), UserSignal::First).unwrap_err();
        assert!(refused.to_string().contains("SIGUSR1"), "{refused}");
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
