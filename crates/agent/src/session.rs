//! One open task: its log, its folds, who follows it, and what it waits for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use stepwell_protocol::{
    ApprovalAnswer, ApprovalId, Event, EventRecord, Message, MessageId, PermissionMode, QuestionAnswer,
    QuestionId, Role, RunEnd, Seq, TaskId, TaskListItem, TaskOrigin, TaskState, Timestamp, ToolCall,
    ToolCallId, Usage,
};
use stepwell_store::{Home, ModelHistory, TaskLog};
use stepwell_tool_runtime::{
    HookAgent, HookFacts, Hooks, PermissionJudge, PlanHold, ToolGate, ToolSet, WorkspaceServices,
};
use stepwell_transcript::TaskSummary;
use stepwell_workspace::files;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::budget::{Budget, Exhausted, Ledger};
use crate::environment::Told;
use crate::error::{Error, Result, broken};
use crate::feed::{Feed, Follower};
use crate::mode::Modes;
use crate::plan::PlanState;
use crate::presence::Attendance;
use crate::subagent::{Subagents, SubtaskLimits};
use crate::task_list::TaskListFeed;
use crate::tree::Tree;
use crate::workspace::RunSettings;

pub struct Session {
    pub task: TaskId,
    home: Home,
    /// Shared with the whole tree of tasks.
    pub tree: Arc<Tree>,
    /// Which tools the task may see and call.
    pub tools: Arc<ToolGate>,
    pub plan: PlanState,
    /// Held while records are written and synced, so only threads that may block take it.
    log: Mutex<TaskLog>,
    folds: Mutex<Folds>,
    feed: Arc<Feed>,
    list: Arc<TaskListFeed>,
    attendance: Arc<Attendance>,
    control: Mutex<Control>,
    pause: AtomicBool,
    condense: AtomicBool,
    approvals: Mutex<HashMap<ApprovalId, oneshot::Sender<ApprovalAnswer>>>,
    questions: Mutex<HashMap<QuestionId, oneshot::Sender<QuestionAnswer>>>,
    completion: Mutex<Option<String>>,
    last_end: watch::Sender<Option<RunEnd>>,
    hooks: Mutex<Option<SessionHooks>>,
    permission: Mutex<Option<Arc<dyn PermissionJudge>>>,
    workers: Mutex<Workers>,
    /// What a sub-task has used of its share of the tree's budget.
    share: Ledger,
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
    /// What the plans of this task and of those above it forbid.
    pub hold: Arc<PlanHold>,
    pub list: Arc<TaskListFeed>,
    pub attendance: Arc<Attendance>,
}

/// The hooks that were told of the session's start and want to hear of its end.
pub struct SessionHooks {
    pub hooks: Arc<Hooks>,
    pub facts: HookFacts,
}

