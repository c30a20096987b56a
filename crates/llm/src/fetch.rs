//! Files over the connections that models use: bounded in size and silence, and handed on as they come.

use futures::StreamExt;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, LOCATION};
use url::Url;

use crate::http::{HttpClient, is_loopback};

/// A registry sends to a mirror, the mirror to its storage.
const MOST_REDIRECTS: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("`{url}` cannot be reached: {reason}")]
    Unreachable { url: Url, reason: String },
    #[error("`{url}` answered with status {status}")]
    Status { url: Url, status: u16 },
    #[error("`{url}` leads to `{to}`, which is not followed")]
    Redirect { url: Url, to: String },
    #[error("`{url}` sends more than {most} bytes")]
    TooLarge { url: Url, most: u64 },
    #[error("the connection to `{url}` broke off: {reason}")]
    BrokeOff { url: Url, reason: String },
    #[error("what `{url}` sends cannot be kept: {source}")]
    Kept { url: Url, source: std::io::Error },
}

/// How far a file has come.
#[derive(Clone, Copy, Debug)]
pub struct FetchProgress {
    pub come: u64,
    /// How long it is, where the server says so.
    pub of: Option<u64>,
}

impl HttpClient {
    /// Fetches a file of at most `most` bytes; every piece goes to `take`. Where it came from in the end.
    pub async fn fetch(
        &self,
        url: &Url,
        accept: &str,
        most: u64,
        mut take: impl FnMut(&[u8], FetchProgress) -> std::io::Result<()>,
    ) -> Result<Url, FetchError> {
        let mut url = url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let response = self.ask_for(&url, accept).await?;
            let status = response.status();
            if status.is_redirection() {
                let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
                url = followed(&url, to)?;
                continue;
            }
            if !status.is_success() {
                return Err(FetchError::Status { url, status: status.as_u16() });
            }
            let length = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
            let of: Option<u64> = length.and_then(|length| length.parse().ok());
            let mut come = 0;
            let mut body = response.bytes_stream();
            loop {
                let broke = |reason: String| FetchError::BrokeOff { url: url.clone(), reason };
                let next = tokio::time::timeout(self.timeouts().idle, body.next()).await;
                let Some(piece) = next.map_err(|_| broke("nothing came for too long".to_owned()))? else {
                    break;
                };
                let piece = piece.map_err(|error| broke(innermost(&error)))?;
                come += piece.len() as u64;
                if come > most {
                    return Err(FetchError::TooLarge { url, most });
                }
                take(&piece, FetchProgress { come, of })
                    .map_err(|source| FetchError::Kept { url: url.clone(), source })?;
            }
            return Ok(url);
        }
        Err(FetchError::Redirect { to: "ever more addresses".to_owned(), url })
    }

    async fn ask_for(&self, url: &Url, accept: &str) -> Result<reqwest::Response, FetchError> {
        let unreachable = |reason| FetchError::Unreachable { url: url.clone(), reason };
        let client = self.for_url(url).map_err(|error| unreachable(error.message))?;
        let asked = client.get(url.clone()).header(ACCEPT, accept).header(ACCEPT_ENCODING, "identity").send();
        match tokio::time::timeout(self.timeouts().first_byte, asked).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(unreachable(innermost(&error))),
            Err(_) => Err(unreachable("it does not answer".to_owned())),
        }
    }
}

/// Where a redirect leads: never from a secure connection to one that is not.
fn followed(from: &Url, to: &str) -> Result<Url, FetchError> {
    let refused = || FetchError::Redirect { url: from.clone(), to: to.to_owned() };
    let url = from.join(to).map_err(|_| refused())?;
    let is_safe = url.scheme() == "https" || (from.scheme() == "http" && url.scheme() == "http");
    let stays_outside = is_loopback(from) || !is_loopback(&url);
    if is_safe && stays_outside { Ok(url) } else { Err(refused()) }
}

/// The cause at the bottom; the layers above only say that something failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_only_to_what_is_as_safe() {
        let rows = [
            ("https://a.example/x", "https://b.example/y", Some("https://b.example/y")),
            ("https://a.example/x/", "y", Some("https://a.example/x/y")),
            ("https://a.example/x", "http://a.example/x", None),
            ("https://a.example/x", "https://localhost/x", None),
            ("https://a.example/x", "file:///etc/passwd", None),
            ("http://127.0.0.1:1/x", "http://127.0.0.1:2/y", Some("http://127.0.0.1:2/y")),
        ];
        for (from, to, expected) in rows {
            let found = followed(&Url::parse(from).unwrap(), to).ok();
            assert_eq!(found.map(String::from).as_deref(), expected, "{from} to {to}");
        }
    }
}
