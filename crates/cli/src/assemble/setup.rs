//! The set-up of a folder and of this machine, as front ends read and change it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use stepwell_agent::{
    Error, FolderSetup, ModelSource, OpenedTerminal, Result, Setup, TerminalInput, TerminalNews, TerminalSize,
};
use stepwell_llm::{Provider, preset_names};
use stepwell_mcp::client::{ServerState, ServerStatus};
use stepwell_protocol::{
    DoctorCheck, McpServerItem, McpServerState, ProviderItem, SecretText, SettingScope, SettingsFile,
};
use stepwell_workspace::files;
use stepwell_workspace::process::{Ending, TerminalControl};
use tokio::sync::mpsc;

use super::workspaces::Workspaces;
use super::{Assembly, confinement, workspace_root};
use crate::checks::checks;
use crate::doors::mcp;
use crate::keys::{self, KeySource};
use crate::report;
use crate::settings::{self, Places, Settings, SettingsLayer};

/// Pieces of output and of input that wait for a terminal or for its front end.
const TERMINAL_QUEUE: usize = 16;

#[async_trait]
impl Setup for Workspaces {
    async fn folder(&self, root: &Path) -> Result<FolderSetup> {
        let places = self.places();
        self.blocking(root, move |root| {
            let loaded = Settings::load(&places, &root, SettingsLayer::default())?;
            let project = Places::project(&root);
            let mut trust_files = settings::trusted_files(project)?;
            trust_files.extend(settings::runtime_files(project));
            let gaps = match loaded.sandbox().enabled {
                Some(false) => vec!["the settings switch it off".to_owned()],
                _ => confinement::sandbox(&root).layers().missing().into_iter().collect(),
            };
            Ok(FolderSetup {
                trusted: trust_files.is_empty() || settings::is_trusted(&places, project)?,
                withheld: loaded.withheld.clone(),
                trust_files: trust_files.iter().map(|path| path.display().to_string()).collect(),
                sandbox_gaps: gaps,
            })
        })
        .await
    }

