//! What the server answers when it does not do what was asked: a status and an `ErrorReport`.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stepwell_protocol::{ErrorKind, ErrorReport};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) report: ErrorReport,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>, hint: &str) -> Self {
        let kind = if status.is_server_error() { ErrorKind::Internal } else { ErrorKind::Rejected };
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Self { status, report: ErrorReport { kind, message: message.into(), hint } }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is nothing here", "GET /api/openapi.json lists what there is")
    }

    pub(crate) fn busy(message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message, "close what is not needed, or try again later")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &self.report);
        let headers = response.headers_mut();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// A JSON answer. Types of ours always have a JSON form.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}
