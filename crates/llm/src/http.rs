//! The way to a model's server: clients built on first use, bodies with deadlines between bytes.
//!
//! Plain HTTP must not pay for what only TLS needs: loading the system's root certificates costs tens of
//! milliseconds, more than everything else Stepwell does before its first request. So there are three clients,
//! each made when it is first asked for: loopback (no proxy, no roots), plain (proxy, no roots) and secure.
//! None follows redirects: a redirected POST loses its body, and the address in the settings is the one to fix.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER,
};
use reqwest::redirect::Policy;
use stepwell_protocol::ErrorKind;
use url::{Host, Url};

use crate::advice::{Answer, Peer};
use crate::model::Error;

/// An error page is read up to here; the rest says nothing more.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// What is asked for: a compressed event stream is held back by proxies until a block is full.
const UNCOMPRESSED: &str = "identity";

/// How long silence is borne.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the first byte of the answer: a local model may read a long prompt first.
    pub first_byte: Duration,
    /// Between two bytes of an answer.
    pub idle: Duration,
}

impl Timeouts {
    /// Nobody sees anything of a server that accepts a request and never answers until the limit has passed and the
    /// request is repeated, so the limits are as short as slow servers allow. Hosted models begin within seconds
    /// and send signs of life while they think; a local model reads a long prompt in a minute or two. Whoever has
    /// a slower one sets other limits.
    pub const STANDARD: Self = Self {
        connect: Duration::from_secs(20),
        first_byte: Duration::from_mins(2),
        idle: Duration::from_secs(90),
    };
}

/// Connections to model servers, shared by all models of a process and kept open between requests.
#[derive(Clone, Debug)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    timeouts: Timeouts,
    loopback: OnceLock<Result<reqwest::Client, Error>>,
    plain: OnceLock<Result<reqwest::Client, Error>>,
    secure: OnceLock<Result<reqwest::Client, Error>>,
}

impl HttpClient {
    /// Costs nothing: a client is built with the first request that needs it.
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            shared: Arc::new(Shared {
                timeouts,
                loopback: OnceLock::new(),
                plain: OnceLock::new(),
                secure: OnceLock::new(),
            }),
        }
    }

    pub fn timeouts(&self) -> Timeouts {
        self.shared.timeouts
    }

    pub(crate) fn for_url(&self, url: &Url) -> Result<reqwest::Client, Error> {
        let (slot, reach) = match url.scheme() {
            "https" => (&self.shared.secure, Reach::Secure),
            _ if is_loopback(url) => (&self.shared.loopback, Reach::Loopback),
            _ => (&self.shared.plain, Reach::Plain),
        };
        slot.get_or_init(|| build(reach, self.shared.timeouts)).clone()
    }

    /// Posts a JSON body; an answer with a failing status has become an error already.
    pub(crate) async fn post(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        peer: &Peer,
    ) -> Result<Reply, Error> {
        let request = self
            .for_url(url)?
            .post(url.clone())
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .header(ACCEPT_ENCODING, UNCOMPRESSED)
            .body(body);
        self.send(request, peer).await
    }

    pub(crate) async fn get(&self, url: &Url, headers: HeaderMap, peer: &Peer) -> Result<Reply, Error> {
        let request = self
            .for_url(url)?
            .get(url.clone())
            .headers(headers)
            .header(ACCEPT, "application/json")
            .header(ACCEPT_ENCODING, UNCOMPRESSED);
        self.send(request, peer).await
    }

    async fn send(&self, request: reqwest::RequestBuilder, peer: &Peer) -> Result<Reply, Error> {
        let limit = self.shared.timeouts.first_byte;
        let response = match tokio::time::timeout(limit, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(peer.transport_error(&error)),
            Err(_) => return Err(peer.silence(limit)),
        };
        let status = response.status();
        let response_headers = response.headers().clone();
        let reply = Reply {
            kind: BodyKind::of(response.headers()),
            body: response.bytes_stream().boxed(),
            idle: self.shared.timeouts.idle,
            first_byte: Some(limit),
            headers: response_headers,
        };
        if status.is_success() {
            return Ok(reply);
        }
        Err(reply.into_error(status.as_u16(), peer).await)
    }
}

enum Reach {
    Loopback,
    Plain,
    Secure,
}

fn build(reach: Reach, timeouts: Timeouts) -> Result<reqwest::Client, Error> {
    // Another part of the process may have installed a provider; whichever came first serves.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = reqwest::Client::builder()
        .user_agent(concat!("stepwell/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .tcp_nodelay(true)
        .connect_timeout(timeouts.connect)
        // Not asked for, see `UNCOMPRESSED`, but understood: some servers and proxies compress all the same.
        .gzip(true)
        .pool_idle_timeout(Duration::from_secs(90))
        .tcp_keepalive(Duration::from_secs(30));
    let builder = match reach {
        Reach::Loopback => builder.no_proxy().tls_certs_only([]),
        Reach::Plain => builder.tls_certs_only([]),
        Reach::Secure => builder,
    };
    builder.build().map_err(|error| Error::new(ErrorKind::Internal, format!("cannot set up HTTP: {error}")))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// What the server says it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
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
pub(crate) struct Reply {
    pub kind: BodyKind,
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    idle: Duration,
    first_byte: Option<Duration>,
    headers: HeaderMap,
}

impl Reply {
    /// The next bytes, or nothing at the end. `grace` shortens the wait once nothing more is needed.
    pub(crate) async fn chunk(
        &mut self,
        peer: &Peer,
        grace: Option<Duration>,
    ) -> Result<Option<Bytes>, Error> {
        let limit = grace.unwrap_or_else(|| self.first_byte.take().unwrap_or(self.idle));
        match tokio::time::timeout(limit, self.body.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
            Ok(Some(Err(error))) => Err(peer.transport_error(&error)),
            Err(_) => Err(peer.silence(limit)),
        }
    }

    /// The whole body, up to `limit` bytes.
    pub(crate) async fn whole(&mut self, peer: &Peer, limit: usize) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(peer, None).await? {
            let room = limit - body.len();
            body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if bytes.len() > room {
                break;
            }
        }
        Ok(body)
    }

    /// The compression that is left on the body, which nobody here can undo.
    pub(crate) fn compression(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_ENCODING)?;
        let name = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
        (!name.is_empty() && name != UNCOMPRESSED).then_some(name)
    }

    async fn into_error(mut self, status: u16, peer: &Peer) -> Error {
        // Whatever of the error's body can be had is better than nothing.
        let body = self.whole(peer, MAX_ERROR_BODY).await.unwrap_or_default();
        let answer = Answer {
            status: Some(status),
            html: self.kind == BodyKind::Html,
            retry_after: retry_after(&self.headers, jiff::Timestamp::now()),
            location: self.headers.get(LOCATION).and_then(|value| value.to_str().ok()),
            body: &body,
        };
        peer.refusal(&answer)
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

    #[test]
    fn loopback_is_known_by_address_and_name() {
        for (url, expected) in [
            ("http://127.0.0.1:1/v1", true),
            ("http://localhost:11434", true),
            ("http://[::1]:8080/", true),
            ("http://192.168.1.2:8000", false),
            ("http://localhost.example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
