//! A server with OpenAI's `/embeddings` that answers what a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

/// What is answered to a request.
#[derive(Clone, Debug)]
pub enum Embedded {
    Vectors(Vec<Vec<f32>>),
    /// A status and a body.
    Status(u16, String),
    /// Nothing, while the connection stays open.
    Silence,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct EmbeddingRequest {
    pub path: String,
    pub authorization: Option<String>,
    pub body: Value,
}

impl EmbeddingRequest {
    /// The texts that vectors are asked for.
    pub fn texts(&self) -> Vec<String> {
        let texts = self.body["input"].as_array().into_iter().flatten();
        texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    }
}

type Responder = Arc<dyn Fn(&EmbeddingRequest) -> Embedded + Send + Sync>;

/// The server. Its threads end with the test's process.
pub struct EmbeddingServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<EmbeddingRequest>>>,
    responder: Arc<Mutex<Responder>>,
}

impl EmbeddingServer {
    /// Starts a server on a free port of this machine.
    pub fn start(responder: impl Fn(&EmbeddingRequest) -> Embedded + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let address = listener.local_addr().expect("the address just bound");
        let server = Self {
            address,
            requests: Arc::default(),
            responder: Arc::new(Mutex::new(Arc::new(responder) as Responder)),
        };
        let (requests, responder) = (Arc::clone(&server.requests), Arc::clone(&server.responder));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, responder) = (Arc::clone(&requests), Arc::clone(&responder));
                std::thread::spawn(move || serve(stream, &requests, &responder));
            }
        });
        server
    }

    /// Answers otherwise from now on.
    pub fn respond_with(&self, responder: impl Fn(&EmbeddingRequest) -> Embedded + Send + Sync + 'static) {
        *self.responder.lock() = Arc::new(responder);
    }

    /// The base URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn requests(&self) -> Vec<EmbeddingRequest> {
        self.requests.lock().clone()
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, requests: &Mutex<Vec<EmbeddingRequest>>, responder: &Mutex<Responder>) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        requests.lock().push(request.clone());
        let respond = Arc::clone(&responder.lock());
        let (status, body) = match respond(&request) {
            Embedded::Vectors(vectors) => {
                let data = vectors.iter().enumerate().map(
                    |(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}),
                );
                (200, json!({"object": "list", "data": data.collect::<Vec<_>>()}).to_string())
            }
            Embedded::Status(status, body) => (status, body),
            Embedded::Silence => {
                // Until the other side gives up.
                reader.read_exact(&mut [0]).ok();
                return;
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if writer.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<EmbeddingRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(EmbeddingRequest { path, authorization, body: serde_json::from_slice(&body).ok()? })
}
