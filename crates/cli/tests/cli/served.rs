//! A front end that talks with `stepwell serve --stdio`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::world::World;

/// A conversation with `stepwell serve --stdio`.
pub struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub last: u64,
}

impl Served {
    pub fn start(world: &World) -> Self {
        let mut child =
            world.command(&["serve", "--stdio"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, last: 0 }
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    /// The reply to a command or a query.
    pub fn ask(&mut self, kind: &str, body: Value) -> Value {
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

    pub fn command(&mut self, command: Value) -> Value {
        let reply = self.ask("command", command);
        assert_ne!(reply["result"], "failed", "{reply}");
        reply
    }

    pub fn follow(&mut self, task: &str) {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"type": "follow", "id": id, "task": task, "after": 0}));
    }

    /// Waits for the end of a run of this task and gives the outputs of its tools.
    pub fn run_ended(&mut self, task: &str) -> Vec<String> {
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

    pub fn start_task(&mut self, world: &World, task: &str, prompt: &str) {
        self.command(json!({
            "type": "start_task", "task": task, "workspace": world.work(),
            "prompt": [{"type": "text", "text": prompt}], "permission_mode": "bypassPermissions",
        }));
        self.follow(task);
    }

    pub fn say(&mut self, task: &str, text: &str) {
        self.command(
            json!({"type": "send_message", "task": task, "parts": [{"type": "text", "text": text}]}),
        );
    }

    /// Ends the input and waits for the end.
    pub fn close(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}
