//! The API for programs: commands and queries as requests, and what is known of the server itself.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, SET_COOKIE, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use stepwell_protocol::{ClientMessage, Command, CommandReply, Query, QueryReply, RequestId, ServerMessage};
use tokio::time::timeout;

use crate::access::{Access, CODE_LIFE, COOKIE_LIFE};
use crate::guard::{Scheme, cookie_name};
use crate::problem::{Problem, json as answer};
use crate::server::Shared;
use crate::socket::{first, say};

/// Characters of a challenge at most.
const LONGEST_CHALLENGE: usize = 128;
/// Bytes that a login may have.
const LARGEST_LOGIN: usize = 4 * 1024;
/// Characters of the name of a caller at most.
const LONGEST_NAME: usize = 80;

/// Refuses what comes faster than the server is meant to be asked.
pub(crate) async fn limited(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if shared.requests.lock().try_take(1) {
        return next.run(request).await;
    }
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "there are too many requests",
        "wait a second; a socket carries many messages",
    )
    .into_response()
}

pub(crate) async fn wrong_method() -> Problem {
    let hint = "GET /api/openapi.json says what there is";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path has no such method", hint)
}

/// Says that the server is there and, to who asks for a proof, that it knows the token.
pub(crate) async fn health(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Problem> {
    let mut health = json!({
        "version": shared.version,
        "uptime_seconds": shared.started.elapsed().as_secs(),
    });
    if let Some(challenge) = parameter(&uri, "challenge") {
        let is_plain = challenge.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_plain || !(1..=LONGEST_CHALLENGE).contains(&challenge.len()) {
            let message = format!("the challenge must have 1 to {LONGEST_CHALLENGE} letters and digits");
            return Err(Problem::new(StatusCode::BAD_REQUEST, message, ""));
        }
        health["proof"] = shared.access.token().proof(&challenge).into();
    }
    Ok(answer(StatusCode::OK, &health))
}

/// What a page needs to know before its first message.
pub(crate) async fn session(State(shared): State<Arc<Shared>>) -> Response {
    answer(StatusCode::OK, &json!({ "version": shared.version, "workspace": shared.workspace }))
}

pub(crate) async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let text = shared.metrics.text(shared.started.elapsed().as_secs(), (shared.memory)());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

pub(crate) async fn command(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Result<Response, Problem> {
    let name = caller_name(request.headers());
    let command: Command = body(&shared, request).await?;
    if needs_socket(&command) {
        let message = "a terminal belongs to the socket that opened it";
        return Err(Problem::new(StatusCode::BAD_REQUEST, message, "connect to /api/socket"));
    }
    let mut messages = Vec::new();
    // Others see who answered.
    if matches!(command, Command::Approve { .. } | Command::AnswerQuestion { .. }) {
        messages.push(ClientMessage::Hello { attended: true, name: Some(name) });
    }
    messages.push(ClientMessage::Command { id: RequestId(1), command });
    let reply = exchange(&shared, messages, |message| match message {
        ServerMessage::CommandReply { reply, .. } => Some(reply),
        _ => None,
    });
    let reply = reply.await?;
    let failed = matches!(reply, CommandReply::Failed { .. });
    Ok(answer(if failed { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }, &reply))
}

pub(crate) async fn query(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Problem> {
    let query: Query = body(&shared, request).await?;
    let messages = vec![ClientMessage::Query { id: RequestId(1), query }];
    let reply = exchange(&shared, messages, |message| match message {
        ServerMessage::QueryReply { reply, .. } => Some(reply),
        _ => None,
    });
    let reply = reply.await?;
    let failed = matches!(reply, QueryReply::Failed { .. });
    Ok(answer(if failed { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }, &reply))
}

fn needs_socket(command: &Command) -> bool {
    matches!(
        command,
        Command::OpenTerminal { .. }
            | Command::WriteTerminal { .. }
            | Command::ResizeTerminal { .. }
            | Command::CloseTerminal { .. }
    )
}

/// A conversation of one question.
async fn exchange<T>(
    shared: &Shared,
    messages: Vec<ClientMessage>,
    pick: impl FnMut(ServerMessage) -> Option<T>,
) -> Result<T, Problem> {
    let (mut to_engine, mut from_engine) = (shared.connect)();
    let talk = async {
        if say(&mut to_engine, messages).await { first(&mut from_engine, pick).await } else { None }
    };
    let reply = tokio::select! {
        () = shared.stop.cancelled() => return Err(Problem::busy("the server stops")),
        reply = timeout(shared.limits.reply, talk) => reply,
    };
    match reply {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => Err(Problem::busy("the engine has ended")),
        Err(_) => {
            let message = format!("there was no reply within {} s", shared.limits.reply.as_secs());
            let hint = "what was begun goes on; a socket has no such limit";
            Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, message, hint))
        }
    }
}

/// What a program calls itself.
pub(crate) fn caller_name(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("HTTP");
    agent.chars().take(LONGEST_NAME).collect()
}

/// Reads a JSON body.
async fn body<T: DeserializeOwned>(shared: &Shared, request: Request) -> Result<T, Problem> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    // Forms of other pages can send plain text without asking; they cannot send this.
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "the body must be JSON";
        let hint = "send `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message, hint));
    }
    let bytes = collect(shared, request.into_body(), shared.limits.message_bytes).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("the body is not what this path takes: {error}");
        Problem::new(StatusCode::BAD_REQUEST, message, "GET /api/openapi.json describes it")
    })
}

