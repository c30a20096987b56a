//! System calls that nobody wraps safely: the only unsafe code of the sandbox.
//!
//! All of it runs in the launcher, a program of its own with one thread, before anything of a command runs.
#![allow(unsafe_code, reason = "fork, unshare, seccomp and mount_setattr have no safe wrapper")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;

/// Marks every descriptor but the standard streams so that no program started later gets it: also those that were
/// inherited from whoever started this process. Kernels before 5.11 do not know how, and keep what they had.
pub fn keep_descriptors_private() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call changes a flag of descriptors and touches no memory.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Which of the two processes this is.
pub enum Forked {
    Child,
    Parent(Pid),
}

/// Splits the process in two. Only for a process with one thread.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: the launcher has one thread, so the child finds no lock held by a thread that is not there.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid).map(Forked::Parent).ok_or_else(|| io::Error::other("no process number")),
    }
}

/// Puts this process, or its later children, into new namespaces.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the flags used here name namespaces only; descriptors stay shared as they are.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// Whether a change of mount attributes covers what is mounted below.
#[derive(Clone, Copy)]
pub enum Below {
    Included,
    Left,
}

pub const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub const NO_PROGRAMS: u64 = libc::MOUNT_ATTR_NOEXEC;

/// Sets attributes of a mount; there from Linux 5.12 on.
pub fn set_mount_attributes(
    folder: BorrowedFd<'_>,
    path: &CStr,
    below: Below,
    attributes: u64,
) -> io::Result<()> {
    let recursive = match below {
        Below::Included => libc::AT_RECURSIVE,
        Below::Left => 0,
    };
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path ends with NUL and the struct lives through the call, with its size beside it.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_raw_fd(),
            path.as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Installs a filter of system calls for this process and all it starts. Needs "no new privileges".
pub fn install_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::other("the filter is too long"))?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which it only reads, before the call returns.
    let outcome =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const filter) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Switches on the loopback device of this network namespace.
pub fn loopback_up() -> io::Result<()> {
    // SAFETY: plain system calls on a socket of our own; the request is a zeroed struct of the right type whose
    // name is filled and whose flags are set before the kernel reads it.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(socket);
        let mut request: libc::ifreq = std::mem::zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Holds these signals back and gives a descriptor to read them from.
pub fn signal_queue(signals: &[Signal]) -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigemptyset; the descriptor is new and owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, signal.as_raw());
        }
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        let queue = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if queue < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(queue)) }
    }
}

/// Starts a program that inherits no signal held back. The caller goes on holding them back: a signal that came while it
/// did not would be lost, for it reads them from a queue.
pub fn spawn_with_open_signals(command: &mut Command) -> io::Result<Child> {
    let open = || {
        // SAFETY: the set is initialised by sigemptyset; both calls may be made between fork and exec.
        let failed = unsafe {
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) != 0
        };
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: `open` takes no lock and no memory.
    unsafe { command.pre_exec(open) }.spawn()
}

/// The next signal in a queue, if there is one.
pub fn next_signal(queue: &OwnedFd) -> Option<Signal> {
    let mut record = [0_u8; size_of::<libc::signalfd_siginfo>()];
    let count = rustix::io::read(queue, &mut record[..]).ok()?;
    let number = record.first_chunk::<4>().filter(|_| count == record.len())?;
    Signal::from_named_raw(i32::from_ne_bytes(*number))
}

/// Sends a signal to every process of this process namespace but its first.
pub fn signal_everyone(signal: Signal) {
    // SAFETY: no memory is involved.
    unsafe {
        libc::kill(-1, signal.as_raw());
    }
}

/// Ends this process by a signal, as the command it stands for was ended; returns when the signal does not end.
pub fn die_by(signal: i32) {
    // SAFETY: the handler is the default one and the set is initialised by sigemptyset.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        libc::kill(libc::getpid(), signal);
    }
}

/// Takes over a descriptor that was inherited under this number.
pub fn inherited(number: i32) -> Option<OwnedFd> {
    // SAFETY: fcntl only looks; a descriptor that is open was left for us by the program that started this one.
    unsafe {
        if number < 3 || libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) < 0 {
            return None;
        }
        Some(OwnedFd::from_raw_fd(number))
    }
}

/// The version of Landlock the kernel has; 0 where it has none.
pub fn landlock_version() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no memory.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Bytes of a page of memory.
pub fn page_bytes() -> u64 {
    // SAFETY: no memory is involved.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}
