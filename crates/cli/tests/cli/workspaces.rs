//! What belongs to a workspace: its rules and trust, and what runs in it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};

use serde_json::{Value, json};
use stepwell_protocol::Event;
use stepwell_test_support::{Turn, call};

use crate::world::World;

fn touch(file: &str) -> Turn {
    Turn::calls([call("bash", json!({"command": format!("touch {file}")}))])
}

/// The binary in another folder of the same world.
fn from(world: &World, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.current_dir(folder);
    command
}

fn refusals(world: &World) -> Vec<String> {
    let log = world.log(&world.only_task());
    let failed = log.into_iter().filter_map(|record| match record.event {
        Event::Observation { result } => result.error.map(|error| error.message),
        _ => None,
    });
    failed.collect()
}

#[test]
fn resume_uses_rules_of_the_task_workspace() {
    let elsewhere = tempfile::tempdir().unwrap();
    // From another folder, from none of ours, and from one within the workspace.
    for place in ["elsewhere", "root", "nested"] {
        let world = World::new([Turn::text("one"), touch("made"), Turn::text("two")]);
        world.write(".stepwell/config.toml", "[permissions]\ndeny = [\"bash(touch *)\"]\n");
        world.write("nested/inner.txt", "");
        assert!(world.output(&["run", "--quiet", "first"]).status.success());
        let nested = world.work().join("nested");
        let folder = match place {
            "elsewhere" => elsewhere.path(),
            "root" => Path::new("/"),
            _ => &nested,
        };
        let arguments =
            ["run", "--quiet", "--permission-mode", "bypassPermissions", "--resume", "1", "touch it"];
        let output = from(&world, folder, &arguments).output().unwrap();
        assert!(output.status.success(), "{place}: {}", world.show(&output));
        let refused = refusals(&world);
        assert!(
            refused.len() == 1 && refused[0].contains("project rule bash(touch *)"),
            "{place}: {refused:?}"
        );
        assert!(!world.work().join("made").exists());
    }
}

#[test]
fn resume_uses_trust_of_the_task_workspace() {
    let world = World::new([Turn::text("one"), touch("made"), Turn::text("two")]);
    assert!(world.output(&["run", "--quiet", "first"]).status.success());
    // Another folder is trusted and allows the command; the task's own folder says nothing about it.
    let trusted = tempfile::tempdir().unwrap();
    std::fs::create_dir(trusted.path().join(".stepwell")).unwrap();
    let settings = "[permissions]\nallow = [\"bash(touch *)\"]\n";
    std::fs::write(trusted.path().join(".stepwell/config.toml"), settings).unwrap();
    assert!(from(&world, trusted.path(), &["config", "trust"]).output().unwrap().status.success());
    let arguments = ["run", "--quiet", "--permission-mode", "dontAsk", "--resume", "1", "touch it"];
    from(&world, trusted.path(), &arguments).output().unwrap();
    let refused = refusals(&world);
    assert!(refused.len() == 1 && refused[0].contains("dontAsk"), "{refused:?}");
    assert!(!world.work().join("made").exists() && !trusted.path().join("made").exists());
}

