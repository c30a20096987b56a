//! The server: what all its clients share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::service::serve_server_with_ct;
use rmcp::transport::TransportAdapterIdentity;
use stepwell_protocol::TaskId;
use stepwell_tool_runtime::ToolGate;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::call::Places;
use crate::connection::Connection;
use crate::host::ArtifactFolder;
use crate::offer::Offer;
use crate::parked::Parked;
use crate::ports::{Prompts, ServedWorkspace, WorkspaceSource};
use crate::stdio::LineTransport;
use crate::tool_list::ToolList;

/// How long the end waits for calls to end their programs; a tool's own grace is shorter.
const LAST_CALLS: Duration = Duration::from_secs(10);

/// Which folder calls work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceChoice {
    /// The one the server was started with.
    Fixed,
    /// The client's first root where it has roots, else the one the server was started with.
    FirstRoot,
}

/// What a server is made of.
pub struct ServerParts {
    pub workspaces: Arc<dyn WorkspaceSource>,
    pub prompts: Arc<dyn Prompts>,
    pub offer: Offer,
    pub workspace: WorkspaceChoice,
    /// What the model is told about the server as a whole.
    pub instructions: String,
    pub version: String,
    /// A folder of this server alone for outputs that are too long; it is made on demand and removed at the end.
    pub artifacts: PathBuf,
}

/// A server for any number of clients. Cloning gives another hand on the same one.
#[derive(Clone)]
pub struct McpServer {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    workspaces: Arc<dyn WorkspaceSource>,
    /// The workspace in use and the folder it was opened for.
    current: Mutex<Option<(Option<PathBuf>, Arc<ServedWorkspace>)>>,
    /// Which tools clients see and call.
    pub(crate) gate: Arc<ToolGate>,
    pub(crate) prompts: Arc<dyn Prompts>,
    pub(crate) offer: Offer,
    pub(crate) workspace: WorkspaceChoice,
    pub(crate) instructions: String,
    pub(crate) version: String,
    pub(crate) tools: ToolList,
    pub(crate) artifacts: Arc<ArtifactFolder>,
    pub(crate) parked: Arc<Parked>,
    pub(crate) places: Places,
    pub(crate) task: TaskId,
    /// Ends every call.
    pub(crate) cancel: CancellationToken,
    pub(crate) tracker: TaskTracker,
}

impl Shared {
    /// The workspace of a folder; opened once, and anew when the folder changes.
    pub(crate) fn workspace_of(&self, folder: Option<&Path>) -> Result<Arc<ServedWorkspace>, String> {
        let mut current = self.current.lock();
        if let Some((known, workspace)) = current.as_ref()
            && known.as_deref() == folder
        {
            return Ok(Arc::clone(workspace));
        }
        let workspace = Arc::new(self.workspaces.open(folder)?);
        self.gate.replace(self.offer.without_denied(&workspace));
        *current = Some((folder.map(Path::to_path_buf), Arc::clone(&workspace)));
        Ok(workspace)
    }
}

impl McpServer {
    pub fn new(parts: ServerParts) -> Self {
        let shared = Shared {
            workspaces: parts.workspaces,
            current: Mutex::default(),
            gate: Arc::new(ToolGate::new(parts.offer.tool_set())),
            prompts: parts.prompts,
            offer: parts.offer,
            workspace: parts.workspace,
            instructions: parts.instructions,
            version: parts.version,
            tools: ToolList::default(),
            artifacts: Arc::new(ArtifactFolder::new(parts.artifacts)),
            parked: Arc::default(),
            places: Places::default(),
            task: TaskId::generate(),
            cancel: CancellationToken::new(),
            tracker: TaskTracker::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn connection(&self) -> Connection {
        Connection::new(Arc::clone(&self.shared))
    }

    /// Serves the client that started this process, on standard input and output.
    pub async fn serve_standard_streams(&self, stop: CancellationToken) -> Result<(), String> {
        let (read, write) = rmcp::transport::stdio_pipes();
        Box::pin(self.serve_stdio(read, write, stop)).await
    }

    /// Serves one client until its input ends or `stop` is cancelled. Calls that still run when the input ends have a
    /// few seconds to answer. The error says what the client did wrong.
    pub async fn serve_stdio(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> Result<(), String> {
        let transport = LineTransport::new(read, write);
        let served = serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(
            self.connection(),
            transport,
            stop.clone(),
        );
        match served.await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // A client that goes before it says anything, and a stop, are no failures.
            Err(
                rmcp::service::ServerInitializeError::ConnectionClosed(_)
                | rmcp::service::ServerInitializeError::Cancelled,
            ) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Ends every call with its programs and waits for that, within bounds.
    pub async fn finish(&self) {
        self.shared.parked.clear();
        self.shared.cancel.cancel();
        self.shared.tracker.close();
        // A call that outlives this is ended with the process.
        tokio::time::timeout(LAST_CALLS, self.shared.tracker.wait()).await.ok();
        // The tools go, and with them what they run in the background.
        self.shared.current.lock().take();
    }
}
