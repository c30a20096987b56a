//! Commands that use up what there is: bounded, ended, reported.

use super::{fails, has, succeeds, told, world};
use crate::disk::SmallDisk;
use crate::world::World;

fn tool(world: &World, command: &str, timeout: u64) -> String {
    let arguments = serde_json::json!({"command": command, "timeout": timeout}).to_string();
    world.show(&world.output(&["tool", "call", "bash", &arguments, "--permission-mode", "bypassPermissions"]))
}

/// R04: a gigabyte of output is read to its end and kept in part.
#[test]
fn a_flood_of_output_is_bounded() {
    let world = world();
    let text =
        tool(&world, "yes 0123456789abcdef0123456789abcdef | head -c 1G; echo end; echo error >&2", 300);
    assert!(text.contains("bytes left out") && text.contains("end") && text.contains("error"), "{text}");
    assert!(text.len() < 100_000);
}

#[test]
fn processes_are_bounded() {
    if !has("python3") {
        return;
    }
    let world = world();
    world.write(
        "forks.py",
        "import os, time\ncount = 0\ntry:\n  for _ in range(10000):\n    if os.fork() == 0:\n      time.sleep(1000)\n    count += 1\nexcept OSError as error:\n  print(error.strerror)\nprint(count)\n",
    );
    let text = succeeds(&world, "python3 forks.py");
    let count: u32 = text.lines().last().unwrap().parse().unwrap();
    assert!((200..9000).contains(&count) && text.contains("temporarily unavailable"), "{text}");
    // A fork bomb ends at its time limit, with everything it made.
    world.write("bomb.sh", ":(){ :|:& };:\nsleep 1000\n");
    let text = tool(&world, "bash bomb.sh", 2);
    assert!(text.contains("stopped after 2 s"), "{}", &text[..text.len().min(2000)]);
    succeeds(&world, "true");
}

#[test]
fn files_and_memory_files_are_bounded() {
    let world = world();
    fails(&world, "truncate -s 17G big");
    succeeds(&world, "truncate -s 15G big; rm big");
    assert_eq!(succeeds(&world, "ulimit -c"), "0\n");
    let size = |path: &str| -> u64 {
        let text = succeeds(&world, &format!("df --output=size -B1M {path} | tail -n1"));
        text.trim().parse().unwrap()
    };
    assert!(size("/tmp") <= 4096 && size("/dev/shm") <= 1024 && size("/run") <= 1);
}

#[test]
fn a_disk_that_fills_up_stops_the_command() {
    let world = world();
    let work = world.work();
    let Some(_disk) = SmallDisk::mount(&work, "64m") else { return };
    let fill =
        "head -c 60M /dev/zero > big; while head -c 20000 /dev/zero >> big; do sleep 0.02; done; sleep 1000";
    let (code, text) = told(&world, fill);
    assert!(code == 126 && text.contains("nearly full"), "{code}: {text}");
    std::fs::remove_file(work.join("big")).unwrap();
    succeeds(&world, "head -c 10M /dev/zero > small");
}
