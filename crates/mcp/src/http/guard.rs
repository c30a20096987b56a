//! Who may talk to the server: the right host, no foreign page, the right token. In this order, before anything else.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, HOST, HeaderName, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::token::Token;

/// Names under which the server may be addressed. A page that lets its own name point to this machine (DNS rebinding)
/// is known by that name; an address in digits cannot be made to point elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// `localhost` and this machine's own addresses in digits.
    Loopback,
    /// Any address in digits, `localhost`, and these names.
    Remote { names: Vec<String> },
}

impl Hosts {
    fn allows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let digits = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        match (self, digits) {
            _ if host == "localhost" => true,
            (Self::Loopback, Some(address)) => address.is_loopback(),
            (Self::Loopback, None) => false,
            (Self::Remote { .. }, Some(_)) => true,
            (Self::Remote { names }, None) => names.iter().any(|name| name.eq_ignore_ascii_case(&host)),
        }
    }
}

pub(super) struct Guard {
    token: Token,
    hosts: Hosts,
}

impl Guard {
    pub(super) fn new(token: Token, hosts: Hosts) -> Self {
        Self { token, hosts }
    }

    fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        if uri.authority().is_some() {
            return Err(Refusal::WholeAddress);
        }
        let host = only(headers, &HOST).ok_or(Refusal::NoHost)?;
        let authority = host.parse::<Authority>().map_err(|_| Refusal::NoHost)?;
        if host.contains('@') || !self.hosts.allows(authority.host()) {
            return Err(Refusal::Host);
        }
        if headers.contains_key(ORIGIN) {
            // A page of this very server is the only one that may ask.
            let own = format!("http://{host}");
            if only(headers, &ORIGIN) != Some(own.as_str()) {
                return Err(Refusal::Origin);
            }
        }
        let given = only(headers, &AUTHORIZATION).and_then(bearer).ok_or(Refusal::Token)?;
        if self.token.is(given) { Ok(()) } else { Err(Refusal::Token) }
    }
}

