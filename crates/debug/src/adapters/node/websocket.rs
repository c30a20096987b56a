//! The client's end of a WebSocket, as far as Node's inspector speaks it: no extensions, text messages.
//!
//! Written here because a message that is too long must cost its own question and no more: it is read past, and its
//! beginning says whose answer it was. Libraries give up the connection.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::net::SocketAddr;

use base64::Engine;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use crate::dap::Link;

/// Bytes of one message that are taken.
pub(crate) const LONGEST_MESSAGE: u64 = 32 * 1024 * 1024;
/// A message that nobody can mean.
const ABSURD_LENGTH: u64 = 1 << 32;
/// What is kept of a message that is too long.
const KEPT_OF_LONG: usize = 256;
/// Room that is kept for the next messages.
const KEPT_ROOM: usize = 256 * 1024;
const LONGEST_HEADERS: usize = 8 * 1024;
/// Control messages are short by the protocol.
const LONGEST_CONTROL: u64 = 125;

const CONTINUED: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const IS_LAST: u8 = 0x80;
const IS_MASKED: u8 = 0x80;
/// Lengths that are said in the two, or eight, bytes behind.
const IN_TWO: u8 = 0x7e;
const IN_EIGHT: u8 = 0x7f;

/// What came.
#[derive(Debug)]
pub(crate) enum Message {
    Text(Vec<u8>),
    /// It was read past; this is how it began.
    TooLong {
        length: u64,
        beginning: Vec<u8>,
    },
    /// It must be answered with [`pong`].
    Ping(Vec<u8>),
    Closed,
}

type Source = Box<dyn AsyncRead + Send + Unpin>;
type Sink = Box<dyn AsyncWrite + Send + Unpin>;

/// Asks for a path's WebSocket on a connection to an address.
pub(crate) async fn open(
    mut link: Link,
    address: SocketAddr,
    path: &str,
    deadline: Instant,
) -> io::Result<(Reader, Sink)> {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&random().to_le_bytes());
    key[8..].copy_from_slice(&random().to_le_bytes());
    let key = base64::engine::general_purpose::STANDARD.encode(key);
    let hello = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    let greeted = async {
        link.writer.write_all(hello.as_bytes()).await?;
        link.writer.flush().await?;
        greeting(&mut link.reader).await
    };
    let rest = timeout_at(deadline, greeted).await.map_err(|_| io::ErrorKind::TimedOut)??;
    Ok((Reader { source: link.reader, buffer: rest, at: 0 }, link.writer))
}

/// Reads the answer to the first words; what came behind it belongs to the first message.
async fn greeting(source: &mut Source) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            let text = String::from_utf8_lossy(&bytes);
            let first = text.lines().next().unwrap_or_default();
            // The answer's key is not compared: the path holds a secret that only Node's inspector knows.
            if first.split_whitespace().nth(1) != Some("101") {
                return Err(io::Error::other(format!("it is no inspector of Node; it answered `{first}`")));
            }
            return Ok(rest);
        }
        if bytes.len() > LONGEST_HEADERS {
            return Err(io::Error::other("it is no inspector of Node; its answer does not end"));
        }
        if source.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads messages.
pub(crate) struct Reader {
    source: Source,
    buffer: Vec<u8>,
    /// Where unread bytes begin.
    at: usize,
}

impl Reader {
    pub(crate) async fn next(&mut self) -> io::Result<Message> {
        let mut whole = Vec::new();
        let mut skipped = 0;
        loop {
            let (is_last, kind, length) = self.head().await?;
            if kind & 0b1000 != 0 {
                if !is_last || length > LONGEST_CONTROL {
                    return Err(garbage("a control message that is too long"));
                }
                // They may come between the parts of a message; only pings between whole ones are worth an answer.
                let told = self.take(length).await?;
                match kind {
                    CLOSE => return Ok(Message::Closed),
                    PING if whole.is_empty() && skipped == 0 => return Ok(Message::Ping(told)),
                    PING | PONG => continue,
                    _ => return Err(garbage("a message of no known kind")),
                }
            }
            if !matches!(kind, CONTINUED | TEXT | BINARY) {
                return Err(garbage("a message of no known kind"));
            }
            let so_far = whole.len() as u64 + skipped;
            if so_far.saturating_add(length) > ABSURD_LENGTH {
                return Err(garbage("a message of an absurd length"));
            }
            if skipped > 0 || so_far + length > LONGEST_MESSAGE {
                self.skip(length, &mut whole).await?;
                skipped = so_far + length - whole.len() as u64;
            } else if whole.is_empty() && is_last {
                return Ok(Message::Text(self.take(length).await?));
            } else {
                whole.extend(self.take(length).await?);
            }
            if is_last {
                if skipped > 0 {
                    whole.truncate(KEPT_OF_LONG);
                    return Ok(Message::TooLong { length: so_far + length, beginning: whole });
                }
                return Ok(Message::Text(whole));
            }
        }
    }

