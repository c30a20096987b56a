//! The server over HTTP, spoken by hand: who may in, sessions, streams, ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_mcp::McpServer;
use stepwell_mcp::http::{Hosts, HttpOptions, Token, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::test_server::{WAITING, server};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const DEADLINE: Duration = Duration::from_secs(30);

struct Running {
    address: String,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    server: McpServer,
}

impl Running {
    async fn start() -> Self {
        Self::with(HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback)).await
    }

    async fn with(options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (server, stop) = (server(), CancellationToken::new());
        let (serving_server, token) = (server.clone(), stop.clone());
        let serving =
            tokio::spawn(async move { Box::pin(serve(&serving_server, listener, &options, token)).await });
        Self { address, stop, serving, server }
    }

    async fn end(self) {
        self.stop.cancel();
        tokio::time::timeout(DEADLINE, self.serving)
            .await
            .expect("the server does not end")
            .unwrap()
            .unwrap();
    }

    /// A request with these lines in its head, and its answer as far as `until` says.
    async fn raw(&self, head: &str, body: &str) -> Stream {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let head = head.replace("HOST", &self.address).replace("TOKEN", TOKEN).replace('\n', "\r\n");
        let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        // A server that refuses a large body need not read it to its end.
        stream.write_all(text.as_bytes()).await.ok();
        Stream { stream, text: String::new() }
    }

    /// A post to `/mcp` with the token, and these headers besides.
    async fn post(&self, headers: &str, message: &Value) -> Stream {
        let head = format!(
            "POST /mcp HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nContent-Type: application/json\n\
             Accept: application/json, text/event-stream\nConnection: close{headers}"
        );
        self.raw(&head, &message.to_string()).await
    }

    /// Says hello and gives the session's header.
    async fn hello(&self) -> String {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
        }});
        let answer = self.post("", &hello).await.rest().await;
        assert!(answer.contains("200 OK"), "{answer}");
        let id = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .unwrap_or_else(|| panic!("no session: {answer}"));
        let session = format!("\nMcp-Session-Id: {id}");
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let noted = self.post(&session, &note).await.rest().await;
        assert!(noted.contains("202 Accepted"), "{noted}");
        session
    }
}

struct Stream {
    stream: TcpStream,
    text: String,
}

impl Stream {
    /// Reads until the words have come.
    async fn until(&mut self, words: &str) -> &str {
        let mut buffer = [0; 4096];
        while !self.text.contains(words) {
            let read = tokio::time::timeout(DEADLINE, self.stream.read(&mut buffer)).await;
            let read = read.unwrap_or_else(|_| panic!("`{words}` does not come: {}", self.text)).unwrap();
            assert!(read > 0, "`{words}` did not come: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        &self.text
    }

    async fn rest(mut self) -> String {
        let mut bytes = Vec::new();
        tokio::time::timeout(DEADLINE, self.stream.read_to_end(&mut bytes)).await.expect("no end").unwrap();
        self.text.push_str(&String::from_utf8_lossy(&bytes));
        self.text
    }
}

fn call(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": {}, "_meta": {"progressToken": "p"}
    }})
}

