//! Whoever dies in the middle of a debug session, nothing of it is left: no process, no port, and the next one works.
//!
//! The programs do what makes them hard to end: they ignore SIGTERM, start children in sessions of their own, which start
//! others, and hold a port. Moments are random, from a seed that is printed. `STEPWELL_KILL_ROUNDS` sets how many rounds.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::World;

const ROUNDS: u64 = 20;
/// How long everything may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(3);
/// Longer than any call takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

const PYTHON: &str = r#"import os, signal, socket, sys, time
if len(sys.argv) < 2:
    sys.exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
holder = socket.socket()
holder.bind(("127.0.0.1", 0))
holder.listen()
with open(sys.argv[1], "w") as file:
    file.write(str(holder.getsockname()[1]))
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        os.fork()
        while True:
            time.sleep(1)
while True:
    time.sleep(0.02)
"#;

const C: &str = r#"#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **words) {
    if (count < 2) return 0;
    signal(SIGTERM, SIG_IGN);
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof place;
    int holder = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(holder, (struct sockaddr *)&place, size) || listen(holder, 1)) return 1;
    getsockname(holder, (struct sockaddr *)&place, &size);
    FILE *file = fopen(words[1], "w");
    fprintf(file, "%d", ntohs(place.sin_port));
    fclose(file);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            setsid();
            fork();
            for (;;) sleep(1);
        }
    for (;;) usleep(20000);
}
"#;

const GO: &str = r#"package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		return
	}
	signal.Ignore(syscall.SIGTERM)
	holder, _ := net.Listen("tcp", "127.0.0.1:0")
	os.WriteFile(os.Args[1], []byte(fmt.Sprint(holder.Addr().(*net.TCPAddr).Port)), 0o644)
	for i := 0; i < 2; i++ {
		child := exec.Command("sh", "-c", "trap '' TERM; sleep 1000 & while :; do sleep 1; done")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Start()
	}
	for {
		time.Sleep(20 * time.Millisecond)
	}
}
"#;

const JAVASCRIPT: &str = r#"if (process.argv.length > 2) {
  process.on("SIGTERM", () => {});
  const holder = require("node:net").createServer().listen(0, "127.0.0.1", () => {
    require("node:fs").writeFileSync(process.argv[2], String(holder.address().port));
    for (let i = 0; i < 2; i++) {
      const words = ["-c", "trap '' TERM; sleep 1000 & while :; do sleep 1; done"];
      require("node:child_process").spawn("sh", words, { detached: true, stdio: "ignore" });
    }
  });
}
"#;

/// Who dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Stepwell,
    Adapter,
    Debuggee,
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

/// A process of a world: its number, its parent's, its words.
#[derive(Debug)]
struct Process {
    pid: i32,
    parent: i32,
    words: Vec<String>,
}

/// Every process that was started in a world, by what its environment says; one that has ended has none.
fn processes_of(world: &World) -> Vec<Process> {
    let mark = format!("STEPWELL_HOME={}", world.data().display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let text = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        if !text("environ").split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
            continue;
        }
        let stat = String::from_utf8_lossy(&text("stat")).into_owned();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        let words = text("cmdline");
        let words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        found.push(Process { pid, parent: parent.unwrap_or_default(), words: words.collect() });
    }
    found
}

fn is_keeper(process: &Process) -> bool {
    process.words.get(1).is_some_and(|word| word == "keep-process")
}

/// The process to kill, where there is one by now.
fn find(world: &World, victim: Victim, dice: &mut Dice) -> Option<i32> {
    let all = processes_of(world);
    let kept: Vec<i32> = all.iter().filter(|process| is_keeper(process)).map(|keeper| keeper.pid).collect();
    let is_adapter = |process: &&Process| kept.contains(&process.parent) && !is_keeper(process);
    if victim == Victim::Adapter {
        return all.iter().find(is_adapter).map(|process| process.pid);
    }
    let first_level: Vec<i32> = all.iter().filter(is_adapter).map(|process| process.pid).collect();
    let is_stepwell = |process: &Process| process.words.get(1).is_some_and(|word| word == "tool");
    let below: Vec<&Process> = all
        .iter()
        .filter(|process| !is_keeper(process) && !is_stepwell(process) && !first_level.contains(&process.pid))
        .collect();
    let at = dice.next(below.len().max(1) as u64);
    below.get(usize::try_from(at).unwrap()).map(|process| process.pid)
}

/// Lets time pass; nothing is waited for.
fn pass(time: Duration) {
    let (_keep, never) = mpsc::channel::<()>();
    never.recv_timeout(time).ok();
}

/// Asks again and again until something holds; how long it took, or `None` when the time is over.
fn until(time: Duration, mut holds: impl FnMut() -> bool) -> Option<Duration> {
    let began = Instant::now();
    loop {
        if holds() {
            return Some(began.elapsed());
        }
        if began.elapsed() > time {
            return None;
        }
        pass(Duration::from_millis(10));
    }
}

fn kill(pid: i32) {
    Command::new("kill").args(["-KILL", &pid.to_string()]).output().unwrap();
}

fn start(world: &World, program: &Path, arguments: &[&str], seconds: f64) -> Child {
    let call = json!({ "program": program, "args": arguments, "timeout": seconds });
    world.spawn(&[
        "tool",
        "call",
        "start_debugging",
        &call.to_string(),
        "--json",
        "--permission-mode",
        "bypassPermissions",
    ])
}

