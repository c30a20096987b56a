//! Sessions of clients that speak an older protocol: bounded, unguessable, and ended when their client is gone.
//!
//! From 2026-07-28 on there are no sessions: each request stands alone, and one that is broken off is cancelled at
//! once. Before that, a broken connection is no cancel, because the client may come back for the rest. Here it has a
//! while to do so.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker, SessionConfig, create_local_session,
};
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use tokio::sync::watch;

use super::HttpOptions;

pub(super) struct Sessions {
    inner: Arc<LocalSessionManager>,
    config: SessionConfig,
    most: usize,
    abandoned: Duration,
    activity: Mutex<HashMap<SessionId, Arc<Activity>>>,
}

/// What a session's client does.
#[derive(Default)]
struct Activity {
    /// Counts up with every request.
    requests: watch::Sender<u64>,
    /// Streams on which it waits for an answer.
    open: AtomicUsize,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("there are {0} sessions already; end one, or wait until one has ended")]
    TooMany(usize),
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(config: SessionConfig, options: &HttpOptions) -> Self {
        Self {
            inner: Arc::default(),
            config,
            most: options.most_sessions,
            abandoned: options.abandoned,
            activity: Mutex::default(),
        }
    }

    fn noted(&self, id: &SessionId) {
        if let Some(activity) = self.activity.lock().get(id) {
            activity.requests.send_modify(|count| *count += 1);
        }
    }

    /// Watches the stream of a request: when its client drops it unanswered and does not come back, the session ends.
    fn watched<S>(&self, id: &SessionId, stream: S) -> Watched<S> {
        let activity = self.activity.lock().get(id).cloned();
        if let Some(activity) = &activity {
            activity.open.fetch_add(1, Ordering::SeqCst);
        }
        Watched {
            stream,
            answered: false,
            id: id.clone(),
            manager: Arc::clone(&self.inner),
            activity,
            abandoned: self.abandoned,
        }
    }
}

struct Watched<S> {
    stream: S,
    answered: bool,
    id: SessionId,
    manager: Arc<LocalSessionManager>,
    activity: Option<Arc<Activity>>,
    abandoned: Duration,
}

impl<S: Stream<Item = ServerSseMessage> + Unpin> Stream for Watched<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = Pin::new(&mut self.stream).poll_next(context);
        self.answered |= match &polled {
            Poll::Ready(Some(event)) => matches!(
                event.message.as_deref(),
                Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
            ),
            Poll::Ready(None) => true,
            Poll::Pending => false,
        };
        polled
    }
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        let Some(activity) = self.activity.take() else { return };
        activity.open.fetch_sub(1, Ordering::SeqCst);
        let (false, Ok(runtime)) = (self.answered, tokio::runtime::Handle::try_current()) else { return };
        let (id, manager, patience) = (self.id.clone(), Arc::clone(&self.manager), self.abandoned);
        let mut came_back = activity.requests.subscribe();
        runtime.spawn(async move {
            let is_silent = tokio::time::timeout(patience, came_back.changed()).await.is_err();
            if is_silent && activity.open.load(Ordering::SeqCst) == 0 {
                // A session that is gone already needs no end.
                manager.close_session(&id).await.ok();
            }
        });
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let id: SessionId = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>()).into();
        let (handle, worker) = create_local_session(Arc::clone(&id), self.config.clone());
        let mut sessions = self.inner.sessions.write().await;
        if sessions.len() >= self.most {
            return Err(SessionsError::TooMany(self.most));
        }
        sessions.insert(Arc::clone(&id), handle);
        let mut activity = self.activity.lock();
        // Those that ended by themselves are forgotten here.
        activity.retain(|known, _| sessions.contains_key(known));
        activity.insert(Arc::clone(&id), Arc::default());
        Ok((id, WorkerTransport::spawn(worker)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.noted(id);
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.activity.lock().remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.create_stream(id, message).await?;
        Ok(self.watched(id, Box::pin(stream)))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        // A client holds this one open as long as it lives, and opens it anew where it breaks.
        let stream = self.inner.create_standalone_stream(id).await?;
        Ok(self.watched(id, Box::pin(stream)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.resume(id, last_event_id).await?;
        Ok(self.watched(id, Box::pin(stream)))
    }
}
