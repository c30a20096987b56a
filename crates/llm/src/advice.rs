//! A server's refusals and a network's failures, told as what happened and what to do.
//!
//! The cause is read from fields first (error codes and types, then the status); the words of a message decide
//! only where a server gives no code, as Anthropic does for a prompt that is too long.

mod html;
mod overflow;
mod refusal;

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use stepwell_net::{host_and_port, without_secrets};
use stepwell_protocol::ErrorKind;
use url::Url;

use crate::model::Error;
use html::{looks_like_html, words_of_html};
use refusal::Refusal;

/// A pause up to this is told when it is made.
const LONGEST_UNSAID_WAIT: Duration = Duration::from_mins(1);

/// Whom we talk to: what an error message names and what a hint suggests.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub provider: String,
    pub model: String,
    pub base_url: Url,
    pub api_key_env: Option<String>,
    /// How a local server of this kind is started.
    pub start: Option<String>,
    pub key: Option<SecretString>,
}

/// An answer that is no answer.
pub(crate) struct Answer<'a> {
    /// Absent for an error that came inside a stream.
    pub status: Option<u16>,
    pub html: bool,
    pub retry_after: Option<Duration>,
    /// Where a redirect points.
    pub location: Option<&'a str>,
    pub body: &'a [u8],
}

impl Peer {
    /// Hides the key wherever a server may have repeated it.
    pub(crate) fn redact(&self, text: &str) -> String {
        match &self.key {
            Some(key) if key.expose_secret().len() >= 4 => text.replace(key.expose_secret(), "[key]"),
            _ => text.to_owned(),
        }
    }

    pub(crate) fn refusal(&self, answer: &Answer<'_>) -> Error {
        let text = String::from_utf8_lossy(answer.body);
        if let (Some(status @ 300..=399), Some(location)) = (answer.status, answer.location) {
            return self.redirect(status, location);
        }
        if answer.html || looks_like_html(&text) {
            return self.html_page(answer.status, &text);
        }
        let refusal = Refusal::read(&text);
        let status = answer.status.or(refusal.status);
        let retry_after = answer.retry_after.or(refusal.retry_after);
        let kind = refusal.kind(status);
        let said = if refusal.message.is_empty() { String::new() } else { format!(": {}", refusal.message) };
        let status_text = status.map_or_else(String::new, |status| format!(" ({status})"));
        let message = match kind {
            ErrorKind::LlmAuthentication => {
                format!("`{}` refused the key{status_text}{said}", self.provider)
            }
            ErrorKind::LlmQuota => {
                format!("no credit or quota left at `{}`{status_text}{said}", self.provider)
            }
            ErrorKind::LlmUnknownModel => {
                format!("`{}` does not know the model `{}`{status_text}{said}", self.provider, self.model)
            }
            ErrorKind::LlmContextTooLong => {
                format!("the conversation is too long for `{}`{status_text}{said}", self.model)
            }
            ErrorKind::LlmRateLimit => {
                let word =
                    if refusal.is_overload(status) { "is overloaded" } else { "limits the rate of requests" };
                let asks = retry_after
                    .filter(|wait| *wait > LONGEST_UNSAID_WAIT)
                    .map_or_else(String::new, |wait| format!("; it asks to wait {}", readable_wait(wait)));
                format!("`{}` {word}{status_text}{said}{asks}", self.provider)
            }
            ErrorKind::LlmConnection => format!("`{}` failed{status_text}{said}", self.provider),
            _ => format!("`{}` refused the request{status_text}{said}", self.provider),
        };
        let mut error = Error::new(kind, self.redact(&message)).with_retry_after(retry_after);
        error.hint = self.hint(kind, status);
        error.status = answer.status;
        if kind == ErrorKind::LlmContextTooLong {
            error.overflow = refusal.overflow;
        }
        error
    }

    fn hint(&self, kind: ErrorKind, status: Option<u16>) -> Option<String> {
        let hint = match kind {
            ErrorKind::LlmAuthentication => match (&self.api_key_env, &self.key) {
                (Some(name), None) => format!("set `{name}` to a key of `{}`", self.provider),
                (Some(name), Some(_)) => {
                    format!("check `{name}`: the key may be mistyped, expired or of another account")
                }
                (None, _) => {
                    format!("name the key's variable with `providers.{}.api_key_env`", self.provider)
                }
            },
            ErrorKind::LlmQuota => {
                format!("add credit to the account at `{}`, or choose another model", self.provider)
            }
            ErrorKind::LlmUnknownModel => match &self.start {
                Some(_) => "list what the server has with `stepwell models`, or load the model there first"
                    .to_owned(),
                None => {
                    "list the models with `stepwell models`; a model is written `PROVIDER/MODEL`".to_owned()
                }
            },
            ErrorKind::LlmContextTooLong => {
                "send less at once, or choose a model with a larger window".to_owned()
            }
            ErrorKind::LlmRateLimit => "wait a little, or choose another model".to_owned(),
            ErrorKind::LlmConnection => {
                format!("the server at {} has a fault; try again later", self.address())
            }
            _ => match status {
                Some(404 | 405) => format!(
                    "check `providers.{}.base_url` ({}): the path is not what this kind of server has",
                    self.provider,
                    self.shown_url()
                ),
                Some(400 | 422) => format!(
                    "a field that the server does not know can be left out with `providers.{}.quirks`",
                    self.provider
                ),
                _ => return None,
            },
        };
        Some(hint)
    }

