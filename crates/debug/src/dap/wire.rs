//! Frames of the protocol: headers, a length, JSON. Nothing an adapter sends makes this take more than its bounds.

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of one message that are taken. A longer one is read past; whoever waits for it is told. While it is understood,
/// a message is in memory three times.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// A message that nobody can mean: reading past it would take the rest of the session.
const ABSURD_LENGTH: u64 = 1024 * 1024 * 1024;
/// Room that is kept for the next messages.
const KEPT_ROOM: usize = 256 * 1024;
/// Bytes of headers before a message.
const LONGEST_HEADER: usize = 8 * 1024;
/// Bytes between messages that are passed over, such as a banner an adapter prints on its protocol stream.
const MOST_NOISE: usize = 64 * 1024;
/// What is kept of a message that is too long, to know whose answer it was.
const KEPT_OF_LONG: usize = 4 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the adapter closed the connection")]
    Closed,
    #[error("the connection to the adapter failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("the adapter does not speak the Debug Adapter Protocol: {0}")]
    Garbage(String),
}

/// One message, as far as it must be known to be passed on.
#[derive(Debug, Deserialize)]
pub struct Envelope {
    #[serde(default)]
    pub seq: i64,
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub command: String,
    #[serde(default)]
    pub event: String,
    #[serde(default)]
    pub request_seq: i64,
    #[serde(default)]
    pub success: bool,
    #[serde(default)]
    pub message: Option<serde_json::Value>,
    #[serde(default)]
    pub body: Option<Box<RawValue>>,
    #[serde(default)]
    pub arguments: Option<Box<RawValue>>,
}

/// What was read.
#[derive(Debug)]
pub enum Incoming {
    Message(Envelope),
    /// A message beyond the bounds was read past; the answer to this request where that could be told.
    TooLong {
        length: u64,
        request_seq: Option<i64>,
    },
    /// A message that is no JSON object; the reason.
    Malformed(String),
}

/// Reads messages from an adapter's stream.
#[derive(Debug)]
pub struct MessageReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where unread bytes begin.
    at: usize,
    noise: usize,
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    pub fn new(source: R) -> Self {
        Self { source, buffer: Vec::with_capacity(16 * 1024), at: 0, noise: 0 }
    }

    pub async fn next(&mut self) -> Result<Incoming, WireError> {
        let length = self.read_headers().await?;
        if length > LONGEST_MESSAGE as u64 {
            return self.skip_long(length).await;
        }
        let length = length as usize;
        // Exactly: growing by doubling would take twice as much.
        self.buffer.reserve_exact((self.at + length).saturating_sub(self.buffer.len()));
        while self.buffer.len() - self.at < length {
            self.fill().await?;
        }
        let body = &self.buffer[self.at..self.at + length];
        let incoming = match serde_json::from_slice(body) {
            Ok(envelope) => Incoming::Message(envelope),
            Err(error) => decode_lossy(body, &error),
        };
        self.at += length;
        self.noise = 0;
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
            // One large answer must not keep its memory for the session's life.
            self.buffer.shrink_to(KEPT_ROOM);
        }
        Ok(incoming)
    }

    /// The length of the next message; its bytes begin at `at` afterwards.
    async fn read_headers(&mut self) -> Result<u64, WireError> {
        loop {
            let unread = &self.buffer[self.at..];
            if let Some(start) = memchr::memmem::find(unread, b"Content-Length:") {
                if start > 0 {
                    self.pass_over(start)?;
                    continue;
                }
                if let Some((end, gap)) = end_of_headers(unread) {
                    let length = parse_length(&unread[..end])?;
                    self.at += end + gap;
                    return Ok(length);
                }
                if unread.len() > LONGEST_HEADER {
                    return Err(WireError::Garbage("its headers do not end".to_owned()));
                }
            } else if unread.len() > LONGEST_HEADER {
                // A header word may stand cut at the very end.
                let noise = unread.len() - b"Content-Length:".len();
                self.pass_over(noise)?;
            }
            self.fill().await?;
        }
    }

    fn pass_over(&mut self, count: usize) -> Result<(), WireError> {
        self.noise += count;
        if self.noise > MOST_NOISE {
            let shown = &self.buffer[self.at..self.buffer.len().min(self.at + 80)];
            return Err(WireError::Garbage(format!("{:?}", String::from_utf8_lossy(shown))));
        }
        self.at += count;
        Ok(())
    }

    async fn skip_long(&mut self, length: u64) -> Result<Incoming, WireError> {
        let mut left = length;
        let mut kept = Vec::new();
        loop {
            let available = (self.buffer.len() - self.at).min(usize::try_from(left).unwrap_or(usize::MAX));
            let room = KEPT_OF_LONG - kept.len();
            kept.extend_from_slice(&self.buffer[self.at..self.at + available.min(room)]);
            self.at += available;
            left -= available as u64;
            if left == 0 {
                return Ok(Incoming::TooLong { length, request_seq: request_seq_in(&kept) });
            }
            self.buffer.clear();
            self.at = 0;
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<(), WireError> {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        let read = self.source.read_buf(&mut self.buffer).await?;
        if read == 0 { Err(WireError::Closed) } else { Ok(()) }
    }
}

/// Where headers end, and how many bytes the empty line takes. Some adapters write bare line feeds.
fn end_of_headers(bytes: &[u8]) -> Option<(usize, usize)> {
    let proper = memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| (at, 4));
    let bare = memchr::memmem::find(bytes, b"\n\n").map(|at| (at, 2));
    match (proper, bare) {
        (Some(proper), Some(bare)) => Some(proper.min(bare)),
        (proper, bare) => proper.or(bare),
    }
}

fn parse_length(headers: &[u8]) -> Result<u64, WireError> {
    let text = String::from_utf8_lossy(headers);
    let value = text.lines().find_map(|line| line.strip_prefix("Content-Length:")).unwrap_or_default().trim();
    let length: Option<u64> = value.parse().ok().filter(|length| *length <= ABSURD_LENGTH);
    length.ok_or_else(|| WireError::Garbage(format!("`{value}` is no length of a message")))
}

/// Bytes that are no UTF-8 are replaced rather than lost with the whole message.
fn decode_lossy(body: &[u8], error: &serde_json::Error) -> Incoming {
    match std::str::from_utf8(body) {
        Ok(_) => Incoming::Malformed(error.to_string()),
        Err(_) => match serde_json::from_str(&String::from_utf8_lossy(body)) {
            Ok(envelope) => Incoming::Message(envelope),
            Err(error) => Incoming::Malformed(error.to_string()),
        },
    }
}

fn request_seq_in(beginning: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(beginning);
    let (_, rest) = text.split_once("\"request_seq\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Header and body in one piece: two writes would cost a delayed acknowledgement.
pub fn frame(message: &impl serde::Serialize) -> serde_json::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(&body);
    Ok(frame)
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
