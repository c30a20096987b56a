//! One live session with a server: handshake, lists, calls, resources and prompts, each with a deadline.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequestParams,
    InputRequest, InputRequiredResult, JsonObject, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResult, Resource, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions, QuitReason,
    RequestHandle, RunningService, ServiceError,
};
use rmcp::transport::AuthClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use serde_json::Value;
use stepwell_net::HttpClient;
use stepwell_net::header::AUTHORIZATION;
use stepwell_protocol::ErrorClass;
use stepwell_tool_runtime::{ToolContext, ToolError};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::active_calls::{ActiveCalls, Listed};
use super::config::{HttpConfig, ServerConfig, Transport};
use super::entry::Grant;
use super::handler::Handler;
use super::refusal::Refusal;
use super::servers::ServersOptions;
use super::sse::SseTransport;
use super::stdio::{LONGEST_LINE, Program};
use super::tokens::{LoginFiles, stored_login};

/// Tools of one server that are taken.
const MOST_TOOLS: usize = 500;
/// Resources and prompts of one server that are listed.
const MOST_LISTED: usize = 1_000;
/// Bytes of one event of an HTTP server.
const LONGEST_EVENT: usize = LONGEST_LINE;
/// Times a server may ask for input within one call.
const MOST_ROUNDS: usize = 10;
/// How long a list, a prompt or a resource may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("it cannot be started: {0}")]
    Start(String),
    #[error("it asks for a login")]
    NeedsLogin,
    #[error("{0}")]
    Failed(String),
    #[error("it did not answer within {} s", .0.as_secs())]
    Late(Duration),
}

/// A resource that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerResource {
    pub uri: String,
    pub name: String,
    pub description: Option<String>,
    pub media_type: Option<String>,
}

/// A prompt that a server offers, with the names of its arguments and whether each is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    pub name: String,
    pub description: Option<String>,
    pub arguments: Vec<(String, bool)>,
}

/// A session whose owner sees its end.
pub(crate) struct Session {
    pub connection: Arc<Connection>,
    pub tools_changed: watch::Receiver<u64>,
    running: RunningService<RoleClient, Arc<Handler>>,
    program: Option<Program>,
}

/// What calls use of a session.
pub(crate) struct Connection {
    peer: Peer<RoleClient>,
    handler: Arc<Handler>,
    calls: Arc<ActiveCalls>,
    login: Option<Login>,
    /// Cancelled when the token has run out and a new connection gets another one.
    renew: CancellationToken,
}

/// What a refused request does to the login at an HTTP server.
#[derive(Clone)]
struct Login {
    files: LoginFiles,
    grant: Grant,
}

/// Why there is no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListError {
    NeedsLogin,
    Failed(String),
}

impl Session {
    /// Connects and shakes hands within the server's start limit.
    pub async fn open(config: &ServerConfig, options: &ServersOptions) -> Result<Self, ConnectError> {
        match Self::open_as(config, options, ClientLifecycleMode::Initialize).await {
            // A server that knows no `initialize` speaks 2026-07-28 alone.
            Err(Refused::Handshake) => {
                let lifecycle =
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                Self::open_as(config, options, lifecycle).await.map_err(Refused::into_error)
            }
            other => other.map_err(Refused::into_error),
        }
    }

