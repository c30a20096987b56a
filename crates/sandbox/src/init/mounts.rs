//! The file system as a command sees it.
//!
//! The whole tree is made read-only in one step, in a mount namespace of our own; what shall be writable was cloned
//! before and is put back on top. Nothing is created in the person's folders: only what exists is mounted over.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};
use rustix::thread::UnshareFlags;

use super::{Failure, Setup, at};
use crate::plan::{HostPath, Plan};
use crate::sys::{self, Below, NO_DEVICES, NO_PROGRAMS, NO_SETUID, READ_ONLY};

/// A place of our own inside; holds what hides other places.
const OWN: &str = "/dev/stepwell";
/// Where the proxy's socket appears.
pub(crate) const PROXY_SOCKET: &str = "/dev/stepwell/proxy.sock";
const EMPTY_FOLDER: &str = "/dev/stepwell/hidden-folder";
const EMPTY_FILE: &str = "/dev/stepwell/hidden-file";

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
/// Parts of `/proc` that steer the machine. Root of the machine may write some of them without any capability.
const PROC_READ_ONLY: &[&str] = &["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"];
const PROC_HIDDEN: &[&str] = &["kcore", "keys", "key-users", "kmsg", "timer_list", "sched_debug"];
/// Folders with other programs' sockets and private files: empty inside.
const EMPTIED: &[&str] = &["/run", "/var/run"];
const SMALL: &str = "size=1m,nr_inodes=4096,mode=755";

/// A mount that has no place yet.
struct Piece {
    path: PathBuf,
    tree: OwnedFd,
}

/// Makes the mounts, and checks that nothing is left writable by mistake.
pub(super) fn build(plan: &Plan) -> Setup<()> {
    sys::unshare(UnshareFlags::NEWNS).map_err(at("make a mount namespace"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(at("make mounts private"))?;

    // Everything that is shown with other rights than the rest is cloned while it still has them.
    let mut pieces = Vec::new();
    for path in plan.writable.iter().chain(&plan.pinned) {
        pieces.push(cloned(path, NO_SETUID | NO_DEVICES)?);
    }
    for path in plan.locked.iter().chain(&plan.read_only) {
        match cloned(path, READ_ONLY | NO_SETUID | NO_DEVICES) {
            Ok(piece) => pieces.push(piece),
            // Somebody removed it since the plan was made.
            Err(failure) if failure.source.kind() == io::ErrorKind::NotFound => {}
            Err(failure) => return Err(failure),
        }
    }
    // A device works on a read-only mount too, but keeps its rights and owner, which are those of the machine's.
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name)).filter(|path| path.exists());
    let devices: Vec<Piece> =
        devices.map(|path| cloned(&path, READ_ONLY | NO_SETUID)).collect::<Setup<_>>()?;
    let proxy =
        plan.proxy.as_ref().map(|socket| cloned(socket, READ_ONLY | NO_SETUID | NO_DEVICES)).transpose()?;

    let temporary = plan.temporary.as_ref().map(|path| cloned(path, NO_SETUID | NO_DEVICES)).transpose()?;
    let revealed = plan.revealed.iter().map(|path| cloned(path, READ_ONLY | NO_SETUID | NO_DEVICES));
    let mut revealed: Vec<Piece> = revealed.collect::<Setup<_>>()?;

    sys::set_mount_attributes(CWD, c"/", Below::Included, READ_ONLY | NO_SETUID | NO_DEVICES)
        .map_err(at("make everything read-only"))?;
    make_devices(devices, proxy, plan.limits.temporary_bytes / 4)?;
    make_proc(plan.limits.processes)?;
    make_temporary(temporary, plan.limits.temporary_bytes, &plan.writable)?;
    for path in EMPTIED {
        // Only a folder of its own: `/var/run` is a link to `/run` nearly everywhere.
        if Path::new(path).symlink_metadata().is_ok_and(|found| found.is_dir()) {
            make_tmpfs(path, SMALL, MountFlags::NOEXEC)?;
        }
    }

    // A folder comes before what lies in it.
    pieces.sort_by_key(|piece| piece.path.components().count());
    for piece in pieces {
        make_place(&piece)?;
        attach(piece)?;
    }
    for path in &plan.hidden {
        match revealed.extract_if(.., |piece| piece.path.starts_with(&path.0)).collect::<Vec<_>>() {
            none if none.is_empty() => hide(path)?,
            some => hide_around(path, some)?,
        }
    }

    for path in EMPTIED.iter().chain(&["/dev"]) {
        if is_mount_of_ours(path) {
            set_attributes(Path::new(path), Below::Left, READ_ONLY)?;
        }
    }
    Ok(())
}

fn cloned(path: &Path, attributes: u64) -> Setup<Piece> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let step = || format!("show `{}`", path.display());
    let tree = open_tree(CWD, path, flags).map_err(at(step()))?;
    sys::set_mount_attributes(tree.as_fd(), c"", Below::Included, attributes).map_err(at(step()))?;
    Ok(Piece { path: path.to_path_buf(), tree })
}

fn attach(piece: Piece) -> Setup<()> {
    move_mount(&piece.tree, c"", CWD, &piece.path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(at(format!("mount `{}`", piece.path.display())))
}

/// Makes the place of a mount where it lies in a folder that is empty inside. In the person's own folders the
/// place exists.
fn make_place(piece: &Piece) -> Setup<()> {
    if piece.path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let step = || format!("make a place for `{}`", piece.path.display());
    let found = rustix::fs::fstat(&piece.tree).map_err(at(step()))?;
    if rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() {
        return fs::create_dir_all(&piece.path).map_err(at(step()));
    }
    let parent = piece.path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).and_then(|()| empty_file(&piece.path, 0o600)).map_err(at(step()))
}

