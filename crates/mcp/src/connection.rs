//! One client's connection: what the protocol asks for, answered from what the server shares.
#![expect(deprecated, reason = "roots and logging are deprecated from 2026-07-28 on; older clients use them")]

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CustomRequest, CustomResult,
    ElicitRequestParams, ElicitResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::watch;

use crate::call;
use crate::ports::{PromptEntry, ServedWorkspace};
use crate::server::{Shared, WorkspaceChoice};
use stepwell_protocol::TaskId;
use stepwell_tool_runtime::ResourceBody;

/// How long a client may take to name its roots.
const ROOTS_PATIENCE: Duration = Duration::from_secs(5);
/// How long a client may take to read a notification before it gets no more of a call's.
const NOTIFY_PATIENCE: Duration = Duration::from_secs(2);

/// What is known of the client's roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Roots {
    /// The client's first folder, as far as it is known.
    first: Option<PathBuf>,
    /// The client is being asked; whoever needs to know waits for its answer.
    asked: bool,
}

pub(crate) struct Connection {
    shared: Arc<Shared>,
    /// Whose calls these are: what they leave running ends with the client.
    task: TaskId,
    has_called: AtomicBool,
    roots: watch::Sender<Roots>,
    /// Messages below this level are not sent.
    level: AtomicU8,
}

impl Drop for Connection {
    fn drop(&mut self) {
        tracing::debug!("MCP connection ends");
        let (true, Ok(workspace)) = (*self.has_called.get_mut(), self.any_workspace()) else { return };
        let task = self.task.clone();
        if tokio::runtime::Handle::try_current().is_ok() {
            self.shared.tracker.spawn(async move { workspace.services.activity.client_gone(&task).await });
        }
    }
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            task: TaskId::generate(),
            has_called: AtomicBool::new(false),
            roots: watch::Sender::default(),
            level: AtomicU8::new(rank(LoggingLevel::Info)),
        }
    }

    /// The client's workspace. A client that is just being asked for its roots is waited for.
    async fn workspace(&self) -> Result<Arc<ServedWorkspace>, ErrorData> {
        let mut roots = self.roots.subscribe();
        // One that does not answer in time keeps the folder it had.
        tokio::time::timeout(ROOTS_PATIENCE, roots.wait_for(|roots| !roots.asked)).await.ok();
        self.any_workspace()
    }

    fn open(&self, folder: Option<PathBuf>) -> Result<Arc<ServedWorkspace>, ErrorData> {
        self.shared
            .workspace_of(folder.as_deref())
            .map_err(|problem| ErrorData::internal_error(problem, None))
    }

    /// What is known now; the list of tools does not depend on the folder.
    fn any_workspace(&self) -> Result<Arc<ServedWorkspace>, ErrorData> {
        let folder = self.roots.borrow().first.clone();
        self.open(folder)
    }

    /// Asks the client for its roots, where they decide.
    async fn look_at_roots(&self, peer: &Peer<RoleServer>) {
        let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
        if self.shared.workspace != WorkspaceChoice::FirstRoot || !has_roots {
            return;
        }
        self.roots.send_modify(|roots| roots.asked = true);
        let listed = tokio::time::timeout(ROOTS_PATIENCE, peer.list_roots()).await;
        self.roots.send_modify(|roots| {
            roots.asked = false;
            if let Ok(Ok(listed)) = listed {
                roots.first = listed.roots.iter().find_map(|root| folder_of(&root.uri));
            }
        });
    }
}

/// The folder of a `file:` address.
fn folder_of(uri: &str) -> Option<PathBuf> {
    let path = url::Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()?;
    path.is_dir().then_some(path)
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// The client of one request.
pub(crate) struct Client<'a> {
    context: &'a RequestContext<RoleServer>,
    progress: Option<ProgressToken>,
    /// The lowest level it wants to hear; `None` for nothing.
    level: Option<u8>,
    task: TaskId,
}

impl<'a> Client<'a> {
    fn new(context: &'a RequestContext<RoleServer>, session_level: u8, task: TaskId) -> Self {
        let stateless = is_stateless(context);
        // Without a session the level stands in each request.
        let level = if stateless { context.meta.log_level().map(rank) } else { Some(session_level) };
        Self { context, progress: context.meta.get_progress_token(), level, task }
    }

    /// Whose calls these are.
    pub(crate) fn task(&self) -> TaskId {
        self.task.clone()
    }

    pub(crate) fn capabilities(&self) -> Option<ClientCapabilities> {
        self.context.client_capabilities()
    }

    /// Whether the protocol forbids requests to the client.
    pub(crate) fn is_stateless(&self) -> bool {
        is_stateless(self.context)
    }

    pub(crate) async fn cancelled(&self) {
        self.context.ct.cancelled().await;
    }

    pub(crate) fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    pub(crate) async fn progress(&self, count: f64, line: String) {
        let Some(token) = &self.progress else { return };
        let note = ProgressNotificationParam::new(token.clone(), count).with_message(line);
        tokio::time::timeout(NOTIFY_PATIENCE, self.context.peer.notify_progress(note)).await.ok();
    }