    async fn doctor(&self, root: &Path, offline: bool) -> Result<Vec<DoctorCheck>> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        let (assembly, problems) =
            Assembly::for_diagnosis_of((*self.places()).clone(), &root).map_err(setup)?;
        checks(&assembly, &problems, offline).await.map_err(setup)
    }

    fn settings_schema(&self) -> Result<Value> {
        Ok(schemars::schema_for!(SettingsLayer).to_value())
    }

    async fn settings_files(&self, root: &Path) -> Result<Vec<SettingsFile>> {
        let places = self.places();
        self.blocking(root, move |root| {
            let files = [SettingScope::User, SettingScope::Project].map(|scope| {
                let path = settings::file_of(&places, &root, scope);
                let text = files::read_if_exists(&path)?.unwrap_or_default();
                let problem = settings::problem_of(&path, &text);
                Ok(SettingsFile { scope, path: path.display().to_string(), text, problem })
            });
            files.into_iter().collect()
        })
        .await
    }

    async fn set_setting(
        &self,
        root: &Path,
        scope: SettingScope,
        name: &str,
        value: Option<Value>,
    ) -> Result<()> {
        let (places, name) = (self.places(), name.to_owned());
        self.blocking(root, move |root| {
            let (path, project) = (settings::file_of(&places, &root, scope), Places::project(&root));
            let was_trusted = settings::is_trusted(&places, project)?;
            settings::set(&path, &name, value.as_ref())?;
            match (scope, was_trusted) {
                // The person has just written this, so it is trusted like what stood there before.
                (SettingScope::Project, true) => settings::trust(&places, project),
                (SettingScope::Project, false) | (SettingScope::User, _) => Ok(()),
            }
        })
        .await
    }

    async fn providers(&self, root: &Path) -> Result<Vec<ProviderItem>> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        let open = Self::open(self, &root).map_err(setup)?;
        let models = self.models(&open.settings, &root);
        let running = stepwell_llm::local_servers(models.client()).await;
        let configured = open.settings.providers();
        let mut names: Vec<String> = configured.keys().cloned().collect();
        names.extend(preset_names().map(str::to_owned).filter(|name| !configured.contains_key(name)));
        let mut items = Vec::new();
        for name in names {
            let Ok(provider) = models.provider(&name) else { continue };
            let (_, source) = models.key(&provider).map_err(setup)?;
            let local = provider.start.is_some();
            let server = running.iter().find(|server| server.preset.name == name);
            let first = server.and_then(|server| server.models.first());
            items.push(ProviderItem {
                usable: match source {
                    KeySource::Missing => false,
                    KeySource::NotNeeded => !local || server.is_some(),
                    KeySource::Environment(_) | KeySource::Keyring | KeySource::File => true,
                },
                key: source.to_string(),
                local,
                default_model: first.map(|model| format!("{name}/{model}")),
                name,
            });
        }
        Ok(items)
    }

    async fn set_model_key(&self, provider: &str, key: &SecretText) -> Result<()> {
        let (places, provider, key) = (self.places(), provider.to_owned(), key.clone());
        let redactor = self.redactor();
        let store = move || {
            let settings = Settings::load(&places, &places.config, SettingsLayer::default())?;
            Provider::resolve(&provider, settings.providers().get(&provider))?;
            let key = key.expose().trim();
            if key.is_empty() || key.contains(char::is_whitespace) {
                return Err(report::usage(
                    "a key is one word, without blanks or line ends",
                    "copy it again from the provider's page",
                ));
            }
            redactor.add_secrets(vec![(format!("{provider} key"), key.to_owned())]);
            keys::store(&places, &provider, key)
        };
        tokio::task::spawn_blocking(store).await.map_err(broken)?.map_err(setup)
    }

    async fn test_model(&self, root: &Path, model: &str) -> Result<u64> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        let settings = Settings::load(&self.places(), &root, SettingsLayer::default()).map_err(setup)?;
        let models = self.models(&Arc::new(settings), &root);
        // A wrong name is told as such before anything is sent.
        models.connect(model)?;
        let checked = stepwell_llm::validate(models.options(model)?).await?;
        Ok(checked.latency.as_millis() as u64)
    }

    async fn trust(&self, root: &Path, trusted: bool) -> Result<()> {
        let places = self.places();
        self.blocking(root, move |root| {
            let project = Places::project(&root);
            if trusted {
                settings::trust(&places, project)
            } else {
                settings::revoke(&places, project).map(drop)
            }
        })
        .await
    }

    async fn mcp_servers(&self, root: &Path) -> Result<Vec<McpServerItem>> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        let open = Self::open(self, &root).map_err(setup)?;
        self.connect(&open);
        let statuses = open.mcp.statuses();
        let named = open.settings.mcp_servers(&self.places());
        let item = |(name, server): (&String, &settings::McpServer)| {
            let status = statuses.iter().find(|status| status.config.name == *name);
            let (state, problem) = state_of(status);
            McpServerItem {
                name: name.clone(),
                target: mcp::servers::target(&server.entry),
                source: server.source.to_string(),
                state,
                problem,
                tools: status.map(|status| status.tools.clone()).unwrap_or_default(),
            }
        };
        Ok(named.iter().map(item).collect())
    }

    async fn restart_mcp_server(&self, root: &Path, server: &str) -> Result<()> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        let open = Self::open(self, &root).map_err(setup)?;
        if !open.mcp.forget(server) {
            return Err(Error::Setup {
                message: format!("there is no MCP server `{server}` that is in use"),
                hint: Some("`stepwell mcp list` shows those that are configured".to_owned()),
            });
        }
        self.connect(&open);
        Ok(())
    }

    async fn open_terminal(&self, root: &Path, size: TerminalSize) -> Result<OpenedTerminal> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        let (walls, removed) = self.walls(&root).map_err(setup)?;
        let (control, mut actions) = mpsc::channel(TERMINAL_QUEUE);
        let (news, output) = mpsc::channel(TERMINAL_QUEUE);
        let (typed, typing) = mpsc::channel(TERMINAL_QUEUE);
        let (printed, mut printing) = mpsc::channel(TERMINAL_QUEUE);
        // Ends with `control`: the shell then loses its terminal.
        tokio::spawn(async move {
            while let Some(action) = actions.recv().await {
                let action = match action {
                    TerminalInput::Typed(bytes) => TerminalControl::Typed(bytes),
                    TerminalInput::Resized(TerminalSize { columns, rows }) => {
                        TerminalControl::Resized { columns, rows }
                    }
                };
                if typed.send(action).await.is_err() {
                    return;
                }
            }
        });
        tokio::spawn(async move {
            let size = (size.columns, size.rows);
            let shell = stepwell_tools::run_shell(&walls, &root, &removed, size, typing, printed);
            let forward = async {
                while let Some(bytes) = printing.recv().await {
                    if news.send(TerminalNews::Printed(bytes)).await.is_err() {
                        return;
                    }
                }
            };
            let (ending, ()) = futures::future::join(shell, forward).await;
            let exit_code = match ending {
                Ok(Ending::Exited(code)) => Some(code),
                Ok(Ending::Signalled(signal)) => Some(128 + signal),
                Ok(Ending::TimedOut | Ending::Cancelled) => None,
                Err(error) => {
                    let line = format!("\r\n{}\r\n", error.message);
                    news.send(TerminalNews::Printed(line.into_bytes())).await.ok();
                    None
                }
            };
            news.send(TerminalNews::Ended { exit_code }).await.ok();
        });
        Ok(OpenedTerminal { control, output })
    }

    async fn terminal_gaps(&self, root: &Path) -> Result<Option<String>> {
        let root = workspace_root(Some(root)).map_err(setup)?;
        Ok(self.walls(&root).map_err(setup)?.0.missing())
    }
}

impl Workspaces {
    /// Runs what reads files where it may block, with the folder's path resolved.
    async fn blocking<T: Send + 'static>(
        &self,
        root: &Path,
        work: impl FnOnce(std::path::PathBuf) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<T> {
        let root = root.to_path_buf();
        let run = move || work(workspace_root(Some(&root))?);
        tokio::task::spawn_blocking(run).await.map_err(broken)?.map_err(setup)
    }
}

fn state_of(status: Option<&ServerStatus>) -> (McpServerState, Option<String>) {
    match status.map(|status| &status.state) {
        None | Some(ServerState::Stopped) => (McpServerState::Disabled, None),
        Some(ServerState::Connecting) => (McpServerState::Connecting, None),
        Some(ServerState::Ready { .. }) => (McpServerState::Connected, None),
        Some(ServerState::Restarting { reason }) => (McpServerState::Connecting, Some(reason.clone())),
        Some(ServerState::NeedsLogin) => (McpServerState::NeedsLogin, None),
        Some(ServerState::Failed { reason }) => (McpServerState::Failed, Some(reason.clone())),
    }
}

fn setup(error: anyhow::Error) -> Error {
    let report = report::to_error_report(&error);
    Error::Setup { message: report.message, hint: report.hint }
}

fn broken(error: tokio::task::JoinError) -> Error {
    Error::Setup { message: format!("a part of Stepwell broke off: {error}"), hint: None }
}
