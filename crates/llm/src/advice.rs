//! A server's refusals and a network's failures, told as what happened and what to do.
//!
//! The cause is read from fields first (error codes and types, then the status); the words of a message decide
//! only where a server gives no code, as Anthropic does for a prompt that is too long.

use std::error::Error as _;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use stepwell_protocol::ErrorKind;
use url::Url;

use crate::model::Error;

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
    pub body: &'a [u8],
}

/// The parts of an error body that all dialects share in some spelling.
#[derive(Debug, Default)]
struct Refusal {
    /// Codes and types, lower case, most specific first.
    codes: Vec<String>,
    /// A numeric code in the body, which for an error inside a stream stands for the status.
    status: Option<u16>,
    message: String,
    retry_after: Option<Duration>,
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
                format!("`{}` {word}{status_text}{said}", self.provider)
            }
            ErrorKind::LlmConnection => format!("`{}` failed{status_text}{said}", self.provider),
            _ => format!("`{}` refused the request{status_text}{said}", self.provider),
        };
        let mut error = Error::new(kind, self.redact(&message)).with_retry_after(retry_after);
        error.hint = self.hint(kind, status);
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
                "condense the conversation, or choose a model with a larger window".to_owned()
            }
            ErrorKind::LlmRateLimit => "wait a little, or choose another model".to_owned(),
            ErrorKind::LlmConnection => {
                format!("the server at {} has a fault; try again later", self.address())
            }
            _ => match status {
                Some(404 | 405) => format!(
                    "check `providers.{}.base_url` ({}): the path is not what this kind of server has",
                    self.provider, self.base_url
                ),
                Some(300..=399) => {
                    format!(
                        "the server redirects: set `providers.{}.base_url` to where it points",
                        self.provider
                    )
                }
                _ => return None,
            },
        };
        Some(hint)
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
        Error::new(kind, self.redact(&message)).with_hint(format!(
            "a proxy or login page stands between, or `providers.{}.base_url` ({}) is not the API's address",
            self.provider, self.base_url
        ))
    }

    /// The connection could not be made, or broke.
    pub(crate) fn transport_error(&self, error: &reqwest::Error) -> Error {
        let mut causes = Vec::new();
        let mut refused = false;
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(io) = cause.downcast_ref::<std::io::Error>() {
                refused |= io.kind() == std::io::ErrorKind::ConnectionRefused;
            }
            causes.push(cause.to_string());
            source = cause.source();
        }
        let cause = causes.last().cloned().unwrap_or_else(|| error.to_string());
        let chain = causes.join(": ").to_ascii_lowercase();
        let address = self.address();
        if refused {
            let error = Error::new(
                ErrorKind::LlmConnection,
                format!("nothing listens at {address} (connection refused)"),
            );
            return error.with_hint(match &self.start {
                Some(start) => format!("start the server: `{start}`"),
                None => format!("check `providers.{}.base_url` ({})", self.provider, self.base_url),
            });
        }
        if error.is_connect() && chain.contains("dns error") {
            return Error::new(
                ErrorKind::LlmConnection,
                format!("the name of {address} cannot be resolved: {cause}"),
            )
            .with_hint("check the network connection, the proxy settings and the base URL");
        }
        if error.is_connect()
            && (chain.contains("certificate") || chain.contains("tls") || chain.contains("handshake"))
        {
            return Error::new(
                ErrorKind::LlmConnection,
                format!("no secure connection to {address}: {cause}"),
            )
            .with_hint(
                "a proxy may intercept TLS: add its certificate to the system's, or fix the base URL",
            );
        }
        if error.is_builder() {
            return Error::new(
                ErrorKind::Internal,
                self.redact(&format!("the request cannot be built: {cause}")),
            );
        }
        let verb = if error.is_connect() { "cannot be reached" } else { "broke off" };
        Error::new(
            ErrorKind::LlmConnection,
            self.redact(&format!("the connection to {address} {verb}: {cause}")),
        )
        .with_hint("check the network connection")
    }

    pub(crate) fn silence(&self, limit: Duration) -> Error {
        Error::new(
            ErrorKind::LlmConnection,
            format!("{} sent nothing for {} s", self.address(), limit.as_secs_f64()),
        )
        .with_hint(
            "the server may be stuck or still loading the model; the time-out can be raised in the settings",
        )
    }

    /// The stream ended without the event that ends an answer.
    pub(crate) fn cut_off(&self) -> Error {
        Error::new(ErrorKind::LlmConnection, format!("the answer of {} was cut off", self.address()))
            .with_hint("check the network connection")
    }

    pub(crate) fn unreadable(&self, data: &[u8], cause: &dyn std::fmt::Display) -> Error {
        let text = String::from_utf8_lossy(&data[..data.len().min(400)]).into_owned();
        Error::new(
            ErrorKind::LlmProtocol,
            self.redact(&format!(
                "{} sent what cannot be understood ({cause}): \"{}\"",
                self.address(),
                excerpt(&text, 200)
            )),
        )
        .with_hint(format!("check that `providers.{}.kind` fits the server", self.provider))
    }

    fn address(&self) -> String {
        let host = self.base_url.host_str().unwrap_or("?");
        match self.base_url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

impl Refusal {
    fn read(text: &str) -> Self {
        let mut refusal = Self::default();
        match serde_json::from_str::<Value>(text) {
            // Gemini wraps its error in an array when it was asked to stream.
            Ok(Value::Array(items)) => items.first().into_iter().for_each(|item| refusal.collect(item)),
            Ok(value) => refusal.collect(&value),
            Err(_) => refusal.message = excerpt(text, 300),
        }
        if refusal.message.is_empty() && refusal.codes.is_empty() {
            refusal.message = excerpt(text, 300);
        }
        refusal
    }

    fn collect(&mut self, value: &Value) {
        // Responses puts the error of a failed answer inside the answer.
        let error = [value.get("error"), value.pointer("/response/error")]
            .into_iter()
            .flatten()
            .find(|error| !error.is_null());
        let error = error.unwrap_or(value);
        if let Value::String(message) = error {
            self.message = excerpt(message, 400);
            return;
        }
        for name in ["code", "type", "status"] {
            match error.get(name) {
                Some(Value::String(code)) if code != "error" => self.codes.push(code.to_ascii_lowercase()),
                Some(Value::Number(code)) => {
                    self.status = self.status.or(code.as_u64().and_then(|code| u16::try_from(code).ok()));
                }
                _ => {}
            }
        }
        for name in ["message", "detail", "msg"] {
            match error.get(name) {
                Some(Value::String(message)) if !message.is_empty() => {
                    self.message = excerpt(message, 400);
                    break;
                }
                Some(other @ (Value::Array(_) | Value::Object(_))) => {
                    self.message = excerpt(&other.to_string(), 400);
                    break;
                }
                _ => {}
            }
        }
        // OpenRouter keeps what the model's own provider said apart.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            self.message = format!("{}: {}", self.message, excerpt(raw, 300));
        }
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            if let Some(reason) = detail.get("reason").and_then(Value::as_str) {
                self.codes.insert(0, reason.to_ascii_lowercase());
            }
            if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
                let seconds = delay.trim_end_matches('s').parse().ok();
                self.retry_after = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            }
        }
    }

    fn kind(&self, status: Option<u16>) -> ErrorKind {
        match self.codes.iter().find_map(|code| kind_of_code(code)) {
            // Anthropic and others say no more than that they failed; the status says it was for the load.
            Some(ErrorKind::LlmConnection) if matches!(status, Some(429 | 503 | 529)) => {}
            Some(kind) => return kind,
            None => {}
        }
        let kind = match status {
            Some(401 | 403) => ErrorKind::LlmAuthentication,
            Some(402) => ErrorKind::LlmQuota,
            Some(413) => ErrorKind::LlmContextTooLong,
            Some(429 | 503 | 529) => ErrorKind::LlmRateLimit,
            Some(408 | 409 | 425 | 500..=599) => ErrorKind::LlmConnection,
            _ => ErrorKind::LlmProtocol,
        };
        if matches!(status, None | Some(400 | 404 | 422 | 500)) {
            return self.kind_of_words(status).unwrap_or(kind);
        }
        kind
    }

    /// The last resort, for servers that answer 400 or 404 with a sentence only.
    fn kind_of_words(&self, status: Option<u16>) -> Option<ErrorKind> {
        const TOO_LONG: [&str; 8] = [
            "prompt is too long",
            "maximum context length",
            "context window",
            "context length",
            "exceeds the available context size",
            "exceed_context_size",
            "input token count",
            "too many input tokens",
        ];
        let message = self.message.to_lowercase();
        if TOO_LONG.iter().any(|words| message.contains(words)) {
            return Some(ErrorKind::LlmContextTooLong);
        }
        let names_model =
            message.contains("model") || self.codes.iter().any(|code| code == "not_found_error");
        if status == Some(404) && names_model {
            return Some(ErrorKind::LlmUnknownModel);
        }
        if message.contains("credit balance is too low") {
            return Some(ErrorKind::LlmQuota);
        }
        None
    }

    fn is_overload(&self, status: Option<u16>) -> bool {
        matches!(status, Some(503 | 529))
            || self.codes.iter().any(|code| {
                matches!(
                    code.as_str(),
                    "overloaded_error" | "engine_overloaded_error" | "unavailable" | "server_is_overloaded"
                )
            })
    }
}

