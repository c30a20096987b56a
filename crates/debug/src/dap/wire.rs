//! Messages of the protocol: JSON in frames.

use serde::Deserialize;
use serde_json::value::RawValue;
use stepwell_workspace::frames::{Frame, FrameError, FrameReader};
use tokio::io::AsyncRead;

#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error("the adapter closed the connection")]
    Closed,
    #[error("the connection to the adapter failed: {0}")]
    Io(std::io::Error),
    #[error("the adapter does not speak the Debug Adapter Protocol: {0}")]
    Garbage(String),
}

impl From<FrameError> for WireError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Closed => Self::Closed,
            FrameError::Io(error) => Self::Io(error),
            FrameError::Garbage(what) => Self::Garbage(what),
        }
    }
}

/// One message, as far as it must be known to be passed on.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
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
pub(crate) enum Incoming {
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
pub(crate) struct MessageReader<R>(FrameReader<R>);

impl<R: AsyncRead + Unpin> MessageReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self(FrameReader::new(source))
    }

    pub(crate) async fn next(&mut self) -> Result<Incoming, WireError> {
        Ok(match self.0.next().await? {
            Frame::Whole(body) => match serde_json::from_slice(body) {
                Ok(envelope) => Incoming::Message(envelope),
                Err(error) => decode_lossy(body, &error),
            },
            Frame::TooLong { length, beginning } => {
                Incoming::TooLong { length, request_seq: request_seq_in(&beginning) }
            }
        })
    }
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

pub fn frame(message: &impl serde::Serialize) -> serde_json::Result<Vec<u8>> {
    Ok(stepwell_workspace::frames::framed(&serde_json::to_vec(message)?))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
