//! Ctrl-C: the first stops and keeps, the second quits.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use stepwell_protocol::{Event, InterruptReason};
use stepwell_test_support::{Turn, call};

use crate::world::World;

const DEADLINE: std::time::Duration = std::time::Duration::from_secs(20);

#[test]
fn half_an_answer_is_kept_and_the_task_goes_on() {
    let (turn, gate) = Turn::text("half an answer that never ends").chunk_size(4).gated();
    let world = World::new([turn, Turn::text("and the rest")]);
    let child = world.spawn(&["run", "--output-format", "stream-json", "go"]);
    let pid = Pid::from_child(&child);
    gate.release(4);
    // The words are there once they are printed.
    let output = {
        use std::io::{BufRead, BufReader};
        let mut child = child;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let seen = lines.by_ref().map_while(Result::ok).find(|line| line.contains("\"token\""));
        assert!(seen.is_some());
        kill_process(pid, Signal::INT).unwrap();
        lines.for_each(drop);
        child.wait_with_output().unwrap()
    };
    assert_eq!(output.status.code(), Some(130), "{}", world.show(&output));
    let task = world.only_task();
    assert!(world.log(&task).iter().any(|record| {
        matches!(record.event, Event::AnswerInterrupted { reason: InterruptReason::Cancelled, .. })
    }));
    let output = world.output(&["run", "--quiet", "--resume", task.as_str(), "go on"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nand the rest\n");
    let messages = world.server.last_request().messages();
    assert!(messages.iter().any(|message| message.text.starts_with("half")), "{messages:?}");
}

#[test]
fn a_command_that_runs_is_ended_with_its_children() {
    let world =
        World::new([Turn::calls([call("bash", json!({"command": "echo $$ > pid; sleep 600 & wait"}))])]);
    let child = world.spawn(&["run", "--permission-mode", "bypassPermissions", "go"]);
    let group = wait_for_pid(&world);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", world.show(&output));
    assert_eq!(alive(group), Vec::<String>::new());
}

/// The process group the command wrote down when it started.
fn wait_for_pid(world: &World) -> i32 {
    let pid_file = world.work().join("pid");
    let deadline = std::time::Instant::now() + DEADLINE;
    loop {
        if let Ok(text) = std::fs::read_to_string(&pid_file)
            && let Ok(pid) = text.trim().parse::<i32>()
        {
            return pid;
        }
        assert!(std::time::Instant::now() < deadline, "the command did not start");
        std::thread::yield_now();
    }
}

/// The processes of a group that still run. Ended ones nobody has waited for yet do not count.
fn alive(group: i32) -> Vec<String> {
    let mut alive = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let Ok(stat) = std::fs::read_to_string(entry.unwrap().path().join("stat")) else { continue };
        // `pid (name) state ppid pgrp ...`; the name may hold anything.
        let Some((name, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        if fields[2] == group.to_string() && !matches!(fields[0], "Z" | "X") {
            alive.push(name.to_owned());
        }
    }
    alive
}

#[test]
fn a_second_interrupt_quits_and_leaves_no_process_behind() {
    let stubborn = "trap '' INT TERM; echo $$ > pid; while :; do sleep 1; done";
    let world = World::new([Turn::calls([call("bash", json!({"command": stubborn}))])]);
    let child = world.spawn(&["run", "--permission-mode", "bypassPermissions", "go"]);
    let group = wait_for_pid(&world);
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::HUP).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", world.show(&output));
    assert_eq!(alive(group), Vec::<String>::new());
}
