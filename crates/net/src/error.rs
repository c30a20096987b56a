//! What can fail between a request and the end of its answer.

use std::error::Error as _;
use std::time::Duration;

use url::Url;

/// A request or a download that failed. Addresses are shown without user names, passwords and queries.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot set up HTTP: {reason}")]
    Setup { reason: String },
    #[error("the request to `{}` cannot be built: {cause}", without_secrets(.url))]
    InvalidRequest { url: Url, cause: String },
    /// Nothing listens at the address.
    #[error("`{}` cannot be reached: {cause}", without_secrets(.url))]
    Refused { url: Url, cause: String },
    #[error("`{}` cannot be reached: {cause}", without_secrets(.url))]
    UnresolvedName { url: Url, cause: String },
    #[error("`{}` cannot be reached: {cause}", without_secrets(.url))]
    Tls { url: Url, cause: String },
    #[error("`{}` cannot be reached: {cause}", without_secrets(.url))]
    Unreachable { url: Url, cause: String },
    /// The request went out and nothing came back within the limit.
    #[error("`{}` cannot be reached: it does not answer", without_secrets(.url))]
    NoResponse { url: Url, limit: Duration },
    /// The body began and then nothing came for longer than the limit.
    #[error("the connection to `{}` broke off: nothing came for too long", without_secrets(.url))]
    Stalled { url: Url, limit: Duration },
    #[error("the connection to `{}` broke off: {cause}", without_secrets(.url))]
    BrokenOff { url: Url, cause: String },
    /// A download was answered with a failing status.
    #[error("`{}` answered with status {status}", without_secrets(.url))]
    Status { url: Url, status: u16 },
    /// A download was redirected to where it must not go.
    #[error("`{}` leads to `{to}`, which is not followed", without_secrets(.url))]
    Redirect { url: Url, to: String },
    #[error("`{}` sends more than {limit} bytes", without_secrets(.url))]
    TooLarge { url: Url, limit: u64 },
    /// The caller could not keep a piece of a download.
    #[error("what `{}` sends cannot be kept: {source}", without_secrets(.url))]
    Sink { url: Url, source: std::sync::Arc<std::io::Error> },
}

impl Error {
    /// Sorts an error of the HTTP library by what is to be done about it.
    pub(crate) fn from_transport(url: &Url, error: &reqwest::Error) -> Self {
        let mut causes = Vec::new();
        let mut is_refused = false;
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(io) = cause.downcast_ref::<std::io::Error>() {
                is_refused |= io.kind() == std::io::ErrorKind::ConnectionRefused;
            }
            causes.push(cause.to_string());
            source = cause.source();
        }
        // The layers above the innermost cause only say that something failed.
        let cause = causes.last().cloned().unwrap_or_else(|| error.to_string());
        // reqwest 0.13 has no types for what follows; its chain of causes names the stage.
        let chain = causes.join(": ").to_ascii_lowercase();
        let url = url.clone();
        if is_refused {
            Self::Refused { url, cause }
        } else if error.is_builder() {
            Self::InvalidRequest { url, cause }
        } else if !error.is_connect() {
            Self::BrokenOff { url, cause }
        } else if chain.contains("dns error") {
            Self::UnresolvedName { url, cause }
        } else if ["certificate", "tls", "handshake"].iter().any(|word| chain.contains(word)) {
            Self::Tls { url, cause }
        } else {
            Self::Unreachable { url, cause }
        }
    }
}

/// The address without a user name, a password, a query or a fragment, any of which may be a secret.
pub fn without_secrets(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host_and_port(url), url.path())
}

/// The host, with the port where it is not the scheme's own.
pub fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_no_passwords_and_no_queries() {
        let url = Url::parse("https://me:hunter2@files.example:8443/a/b?token=abc#part").unwrap();
        let error = Error::Status { url, status: 403 };
        assert_eq!(error.to_string(), "`https://files.example:8443/a/b` answered with status 403");
    }
}