async fn collect(shared: &Shared, body: Body, most: usize) -> Result<Bytes, Problem> {
    match timeout(shared.limits.body, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let message = format!("the body is larger than {most} bytes, or broke off");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message, ""))
        }
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time", "")),
    }
}

/// The value of a parameter in the query of an address.
pub(crate) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let query = uri.query()?.as_bytes();
    url::form_urlencoded::parse(query).find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}

/// The code stands behind `#`: browsers send that part to nobody, so it is in no log and no `Referer`.
pub(crate) fn login_path(access: &Access) -> String {
    format!("/login#{}", access.new_code())
}

/// Makes a link that signs a browser in.
pub(crate) async fn make_link(State(shared): State<Arc<Shared>>) -> Response {
    let path = login_path(&shared.access);
    answer(StatusCode::OK, &json!({ "path": path, "expires_in_seconds": CODE_LIFE.as_secs() }))
}

pub(crate) async fn stop(State(shared): State<Arc<Shared>>) -> Response {
    tracing::info!("asked to stop");
    shared.stop.cancel();
    answer(StatusCode::ACCEPTED, &json!({ "stopping": true }))
}

#[derive(Deserialize)]
struct Login {
    code: String,
}

/// Exchanges the code of a link for a cookie.
pub(crate) async fn login(
    State(shared): State<Arc<Shared>>,
    Extension(scheme): Extension<Scheme>,
    request: Request,
) -> Result<Response, Problem> {
    let bytes = collect(&shared, request.into_body(), LARGEST_LOGIN).await?;
    let login: Option<Login> = serde_json::from_slice(&bytes).ok();
    if !login.is_some_and(|login| shared.access.use_code(&login.code)) {
        let hint = "a link is good once and for two minutes: `stepwell web` makes another";
        return Err(Problem::new(StatusCode::FORBIDDEN, "this link is not good any more", hint));
    }
    let mut cookie = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}",
        cookie_name(scheme),
        shared.access.new_cookie(),
        COOKIE_LIFE.as_secs()
    );
    if scheme == Scheme::Https {
        cookie.push_str("; Secure");
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

pub(crate) async fn openapi(State(shared): State<Arc<Shared>>) -> Response {
    answer(StatusCode::OK, &crate::openapi::document(&shared.version))
}
