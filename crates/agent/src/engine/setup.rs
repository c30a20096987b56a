//! What doors ask about the set-up of a folder and this machine, and change in it.

use std::path::Path;
use std::sync::Arc;

use stepwell_protocol::{Command, CommandReply, Query, QueryReply, WorkspaceView};

use super::Engine;
use crate::error::{Error, Result};
use crate::setup::{FolderSetup, NoSetup, Setup};

impl Engine {
    pub(crate) fn setup(&self) -> Arc<dyn Setup> {
        Arc::clone(&self.inner.workspaces).setup().unwrap_or_else(|| Arc::new(NoSetup))
    }

    pub(super) async fn submit_setup(&self, command: Command) -> Result<CommandReply> {
        let setup = self.setup();
        match command {
            Command::SetSetting { workspace, scope, name, value } => {
                setup.set_setting(Path::new(&workspace), scope, &name, value).await?;
            }
            Command::SetModelKey { provider, key } => setup.set_model_key(&provider, &key).await?,
            Command::TrustWorkspace { workspace, trusted } => {
                setup.trust(Path::new(&workspace), trusted).await?;
            }
            Command::RestartMcpServer { workspace, server } => {
                setup.restart_mcp_server(Path::new(&workspace), &server).await?;
            }
            Command::ImportTask { workspace, content } => {
                let (task, number) = self.import(&workspace, content).await?;
                return Ok(CommandReply::Task { task, number });
            }
            // Terminals belong to a connection, which takes these commands itself.
            _ => return Err(Error::Unsupported { what: "a terminal without a connection" }),
        }
        Ok(CommandReply::Done)
    }

    pub(super) async fn query_setup(&self, query: Query) -> Result<QueryReply> {
        let setup = self.setup();
        Ok(match query {
            Query::Workspace { workspace } => QueryReply::Workspace {
                workspace: Box::new(self.workspace_view(Path::new(&workspace)).await?),
            },
            Query::McpServers { workspace } => {
                QueryReply::McpServers { servers: setup.mcp_servers(Path::new(&workspace)).await? }
            }
            Query::Doctor { workspace, offline } => {
                QueryReply::Doctor { checks: setup.doctor(Path::new(&workspace), offline).await? }
            }
            Query::SettingsSchema => QueryReply::SettingsSchema { schema: setup.settings_schema()? },
            Query::SettingsFiles { workspace } => {
                QueryReply::SettingsFiles { files: setup.settings_files(Path::new(&workspace)).await? }
            }
            Query::Providers { workspace } => {
                QueryReply::Providers { providers: setup.providers(Path::new(&workspace)).await? }
            }
            Query::TestModel { workspace, model } => {
                QueryReply::TestModel { duration_ms: setup.test_model(Path::new(&workspace), &model).await? }
            }
            _ => return Err(Error::Unsupported { what: "this question" }),
        })
    }

    /// A folder as a new task would find it.
    async fn workspace_view(&self, root: &Path) -> Result<WorkspaceView> {
        let workspace = self.workspace(root).await?;
        let FolderSetup { trusted, withheld, trust_files, sandbox_gaps } = self.setup().folder(root).await?;
        Ok(WorkspaceView {
            path: workspace.services.root.display().to_string(),
            trusted,
            withheld,
            trust_files,
            mode: workspace.settings.default_mode.clone(),
            model: workspace.settings.default_model.clone(),
            permission_mode: workspace.permission_mode(),
            sandbox_gaps,
            breakpoints: workspace.services.activity.breakpoint_items(),
        })
    }
}
