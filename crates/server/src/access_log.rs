//! One line for every request: method, route, status, time, bytes. Never a query, a code or a path of the caller's own.

use std::sync::Arc;
use std::time::Instant;

use axum::body::HttpBody;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use crate::server::Shared;

/// What a request is logged as that no route of the API matches.
const PAGE: &str = "/*";

pub(crate) async fn observe(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or(PAGE, MatchedPath::as_str);
    let status = response.status();
    shared.metrics.request(route, method, status);
    // Streams are as long as they last.
    let bytes = response.body().size_hint().exact();
    let milliseconds = began.elapsed().as_millis() as u64;
    tracing::info!(method, route, status = status.as_u16(), milliseconds, bytes, "request");
    response
}

/// Methods by name; others would let a caller make up any number of them.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}
