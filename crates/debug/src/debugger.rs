//! The debugger as tools use it: starts sessions, waits for them, keeps breakpoints in all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::breakpoints::{BreakpointStore, FunctionBreakpoint, LineBreakpoint, NewBreakpoint, Removed};
use crate::dap::types::StackFrame;
use crate::ids::{BreakpointId, FrameId, FrameRef, SessionId, ThreadId, VariablesRef, VariablesReference};
use crate::sandbox::SessionSandbox;
use crate::session::{Binding, Ending, Phase, Session, SessionStart, Stop, UserBreakpoints};
use crate::shared::{DebuggerOptions, Shared};
use crate::stop_report::CallFrame;

/// A deadline, and a token that ends the wait earlier.
#[derive(Clone, Debug)]
pub struct Wait {
    pub deadline: Instant,
    pub cancel: CancellationToken,
}

/// The result of a wait.
#[derive(Clone, Debug)]
pub enum Outcome {
    Stopped(Arc<Session>, Stop),
    /// The program ended by itself.
    Completed(Ending),
    /// The program could not be started, or the debugger failed.
    Failed(Ending),
    TimedOut,
    Interrupted,
}

/// All debug sessions and breakpoints of one workspace. Dropping it ends every session.
#[derive(Debug)]
pub struct Debugger {
    pub(crate) shared: Arc<Shared>,
}

impl Debugger {
    pub fn new(options: DebuggerOptions) -> Self {
        Self { shared: Arc::new(Shared::new(options)) }
    }

    /// Returns the options that the debugger was made with.
    pub fn options(&self) -> &DebuggerOptions {
        &self.shared.options
    }

    /// Returns the breakpoints of the workspace.
    pub fn breakpoints(&self) -> &BreakpointStore {
        &self.shared.breakpoints
    }

    /// Starts a session in the background; [`Debugger::wait`] returns how it went on.
    pub fn start(&self, opening: SessionStart) -> Result<Arc<Session>> {
        self.start_within(opening, None)
    }

    /// As [`Debugger::start`] in a sandbox that is open, where the session is isolated.
    pub(crate) fn start_within(
        &self,
        opening: SessionStart,
        sandbox: Option<&Arc<dyn SessionSandbox>>,
    ) -> Result<Arc<Session>> {
        self.shared.breakpoints.find_moved_lines();
        let session = Session::new(Arc::clone(&self.shared), &opening, None);
        if let Some(sandbox) = sandbox.filter(|_| opening.isolation.is_some()) {
            session.stay_in(Arc::clone(sandbox));
        }
        self.shared.add(Arc::clone(&session))?;
        session.launch(opening);
        Ok(session)
    }

    pub fn session(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        self.shared.session(id)
    }