/// Codes and types of all dialects, in lower case. What is too general to say anything is not here.
fn kind_of_code(code: &str) -> Option<ErrorKind> {
    Some(match code {
        "invalid_api_key"
        | "authentication_error"
        | "permission_error"
        | "api_key_invalid"
        | "unauthenticated"
        | "permission_denied"
        | "invalid_authentication_error"
        | "incorrect_api_key_error"
        | "account_deactivated"
        | "invalidapikey" => ErrorKind::LlmAuthentication,
        "insufficient_quota"
        | "billing_error"
        | "billing_hard_limit_reached"
        | "exceeded_current_quota_error"
        | "billing_not_active"
        | "insufficient_balance"
        | "arrearage"
        | "usage_limit_reached"
        | "1113" => ErrorKind::LlmQuota,
        "model_not_found" | "unknown_model" | "model_not_exist" | "modelnotfound" | "1211" => {
            ErrorKind::LlmUnknownModel
        }
        "context_length_exceeded"
        | "request_too_large"
        | "exceed_context_size_error"
        | "string_above_max_length"
        | "1261" => ErrorKind::LlmContextTooLong,
        "rate_limit_error"
        | "rate_limit_exceeded"
        | "rate_limit_reached_error"
        | "resource_exhausted"
        | "too_many_requests"
        | "tokens"
        | "requests"
        | "overloaded_error"
        | "engine_overloaded_error"
        | "unavailable"
        | "server_is_overloaded"
        | "slow_down"
        | "1302"
        | "1303"
        | "1305" => ErrorKind::LlmRateLimit,
        "api_error"
        | "server_error"
        | "internal_server_error"
        | "internal_error"
        | "internal"
        | "timeout_error"
        | "deadline_exceeded" => ErrorKind::LlmConnection,
        _ => return None,
    })
}

fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start();
    let head = start.get(..start.len().min(15)).unwrap_or_default().to_ascii_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// The readable words of a page, without tags, scripts and styles.
fn words_of_html(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        out.push(' ');
        let tag = &rest[open..];
        let lower = tag.get(..7).unwrap_or_default().to_ascii_lowercase();
        let skip_to = match () {
            () if lower.starts_with("<script") => tag.find("</script"),
            () if lower.starts_with("<style") => tag.find("</style"),
            () => None,
        };
        let tag = &tag[skip_to.unwrap_or(0)..];
        match tag.find('>') {
            Some(close) => rest = &tag[close + 1..],
            None => return out,
        }
    }
    out.push_str(rest);
    out
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
