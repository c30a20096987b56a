//! What the first process gives up before it starts a command: capabilities, resources, writing by Landlock.

use std::fs;
use std::io;
use std::path::Path;

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use super::{Setup, at};
use crate::plan::{Launch, Plan};

/// The newest Landlock this code knows; older kernels enforce what they can.
const NEWEST: ABI = ABI::V7;
/// The process is among the first to go when memory runs out.
const OUT_OF_MEMORY_SCORE: &str = "500";

/// Gives up everything but the plan's rights, for good.
pub(super) fn give_up(plan: &Plan) -> Setup<()> {
    limit_resources(plan);
    // Bubblewrap dropped them before it started this process.
    if plan.launch == Launch::Own {
        drop_capabilities().map_err(at("give up capabilities"))?;
    }
    set_no_new_privs(true).map_err(at("give up new privileges"))?;
    // Its memory and descriptors are closed to the command, which has the same user.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(at("close the first process"))?;
    restrict_writing(plan)?;
    let filter = super::filter::program(plan);
    crate::sys::install_filter(&filter).map_err(at("install the filter of system calls"))
}

fn limit_resources(plan: &Plan) {
    let limits = &plan.limits;
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, u64::from(limits.processes)),
    ] {
        // Without a namespace the number counts all processes of the user, wherever they run.
        if resource == Resource::Nproc && plan.launch == Launch::WithoutNamespaces {
            continue;
        }
        let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
        // A limit that cannot be lowered is lower already.
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).ok();
    }
    fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE).ok();
}

/// Limits the processes of this process namespace, which bounds root of the machine too. Kernels before 6.14 have one
/// number for the whole machine; it is left alone there.
pub(super) fn limit_process_numbers(processes: u32) {
    if has_own_process_numbers() {
        // Some numbers are kept back by the kernel for its own.
        fs::write("/proc/sys/kernel/pid_max", (processes + 300).to_string()).ok();
    }
}

/// Whether a process namespace has its own highest number.
pub(super) fn has_own_process_numbers() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 14)
}

fn drop_capabilities() -> io::Result<()> {
    // Being user 0 gives nothing, now and after any program start.
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    for number in 0..64 {
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Landlock: writing only where the mounts allow it too, and no signals or sockets to the outside.
fn restrict_writing(plan: &Plan) -> Setup<()> {
    let failed = |error: landlock::RulesetError| at("restrict writing")(io::Error::other(error));
    let writing = AccessFs::from_write(NEWEST);
    let into_files = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)
        .and_then(|ruleset| ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal))
        .and_then(Ruleset::create)
        .map_err(failed)?;
    let mut allowed: Vec<(&Path, _)> =
        plan.writable.iter().chain(&plan.pinned).map(|path| (&*path.0, writing)).collect();
    // Memory of a process is written through its file by debuggers.
    allowed.push((Path::new("/proc"), into_files));
    match plan.launch {
        Launch::WithoutNamespaces => {
            for device in [
                "/dev/null",
                "/dev/zero",
                "/dev/full",
                "/dev/random",
                "/dev/urandom",
                "/dev/tty",
                "/dev/ptmx",
                "/dev/pts",
            ] {
                allowed.push((Path::new(device), into_files));
            }
            for path in ["/tmp", "/var/tmp"] {
                allowed.push((Path::new(path), writing));
            }
        }
        Launch::Own | Launch::Bubblewrap { .. } => {
            for path in ["/tmp", "/var/tmp", "/dev/shm"] {
                allowed.push((Path::new(path), writing));
            }
            allowed.push((Path::new("/dev"), into_files));
        }
    }
    let mut ruleset = ruleset;
    for (path, access) in allowed {
        let Ok(place) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
        if !access.is_empty() {
            ruleset = ruleset.add_rule(PathBeneath::new(place, access)).map_err(failed)?;
        }
    }
    ruleset.restrict_self().map_err(failed)?;
    Ok(())
}