/// A conversation with `stepwell serve --stdio`.
struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Served {
    fn start(world: &World) -> Self {
        let mut child =
            world.command(&["serve", "--stdio"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, last: 0 }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    /// The reply to a command or a query.
    fn ask(&mut self, kind: &str, body: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"type": kind, "id": id, (kind): body}));
        loop {
            let message = self.receive();
            assert_ne!(message["type"], "rejected", "{message}");
            if message["id"] == id && message.get("reply").is_some() {
                return message["reply"].clone();
            }
        }
    }

    fn command(&mut self, command: Value) -> Value {
        let reply = self.ask("command", command);
        assert_ne!(reply["result"], "failed", "{reply}");
        reply
    }

    fn follow(&mut self, task: &str) {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"type": "follow", "id": id, "task": task, "after": 0}));
    }

    /// Waits for the end of a run of this task and gives the outputs of its tools.
    fn run_ended(&mut self, task: &str) -> Vec<String> {
        let mut outputs = Vec::new();
        loop {
            let message = self.receive();
            if message["type"] != "event" || message["task"] != task {
                continue;
            }
            let event = &message["record"]["event"];
            match event["type"].as_str().unwrap_or_default() {
                "observation" => outputs.push(event["result"]["output"].as_str().unwrap().to_owned()),
                "run_ended" => return outputs,
                _ => {}
            }
        }
    }

    fn start_task(&mut self, world: &World, task: &str, prompt: &str) {
        self.command(json!({
            "type": "start_task", "task": task, "workspace": world.work(),
            "prompt": [{"type": "text", "text": prompt}], "permission_mode": "bypassPermissions",
        }));
        self.follow(task);
    }

    fn say(&mut self, task: &str, text: &str) {
        self.command(
            json!({"type": "send_message", "task": task, "parts": [{"type": "text", "text": text}]}),
        );
    }

    /// Ends the input and waits for the end.
    fn close(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// Whether a process with this in its command line lives.
fn lives(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
fn a_background_command_lives_from_message_to_message_and_ends_with_the_last_door() {
    let mark = format!("7{}", std::process::id());
    let start = json!({"command": format!("echo started; exec sleep {mark}.5"), "background": true});
    let world = World::new([
        Turn::calls([call("bash", start)]),
        Turn::text("started"),
        Turn::calls([call("process_read", json!({}))]),
        Turn::text("it runs"),
        Turn::calls([call("process_read", json!({}))]),
        Turn::text("here too"),
    ]);
    let mut served = Served::start(&world);
    served.start_task(&world, "one", "start it");
    assert!(served.run_ended("one")[0].contains("runs in the background as 1"));
    served.say("one", "does it run?");
    assert!(served.run_ended("one")[0].contains("sleep"), "the next message finds it");
    // Another task of the same workspace sees the same command, and so does a list.
    served.start_task(&world, "two", "does it run?");
    assert!(served.run_ended("two")[0].contains("sleep"), "another task finds it");
    let listed = served.ask("query", json!({"type": "background_commands", "workspace": world.work()}));
    assert_eq!(listed["commands"][0]["process_id"], 1, "{listed}");
    assert_eq!(listed["commands"][0]["task"], "one");
    assert!(listed["commands"][0].get("ended").is_none());
    assert!(lives(&mark));
    let tasks = served.ask("query", json!({"type": "tasks"}));
    assert_eq!((&tasks["total"], &tasks["tasks"][0]["interrupted"]), (&json!(2), &json!(false)), "{tasks}");
    served.close();
    assert!(!lives(&mark), "nothing runs when the last door is closed");
}

#[test]
fn a_debug_session_lives_from_message_to_message() {
    if !crate::mcp::debug::has_debugpy() {
        return;
    }
    let program = "def add(a, b):\n    total = a + b\n    return total\n\nprint(add(1, 2))\n";
    let breakpoint = json!({"file": "main.py", "line": 3});
    let world = World::new([
        Turn::calls([call("set_breakpoint", breakpoint)]),
        Turn::calls([call("start_debugging", json!({"program": "main.py"}))]),
        Turn::text("stopped"),
        Turn::calls([call("evaluate_expression", json!({"expression": "total * 100"}))]),
        Turn::text("300"),
    ]);
    world.write("main.py", program);
    let mut served = Served::start(&world);
    served.start_task(&world, "one", "stop in add");
    let outputs = served.run_ended("one");
    assert!(outputs[1].contains("\"stopped\""), "{outputs:?}");
    let listed = served.ask("query", json!({"type": "debug_sessions", "workspace": world.work()}));
    let session = &listed["sessions"][0];
    assert_eq!(session["state"], "stopped", "{listed}");
    assert_eq!(
        (&session["stop"]["line"], &session["stop"]["reason"]),
        (&json!(3), &json!("breakpoint")),
        "{listed}"
    );
    let variables = session["stop"]["variables"].as_array().unwrap();
    assert!(variables.iter().any(|row| row["name"] == "total" && row["value"] == "3"), "{listed}");
    served.say("one", "what is total?");
    let outputs = served.run_ended("one");
    assert!(outputs[0].contains("300"), "{outputs:?}");
    served.close();
}

#[test]
fn a_front_end_undoes_redoes_and_restores_files_and_conversation() {
    let write = |text: &str| Turn::calls([call("bash", json!({"command": format!("echo {text} > a.txt")}))]);
    let world = World::new([write("one"), Turn::text("done"), write("two"), Turn::text("done")]);
    world.write("a.txt", "zero\n");
    let mut served = Served::start(&world);
    served.start_task(&world, "one", "change it");
    served.run_ended("one");
    served.say("one", "again");
    served.run_ended("one");
    let content = || std::fs::read_to_string(world.work().join("a.txt")).unwrap();
    assert_eq!(content(), "two\n");
    let workspace = world.work();
    let undone = served.command(json!({"type": "undo", "workspace": workspace, "count": 1}));
    assert_eq!(undone, json!({"result": "restored", "files": [{"path": "a.txt"}], "obstacles": []}));
    assert_eq!(content(), "one\n");
    served.command(json!({"type": "redo", "workspace": workspace}));
    assert_eq!(content(), "two\n");
    let listed = served.ask("query", json!({"type": "checkpoints", "workspace": workspace, "limit": 20}));
    let first =
        listed["checkpoints"].as_array().unwrap().iter().filter_map(|one| one["checkpoint"].as_u64()).min();
    served.command(json!({"type": "restore", "workspace": workspace, "checkpoint": first, "what": "both"}));
    assert_eq!(content(), "zero\n");
    let history = served.ask("query", json!({"type": "history", "task": "one", "limit": 50}));
    assert!(history.to_string().contains("history_rewound"), "{history}");
    // What the person changed meanwhile stands in the way, and nothing is lost.
    served.command(json!({"type": "redo", "workspace": workspace}));
    world.write("a.txt", "mine\n");
    let refused = served.command(json!({"type": "undo", "workspace": workspace, "count": 1}));
    assert_eq!(refused["obstacles"][0]["path"], "a.txt", "{refused}");
    assert_eq!(content(), "mine\n");
    served.close();
}

#[test]
fn a_line_that_is_no_message_is_refused_and_the_next_one_is_read() {
    let world = World::new([]);
    let mut served = Served::start(&world);
    served.send(&json!({"type": "nonsense"}));
    let refused = served.receive();
    assert_eq!(refused["type"], "rejected", "{refused}");
    let reply = served.ask("query", json!({"type": "commands"}));
    assert!(reply["commands"].as_array().unwrap().len() > 20, "{reply}");
    served.close();
}

#[test]
fn questions_are_answered_although_the_input_ends_at_once() {
    let world = World::new([]);
    let output = world
        .given(&["serve", "--stdio"], "{\"type\":\"query\",\"id\":7,\"query\":{\"type\":\"commands\"}}\n");
    assert!(output.status.success(), "{}", world.show(&output));
    let line = String::from_utf8(output.stdout).unwrap();
    let reply: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!((&reply["id"], &reply["type"]), (&json!(7), &json!("query_reply")));
}
