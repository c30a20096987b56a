//! A server on a free port, and clients of it.

use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use stepwell_protocol::{ClientMessage, ServerMessage};
use stepwell_server::{Hosts, Limits, Listener, Server, ServerParts, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;

use crate::engine::FakeEngine;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Stand {
    pub address: SocketAddr,
    pub stop: CancellationToken,
    pub engine: FakeEngine,
    pub login_path: String,
    pub serving: tokio::task::JoinHandle<()>,
}

impl Stand {
    pub async fn start(engine: FakeEngine) -> Self {
        Self::with_limits(engine, Limits::STANDARD).await
    }

    pub async fn with_limits(engine: FakeEngine, limits: Limits) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let token = Token::new(TOKEN).unwrap();
        let hosts = Hosts::Loopback { names: vec![token.host_name()] };
        let stop = CancellationToken::new();
        let server = Server::new(ServerParts {
            connect: engine.connect(),
            token,
            version: "1.2.3".to_owned(),
            workspace: "/work".to_owned(),
            memory: || Some(4096),
            limits,
            stop: stop.clone(),
        });
        let login_path = server.login_path();
        let serving =
            tokio::spawn(async move { server.serve(vec![Listener { socket, tls: None, hosts }]).await });
        Self { address, stop, engine, login_path, serving }
    }

    /// Sends a request as it is written here and returns the whole answer.
    pub async fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A request with these headers besides the host.
    pub async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        Answer::read(&self.raw(&format!("{text}\r\n{body}")).await)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[("Authorization", &bearer())], "").await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        let headers = [("Authorization", bearer()), ("Content-Type", "application/json".to_owned())];
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.request("POST", path, &headers, body).await
    }

    pub async fn socket(&self) -> Socket {
        self.try_socket(&[("Authorization", &bearer())]).await.unwrap()
    }

    /// The status of the refusal where the socket is not opened.
    pub async fn try_socket(&self, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        let mut request = format!("ws://{}/api/socket", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tungstenite::Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Signs a browser in and returns its cookie.
    pub async fn cookie(&self) -> String {
        let (_, code) = self.login_path.split_once('#').unwrap();
        let body = format!("{{\"code\":\"{code}\"}}");
        let answer = self.request("POST", "/api/login", &[("Origin", &self.origin())], &body).await;
        assert_eq!(answer.status, 204, "{answer:?}");
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }
}

pub fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub struct Socket(pub WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn say(&mut self, message: &ClientMessage) {
        self.0.send(Message::text(serde_json::to_string(message).unwrap())).await.unwrap();
    }

    pub async fn frame(&mut self) -> Option<Message> {
        let next = tokio::time::timeout(PATIENCE, self.0.next()).await.expect("nothing came");
        next.and_then(Result::ok)
    }

    /// The next message of the protocol.
    pub async fn hear(&mut self) -> ServerMessage {
        loop {
            match self.frame().await.expect("the socket was closed") {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Close(frame) => panic!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// The code the socket is closed with.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            if let Message::Close(frame) = self.frame().await? {
                return frame.map(|frame| frame.code.into());
            }
        }
    }
}
