//! Commands behind the sandbox's walls.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use stepwell_protocol::ArtifactId;
use stepwell_sandbox::{ConfinedCall, HostGate, Network, Policy, Proxy, Sandbox};
use stepwell_tool_runtime::{NetworkGate, ToolError, WorkspaceAccess};
use stepwell_workspace::files;
use stepwell_workspace::process::ProgramCall;

use super::spare::{Spare, SpareSlot};

/// Of the names of temporary folders; the process and a name of their own follow.
const BEGINNING: &str = "tmp-";

/// How commands are confined.
#[derive(Clone)]
pub enum Confinement {
    Walls(Arc<Walls>),
    /// Not at all; the reason is shown with every command that is asked about.
    Off {
        reason: String,
    },
}

/// A sandbox and what it lets through.
pub struct Walls {
    pub sandbox: Arc<Sandbox>,
    pub policy: Policy,
    /// Hosts that need no asking.
    pub hosts: Option<Arc<dyn HostGate>>,
    /// Where sockets and temporary files lie.
    pub place: PathBuf,
    /// Made with the first command; what one leaves in `/tmp` is there for the next.
    pub temporary: OnceLock<TemporaryFolder>,
    /// The sandbox of the next command.
    pub spare: SpareSlot,
}

/// The `/tmp` of a task's commands, gone with this value.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes a folder below `place`, and clears away those whose process died without doing so.
    fn make(place: &Path) -> stepwell_workspace::Result<Self> {
        let process_of = |path: &Path| -> Option<u32> {
            let name = path.file_name()?.to_str()?;
            // Those of sockets begin with the process.
            name.strip_prefix(BEGINNING).unwrap_or(name).split_once('-')?.0.parse().ok()
        };
        for path in files::list_dir(place)? {
            if process_of(&path).is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
                files::remove_dir_all(&path).ok();
            }
        }
        let folder = place.join(format!("{BEGINNING}{}-{}", std::process::id(), ArtifactId::generate()));
        files::create_private_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        files::remove_dir_all(&self.0).ok();
    }
}

/// A call behind walls, with what must live as long as it runs.
pub(super) struct Confined<Call = ProgramCall> {
    pub call: Call,
    /// The way to the network ends with it.
    pub proxy: Option<Proxy>,
}

impl std::fmt::Debug for Confinement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Walls(walls) => f.debug_tuple("Walls").field(&walls.policy).finish(),
            Self::Off { reason } => f.debug_tuple("Off").field(reason).finish(),
        }
    }
}

impl Default for Confinement {
    fn default() -> Self {
        Self::Off { reason: "no sandbox was set up".to_owned() }
    }
}

impl Confinement {
    /// Why a command would run without walls, or without one of them.
    pub fn missing(&self) -> Option<String> {
        match self {
            Self::Walls(walls) => walls.sandbox.layers().missing(),
            Self::Off { reason } => Some(reason.clone()),
        }
    }

    /// Puts a call behind the walls. `network` judges every host it wants to reach; without one there is no network.
    pub(super) fn confine(
        &self,
        call: ProgramCall,
        network: Option<Arc<dyn NetworkGate>>,
        access: WorkspaceAccess,
    ) -> Result<Confined, ToolError> {
        let Self::Walls(walls) = self else {
            // The executor refuses such calls before; without walls nothing can be promised.
            return match access {
                WorkspaceAccess::Full => Ok(Confined { call, proxy: None }),
                WorkspaceAccess::ReadOnly => Err(ToolError::permission(
                    "the command was not run: without a sandbox the workspace cannot be kept read-only",
                )),
            };
        };
        let (policy, proxy) = walls.policy_of_call(network, access).map_err(told)?;
        Ok(Confined { call: walls.sandbox.confine(&policy, call).map_err(told)?, proxy })
    }
}