/// A program that is there to be debugged, or `None` where its debugger or its compiler is missing.
fn program(world: &World, language: &str) -> Option<PathBuf> {
    let built = world.work().join(format!("stubborn-{language}"));
    let missing = |what: String| {
        assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{what}");
        eprintln!("skipped: {what}");
        None
    };
    let has = |program: &str, words: &[&str]| {
        Command::new(program).args(words).output().is_ok_and(|output| output.status.success())
    };
    match language {
        "python" => {
            world.write("stubborn.py", PYTHON);
            if !has("python3", &["-c", "import debugpy"]) {
                return missing("debugpy is missing".to_owned());
            }
            Some(world.work().join("stubborn.py"))
        }
        "javascript" => {
            world.write("stubborn.js", JAVASCRIPT);
            if !has("node", &["--version"]) {
                return missing("node is missing".to_owned());
            }
            Some(world.work().join("stubborn.js"))
        }
        "c" => {
            world.write("stubborn.c", C);
            let source = world.work().join("stubborn.c");
            if !has("cc", &["-g", "-o", built.to_str().unwrap(), source.to_str().unwrap()]) {
                return missing("cc is missing".to_owned());
            }
            if !has("sh", &["-c", "command -v lldb-dap-19 || command -v lldb-dap"]) {
                return missing("lldb-dap is missing".to_owned());
            }
            Some(built)
        }
        _ => {
            world.write("go/main.go", GO);
            world.write("go/go.mod", "module stubborn\n\ngo 1.19\n");
            let build = Command::new("go")
                .args(["build", "-gcflags=all=-N -l", "-o", built.to_str().unwrap(), "."])
                .current_dir(world.work().join("go"))
                .output();
            if !build.is_ok_and(|output| output.status.success()) || !has("dlv", &["version"]) {
                return missing("go or dlv is missing".to_owned());
            }
            Some(built)
        }
    }
}

/// When somebody dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Anywhere between the start and a running program.
    Any,
    /// When the program holds its port and begins to start others.
    Settled,
}

/// One session, and the end of somebody in it. How long it took until nothing was left, and whether anyone was killed.
fn round(
    world: &World,
    program: &Path,
    (victim, moment): (Victim, Moment),
    dice: &mut Dice,
    label: &str,
) -> (Duration, bool) {
    let port_file = world.work().join("port");
    std::fs::remove_file(&port_file).ok();
    let seconds = if moment == Moment::Settled { 60.0 } else { 4.0 };
    let mut child = start(world, program, &[port_file.to_str().unwrap()], seconds);
    if moment == Moment::Settled {
        let settled = until(PATIENCE, || port_file.exists() || child.try_wait().unwrap().is_some());
        assert!(settled.is_some() && port_file.exists(), "{label}: the program does not run");
        pass(Duration::from_millis(dice.next(300)));
    } else {
        pass(Duration::from_millis(dice.next(2500)));
    }
    let pid = match victim {
        Victim::Stepwell => i32::try_from(child.id()).ok(),
        victim => {
            let mut found = None;
            until(Duration::from_secs(4), || {
                found = find(world, victim, dice);
                found.is_some() || child.try_wait().unwrap().is_some()
            });
            found
        }
    };
    if let Some(pid) = pid {
        kill(pid);
    }
    let ended = until(PATIENCE, || child.try_wait().unwrap().is_some());
    assert!(ended.is_some(), "{label}: the call does not end");
    let gone = until(GONE_WITHIN, || processes_of(world).is_empty());
    let gone = gone.unwrap_or_else(|| panic!("{label}: left behind: {:?}", processes_of(world)));
    if let Some(port) = std::fs::read_to_string(&port_file).ok().and_then(|port| port.parse::<u16>().ok()) {
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "{label}: port {port} is still held");
    }
    (gone, pid.is_some())
}

/// A whole session, to its end.
fn works(world: &World, program: &Path) {
    let output = start(world, program, &[], 60.0).wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(answer["output"]["status"], "completed", "{}", world.show(&output));
    assert!(until(GONE_WITHIN, || processes_of(world).is_empty()).is_some());
}

/// D12: neither the end of a session nor that of anyone around it leaves a process or a port behind.
#[test]
fn nothing_outlives_a_session_whoever_dies() {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let rounds: u64 = number("STEPWELL_KILL_ROUNDS", ROUNDS);
    let seed: u64 = number("STEPWELL_KILL_SEED", u64::from(std::process::id()));
    eprintln!("STEPWELL_KILL_SEED={seed}");
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let world = World::new([]);
    let programs: Vec<(&str, PathBuf)> = ["python", "c", "go", "javascript"]
        .into_iter()
        .filter_map(|language| Some((language, program(&world, language)?)))
        .collect();
    if programs.is_empty() {
        return;
    }
    for (_, program) in &programs {
        works(&world, program);
    }
    let mut slowest = Duration::ZERO;
    let mut killed: BTreeMap<(&str, Victim), u64> = BTreeMap::new();
    for at in 0..rounds {
        // Mostly the first, which starts the most processes.
        let which = if at % 5 == 4 { 1 + (at / 5) as usize % 3 } else { 0 };
        let (language, program) = programs.get(which).unwrap_or(&programs[0]);
        // A program that runs on when one of its children dies would only be waited for.
        let (moment, victims) = if at % 3 == 0 { (Moment::Settled, 2) } else { (Moment::Any, 3) };
        let victim = [Victim::Stepwell, Victim::Adapter, Victim::Debuggee][dice.next(victims) as usize];
        let label = format!("round {at} of seed {seed}, {language}, {victim:?}, {moment:?}");
        let (gone, hit) = round(&world, program, (victim, moment), &mut dice, &label);
        slowest = slowest.max(gone);
        *killed.entry((language, victim)).or_default() += u64::from(hit);
    }
    eprintln!("{rounds} rounds, {killed:?}, everything gone after {slowest:?} at the latest");
    for (_, program) in &programs {
        works(&world, program);
    }
}
