//! The sandbox that debugged programs and their debuggers run in: that of commands, kept open for a launch.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use stepwell_debug::launch::LaunchPlan;
use stepwell_debug::sandbox::{SandboxSource, SessionSandbox, private_folder};
use stepwell_debug::targets::{self, Relation};
use stepwell_sandbox::{OpenSandbox, Proxy};
use stepwell_tool_runtime::{NetworkGate, ToolContext, WorkspaceAccess};
use stepwell_workspace::files;
use stepwell_workspace::process::{ProgramCall, SpareTerminal, UserSignal};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use super::service::DebugService;
use crate::shell::confine::{Confinement, Walls};

/// Opens sandboxes by the policy of commands.
pub struct LaunchSandboxes {
    walls: Arc<Walls>,
    /// The folder of installed adapters.
    adapters: PathBuf,
    network: Option<Arc<dyn NetworkGate>>,
    access: WorkspaceAccess,
}

impl LaunchSandboxes {
    /// `None` where debuggers cannot work confined, because there are no namespaces or no sandbox is wanted.
    pub fn of(
        confinement: &Confinement,
        adapters: &Path,
        network: Option<Arc<dyn NetworkGate>>,
        access: WorkspaceAccess,
    ) -> Option<Arc<dyn SandboxSource>> {
        let Confinement::Walls(walls) = confinement else { return None };
        let has_room = walls.sandbox.layers().has_namespaces();
        has_room.then(|| -> Arc<dyn SandboxSource> {
            Arc::new(Self { walls: Arc::clone(walls), adapters: adapters.to_path_buf(), network, access })
        })
    }
}

impl std::fmt::Debug for LaunchSandboxes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LaunchSandboxes").finish_non_exhaustive()
    }
}

#[async_trait]
impl SandboxSource for LaunchSandboxes {
    async fn open(&self) -> Result<Arc<dyn SessionSandbox>, String> {
        let told = |error: stepwell_sandbox::Error| {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("the program was not run: {error}{hint}")
        };
        let folder = private_folder("stepwell-", None);
        let folder = folder.map_err(|error| format!("no folder for the debugger can be made: {error}"))?;
        let (mut policy, proxy) =
            self.walls.policy_of_call(self.network.clone(), self.access).map_err(told)?;
        policy.writable.push(folder.path().to_path_buf());
        // What is put there later, such as a recorder, is seen inside only if the folder was there. Where it cannot be made,
        // nothing can be put there either.
        files::create_private_dir(&self.adapters).ok();
        policy.read_only.push(self.adapters.clone());
        let sandbox = OpenSandbox::open(Arc::clone(&self.walls.sandbox), policy, &self.walls.place);
        Ok(Arc::new(LaunchSandbox { sandbox: sandbox.await.map_err(told)?, folder, _proxy: proxy }))
    }
}

/// The sandbox of one launch.
#[derive(Debug)]
struct LaunchSandbox {
    sandbox: OpenSandbox,
    folder: TempDir,
    /// The way to the network ends with it.
    _proxy: Option<Proxy>,
}

#[async_trait]
impl SessionSandbox for LaunchSandbox {
    fn join(&self, call: ProgramCall) -> ProgramCall {
        self.sandbox.join(call)
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let stream = self.sandbox.connect(address).await?;
        stream.set_nonblocking(true)?;
        TcpStream::from_std(stream)
    }

    async fn listen(&self) -> io::Result<(TcpListener, u16)> {
        let (listener, port) = self.sandbox.listen().await?;
        listener.set_nonblocking(true)?;
        Ok((TcpListener::from_std(listener)?, port))
    }

    async fn terminal(&self) -> io::Result<SpareTerminal> {
        self.sandbox.terminal().await
    }

    async fn ask_by_user_signal(&self, process: u32, signal: UserSignal) -> io::Result<()> {
        self.sandbox.ask_by_user_signal(process, signal).await
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn messages(&self) -> String {
        self.sandbox.messages()
    }

    async fn close(&self) {
        self.sandbox.close().await;
    }
}

impl DebugService {
    /// Puts a launch into a sandbox, where there is one. What the call may reach, its programs may.
    pub(super) fn confine(&self, ctx: &ToolContext, mut launch: LaunchPlan) -> LaunchPlan {
        let adapters = &self.debugger.options().search.own_folder;
        launch.sandbox =
            LaunchSandboxes::of(&self.confinement, adapters, Some(Arc::clone(&ctx.network)), ctx.access);
        launch
    }

    /// Whether a launch only attaches to processes that commands in the background started: the person has approved
    /// those, and they run where commands run.
    pub(super) fn attaches_to_own(&self, launch: &LaunchPlan) -> bool {
        let processes = launch.attached_processes();
        let is_own = |pid: &u32| {
            matches!(targets::check_attach(*pid), Ok(Relation::Descendant)) && self.background.started(*pid)
        };
        processes.is_some_and(|processes| !processes.is_empty() && processes.iter().all(is_own))
    }

    /// Returns why a launch would run outside the sandbox, or without a part of it.
    pub(super) fn unconfined(&self, launch: &LaunchPlan) -> Option<String> {
        if self.attaches_to_own(launch) {
            return None;
        }
        if launch.reaches_outside() {
            return Some("what runs already is debugged where it runs, outside the sandbox".to_owned());
        }
        let missing = self.confinement.missing()?;
        let is_inside =
            matches!(&self.confinement, Confinement::Walls(walls) if walls.sandbox.layers().has_namespaces());
        Some(if is_inside {
            missing
        } else {
            format!("programs that are debugged run outside the sandbox here, because {missing}")
        })
    }
}
