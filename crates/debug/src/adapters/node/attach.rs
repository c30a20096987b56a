//! Finds the inspector of a Node that runs already: by its address, or by its process, which is asked to open one.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_workspace::files;
use stepwell_workspace::process::{UserSignal, ask_by_user_signal, listening};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};

use super::inspector::{Answer, Inspector};
use super::launch::LaunchMode;
use super::target::Target;
use crate::dap::connect;
use crate::targets;

/// Between two looks for a port that a process is about to open; nothing tells when it does.
const AGAIN: Duration = Duration::from_millis(15);
/// How long a Node that runs may take to open its inspector: it does so between two turns of its work.
const OPENING: Duration = Duration::from_secs(5);
const LONGEST_ANSWER: u64 = 256 * 1024;

impl Inspector {
    pub(crate) async fn attach(self: &Arc<Self>, arguments: &Value) -> Answer {
        let deadline = Instant::now() + self.start_time;
        let found = self.found(arguments, deadline).await?;
        self.mode
            .set(LaunchMode::Attached { opened: found.opened })
            .map_err(|_| "the program was attached to already".to_owned())?;
        self.connect(&found.address, deadline, arguments).await?;
        Ok(json!({}))
    }

    async fn found(&self, arguments: &Value, deadline: Instant) -> Result<InspectorAddress, String> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(address) = text("websocketAddress") {
            return Ok(InspectorAddress { address: address.to_owned(), opened: false });
        }
        let process = ["processId", "pid"].iter().find_map(|name| arguments.get(*name)).and_then(number);
        let port = arguments.get("port").and_then(number).and_then(|port| u16::try_from(port).ok());
        if let Some(pid) = process {
            return opened_in(pid, deadline).await;
        }
        let Some(port) = port else {
            return Err("to attach, `processId` or `port` must be given".to_owned());
        };
        let host = text("address").or_else(|| text("host")).unwrap_or("127.0.0.1");
        let host = if host == "localhost" { "127.0.0.1" } else { host };
        let host: IpAddr =
            host.parse().map_err(|_| format!("`{host}` is no address of a machine, such as 127.0.0.1"))?;
        let place = SocketAddr::new(host, port);
        let address = listed(place, deadline)
            .await
            .map_err(|reason| format!("no Node is debugged at {place}: {reason}"))?;
        Ok(InspectorAddress { address, opened: false })
    }

    /// Closes an inspector that was opened for us, so that nobody else can use it.
    pub(crate) async fn close_inspector(&self, main: &Target) {
        let params = json!({ "expression": "setTimeout(() => process._debugEnd(), 0); 0", "silent": true });
        self.ask(main, "Runtime.evaluate", params).await.ok();
    }
}

/// An inspector that was found.
struct InspectorAddress {
    /// Of its WebSocket.
    address: String,
    /// It was opened for us.
    opened: bool,
}

fn number(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The inspector of a process: the one it has, or one it opens when it is asked to.
async fn opened_in(pid: u32, deadline: Instant) -> Result<InspectorAddress, String> {
    targets::check_attach(pid).map_err(|error| error.to_string())?;
    let program = files::resolved(&PathBuf::from(format!("/proc/{pid}/exe")));
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !name.starts_with("node") {
        return Err(format!("process {pid} is `{name}`, not Node"));
    }
    let before = listening(pid);
    let words = files::read(&PathBuf::from(format!("/proc/{pid}/cmdline"))).unwrap_or_default();
    if memchr::memmem::find(&words, b"--inspect").is_some() {
        for place in &before {
            if let Ok(address) = listed(*place, deadline).await {
                return Ok(InspectorAddress { address, opened: false });
            }
        }
    }
    ask_by_user_signal(pid, UserSignal::First)
        .map_err(|error| format!("process {pid} cannot be asked to open its inspector: {error}"))?;
    let deadline = deadline.min(Instant::now() + OPENING);
    while Instant::now() < deadline {
        for place in listening(pid).into_iter().filter(|place| !before.contains(place)) {
            if let Ok(address) = listed(place, deadline).await {
                return Ok(InspectorAddress { address, opened: true });
            }
        }
        timeout(AGAIN, std::future::pending::<()>()).await.ok();
    }
    // It may have opened one before, by hand.
    for place in before {
        if let Ok(address) = listed(place, Instant::now() + AGAIN * 20).await {
            return Ok(InspectorAddress { address, opened: false });
        }
    }
    Err(format!(
        "process {pid} does not open its inspector: it may be busy, handle the signal SIGUSR1 itself, or find port 9229 \
         taken; start it with `--inspect=127.0.0.1:0` and attach to that port"
    ))
}

/// The WebSocket that an inspector lists first.
async fn listed(place: SocketAddr, deadline: Instant) -> Result<String, String> {
    let deadline = deadline.min(Instant::now() + OPENING);
    let asked = async {
        let mut link = connect(place, None, deadline).await?;
        let request = format!("GET /json/list HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
        link.writer.write_all(request.as_bytes()).await?;
        link.writer.flush().await?;
        let mut answer = Vec::new();
        let mut reader = link.reader.take(LONGEST_ANSWER);
        // Node keeps the connection open, whatever is asked.
        while !is_whole(&answer) && reader.read_buf(&mut answer).await? > 0 {}
        Ok::<_, std::io::Error>(answer)
    };
    let answer = timeout_at(deadline, asked).await.map_err(|_| "it does not answer".to_owned())?;
    let answer = answer.map_err(|error| error.to_string())?;
    let none = || "it is no inspector of Node".to_owned();
    let body = memchr::memmem::find(&answer, b"\r\n\r\n").map(|at| &answer[at + 4..]).ok_or_else(none)?;
    let list: Value = serde_json::from_slice(body).map_err(|_| none())?;
    let address = list.pointer("/0/webSocketDebuggerUrl").and_then(Value::as_str).ok_or_else(none)?;
    // It may know itself by another name than the one it was reached by.
    let path = address.strip_prefix("ws://").and_then(|rest| rest.split_once('/')).ok_or_else(none)?.1;
    Ok(format!("ws://{place}/{path}"))
}

/// Whether an answer has all the bytes it announces.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = memchr::memmem::find(answer, b"\r\n\r\n") else { return false };
    let headers = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let length =
        headers.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| answer.len() >= end + 4 + length)
}