    async fn open_as(
        config: &ServerConfig,
        options: &ServersOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, Refused> {
        let (tell, tools_changed) = watch::channel(0);
        let calls = Arc::new(ActiveCalls::default());
        let handler = Arc::new(Handler {
            server: config.name.clone(),
            version: options.version.clone(),
            roots: options.roots.clone(),
            calls: Arc::clone(&calls),
            sampling: config.sampling,
            tools_changed: tell,
        });
        let login = match &config.transport {
            Transport::Http(http) => Some(Login {
                files: LoginFiles::new(&options.tokens, &config.name, &http.url),
                grant: http.oauth.grant,
            }),
            Transport::Stdio(_) | Transport::Sse(_) => None,
        };
        let mut program = None;
        let shaking: Handshake = match &config.transport {
            Transport::Stdio(stdio) => {
                let removed = &options.removed_variables;
                let (started, stdout, stdin) =
                    Program::start(&config.name, stdio, removed, options.launch.as_ref())
                        .map_err(ConnectError::Start)?;
                program = Some(started);
                let transport =
                    AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(LONGEST_LINE);
                Box::pin(Arc::clone(&handler).serve_with_lifecycle(transport, lifecycle))
            }
            Transport::Http(http) => {
                let client = http_client(http, &options.http)?;
                let has_token = http.headers.contains_key(AUTHORIZATION);
                let (http, connections) = (http.clone(), options.http.clone());
                let files = LoginFiles::new(&options.tokens, &config.name, &http.url);
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    let login =
                        if has_token { Ok(None) } else { stored_login(&files, &http, &connections).await };
                    let transport_config = http_transport_config(&http);
                    match login {
                        Ok(Some(manager)) => {
                            let client = AuthClient::new(client, manager);
                            let transport =
                                StreamableHttpClientTransport::with_client(client, transport_config);
                            handler.serve_with_lifecycle(transport, lifecycle).await
                        }
                        Ok(None) => {
                            let transport =
                                StreamableHttpClientTransport::with_client(client, transport_config);
                            handler.serve_with_lifecycle(transport, lifecycle).await
                        }
                        Err(error) => Err(ClientInitializeError::ConnectionClosed(error.to_string())),
                    }
                })
            }
            Transport::Sse(http) => {
                let (http, client) = (http.clone(), options.http.clone());
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    let transport = SseTransport::connect(http, client).await.map_err(|error| {
                        ClientInitializeError::transport::<SseTransport>(error, "connecting")
                    })?;
                    handler.serve_with_lifecycle(transport, lifecycle).await
                })
            }
        };
        let running = match timeout(config.start_limit, shaking).await {
            Err(_) => return Err(ConnectError::Late(config.start_limit).into()),
            Ok(Err(error)) => return Err(refused(error, program, login.as_ref()).await),
            Ok(Ok(running)) => running,
        };
        let peer = running.peer().clone();
        let connection =
            Arc::new(Connection { peer, handler, calls, login, renew: CancellationToken::new() });
        Ok(Self { connection, tools_changed, running, program })
    }

    /// Waits until the connection is lost, and says why. When it is told to stop, it ends the session itself.
    pub async fn lost(self, stop: CancellationToken) -> String {
        let Self { running, mut program, connection, .. } = self;
        let close = running.cancellation_token();
        let mut waiting = Box::pin(running.waiting());
        let ended = tokio::select! {
            ended = &mut waiting => ended,
            () = connection.renew.cancelled() => {
                close.cancel();
                timeout(REQUEST_LIMIT, waiting).await.ok();
                return "its token had run out".to_owned();
            }
            () = stop.cancelled() => {
                // Closes the program's input, which is how it is told to end.
                close.cancel();
                timeout(REQUEST_LIMIT, waiting).await.ok();
                if let Some(program) = program {
                    program.end().await;
                }
                return "it was stopped".to_owned();
            }
        };
        let why = match ended {
            Ok(QuitReason::Closed) => "it ended the connection".to_owned(),
            Ok(reason) => format!("the connection was lost ({reason:?})"),
            Err(error) => format!("the connection was lost ({error})"),
        };
        let words = match &mut program {
            Some(program) => program.last_words().await,
            None => None,
        };
        match words {
            Some(words) => format!("{why}; it said: {words}"),
            None => why,
        }
    }

    /// Ends the session and the server's program.
    pub async fn end(self) {
        let Self { running, program, .. } = self;
        // Closes the program's input, which is how it is told to end.
        timeout(REQUEST_LIMIT, running.cancel()).await.ok();
        if let Some(program) = program {
            program.end().await;
        }
    }
}

type Handshake = std::pin::Pin<
    Box<dyn Future<Output = Result<RunningService<RoleClient, Arc<Handler>>, ClientInitializeError>> + Send>,
>;

/// Why an attempt failed, and whether another handshake could succeed.
enum Refused {
    Handshake,
    Error(ConnectError),
}

impl Refused {
    fn into_error(self) -> ConnectError {
        match self {
            Self::Handshake => {
                ConnectError::Failed("it knows neither `initialize` nor `server/discover`".into())
            }
            Self::Error(error) => error,
        }
    }
}

impl From<ConnectError> for Refused {
    fn from(error: ConnectError) -> Self {
        Self::Error(error)
    }
}

async fn refused(error: ClientInitializeError, program: Option<Program>, login: Option<&Login>) -> Refused {
    if let Some(refusal) = Refusal::of_handshake(&error) {
        if let Some(login) = login {
            login.note(&refusal);
        }
        return ConnectError::NeedsLogin.into();
    }
    if let ClientInitializeError::JsonRpcError(data) = &error
        && data.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND
    {
        return Refused::Handshake;
    }
    let mut told = match &error {
        ClientInitializeError::ConnectionClosed(_) if program.is_some() => {
            "it ended before it said hello".to_owned()
        }
        error => error_chain(error),
    };
    if let Some(mut program) = program
        && let Some(words) = program.last_words().await
    {
        told = format!("{told}; it said: {words}");
    }
    ConnectError::Failed(told).into()
}

impl Login {
    /// Notes what the next login must ask for.
    fn note(&self, refusal: &Refusal) {
        if let Refusal::MissingScopes { scopes, .. } = refusal {
            self.files.want_scopes(scopes);
        }
    }
}

