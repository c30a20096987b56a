//! One open task: its log, its folds, who follows it, and what it waits for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use stepwell_protocol::{
    ApprovalAnswer, ApprovalId, Event, EventRecord, Message, PermissionMode, QuestionAnswer, QuestionId,
    RunEnd, Seq, TaskId, TaskListItem, TaskState, Timestamp,
};
use stepwell_store::{Home, ModelHistory, TaskLog};
use stepwell_tool_runtime::{HookFacts, Hooks, PermissionJudge, ToolGate, WorkspaceServices};
use stepwell_transcript::TaskSummary;
use stepwell_workspace::files;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::environment::Told;
use crate::error::{Error, Result, broken};
use crate::feed::{Feed, Follower};
use crate::mode::Modes;
use crate::presence::Attendance;
use crate::task_list::TaskListFeed;
use crate::tree::Tree;

pub struct Session {
    pub task: TaskId,
    home: Home,
    /// Shared with the whole tree of tasks.
    pub tree: Arc<Tree>,
    /// Which tools the task may see and call.
    pub tools: Arc<ToolGate>,
    /// Held while records are written and synced, so only threads that may block take it.
    log: Mutex<TaskLog>,
    folds: Mutex<Folds>,
    feed: Arc<Feed>,
    list: Arc<TaskListFeed>,
    attendance: Arc<Attendance>,
    control: Mutex<Control>,
    pause: AtomicBool,
    approvals: Mutex<HashMap<ApprovalId, oneshot::Sender<ApprovalAnswer>>>,
    questions: Mutex<HashMap<QuestionId, oneshot::Sender<QuestionAnswer>>>,
    completion: Mutex<Option<String>>,
    last_end: watch::Sender<Option<RunEnd>>,
    hooks: Mutex<Option<SessionHooks>>,
    permission: Mutex<Option<Arc<dyn PermissionJudge>>>,
    /// The modes that can be switched to.
    modes: Mutex<Arc<Modes>>,
    /// What runs in the workspace lives as long as a task in it is open.
    services: Mutex<Option<Arc<WorkspaceServices>>>,
    /// What the model was told of its surroundings.
    pub(crate) told: Mutex<Told>,
}

/// What a session is opened with.
pub struct SessionParts {
    pub home: Home,
    pub log: TaskLog,
    pub history: ModelHistory,
    pub summary: TaskSummary,
    pub tree: Arc<Tree>,
    pub list: Arc<TaskListFeed>,
    pub attendance: Arc<Attendance>,
}

/// The hooks that were told of the session's start and want to hear of its end.
pub struct SessionHooks {
    pub hooks: Arc<Hooks>,
    pub facts: HookFacts,
}

struct Folds {
    history: ModelHistory,
    summary: TaskSummary,
    bytes: u64,
}

/// The run that is under way, if one is.
#[derive(Default)]
struct Control {
    running: Option<CancellationToken>,
}

impl Session {
    /// Takes over an opened log and the folds of what it holds.
    pub fn new(parts: SessionParts) -> Self {
        let SessionParts { home, log, history, summary, tree, list, attendance } = parts;
        let bytes = log.bytes();
        Self {
            task: log.id().clone(),
            home,
            tree,
            tools: Arc::default(),
            feed: Arc::new(Feed::new(log.last_seq())),
            log: Mutex::new(log),
            folds: Mutex::new(Folds { history, summary, bytes }),
            list,
            attendance,
            control: Mutex::default(),
            pause: AtomicBool::new(false),
            approvals: Mutex::default(),
            questions: Mutex::default(),
            completion: Mutex::new(None),
            last_end: watch::Sender::new(None),
            hooks: Mutex::new(None),
            permission: Mutex::new(None),
            modes: Mutex::default(),
            services: Mutex::new(None),
            told: Mutex::default(),
        }
    }

    /// The judge of the task: the first one it was given. It remembers what the person allowed for the session,
    /// which is longer than one run.
    pub fn permission(&self, new: impl FnOnce() -> Arc<dyn PermissionJudge>) -> Arc<dyn PermissionJudge> {
        Arc::clone(self.permission.lock().get_or_insert_with(new))
    }

    /// Judges by another mode from the next call on.
    pub fn set_permission_mode(&self, mode: PermissionMode) {
        if let Some(judge) = self.permission.lock().as_ref() {
            judge.set_mode(mode);
        }
    }

    /// Keeps the services of the workspace until the task is closed.
    pub fn hold(&self, services: Arc<WorkspaceServices>) {
        *self.services.lock() = Some(services);
    }

    /// The services of the workspace, once they are held.
    pub fn services(&self) -> Option<Arc<WorkspaceServices>> {
        self.services.lock().clone()
    }