    /// The head of the next part: whether it is the last, its kind, its length.
    async fn head(&mut self) -> io::Result<(bool, u8, u64)> {
        self.fill(2).await?;
        let (first, second) = (self.buffer[self.at], self.buffer[self.at + 1]);
        self.at += 2;
        if first & 0x70 != 0 || second & IS_MASKED != 0 {
            return Err(garbage("what is no WebSocket"));
        }
        let length = match second {
            IN_TWO => {
                self.fill(2).await?;
                let bytes = [self.buffer[self.at], self.buffer[self.at + 1]];
                self.at += 2;
                u64::from(u16::from_be_bytes(bytes))
            }
            IN_EIGHT => {
                self.fill(8).await?;
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&self.buffer[self.at..self.at + 8]);
                self.at += 8;
                u64::from_be_bytes(bytes)
            }
            length => u64::from(length),
        };
        Ok((first & IS_LAST != 0, first & 0x0f, length))
    }

    async fn take(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let length = length as usize;
        self.fill(length).await?;
        let taken = self.buffer[self.at..self.at + length].to_vec();
        self.at += length;
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
            self.buffer.shrink_to(KEPT_ROOM);
        }
        Ok(taken)
    }

    /// Reads past a part, of which a message that has nothing yet keeps the beginning.
    async fn skip(&mut self, length: u64, kept: &mut Vec<u8>) -> io::Result<()> {
        kept.truncate(KEPT_OF_LONG);
        let mut left = length;
        while left > 0 {
            if self.at == self.buffer.len() {
                self.buffer.clear();
                self.at = 0;
                self.fill(1).await?;
            }
            let available = (self.buffer.len() - self.at).min(usize::try_from(left).unwrap_or(usize::MAX));
            let room = KEPT_OF_LONG.saturating_sub(kept.len());
            kept.extend_from_slice(&self.buffer[self.at..self.at + available.min(room)]);
            self.at += available;
            left -= available as u64;
        }
        Ok(())
    }

    /// Reads until so many bytes are there.
    async fn fill(&mut self, wanted: usize) -> io::Result<()> {
        if self.buffer.len() - self.at >= wanted {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        self.buffer.reserve(wanted.saturating_sub(self.buffer.len()).max(16 * 1024));
        while self.buffer.len() < wanted {
            if self.source.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}

fn garbage(what: &str) -> io::Error {
    io::Error::other(format!("it sent {what}"))
}

/// The bytes of a text message.
pub(crate) fn text(message: &[u8]) -> Vec<u8> {
    frame(TEXT, message)
}

/// The answer to a ping.
pub(crate) fn pong(message: &[u8]) -> Vec<u8> {
    frame(PONG, message)
}

/// The last word.
pub(crate) fn close() -> Vec<u8> {
    frame(CLOSE, &1000_u16.to_be_bytes())
}

/// Clients must mask what they send.
fn frame(kind: u8, message: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(message.len() + 14);
    frame.push(IS_LAST | kind);
    match message.len() {
        length @ 0..=125 => frame.push(IS_MASKED | length as u8),
        length @ 126..=0xffff => {
            frame.push(IS_MASKED | IN_TWO);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(IS_MASKED | IN_EIGHT);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    let mask = (random() as u32).to_le_bytes();
    frame.extend(mask);
    frame.extend(message.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// A number nobody can foresee: the standard library seeds its hashers so.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
