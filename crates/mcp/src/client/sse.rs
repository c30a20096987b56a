//! The transport of 2024-11-05: a stream of events from the server, and a POST for each message to it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use stepwell_net::{EventTooLong, HttpClient, Response, SseEvent, SseParser};
use url::Url;

use super::config::HttpConfig;
use super::stdio::LONGEST_LINE;

/// A stream that is silent for longer is taken for lost.
const LONGEST_SILENCE: Duration = Duration::from_hours(24);

#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum SseError {
    #[error("{0}")]
    Http(String),
    #[error("the server answered with HTTP {0}")]
    Status(u16),
    #[error("the server did not say where messages go, or named another host")]
    NoEndpoint,
    #[error("the message cannot be written: {0}")]
    Message(String),
}

pub(crate) struct SseTransport {
    config: HttpConfig,
    client: HttpClient,
    /// Where messages go.
    endpoint: Url,
    events: Option<Events>,
}

impl SseTransport {
    /// Opens the stream and waits until the server says where messages go.
    pub async fn connect(config: HttpConfig, client: HttpClient) -> Result<Self, SseError> {
        let response = client.get_events(&config.url, config.headers.clone()).await;
        let stream = response.map_err(|error| SseError::Http(error.to_string()))?;
        if !stream.is_success() {
            return Err(SseError::Status(stream.status()));
        }
        let parser = SseParser::new(LONGEST_LINE);
        let mut events = Events { stream, parser, endpoint: None, messages: VecDeque::new() };
        while events.endpoint.is_none() {
            if !events.read().await? {
                return Err(SseError::NoEndpoint);
            }
        }
        let place = events.endpoint.take().unwrap_or_default();
        // Messages carry the headers of the settings, so they go to the same host only.
        let endpoint = config.url.join(place.trim()).ok().filter(|url| url.origin() == config.url.origin());
        let endpoint = endpoint.ok_or(SseError::NoEndpoint)?;
        Ok(Self { config, client, endpoint, events: Some(events) })
    }
}

/// The server's stream.
struct Events {
    stream: Response,
    parser: SseParser,
    endpoint: Option<String>,
    messages: VecDeque<ServerJsonRpcMessage>,
}

impl Events {
    /// Reads the next bytes; `false` at the end of the stream.
    async fn read(&mut self) -> Result<bool, SseError> {
        let chunk = self.stream.chunk(Some(LONGEST_SILENCE)).await;
        let Some(bytes) = chunk.map_err(|error| SseError::Http(error.to_string()))? else { return Ok(false) };
        let (messages, endpoint) = (&mut self.messages, &mut self.endpoint);
        let take = |event: SseEvent<'_>| {
            match event.name {
                b"endpoint" => *endpoint = Some(String::from_utf8_lossy(event.data).into_owned()),
                b"message" | b"" => match serde_json::from_slice(event.data) {
                    Ok(message) => messages.push_back(message),
                    Err(error) => tracing::debug!("a message of an MCP server cannot be read: {error}"),
                },
                _ => {}
            }
            Ok::<(), EventTooLong>(())
        };
        self.parser.feed(&bytes, take).map_err(|error| SseError::Http(error.to_string()))?;
        Ok(true)
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = SseError;

    fn name() -> Cow<'static, str> {
        "SSE".into()
    }

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (client, headers) = (self.client.clone(), self.config.headers.clone());
        let endpoint = self.endpoint.clone();
        async move {
            let body = serde_json::to_vec(&message).map_err(|error| SseError::Message(error.to_string()))?;
            let answer = client.post_json(&endpoint, headers, body.into()).await;
            let answer = answer.map_err(|error| SseError::Http(error.to_string()))?;
            if answer.is_success() { Ok(()) } else { Err(SseError::Status(answer.status())) }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let events = self.events.as_mut()?;
            if let Some(message) = events.messages.pop_front() {
                return Some(message);
            }
            match events.read().await {
                Ok(true) => {}
                Ok(false) => self.events = None,
                Err(error) => {
                    tracing::debug!("the events of an MCP server ended: {error}");
                    self.events = None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.events = None;
        Ok(())
    }
}
