//! A task's events as server-sent events: the log after a number, then what happens.
//!
//! Each durable event has its sequence number as `id`, so a client that comes back with `Last-Event-ID` loses nothing and
//! gets nothing twice.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use stepwell_protocol::{ClientMessage, ErrorReport, EventRecord, RequestId, Seq, ServerMessage, TaskId};
use tokio::time::timeout;

use crate::api::{caller_name, parameter};
use crate::connect::{EngineSink, EngineStream};
use crate::problem::Problem;
use crate::server::Shared;
use crate::socket::{first, say};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) async fn follow(
    State(shared): State<Arc<Shared>>,
    Path(task): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let task = TaskId::new(task);
    if !task.is_valid() {
        let hint = "`POST /api/queries` with `{\"type\": \"tasks\"}` lists the tasks";
        return Err(Problem::new(StatusCode::NOT_FOUND, "this is no id of a task", hint));
    }
    let (attended, after) = asked(request.uri(), &request)?;
    let Ok(place) = Arc::clone(&shared.sockets).try_acquire_owned() else {
        return Err(Problem::busy("too many sockets are open"));
    };
    let (mut to_engine, mut from_engine) = (shared.connect)();
    let mut messages = Vec::new();
    if attended {
        messages.push(ClientMessage::Hello { attended, name: Some(caller_name(request.headers())) });
    }
    messages.push(ClientMessage::Follow { id: RequestId(1), task, after });
    let begin = async {
        if !say(&mut to_engine, messages).await {
            return None;
        }
        first(&mut from_engine, |message| match message {
            ServerMessage::Following { .. } => Some(Ok(())),
            ServerMessage::FollowFailed { error, .. } => Some(Err(error)),
            _ => None,
        })
        .await
    };
    match timeout(shared.limits.reply, begin).await {
        Ok(Some(Ok(()))) => {}
        Ok(Some(Err(report))) => return Err(Problem { status: StatusCode::NOT_FOUND, report }),
        Ok(None) => return Err(Problem::busy("the engine has ended")),
        Err(_) => return Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, "the engine does not answer", "")),
    }
    let events = events(shared, (to_engine, from_engine), place);
    let headers = [(CONTENT_TYPE, "text/event-stream"), (HeaderName::from_static("x-accel-buffering"), "no")];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// Whether a person is there, and after which event to begin.
fn asked(uri: &Uri, request: &Request) -> Result<(bool, Seq), Problem> {
    let wrong = |name: &str, what: &str| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            format!("`{name}` must be {what}"),
            "GET /api/openapi.json says more",
        )
    };
    let attended = match parameter(uri, "attended").as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(wrong("attended", "`true` or `false`")),
    };
    let last = request.headers().get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?").to_owned());
    // A client that comes back sends both: the address it began with, and the last event it has.
    let after = match last.or_else(|| parameter(uri, "after")) {
        None => Seq(0),
        Some(text) => Seq(text.parse().map_err(|_| wrong("after", "the number of an event"))?),
    };
    Ok((attended, after))
}

struct Following {
    shared: Arc<Shared>,
    from_engine: EngineStream,
    /// Open as long as the events are wanted.
    _to_engine: EngineSink,
    _place: tokio::sync::OwnedSemaphorePermit,
    is_over: bool,
}

fn events(
    shared: Arc<Shared>,
    (to_engine, from_engine): (EngineSink, EngineStream),
    place: tokio::sync::OwnedSemaphorePermit,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    shared.metrics.streams.enter();
    let following = Following { shared, from_engine, _to_engine: to_engine, _place: place, is_over: false };
    stream::unfold(following, |mut following| async move {
        if following.is_over {
            return None;
        }
        let text = following.next().await?;
        Some((Ok(Bytes::from(text)), following))
    })
}

impl Drop for Following {
    fn drop(&mut self) {
        self.shared.metrics.streams.leave();
    }
}

impl Following {
    async fn next(&mut self) -> Option<String> {
        let next = tokio::select! {
            () = self.shared.stop.cancelled() => return None,
            next = timeout(self.shared.limits.ping, self.from_engine.next()) => next,
        };
        // A comment now and then: proxies and clients end connections on which nothing comes.
        let Ok(message) = next else { return Some(":\n\n".to_owned()) };
        match message? {
            ServerMessage::Event { record, .. } => Some(event(&record)),
            ServerMessage::FollowFailed { error, .. } => {
                self.is_over = true;
                Some(failed(&error))
            }
            ServerMessage::FollowEnded { .. } => {
                self.is_over = true;
                Some("event: end\ndata: {}\n\n".to_owned())
            }
            _ => Some(":\n\n".to_owned()),
        }
    }
}

/// Types of ours always have a JSON form, and JSON of one line.
fn event(record: &EventRecord) -> String {
    let data = serde_json::to_string(record).unwrap_or_default();
    if record.event.is_durable() {
        format!("id: {}\ndata: {data}\n\n", record.seq)
    } else {
        format!("data: {data}\n\n")
    }
}

fn failed(error: &ErrorReport) -> String {
    format!("event: failed\ndata: {}\n\n", serde_json::to_string(error).unwrap_or_default())
}
