//! A server that the binary runs, and windows that are connected to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_protocol::{EventRecord, Seq, ServerMessage};
use stepwell_transcript::Transcript;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use crate::world::World;

/// How long a window waits for a message.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Server {
    pub child: Child,
    pub address: String,
    pub token: String,
}

impl Server {
    pub fn start(world: &World, words: &[&str]) -> Self {
        let mut child = world.command(&[&["serve"], words].concat()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").map(str::to_owned);
        let address = address.unwrap_or_else(|| {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("no address: {line} {said}")
        });
        let token = std::fs::read_to_string(world.data().join("serve/token")).unwrap();
        Self { child, address, token }
    }

    pub fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap()
    }

    /// A request with these lines of headers; the whole answer.
    pub fn request(&self, line: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }

    pub fn window(&self, name: &str) -> Window {
        let mut request = format!("ws://{}/api/socket", self.address).into_client_request().unwrap();
        let bearer = format!("Bearer {}", self.token);
        request.headers_mut().insert("Authorization", bearer.parse().unwrap());
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        let mut window = Window { socket, last_id: 0, seen: Seen::default() };
        window.send(&json!({"type": "hello", "attended": true, "name": name}));
        window
    }

    /// Ends it by a signal and returns what it said on standard error.
    pub fn end(mut self) -> String {
        let signal = std::process::Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(signal.success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success(), "{said}");
        said
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a window has of a task.
#[derive(Default)]
pub struct Seen {
    pub transcript: Transcript,
    pub durable: Vec<EventRecord>,
}

impl Seen {
    /// What a window begins with that comes back: what streamed and was not kept may have died with the server.
    pub fn kept(self) -> Self {
        Self { transcript: Transcript::of(&self.durable), durable: self.durable }
    }
}

pub struct Window {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    pub seen: Seen,
}

impl Window {
    pub fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// The next message; `None` when the socket is closed or broken.
    pub fn receive(&mut self) -> Option<Value> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let value: Value = serde_json::from_str(&text).unwrap();
                    if let Ok(ServerMessage::Event { record, .. }) = serde_json::from_value(value.clone()) {
                        self.seen.transcript.apply(&record);
                        if record.event.is_durable() {
                            self.seen.durable.push(record);
                        }
                    }
                    return Some(value);
                }
                Ok(Message::Close(_)) => return None,
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    panic!("nothing came")
                }
                Err(_) => return None,
            }
        }
    }

    pub fn command(&mut self, command: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"type": "command", "id": id, "command": command}));
        loop {
            let message = self.receive().expect("the socket is closed");
            if message["type"] == "command_reply" && message["id"] == id {
                return message["reply"].clone();
            }
        }
    }

    /// Follows a task after the last event that this window has.
    pub fn follow(&mut self, task: &str) {
        let after = self.seen.durable.last().map_or(Seq(0), |record| record.seq);
        self.last_id += 1;
        self.send(&json!({"type": "follow", "id": self.last_id, "task": task, "after": after}));
    }

    pub fn start_task(&mut self, world: &World, task: &str, permission_mode: &str) {
        let reply = self.command(json!({
            "type": "start_task", "task": task, "workspace": world.work(), "permission_mode": permission_mode,
            "prompt": [{"type": "text", "text": "begin"}],
        }));
        assert_eq!(reply["result"], "task", "{reply}");
        self.follow(task);
    }

    /// Reads until an event of this type comes.
    pub fn until(&mut self, kind: &str) -> Value {
        loop {
            let message = self.receive().expect("the socket is closed");
            let event = &message["record"]["event"];
            if message["type"] == "event" && event["type"] == kind {
                return event.clone();
            }
        }
    }
}