/// The same call by the protocol without sessions, and the headers it needs.
fn modern(tool: &str) -> (String, Value) {
    let mut message = call(tool);
    let meta = &mut message["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    (format!("\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: {tool}"), message)
}

/// Waits, by the count the tool itself keeps, until no call of `test_wait` runs.
async fn until_nobody_waits(count: &AtomicUsize) {
    let gone = async {
        while count.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, gone).await.expect("the call goes on");
}

/// H01, H03, H04, H10: each refusal beside the request that is right.
#[tokio::test]
async fn only_the_right_requests_come_in() {
    let running = Running::start().await;
    let body = call("test_simple_text").to_string();
    let fine = "Authorization: Bearer TOKEN\nContent-Type: application/json\nAccept: application/json, text/event-stream\nConnection: close";
    let table = [
        // The twin: everything right, and the session is missing, which is the SDK's to say.
        (format!("POST /mcp HTTP/1.1\nHost: HOST\n{fine}"), "400", "session"),
        (format!("GET /nothing HTTP/1.1\nHost: HOST\n{fine}"), "404", "/mcp"),
        ("POST /mcp HTTP/1.1\nHost: HOST\nConnection: close".to_owned(), "401", "Bearer"),
        ("GET /mcp HTTP/1.1\nHost: HOST\nConnection: close".to_owned(), "401", "Bearer"),
        ("GET /sse HTTP/1.1\nHost: HOST\nConnection: close".to_owned(), "401", "Bearer"),
        ("POST /messages?sessionId=1 HTTP/1.1\nHost: HOST\nConnection: close".to_owned(), "401", "Bearer"),
        ("GET /nothing HTTP/1.1\nHost: HOST\nConnection: close".to_owned(), "401", "Bearer"),
        ("POST /mcp?token=TOKEN HTTP/1.1\nHost: HOST\nConnection: close".to_owned(), "401", "Bearer"),
        ("GET /mcp HTTP/1.1\nHost: HOST\nConnection: Upgrade, close\nUpgrade: websocket\nOrigin: http://evil.example".to_owned(), "403", "origins"),
        (format!("POST /mcp HTTP/1.1\nHost: evil.example\n{fine}"), "403", "Host"),
        (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1.nip.io\n{fine}"), "403", "Host"),
        (format!("POST /mcp HTTP/1.1\n{fine}"), "400", "Host"),
        (format!("POST /mcp HTTP/1.1\nHost: HOST\nHost: evil.example\n{fine}"), "400", "Host"),
        (format!("POST http://HOST/mcp HTTP/1.1\nHost: HOST\n{fine}"), "400", "proxy"),
        (format!("POST /mcp HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\n{fine}"), "403", "origins"),
        (format!("POST /mcp HTTP/1.1\nHost: HOST\nOrigin: http://HOST\n{fine}"), "400", "session"),
    ];
    for (head, status, words) in table {
        let answer = running.raw(&head, &body).await.rest().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}\n{answer}");
        assert!(answer.to_lowercase().contains(&words.to_lowercase()), "{head}\n{answer}");
        assert!(
            answer.contains("referrer-policy: no-referrer") && !answer.contains(TOKEN),
            "{head}\n{answer}"
        );
    }
    running.end().await;
}

/// H09: the server has no files; a path that leads anywhere else is none of its own.
#[tokio::test]
async fn h09_paths_that_lead_elsewhere_are_not_found() {
    let running = Running::start().await;
    let fine = "Host: HOST\nAuthorization: Bearer TOKEN\nAccept: application/json, text/event-stream\nConnection: close";
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%5c..%5cetc/passwd",
        "//etc/passwd",
        "/api/file?path=../../etc/passwd",
        "/mcp/../../etc/passwd",
        "/mcp/..%2f..%2fetc%2fpasswd",
        "/mcp%00/etc/passwd",
        "/.well-known/../etc/passwd",
        "/",
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            let answer = running.raw(&format!("{method} {path} HTTP/1.1\n{fine}"), "").await.rest().await;
            let status = answer.split(' ').nth(1).unwrap_or_default();
            assert!(["400", "403", "404", "405"].contains(&status), "{method} {path}: {answer}");
            assert!(!answer.contains("root:"), "{method} {path}: {answer}");
        }
    }
    let session = running.hello().await;
    let twin = running.post(&session, &call("test_simple_text")).await.rest().await;
    assert!(twin.contains("simple text response"), "{twin}");
    running.end().await;
}

/// H07: a session's id cannot be chosen or guessed, and ends when its client says so.
#[tokio::test]
async fn sessions_are_the_servers_to_name() {
    let running = Running::start().await;
    let (first, second) = (running.hello().await, running.hello().await);
    assert!(first != second && first.len() >= "\nMcp-Session-Id: ".len() + 64, "{first}");
    for session in [&first, &second] {
        let answer = running.post(session, &call("test_simple_text")).await.rest().await;
        assert!(answer.contains("simple text response"), "{answer}");
    }
    for guessed in ["1", "stepwell", &"0".repeat(64)] {
        let answer = running.post(&format!("\nMcp-Session-Id: {guessed}"), &call("test_simple_text")).await;
        let answer = answer.rest().await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{guessed}: {answer}");
    }
    let delete =
        format!("DELETE /mcp HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close{first}");
    let ended = running.raw(&delete, "").await.rest().await;
    assert!(ended.starts_with("HTTP/1.1 204 "), "{ended}");
    let again = running.raw(&delete, "").await.rest().await;
    assert!(again.starts_with("HTTP/1.1 404 "), "{again}");
    let gone = running.post(&first, &call("test_simple_text")).await.rest().await;
    assert!(gone.starts_with("HTTP/1.1 404 "), "{gone}");
    let other = running.post(&second, &call("test_simple_text")).await.rest().await;
    assert!(other.contains("simple text response"), "{other}");
    running.end().await;
}

#[tokio::test]
async fn sessions_and_bodies_are_bounded() {
    let mut options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
    options.most_sessions = 1;
    let running = Running::with(options).await;
    running.hello().await;
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }});
    let refused = running.post("", &hello).await.rest().await;
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("1 sessions already"), "{refused}");
    let sse = "GET /sse HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close";
    let mut open = running.raw(sse, "").await;
    open.until("event: endpoint").await;
    let refused = running.raw(sse, "").await.rest().await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    // Without sessions there is nothing to bound.
    let (headers, message) = modern("test_simple_text");
    let answer = running.post(&headers, &message).await.rest().await;
    assert!(answer.contains("simple text response"), "{answer}");
    let (headers, mut message) = modern("test_simple_text");
    message["params"]["arguments"]["large"] = json!("x".repeat(9 * 1024 * 1024));
    let mut refused = running.post(&headers, &message).await;
    assert!(refused.until("\r\n\r\n").await.starts_with("HTTP/1.1 413 "));
    running.end().await;
}

