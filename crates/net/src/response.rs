//! An answer whose body is still arriving.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use url::Url;

use crate::client::UNCOMPRESSED;
use crate::{Error, Timeouts};

/// The kind of body that the server announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Events,
    Json,
    Html,
    Other,
}

impl BodyKind {
    fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
            return Self::Other;
        };
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/event-stream" => Self::Events,
            "application/json" => Self::Json,
            "text/html" | "application/xhtml+xml" => Self::Html,
            _ => Self::Other,
        }
    }
}

/// An answer whose body is still arriving. Dropping it ends the request.
pub struct Response {
    url: Url,
    status: u16,
    headers: HeaderMap,
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    idle: Duration,
    /// The limit until the first byte of the body, while none has come.
    first_byte: Option<Duration>,
}

impl Response {
    pub(crate) fn new(url: Url, response: reqwest::Response, timeouts: Timeouts) -> Self {
        Self {
            url,
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes_stream().boxed(),
            idle: timeouts.idle,
            first_byte: Some(timeouts.first_byte),
        }
    }

    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the status is one of 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn kind(&self) -> BodyKind {
        BodyKind::of(&self.headers)
    }

    /// Where a redirect points.
    pub fn location(&self) -> Option<&str> {
        self.headers.get(LOCATION).and_then(|value| value.to_str().ok())
    }

    /// The length of the body, where the server announces it.
    pub fn content_length(&self) -> Option<u64> {
        self.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok())
    }

    /// How long the server asks to wait before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers, jiff::Timestamp::now())
    }

    /// The compression that is left on the body, which this client cannot undo.
    pub fn compression(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_ENCODING)?;
        let name = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
        (!name.is_empty() && name != UNCOMPRESSED).then_some(name)
    }

    /// Waits for the next bytes; `None` at the end. `grace` replaces the usual limit, such as once nothing more
    /// is needed.
    pub async fn chunk(&mut self, grace: Option<Duration>) -> Result<Option<Bytes>, Error> {
        let limit = grace.unwrap_or_else(|| self.first_byte.take().unwrap_or(self.idle));
        match tokio::time::timeout(limit, self.body.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
            Ok(Some(Err(error))) => Err(Error::from_transport(&self.url, &error)),
            Err(_) => Err(Error::Stalled { url: self.url.clone(), limit }),
        }
    }

    /// Reads the rest of the body, cut after `limit` bytes.
    pub async fn bytes(&mut self, limit: usize) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(None).await? {
            let room = limit - body.len();
            body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if bytes.len() > room {
                break;
            }
        }
        Ok(body)
    }
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = crate::without_secrets(&self.url);
        f.debug_struct("Response").field("url", &url).field("status", &self.status).finish_non_exhaustive()
    }
}

/// `retry-after-ms`, or `Retry-After` in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &'static str, value: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, reqwest::header::HeaderValue::from_static(value));
        retry_after(&headers, "2026-11-15T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn retry_after_has_three_forms() {
        assert_eq!(wait("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("retry-after", "1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(wait("retry-after", "Sun, 15 Nov 2026 12:00:30 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(wait("retry-after", "Sun, 15 Nov 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("retry-after", "-3"), None);
        assert_eq!(wait("retry-after", "soon"), None);
    }
}