    fn redirect(&self, status: u16, location: &str) -> Error {
        let shown = match self.base_url.join(location) {
            // A query may hold a secret.
            Ok(url) => without_secrets(&url),
            Err(_) => excerpt(location, 120),
        };
        let message = format!("`{}` redirects ({status}) to {shown}", self.provider);
        Error::new(ErrorKind::LlmProtocol, self.redact(&message)).with_hint(format!(
            "if that is the API's address, set `providers.{}.base_url` to it; a login page means that a proxy \
             stands between",
            self.provider
        ))
    }

    fn html_page(&self, status: Option<u16>, text: &str) -> Error {
        let status_text = status.map_or_else(String::new, |status| format!(" with status {status}"));
        let message = format!(
            "{} answered{status_text} with an HTML page, not with a model's answer: \"{}\"",
            self.address(),
            excerpt(&words_of_html(text), 120)
        );
        let kind = match status {
            Some(500..=599) => ErrorKind::LlmConnection,
            _ => ErrorKind::LlmProtocol,
        };
        let mut error = Error::new(kind, self.redact(&message));
        error.status = status;
        error.with_hint(format!(
            "a proxy or login page stands between, or `providers.{}.base_url` ({}) is not the API's address",
            self.provider,
            self.shown_url()
        ))
    }

    /// Tells what failed on the way to the server and what to do about it.
    pub(crate) fn transport_error(&self, error: stepwell_net::Error) -> Error {
        use stepwell_net::Error as Net;

        let address = self.address();
        let connection = |message: String| Error::new(ErrorKind::LlmConnection, self.redact(&message));
        match error {
            Net::NoResponse { limit, .. } | Net::Stalled { limit, .. } => self.silence(limit),
            Net::Refused { .. } => connection(format!("nothing listens at {address} (connection refused)"))
                .with_hint(match &self.start {
                    Some(start) => format!("start the server: `{start}`"),
                    None => format!("check `providers.{}.base_url` ({})", self.provider, self.shown_url()),
                }),
            Net::UnresolvedName { cause, .. } => {
                connection(format!("the name of {address} cannot be resolved: {cause}"))
                    .with_hint("check the network connection, the proxy settings and the base URL")
            }
            Net::Tls { cause, .. } => connection(format!("no secure connection to {address}: {cause}"))
                .with_hint(
                    "a proxy may intercept TLS: add its certificate to the system's, or fix the base URL",
                ),
            Net::Unreachable { cause, .. } => {
                connection(format!("the connection to {address} cannot be reached: {cause}"))
                    .with_hint("check the network connection")
            }
            Net::BrokenOff { cause, .. } => {
                connection(format!("the connection to {address} broke off: {cause}"))
                    .with_hint("check the network connection")
            }
            Net::InvalidRequest { cause, .. } => {
                Error::new(ErrorKind::Internal, self.redact(&format!("the request cannot be built: {cause}")))
            }
            // The rest belongs to downloads.
            other @ (Net::Setup { .. }
            | Net::Status { .. }
            | Net::Redirect { .. }
            | Net::TooLarge { .. }
            | Net::Sink { .. }) => Error::new(ErrorKind::Internal, self.redact(&other.to_string())),
        }
    }

    pub(crate) fn silence(&self, limit: Duration) -> Error {
        Error::new(
            ErrorKind::LlmConnection,
            format!("{} sent nothing for {} s", self.address(), limit.as_secs_f64()),
        )
        .with_hint(
            "the server may be stuck or still loading the model; look at its log, or try again when it has loaded",
        )
    }

    /// The stream ended without the event that ends an answer.
    pub(crate) fn cut_off(&self) -> Error {
        Error::new(ErrorKind::LlmConnection, format!("the answer of {} was cut off", self.address()))
            .with_hint("check the network connection")
    }

    pub(crate) fn unreadable(&self, data: &[u8], cause: &dyn std::fmt::Display) -> Error {
        let text = beginning(data);
        Error::new(
            ErrorKind::LlmProtocol,
            self.redact(&format!("{} sent what cannot be understood ({cause}): {text}", self.address())),
        )
        .with_hint(format!("check that `providers.{}.kind` fits the server", self.provider))
    }

    /// The base URL without a password or a query, either of which may be a secret.
    fn shown_url(&self) -> String {
        without_secrets(&self.base_url)
    }

    fn address(&self) -> String {
        host_and_port(&self.base_url)
    }
}

/// How a body begins: its words, or its bytes where it is no text.
fn beginning(data: &[u8]) -> String {
    let head = &data[..data.len().min(400)];
    let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let cut = std::str::from_utf8(head).err().filter(|error| error.error_len().is_some());
    if cut.is_some() || head.iter().any(is_binary) {
        let bytes: Vec<String> = head.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        return format!("bytes {}", bytes.join(" "));
    }
    format!("\"{}\"", excerpt(&String::from_utf8_lossy(head), 200))
}

/// "90 seconds", "5 minutes", "24 hours", rounded up.
fn readable_wait(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let (unit, name) = match seconds {
        0..120 => (1, "second"),
        120..7_200 => (60, "minute"),
        7_200..172_800 => (3_600, "hour"),
        _ => (86_400, "day"),
    };
    let count = seconds.div_ceil(unit);
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// One line of at most about `limit` bytes.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.len() + word.len() > limit {
            let room = limit.saturating_sub(out.len());
            out.push_str(&word[..word.floor_char_boundary(room)]);
            out.push('…');
            return out;
        }
        out.push_str(word);
        out.push(' ');
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