    /// Returns all sessions, ended ones included while they are remembered.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.shared.sessions()
    }

    /// Returns the session with this id; without one, a stopped session of the active tree.
    pub fn session_to_resume(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        let session = self.shared.session(id)?;
        if id.is_some() || session.stop().is_some() {
            return Ok(session);
        }
        // A parent is named for its program, which may run in a child.
        let stopped = self.shared.tree(&session.id).into_iter().find(|session| session.stop().is_some());
        Ok(stopped.unwrap_or(session))
    }

    /// Returns a running session of the tree that is meant: a parent session may have no program of its own.
    pub fn session_in_tree(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        let session = self.shared.session(id)?;
        let tree = self.shared.tree(&session.id);
        let alive = tree.iter().rev().find(|session| !session.phase().is_over());
        Ok(alive.cloned().unwrap_or(session))
    }

    /// Returns all sessions of the tree that a session belongs to.
    pub fn tree(&self, session: &Session) -> Vec<Arc<Session>> {
        self.shared.tree(&self.shared.root_of(session))
    }

    /// Ends a session and starts its program again with the same options.
    pub async fn restart(&self, session: &Session, time: Duration) -> Result<Arc<Session>> {
        let root = self.shared.session(Some(&self.shared.root_of(session)))?;
        root.end().await;
        let breakpoints = root.has_user_breakpoints();
        let opening = SessionStart { breakpoints, time, ..root.opening.clone() };
        self.start(opening)
    }

    /// Returns the serial number of the newest stop.
    pub fn serial(&self) -> u64 {
        self.shared.serial_now()
    }

    /// Waits for a stop with a serial number above `after` in the session's tree, or for its end.
    pub async fn wait(&self, session: &Session, after: u64, wait: &Wait) -> Outcome {
        self.wait_any(&[self.shared.root_of(session)], after, wait).await
    }

    /// As [`Debugger::wait`] for several sessions: the first stop, or the end of all.
    pub async fn wait_any(&self, roots: &[SessionId], after: u64, wait: &Wait) -> Outcome {
        let mut changes = self.shared.watch();
        loop {
            changes.borrow_and_update();
            let mut outcomes: Vec<Option<Outcome>> =
                roots.iter().map(|root| self.outcome_of(root, after)).collect();
            let stopped = outcomes
                .iter()
                .position(|outcome| matches!(outcome, Some(Outcome::Stopped(..) | Outcome::Failed(_))));
            if let Some(outcome) = stopped.and_then(|at| outcomes.swap_remove(at)) {
                return outcome;
            }
            if outcomes.iter().all(Option::is_some)
                && let Some(outcome) = outcomes.into_iter().next().flatten()
            {
                return outcome;
            }
            tokio::select! {
                biased;
                () = wait.cancel.cancelled() => return Outcome::Interrupted,
                changed = tokio::time::timeout_at(wait.deadline, changes.changed()) => {
                    if !matches!(changed, Ok(Ok(()))) {
                        return Outcome::TimedOut;
                    }
                }
            }
        }
    }

    /// Waits until sessions that attach are attached. Returns their outcome where one stopped or ended meanwhile, and
    /// `None` where their programs run on.
    pub async fn wait_attached(&self, roots: &[SessionId], after: u64, wait: &Wait) -> Option<Outcome> {
        let mut changes = self.shared.watch();
        loop {
            changes.borrow_and_update();
            let is_attached = |root: &SessionId| {
                self.shared.session(Some(root)).is_ok_and(|session| session.phase() == Phase::Running)
            };
            if roots.iter().all(is_attached)
                && roots.iter().all(|root| self.outcome_of(root, after).is_none())
            {
                return None;
            }
            let starting = |root: &SessionId| {
                self.shared
                    .session(Some(root))
                    .is_ok_and(|session| matches!(session.phase(), Phase::Idle | Phase::Starting))
            };
            if !roots.iter().any(starting) || wait.cancel.is_cancelled() || Instant::now() >= wait.deadline {
                return Some(self.wait_any(roots, after, wait).await);
            }
            tokio::select! {
                () = wait.cancel.cancelled() => {}
                changed = tokio::time::timeout_at(wait.deadline, changes.changed()) => { changed.ok(); }
            }
        }
    }

    /// Pauses a program and waits until it has stopped. Adapters may lose a request that arrives while the program is
    /// starting to run, so it is repeated.
    pub async fn pause(&self, session: &Session, thread: Option<ThreadId>, wait: &Wait) -> Result<Outcome> {
        const AGAIN: Duration = Duration::from_secs(1);
        let after = self.serial();
        loop {
            // One that stopped by itself in the meantime is where it should be, and would not stop again.
            let tree = self.tree(session);
            if let Some((stopped, stop)) = tree.into_iter().find_map(|one| one.stop().map(|stop| (one, stop)))
            {
                return Ok(Outcome::Stopped(stopped, stop));
            }
            session.pause(thread).await?;
            let brief =
                Wait { deadline: wait.deadline.min(Instant::now() + AGAIN), cancel: wait.cancel.clone() };
            match self.wait(session, after, &brief).await {
                Outcome::TimedOut if Instant::now() < wait.deadline => {}
                outcome => return Ok(outcome),
            }
        }
    }

    fn outcome_of(&self, root: &SessionId, after: u64) -> Option<Outcome> {
        let tree = self.shared.tree(root);
        let newest = tree
            .iter()
            .filter_map(|session| session.stop().map(|stop| (session, stop)))
            .filter(|(_, stop)| stop.serial > after)
            .max_by_key(|(_, stop)| stop.serial);
        if let Some((session, stop)) = newest {
            return Some(Outcome::Stopped(Arc::clone(session), stop));
        }
        let first = tree.first()?;
        if first.phase() == Phase::Terminated {
            let mut ending = first.ending();
            // The program's own exit may have been told by the session it ran in.
            if ending.exit_code.is_none() {
                ending.exit_code = tree.iter().find_map(|session| session.ending().exit_code);
            }
            return Some(if ending.failure.is_some() {
                Outcome::Failed(ending)
            } else {
                Outcome::Completed(ending)
            });
        }
        None
    }

    /// Sets or suspends the person's breakpoints in the tree of a session.
    pub async fn set_user_breakpoints(&self, session: &Session, user: UserBreakpoints) -> Result<()> {
        for session in self.tree(session) {
            session.set_user_breakpoints(user).await?;
        }
        Ok(())
    }

    /// Ends the tree of a session.
    pub async fn end(&self, session: &Session) {
        let root = self.shared.root_of(session);
        if let Some(first) = self.shared.tree(&root).first() {
            first.end().await;
        }
    }

    /// Ends the trees of several sessions at once.
    pub async fn end_each(&self, sessions: &[Arc<Session>]) {
        futures::future::join_all(sessions.iter().map(|session| self.end(session))).await;
    }

    /// Forgets ended sessions and their output.
    pub fn forget_ended(&self) {
        self.shared.forget_ended();
    }

    /// Ends all sessions.
    pub async fn end_all(&self) {
        let roots = self.sessions().into_iter().filter(|session| session.parent.is_none());
        futures::future::join_all(roots.map(|session| async move { session.end().await })).await;
    }

    /// Sets a breakpoint, also in running sessions, and returns its binding where one has it.
    pub async fn set_breakpoint(&self, new: NewBreakpoint) -> Result<(LineBreakpoint, Option<Binding>)> {
        let breakpoint = self.shared.breakpoints.set(new)?;
        self.sync_file(&breakpoint.path).await;
        let binding = self.binding_of(breakpoint.id);
        Ok((breakpoint, binding))
    }

    pub async fn set_function_breakpoint(
        &self,
        name: &str,
        condition: Option<String>,
        hit_condition: Option<String>,
    ) -> Result<(FunctionBreakpoint, Option<Binding>)> {
        let breakpoint = self.shared.breakpoints.set_function(name, condition, hit_condition)?;
        for session in self.live() {
            session.sync_functions().await.ok();
        }
        let binding = self.binding_of(breakpoint.id);
        Ok((breakpoint, binding))
    }

    /// Returns the binding of a breakpoint, a verified one if any session has it.
    pub fn binding_of(&self, id: BreakpointId) -> Option<Binding> {
        let bindings: Vec<Binding> =
            self.live().iter().filter_map(|session| session.binding_of(id)).collect();
        bindings.iter().find(|binding| binding.verified).or_else(|| bindings.last()).cloned()
    }

    pub async fn remove_breakpoint(&self, id: BreakpointId) -> Option<()> {
        match self.shared.breakpoints.remove(id)? {
            Removed::Line(path) => self.sync_file(&path).await,
            Removed::Function => {
                for session in self.live() {
                    session.sync_functions().await.ok();
                }
            }
        }
        Some(())
    }

    pub async fn clear_breakpoints(&self) -> usize {
        let mut paths: Vec<PathBuf> =
            self.shared.breakpoints.lines().into_iter().map(|breakpoint| breakpoint.path).collect();
        paths.dedup();
        let count = self.shared.breakpoints.clear();
        for path in paths {
            self.sync_file(&path).await;
        }
        for session in self.live() {
            session.sync_functions().await.ok();
        }
        count
    }

    async fn sync_file(&self, path: &Path) {
        for session in self.live() {
            session.sync_file(path).await.ok();
        }
    }

    fn live(&self) -> Vec<Arc<Session>> {
        let live = |session: &Arc<Session>| matches!(session.phase(), Phase::Running | Phase::Stopped);
        self.sessions().into_iter().filter(live).collect()
    }

    /// Resolves a frame id to its session and the adapter's id.
    pub fn frame(&self, id: FrameId) -> Result<(Arc<Session>, FrameRef)> {
        let frame = self.shared.ids.frame_of(id)?;
        Ok((self.shared.session(Some(&frame.session))?, frame))
    }

    pub fn variables(&self, id: VariablesReference) -> Result<(Arc<Session>, VariablesRef)> {
        let variables = self.shared.ids.variables_of(id)?;
        Ok((self.shared.session(Some(&variables.session))?, variables))
    }

    /// Returns a new reference to variables.
    pub fn reference(&self, variables: VariablesRef) -> VariablesReference {
        self.shared.ids.variables(variables)
    }

    /// Returns a part of a thread's call stack, and how long the whole is where known.
    pub async fn call_stack(
        &self,
        session: &Session,
        thread: ThreadId,
        start: i64,
        levels: i64,
    ) -> Result<(Vec<(CallFrame, StackFrame)>, Option<i64>)> {
        session.stopped()?;
        let stack = session.stack(thread, start, levels).await?;
        let frames = stack.stack_frames.into_iter();
        Ok((frames.map(|frame| (session.call_frame(&frame, thread), frame)).collect(), stack.total_frames))
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        // Sessions and the shared state hold each other; their processes end when the last session is dropped.
        for session in self.shared.clear() {
            session.abandon();
        }
    }
}
