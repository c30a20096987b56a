//! HTTP/1.1 by hand: just enough for a client that behaves, with full control over how an answer goes wrong.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::State;
use super::answers;
use super::recorded::{RecordedRequest, WireFormat};
use super::turn::{Reply, Turn};

type Result<T> = std::io::Result<T>;

/// Serves one connection until either side closes it.
pub(super) async fn serve(socket: TcpStream, state: Arc<State>) {
    // A client that goes away in the middle is part of many tests.
    drop(serve_requests(socket, state).await);
}

async fn serve_requests(socket: TcpStream, state: Arc<State>) -> Result<()> {
    socket.set_nodelay(true)?;
    let mut stream = BufReader::new(socket);
    while let Some(request) = read_request(&mut stream).await? {
        let end = answer(&mut stream, request, &state).await?;
        if end == End::Close {
            break;
        }
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
enum End {
    KeepAlive,
    Close,
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Result<Option<RecordedRequest>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) if head.is_empty() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let format = WireFormat::of_path(&path);
    Ok(Some(RecordedRequest { method, path, headers, body, raw_body: bytes, format }))
}

async fn answer(stream: &mut BufReader<TcpStream>, request: RecordedRequest, state: &State) -> Result<End> {
    let path = request.path.split('?').next().unwrap_or_default();
    if let Some(body) = state.answer_of(path) {
        return write_plain(stream, 200, &[], "application/json", body.to_string().as_bytes()).await;
    }
    if request.method == "GET" && path.trim_end_matches('/').ends_with("/models") {
        let body = model_list(&request, &state.models());
        return write_plain(stream, 200, &[], "application/json", body.to_string().as_bytes()).await;
    }
    // Addresses of servers of other makers, asked to find out what this one is.
    let is_question = ["/props", "/api/ps", "/api/show", "/api/v0/models", "/model/info"].contains(&path)
        || (request.method == "GET" && path.contains("/models/"));
    if is_question {
        return write_plain(stream, 404, &[], "text/plain", b"not found").await;
    }
    let Some(format) = request.format else {
        let text = format!("{} {} is not a path of any wire format", request.method, request.path);
        state.note_unscripted(text.clone());
        return write_plain(stream, 404, &[], "text/plain", text.as_bytes()).await;
    };
    let model = request.model();
    let turn = state.next_turn(request);
    let (status, content_type, pieces) = match &turn.reply {
        Reply::Answer(answer) if answer.streamed => {
            (200, "text/event-stream".to_owned(), answers::events(format, answer, &model))
        }
        Reply::Answer(answer) => {
            let body = answers::whole(format, answer, &model);
            (200, "application/json".to_owned(), vec![body.to_string().into_bytes()])
        }
        Reply::Error { status, message, code } => {
            let body = answers::error(format, *status, message, code.as_deref());
            (*status, "application/json".to_owned(), vec![body.to_string().into_bytes()])
        }
        Reply::Raw { status, content_type, pieces } => (*status, content_type.clone(), pieces.clone()),
    };
    let pieces = match turn.write_size {
        Some(size) => pieces.concat().chunks(size).map(<[u8]>::to_vec).collect(),
        None => pieces,
    };
    write_chunked(stream, status, &content_type, &pieces, &turn).await
}

fn model_list(request: &RecordedRequest, names: &[String]) -> Value {
    if request.path.starts_with("/v1beta") {
        let models: Vec<_> = names.iter().map(|name| json!({ "name": format!("models/{name}") })).collect();
        return json!({ "models": models });
    }
    let models: Vec<_> = names.iter().map(|name| json!({ "id": name, "object": "model" })).collect();
    json!({ "object": "list", "data": models })
}

async fn write_head(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    headers: &[(String, String)],
    content_type: &str,
    framing: &str,
) -> Result<()> {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\n{framing}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.get_mut().write_all(head.as_bytes()).await
}

async fn write_plain(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    headers: &[(String, String)],
    content_type: &str,
    body: &[u8],
) -> Result<End> {
    let framing = format!("content-length: {}", body.len());
    write_head(stream, status, headers, content_type, &framing).await?;
    stream.get_mut().write_all(body).await?;
    Ok(End::KeepAlive)
}

async fn write_chunked(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    content_type: &str,
    pieces: &[Vec<u8>],
    turn: &Turn,
) -> Result<End> {
    write_head(stream, status, &turn.headers, content_type, "transfer-encoding: chunked").await?;
    let mut pause = turn.pause.map(tokio::time::interval);
    let mut room = turn.drop_after.or(turn.stall_after).unwrap_or(usize::MAX);
    for piece in pieces {
        if let Some(gate) = &turn.gate {
            gate.pass().await;
        }
        if let Some(pause) = &mut pause {
            pause.tick().await;
        }
        let part = &piece[..piece.len().min(room)];
        if !part.is_empty() {
            let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
            chunk.extend_from_slice(part);
            chunk.extend_from_slice(b"\r\n");
            stream.get_mut().write_all(&chunk).await?;
        }
        if let Some(gate) = &turn.gate {
            gate.note_sent();
        }
        room -= part.len();
        if room == 0 {
            break;
        }
    }
    if turn.drop_after.is_some() {
        stream.get_mut().shutdown().await?;
        return Ok(End::Close);
    }
    if turn.stall_after.is_some() {
        // Until the client gives up: its closing ends this read.
        drop(stream.read_u8().await);
        return Ok(End::Close);
    }
    stream.get_mut().write_all(b"0\r\n\r\n").await?;
    Ok(End::KeepAlive)
}
