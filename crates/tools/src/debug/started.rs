//! Programs that a call started: they end with a call that is cancelled, and stay after one that has its answer.

use std::sync::Arc;

use stepwell_debug::launch::{LaunchOptions, LaunchPlan, Launched};
use stepwell_debug::session::Session;
use stepwell_debug::{Debugger, Error};
use stepwell_protocol::{Risk, TaskId};
use stepwell_tool_runtime::{ToolContext, ToolError, WorkspaceAccess};

use super::service::DebugService;

/// The sessions that a call has started. Dropping it ends them, so a call that is cancelled, fails or is dropped leaves
/// nothing running.
pub(super) struct StartedSessions {
    debugger: Arc<Debugger>,
    sessions: Vec<Arc<Session>>,
    pub notes: Vec<String>,
}

/// Who started a session, and what its programs may do.
#[derive(Clone, Debug)]
pub(super) struct SessionOwner {
    task: TaskId,
    access: WorkspaceAccess,
}

impl DebugService {
    /// Starts everything a launch plans.
    pub(super) async fn launch(
        &self,
        ctx: &ToolContext,
        launch: LaunchPlan,
        options: &LaunchOptions,
    ) -> stepwell_debug::Result<StartedSessions> {
        if ctx.access == WorkspaceAccess::ReadOnly && launch.attached_processes().is_some() {
            return Err(Error::Parameter {
                what: "this mode may not attach: the process could change files of the workspace".to_owned(),
                hint: Some(
                    "start the program with the debugger, or switch to a mode that may edit".to_owned(),
                ),
            });
        }
        let Launched { sessions, notes } = self.confine(ctx, launch).start(&self.debugger, options).await?;
        let mut owners = self.owners.lock();
        let known = self.debugger.sessions();
        owners.retain(|id, _| known.iter().any(|session| session.id == *id));
        let owner = SessionOwner { task: ctx.task.clone(), access: ctx.access };
        owners.extend(sessions.iter().map(|session| (session.id.clone(), owner.clone())));
        drop(owners);
        Ok(StartedSessions { debugger: Arc::clone(&self.debugger), sessions, notes })
    }
}

impl DebugService {
    /// Refuses to move a program on, or to run something in it, where it could change what the mode may not.
    pub(super) fn check_access(&self, ctx: &ToolContext, tool: &str, risk: Risk) -> Result<(), ToolError> {
        if ctx.access == WorkspaceAccess::Full || risk <= Risk::Read || tool == "stop_debugging" {
            return Ok(());
        }
        let owners = self.owners.lock();
        let may_write = |session: &Arc<Session>| {
            owners.get(&session.id).is_none_or(|owner| owner.access == WorkspaceAccess::Full)
        };
        match self.debugger.sessions().iter().find(|session| may_write(session)) {
            None => Ok(()),
            Some(session) => Err(ToolError::permission(format!(
                "debug session `{}` was started in a mode that may edit, so its program could change files; end it with \
                 `stop_debugging` first",
                session.id
            ))),
        }
    }

    /// Ends the sessions that a task or a client has started, because it is gone.
    pub async fn end_sessions_of(&self, task: &TaskId) {
        let owners = self.owners.lock().clone();
        let sessions = self.debugger.sessions().into_iter();
        let own: Vec<Arc<Session>> = sessions
            .filter(|session| owners.get(&session.id).is_some_and(|owner| owner.task == *task))
            .collect();
        self.debugger.end_each(&own).await;
    }
}

impl StartedSessions {
    /// Returns the first session, which stands for the others.
    pub fn first(&self) -> stepwell_debug::Result<Arc<Session>> {
        self.sessions.first().cloned().ok_or(Error::NoSessionAtAll)
    }

    pub fn all(&self) -> &[Arc<Session>] {
        &self.sessions
    }

    /// Leaves the programs to later calls.
    pub fn keep(mut self) {
        self.sessions.clear();
    }

    /// Ends the programs and waits for that.
    pub async fn end(mut self) {
        for session in std::mem::take(&mut self.sessions) {
            self.debugger.end(&session).await;
        }
    }
}

impl Drop for StartedSessions {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for session in std::mem::take(&mut self.sessions) {
            let debugger = Arc::clone(&self.debugger);
            // The session's processes belong to the debugger; the task only waits for their end.
            runtime.spawn(async move { debugger.end(&session).await });
        }
    }
}
