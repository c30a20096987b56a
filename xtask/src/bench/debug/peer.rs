//! A process that is spoken to in JSON through its standard streams: line by line (MCP) or framed (DAP).

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// Longer than any of these programs takes for one answer.
const ANSWER: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Lines,
    Headers,
}

pub struct Peer {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    framing: Framing,
    last: i64,
    /// Events that came while something else was waited for.
    events: Vec<Value>,
}

impl Peer {
    pub fn start(mut command: Command, framing: Framing) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = child.stdout.take().context("no standard output")?;
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output, framing) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, input, messages, framing, last: 0, events: Vec::new() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn write(&mut self, message: &Value) -> anyhow::Result<()> {
        let text = message.to_string();
        match self.framing {
            Framing::Lines => writeln!(self.input, "{text}")?,
            Framing::Headers => write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?,
        }
        Ok(self.input.flush()?)
    }

    fn next(&mut self, deadline: Instant) -> anyhow::Result<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        self.messages.recv_timeout(left).context("no answer came")
    }

    /// Sends a DAP request without waiting for its answer.
    pub fn send(&mut self, command: &str, arguments: Value) -> anyhow::Result<i64> {
        self.last += 1;
        let message =
            json!({"seq": self.last, "type": "request", "command": command, "arguments": arguments});
        self.write(&message)?;
        Ok(self.last)
    }

    /// A DAP request and the body of its answer.
    pub fn request(&mut self, command: &str, arguments: Value) -> anyhow::Result<Value> {
        let seq = self.send(command, arguments)?;
        let deadline = Instant::now() + ANSWER;
        loop {
            let mut message = self.next(deadline)?;
            if message["type"] == "event" {
                self.events.push(message);
            } else if message["request_seq"] == seq {
                if message["success"] == false {
                    bail!("{command}: {}", message["message"]);
                }
                return Ok(message["body"].take());
            }
        }
    }

    /// The body of the next DAP event of a name, also of one that came already.
    pub fn event(&mut self, name: &str) -> anyhow::Result<Value> {
        if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
            return Ok(self.events.remove(at)["body"].take());
        }
        let deadline = Instant::now() + ANSWER;
        loop {
            let mut message = self.next(deadline)?;
            if message["event"] == name {
                return Ok(message["body"].take());
            }
            self.events.push(message);
        }
    }

    pub fn initialize_mcp(&mut self) -> anyhow::Result<usize> {
        let client = json!({"name": "bench", "version": "1"});
        self.mcp(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        )?;
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(self.mcp("tools/list", json!({}))?["tools"].to_string().len())
    }

    fn mcp(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.last += 1;
        let id = self.last;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + ANSWER;
        loop {
            let mut message = self.next(deadline)?;
            if message["id"] == id && message.get("method").is_none() {
                if message.get("error").is_some() {
                    bail!("{method}: {}", message["error"]);
                }
                return Ok(message["result"].take());
            }
        }
    }

    /// A tool's answer as data, and the bytes of text that a model would read.
    pub fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<(Value, usize)> {
        let result = self.mcp("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let text: String = result["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect();
        if result["isError"] == true {
            bail!("{tool}: {text}");
        }
        let data = match &result["structuredContent"] {
            Value::Null => serde_json::from_str(&text).unwrap_or(Value::Null),
            data => data.clone(),
        };
        Ok((data, text.len()))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn read(output: &mut BufReader<ChildStdout>, framing: Framing) -> Option<Value> {
    let mut line = String::new();
    let mut length = 0;
    loop {
        line.clear();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let text = line.trim();
        match framing {
            Framing::Lines => {
                if let Ok(message) = serde_json::from_str(text) {
                    return Some(message);
                }
            }
            Framing::Headers if text.is_empty() => break,
            Framing::Headers => {
                if let Some(value) = text.strip_prefix("Content-Length:") {
                    length = value.trim().parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
