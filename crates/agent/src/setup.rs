//! How a folder and this machine are set up: settings, keys, trust, MCP servers, terminals. The assembly knows it; the
//! engine passes on what doors ask.

use std::path::Path;

use async_trait::async_trait;
use serde_json::Value;
use stepwell_protocol::{DoctorCheck, McpServerItem, ProviderItem, SecretText, SettingScope, SettingsFile};
use tokio::sync::mpsc;

use crate::error::{Error, Result};

/// Reads and changes the set-up. What an implementation does not know is reported as not possible.
#[async_trait]
pub trait Setup: Send + Sync {
    /// What the folder's own settings want, and whether they may have it.
    async fn folder(&self, _root: &Path) -> Result<FolderSetup> {
        Err(unknown("the set-up of folders"))
    }

    async fn doctor(&self, _root: &Path, _offline: bool) -> Result<Vec<DoctorCheck>> {
        Err(unknown("checking the set-up"))
    }

    /// JSON schema of the settings.
    fn settings_schema(&self) -> Result<Value> {
        Err(unknown("the schema of the settings"))
    }

    async fn settings_files(&self, _root: &Path) -> Result<Vec<SettingsFile>> {
        Err(unknown("reading settings"))
    }

    /// Changes one setting in a file, or removes it. A value that the settings do not allow changes nothing.
    async fn set_setting(
        &self,
        _root: &Path,
        _scope: SettingScope,
        _name: &str,
        _value: Option<Value>,
    ) -> Result<()> {
        Err(unknown("changing settings"))
    }

    async fn providers(&self, _root: &Path) -> Result<Vec<ProviderItem>> {
        Err(unknown("the list of providers"))
    }

    async fn set_model_key(&self, _provider: &str, _key: &SecretText) -> Result<()> {
        Err(unknown("keeping keys"))
    }

    /// Sends a short request to a model, and says how many milliseconds the answer took.
    async fn test_model(&self, _root: &Path, _model: &str) -> Result<u64> {
        Err(unknown("testing a model"))
    }

    /// Trusts the folder's own settings as they are now, or no longer.
    async fn trust(&self, _root: &Path, _trusted: bool) -> Result<()> {
        Err(unknown("trusting a folder"))
    }

    async fn mcp_servers(&self, _root: &Path) -> Result<Vec<McpServerItem>> {
        Err(unknown("the list of MCP servers"))
    }

    async fn restart_mcp_server(&self, _root: &Path, _server: &str) -> Result<()> {
        Err(unknown("restarting MCP servers"))
    }

    /// Starts a shell on a terminal in the folder, behind the walls that commands have.
    async fn open_terminal(&self, _root: &Path, _size: TerminalSize) -> Result<OpenedTerminal> {
        Err(unknown("a terminal"))
    }

    /// Why a terminal would run without the sandbox, or without a part of it.
    async fn terminal_gaps(&self, _root: &Path) -> Result<Option<String>> {
        Err(unknown("a terminal"))
    }
}

/// What the folder's own settings want, and whether they may have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderSetup {
    pub trusted: bool,
    pub withheld: Vec<String>,
    pub trust_files: Vec<String>,
    pub sandbox_gaps: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

/// A shell that runs. It ends when `control` is dropped.
pub struct OpenedTerminal {
    pub control: mpsc::Sender<TerminalInput>,
    pub output: mpsc::Receiver<TerminalNews>,
}

/// What a front end does to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalInput {
    Typed(Vec<u8>),
    Resized(TerminalSize),
}

/// What a terminal reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalNews {
    Printed(Vec<u8>),
    Ended { exit_code: Option<i32> },
}

/// A set-up of which nothing is known.
pub(crate) struct NoSetup;

impl Setup for NoSetup {}

fn unknown(what: &'static str) -> Error {
    Error::Unsupported { what }
}