/// An error with what caused it, each cause once.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
        cause = error.source();
    }
    told
}

pub(super) fn http_transport_config(http: &HttpConfig) -> StreamableHttpClientTransportConfig {
    let headers = http.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    StreamableHttpClientTransportConfig::with_uri(http.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(LONGEST_EVENT)
}

pub(super) fn http_client(
    http: &HttpConfig,
    client: &HttpClient,
) -> Result<impl StreamableHttpClient + Sync + use<>, ConnectError> {
    client.client_for(&http.url).map_err(|error| ConnectError::Failed(error.to_string()))
}

impl Connection {
    /// Whether the server says that it has resources.
    pub fn has_resources(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// What the server says of itself: name and version.
    pub fn identity(&self) -> Option<String> {
        let info = self.peer.peer_info()?;
        let server = info.server_info.as_ref()?;
        Some(format!("{} {}", server.name, server.version))
    }

    /// Lists the tools, as many as are taken.
    pub async fn tools(&self, limit: Duration) -> Result<Vec<Tool>, ListError> {
        if self.peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(Vec::new());
        }
        let listing = pages(MOST_TOOLS, |cursor| async {
            let page = self.peer.list_tools(cursor).await?;
            Ok((page.tools, page.next_cursor))
        });
        match timeout(limit, listing).await {
            Ok(Ok(tools)) => Ok(tools),
            Ok(Err(error)) if Refusal::of_request(&error).is_some() => {
                self.failed(error);
                Err(ListError::NeedsLogin)
            }
            Ok(Err(error)) => Err(ListError::Failed(failed(error).message)),
            Err(_) => Err(ListError::Failed(format!("it did not answer within {} s", limit.as_secs()))),
        }
    }

    /// The error of a request. A refusal for want of scopes is noted for the next login.
    fn failed(&self, error: ServiceError) -> ToolError {
        let (Some(refusal), Some(login)) = (Refusal::of_request(&error), &self.login) else {
            return failed(error);
        };
        login.note(&refusal);
        if login.grant == Grant::ClientCredentials && matches!(refusal, Refusal::NoToken { .. }) {
            // The token has run out. A new connection gets another one without a person.
            self.renew.cancel();
            return ToolError::execution(
                "the server's token has run out; it connects again now, repeat the call",
            );
        }
        ToolError::execution(refusal.told(&self.handler.server))
    }

    pub async fn resources(&self) -> Result<Vec<Resource>, String> {
        if !self.has_resources() {
            return Ok(Vec::new());
        }
        let listing = pages(MOST_LISTED, |cursor| async {
            let page = self.peer.list_resources(cursor).await?;
            Ok((page.resources, page.next_cursor))
        });
        within(REQUEST_LIMIT, listing).await
    }

    pub async fn prompts(&self) -> Result<Vec<ServerPrompt>, String> {
        if self.peer.peer_info().is_some_and(|info| info.capabilities.prompts.is_none()) {
            return Ok(Vec::new());
        }
        let listing = pages(MOST_LISTED, |cursor| async {
            let page = self.peer.list_prompts(cursor).await?;
            Ok((page.prompts, page.next_cursor))
        });
        let prompts = within(REQUEST_LIMIT, listing).await?;
        let prompt = |prompt: rmcp::model::Prompt| ServerPrompt {
            name: prompt.name,
            description: prompt.description,
            arguments: prompt
                .arguments
                .into_iter()
                .flatten()
                .map(|argument| (argument.name, argument.required.unwrap_or_default()))
                .collect(),
        };
        Ok(prompts.into_iter().map(prompt).collect())
    }

    /// The text of a prompt.
    pub async fn prompt(&self, name: &str, arguments: JsonObject) -> Result<String, String> {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(arguments);
        let asking = async {
            let response = self.peer.get_prompt_once(params).await?;
            match response {
                rmcp::model::GetPromptResponse::Complete(result) => Ok(result),
                _ => Err(ServiceError::UnexpectedResponse),
            }
        };
        let result = within(REQUEST_LIMIT, asking).await?;
        let messages = result.messages.into_iter();
        let text = messages.filter_map(|message| match message.content {
            rmcp::model::ContentBlock::Text(text) => Some(text.text),
            _ => None,
        });
        Ok(text.collect::<Vec<_>>().join("\n\n"))
    }

    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, String> {
        within(REQUEST_LIMIT, self.peer.read_resource(ReadResourceRequestParams::new(uri))).await
    }

    /// Calls a tool. The server is told when the call is cancelled or has run out of time.
    pub async fn call(
        &self,
        ctx: &ToolContext,
        tool: &str,
        arguments: JsonObject,
        limit: Duration,
    ) -> Result<CallToolResult, ToolError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        for _ in 0..MOST_ROUNDS {
            match self.call_once(ctx, params.clone(), limit).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(required) => {
                    params.request_state.clone_from(&required.request_state);
                    params.input_responses = Some(self.answers(ctx, required).await?);
                }
                _ => {
                    return Err(ToolError::execution("the server answered with something that is no result"));
                }
            }
        }
        Err(ToolError::execution(format!("the server asked for input more than {MOST_ROUNDS} times")))
    }

    async fn call_once(
        &self,
        ctx: &ToolContext,
        params: CallToolRequestParams,
        limit: Duration,
    ) -> Result<ServerResult, ToolError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut listed = self.calls.begin(ctx);
        let sending = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let handle = timeout(limit, sending).await.map_err(|_| late(limit))?;
        let mut handle = handle.map_err(|error| self.failed(error))?;
        listed.set_token(handle.progress_token.clone());
        let stopped = tokio::select! {
            biased;
            answer = &mut handle.rx => {
                let answer = answer.map_err(|_| failed(ServiceError::TransportClosed))?;
                return answer.map_err(|error| self.failed(error));
            }
            () = ctx.cancel.cancelled() => ToolError::interrupted("the call was cancelled; the server was told"),
            () = silence(&mut listed, limit) => late(limit),
        };
        tell_cancelled(handle, &stopped).await;
        Err(stopped)
    }

    /// Answers what a server of 2026-07-28 wants to know before it goes on.
    async fn answers(
        &self,
        ctx: &ToolContext,
        required: InputRequiredResult,
    ) -> Result<std::collections::BTreeMap<String, Value>, ToolError> {
        let _listed = self.calls.begin(ctx);
        let mut answers = std::collections::BTreeMap::new();
        for (name, request) in required.input_requests.unwrap_or_default() {
            let answer = match request {
                InputRequest::Elicitation(request) => {
                    serde_json::to_value(self.handler.elicit(request.params).await)
                }
                InputRequest::ListRoots(_) => serde_json::to_value(self.handler.roots_result()),
                InputRequest::CreateMessage(request) => {
                    let answer = self.handler.sample(request.params).await;
                    serde_json::to_value(
                        answer.map_err(|error| ToolError::execution(error.message.to_string()))?,
                    )
                }
                _ => {
                    return Err(ToolError::execution(
                        "the server asks for something that this client does not offer",
                    ));
                }
            };
            let answer = answer.map_err(|error| ToolError::execution(error.to_string()))?;
            answers.insert(name, answer);
        }
        Ok(answers)
    }
}

