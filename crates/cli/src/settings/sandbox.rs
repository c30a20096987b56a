//! `[sandbox]`: how commands are confined.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How commands are confined. Lists of all layers count together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSettings {
    /// Whether commands run in the sandbox; without it every command is asked about. `true` when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Hosts that commands reach: `example.com`, `*.example.com`, either with `:PORT`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Folders outside the workspace that commands write to; `~/` stands for the home folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
    /// Files and folders that commands cannot read, besides keys and passwords in their usual places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
    /// Whether commands may use sockets that are files, among themselves. `true` when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_sockets: Option<bool>,
    /// Megabytes of memory that all processes of a command use together. Three quarters of the machine's when not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 64))]
    pub memory_mb: Option<u64>,
}

impl SandboxSettings {
    /// Takes away everything that would open the sandbox; says what was taken.
    pub(super) fn narrow(&mut self) -> Vec<String> {
        let mut withheld = Vec::new();
        if self.enabled == Some(false) {
            self.enabled = None;
            withheld.push("sandbox.enabled = false".to_owned());
        }
        if self.unix_sockets == Some(true) {
            self.unix_sockets = None;
            withheld.push("sandbox.unix_sockets = true".to_owned());
        }
        if self.memory_mb.take().is_some() {
            withheld.push("sandbox.memory_mb".to_owned());
        }
        if !std::mem::take(&mut self.network).is_empty() {
            withheld.push("sandbox.network".to_owned());
        }
        if !std::mem::take(&mut self.writable).is_empty() {
            withheld.push("sandbox.writable".to_owned());
        }
        withheld
    }

    /// These settings with those of a stronger layer.
    pub(super) fn with(mut self, stronger: &Self) -> Self {
        self.enabled = stronger.enabled.or(self.enabled);
        self.unix_sockets = stronger.unix_sockets.or(self.unix_sockets);
        self.memory_mb = stronger.memory_mb.or(self.memory_mb);
        self.network.extend(stronger.network.iter().cloned());
        self.writable.extend(stronger.writable.iter().cloned());
        self.hidden.extend(stronger.hidden.iter().cloned());
        self
    }
}
