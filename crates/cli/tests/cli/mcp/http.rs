//! `stepwell mcp --http`: where it listens, who it lets in, what it tells.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::world::World;

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(world: &World, words: &[&str]) -> Self {
        let mut command = world.command(&[&["mcp", "--tools", "files"], words].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        Self { child, address }
    }

    fn post(&self, token: Option<&str>) -> String {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\n{token}Content-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nConnection: \
             close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it by a signal; what it said on standard error.
    fn end(mut self) -> String {
        let sent = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success() && self.child.wait().unwrap().success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }

    /// The addresses this process listens on, as the kernel tells them.
    fn listening(&self) -> Vec<String> {
        let mut found = Vec::new();
        for table in ["tcp", "tcp6"] {
            let text = std::fs::read_to_string(format!("/proc/{}/net/{table}", self.child.id())).unwrap();
            let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))
                .unwrap()
                .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
                .filter_map(|link| {
                    let name = link.to_string_lossy().into_owned();
                    name.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')).map(str::to_owned)
                })
                .collect();
            for line in text.lines().skip(1) {
                let fields: Vec<&str> = line.split_whitespace().collect();
                if fields[3] == "0A" && sockets.iter().any(|socket| socket == fields[9]) {
                    found.push(fields[1].split(':').next().unwrap().to_owned());
                }
            }
        }
        found
    }
}

/// H01, H06, H10: the token is asked for, kept private and told nowhere; only this machine can connect.
#[test]
fn a_server_on_this_machine_needs_its_token() {
    let world = World::new([]);
    let server = Server::start(&world, &["--http"]);
    // 127.0.0.1, as the kernel writes it.
    assert_eq!(server.listening(), ["0100007F"]);
    let path = world.data().join("mcp-token");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&path).unwrap();
    assert!(token.len() >= 32);
    for wrong in [None, Some("wrong"), Some(&token[1..])] {
        let answer = server.post(wrong);
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
    let answer = server.post(Some(&token));
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"read\""), "{answer}");
    let process = format!("/proc/{}", server.child.id());
    for file in ["cmdline", "environ"] {
        let bytes = std::fs::read(format!("{process}/{file}")).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&token), "{file}");
    }
    let said = server.end();
    assert!(said.contains("mcp-token") && !said.contains(&token), "{said}");
    // The next one uses the same.
    let server = Server::start(&world, &["--http", "127.0.0.1"]);
    assert!(server.post(Some(&token)).starts_with("HTTP/1.1 200 "));
    server.end();
    // A file that others could read is not used.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = world.output(&["mcp", "--http"]);
    let shown = world.show(&output);
    assert!(output.status.code() == Some(2) && shown.contains("can be read by others"), "{shown}");
    assert!(!shown.contains(&token), "{shown}");
}

/// H12: reports a port that is in use, shares it with nobody, and finds a free one.
#[test]
fn h12_a_port_that_another_process_has_is_not_shared() {
    let world = World::new([]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = world.output(&["mcp", "--http", &address]);
    let shown = world.show(&output);
    assert!(output.status.code().is_some_and(|code| code != 0) && shown.contains("in use"), "{shown}");
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let token = std::fs::read_to_string(world.data().join("mcp-token")).unwrap();
    assert!(server.post(Some(&token)).starts_with("HTTP/1.1 200 "));
    server.end();
}

#[test]
fn other_machines_need_a_flag_and_a_token_of_the_persons_own() {
    let world = World::new([]);
    let path = world.data().join("mine");
    let words = ["--http", "0.0.0.0:0", "--allow-remote", "--token-file", path.to_str().unwrap()];
    let output = world.output(&[&["mcp"], &words[..]].concat());
    assert_ne!(output.status.code(), Some(0), "no token is made for others: {}", world.show(&output));
    std::fs::write(&path, "a-token-of-my-own-a-token-of-my-own\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::start(&world, &words);
    assert_eq!(server.listening(), ["00000000"]);
    let answer = server.post(Some("a-token-of-my-own-a-token-of-my-own"));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(server.post(None).starts_with("HTTP/1.1 401 "));
    server.end();
}
