//! The filter of system calls: what no build, test or debugger needs, and what would open the walls again.
//!
//! It is written as instructions for the kernel's classic packet filter. Everything is allowed but the list:
//! the walls are namespaces and Landlock, and this keeps them from being opened from inside.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, sock_filter,
};

use crate::plan::{Launch, Plan};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
/// From here on the numbers of x86-64 name the same calls a second time.
const SECOND_NUMBERS: u32 = 0x4000_0000;
/// Where the kernel shows the number, the architecture and the arguments.
const NUMBER: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS: u32 = 16;

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;
/// `open_tree_attr`, which the C library does not name yet.
const OPEN_TREE_ATTR: i64 = 467;
/// Terminal input in the name of the person; the second also reaches other consoles.
const TERMINAL_INPUT: [u32; 2] = [0x5412, 0x541c];

/// Calls that are refused with "not permitted".
const REFUSED: &[i64] = &[
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Keys, programs in the kernel, performance counters of the machine.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Files by handle, past every folder's rights.
    libc::SYS_open_by_handle_at,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that programs do without when the kernel seems not to have them.
const UNKNOWN: &[i64] = &[
    // Its arguments lie in memory, where a filter cannot see them; the C library falls back to `clone`.
    libc::SYS_clone3,
    // It would make calls that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The filter for a plan.
pub(super) fn program(plan: &Plan) -> Vec<sock_filter> {
    let mut program = vec![
        load(ARCHITECTURE_AT),
        jump(BPF_JEQ, ARCHITECTURE, 1, 0),
        give(SECCOMP_RET_KILL_PROCESS),
        load(NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(BPF_JGE, SECOND_NUMBERS, 0, 1), error(libc::ENOSYS)]);
    }
    for (numbers, errno) in [(REFUSED, libc::EPERM), (UNKNOWN, libc::ENOSYS)] {
        for number in numbers {
            program.extend([jump(BPF_JEQ, *number as u32, 0, 1), error(errno)]);
        }
    }
    // clone: no new namespaces.
    program.extend(when(libc::SYS_clone, 0, &[jump(BPF_JSET, NEW_NAMESPACES, 0, 1), error(libc::EPERM)]));
    let [one, other] = TERMINAL_INPUT;
    program.extend(when(
        libc::SYS_ioctl,
        1,
        &[jump(BPF_JEQ, one, 1, 0), jump(BPF_JEQ, other, 0, 1), error(libc::EPERM)],
    ));
    program.extend(when(libc::SYS_socket, 0, &only(&families(plan))));
    // The two ends stay in the family of processes that made them.
    program.extend(when(libc::SYS_socketpair, 0, &only(&[libc::AF_UNIX])));
    program.push(give(SECCOMP_RET_ALLOW));
    program
}

/// The kinds of sockets there are inside. All others reach past the network namespace, or parts of the kernel
/// that few have looked at.
fn families(plan: &Plan) -> Vec<i32> {
    let mut families = vec![libc::AF_NETLINK];
    if plan.launch != Launch::WithoutNamespaces {
        families.extend([libc::AF_INET, libc::AF_INET6]);
        if plan.unix_sockets {
            families.push(libc::AF_UNIX);
        }
    }
    families
}

/// Instructions that refuse everything but these values.
fn only(values: &[i32]) -> Vec<sock_filter> {
    let mut instructions = Vec::new();
    for (at, value) in values.iter().enumerate() {
        instructions.push(jump(BPF_JEQ, *value as u32, (values.len() - at) as u8, 0));
    }
    instructions.push(error(libc::EPERM));
    instructions
}

/// Instructions about an argument of a call, left by falling off their end.
fn when(number: i64, argument: u32, instructions: &[sock_filter]) -> Vec<sock_filter> {
    let skipped = (instructions.len() + 2) as u8;
    let mut whole = vec![jump(BPF_JEQ, number as u32, 0, skipped), load(ARGUMENTS + 8 * argument)];
    whole.extend_from_slice(instructions);
    whole.push(load(NUMBER));
    whole
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn jump(test: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt: if_true, jf: if_false, k: value }
}

fn give(action: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: action }
}

fn error(errno: i32) -> sock_filter {
    give(SECCOMP_RET_ERRNO | errno as u32)
}
