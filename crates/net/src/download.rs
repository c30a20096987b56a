//! Downloads: bounded in size and silence, and handed on piece by piece.

use reqwest::header::ACCEPT;
use url::Url;

use crate::client::is_loopback;
use crate::{Error, HttpClient};

/// A registry redirects to a mirror, the mirror to its storage.
const MAX_REDIRECTS: usize = 5;

/// How much of a file has arrived.
#[derive(Clone, Copy, Debug)]
pub struct DownloadProgress {
    pub received: u64,
    /// The length of the file, where the server announces it.
    pub total: Option<u64>,
}

impl HttpClient {
    /// Downloads a file of at most `limit` bytes and hands every piece to `sink`. Returns the address it came from
    /// after redirects.
    pub async fn download(
        &self,
        url: &Url,
        accept: &str,
        limit: u64,
        mut sink: impl FnMut(&[u8], DownloadProgress) -> std::io::Result<()>,
    ) -> Result<Url, Error> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let request = self.for_url(&url)?.get(url.clone()).header(ACCEPT, accept);
            let mut response = self.send(&url, request).await?;
            if (300..400).contains(&response.status()) {
                url = followed(&url, response.location().unwrap_or_default())?;
                continue;
            }
            if !response.is_success() {
                return Err(Error::Status { url, status: response.status() });
            }
            let total = response.content_length();
            let mut received = 0;
            let idle = Some(self.timeouts().idle);
            while let Some(piece) = response.chunk(idle).await? {
                received += piece.len() as u64;
                if received > limit {
                    return Err(Error::TooLarge { url, limit });
                }
                sink(&piece, DownloadProgress { received, total })
                    .map_err(|source| Error::Sink { url: url.clone(), source: source.into() })?;
            }
            return Ok(url);
        }
        Err(Error::Redirect { to: "ever more addresses".to_owned(), url })
    }
}

/// Where a redirect leads: never from a secure connection to one that is not.
fn followed(from: &Url, to: &str) -> Result<Url, Error> {
    let refused = || Error::Redirect { url: from.clone(), to: to.to_owned() };
    let url = from.join(to).map_err(|_| refused())?;
    let is_safe = url.scheme() == "https" || (from.scheme() == "http" && url.scheme() == "http");
    let stays_outside = is_loopback(from) || !is_loopback(&url);
    if is_safe && stays_outside { Ok(url) } else { Err(refused()) }
}

#[cfg(test)]
#[path = "download_tests.rs"]
mod tests;