/// The modes a task can switch to, and who can work on its sub-tasks.
#[derive(Clone)]
pub struct Workers {
    pub modes: Arc<Modes>,
    pub subagents: Arc<Subagents>,
    pub limits: SubtaskLimits,
    /// The tools of the workspace, before any mode or sub-agent limits them.
    pub tools: ToolSet,
    /// A sub-task runs as long as it holds one.
    pub slots: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        let limits = SubtaskLimits::default();
        Self {
            modes: Arc::default(),
            subagents: Arc::default(),
            limits,
            tools: ToolSet::all(),
            slots: Arc::new(Semaphore::new(limits.parallel)),
        }
    }
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
        let SessionParts { home, log, history, summary, tree, hold, list, attendance } = parts;
        let bytes = log.bytes();
        let plan = PlanState::new(hold);
        plan.hold.follow(summary.plan.as_ref());
        let tools = Arc::new(ToolGate::default());
        tools.obey(Arc::clone(&plan.hold));
        Self {
            task: log.id().clone(),
            home,
            tree,
            tools,
            plan,
            feed: Arc::new(Feed::new(log.last_seq())),
            log: Mutex::new(log),
            folds: Mutex::new(Folds { history, summary, bytes }),
            list,
            attendance,
            control: Mutex::default(),
            pause: AtomicBool::new(false),
            condense: AtomicBool::new(false),
            approvals: Mutex::default(),
            questions: Mutex::default(),
            completion: Mutex::new(None),
            last_end: watch::Sender::new(None),
            hooks: Mutex::new(None),
            permission: Mutex::new(None),
            workers: Mutex::default(),
            share: Ledger::default(),
            services: Mutex::new(None),
            told: Mutex::default(),
        }
    }

    /// The judge of the task: the first one it was given. It remembers what the person allowed for the session,
    /// which is longer than one run.
    pub fn permission(&self, new: impl FnOnce() -> Arc<dyn PermissionJudge>) -> Arc<dyn PermissionJudge> {
        Arc::clone(self.permission.lock().get_or_insert_with(new))
    }

    /// The judge of the task, once it has one.
    pub fn judge(&self) -> Option<Arc<dyn PermissionJudge>> {
        self.permission.lock().clone()
    }

    /// Judges by another mode from the next call on.
    pub fn set_permission_mode(&self, mode: PermissionMode) {
        if let Some(judge) = self.permission.lock().as_ref() {
            judge.set_mode(mode);
        }
    }

    /// What needs approval now: the person's choice for this task, or what it began with.
    pub fn permission_mode(&self) -> PermissionMode {
        let chosen = self.read_summary(|summary| summary.permission_mode);
        let judged = || self.permission.lock().as_ref().map(|judge| judge.mode());
        chosen.or_else(judged).unwrap_or_default()
    }

    /// The document of the task's plan.
    pub fn plan_path(&self) -> Result<std::path::PathBuf> {
        Ok(self.home.plan_path(&self.task)?)
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
        if matches!(record.event, Event::Plan { .. } | Event::StepComplete { .. }) {
            self.plan.hold.follow(folds.summary.plan.as_ref());
        }
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

    /// The sub-task as hooks see it; `None` for a task that the person started.
    pub fn hook_agent(&self) -> Option<HookAgent> {
        self.parent()?;
        let TaskOrigin { task, name, .. } = self.origin();
        Some(HookAgent { id: task.to_string(), name })
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

    /// Uses the modes, sub-agents and limits of the settings from now on.
    pub fn use_settings(&self, settings: &RunSettings) {
        let mut workers = self.workers.lock();
        if workers.limits.parallel != settings.subtasks.parallel {
            workers.slots = Arc::new(Semaphore::new(settings.subtasks.parallel.max(1)));
        }
        workers.limits = settings.subtasks;
        workers.modes = Arc::clone(&settings.modes);
        workers.subagents = Arc::clone(&settings.subagents);
        workers.tools = settings.tools.clone();
    }

    pub fn workers(&self) -> Workers {
        self.workers.lock().clone()
    }

    pub fn modes(&self) -> Arc<Modes> {
        Arc::clone(&self.workers.lock().modes)
    }

    // ---- sub-tasks

    /// The task this one works for.
    pub fn parent(&self) -> Option<TaskId> {
        self.read_summary(|summary| summary.info.as_ref().and_then(|info| info.parent.clone()))
    }

    /// The task as requests to the person name it.
    pub fn origin(&self) -> TaskOrigin {
        self.read_summary(|summary| {
            let info = summary.info.as_ref();
            let agent = info.and_then(|info| info.agent.clone());
            TaskOrigin {
                task: self.task.clone(),
                number: info.map_or(0, |info| info.number),
                name: agent.unwrap_or_else(|| summary.mode.clone()),
            }
        })
    }

    /// The sub-task that a call without a result has started.
    pub fn started_subtask(&self, call: &ToolCallId) -> Option<TaskId> {
        self.read_summary(|summary| {
            let of_call = summary.open_subtasks.iter().find(|open| open.call_id == *call);
            of_call.map(|open| open.task.clone())
        })
    }

    /// Calls without a result, in the order in which they were made.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        self.folds.lock().history.open_calls().iter().map(|(_, call)| call.clone()).collect()
    }

    /// The share of the tree's budget that a sub-task may use; starts anew.
    pub fn set_share(&self, budget: Budget) {
        self.share.restart(budget);
    }

    /// Counts what a request used.
    pub fn spend(&self, usage: Usage) {
        self.tree.ledger.add(usage);
        self.share.add(usage);
    }

    /// Whether a sub-task has used up its share.
    pub fn check_share(&self) -> std::result::Result<(), Exhausted> {
        self.share.check()
    }

    /// What the person said after the goal and before a message, whether it is condensed or not.
    pub fn said_before(&self, message: Option<&MessageId>) -> Vec<String> {
        let folds = self.folds.lock();
        let is_before = |known: &&Arc<Message>| Some(&known.id) != message;
        let said = folds
            .history
            .originals()
            .iter()
            .take_while(is_before)
            .filter(|known| known.role == Role::User && !known.is_environment_details());
        said.skip(1).map(|known| known.said()).collect()
    }

    /// Whether something was condensed that can be undone.
    pub fn is_condensed(&self) -> bool {
        self.folds.lock().history.is_condensed()
    }

    /// Condenses the context before the next request.
    pub fn request_condensing(&self) {
        self.condense.store(true, Ordering::Relaxed);
    }

    pub fn take_condense_request(&self) -> bool {
        self.condense.swap(false, Ordering::Relaxed)
    }

    /// The newest call whose result holds this text.
    pub fn seen_in_result(&self, text: &str) -> Option<ToolCallId> {
        let folds = self.folds.lock();
        let newest = folds.history.originals().iter().rev();
        let mut results = newest.flat_map(|message| message.tool_results());
        results.find(|result| result.output.contains(text)).map(|result| result.call_id.clone())
    }

    /// The last words of the model.
    pub fn last_words(&self) -> Option<String> {
        let messages = self.messages();
        let words = messages.iter().rev().filter(|message| message.role == Role::Assistant);
        words.map(|message| message.text()).find(|text| !text.trim().is_empty())
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

    /// Claims the session for a run. One that belongs to a call of another task is cancelled with that call.
    pub fn begin_run(&self, within: Option<&CancellationToken>) -> Result<CancellationToken> {
        let mut control = self.control.lock();
        if control.running.is_some() {
            return Err(Error::Working { task: self.task.clone() });
        }
        let cancel = within.map_or_else(CancellationToken::new, CancellationToken::child_token);
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
