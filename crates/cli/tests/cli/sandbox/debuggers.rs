//! Debuggers work inside: they start a program, stop it, look at it, and attach to one that runs.

use std::path::Path;
use std::process::Command;

use super::{has, on_path, succeeds, world};
use crate::world::World;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <unistd.h>
int twice(int number) {
    int result = number * 2;
    return result;
}
int main(int count, char **words) {
    if (count > 1) {
        puts("ready");
        fflush(stdout);
        for (;;) usleep(1000);
    }
    printf("%d\n", twice(21));
    return 0;
}
"#;

/// A C program with its symbols, built outside.
fn built(world: &World) -> bool {
    world.write("program.c", PROGRAM);
    has("gcc") && {
        let status = Command::new("gcc")
            .args(["-g", "-O0", "-o", "program", "program.c"])
            .current_dir(world.work())
            .status();
        status.unwrap().success()
    }
}

#[test]
fn gdb_starts_and_attaches() {
    let world = world();
    if !has("gdb") || !built(&world) {
        return;
    }
    let text = succeeds(
        &world,
        "gdb -batch -nx -ex 'break twice' -ex run -ex 'print number' -ex next -ex 'print result' -ex 'set var result = 99' -ex continue ./program 2>&1",
    );
    assert!(text.contains("$1 = 21") && text.contains("$2 = 42") && text.contains("\n99\n"), "{text}");
    let text = succeeds(
        &world,
        "./program wait > out & while ! grep -q ready out; do sleep 0.01; done; gdb -batch -nx -p $! -ex backtrace 2>&1",
    );
    assert!(text.contains("main (count=2"), "{text}");
}

#[test]
fn lldb_starts_and_attaches() {
    let world = world();
    // Debian's numbered packages cannot be installed beside each other, and only one of them has the plain name.
    let lldb = if on_path("lldb-19") { "lldb-19" } else { "lldb" };
    if !has(lldb) || !built(&world) {
        return;
    }
    let text = succeeds(
        &world,
        &format!(
            "{lldb} -x -b -o 'breakpoint set -n twice' -o run -o 'frame variable number' -o quit ./program 2>&1"
        ),
    );
    assert!(text.contains("number = 21"), "{text}");
    let text = succeeds(
        &world,
        &format!(
            "./program wait > out & while ! grep -q ready out; do sleep 0.01; done; {lldb} -x -b -p $! -o 'thread backtrace all' -o quit 2>&1"
        ),
    );
    assert!(text.contains("main"), "{text}");
}

#[test]
fn debugpy_serves_on_loopback() {
    let world = world();
    if !has("python3") {
        return;
    }
    let installed = Command::new("python3").args(["-c", "import debugpy"]).status().unwrap().success();
    if !installed {
        assert!(!super::in_ci(), "debugpy is missing");
        eprintln!("skipped: debugpy is not installed");
        return;
    }
    world.write("target.py", "value = 41\nvalue += 1\nprint('value', value)\n");
    world.write(
        "client.py",
        r#"
import json, socket, subprocess, sys
server = subprocess.Popen([sys.executable, "-Xfrozen_modules=off", "-m", "debugpy", "--listen", "127.0.0.1:5678", "--wait-for-client", "target.py"])
while True:
    try:
        stream = socket.create_connection(("127.0.0.1", 5678)).makefile("rwb")
        break
    except ConnectionRefusedError:
        assert server.poll() is None, "debugpy ended"
sequence = 0
def send(command, **arguments):
    global sequence
    sequence += 1
    body = json.dumps({"seq": sequence, "type": "request", "command": command, "arguments": arguments}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body)); stream.flush()
def wait(kind, name):
    while True:
        length = 0
        while (line := stream.readline().strip()):
            if line.startswith(b"Content-Length:"): length = int(line.split(b":")[1])
        assert length, "debugpy hung up"
        message = json.loads(stream.read(length))
        assert message.get("success", True), message
        if message["type"] == kind and message.get("command", message.get("event")) == name: return message
send("initialize", adapterID="test"); wait("response", "initialize")
send("attach", justMyCode=True); wait("event", "initialized")
send("setBreakpoints", source={"path": "target.py"}, breakpoints=[{"line": 2}]); wait("response", "setBreakpoints")
send("configurationDone"); stopped = wait("event", "stopped")
send("stackTrace", threadId=stopped["body"]["threadId"]); frame = wait("response", "stackTrace")["body"]["stackFrames"][0]
send("evaluate", expression="value", frameId=frame["id"]); print("evaluated", wait("response", "evaluate")["body"]["result"])
send("continue", threadId=stopped["body"]["threadId"]); wait("event", "terminated")
server.wait()
"#,
    );
    let text = succeeds(&world, "timeout 60 python3 client.py 2>&1");
    assert!(text.contains("evaluated 41") && text.contains("value 42"), "{text}");
}

#[test]
fn delve_stops_a_go_program() {
    let world = world();
    if !has("dlv") || !has("go") {
        return;
    }
    world.write("go.mod", "module example\n\ngo 1.19\n");
    world.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc twice(number int) int {\n\treturn number * 2\n}\n\nfunc main() {\n\tfmt.Println(twice(21))\n}\n");
    let cache = world.work().with_file_name("go-cache");
    let build = Command::new("go")
        .args(["build", "-gcflags=all=-N -l", "-o", "program", "."])
        .current_dir(world.work())
        .env("GOCACHE", &cache)
        .env("GOFLAGS", "-buildvcs=false")
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    world.write("commands", "break main.twice\ncontinue\nprint number\nexit\n");
    let text = succeeds(
        &world,
        "HOME=/tmp timeout 60 dlv exec ./program --init commands --allow-non-terminal-interactive=true < /dev/null 2>&1",
    );
    assert!(text.lines().any(|line| line.trim() == "21"), "{text}");
    assert!(Path::new(&cache).exists());
}
