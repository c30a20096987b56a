//! A debug adapter in this process that does what a script says, right or wrong, over a stream as a real one would.
//!
//! [`AdapterScript::behaved`] debugs a program of one thread that stops once at its beginning; a test replaces what it
//! does at a request by [`Act`]s.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};

/// Bytes on their way between the two ends.
const PIPE: usize = 64 * 1024;

/// One thing an adapter does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers the request.
    Answer(Value),
    /// Answers `setBreakpoints` as if every line had code.
    Bind,
    Refuse(String),
    /// Answers the newest request of this command that is not answered yet, whichever is being handled.
    AnswerTo(String, Value),
    Event(String, Value),
    /// Asks the client something.
    Ask(String, Value),
    /// Answers with these bytes in a frame; `@` in them stands for the request's number.
    AnswerRaw(Vec<u8>),
    /// Writes bytes as they are.
    Raw(Vec<u8>),
    /// Answers with a body of text of so many bytes, without ever holding it.
    AnswerLong {
        before: String,
        length: usize,
        after: String,
    },
    Repeat(u32, Box<Act>),
    Wait(Duration),
    /// Ends the connection.
    Close,
    /// Neither reads nor writes any more, and keeps the connection.
    Hang,
}

/// What is done at each request.
#[derive(Clone, Debug, Default)]
pub struct AdapterScript {
    always: HashMap<String, Vec<Act>>,
    next: HashMap<String, VecDeque<Vec<Act>>>,
    at_connection: Vec<Act>,
}

impl AdapterScript {
    /// An adapter without faults.
    pub fn behaved() -> Self {
        let answer = |body: Value| vec![Act::Answer(body)];
        let stopped = |reason: &str| {
            Act::Event(
                "stopped".to_owned(),
                json!({ "reason": reason, "threadId": 1, "allThreadsStopped": true }),
            )
        };
        let event = |name: &str, body: Value| Act::Event(name.to_owned(), body);
        let filters = json!([{ "filter": "uncaught", "label": "Uncaught Exceptions" }]);
        let capabilities = json!({
            "supportsConfigurationDoneRequest": true, "supportsSetVariable": true, "supportsSetExpression": true,
            "supportsFunctionBreakpoints": true, "supportsExceptionInfoRequest": true,
            "supportsDisassembleRequest": true, "supportsReadMemoryRequest": true,
            "supportsDataBreakpoints": true, "supportsRestartRequest": true,
            "exceptionBreakpointFilters": filters,
        });
        let frame = json!({ "id": 1000, "name": "main", "line": 3, "column": 1,
            "source": { "name": "program.py", "path": "/nowhere/program.py" } });
        let variable = json!({ "name": "x", "value": "1", "type": "int", "variablesReference": 0 });
        let mut script = Self::default();
        let behaviour: [(&str, Vec<Act>); 22] = [
            ("initialize", answer(capabilities)),
            ("launch", vec![Act::Answer(json!({})), event("initialized", json!({}))]),
            ("attach", vec![Act::Answer(json!({})), event("initialized", json!({}))]),
            ("setBreakpoints", vec![Act::Bind]),
            ("setFunctionBreakpoints", vec![Act::Bind]),
            ("setExceptionBreakpoints", answer(json!({}))),
            (
                "configurationDone",
                vec![
                    Act::Answer(json!({})),
                    event("process", json!({ "name": "program.py", "systemProcessId": 4_000_000 })),
                    stopped("entry"),
                ],
            ),
            ("threads", answer(json!({ "threads": [{ "id": 1, "name": "main" }] }))),
            ("stackTrace", answer(json!({ "stackFrames": [frame], "totalFrames": 1 }))),
            (
                "scopes",
                answer(
                    json!({ "scopes": [{ "name": "Locals", "variablesReference": 7, "expensive": false }] }),
                ),
            ),
            ("variables", answer(json!({ "variables": [variable] }))),
            ("evaluate", answer(json!({ "result": "1", "type": "int", "variablesReference": 0 }))),
            ("setVariable", answer(json!({ "value": "2" }))),
            ("setExpression", answer(json!({ "value": "2" }))),
            ("exceptionInfo", answer(json!({ "exceptionId": "ValueError", "breakMode": "unhandled" }))),
            ("next", vec![Act::Answer(json!({})), stopped("step")]),
            ("stepIn", vec![Act::Answer(json!({})), stopped("step")]),
            ("stepOut", vec![Act::Answer(json!({})), stopped("step")]),
            ("pause", vec![Act::Answer(json!({})), stopped("pause")]),
            (
                "continue",
                vec![
                    Act::Answer(json!({ "allThreadsContinued": true })),
                    event("exited", json!({ "exitCode": 0 })),
                    event("terminated", json!({})),
                ],
            ),
            ("terminate", answer(json!({}))),
            ("disconnect", vec![Act::Answer(json!({})), Act::Close]),
        ];
        for (command, acts) in behaviour {
            script.always.insert(command.to_owned(), acts);
        }
        script
    }

