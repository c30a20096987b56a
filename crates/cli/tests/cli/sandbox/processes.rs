//! When a command has ended, for whatever reason, nothing of it lives on.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::mpsc;
use std::time::Duration;

use super::{sandboxed, succeeds, told, world};

/// Everything that holds the child's output has ended when this returns: the end of the pipe is waited for.
fn all_ended(mut child: Child, mut output: impl Read + Send + 'static) -> String {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).ok();
        sender.send(text).ok();
    });
    let text = receiver.recv_timeout(Duration::from_secs(30)).expect("something still holds the output");
    child.wait().unwrap();
    text
}

/// The product with a command that says when it is ready, and then does not end.
fn started(world: &crate::world::World, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = world.spawn(&["sandbox", "run", "--", "bash", "-c", script]);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, output)
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let world = world();
    for script in [
        "sleep 1000 & echo done",
        "setsid sleep 1000 & disown; echo done",
        "nohup setsid bash -c 'trap \"\" TERM HUP INT; while :; do sleep 1000; done' & echo done",
        "(setsid bash -c '(sleep 1000 &) ; exit' &); echo done",
        "bash -c 'kill -STOP $$' & echo done",
        "python3 -c 'import os\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    import time; time.sleep(1000)' ; echo done",
    ] {
        // The output of the children is the same pipe: reading it to its end waits for every one of them.
        assert!(succeeds(&world, script).contains("done"), "{script}");
    }
}

#[test]
fn a_killed_product_takes_everything_along() {
    let world = world();
    for script in [
        "echo ready; sleep 1000",
        "trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done",
        "setsid bash -c 'trap \"\" TERM; echo ready; sleep 1000' & sleep 1000",
    ] {
        let (mut child, output) = started(&world, script);
        child.kill().unwrap();
        all_ended(child, output);
    }
}

#[test]
fn a_command_that_will_not_end_is_ended() {
    let world = world();
    let (child, output) = started(
        &world,
        "trap '' TERM; setsid bash -c 'trap \"\" TERM; sleep 1000' & echo ready; while :; do sleep 1000; done",
    );
    rustix::process::kill_process(front_of(child.id()), rustix::process::Signal::TERM).unwrap();
    all_ended(child, output);
    // One that listens to the polite request has its time for it.
    let (child, output) =
        started(&world, "trap 'echo goodbye; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    rustix::process::kill_process(front_of(child.id()), rustix::process::Signal::TERM).unwrap();
    assert_eq!(all_ended(child, output), "goodbye\n");
}

/// The launcher that the product started.
fn front_of(product: u32) -> rustix::process::Pid {
    let children = std::fs::read_to_string(format!("/proc/{product}/task/{product}/children")).unwrap();
    rustix::process::Pid::from_raw(children.split_whitespace().next().unwrap().parse().unwrap()).unwrap()
}

/// R05: the time limit of the tool ends trees that hide from it.
#[test]
fn the_time_limit_reaches_everything() {
    let world = world();
    for command in [
        "trap '' TERM; echo begun; sleep 1000",
        "echo begun; setsid sleep 1000 & sleep 1000",
        "echo begun; kill -STOP $$",
    ] {
        let arguments = serde_json::json!({"command": command, "timeout": 1}).to_string();
        let mut child =
            world.spawn(&["tool", "call", "bash", &arguments, "--permission-mode", "bypassPermissions"]);
        let error = child.stderr.take().unwrap();
        let text = all_ended(child, error);
        assert!(text.contains("stopped after 1 s") && text.contains("begun"), "{text}");
    }
}

#[test]
fn signals_of_a_command_stay_inside() {
    let world = world();
    // The group of the command is its own: this ends the command and neither launcher nor product.
    assert_eq!(told(&world, "kill -TERM 0; sleep 1000").0, 143);
    assert_eq!(told(&world, "kill -KILL -1; exit 3").0, 3);
    let output = sandboxed(&world, "kill -9 $PPID; echo alive");
    assert!(String::from_utf8_lossy(&output.stdout).contains("alive"));
}
