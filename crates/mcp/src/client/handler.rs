//! What a server may ask of this client and tell it: roots, questions, progress, changed lists, log messages.

#![allow(
    deprecated,
    reason = "roots, sampling and logging are deprecated since 2026-07-28 and what servers of today use"
)]

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestMethod, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    FormElicitationCapability, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, Root, RootsCapabilities, SamplingCapability,
    UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::watch;
use url::Url;

use super::active_calls::ActiveCalls;
use super::{elicitation, sampling};

/// Characters of a server's log message that are kept.
const LONGEST_MESSAGE: usize = 2_000;

pub(crate) struct Handler {
    pub server: String,
    pub version: String,
    pub roots: Vec<PathBuf>,
    pub calls: Arc<ActiveCalls>,
    /// Whether the server may ask the model.
    pub sampling: bool,
    /// Counts the notices that the list of tools has changed.
    pub tools_changed: watch::Sender<u64>,
}

impl Handler {
    pub(crate) fn roots_result(&self) -> ListRootsResult {
        let root = |folder: &PathBuf| {
            let url = Url::from_directory_path(folder).ok()?;
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            let root = Root::new(url.as_str().trim_end_matches('/'));
            Some(match name {
                Some(name) => root.with_name(name),
                None => root,
            })
        };
        ListRootsResult::new(self.roots.iter().filter_map(root).collect())
    }

    pub(crate) async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        match self.calls.ask_newest() {
            Some(asking) => elicitation::answer(&self.server, request, asking.host.as_ref()).await,
            // Outside of a call there is no task, and so nobody to ask.
            None => ElicitResult::new(ElicitationAction::Cancel),
        }
    }

    /// Answers a request to the model, in the name of the call that runs.
    pub(crate) async fn sample(
        &self,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorData> {
        if !self.sampling {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        }
        match self.calls.sample_newest() {
            Some(asking) => sampling::answer(&self.server, request, &asking).await,
            // Outside of a call there is no task whose model could be asked.
            None => Err(ErrorData::invalid_request("the model answers only during a call of a tool", None)),
        }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let form = FormElicitationCapability::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(form).with_url(UrlElicitationCapability::default()));
        capabilities.sampling = self.sampling.then(SamplingCapability::default);
        let mut config =
            ClientConfig::new(capabilities, Implementation::new("stepwell", self.version.clone()));
        // The newest version that has `initialize`; servers refuse one in a message that it does not know.
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots_result())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicit(request).await)
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.sample(request).await
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.calls.progress(&progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.send_modify(|count| *count += 1);
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text: String = message.data.to_string().chars().take(LONGEST_MESSAGE).collect();
        tracing::debug!(server = self.server, level = ?message.level, "MCP server: {text}");
    }
}
