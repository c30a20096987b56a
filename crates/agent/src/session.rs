//! One open task: its log, its folds, who follows it, and what it waits for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use stepwell_protocol::{
    ApprovalAnswer, ApprovalId, Event, EventRecord, Message, QuestionAnswer, QuestionId, Seq, TaskId,
    TaskState, Timestamp,
};
use stepwell_store::{Home, ModelHistory, TaskLog, TaskSummary};
use stepwell_tool_runtime::{HookFacts, Hooks, LoopGuard, PermissionJudge};
use stepwell_workspace::files;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::budget::Ledger;
use crate::error::{Error, Result};
use crate::feed::{Feed, Follower};
use crate::react::RunEnd;

/// Whether a person can answer, and how long they are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attendance {
    /// Nobody: approvals and questions are decided by policy at once.
    Headless,
    Interactive {
        deadline: Duration,
    },
}

pub struct Session {
    pub task: TaskId,
    home: Home,
    pub attendance: Attendance,
    /// Shared with the whole tree of tasks.
    pub ledger: Arc<Ledger>,
    pub loop_guard: Arc<LoopGuard>,
    core: Mutex<Core>,
    feed: Feed,
    control: Mutex<Control>,
    pause: AtomicBool,
    approvals: Mutex<HashMap<ApprovalId, oneshot::Sender<ApprovalAnswer>>>,
    questions: Mutex<HashMap<QuestionId, oneshot::Sender<QuestionAnswer>>>,
    completion: Mutex<Option<String>>,
    last_end: watch::Sender<Option<RunEnd>>,
    hooks: Mutex<Option<SessionHooks>>,
    permission: OnceLock<Arc<dyn PermissionJudge>>,
}

/// The hooks that were told of the session's start and want to hear of its end.
pub struct SessionHooks {
    pub hooks: Arc<Hooks>,
    pub facts: HookFacts,
}

struct Core {
    log: TaskLog,
    history: ModelHistory,
    summary: TaskSummary,
}

/// The run that is under way, if one is.
#[derive(Default)]
struct Control {
    running: Option<CancellationToken>,
}

impl Session {
    /// Takes over an opened log and the folds of what it holds.
    pub fn new(
        home: Home,
        log: TaskLog,
        history: ModelHistory,
        summary: TaskSummary,
        attendance: Attendance,
        ledger: Arc<Ledger>,
        loop_guard: Arc<LoopGuard>,
    ) -> Self {
        Self {
            task: log.id().clone(),
            home,
            attendance,
            ledger,
            loop_guard,
            core: Mutex::new(Core { log, history, summary }),
            feed: Feed::default(),
            control: Mutex::default(),
            pause: AtomicBool::new(false),
            approvals: Mutex::default(),
            questions: Mutex::default(),
            completion: Mutex::new(None),
            last_end: watch::Sender::new(None),
            hooks: Mutex::new(None),
            permission: OnceLock::new(),
        }
    }

    /// The judge of the task: the first one it was given. It remembers what the person allowed for the session,
    /// which is longer than one run.
    pub fn permission(&self, new: Arc<dyn PermissionJudge>) -> Arc<dyn PermissionJudge> {
        Arc::clone(self.permission.get_or_init(|| new))
    }

    /// Puts durable events into the log and then shows them. When this returns they cannot be lost.
    pub fn record(&self, events: Vec<Event>) -> Result<()> {
        // The lock is held while publishing, so that every follower sees the order of the log.
        let mut core = self.core.lock();
        let records = core.log.append(&events)?;
        for record in records {
            core.history.apply(&record);
            core.summary.apply(&record);
            self.feed.publish(&Arc::new(record));
        }
        Ok(())
    }

    /// Shows a transient event to whoever is looking.
    pub fn show(&self, event: Event) {
        if self.feed.is_followed() {
            let seq = self.core.lock().log.last_seq();
            self.feed.publish(&Arc::new(EventRecord { seq, ts: Timestamp::now(), event }));
        }
    }

