//! One request for a page: to addresses that the caller has checked, without redirects, proxies and cookies, bounded in
//! time and in bytes, whatever the compression claims.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use url::Url;

/// Bounds of a request.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    pub connect: Duration,
    /// From the request to the last byte.
    pub whole: Duration,
    /// Bytes of the body, after decompression.
    pub bytes: usize,
}

/// An answer of any status.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    /// Where it redirects to.
    pub location: Option<String>,
    pub content_type: String,
    pub body: Vec<u8>,
    /// Whether there was more than the limit.
    pub is_cut: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("{0}")]
    Connection(String),
    #[error("there was no whole answer within {} s", .0.as_secs())]
    TimedOut(Duration),
}

/// Gets a page from one of the given addresses, and from no other.
pub async fn get_page(
    url: &Url,
    addresses: &[SocketAddr],
    headers: HeaderMap,
    accept: &str,
    limits: PageLimits,
) -> Result<Page, PageError> {
    let got = tokio::time::timeout(limits.whole, request(url, addresses, headers, accept, limits));
    got.await.map_err(|_| PageError::TimedOut(limits.whole))?
}

async fn request(
    url: &Url,
    addresses: &[SocketAddr],
    headers: HeaderMap,
    accept: &str,
    limits: PageLimits,
) -> Result<Page, PageError> {
    let failed = |error: reqwest::Error| {
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(inner) = source {
            text = inner.to_string();
            source = inner.source();
        }
        PageError::Connection(text)
    };
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("stepwell/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(limits.connect)
        .gzip(true);
    if let Some(host) = url.host_str() {
        // The name is not resolved a second time: it could mean another machine by then.
        builder = builder.resolve_to_addrs(host, addresses);
    }
    let client = builder.build().map_err(failed)?;
    let request = client.get(url.clone()).headers(headers).header(ACCEPT, accept);
    let mut response = request.send().await.map_err(failed)?;
    let text = |name| {
        let value = response.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let (location, content_type) = (text(LOCATION), text(CONTENT_TYPE).unwrap_or_default());
    let status = response.status().as_u16();
    let (mut body, mut is_cut) = (Vec::new(), false);
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        let room = limits.bytes - body.len();
        if chunk.len() > room {
            body.extend_from_slice(&chunk[..room]);
            is_cut = true;
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Page { status, location, content_type, body, is_cut })
}