    /// Puts durable events into the log and then shows them. When this returns they cannot be lost.
    pub async fn record(self: &Arc<Self>, events: Vec<Event>) -> Result<()> {
        let session = Arc::clone(self);
        // A sync may take long; it must not hold up a thread that others run on.
        tokio::task::spawn_blocking(move || session.record_blocking(events)).await.map_err(broken)?
    }

    fn record_blocking(&self, events: Vec<Event>) -> Result<()> {
        // The lock is held while publishing, so that every follower sees the order of the log.
        let mut log = self.log.lock();
        let records = log.append_owned(events)?;
        for record in records {
            let record = Arc::new(record);
            self.fold(&record, log.bytes())?;
            self.feed.publish(&record);
        }
        self.list.changed(&self.task);
        Ok(())
    }

    fn fold(&self, record: &EventRecord, bytes: u64) -> Result<()> {
        // What streams is in the log and in the turn that receives it; a third copy is needed only once it is cut off.
        let is_partial = matches!(record.event, Event::PartialAnswer { .. });
        let cut_off = matches!(record.event, Event::AnswerInterrupted { .. });
        let reread = if cut_off { Some(stepwell_store::read_log(&self.home, &self.task)?) } else { None };
        let mut folds = self.folds.lock();
        match reread {
            Some(records) => {
                let read = records.iter().take_while(|known| known.seq <= record.seq);
                folds.history = ModelHistory::default();
                read.for_each(|known| folds.history.apply(known));
            }
            None if is_partial => {}
            None => folds.history.apply(record),
        }
        folds.summary.apply(record);
        folds.bytes = bytes;
        Ok(())
    }

    /// Shows a transient event to whoever is looking.
    pub fn show(&self, event: Event) {
        let seq = self.feed.last_seq();
        self.feed.publish(&Arc::new(EventRecord { seq, ts: Timestamp::now(), event }));
    }

    /// Everything after a record, then what happens.
    pub fn follow(&self, after: Seq) -> Result<Follower> {
        Follower::new(&self.feed, &self.home, &self.task, after)
            .ok_or_else(|| Error::NotOpen { task: self.task.clone() })
    }

    /// Whether a person is there to answer.
    pub fn is_attended(&self) -> bool {
        self.attendance.is_attended(&self.task)
    }

    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.folds.lock().history.messages()
    }

    pub fn last_seq(&self) -> Seq {
        self.feed.last_seq()
    }

    pub fn read_summary<T>(&self, read: impl FnOnce(&TaskSummary) -> T) -> T {
        read(&self.folds.lock().summary)
    }

    /// The task as a list shows it.
    pub fn list_item(&self) -> Option<TaskListItem> {
        let folds = self.folds.lock();
        let summary = &folds.summary;
        Some(TaskListItem {
            info: summary.info.clone()?,
            title: summary.display_title().to_owned(),
            state: summary.state,
            mode: summary.mode.clone(),
            model: summary.model.clone(),
            favourite: summary.favourite,
            totals: summary.totals,
            updated_at: summary.updated_at,
            interrupted: false,
            last_seq: summary.last_seq,
            waiting: (summary.open_approvals.len() + summary.open_questions.len()) as u32,
            bytes: folds.bytes,
            excerpt: None,
        })
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
    pub async fn deliver_queued(self: &Arc<Self>) -> Result<bool> {
        let queued = self.read_summary(|summary| summary.queued.clone());
        if queued.is_empty() {
            return Ok(false);
        }
        self.record(queued.into_iter().map(|message| Event::UserMessage { message }).collect()).await?;
        Ok(true)
    }

    /// Changes the state unless it is the state already.
    pub async fn set_state(self: &Arc<Self>, state: TaskState) -> Result<()> {
        if self.read_summary(|summary| summary.state) == state {
            return Ok(());
        }
        self.record(vec![Event::StateChanged { state }]).await
    }

    /// Switches to these modes from now on.
    pub fn use_modes(&self, modes: Arc<Modes>) {
        *self.modes.lock() = modes;
    }

    pub fn modes(&self) -> Arc<Modes> {
        Arc::clone(&self.modes.lock())
    }

    /// Changes the mode from the next turn on, and the model where the mode names one.
    pub async fn change_mode(
        self: &Arc<Self>,
        mode: String,
        model: Option<String>,
        reason: Option<String>,
    ) -> Result<()> {
        let mut events = vec![Event::ModeChanged { mode, reason }];
        events.extend(model.map(|model| Event::ModelChanged { model }));
        self.record(events).await
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
        if let Some(end) = &end {
            self.show(Event::RunEnded { end: end.clone() });
        }
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
