//! The server: its parts, its routes, its life from the first connection to the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, Token};
use crate::connect::Connect;
use crate::guard::{self, Guard};
use crate::listener::{self, Listener};
use crate::metrics::Metrics;
use crate::rate::Bucket;
use crate::{access_log, api, events, page, socket};

/// How long open connections may take to end.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How much callers may use, and how long they may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// TCP connections at the same time, of each listener.
    pub connections: usize,
    /// Sockets and streams of events at the same time.
    pub sockets: usize,
    /// Bytes of a message or a body.
    pub message_bytes: usize,
    /// Messages of a socket, or requests of all callers, that may come at once.
    pub burst: u32,
    /// Messages of a socket, or requests of all callers, that may come in a second over a long time.
    pub per_second: u32,
    /// How long a client may take to send the headers of a request.
    pub headers: Duration,
    /// How long a client may take to send a body.
    pub body: Duration,
    /// How long a client may take to read anything of what it is sent.
    pub stall: Duration,
    /// How often a quiet socket is asked whether somebody is there.
    pub ping: Duration,
    /// How long a socket may be silent.
    pub silence: Duration,
    /// How long the engine may take to reply to a request over HTTP.
    pub reply: Duration,
}

impl Limits {
    pub const STANDARD: Self = Self {
        connections: 1024,
        sockets: 512,
        message_bytes: 16 * 1024 * 1024,
        burst: 2000,
        per_second: 500,
        headers: Duration::from_secs(10),
        body: Duration::from_secs(30),
        stall: Duration::from_secs(30),
        ping: Duration::from_secs(15),
        silence: Duration::from_secs(60),
        reply: Duration::from_mins(2),
    };
}

/// What a server is made of.
pub struct ServerParts {
    pub connect: Connect,
    pub token: Token,
    pub version: String,
    /// The folder that the page offers first.
    pub workspace: String,
    /// Resident memory of the process in bytes, where it is known.
    pub memory: fn() -> Option<u64>,
    pub limits: Limits,
    /// Ends the server; `POST /api/stop` cancels it too.
    pub stop: CancellationToken,
}

/// Serves the engine and the page.
pub struct Server {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) connect: Connect,
    pub(crate) access: Arc<Access>,
    pub(crate) version: String,
    pub(crate) workspace: String,
    pub(crate) memory: fn() -> Option<u64>,
    pub(crate) limits: Limits,
    pub(crate) stop: CancellationToken,
    pub(crate) started: Instant,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) requests: Mutex<Bucket>,
}

impl Server {
    pub fn new(parts: ServerParts) -> Self {
        let ServerParts { connect, token, version, workspace, memory, limits, stop } = parts;
        let shared = Shared {
            connect,
            access: Arc::new(Access::new(token)),
            version,
            workspace,
            memory,
            limits,
            stop,
            started: Instant::now(),
            metrics: Arc::default(),
            sockets: Arc::new(Semaphore::new(limits.sockets)),
            requests: Mutex::new(Bucket::new(limits.burst, limits.per_second)),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A path that signs a browser in, once, within two minutes.
    pub fn login_path(&self) -> String {
        api::login_path(&self.shared.access)
    }

    /// Serves until the stop token is cancelled; then every socket is closed and every stream ended.
    pub async fn serve(&self, listeners: Vec<Listener>) {
        let stop = &self.shared.stop;
        let serving = join_all(listeners.into_iter().map(|listener| {
            let guard = Guard {
                access: Arc::clone(&self.shared.access),
                hosts: listener.hosts.clone(),
                scheme: listener.scheme(),
            };
            let router = router(&self.shared, guard);
            listener::serve(listener, router, Arc::clone(&self.shared), stop.clone())
        }));
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            _ = &mut serving => return,
            () = stop.cancelled() => {}
        }
        // A client that reads nothing must not hold up the end. Sockets are upgraded connections, counted apart.
        let last_sockets = self.shared.sockets.acquire_many(self.shared.limits.sockets as u32);
        let ended = async { tokio::join!(serving, last_sockets) };
        tokio::time::timeout(LAST_WORDS, ended).await.ok();
    }
}

/// The routes of one listener, guarded.
fn router(shared: &Arc<Shared>, guard: Guard) -> Router {
    let guard = Arc::new(guard);
    let for_programs = Router::new()
        .route("/api/links", post(api::make_link))
        .route("/api/stop", post(api::stop))
        .route_layer(from_fn(guard::has_token));
    let for_known = Router::new()
        .route("/api/socket", get(socket::open))
        .route("/api/session", get(api::session))
        .route("/api/commands", post(api::command))
        .route("/api/queries", post(api::query))
        .route("/api/tasks/{task}/events", get(events::follow))
        .route("/api/metrics", get(api::metrics))
        .route("/api/openapi.json", get(api::openapi))
        .route_layer(from_fn_with_state(Arc::clone(shared), api::limited))
        .route_layer(from_fn(guard::known));
    let for_login = Router::new()
        .route("/api/login", post(api::login))
        .route_layer(from_fn(guard::from_own_page))
        .layer(axum::Extension(guard.scheme));
    Router::new()
        .route("/api/health", get(api::health))
        .route("/login", get(page::login))
        .route("/login.js", get(page::login_script))
        .merge(for_programs)
        .merge(for_known)
        .merge(for_login)
        .fallback(page::asset)
        .method_not_allowed_fallback(api::wrong_method)
        .with_state(Arc::clone(shared))
        .layer(from_fn_with_state(guard, guard::check))
        .layer(from_fn_with_state(Arc::clone(shared), access_log::observe))
        .layer(from_fn(guard::headers))
}
