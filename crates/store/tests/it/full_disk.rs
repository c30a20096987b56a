//! A full or read-only disk: a clear error, nothing acknowledged lost, and the log goes on afterwards.

use std::fs;
use std::path::Path;

use stepwell_protocol::Event;
use stepwell_store::{Error, Home, OpenedLog, TaskLog, read_log};

use crate::runs::{info, user};

/// A small disk of its own, gone when dropped.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(path: &'a Path) -> Option<Self> {
        let flags = rustix::mount::MountFlags::empty();
        match rustix::mount::mount("stepwell-test", path, "tmpfs", flags, c"size=256k") {
            Ok(()) => Some(Self(path)),
            Err(errno) => {
                let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
                assert!(!in_ci, "CI must be able to mount a tmpfs: {errno}");
                eprintln!("skipped: cannot mount a tmpfs here ({errno})");
                None
            }
        }
    }

    fn make_read_only(&self) {
        let flags = rustix::mount::MountFlags::RDONLY;
        rustix::mount::mount_remount(self.0, flags, "size=256k").unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        rustix::mount::unmount(self.0, rustix::mount::UnmountFlags::DETACH).unwrap();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_the_log_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path()) else { return };
    let home = Home::new(folder.path());
    let id = "full".into();
    let OpenedLog { mut log, .. } = TaskLog::create(&home, info("full")).unwrap();
    let ballast = folder.path().join("ballast");
    fs::write(&ballast, vec![0; 100 * 1024]).unwrap();

    let mut acknowledged = 1;
    let error = loop {
        // Short texts fill the log itself, long ones the blobs.
        let text = "x".repeat(if acknowledged % 2 == 0 { 3000 } else { 6000 }) + &acknowledged.to_string();
        match log.append(&[user("u", &text), Event::Notice { text: "n".into() }]) {
            Ok(records) => acknowledged += records.len(),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, Error::Files(stepwell_workspace::Error::DiskFull { .. })), "{error}");
    assert!(error.hint().unwrap().contains("nothing was lost"));
    assert_eq!(read_log(&home, &id).unwrap().len(), acknowledged);
    log.append(&[user("u", &"y".repeat(4000))]).unwrap_err();
    drop(log);

    let OpenedLog { mut log, records } = TaskLog::open(&home, &id).unwrap();
    assert_eq!(records.len(), acknowledged, "opens on a full disk");
    log.append(&[user("u", &"z".repeat(4000))]).unwrap_err();
    fs::remove_file(&ballast).unwrap();
    let more = log.append(&[user("u", &"z".repeat(4000))]).unwrap();
    assert_eq!(more[0].seq.0, acknowledged as u64 + 1);
    assert_eq!(read_log(&home, &id).unwrap().len(), acknowledged + 1);
    drop(log);

    disk.make_read_only();
    let error = TaskLog::open(&home, &id).unwrap_err();
    assert!(matches!(&error, Error::Files(stepwell_workspace::Error::ReadOnly { .. })), "{error}");
    assert_eq!(read_log(&home, &id).unwrap().len(), acknowledged + 1, "readable all the same");
}