/// A header that is there exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)?.to_str().ok()
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    WholeAddress,
    NoHost,
    Host,
    Origin,
    Token,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::WholeAddress => (StatusCode::BAD_REQUEST, "this server is no proxy: ask for a path"),
            Self::NoHost => (StatusCode::BAD_REQUEST, "one Host header is needed"),
            Self::Host => (StatusCode::FORBIDDEN, "this Host is not allowed; use 127.0.0.1 or localhost"),
            Self::Origin => (StatusCode::FORBIDDEN, "pages of other origins are not allowed"),
            Self::Token => (
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong: send `Authorization: Bearer TOKEN`; `stepwell mcp config` prints the entry",
            ),
        };
        let mut response = (status, text).into_response();
        if self == Self::Token {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.judge(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Nothing of what is served may be kept, guessed at or told on.
pub(super) async fn discreet(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub(super) async fn nothing_here() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here; the server is at /mcp (older clients: /sse)")
        .into_response()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
    use proptest::prelude::*;

    use super::{Guard, Hosts, Refusal};
    use crate::http::Token;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    type Headers<'a> = &'a [(&'a str, &'a str)];

    fn judge(hosts: Hosts, uri: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let guard = Guard::new(Token::new(TOKEN).unwrap(), hosts);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        guard.judge(&uri.parse::<Uri>().unwrap(), &map)
    }

    #[test]
    fn hosts_origins_and_tokens_are_checked_in_this_order() {
        let bearer = format!("Bearer {TOKEN}");
        let right = ("authorization", bearer.as_str());
        let here = ("host", "127.0.0.1:8000");
        let table: &[(Headers<'_>, Result<(), Refusal>)] = &[
            (&[here, right], Ok(())),
            (&[("host", "LOCALHOST:1"), right], Ok(())),
            (&[("host", "[::1]:8000"), right], Ok(())),
            (&[here, ("authorization", "bearer 0123456789abcdef0123456789abcdef")], Ok(())),
            (&[here, ("origin", "http://127.0.0.1:8000"), right], Ok(())),
            (&[], Err(Refusal::NoHost)),
            (&[here, here, right], Err(Refusal::NoHost)),
            (&[here, ("host", "evil.example"), right], Err(Refusal::NoHost)),
            (&[("host", ""), right], Err(Refusal::NoHost)),
            (&[("host", "evil.example:8000"), right], Err(Refusal::Host)),
            (&[("host", "127.0.0.1.nip.io"), right], Err(Refusal::Host)),
            (&[("host", "localhost.evil.example"), right], Err(Refusal::Host)),
            (&[("host", "localhost."), right], Err(Refusal::Host)),
            (&[("host", "evil.example@127.0.0.1:8000"), right], Err(Refusal::Host)),
            (&[("host", "192.168.1.5:8000"), right], Err(Refusal::Host)),
            (&[("host", "0.0.0.0:8000"), right], Err(Refusal::Host)),
            (&[here, ("origin", "http://evil.example"), right], Err(Refusal::Origin)),
            (&[here, ("origin", "http://127.0.0.1:9000"), right], Err(Refusal::Origin)),
            (&[here, ("origin", "https://127.0.0.1:8000"), right], Err(Refusal::Origin)),
            (&[here, ("origin", "null"), right], Err(Refusal::Origin)),
            (
                &[here, ("origin", "http://127.0.0.1:8000"), ("origin", "http://evil.example"), right],
                Err(Refusal::Origin),
            ),
            (&[here], Err(Refusal::Token)),
            (&[here, ("authorization", TOKEN)], Err(Refusal::Token)),
            (&[here, ("authorization", "Basic 0123456789abcdef0123456789abcdef")], Err(Refusal::Token)),
            (&[here, ("authorization", "Bearer 0123456789abcdef0123456789abcdee")], Err(Refusal::Token)),
            (&[here, ("authorization", "Bearer ")], Err(Refusal::Token)),
            (&[here, right, right], Err(Refusal::Token)),
        ];
        for (headers, expected) in table {
            assert_eq!(judge(Hosts::Loopback, "/mcp", headers), *expected, "{headers:?}");
        }
        let whole = judge(Hosts::Loopback, "http://127.0.0.1:8000/mcp", &[here, right]);
        assert_eq!(whole, Err(Refusal::WholeAddress));
        let query = judge(Hosts::Loopback, &format!("/mcp?token={TOKEN}"), &[here]);
        assert_eq!(query, Err(Refusal::Token), "a token in the address counts for nothing");
    }

    #[test]
    fn a_remote_server_knows_its_names() {
        let bearer = format!("Bearer {TOKEN}");
        let remote = || Hosts::Remote { names: vec!["build.example".to_owned()] };
        let table = [
            ("build.example:8000", Ok(())),
            ("192.168.1.5:8000", Ok(())),
            ("[fd00::1]:8000", Ok(())),
            ("other.example", Err(Refusal::Host)),
        ];
        for (host, expected) in table {
            assert_eq!(
                judge(remote(), "/mcp", &[("host", host), ("authorization", &bearer)]),
                expected,
                "{host}"
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_but_the_token_opens(given in "[ -~]{0,48}") {
            prop_assume!(given.trim() != TOKEN);
            let refused = judge(
                Hosts::Loopback,
                "/mcp",
                &[("host", "localhost"), ("authorization", &format!("Bearer {given}"))],
            );
            prop_assert_eq!(refused, Err(Refusal::Token));
        }

        #[test]
        fn no_name_but_localhost_is_this_machine(name in "[a-z0-9.-]{1,30}") {
            prop_assume!(name != "localhost" && !name.starts_with("127."));
            let bearer = format!("Bearer {TOKEN}");
            let judged = judge(Hosts::Loopback, "/mcp", &[("host", &name), ("authorization", &bearer)]);
            prop_assert!(judged.is_err(), "{}", name);
        }
    }
}
