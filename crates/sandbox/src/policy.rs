//! What a command may do, as the caller says it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use stepwell_workspace::Denial;

/// What one command may do. Everything is read-only but what is listed as writable; there is no network but the
/// one given here.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Folders that can be written, without what steers tools and agents in them.
    pub writable: Vec<PathBuf>,
    /// Folders that are worked in without being written, such as the workspace in a mode that may not edit.
    pub readable: Vec<PathBuf>,
    /// Further files and folders to show where the sandbox shows an empty place (below `/tmp`, `/run`, `/dev`), or hides
    /// the folder around them.
    pub read_only: Vec<PathBuf>,
    /// Files in the writable folders that stay as they are, because settings name them as programs.
    pub locked: Vec<PathBuf>,
    /// Files and folders that cannot be read. Those that do not exist are passed over.
    pub hidden: Vec<PathBuf>,
    /// What the person's rules deny reading in the folders that are worked in: hidden too.
    pub denied: Denial,
    /// The folder that is `/tmp` inside; without one it is new for each command and lies in memory.
    pub temporary: Option<PathBuf>,
    pub network: Network,
    pub unix_sockets: UnixSockets,
    pub limits: Limits,
    /// Where forbidden files that a command made are kept for the person to look at.
    pub withheld: Option<PathBuf>,
}

impl Policy {
    /// The same policy with nothing writable but temporary files.
    pub fn without_writing(mut self) -> Self {
        self.readable.append(&mut self.writable);
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing but a loopback of its own.
    None,
    /// The hosts that a [`crate::Proxy`] admits, reached through its socket.
    Proxy {
        socket: PathBuf,
        /// Ports of this machine's loopback that the proxy admits: they are found at the same ports inside.
        loopback: Vec<u16>,
    },
}

/// Sockets that are files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnixSockets {
    /// Among the sandbox's own processes: sockets of others are masked.
    Inside,
    /// Not at all, for programs that need none.
    Refused,
}

/// Bounds on what a command uses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads at a time.
    pub processes: u32,
    /// Bytes of memory, of all processes together.
    pub memory_bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    pub open_files: u64,
    /// Bytes below a `/tmp` in memory.
    pub temporary_bytes: u64,
    /// A command is stopped when a disk it writes to has less room than this left.
    pub spare_bytes: u64,
}

impl Limits {
    /// Enough for a build on this machine, and an end to a fork bomb.
    pub fn for_this_machine() -> Self {
        let processors = std::thread::available_parallelism().map_or(4, std::num::NonZero::get) as u32;
        Self {
            processes: 1024 + 64 * processors,
            memory_bytes: memory_bytes() / 4 * 3,
            file_bytes: 16 << 30,
            open_files: 16 * 1024,
            temporary_bytes: (memory_bytes() / 4).clamp(256 << 20, 4 << 30),
            spare_bytes: 512 << 20,
        }
    }
}

/// The memory of the machine; a modest guess where it cannot be read.
fn memory_bytes() -> u64 {
    let text = stepwell_workspace::files::read_to_string("/proc/meminfo".as_ref()).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let machine = kilobytes.unwrap_or(2 << 20) << 10;
    // In a container there may be less than the machine has.
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.into_iter().filter_map(|path| {
        let text = stepwell_workspace::files::read_to_string(path.as_ref()).ok()?;
        text.trim().parse::<u64>().ok()
    });
    limits.fold(machine, u64::min)
}