/// Ends when a call has shown no sign of life for so long.
async fn silence(listed: &mut Listed, limit: Duration) {
    loop {
        let asking = listed.signs.borrow_and_update().questions > 0;
        let deadline = Instant::now() + limit;
        let changed = listed.signs.changed();
        if asking {
            // The person has the host's own deadline.
            if changed.await.is_err() {
                return;
            }
        } else if timeout_at(deadline, changed).await.is_err() {
            return;
        }
    }
}

async fn tell_cancelled(handle: RequestHandle<RoleClient>, why: &ToolError) {
    let telling = handle.cancel(Some(why.message.clone()));
    timeout(Duration::from_secs(1), telling).await.ok();
}

fn late(limit: Duration) -> ToolError {
    let told = format!("the MCP server was silent for {} s; the call was cancelled", limit.as_secs());
    ToolError::new(ErrorClass::TimeoutError, told)
}

fn failed(error: ServiceError) -> ToolError {
    match error {
        ServiceError::McpError(error) if error.code == rmcp::model::ErrorCode::INVALID_PARAMS => {
            ToolError::validation(error.message.to_string())
        }
        ServiceError::McpError(error) => ToolError::execution(error.message.to_string()),
        ServiceError::TransportClosed => {
            ToolError::execution("the MCP server ended during the call; it may have had effects")
        }
        error => ToolError::execution(error_chain(&error)),
    }
}

/// Gathers the pages of a list up to a bound; a server that repeats a cursor gives no more.
async fn pages<T, F, P>(most: usize, page: F) -> Result<Vec<T>, ServiceError>
where
    F: Fn(Option<rmcp::model::PaginatedRequestParams>) -> P,
    P: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let params = cursor
            .clone()
            .map(|cursor| rmcp::model::PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let (items, next) = page(params).await?;
        let empty = items.is_empty();
        found.extend(items);
        if found.len() >= most || empty || next.is_none() || next == cursor {
            found.truncate(most);
            return Ok(found);
        }
        cursor = next;
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, String> {
    match timeout(limit, work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed(error).message),
        Err(_) => Err(format!("it did not answer within {} s", limit.as_secs())),
    }
}
