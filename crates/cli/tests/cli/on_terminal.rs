//! What a person sees and is asked on a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use stepwell_test_support::Turn;

use crate::world::World;

/// Runs the binary on a terminal of so many columns with what is typed there; gives the exit code and the screen's text.
fn on_terminal(world: &World, columns: u16, arguments: &[&str], typed: &str) -> (Option<i32>, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let end =
        || -> OwnedFd { rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap() };
    let mut command = world.command(arguments);
    command.stdin(Stdio::from(end())).stdout(Stdio::from(end())).stderr(Stdio::from(end()));
    command.env("PAGER", "head -n 1").env("TERM", "dumb");
    let mut child = command.spawn().unwrap();
    // Our copies of the other end, so that the terminal closes with the program.
    drop(command);
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let mut shown = Vec::new();
    let mut piece = [0; 4096];
    // Linux reports the end of a terminal as an error.
    while let Ok(count @ 1..) = master.read(&mut piece) {
        shown.extend_from_slice(&piece[..count]);
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).replace('\r', ""))
}

fn world_with_a_task() -> World {
    let world = World::new([Turn::text("the answer")]);
    assert_eq!(world.output(&["run", "find the reason why the build fails"]).status.code(), Some(0));
    world
}

#[test]
fn deleting_asks_first() {
    let world = world_with_a_task();
    for typed in ["n\n", "\n", "perhaps\n"] {
        let (code, text) = on_terminal(&world, 80, &["tasks", "delete", "1"], typed);
        assert_eq!(code, Some(130), "{text}");
        assert!(text.contains("find the reason") && text.contains("for good? [y/N]"), "{text}");
        assert_eq!(world.home().task_ids().unwrap().len(), 1, "{typed}");
    }
    let (code, text) = on_terminal(&world, 80, &["tasks", "delete", "1"], "y\n");
    assert!(code == Some(0) && text.contains("deleted"), "{text}");
    assert!(world.home().task_ids().unwrap().is_empty());
}

#[test]
fn a_task_is_shown_through_the_pager() {
    let world = world_with_a_task();
    let (_, text) = on_terminal(&world, 80, &["tasks", "show", "1"], "");
    assert_eq!(text.trim_end(), "# find the reason why the build fails");
    let (_, text) = on_terminal(&world, 80, &["tasks", "show", "1", "--no-pager"], "");
    assert!(text.contains("the answer"), "{text}");
    let output = world.command(&["tasks", "show", "1"]).env("PAGER", "head -n 1").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("the answer"), "a pipe has no pager");
}

#[test]
fn tables_fit_a_narrow_terminal() {
    let world = world_with_a_task();
    world.server.set_models(&["a-model-with-quite-a-long-name"]);
    for columns in [40, 60, 80, 120] {
        for arguments in
            [&["tasks", "list"][..], &["tasks", "list", "--all"], &["tool", "list"], &["models", "mock"]]
        {
            let (code, text) = on_terminal(&world, columns, arguments, "");
            assert_eq!(code, Some(0), "{text}");
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= usize::from(columns), "{columns} columns, {arguments:?}: {longest}\n{text}");
        }
    }
    let (_, text) = on_terminal(&world, 40, &["tasks", "list"], "");
    assert!(text.contains("find the reason"), "{text}");
    let (_, text) = on_terminal(&world, 40, &["models", "mock"], "");
    assert!(text.contains("mock/a-model-with-quite-a-long-name"), "{text}");
}
