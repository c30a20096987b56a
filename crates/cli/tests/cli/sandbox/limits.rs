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

/// One process, many that share nothing, and one that forks what it has: the first two are too much.
#[test]
fn memory_is_bounded() {
    if !has("python3") {
        return;
    }
    let world = world();
    world.set_config("[sandbox]\nmemory_mb = 300\n");
    let eat = "import sys, time\nheld = bytearray(b'x') * (int(sys.argv[1]) << 20)\nprint('held', flush=True)\ntime.sleep(float(sys.argv[2]))\n";
    world.write("eat.py", eat);
    world.write("endless.py", "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))\n");
    world.write(
        "fork.py",
        "import os, time\nheld = bytearray(b'x') * (120 << 20)\nfor _ in range(5):\n  if os.fork() == 0:\n    time.sleep(1)\n    os._exit(0)\nfor _ in range(5): os.wait()\nprint('done')\n",
    );
    for script in [
        "python3 endless.py",
        "for i in 1 2 3 4 5 6; do python3 eat.py 100 1000 & done; wait",
        "setsid nohup python3 eat.py 500 1000 & sleep 1000",
    ] {
        let (code, text) = told(&world, script);
        assert_eq!(code, 126, "{script}: {text}");
        assert!(text.contains("300 MB is the most") && text.contains("`python3`"), "{script}: {text}");
    }
    assert_eq!(succeeds(&world, "python3 eat.py 150 0.5"), "held\n");
    assert_eq!(succeeds(&world, "python3 fork.py"), "done\n");
    let text = tool(&world, "python3 endless.py", 60);
    assert!(text.contains("300 MB is the most") && text.contains("exit code 126"), "{text}");
}

/// What reserves much more than it uses runs as outside.
#[test]
fn runtimes_that_reserve_much_run_within_little_memory() {
    let world = world();
    world.set_config("[sandbox]\nmemory_mb = 1000\n");
    world.write(
        "A.java",
        "class A { public static void main(String[] a) { System.out.println(\"java\"); } }\n",
    );
    world.write("asan.c", "#include <stdio.h>\nint main() { puts(\"asan\"); return 0; }\n");
    world.write("a.go", "package main\nfunc main() { println(\"go\") }\n");
    for (program, script, expected) in [
        ("node", "node -e 'console.log(\"node\")'", "node"),
        ("java", "java A.java", "java"),
        ("gcc", "gcc -fsanitize=address asan.c -o asan && ASAN_OPTIONS=detect_leaks=0 ./asan", "asan"),
        ("go", "GOCACHE=/tmp/go GOFLAGS=-p=1 go run a.go 2>&1", "go"),
        ("gdb", "gdb --version", "GNU gdb"),
    ] {
        if has(program) {
            let text = succeeds(&world, script);
            assert!(text.contains(expected), "{script}: {text}");
        }
    }
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
