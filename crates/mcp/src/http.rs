//! The server over HTTP: streamable HTTP at `/mcp`, and the older pair of `/sse` and `/messages`.
//!
//! Every request passes the guard first: its host, its origin, its token. Only then does the SDK see it. Sessions are
//! bounded in number and end when nobody uses them.

mod connections;
mod guard;
mod old_sse;
mod sessions;
mod token;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::McpServer;

pub use guard::Hosts;
pub use token::{Token, TokenError};

use guard::Guard;
use old_sse::OldSessions;
use sessions::Sessions;

/// Bytes a request may have.
const LARGEST_BODY: usize = 8 * 1024 * 1024;
/// How long open connections may take to end.
const LAST_WORDS: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub token: Token,
    pub hosts: Hosts,
    /// Sessions at the same time, of either kind.
    pub most_sessions: usize,
    /// How long a client may take to send the headers of a request.
    pub headers: Duration,
    /// A session that nobody uses ends after this.
    pub idle: Duration,
    /// A session whose client broke off a request and does not come back ends after this, with its calls.
    pub abandoned: Duration,
}

impl HttpOptions {
    pub fn new(token: Token, hosts: Hosts) -> Self {
        Self {
            token,
            hosts,
            most_sessions: 64,
            headers: Duration::from_secs(10),
            idle: Duration::from_mins(30),
            abandoned: Duration::from_secs(30),
        }
    }
}

/// The routes of a server, guarded.
pub fn router(server: &McpServer, options: &HttpOptions, stop: &CancellationToken) -> Router {
    let mut session = SessionConfig::default();
    session.keep_alive = Some(options.idle);
    let sessions = Arc::new(Sessions::new(session, options));
    // The guard has looked at the host and the origin already, and more closely.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LARGEST_BODY)
        .with_cancellation_token(stop.clone());
    let served = server.clone();
    let streamable = StreamableHttpService::new(move || Ok(served.connection()), sessions, config);
    let streamable = Router::new().route_service("/mcp", streamable).layer(from_fn(sessions::polite));
    let old = Arc::new(OldSessions::new(server.clone(), options, stop.clone()));
    let guard = Arc::new(Guard::new(options.token.clone(), options.hosts.clone()));
    Router::new()
        .route("/sse", get(old_sse::open))
        .route("/messages", post(old_sse::message))
        .with_state(old)
        .merge(streamable)
        .fallback(guard::nothing_here)
        .layer(from_fn_with_state(guard, guard::check))
        .layer(from_fn(guard::discreet))
}

/// Serves until `stop` is cancelled; then every session and every call ends.
pub async fn serve(
    server: &McpServer,
    listener: TcpListener,
    options: &HttpOptions,
    stop: CancellationToken,
) -> io::Result<()> {
    let router = router(server, options, &stop);
    let stopped = stop.clone();
    let mut serving = std::pin::pin!(connections::serve(listener, router, options.headers, stopped));
    tokio::select! {
        served = &mut serving => served,
        () = stop.cancelled() => {
            server.finish().await;
            // A client that reads nothing must not hold up the end.
            tokio::time::timeout(LAST_WORDS, serving).await.unwrap_or(Ok(()))
        }
    }
}
