//! Messages as lines. Lines are bounded, and what is no message is answered instead of being passed over in silence.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Bytes of one message.
pub(crate) const LONGEST_MESSAGE: usize = 8 * 1024 * 1024;
/// A buffer that grew beyond this for one message is given back.
const KEPT_BUFFER: usize = 64 * 1024;

pub(crate) struct LineTransport<R, W> {
    read: BufReader<R>,
    /// The part of a line that was read; it stays when the read is abandoned and taken up again.
    line: Vec<u8>,
    /// The rest of a line that is too long is being passed over.
    skipping: bool,
    write: Arc<Mutex<Option<W>>>,
    /// The answer to a line that was no message. It is sent before the next line is read, so a flood of such lines waits
    /// in the pipe; and it stays here when the read is abandoned, because half a line would spoil the output.
    answering: Option<Sending>,
}

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// What is told about something that is no message.
pub(crate) struct NoMessage {
    error: ErrorData,
    id: Option<RequestId>,
}

impl NoMessage {
    fn new(code: ErrorCode, message: String, id: Option<RequestId>) -> Self {
        Self { error: ErrorData::new(code, message, None), id }
    }

    pub(crate) fn answer(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(self.error, self.id)
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(crate) fn new(read: R, write: W) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            write: Arc::new(Mutex::new(Some(write))),
            answering: None,
        }
    }

    /// Reads up to the next line end. Nothing is lost when this is dropped while it waits: what was taken from the input
    /// is in `line`.
    async fn next_line(&mut self) -> Line {
        loop {
            let available = match self.read.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                // The last line may lack its end.
                Ok(_) if !self.line.is_empty() => return Line::Whole,
                Ok(_) | Err(_) => return Line::End,
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = self.line.len() + taken <= LONGEST_MESSAGE;
            if !self.skipping && fits {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            match (self.skipping, fits, end.is_some()) {
                (true, _, has_end) => self.skipping = !has_end,
                (false, true, true) => return Line::Whole,
                (false, true, false) => {}
                (false, false, has_end) => {
                    self.line = Vec::new();
                    self.skipping = !has_end;
                    return Line::TooLong;
                }
            }
        }
    }

    fn take_line(&mut self) -> Result<Option<ClientJsonRpcMessage>, Box<NoMessage>> {
        let read = read_message(&self.line);
        self.line.clear();
        if self.line.capacity() > KEPT_BUFFER {
            self.line = Vec::new();
        }
        read
    }
}

/// Reads one message. `None` for an empty line.
pub(crate) fn read_message(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Box<NoMessage>> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let unreadable = match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        let message = format!("this is no JSON: {unreadable}");
        return Err(Box::new(NoMessage::new(ErrorCode::PARSE_ERROR, message, None)));
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let message = match &value {
        Value::Array(_) => "batches are not understood; send one message a line".to_owned(),
        Value::Object(object) if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") => {
            "this is no JSON-RPC message: `jsonrpc` must be \"2.0\"".to_owned()
        }
        _ => "this is no JSON-RPC request, response or notification".to_owned(),
    };
    Err(Box::new(NoMessage::new(ErrorCode::INVALID_REQUEST, message, id)))
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "the output is closed"));
            };
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(answering) = &mut self.answering {
                // Whether it could be sent shows with the next message.
                answering.await.ok();
                self.answering = None;
            }
            let problem = match self.next_line().await {
                Line::End => return None,
                Line::Whole => match self.take_line() {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(problem) => problem,
                },
                Line::TooLong => {
                    let message = format!(
                        "a message may have at most {LONGEST_MESSAGE} bytes; this one was passed over"
                    );
                    Box::new(NoMessage::new(ErrorCode::INVALID_REQUEST, message, None))
                }
            };
            self.answering = Some(Box::pin(self.send(problem.answer())));
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.write.lock().await.take();
        Ok(())
    }
}