impl Confinement {
    /// As [`Self::confine`], in the sandbox that was built ahead where it fits.
    pub(super) fn confine_at_once(
        &self,
        call: ProgramCall,
        network: Option<Arc<dyn NetworkGate>>,
        access: WorkspaceAccess,
    ) -> Result<Confined<ConfinedCall>, ToolError> {
        // What is built ahead may write in the workspace.
        let spare = match (self, access) {
            (Self::Walls(walls), WorkspaceAccess::Full) => {
                walls.take_spare(network.is_some()).map(|spare| (walls, spare))
            }
            _ => None,
        };
        let Some((walls, Spare { prepared, line })) = spare else {
            let Confined { call, proxy } = self.confine(call, network, access)?;
            return Ok(Confined { call: call.into(), proxy });
        };
        let mut policy = walls.policy.clone();
        policy.temporary = Some(walls.temporary().map_err(|error| told(error.into()))?);
        if let (Some(line), Some(network)) = (&line, network) {
            policy.network = line.open(walls.call_gate(network));
        }
        let call = walls.sandbox.confine_prepared(Some(prepared), &policy, call).map_err(told)?;
        Ok(Confined { call, proxy: line.map(|line| line.proxy) })
    }

    /// Gives up what was built ahead, because no command follows.
    pub async fn close(&self) {
        if let Self::Walls(walls) = self {
            walls.close_spare().await;
        }
    }

    /// Builds the sandbox of the next command, which is likely to be one like the last.
    pub(super) fn prepare_next(&self, network: Option<Arc<dyn NetworkGate>>) {
        if let Self::Walls(walls) = self {
            walls.prepare_next(network);
        }
    }
}

fn told(error: stepwell_sandbox::Error) -> ToolError {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    ToolError::execution(format!("the command was not run: {error}{hint}"))
}

/// Admits the hosts of the settings; of others the person, or a rule, decides.
pub(super) struct CallGate {
    listed: Option<Arc<dyn HostGate>>,
    network: Arc<dyn NetworkGate>,
}

#[async_trait]
impl HostGate for CallGate {
    async fn admit(&self, host: &str, port: u16) -> Result<(), String> {
        if let Some(listed) = &self.listed
            && listed.admit(host, port).await.is_ok()
        {
            return Ok(());
        }
        self.network.admit(host, port).await
    }

    fn loopback_ports(&self) -> Vec<u16> {
        let mut ports = self.network.loopback_ports();
        ports.extend(self.listed.iter().flat_map(|listed| listed.loopback_ports()));
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}

impl Walls {
    /// The policy of one call, and its way to the network, which must live as long as what the call starts.
    pub(crate) fn policy_of_call(
        &self,
        network: Option<Arc<dyn NetworkGate>>,
        access: WorkspaceAccess,
    ) -> stepwell_sandbox::Result<(Policy, Option<Proxy>)> {
        let mut policy = match access {
            WorkspaceAccess::Full => self.policy.clone(),
            WorkspaceAccess::ReadOnly => self.policy.clone().without_writing(),
        };
        policy.temporary = Some(self.temporary()?);
        let Some(network) = network else { return Ok((policy, None)) };
        let gate = Arc::new(self.call_gate(network));
        let loopback = gate.loopback_ports();
        let proxy = Proxy::start(&self.place, gate)?;
        policy.network = Network::Proxy { socket: proxy.socket().to_path_buf(), loopback };
        Ok((policy, Some(proxy)))
    }

    pub(super) fn call_gate(&self, network: Arc<dyn NetworkGate>) -> CallGate {
        CallGate { listed: self.hosts.clone(), network }
    }

    pub(crate) fn temporary(&self) -> stepwell_workspace::Result<PathBuf> {
        if let Some(folder) = self.temporary.get() {
            return Ok(folder.0.clone());
        }
        let made = TemporaryFolder::make(&self.place)?;
        // Of two at the same time the second is dropped, and its folder with it.
        Ok(self.temporary.get_or_init(|| made).0.clone())
    }
}
