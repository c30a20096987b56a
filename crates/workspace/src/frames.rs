//! Messages with a length before them: `Content-Length`, an empty line, that many bytes. Debug adapters and language
//! servers speak this way. Nothing that is sent makes the reader take more than its bounds.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Bytes of one message that are taken. A longer one is read past; whoever waits for it is told. While it is understood,
/// a message is in memory three times.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// A message that nobody can mean: reading past it would take the rest of the session.
const ABSURD_LENGTH: u64 = 1024 * 1024 * 1024;
/// Room that is kept for the next messages.
const KEPT_ROOM: usize = 256 * 1024;
/// Bytes of headers before a message.
const LONGEST_HEADER: usize = 8 * 1024;
/// Bytes between messages that are passed over, such as a banner a program prints on its protocol stream.
const MOST_NOISE: usize = 64 * 1024;
/// What is kept of a message that is too long, to know whose answer it was.
const KEPT_OF_LONG: usize = 4 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the connection was closed")]
    Closed,
    #[error("the connection failed: {0}")]
    Io(#[from] std::io::Error),
    /// What came is no message; what it is, in words.
    #[error("what came is no message: {0}")]
    Garbage(String),
}

/// Writes frames as they come, until nobody sends any more or `stop` is said.
pub async fn write_frames(
    mut writer: impl AsyncWrite + Send + Unpin,
    mut queue: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    loop {
        let frame = tokio::select! {
            frame = queue.recv() => frame,
            // What was said last, such as a farewell, still goes out.
            () = stop.cancelled() => queue.try_recv().ok(),
        };
        let Some(frame) = frame else { return };
        if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

/// What was read.
#[derive(Debug)]
pub enum Frame<'r> {
    Whole(&'r [u8]),
    /// A message beyond the bounds was read past.
    TooLong {
        length: u64,
        beginning: Vec<u8>,
    },
}

/// Reads messages from a stream.
#[derive(Debug)]
pub struct FrameReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where unread bytes begin.
    at: usize,
    /// Bytes of the message that was given out last.
    given: usize,
    noise: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub fn new(source: R) -> Self {
        Self { source, buffer: Vec::with_capacity(16 * 1024), at: 0, given: 0, noise: 0 }
    }

    pub async fn next(&mut self) -> Result<Frame<'_>, FrameError> {
        self.release();
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
        self.given = length;
        self.noise = 0;
        Ok(Frame::Whole(&self.buffer[self.at..self.at + length]))
    }

    /// Lets go of the message that was given out last.
    fn release(&mut self) {
        self.at += std::mem::take(&mut self.given);
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
            // One large answer must not keep its memory for the session's life.
            self.buffer.shrink_to(KEPT_ROOM);
        }
    }

    /// The length of the next message; its bytes begin at `at` afterwards.
    async fn read_headers(&mut self) -> Result<u64, FrameError> {
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
                    return Err(FrameError::Garbage("its headers do not end".to_owned()));
                }
            } else if unread.len() > LONGEST_HEADER {
                // A header word may stand cut at the very end.
                let noise = unread.len() - b"Content-Length:".len();
                self.pass_over(noise)?;
            }
            self.fill().await?;
        }
    }

    fn pass_over(&mut self, count: usize) -> Result<(), FrameError> {
        self.noise += count;
        if self.noise > MOST_NOISE {
            let shown = &self.buffer[self.at..self.buffer.len().min(self.at + 80)];
            return Err(FrameError::Garbage(format!("{:?}", String::from_utf8_lossy(shown))));
        }
        self.at += count;
        Ok(())
    }

    async fn skip_long(&mut self, length: u64) -> Result<Frame<'static>, FrameError> {
        let mut left = length;
        let mut kept = Vec::new();
        loop {
            let available = (self.buffer.len() - self.at).min(usize::try_from(left).unwrap_or(usize::MAX));
            let room = KEPT_OF_LONG - kept.len();
            kept.extend_from_slice(&self.buffer[self.at..self.at + available.min(room)]);
            self.at += available;
            left -= available as u64;
            if left == 0 {
                return Ok(Frame::TooLong { length, beginning: kept });
            }
            self.buffer.clear();
            self.at = 0;
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<(), FrameError> {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        let read = self.source.read_buf(&mut self.buffer).await?;
        if read == 0 { Err(FrameError::Closed) } else { Ok(()) }
    }
}

/// Where headers end, and how many bytes the empty line takes. Some programs write bare line feeds.
fn end_of_headers(bytes: &[u8]) -> Option<(usize, usize)> {
    let proper = memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| (at, 4));
    let bare = memchr::memmem::find(bytes, b"\n\n").map(|at| (at, 2));
    match (proper, bare) {
        (Some(proper), Some(bare)) => Some(proper.min(bare)),
        (proper, bare) => proper.or(bare),
    }
}

fn parse_length(headers: &[u8]) -> Result<u64, FrameError> {
    let text = String::from_utf8_lossy(headers);
    let value = text.lines().find_map(|line| line.strip_prefix("Content-Length:")).unwrap_or_default().trim();
    let length: Option<u64> = value.parse().ok().filter(|length| *length <= ABSURD_LENGTH);
    length.ok_or_else(|| FrameError::Garbage(format!("`{value}` is no length of a message")))
}

/// Header and body in one piece: two writes would cost a delayed acknowledgement.
pub fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}