    /// Does this at every request of a command; nothing at all where the list is empty.
    pub fn on(mut self, command: &str, acts: impl IntoIterator<Item = Act>) -> Self {
        self.always.insert(command.to_owned(), acts.into_iter().collect());
        self
    }

    /// Does this at the next request of a command that nothing else was said for.
    pub fn once(mut self, command: &str, acts: impl IntoIterator<Item = Act>) -> Self {
        self.next.entry(command.to_owned()).or_default().push_back(acts.into_iter().collect());
        self
    }

    /// Does this before it is asked anything.
    pub fn at_connection(mut self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.at_connection = acts.into_iter().collect();
        self
    }

    fn reaction(&mut self, command: &str) -> Vec<Act> {
        if let Some(acts) = self.next.get_mut(command).and_then(VecDeque::pop_front) {
            return acts;
        }
        let unknown = || vec![Act::Refuse(format!("`{command}` is not known"))];
        self.always.get(command).cloned().unwrap_or_else(unknown)
    }
}

/// The adapter. Every connection to it is served from the script's beginning.
#[derive(Clone, Debug)]
pub struct FakeAdapter {
    script: AdapterScript,
    heard: Arc<Mutex<Vec<Value>>>,
    open: Arc<AtomicUsize>,
}

impl FakeAdapter {
    pub fn new(script: AdapterScript) -> Self {
        Self { script, heard: Arc::default(), open: Arc::default() }
    }

