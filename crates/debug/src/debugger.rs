//! The debugger as tools use it: sessions, waiting, breakpoints in all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::breakpoints::{BreakpointStore, FunctionBreakpoint, LineBreakpoint, NewBreakpoint, Removed};
use crate::dap::types::StackFrame;
use crate::house::{DebuggerOptions, House};
use crate::ids::{BreakpointId, FrameId, FrameRef, SessionId, ThreadId, VariablesRef, VariablesReference};
use crate::session::{Binding, Ending, Opening, Phase, Session, Stop};
use crate::stop_report::CallFrame;

/// How long is waited, and who may end the waiting.
#[derive(Clone, Debug)]
pub struct Wait {
    pub deadline: Instant,
    pub cancel: CancellationToken,
}

/// What waiting came to.
#[derive(Clone, Debug)]
pub enum Outcome {
    Stopped(Arc<Session>, Stop),
    /// The program ended by itself.
    Completed(Ending),
    /// It could not be started, or the debugger failed.
    Failed(Ending),
    TimedOut,
    Interrupted,
}

/// All debugging of one workspace. Dropping it ends every session at once.
#[derive(Debug)]
pub struct Debugger {
    pub(crate) house: Arc<House>,
}

impl Debugger {
    pub fn new(options: DebuggerOptions) -> Self {
        Self { house: Arc::new(House::new(options)) }
    }

    pub fn options(&self) -> &DebuggerOptions {
        &self.house.options
    }

    pub fn breakpoints(&self) -> &BreakpointStore {
        &self.house.breakpoints
    }

    /// Starts a session; [`Debugger::wait`] tells what came of it.
    pub fn start(&self, opening: Opening) -> Result<Arc<Session>> {
        self.house.breakpoints.find_moved_lines();
        let session = Session::new(Arc::clone(&self.house), &opening, None);
        self.house.add(Arc::clone(&session))?;
        session.launch(opening);
        Ok(session)
    }

    pub fn session(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        self.house.session(id)
    }

    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.house.sessions()
    }

    /// The session a call without a number means when it wants to go on: one that is stopped, if any is.
    pub fn session_to_resume(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        let session = self.house.session(id)?;
        if id.is_some() || session.stop().is_some() {
            return Ok(session);
        }
        // A parent is named for its program, which may run in a child.
        let stopped = self.house.tree(&session.id).into_iter().find(|session| session.stop().is_some());
        Ok(stopped.unwrap_or(session))
    }

    /// A session of the meant tree that runs a program: a parent may only look after others.
    pub fn session_in_tree(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        let session = self.house.session(id)?;
        let tree = self.house.tree(&session.id);
        let alive = tree.iter().rev().find(|session| !session.phase().is_over());
        Ok(alive.cloned().unwrap_or(session))
    }

    /// A session with those that belong to it.
    pub fn tree(&self, session: &Session) -> Vec<Arc<Session>> {
        self.house.tree(&self.house.root_of(session))
    }

    /// Starts the program of a session again, as it was started.
    pub async fn restart(&self, session: &Session, time: Duration) -> Result<Arc<Session>> {
        let root = self.house.session(Some(&self.house.root_of(session)))?;
        root.end().await;
        let opening = Opening { time, ..root.opening.clone() };
        self.start(opening)
    }

    /// The number of the newest stop; a later one is higher.
    pub fn serial(&self) -> u64 {
        self.house.serial_now()
    }

    /// Waits for a stop after `after` anywhere in the session's tree, or for its end.
    pub async fn wait(&self, session: &Session, after: u64, wait: &Wait) -> Outcome {
        self.wait_any(&[self.house.root_of(session)], after, wait).await
    }

    /// As [`Debugger::wait`] for several sessions: the first stop, or the end of all.
    pub async fn wait_any(&self, roots: &[SessionId], after: u64, wait: &Wait) -> Outcome {
        let mut changes = self.house.watch();
        loop {
            changes.borrow_and_update();
            let mut outcomes: Vec<Option<Outcome>> =
                roots.iter().map(|root| self.look(root, after)).collect();
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

    /// Stops a program where it is and waits until it has. Adapters lose a request that comes while the program is
    /// only about to run, so it is asked again.
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

    fn look(&self, root: &SessionId, after: u64) -> Option<Outcome> {
        let tree = self.house.tree(root);
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

    /// Ends a session with its children.
    pub async fn end(&self, session: &Session) {
        let root = self.house.root_of(session);
        if let Some(first) = self.house.tree(&root).first() {
            first.end().await;
        }
    }

    /// Forgets sessions that are over, with what they printed.
    pub fn forget_ended(&self) {
        self.house.forget_ended();
    }

    pub async fn end_all(&self) {
        let roots = self.sessions().into_iter().filter(|session| session.parent.is_none());
        futures::future::join_all(roots.map(|session| async move { session.end().await })).await;
    }

    /// Sets a breakpoint, in the running sessions too; what became of it in the one it was bound in.
    pub async fn set_breakpoint(&self, new: NewBreakpoint) -> Result<(LineBreakpoint, Option<Binding>)> {
        let breakpoint = self.house.breakpoints.set(new)?;
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
        let breakpoint = self.house.breakpoints.set_function(name, condition, hit_condition)?;
        for session in self.live() {
            session.sync_functions().await.ok();
        }
        let binding = self.binding_of(breakpoint.id);
        Ok((breakpoint, binding))
    }

    /// What became of a breakpoint: the best of all sessions.
    pub fn binding_of(&self, id: BreakpointId) -> Option<Binding> {
        let bindings: Vec<Binding> =
            self.live().iter().filter_map(|session| session.binding_of(id)).collect();
        bindings.iter().find(|binding| binding.verified).or_else(|| bindings.last()).cloned()
    }

    pub async fn remove_breakpoint(&self, id: BreakpointId) -> Option<()> {
        match self.house.breakpoints.remove(id)? {
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
            self.house.breakpoints.lines().into_iter().map(|breakpoint| breakpoint.path).collect();
        paths.dedup();
        let count = self.house.breakpoints.clear();
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

    /// The session and the adapter's number of a frame.
    pub fn frame(&self, id: FrameId) -> Result<(Arc<Session>, FrameRef)> {
        let frame = self.house.ids.frame_of(id)?;
        Ok((self.house.session(Some(&frame.session))?, frame))
    }

    pub fn variables(&self, id: VariablesReference) -> Result<(Arc<Session>, VariablesRef)> {
        let variables = self.house.ids.variables_of(id)?;
        Ok((self.house.session(Some(&variables.session))?, variables))
    }

    /// A number of ours for something with variables in it.
    pub fn reference(&self, variables: VariablesRef) -> VariablesReference {
        self.house.ids.variables(variables)
    }

    /// The frames of a thread, a part of them.
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
        // Sessions hold the house and the house holds them; their processes end when the last of them is dropped.
        for session in self.house.clear() {
            session.abandon();
        }
    }
}
