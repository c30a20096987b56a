//! A full disk and a read-only one: a clear error, and nothing is lost.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use stepwell_protocol::Event;
use stepwell_store::{ModelHistory, check_history};
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// A small file system of its own, unmounted at the end.
pub struct SmallDisk<'a> {
    path: &'a Path,
}

impl<'a> SmallDisk<'a> {
    /// `None` where this process may not mount; in CI that is a failure.
    pub fn mount(path: &'a Path, size: &str) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(path)
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            assert!(std::env::var_os("CI").is_none(), "CI must be able to mount a tmpfs");
            eprintln!("skipped: mounting a tmpfs needs root");
            return None;
        }
        Some(Self { path })
    }

    fn remount(&self, option: &str) {
        let done =
            Command::new("mount").args(["-o", &format!("remount,{option}")]).arg(self.path).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        Command::new("umount").args(["-l"]).arg(self.path).status().ok();
    }
}

#[test]
fn a_disk_that_fills_up_in_the_middle_of_a_run() {
    let world = World::new([]);
    let data = world.data();
    let Some(disk) = SmallDisk::mount(&data, "512k") else { return };
    // Each result is 20 KB of different text, so the disk is full after some turns.
    world.server.respond_with(|request| {
        let turn = request.tool_results().len();
        Turn::calls([call("bash", json!({"command": format!("seq {turn}000000 {turn}002500")}))])
    });
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "go"]);
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the disk is full") && text.contains("hint:"), "{text}");
    let task = world.only_task();
    let kept = world.log(&task);
    let results = kept.iter().filter(|record| matches!(record.event, Event::Observation { .. })).count();
    assert!(results >= 3, "{results} results were kept");

    disk.remount("size=8m");
    world.server.respond_with(|_| Turn::text("there is room again"));
    let output = world.output(&["run", "--quiet", "--resume", task.as_str()]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nthere is room again\n");
    let after = world.log(&task);
    assert_eq!(after[..kept.len()], kept[..], "what was acknowledged is still there");
    check_history(&ModelHistory::of(&after).messages()).unwrap();
}

#[test]
fn a_read_only_disk() {
    let world = World::new([Turn::text("never sent")]);
    let data = world.data();
    let Some(disk) = SmallDisk::mount(&data, "1m") else { return };
    disk.remount("ro");
    let output = world.output(&["run", "go"]);
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("read-only") && text.contains("STEPWELL_HOME"), "{text}");
    assert!(world.server.requests().is_empty(), "nothing is sent that cannot be kept");
}
