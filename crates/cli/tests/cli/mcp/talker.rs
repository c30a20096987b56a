//! A client that talks to the binary on its standard streams.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::World;

const DEADLINE: Duration = Duration::from_secs(60);

pub struct Talker {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl Talker {
    /// The process that serves.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn start(world: &World, words: &[&str]) -> Self {
        Self::start_with(world, words, &[])
    }

    /// As `start`, with further variables in the server's environment.
    pub fn start_with(world: &World, words: &[&str], variables: &[(String, String)]) -> Self {
        let mut command = world.command(&[&["mcp"], words].concat());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, stdin, lines, next_id: 0 }
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    pub fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(DEADLINE).expect("the server is silent");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"))
    }

    pub fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub fn hello(&mut self, version: &str, capabilities: Value) {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let answer = self.ask("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert!(answer["result"]["instructions"].as_str().unwrap().len() < 1500, "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end; whether the server was content with it.
    pub fn wait(mut self) -> bool {
        drop(self.stdin.take());
        self.child.wait().unwrap().success()
    }

    /// Closes the input, after which the server ends by itself.
    pub fn end(self) {
        assert!(self.wait(), "the server ended with an error");
    }
}
