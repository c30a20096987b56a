//! A model server that costs next to nothing and notes when everything happened.
//!
//! It does not parse requests: a request that offers the tool is answered with the next step of the script, any
//! other with a word. Chat Completions and Responses are spoken, by path.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

/// What the model does.
#[derive(Clone)]
pub struct Script {
    turns: usize,
    command: Option<String>,
    answer_bytes: usize,
}

impl Script {
    /// So many commands, then a short answer.
    pub fn turns(turns: usize) -> Self {
        Self { turns, command: None, answer_bytes: 0 }
    }

    /// One command, then a short answer.
    pub fn command(command: &str) -> Self {
        Self::repeated(1, command)
    }

    /// A command in every turn, with its number for `TURN`, then a short answer.
    pub fn repeated(turns: usize, command: &str) -> Self {
        Self { turns, command: Some(command.to_owned()), answer_bytes: 0 }
    }

    /// A long answer in pieces of 40 bytes.
    pub fn stream(bytes: usize) -> Self {
        Self { turns: 0, command: None, answer_bytes: bytes }
    }
}

/// How a rival's shell tool is called.
#[derive(Clone)]
pub struct ShellTool {
    pub name: &'static str,
    pub argument: &'static str,
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The last byte of the request was there.
    pub received: Instant,
    /// The last byte of the answer was given to the kernel.
    pub answered: Instant,
    pub body_bytes: u64,
    /// What the process had written so far, to files and sockets.
    pub written_bytes: u64,
}

pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    script: Script,
    tool: ShellTool,
    pid: AtomicU32,
    books: Mutex<Books>,
    /// Made before the clock runs: as Chat Completions and as Responses.
    long_answers: (Vec<u8>, Vec<u8>),
}

#[derive(Default)]
struct Books {
    exchanges: Vec<Exchange>,
    peak_kb: u64,
}

impl Server {
    pub fn start(script: Script, tool: ShellTool) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let line = "The quick brown fox jumps over the lazy dog while the build runs.\n";
        let text = line.repeat(script.answer_bytes / line.len() + 1)[..script.answer_bytes].to_owned();
        let long_answers = (text_events("/chat/completions", &text), text_events("/responses", &text));
        let shared =
            Arc::new(Shared { script, tool, pid: AtomicU32::new(0), books: Mutex::default(), long_answers });
        let for_thread = Arc::clone(&shared);
        // The thread ends with the process; a bench run has a few dozen of them.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&for_thread);
                std::thread::spawn(move || serve(&stream, &shared).ok());
            }
        });
        Ok(Self { port, shared })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process whose memory and writes are noted.
    pub fn watch(&self, pid: u32) {
        self.shared.pid.store(pid, Ordering::Release);
    }

    pub fn finish(&self) -> (Vec<Exchange>, u64) {
        let books = self.shared.books.lock().unwrap_or_else(PoisonError::into_inner);
        (books.exchanges.clone(), books.peak_kb)
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(256 * 1024, stream.try_clone()?);
    let mut writer = stream.try_clone()?;
    loop {
        let mut request_line = String::new();
        if reader.read_line(&mut request_line)? == 0 {
            return Ok(());
        }
        let mut length = 0;
        let mut chunked = false;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let header = header.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
        }
        let body = if chunked { read_chunks(&mut reader)? } else { read_body(&mut reader, length)? };
        let received = Instant::now();
        let path = request_line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let is_model = path.ends_with("/chat/completions") || path.ends_with("/responses");
        let offers_tool =
            memchr::memmem::find(&body, format!("\"{}\"", shared.tool.name).as_bytes()).is_some();
        if !is_model {
            let list = r#"{"object":"list","data":[]}"#;
            let length = list.len();
            write!(
                writer,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{list}"
            )?;
            continue;
        }
        let turn = calls_so_far(&body);
        let long = offers_tool && turn >= shared.script.turns && shared.script.answer_bytes > 0;
        let prepared =
            if path.ends_with("/responses") { &shared.long_answers.1 } else { &shared.long_answers.0 };
        let short = if long { Vec::new() } else { answer(shared, &path, turn, offers_tool) };
        let events = if long { prepared } else { &short };
        writer.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        for piece in events.chunks(8192) {
            write!(writer, "{:x}\r\n", piece.len())?;
            writer.write_all(piece)?;
            writer.write_all(b"\r\n")?;
        }
        writer.write_all(b"0\r\n\r\n")?;
        let answered = Instant::now();
        if offers_tool {
            note(shared, Exchange { received, answered, body_bytes: body.len() as u64, written_bytes: 0 });
        }
    }
}

fn note(shared: &Shared, mut exchange: Exchange) {
    let pid = shared.pid.load(Ordering::Acquire);
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    exchange.written_bytes = field("io", "wchar:").unwrap_or(0);
    let peak = field("status", "VmHWM:").unwrap_or(0);
    let mut books = shared.books.lock().unwrap_or_else(PoisonError::into_inner);
    books.exchanges.push(exchange);
    books.peak_kb = books.peak_kb.max(peak);
}