/// Whoever sends headers byte by byte, or none, is let go; others are served meanwhile.
#[tokio::test]
async fn slow_headers_end_the_connection() {
    let mut options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
    options.headers = Duration::from_millis(300);
    let running = Running::with(options).await;
    for begun in ["", "POST /mcp HTTP/1.1\r\nHost: a\r\nX-Slow: "] {
        let mut slow = TcpStream::connect(&running.address).await.unwrap();
        slow.write_all(begun.as_bytes()).await.unwrap();
        running.hello().await;
        let mut answer = Vec::new();
        // The end of the connection is what is waited for.
        tokio::time::timeout(DEADLINE, slow.read_to_end(&mut answer)).await.expect("it stays open").ok();
        assert!(!String::from_utf8_lossy(&answer).contains(" 200 "), "{begun}");
    }
    running.end().await;
}

/// A client that only listened and went does not keep its session.
#[tokio::test]
async fn a_session_ends_when_its_listening_client_is_gone() {
    let mut options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
    options.most_sessions = 1;
    options.abandoned = Duration::from_millis(50);
    let running = Running::with(options).await;
    let session = running.hello().await;
    let listen = format!(
        "GET /mcp HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nAccept: text/event-stream{session}"
    );
    let mut stream = running.raw(&listen, "").await;
    stream.until("200 OK").await;
    drop(stream);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }});
    let free = async {
        while !running.post("", &hello).await.rest().await.contains("200 OK") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, free).await.expect("the session stays");
    running.end().await;
}

/// A client that goes takes its calls along: at once without sessions, after a while with one, with its stream in the
/// older way.
#[tokio::test]
async fn calls_end_with_their_clients() {
    let mut options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
    options.abandoned = Duration::from_millis(50);
    let running = Running::with(options).await;
    let (headers, message) = modern("test_wait");
    let mut gone = running.post(&headers, &message).await;
    gone.until("waiting").await;
    assert_eq!(WAITING.load(Ordering::SeqCst), 1);
    drop(gone);
    until_nobody_waits(&WAITING).await;

    let session = running.hello().await;
    let mut gone = running.post(&session, &call("test_wait")).await;
    gone.until("waiting").await;
    drop(gone);
    until_nobody_waits(&WAITING).await;

    let sse = "GET /sse HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN";
    let mut events = running.raw(sse, "").await;
    let greeting = events.until("\n\n").await.to_owned();
    let place = greeting.split("data: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let post = async |message: &Value| {
        let head =
            format!("POST {place} HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close");
        let answer = running.raw(&head, &message.to_string()).await.rest().await;
        assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    };
    post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }}))
    .await;
    events.until("protocolVersion").await;
    post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    post(&call("test_simple_text")).await;
    events.until("simple text response").await;
    post(&call("test_wait")).await;
    events.until("waiting").await;
    assert_eq!(WAITING.load(Ordering::SeqCst), 1);
    drop(events);
    until_nobody_waits(&WAITING).await;
    running.end().await;
}

/// Both kinds of streams end by themselves when their client says nothing any more.
#[tokio::test]
async fn sessions_that_nobody_uses_end() {
    let mut options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
    options.idle = Duration::from_secs(2);
    let running = Running::with(options).await;
    let session = running.hello().await;
    let listen = format!(
        "GET /mcp HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nAccept: text/event-stream\nConnection: close{session}"
    );
    let heard = running.raw(&listen, "").await.rest().await;
    assert!(heard.starts_with("HTTP/1.1 200 "), "{heard}");
    let gone = running.post(&session, &call("test_simple_text")).await.rest().await;
    assert!(gone.starts_with("HTTP/1.1 404 "), "{gone}");
    let sse = "GET /sse HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close";
    let heard = running.raw(sse, "").await.rest().await;
    assert!(heard.contains("event: endpoint"), "{heard}");
    running.end().await;
}

#[tokio::test]
async fn the_end_of_the_server_ends_open_calls() {
    let running = Running::start().await;
    let session = running.hello().await;
    let mut open = running.post(&session, &call("test_wait")).await;
    open.until("waiting").await;
    let server = running.server.clone();
    running.end().await;
    server.finish().await;
    assert_eq!(WAITING.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn messages_of_the_older_way_are_checked() {
    let running = Running::start().await;
    let table = [("/messages", "{}", "404"), ("/messages?sessionId=1", "{}", "404")];
    for (place, body, status) in table {
        let head =
            format!("POST {place} HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close");
        let answer = running.raw(&head, body).await.rest().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{place}: {answer}");
    }
    let sse = "GET /sse HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN";
    let mut events = running.raw(sse, "").await;
    let greeting = events.until("\n\n").await.to_owned();
    let place = greeting.split("data: ").nth(1).unwrap().lines().next().unwrap();
    for (body, words) in [("garbage", "-32700"), ("[]", "-32600"), ("", "empty")] {
        let head =
            format!("POST {place} HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close");
        let answer = running.raw(&head, body).await.rest().await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains(words), "{body}: {answer}");
    }
    running.end().await;
}
