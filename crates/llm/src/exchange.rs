//! A request to a model's server: failing statuses and lost connections become errors with advice.

use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stepwell_net::header::HeaderMap;
use stepwell_net::{BodyKind, HttpClient, Response};
use url::Url;

use crate::advice::{Answer, Peer};
use crate::model::Error;

/// An error page is read up to here; the rest says nothing more.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Posts a JSON body; an answer with a failing status becomes an error.
pub(crate) async fn post(
    client: &HttpClient,
    url: &Url,
    headers: HeaderMap,
    body: Bytes,
    peer: &Peer,
) -> Result<Response, Error> {
    accepted(client.post_json(url, headers, body).await, peer).await
}

/// Limits of an answer that is read as a whole.
#[derive(Clone, Copy)]
pub(crate) struct AnswerLimits {
    pub bytes: usize,
    pub deadline: Duration,
}

/// Posts a JSON body and reads the whole answer as JSON, within its limits.
pub(crate) async fn post_for<T: DeserializeOwned>(
    client: &HttpClient,
    url: &Url,
    headers: HeaderMap,
    body: &Value,
    limits: AnswerLimits,
    peer: &Peer,
) -> Result<T, Error> {
    let AnswerLimits { bytes, deadline } = limits;
    let ask = async {
        let body = body.to_string().into_bytes();
        whole(&mut post(client, url, headers, body.into(), peer).await?, bytes, peer).await
    };
    let answer = tokio::time::timeout(deadline, ask).await.unwrap_or_else(|_| Err(peer.silence(deadline)))?;
    serde_json::from_slice(&answer).map_err(|cause| peer.unreadable(&answer, &cause))
}

/// Asks for JSON; an answer with a failing status becomes an error.
pub(crate) async fn get(
    client: &HttpClient,
    url: &Url,
    headers: HeaderMap,
    peer: &Peer,
) -> Result<Response, Error> {
    accepted(client.get_json(url, headers).await, peer).await
}

/// Waits for the next bytes of an answer; `grace` replaces the usual limit.
pub(crate) async fn chunk(
    response: &mut Response,
    grace: Option<Duration>,
    peer: &Peer,
) -> Result<Option<Bytes>, Error> {
    response.chunk(grace).await.map_err(|error| peer.transport_error(error))
}

/// Reads the rest of an answer, cut after `limit` bytes.
pub(crate) async fn whole(response: &mut Response, limit: usize, peer: &Peer) -> Result<Vec<u8>, Error> {
    response.bytes(limit).await.map_err(|error| peer.transport_error(error))
}

async fn accepted(response: Result<Response, stepwell_net::Error>, peer: &Peer) -> Result<Response, Error> {
    let mut response = response.map_err(|error| peer.transport_error(error))?;
    if response.is_success() {
        return Ok(response);
    }
    // Whatever of the error's body can be had is better than nothing.
    let body = response.bytes(MAX_ERROR_BODY).await.unwrap_or_default();
    Err(peer.refusal(&Answer {
        status: Some(response.status()),
        html: response.kind() == BodyKind::Html,
        retry_after: response.retry_after(),
        location: response.location(),
        body: &body,
    }))
}