fn read_body(reader: &mut impl Read, length: usize) -> anyhow::Result<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(reader: &mut impl BufRead) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim().split(';').next().unwrap_or("0"), 16)?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

/// The highest number among the ids of the calls in the request.
fn calls_so_far(body: &[u8]) -> usize {
    let mark = b"call_bench";
    let mut highest = 0;
    let mut rest = body;
    while let Some(place) = memchr::memmem::rfind(rest, mark) {
        let digits: String = rest[place + mark.len()..]
            .iter()
            .map(|byte| *byte as char)
            .take_while(char::is_ascii_digit)
            .collect();
        if let Ok(number) = digits.parse::<usize>() {
            highest = highest.max(number);
            break;
        }
        rest = &rest[..place];
    }
    highest
}

/// The events of the next answer.
fn answer(shared: &Shared, path: &str, turn: usize, offers_tool: bool) -> Vec<u8> {
    let script = &shared.script;
    if offers_tool && turn < script.turns {
        let number = turn + 1;
        let command = script.command.as_deref().unwrap_or("echo step-TURN-ok");
        let command = command.replace("TURN", &number.to_string());
        let arguments = json!({ shared.tool.argument: command }).to_string();
        return call_events(path, shared.tool.name, &format!("call_bench{number}"), &arguments);
    }
    text_events(path, "All done.")
}

fn event(out: &mut Vec<u8>, path: &str, value: &Value) {
    if path.ends_with("/responses") {
        out.extend_from_slice(format!("event: {}\n", value["type"].as_str().unwrap_or_default()).as_bytes());
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(value.to_string().as_bytes());
    out.extend_from_slice(b"\n\n");
}

fn chat_chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({"id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "mock",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn call_events(path: &str, name: &str, id: &str, arguments: &str) -> Vec<u8> {
    let mut out = Vec::new();
    if path.ends_with("/responses") {
        let item = json!({"type": "function_call", "id": "fc", "call_id": id, "name": name, "arguments": arguments, "status": "completed"});
        responses(&mut out, path, &item, |out| {
            event(
                out,
                path,
                &json!({"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": arguments}),
            );
        });
        return out;
    }
    let start = json!({"tool_calls": [{"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
    event(&mut out, path, &chat_chunk(&start, None));
    event(
        &mut out,
        path,
        &chat_chunk(&json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}), None),
    );
    event(&mut out, path, &chat_chunk(&json!({}), Some("tool_calls")));
    chat_end(&mut out, path);
    out
}

fn text_events(path: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let pieces = text.as_bytes().chunks(40).map(|piece| String::from_utf8_lossy(piece).into_owned());
    if path.ends_with("/responses") {
        let item = json!({"type": "message", "id": "msg", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]});
        responses(&mut out, path, &item, |out| {
            for piece in pieces {
                event(
                    out,
                    path,
                    &json!({"type": "response.output_text.delta", "item_id": "msg", "output_index": 0, "content_index": 0, "delta": piece}),
                );
            }
        });
        return out;
    }
    for piece in pieces {
        event(&mut out, path, &chat_chunk(&json!({"content": piece}), None));
    }
    event(&mut out, path, &chat_chunk(&json!({}), Some("stop")));
    chat_end(&mut out, path);
    out
}

fn chat_end(out: &mut Vec<u8>, path: &str) {
    let usage = json!({"id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": [],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}});
    event(out, path, &usage);
    out.extend_from_slice(b"data: [DONE]\n\n");
}

fn responses(out: &mut Vec<u8>, path: &str, item: &Value, middle: impl FnOnce(&mut Vec<u8>)) {
    let usage = json!({"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1010});
    let response = |status: &str, output: Value, usage: Value| json!({"id": "resp", "object": "response", "created_at": 1, "model": "mock", "status": status, "output": output, "usage": usage});
    event(
        out,
        path,
        &json!({"type": "response.created", "response": response("in_progress", json!([]), Value::Null)}),
    );
    event(out, path, &json!({"type": "response.output_item.added", "output_index": 0, "item": item}));
    middle(out);
    event(out, path, &json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    event(
        out,
        path,
        &json!({"type": "response.completed", "response": response("completed", json!([item]), usage)}),
    );
}

/// One exchange over a kept connection, without an agent: milliseconds.
pub fn bare_exchange(times: usize) -> anyhow::Result<f64> {
    let tool = ShellTool { name: "bash", argument: "command" };
    let server = Server::start(Script::turns(0), tool)?;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port()))?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 64 * 1024];
    let started = Instant::now();
    for _ in 0..times {
        stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 6\r\n\r\n\"bash\"")?;
        let mut seen = Vec::new();
        while !seen.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut buffer)?;
            seen.extend_from_slice(&buffer[..read]);
        }
    }
    Ok(started.elapsed().as_secs_f64() * 1000.0 / times as f64)
}
