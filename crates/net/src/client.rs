//! Clients for HTTP, built on first use, with a deadline for every wait.
//!
//! Plain HTTP must not pay for what only TLS needs: loading the system's root certificates costs tens of
//! milliseconds, more than everything else Stepwell does before its first request. So there are three clients,
//! each built when it is first needed: loopback (no proxy, no roots), plain (proxy, no roots) and secure.
//! Requests follow no redirects: a redirected POST loses its body, and the address in the settings is the one to
//! fix. Only downloads follow them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::redirect::Policy;
use url::{Host, Url};

use crate::{Error, Response};

/// The encoding that is asked for: proxies hold a compressed event stream back until a block is full.
pub(crate) const UNCOMPRESSED: &str = "identity";

/// The longest silence that is accepted.
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

/// HTTP connections, shared by all clones and kept open between requests.
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

    /// Posts a JSON body and accepts events or JSON. The answer may have any status.
    pub async fn post_json(&self, url: &Url, headers: HeaderMap, body: Bytes) -> Result<Response, Error> {
        let request = self
            .for_url(url)?
            .post(url.clone())
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(body);
        self.send(url, request).await
    }

    /// Asks for JSON. The answer may have any status.
    pub async fn get_json(&self, url: &Url, headers: HeaderMap) -> Result<Response, Error> {
        let request = self.for_url(url)?.get(url.clone()).headers(headers).header(ACCEPT, "application/json");
        self.send(url, request).await
    }

    /// Opens a stream of events. The answer may have any status.
    pub async fn get_events(&self, url: &Url, headers: HeaderMap) -> Result<Response, Error> {
        let request =
            self.for_url(url)?.get(url.clone()).headers(headers).header(ACCEPT, "text/event-stream");
        self.send(url, request).await
    }

    /// Returns the connections for an address, for a library that speaks its own protocol over HTTP.
    pub fn client_for(&self, url: &Url) -> Result<reqwest::Client, Error> {
        self.for_url(url)
    }

    pub(crate) fn for_url(&self, url: &Url) -> Result<reqwest::Client, Error> {
        let (slot, reach) = match url.scheme() {
            "https" => (&self.shared.secure, Reach::Secure),
            _ if is_loopback(url) => (&self.shared.loopback, Reach::Loopback),
            _ => (&self.shared.plain, Reach::Plain),
        };
        slot.get_or_init(|| build(reach, self.shared.timeouts)).clone()
    }

    pub(crate) async fn send(&self, url: &Url, request: reqwest::RequestBuilder) -> Result<Response, Error> {
        let limit = self.shared.timeouts.first_byte;
        let request = request.header(ACCEPT_ENCODING, UNCOMPRESSED);
        match tokio::time::timeout(limit, request.send()).await {
            Ok(Ok(response)) => Ok(Response::new(url.clone(), response, self.shared.timeouts)),
            Ok(Err(error)) => Err(Error::from_transport(url, &error)),
            Err(_) => Err(Error::NoResponse { url: url.clone(), limit }),
        }
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
    builder.build().map_err(|error| Error::Setup { reason: error.to_string() })
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
