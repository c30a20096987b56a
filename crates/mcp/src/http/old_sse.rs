//! The older way over HTTP (protocol 2024-11-05): one stream of events for what the server says, posts for what the
//! client says. The stream is the session: when it ends, so does everything that was asked for on it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::serve_server_with_ct;
use rmcp::transport::{Transport, TransportAdapterIdentity};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{HttpOptions, LARGEST_BODY};
use crate::server::McpServer;
use crate::stdio::read_message;

/// Messages that wait on either side.
const WAITING: usize = 64;
/// How often a silent stream shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) struct OldSessions {
    server: McpServer,
    stop: CancellationToken,
    most: usize,
    idle: Duration,
    open: Arc<Mutex<HashMap<String, mpsc::Sender<ClientJsonRpcMessage>>>>,
}

impl OldSessions {
    pub(super) fn new(server: McpServer, options: &HttpOptions, stop: CancellationToken) -> Self {
        Self { server, stop, most: options.most_sessions, idle: options.idle, open: Arc::default() }
    }
}

/// Both ends of a session, as the SDK sees them.
struct Channels {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<ServerJsonRpcMessage>,
    idle: Duration,
}

impl Transport<RoleServer> for Channels {
    type Error = mpsc::error::SendError<ServerJsonRpcMessage>;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move { outgoing.send(message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        // A client that says nothing for so long is gone, even if its connection is not.
        tokio::time::timeout(self.idle, self.incoming.recv()).await.ok().flatten()
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.incoming.close();
        Ok(())
    }
}

/// What must go when the stream of events goes.
struct Session {
    id: String,
    open: Arc<Mutex<HashMap<String, mpsc::Sender<ClientJsonRpcMessage>>>>,
    _cancel: DropGuard,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.open.lock().remove(&self.id);
    }
}

/// `GET /sse`: opens a session and tells where to post.
pub(super) async fn open(State(sessions): State<Arc<OldSessions>>) -> Response {
    let id = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
    let (to_server, incoming) = mpsc::channel(WAITING);
    let (outgoing, from_server) = mpsc::channel::<ServerJsonRpcMessage>(WAITING);
    {
        let mut open = sessions.open.lock();
        if open.len() >= sessions.most {
            let text = format!("there are {} sessions already; end one first", sessions.most);
            return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
        }
        open.insert(id.clone(), to_server);
    }
    let cancel = sessions.stop.child_token();
    let session =
        Session { id: id.clone(), open: Arc::clone(&sessions.open), _cancel: cancel.clone().drop_guard() };
    let channels = Channels { incoming, outgoing, idle: sessions.idle };
    let connection = sessions.server.connection();
    tokio::spawn(async move {
        let served =
            Box::pin(serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(connection, channels, cancel))
                .await;
        if let Ok(running) = served {
            // However it ends, the stream ends with it.
            running.waiting().await.ok();
        }
    });
    let greeting = format!("event: endpoint\ndata: /messages?sessionId={id}\n\n");
    let events = stream::unfold(
        (Some(greeting), session, from_server),
        |(greeting, session, mut messages)| async move {
            let text = match greeting {
                Some(greeting) => greeting,
                None => match tokio::time::timeout_at(Instant::now() + KEEP_ALIVE, messages.recv()).await {
                    Ok(Some(message)) => {
                        format!("event: message\ndata: {}\n\n", serde_json::to_string(&message).ok()?)
                    }
                    Ok(None) => return None,
                    Err(_) => ": still here\n\n".to_owned(),
                },
            };
            Some((Ok::<_, Infallible>(Bytes::from(text)), (None, session, messages)))
        },
    );
    let mut response = Body::from_stream(events).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// `POST /messages?sessionId=...`: one message of the client.
pub(super) async fn message(State(sessions): State<Arc<OldSessions>>, request: Request) -> Response {
    let id =
        request.uri().query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("sessionId="));
    let session = id.and_then(|id| sessions.open.lock().get(id).cloned());
    let Some(session) = session else {
        return (StatusCode::NOT_FOUND, "there is no such session; open one with GET /sse").into_response();
    };
    let Ok(body) = to_bytes(request.into_body(), LARGEST_BODY).await else {
        let text = format!("a message may have at most {LARGEST_BODY} bytes");
        return (StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
    };
    match read_message(&body) {
        Ok(Some(message)) => match session.send(message).await {
            Ok(()) => StatusCode::ACCEPTED.into_response(),
            Err(_) => (StatusCode::NOT_FOUND, "the session has ended").into_response(),
        },
        Ok(None) => (StatusCode::BAD_REQUEST, "the message is empty").into_response(),
        Err(problem) => {
            let body = serde_json::to_string(&problem.answer()).unwrap_or_default();
            (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], body).into_response()
        }
    }
}