    /// Tells the person something, where the client wants to hear it.
    pub(crate) async fn notice(&self, text: &str) {
        if self.level.is_none_or(|lowest| rank(LoggingLevel::Notice) < lowest) {
            return;
        }
        let note =
            LoggingMessageNotificationParam::new(LoggingLevel::Notice, text.into()).with_logger("stepwell");
        tokio::time::timeout(NOTIFY_PATIENCE, self.context.peer.notify_logging_message(note)).await.ok();
    }

    pub(crate) async fn elicit(
        &self,
        form: ElicitRequestParams,
        patience: Duration,
    ) -> Result<ElicitResult, ServiceError> {
        self.context.peer.create_elicitation_with_timeout(form, Some(patience)).await
    }
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        let name = Implementation::new("stepwell", self.shared.version.clone()).with_title("Stepwell");
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(self.shared.instructions.clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let workspace = self.any_workspace()?;
        Ok(ListToolsResult::with_all_items(
            self.shared.tools.get(workspace.services.executor.registry(), &self.shared.gate),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let workspace = self.any_workspace().ok()?;
        let tool = workspace.services.executor.registry().get(name)?;
        let tool = Some(tool).filter(|tool| tool.is_enabled() && self.shared.gate.check(tool).is_ok())?;
        Some(crate::tool_list::described(&tool))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let workspace = self.workspace().await?;
        // Without a session each request is a connection of its own, and says nothing about the next.
        let task = if is_stateless(&context) {
            self.shared.task.clone()
        } else {
            self.has_called.store(true, Ordering::Relaxed);
            self.task.clone()
        };
        let client = Client::new(&context, self.level.load(Ordering::Relaxed), task);
        call::answer(&self.shared, &workspace, request, &client).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.shared.prompts.list().into_iter().map(prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        match self.shared.prompts.get(&request.name, &arguments) {
            Ok(Some(text)) => {
                Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
            }
            Ok(None) => {
                let names: Vec<String> =
                    self.shared.prompts.list().into_iter().map(|prompt| prompt.name).collect();
                let message =
                    format!("there is no prompt `{}`; there are: {}", request.name, names.join(", "));
                Err(ErrorData::invalid_params(message, None))
            }
            Err(problem) => Err(ErrorData::invalid_params(problem, None)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let entries = self.any_workspace()?.services.resources.list().await.into_iter().map(|entry| {
            let mut resource = Resource::new(entry.uri, entry.name);
            resource.description = entry.description;
            resource.mime_type = entry.mime_type;
            resource
        });
        Ok(ListResourcesResult::with_all_items(entries.collect()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let entries = self.any_workspace()?.services.resources.templates().await.into_iter().map(|entry| {
            let mut template = ResourceTemplate::new(entry.uri_template, entry.name);
            template.description = entry.description;
            template.mime_type = entry.mime_type;
            template
        });
        Ok(ListResourceTemplatesResult::with_all_items(entries.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        match self.any_workspace()?.services.resources.read(&uri).await {
            Ok(Some(body)) => Ok(ReadResourceResult::new(vec![contents(&uri, body)]).into()),
            Ok(None) => {
                let message = format!("there is nothing at `{uri}`; resources/list tells what there is");
                Err(ErrorData::resource_not_found(message, Some(serde_json::json!({"uri": uri}))))
            }
            Err(problem) => Err(ErrorData::internal_error(problem, Some(serde_json::json!({"uri": uri})))),
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.level.store(rank(request.level), Ordering::Relaxed);
        Ok(())
    }

    /// Requests that the SDK could not read as one it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Protocol 2026-07-28 has no hello and no level of a session.
        let is_gone =
            is_stateless(&context) && matches!(request.method.as_str(), "initialize" | "logging/setLevel");
        let help: Option<Cow<'static, str>> = match request.method.as_str() {
            "tools/call" | "prompts/get" => Some("it takes `name` (text) and `arguments` (an object)".into()),
            "resources/read" => Some("it takes `uri` (text)".into()),
            "logging/setLevel" => Some("it takes `level`, such as \"info\"".into()),
            "initialize" => Some("it takes `protocolVersion`, `capabilities` and `clientInfo`".into()),
            _ => None,
        };
        let method = request.method;
        Err(match help.filter(|_| !is_gone) {
            Some(help) => {
                ErrorData::invalid_params(format!("the params of `{method}` cannot be read: {help}"), None)
            }
            None => {
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
            }
        })
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tracing::info!("MCP client connected");
        self.look_at_roots(&context.peer).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.look_at_roots(&context.peer).await;
    }
}

fn prompt(entry: PromptEntry) -> Prompt {
    let arguments = entry.arguments.into_iter().map(|argument| {
        rmcp::model::PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.required)
    });
    Prompt::new(entry.name, Some(entry.description), Some(arguments.collect())).with_title(entry.title)
}

fn contents(uri: &str, body: ResourceBody) -> ResourceContents {
    let (contents, mime_type) = match body {
        ResourceBody::Text { text, mime_type } => (ResourceContents::text(text, uri), mime_type),
        ResourceBody::Binary { base64, mime_type } => (ResourceContents::blob(base64, uri), mime_type),
    };
    match mime_type {
        Some(mime_type) => contents.with_mime_type(mime_type),
        None => contents,
    }
}
