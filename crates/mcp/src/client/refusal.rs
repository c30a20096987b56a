//! Refusals of an HTTP server for want of a token (401) or of a scope (403 `insufficient_scope`).

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};

use super::tokens::scopes_in;

/// What a server refuses a request for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no token that it accepts. The challenge may say where to get one.
    NoToken { challenge: Option<String> },
    /// The token does not allow this.
    MissingScopes { scopes: Vec<String>, challenge: String },
}

impl Refusal {
    /// The refusal behind a failed request.
    pub fn of_request(error: &ServiceError) -> Option<Self> {
        match error {
            ServiceError::TransportSend(error) => Self::of(error.error.as_ref()),
            _ => None,
        }
    }

    /// The refusal behind a failed handshake.
    pub fn of_handshake(error: &ClientInitializeError) -> Option<Self> {
        match error {
            ClientInitializeError::TransportError { error, .. } => Self::of(error.error.as_ref()),
            error if error.is_authorization_required() => {
                Some(Self::NoToken { challenge: error.auth_challenge().map(str::to_owned) })
            }
            _ => None,
        }
    }

    fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(refused) = error.downcast_ref::<AuthRequiredError>() {
                return Some(Self::NoToken { challenge: Some(refused.www_authenticate_header.clone()) });
            }
            if let Some(refused) = error.downcast_ref::<InsufficientScopeError>() {
                return Some(Self::MissingScopes {
                    scopes: scopes_in(refused.get_required_scope().unwrap_or_default()),
                    challenge: refused.www_authenticate_header.clone(),
                });
            }
            if let Some(AuthError::AuthorizationRequired) = error.downcast_ref::<AuthError>() {
                return Some(Self::NoToken { challenge: None });
            }
            cause = error.source();
        }
        None
    }

    pub fn challenge(&self) -> Option<&str> {
        match self {
            Self::NoToken { challenge } => challenge.as_deref(),
            Self::MissingScopes { challenge, .. } => Some(challenge),
        }
    }

    /// The message that the model and the person read.
    pub fn told(&self, server: &str) -> String {
        match self {
            Self::NoToken { .. } => {
                format!("the MCP server `{server}` asks for a login: `stepwell mcp login {server}`")
            }
            Self::MissingScopes { scopes, .. } => {
                let named =
                    if scopes.is_empty() { String::new() } else { format!(" ({})", scopes.join(" ")) };
                format!(
                    "the login at the MCP server `{server}` does not allow this; log in again for more \
                     rights{named}: `stepwell mcp login {server}`"
                )
            }
        }
    }
}
