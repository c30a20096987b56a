//! The body of a refusal, in the spelling of any dialect, and the cause it names.

use std::time::Duration;

use serde_json::Value;
use stepwell_protocol::ErrorKind;

use super::{excerpt, overflow};
use crate::model::Overflow;

/// The parts of an error body that all dialects share in some spelling.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// Codes and types, lower case, most specific first.
    codes: Vec<String>,
    /// A numeric code in the body, which for an error inside a stream stands for the status.
    pub(super) status: Option<u16>,
    pub(super) message: String,
    pub(super) retry_after: Option<Duration>,
    /// What it says about a conversation that is too long.
    pub(super) overflow: Overflow,
}

impl Refusal {
    pub(super) fn read(text: &str) -> Self {
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
        if refusal.overflow == Overflow::default() {
            refusal.overflow = overflow::read(&Value::Null, &refusal.message);
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
        let said = error.get("message").and_then(Value::as_str).unwrap_or_default();
        self.overflow = overflow::read(error, said);
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

    pub(super) fn kind(&self, status: Option<u16>) -> ErrorKind {
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
        const TOO_LONG: [&str; 15] = [
            "prompt is too long",
            "maximum context length",
            "context window",
            "context length",
            "exceeds the available context size",
            "exceed_context_size",
            "input token count",
            "too many input tokens",
            "maximum prompt length",
            "input is too long",
            "exceed context limit",
            "range of input length should be",
            "reduce the length of the messages",
            "contextwindowexceedederror",
            "context the overflows",
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

    pub(super) fn is_overload(&self, status: Option<u16>) -> bool {
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