/// Covers a file or folder with one that cannot be read.
fn hide(path: &HostPath) -> Setup<()> {
    let cover = match path.metadata() {
        Ok(found) if found.is_dir() => EMPTY_FOLDER,
        Ok(_) => EMPTY_FILE,
        // What cannot even be looked at from here cannot be read from inside either.
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => return Err(at(format!("hide `{}`", path.display()))(error)),
    };
    let mut piece = cloned(Path::new(cover), READ_ONLY | NO_SETUID | NO_DEVICES | NO_PROGRAMS)?;
    piece.path.clone_from(&path.0);
    match attach(piece) {
        // A socket of another program may be gone by now; there is nothing left to hide.
        Err(_) if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) => {
            Ok(())
        }
        attached => attached,
    }
}

/// Covers a folder with one that holds nothing but what is revealed of it.
fn hide_around(path: &HostPath, revealed: Vec<Piece>) -> Setup<()> {
    let step = || format!("hide `{}`", path.display());
    let text = path.to_str().ok_or_else(|| at(step())(io::Error::other("it is not UTF-8")))?;
    // It is not there where the folder around it is another one inside.
    let is_there = path.symlink_metadata().is_ok();
    if is_there {
        make_tmpfs(text, "size=64k,nr_inodes=64,mode=711", MountFlags::NOEXEC)?;
    }
    for piece in revealed {
        make_place(&piece)?;
        attach(piece)?;
    }
    if is_there { set_attributes(path, Below::Left, READ_ONLY) } else { Ok(()) }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory
    )
}

fn make_tmpfs(path: &str, options: &str, further: MountFlags) -> Setup<()> {
    let options = CString::new(options).unwrap_or_default();
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV | further, options.as_c_str())
        .map_err(at(format!("make an empty `{path}`")))
}

fn empty_file(path: &Path, mode: u32) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create(true).truncate(false).mode(mode).open(path).map(drop)
}

/// A few harmless devices, terminals of its own, and shared memory of its own.
fn make_devices(devices: Vec<Piece>, proxy: Option<Piece>, shared_bytes: u64) -> Setup<()> {
    let step = |error: io::Error| Failure { step: "make /dev".into(), source: error };
    make_tmpfs("/dev", SMALL, MountFlags::NOEXEC)?;
    for device in devices {
        make_place(&device)?;
        attach(device)?;
    }
    for folder in ["/dev/pts", "/dev/shm", OWN, EMPTY_FOLDER] {
        fs::create_dir(folder).map_err(step)?;
    }
    empty_file(Path::new(EMPTY_FILE), 0o000).map_err(step)?;
    fs::set_permissions(EMPTY_FOLDER, fs::Permissions::from_mode(0o000)).map_err(step)?;
    for (link, target) in [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
        ("/dev/ptmx", "pts/ptmx"),
    ] {
        symlink(target, link).map_err(step)?;
    }
    mount(
        "devpts",
        "/dev/pts",
        "devpts",
        MountFlags::NOSUID | MountFlags::NOEXEC,
        c"newinstance,ptmxmode=0666,mode=620",
    )
    .map_err(at("make terminals"))?;
    make_tmpfs("/dev/shm", &format!("size={shared_bytes},mode=1777"), MountFlags::empty())?;
    if let Some(mut proxy) = proxy {
        proxy.path = PROXY_SOCKET.into();
        make_place(&proxy)?;
        attach(proxy)?;
    }
    Ok(())
}

/// The processes of the new namespace, and nothing that steers the machine.
fn make_proc(processes: u32) -> Setup<()> {
    mount(
        "proc",
        "/proc",
        "proc",
        MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
        None::<&CStr>,
    )
    .map_err(at("make /proc"))?;
    super::rights::limit_process_numbers(processes);
    for name in PROC_READ_ONLY {
        let path = Path::new("/proc").join(name);
        if path.exists() {
            attach(cloned(&path, READ_ONLY | NO_SETUID | NO_DEVICES | NO_PROGRAMS)?)?;
        }
    }
    for name in PROC_HIDDEN {
        hide(&Path::new("/proc").join(name).into())?;
    }
    Ok(())
}

/// A private `/tmp`: the folder given, or an empty one with a limit. `/var/tmp` is the same place.
fn make_temporary(folder: Option<Piece>, bytes: u64, writable: &[HostPath]) -> Setup<()> {
    let is_writable = |path: &str| writable.iter().any(|root| root.0 == Path::new(path));
    if is_writable("/tmp") {
        // The person opened the machine's own.
    } else if let Some(mut folder) = folder {
        folder.path = "/tmp".into();
        attach(folder)?;
    } else {
        make_tmpfs("/tmp", &format!("size={bytes},nr_inodes=1m,mode=1777"), MountFlags::empty())?;
    }
    if Path::new("/var/tmp").is_dir() && !is_writable("/var/tmp") {
        let mut same = cloned(Path::new("/tmp"), NO_SETUID | NO_DEVICES)?;
        same.path = "/var/tmp".into();
        attach(same)?;
    }
    Ok(())
}

fn set_attributes(path: &Path, below: Below, attributes: u64) -> Setup<()> {
    let step = || format!("set the rights of `{}`", path.display());
    let text = CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| at(step())(io::Error::from(io::ErrorKind::InvalidInput)))?;
    sys::set_mount_attributes(CWD, &text, below, attributes).map_err(at(step()))
}

fn is_mount_of_ours(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_ok_and(|found| found.is_dir())
}
