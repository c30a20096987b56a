//! A client that speaks lines with a server in the same process.

use std::time::Duration;

use serde_json::{Value, json};
use stepwell_mcp::McpServer;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Nothing in these tests takes this long unless it hangs.
const DEADLINE: Duration = Duration::from_secs(30);

pub struct LineClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: Option<WriteHalf<DuplexStream>>,
    served: JoinHandle<Result<(), String>>,
    pub stop: CancellationToken,
    next_id: u64,
    modern: bool,
}

impl LineClient {
    fn open(server: &McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (read, write) = split(theirs);
        let stop = CancellationToken::new();
        let (server, token) = (server.clone(), stop.clone());
        let served = tokio::spawn(async move { Box::pin(server.serve_stdio(read, write, token)).await });
        let (read, write) = split(ours);
        let lines = BufReader::new(read).lines();
        Self { lines, write: Some(write), served, stop, next_id: 0, modern: false }
    }

    /// A client that says hello in the protocol of this version.
    pub async fn connect(server: &McpServer, version: &str, capabilities: Value) -> Self {
        let mut client = Self::open(server);
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}
        });
        let answer = client.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// A client of the protocol without a hello: every request says what it must.
    pub fn modern(server: &McpServer) -> Self {
        Self { modern: true, ..Self::open(server) }
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        let write = self.write.as_mut().unwrap();
        write.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends a request and gives its id.
    pub async fn request(&mut self, method: &str, mut params: Value) -> u64 {
        if self.modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            if params["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_null() {
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
            }
        }
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub async fn next(&mut self) -> Value {
        let line =
            tokio::time::timeout(DEADLINE, self.lines.next_line()).await.expect("the server is silent");
        serde_json::from_str(&line.unwrap().expect("the server has closed the connection")).unwrap()
    }

    /// The answer to a request, and what came before it.
    pub async fn answer_to(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return (message, before);
            }
            before.push(message);
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer_to(id).await.0
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Closes the input and waits for the server's end.
    pub async fn close(mut self) -> Result<(), String> {
        drop(self.write.take());
        // Both halves must go before the other side sees the end.
        drop(self.lines);
        tokio::time::timeout(DEADLINE, self.served).await.expect("the server does not end").unwrap()
    }
}
