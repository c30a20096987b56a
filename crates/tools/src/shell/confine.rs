//! Commands behind the sandbox's walls.

use std::path::PathBuf;
use std::sync::Arc;

use stepwell_sandbox::{HostGate, Network, Policy, Proxy, Sandbox};
use stepwell_tool_runtime::ToolError;
use stepwell_workspace::process::ProgramCall;

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
    /// Who admits hosts; without a gate there is no network.
    pub hosts: Option<Arc<dyn HostGate>>,
    /// Where the proxy's socket lies.
    pub proxy_place: PathBuf,
}

/// A call behind walls, with what must live as long as it runs.
pub(super) struct Confined {
    pub call: ProgramCall,
    _proxy: Option<Proxy>,
}

impl std::fmt::Debug for Confinement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Walls(walls) => f.debug_tuple("Walls").field(&walls.policy).finish(),
            Self::Off { reason } => f.debug_tuple("Off").field(reason).finish(),
        }
    }
}

impl Confinement {
    /// Why a command would run without walls, or without one of them.
    pub(super) fn missing(&self) -> Option<String> {
        match self {
            Self::Walls(walls) => walls.sandbox.layers().missing(),
            Self::Off { reason } => Some(reason.clone()),
        }
    }

    pub(super) fn confine(&self, call: ProgramCall) -> Result<Confined, ToolError> {
        let Self::Walls(walls) = self else { return Ok(Confined { call, _proxy: None }) };
        let told = |error: stepwell_sandbox::Error| {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            ToolError::execution(format!("the command was not run: {error}{hint}"))
        };
        let Some(gate) = &walls.hosts else {
            return Ok(Confined {
                call: walls.sandbox.confine(&walls.policy, call).map_err(told)?,
                _proxy: None,
            });
        };
        let proxy = Proxy::start(&walls.proxy_place, Arc::clone(gate)).map_err(told)?;
        let mut policy = walls.policy.clone();
        policy.network = Network::Proxy { socket: proxy.socket().to_path_buf() };
        Ok(Confined { call: walls.sandbox.confine(&policy, call).map_err(told)?, _proxy: Some(proxy) })
    }
}
