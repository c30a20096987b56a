//! Who may talk to the server: the right host, no foreign page, a credential. In this order, before anything else.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    UPGRADE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::Access;
use crate::problem::Problem;

/// What a page may load and whom it may talk to: its own server alone, and nobody may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Names under which the server may be addressed. A page that lets its own name point to this machine (DNS rebinding)
/// is known by that name; an address in digits cannot be made to point elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// `localhost`, this machine's own addresses in digits, and these names.
    Loopback { names: Vec<String> },
    /// Any address in digits, `localhost`, and these names.
    Remote { names: Vec<String> },
}

impl Hosts {
    fn allows(&self, host: &str) -> bool {
        let digits = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let (Self::Loopback { names } | Self::Remote { names }) = self;
        match (self, digits) {
            (Self::Loopback { .. }, Some(address)) => address.is_loopback(),
            (Self::Remote { .. }, Some(_)) => true,
            (_, None) => {
                host.eq_ignore_ascii_case("localhost")
                    || names.iter().any(|name| name.eq_ignore_ascii_case(host))
            }
        }
    }
}

/// How a page of this server names it in `Origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
    /// Plain here, but a proxy in front may speak TLS.
    Either,
}

/// The name of the cookie. Browsers accept the prefix `__Host-` over TLS alone, and then let no other host set it.
pub(crate) fn cookie_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Https => "__Host-stepwell",
        Scheme::Http | Scheme::Either => "stepwell",
    }
}

/// Who a request came from, by its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Has the token.
    Program,
    /// Has a cookie.
    Browser,
    Nobody,
}

/// Checks the requests of one listener.
pub(crate) struct Guard {
    pub(crate) access: Arc<Access>,
    pub(crate) hosts: Hosts,
    pub(crate) scheme: Scheme,
}

impl Guard {
    fn judge(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Caller, Refusal> {
        if uri.authority().is_some() {
            return Err(Refusal::WholeAddress);
        }
        let host = only(headers, &HOST).ok_or(Refusal::NoHost)?;
        let authority = host.parse::<Authority>().map_err(|_| Refusal::NoHost)?;
        if host.contains('@') || !self.hosts.allows(authority.host()) {
            return Err(Refusal::Host);
        }
        // A page of this very server is the only one that may ask.
        let has_origin = headers.contains_key(ORIGIN);
        if has_origin && !only(headers, &ORIGIN).is_some_and(|origin| self.is_own(origin, host)) {
            return Err(Refusal::Origin);
        }
        if headers.contains_key(AUTHORIZATION) {
            let given = only(headers, &AUTHORIZATION).and_then(bearer).ok_or(Refusal::Credential)?;
            return if self.access.is_token(given) { Ok(Caller::Program) } else { Err(Refusal::Credential) };
        }
        if !cookies(headers, cookie_name(self.scheme)).any(|cookie| self.access.is_cookie(cookie)) {
            return Ok(Caller::Nobody);
        }
        // The browser sends a cookie whoever asks it to: only what it says of the asker tells our page from others.
        let changes = *method != Method::GET && *method != Method::HEAD || headers.contains_key(UPGRADE);
        if changes && !has_origin {
            return Err(Refusal::Origin);
        }
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        if !matches!(site, None | Some(b"same-origin" | b"none")) {
            // Another page may link here; it may ask for nothing.
            return Ok(Caller::Nobody);
        }
        Ok(Caller::Browser)
    }

    fn is_own(&self, origin: &str, host: &str) -> bool {
        match origin.split_once("://") {
            Some(("http", own)) => own == host && self.scheme != Scheme::Https,
            Some(("https", own)) => own == host && self.scheme != Scheme::Http,
            _ => false,
        }
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

/// The values of a cookie. Another server of the same host may have set one of the same name.
fn cookies<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(found, _)| *found == name).map(|(_, value)| value).take(8)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    WholeAddress,
    NoHost,
    Host,
    Origin,
    Credential,
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (status, message, hint) = match refusal {
            Refusal::WholeAddress => {
                (StatusCode::BAD_REQUEST, "this server is no proxy", "ask for a path, not for an address")
            }
            Refusal::NoHost => (StatusCode::BAD_REQUEST, "one Host header is needed", ""),
            Refusal::Host => {
                (StatusCode::FORBIDDEN, "this Host is not allowed", "use 127.0.0.1 or localhost")
            }
            Refusal::Origin => (
                StatusCode::FORBIDDEN,
                "pages of other origins are not allowed",
                "programs send the token and no Origin",
            ),
            Refusal::Credential => return no_credential(),
        };
        Self::new(status, message, hint)
    }
}

fn no_credential() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "the token is missing or wrong",
        "programs send `Authorization: Bearer TOKEN`; `stepwell web` signs a browser in",
    )
}

/// Judges a request and notes who it came from.
pub(crate) async fn check(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    match guard.judge(request.method(), request.uri(), request.headers()) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => Problem::from(refusal).into_response(),
    }
}

/// Lets pass who has any credential.
pub(crate) async fn known(request: Request, next: Next) -> Response {
    match request.extensions().get() {
        Some(Caller::Program | Caller::Browser) => next.run(request).await,
        Some(Caller::Nobody) | None => no_credential().into_response(),
    }
}

/// Lets pass who has the token itself.
pub(crate) async fn has_token(request: Request, next: Next) -> Response {
    match request.extensions().get() {
        Some(Caller::Program) => next.run(request).await,
        Some(Caller::Browser | Caller::Nobody) | None => no_credential().into_response(),
    }
}

/// Lets pass what a page of this server sent: its origin was compared already.
pub(crate) async fn from_own_page(request: Request, next: Next) -> Response {
    if request.headers().contains_key(ORIGIN) {
        next.run(request).await
    } else {
        Problem::from(Refusal::Origin).into_response()
    }
}

/// Nothing of what is served may be framed, guessed at or told on; only the page's own files may be kept.
pub(crate) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(REFERRER_POLICY, "no-referrer");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    set(HeaderName::from_static("x-frame-options"), "DENY");
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