    /// Everything after `from`, then live.
    pub fn follow(&self, from: Seq) -> Result<Follower> {
        // Nothing is appended between the look into the log and the start of the live part.
        let core = self.core.lock();
        let to = core.log.last_seq();
        let records = if from < to {
            stepwell_store::Follower::open(&self.home, &self.task, from.next())?.poll_new()?
        } else {
            Vec::new()
        };
        Ok(self.feed.follow(records, to))
    }

    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.core.lock().history.messages()
    }

    pub fn summary(&self) -> TaskSummary {
        self.core.lock().summary.clone()
    }

    pub fn last_seq(&self) -> Seq {
        self.core.lock().log.last_seq()
    }

    pub fn read_summary<T>(&self, read: impl FnOnce(&TaskSummary) -> T) -> T {
        read(&self.core.lock().summary)
    }

    /// The number people call the task by.
    pub fn number(&self) -> u32 {
        self.read_summary(|summary| summary.info.as_ref().map_or(0, |info| info.number))
    }

    pub fn artifact_dir(&self) -> Result<std::path::PathBuf> {
        let folder = self.home.artifacts_dir(&self.task)?;
        files::create_private_dir(&folder)?;
        Ok(folder)
    }

    /// Delivers queued messages; `true` when there were any.
    pub fn deliver_queued(&self) -> Result<bool> {
        let queued = self.read_summary(|summary| summary.queued.clone());
        if queued.is_empty() {
            return Ok(false);
        }
        self.record(queued.into_iter().map(|message| Event::UserMessage { message }).collect())?;
        Ok(true)
    }

    /// Changes the state unless it is the state already.
    pub fn set_state(&self, state: TaskState) -> Result<()> {
        if self.read_summary(|summary| summary.state) == state {
            return Ok(());
        }
        self.record(vec![Event::StateChanged { state }])
    }

    // ---- runs

    /// Claims the session for a run.
    pub fn begin_run(&self) -> Result<CancellationToken> {
        let mut control = self.control.lock();
        if control.running.is_some() {
            return Err(Error::Working { task: self.task.clone() });
        }
        let cancel = CancellationToken::new();
        control.running = Some(cancel.clone());
        self.pause.store(false, Ordering::Relaxed);
        self.completion.lock().take();
        self.last_end.send_replace(None);
        Ok(cancel)
    }

    /// Gives the session free for the next run; `None` when the run never began.
    pub fn end_run(&self, end: Option<RunEnd>) {
        self.control.lock().running = None;
        self.last_end.send_replace(end);
    }

    /// Waits for the run that is under way and tells how it ended; at once when none is.
    pub async fn run_end(&self) -> Option<RunEnd> {
        let mut ends = self.last_end.subscribe();
        if !self.is_running() {
            return ends.borrow().clone();
        }
        // The sender lives in the session, so the wait can only end with a value.
        ends.wait_for(Option::is_some).await.ok().and_then(|end| end.clone())
    }

    pub fn is_running(&self) -> bool {
        self.control.lock().running.is_some()
    }

    pub fn cancel(&self) {
        if let Some(cancel) = &self.control.lock().running {
            cancel.cancel();
        }
    }

    pub fn request_pause(&self) {
        self.pause.store(true, Ordering::Relaxed);
    }

    pub fn pause_requested(&self) -> bool {
        self.pause.load(Ordering::Relaxed)
    }

    pub fn close(&self) {
        self.feed.close();
    }

    /// Remembers whose hooks to tell of the end; `false` when they know of the session already.
    pub fn begin_hooks(&self, hooks: SessionHooks) -> bool {
        let mut known = self.hooks.lock();
        let is_new = known.is_none();
        known.get_or_insert(hooks);
        is_new
    }

    pub fn take_hooks(&self) -> Option<SessionHooks> {
        self.hooks.lock().take()
    }

    // ---- what the task waits for

    pub fn complete(&self, result: String) {
        *self.completion.lock() = Some(result);
    }

    pub fn take_completion(&self) -> Option<String> {
        self.completion.lock().take()
    }

    pub fn await_approval(&self, id: &ApprovalId) -> oneshot::Receiver<ApprovalAnswer> {
        let (sender, receiver) = oneshot::channel();
        self.approvals.lock().insert(id.clone(), sender);
        receiver
    }

    pub fn await_answer(&self, id: &QuestionId) -> oneshot::Receiver<QuestionAnswer> {
        let (sender, receiver) = oneshot::channel();
        self.questions.lock().insert(id.clone(), sender);
        receiver
    }

    /// Gives the person's word on a request; only an open one can be answered, and only once.
    pub fn answer_approval(&self, id: &ApprovalId, answer: ApprovalAnswer) -> Result<()> {
        let sender = self.approvals.lock().remove(id);
        sender
            .and_then(|sender| sender.send(answer).ok())
            .ok_or_else(|| Error::NoSuchRequest { task: self.task.clone(), id: id.to_string() })
    }

    pub fn answer_question(&self, id: &QuestionId, answer: QuestionAnswer) -> Result<()> {
        let sender = self.questions.lock().remove(id);
        sender
            .and_then(|sender| sender.send(answer).ok())
            .ok_or_else(|| Error::NoSuchRequest { task: self.task.clone(), id: id.to_string() })
    }

    pub fn forget_approval(&self, id: &ApprovalId) {
        self.approvals.lock().remove(id);
    }

    pub fn forget_question(&self, id: &QuestionId) {
        self.questions.lock().remove(id);
    }
}