    /// The client's end of a new connection. Must be called within a runtime.
    pub fn connect(&self) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        self.serve(ours);
        theirs
    }

    /// Listens on a port of this machine, in a thread of its own, for as long as the test lives. The port.
    pub fn listen(&self) -> u16 {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("a listener that does not block");
        let adapter = self.clone();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                while let Ok((stream, _)) = listener.accept().await {
                    adapter.serve(stream);
                }
            });
        });
        port
    }

    fn serve(&self, stream: impl AsyncRead + AsyncWrite + Send + 'static) {
        let (reader, writer) = tokio::io::split(stream);
        let serving = Serving {
            reader,
            writer,
            script: self.script.clone(),
            heard: Arc::clone(&self.heard),
            seq: 1,
            unanswered: Vec::new(),
        };
        self.open.fetch_add(1, Ordering::SeqCst);
        let open = Arc::clone(&self.open);
        tokio::spawn(async move {
            serving.serve().await;
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }

    /// Every message the client sent, answers to our questions included, in their order.
    pub fn heard(&self) -> Vec<Value> {
        self.heard.lock().clone()
    }

    /// Connections that are still served.
    pub fn open_connections(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

/// Whether a connection goes on.
#[derive(PartialEq, Eq)]
enum Then {
    GoOn,
    Close,
}

struct Serving<S> {
    reader: ReadHalf<S>,
    writer: WriteHalf<S>,
    script: AdapterScript,
    heard: Arc<Mutex<Vec<Value>>>,
    seq: i64,
    /// Requests that got no answer yet, by number and command.
    unanswered: Vec<(i64, String, Value)>,
}

impl<S: AsyncRead + AsyncWrite> Serving<S> {
    async fn serve(mut self) {
        let first = std::mem::take(&mut self.script.at_connection);
        if self.act_all(&first, None).await == Then::Close {
            return;
        }
        while let Some(message) = self.read().await {
            self.heard.lock().push(message.clone());
            let (Some(seq), Some("request")) = (message["seq"].as_i64(), message["type"].as_str()) else {
                continue;
            };
            let command = message["command"].as_str().unwrap_or_default().to_owned();
            self.unanswered.push((seq, command.clone(), message["arguments"].clone()));
            let acts = self.script.reaction(&command);
            if self.act_all(&acts, Some(seq)).await == Then::Close {
                return;
            }
        }
    }

    async fn act_all(&mut self, acts: &[Act], asked: Option<i64>) -> Then {
        for act in acts {
            if self.act(act, asked).await == Then::Close {
                return Then::Close;
            }
        }
        Then::GoOn
    }

    async fn act(&mut self, act: &Act, asked: Option<i64>) -> Then {
        let written = match act {
            Act::Answer(body) => self.answer(asked, body.clone()).await,
            Act::Bind => {
                let request = self.unanswered.iter().find(|(seq, ..)| Some(*seq) == asked);
                let wished = request.and_then(|(.., arguments)| arguments["breakpoints"].as_array());
                let bound: Vec<Value> = (1_i64..)
                    .zip(wished.into_iter().flatten())
                    .map(|(id, wish)| json!({ "id": id, "verified": true, "line": wish["line"] }))
                    .collect();
                self.answer(asked, json!({ "breakpoints": bound })).await
            }
            Act::Refuse(reason) => {
                let (seq, command) = self.take_unanswered(asked);
                let message = json!({ "type": "response", "request_seq": seq, "success": false,
                    "command": command, "message": reason });
                self.send(message).await
            }
            Act::AnswerTo(command, body) => {
                let newest = self.unanswered.iter().rev().find(|(_, known, _)| known == command);
                let seq = newest.map(|(seq, ..)| *seq);
                self.answer(seq, body.clone()).await
            }
            Act::Event(name, body) => {
                self.send(json!({ "type": "event", "event": name, "body": body })).await
            }
            Act::Ask(command, arguments) => {
                self.send(json!({ "type": "request", "command": command, "arguments": arguments })).await
            }
            Act::AnswerRaw(bytes) => {
                let (seq, _) = self.take_unanswered(asked);
                let number = seq.to_string();
                let parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'@').collect();
                let body = parts.join(number.as_bytes());
                let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
                frame.extend(body);
                self.writer.write_all(&frame).await
            }
            Act::Raw(bytes) => self.writer.write_all(bytes).await,
            Act::AnswerLong { before, length, after } => {
                self.answer_long(asked, before, *length, after).await
            }
            Act::Repeat(count, act) => {
                for _ in 0..*count {
                    if Box::pin(self.act(act, asked)).await == Then::Close {
                        return Then::Close;
                    }
                }
                Ok(())
            }
            Act::Wait(time) => {
                // An event that never comes, with a deadline.
                tokio::time::timeout(*time, std::future::pending::<()>()).await.ok();
                Ok(())
            }
            Act::Close => return Then::Close,
            Act::Hang => {
                std::future::pending::<()>().await;
                Ok(())
            }
        };
        if written.is_ok() { Then::GoOn } else { Then::Close }
    }

    fn take_unanswered(&mut self, seq: Option<i64>) -> (i64, String) {
        let at = self.unanswered.iter().position(|(known, ..)| Some(*known) == seq);
        match at.map(|at| self.unanswered.remove(at)) {
            Some((seq, command, _)) => (seq, command),
            None => (seq.unwrap_or_default(), String::new()),
        }
    }

    async fn answer(&mut self, asked: Option<i64>, body: Value) -> std::io::Result<()> {
        let (seq, command) = self.take_unanswered(asked);
        let message = json!({ "type": "response", "request_seq": seq, "success": true,
            "command": command, "body": body });
        self.send(message).await
    }

    async fn answer_long(
        &mut self,
        asked: Option<i64>,
        before: &str,
        length: usize,
        after: &str,
    ) -> std::io::Result<()> {
        let (seq, command) = self.take_unanswered(asked);
        let head = format!(
            r#"{{"seq":{},"type":"response","request_seq":{seq},"success":true,"command":"{command}","body":{before}"#,
            self.seq
        );
        self.seq += 1;
        let tail = format!("{after}}}");
        let whole = head.len() + length + tail.len();
        self.writer.write_all(format!("Content-Length: {whole}\r\n\r\n{head}").as_bytes()).await?;
        let chunk = vec![b'x'; 16 * 1024];
        let mut left = length;
        while left > 0 {
            let now = left.min(chunk.len());
            self.writer.write_all(&chunk[..now]).await?;
            left -= now;
        }
        self.writer.write_all(tail.as_bytes()).await
    }

    async fn send(&mut self, mut message: Value) -> std::io::Result<()> {
        message["seq"] = self.seq.into();
        self.seq += 1;
        let body = message.to_string();
        self.writer.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await
    }

    /// The next message of the client; what it sends is well formed.
    async fn read(&mut self) -> Option<Value> {
        let mut header = Vec::new();
        while !header.ends_with(b"\r\n\r\n") {
            header.push(self.reader.read_u8().await.ok()?);
        }
        let header = String::from_utf8(header).ok()?;
        let length = header.trim().strip_prefix("Content-Length: ")?.parse().ok()?;
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).await.ok()?;
        serde_json::from_slice(&body).ok()
    }
}
