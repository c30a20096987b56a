//! Execution control: continue, step, pause, end.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::emulation::Stepping;
use super::{ANSWER, Phase, Session};
use crate::adapters::StartMode;
use crate::ids::ThreadId;
use crate::{Error, Result};

/// Deadline of `disconnect`.
const LET_GO: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Over,
    Into,
    Out,
}

impl Step {
    fn command(self) -> &'static str {
        match self {
            Self::Over => "next",
            Self::Into => "stepIn",
            Self::Out => "stepOut",
        }
    }
}

impl Session {
    /// Continues the program.
    pub async fn resume(&self, thread: Option<ThreadId>) -> Result<()> {
        let stop = self.stopped()?;
        let thread = self.thread_or(thread, &stop).await?;
        self.state.lock().stepping = None;
        self.resumed(stop, self.request_resume(thread)).await
    }

    pub async fn step(&self, thread: Option<ThreadId>, step: Step) -> Result<()> {
        let stop = self.stopped()?;
        let thread = self.thread_or(thread, &stop).await?;
        let emulated = self.state.lock().has_emulated();
        let stepping =
            if emulated { Some(Stepping { step, depth: self.depth(thread).await? }) } else { None };
        self.state.lock().stepping = stepping;
        self.resumed(stop, self.request_step(thread, step)).await
    }

    /// Marks the program as running before the request: the next stop may arrive before the answer.
    async fn resumed(&self, stop: super::Stop, request: impl Future<Output = Result<()>>) -> Result<()> {
        let refused = |error: &Error| matches!(error, Error::Refused { .. } | Error::NotReading { .. });
        self.mark_running();
        let answered = request.await;
        if let Err(error) = &answered
            && refused(error)
        {
            let mut state = self.state.lock();
            if state.phase == Phase::Running && state.stop.is_none() {
                state.phase = Phase::Stopped;
                state.stop = Some(stop);
            }
            drop(state);
            self.changed();
        }
        answered
    }

    pub(super) async fn request_resume(&self, thread: ThreadId) -> Result<()> {
        let _: Value = self.client()?.request("continue", json!({ "threadId": thread }), ANSWER).await?;
        Ok(())
    }

    pub(super) async fn request_step(&self, thread: ThreadId, step: Step) -> Result<()> {
        let _: Value = self.client()?.request(step.command(), json!({ "threadId": thread }), ANSWER).await?;
        Ok(())
    }

    async fn thread_or(&self, thread: Option<ThreadId>, stop: &super::Stop) -> Result<ThreadId> {
        if let Some(thread) = thread {
            self.check_thread(thread).await?;
            return Ok(thread);
        }
        match stop.thread {
            Some(thread) => Ok(thread),
            None => self.any_thread().await,
        }
    }

    /// Fails where the program has no such thread. Adapters take any number, and some then move another thread.
    pub async fn check_thread(&self, thread: ThreadId) -> Result<()> {
        const LISTED: usize = 10;
        if self.stop().and_then(|stop| stop.thread) == Some(thread) {
            return Ok(());
        }
        // Some adapters tell no threads while the program runs; what they said last counts then.
        let known: Vec<ThreadId> = match self.threads().await {
            Ok(threads) => threads.into_iter().map(|thread| thread.id).collect(),
            Err(_) => self.state.lock().threads.keys().copied().collect(),
        };
        if known.contains(&thread) {
            return Ok(());
        }
        let mut listed: Vec<String> = known.iter().take(LISTED).map(ToString::to_string).collect();
        if known.len() > LISTED {
            listed.push("...".to_owned());
        }
        let hint = if listed.is_empty() {
            "leave `thread_id` out".to_owned()
        } else {
            format!("it has {}; `get_threads` lists them", listed.join(", "))
        };
        Err(Error::Parameter {
            what: format!("the program of session {} has no thread {thread}", self.id),
            hint: Some(hint),
        })
    }

    /// Returns any thread, for adapters that name none.
    pub(crate) async fn any_thread(&self) -> Result<ThreadId> {
        let threads = self.threads().await?;
        threads.first().map(|thread| thread.id).ok_or_else(|| Error::State {
            what: "the program has no threads".to_owned(),
            hint: "it may have ended; look at `list_sessions`".to_owned(),
        })
    }

    /// Requests a pause.
    pub async fn pause(&self, thread: Option<ThreadId>) -> Result<()> {
        if self.stop().is_some() {
            return Ok(());
        }
        if self.phase() != Phase::Running {
            self.stopped()?;
        }
        if let Some(thread) = thread {
            self.check_thread(thread).await?;
        }
        // Some adapters tell no threads while the program runs.
        let last = self.state.lock().last_thread;
        let thread = match thread.or(last) {
            Some(thread) => thread,
            None => self.any_thread().await.unwrap_or(ThreadId(1)),
        };
        self.state.lock().pausing = true;
        let asked: Result<Value> =
            self.client()?.request("pause", json!({ "threadId": thread }), ANSWER).await;
        if asked.is_err() {
            self.state.lock().pausing = false;
        }
        asked.map(drop)
    }

    /// Waits until the session has ended.
    pub async fn over(&self) {
        let mut changes = self.shared.watch();
        while self.phase() != Phase::Terminated {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Ends the session and, where it was started by us, the program.
    pub async fn end(self: &Arc<Self>) {
        {
            let mut state = self.state.lock();
            if state.phase == Phase::Terminated {
                return;
            }
            state.phase = Phase::Terminating;
            state.stop = None;
        }
        self.changed();
        self.finish(None).await;
    }

    /// Disconnects the adapter, ends all processes and reads the remaining output.
    pub(super) async fn finish(self: &Arc<Self>, failure: Option<String>) {
        {
            let mut state = self.state.lock();
            if state.phase != Phase::Terminated {
                state.phase = Phase::Terminating;
                state.stop = None;
            }
        }
        if let Ok(client) = self.client()
            && !client.is_closed()
        {
            let terminate = self.how == StartMode::Launch;
            let arguments = json!({ "restart": false, "terminateDebuggee": terminate });
            let let_go: Result<Value> = client.request("disconnect", arguments, LET_GO).await;
            // Whether or not it answers, everything is ended below.
            let_go.ok();
        }
        for child in self.shared.tree(&self.id).into_iter().skip(1) {
            child.end_with(None, None);
        }
        self.end_processes().await;
        self.drain_pumps().await;
        let sandbox = self.sandbox.lock().take();
        if let Some(sandbox) = sandbox.filter(|sandbox| Arc::strong_count(sandbox) == 1) {
            sandbox.close().await;
        }
        let hint = self.state.lock().ending.hint.clone();
        self.end_with(failure, hint);
    }

    /// Ends all processes without waiting.
    pub(crate) fn abandon(&self) {
        self.end_with(None, None);
        self.companions.lock().clear();
    }
}
