//! The one handle every door holds: commands in, events out.

mod commands;
mod person_calls;
mod queries;
mod restore;
mod runs;
mod setup;
mod slash;
mod subtasks;
mod views;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use stepwell_protocol::{
    Event, Part, PermissionMode, Seq, TaskId, TaskInfo, Timestamp, ToolCall, ToolCallId, Usage,
};
use stepwell_store::{Home, ModelHistory, OnDamage, TaskFolds, TaskLog};
use stepwell_tool_runtime::{Category, HookCall, PlanHold};
use stepwell_transcript::TaskSummary;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

pub(crate) use person_calls::{PersonCall, is_about_workspace};

use crate::connection::{Connection, connect};
use crate::error::{Error, Result, broken};
use crate::feed::Follower;
use crate::plan::Keeper;
use crate::presence::{Attendance, Presence};
use crate::session::{Session, SessionParts};
use crate::task_list::{TaskListFeed, TaskListFollower};
use crate::tree::Tree;
use crate::workspace::{AgentWorkspace, Start, WorkspaceSource};

/// Limits of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// How long a person who is there is waited for.
    pub approval_deadline: Duration,
    /// How long a person still counts as there whose connection is gone: a page that is loaded again comes back.
    pub absence: Duration,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { approval_deadline: Duration::from_secs(60), absence: Duration::ZERO }
    }
}

/// A cheap handle; clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    home: Home,
    workspaces: Arc<dyn WorkspaceSource>,
    options: EngineOptions,
    /// Open tasks, and those that are being opened.
    sessions: Mutex<HashMap<TaskId, Arc<OnceCell<Arc<Session>>>>>,
    /// What the trees of the open tasks share, by their roots.
    trees: Mutex<HashMap<TaskId, Weak<Tree>>>,
    list: Arc<TaskListFeed>,
    attendance: Arc<Attendance>,
}

/// A task that is to be made.
struct NewTask {
    task: TaskId,
    title: String,
    workspace: String,
    mode: Option<String>,
    agent: Option<String>,
    model: Option<String>,
    permission_mode: Option<PermissionMode>,
    parent: Option<TaskId>,
    /// The call of the parent that waits for it.
    call_id: Option<ToolCallId>,
}

impl Engine {
    pub fn new(home: Home, workspaces: Arc<dyn WorkspaceSource>, options: EngineOptions) -> Self {
        let inner = Inner {
            home,
            workspaces,
            options,
            sessions: Mutex::default(),
            trees: Mutex::default(),
            list: Arc::default(),
            attendance: Arc::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// A conversation with the engine in the messages of the protocol. Doors that know nothing else use this.
    pub fn connect(&self) -> Connection {
        connect(self.clone())
    }

    /// The task's events after a record, then what happens, until the task is closed.
    pub async fn follow(&self, task: &TaskId, after: Seq) -> Result<Follower> {
        self.open(task).await?.follow(after)
    }

    /// Says that a person is there to answer for a task, which need not exist yet, for as long as the presence is held.
    /// Without one, approvals and questions are decided by policy at once.
    pub fn attend(&self, task: &TaskId) -> Presence {
        self.inner.attendance.attend(task)
    }

    /// Lets a person go whose connection is gone.
    pub(crate) fn leave(&self, people: HashMap<TaskId, Presence>) {
        let absence = self.inner.options.absence;
        if !absence.is_zero() && !people.is_empty() {
            tokio::spawn(async move {
                tokio::time::sleep_until(tokio::time::Instant::now() + absence).await;
                drop(people);
            });
        }
    }

    /// Tasks as they are made, changed and deleted.
    pub fn follow_tasks(&self) -> TaskListFollower {
        self.inner.list.follow()
    }

    /// The session of a task that is open here.
    pub fn session(&self, task: &TaskId) -> Result<Arc<Session>> {
        let sessions = self.inner.sessions.lock();
        let open = sessions.get(task).and_then(|cell| cell.get().cloned());
        open.ok_or_else(|| Error::NotOpen { task: task.clone() })
    }

    /// Opens a task of the store, repairing what a crash left half done. Doors that open it at the same moment get the
    /// same session.
    pub async fn open(&self, task: &TaskId) -> Result<Arc<Session>> {
        let cell = Arc::clone(self.inner.sessions.lock().entry(task.clone()).or_default());
        let opened = cell.get_or_try_init(|| self.resume(task)).await.cloned();
        if opened.is_err() {
            let mut sessions = self.inner.sessions.lock();
            if sessions.get(task).is_some_and(|cell| cell.get().is_none()) {
                sessions.remove(task);
            }
        }
        opened
    }

    async fn resume(&self, task: &TaskId) -> Result<Arc<Session>> {
        let (home, id, workspaces) =
            (self.inner.home.clone(), task.clone(), Arc::clone(&self.inner.workspaces));
        let resumed = tokio::task::spawn_blocking(move || {
            let made_again = |folds: &TaskFolds, call: &ToolCall| starts_subtask(&*workspaces, folds, call);
            stepwell_store::resume_except(&home, &id, OnDamage::Refuse, &made_again)
        });
        let resumed = resumed.await.map_err(broken)??;
        let root = resumed.folds.transcript.summary.info.as_ref().map(|info| PathBuf::from(&info.workspace));
        // A task whose folder is gone can still be looked at; running it says what is wrong.
        let workspace = self.workspace(&root.unwrap_or_default()).await.ok();
        let summary = resumed.folds.transcript.summary;
        let tree = self.tree_of(&summary, workspace.as_ref()).await?;
        let hold = self.plan_hold(&summary, &tree).await?;
        Ok(self.hold(resumed.log, resumed.folds.model, summary, (tree, hold), workspace.as_ref()))
    }

    /// What the tree of a task shares. A tree of which no task is open has used what its logs say.
    async fn tree_of(&self, summary: &TaskSummary, workspace: Option<&AgentWorkspace>) -> Result<Arc<Tree>> {
        let root = summary.info.as_ref().map_or_else(TaskId::generate, |info| info.root.clone());
        if let Some(tree) = self.open_tree(&root) {
            return Ok(tree);
        }
        let (home, own, start) = (self.inner.home.clone(), summary.totals.usage, root.clone());
        let own_id = summary.info.as_ref().map(|info| info.id.clone());
        let used = tokio::task::spawn_blocking(move || tree_usage(&home, &start, own_id.as_ref(), own));
        let used = used.await.map_err(broken)?;
        // Another task of the tree may have been opened meanwhile.
        let mut trees = self.inner.trees.lock();
        if let Some(tree) = trees.get(&root).and_then(Weak::upgrade) {
            return Ok(tree);
        }
        let tree = Arc::new(Tree::new(workspace, used));
        trees.insert(root, Arc::downgrade(&tree));
        Ok(tree)
    }

    /// What the plans of a task and of those above it forbid.
    async fn plan_hold(&self, summary: &TaskSummary, tree: &Arc<Tree>) -> Result<Arc<PlanHold>> {
        let Some(info) = summary.info.clone() else { return Ok(Arc::default()) };
        let (home, tree) = (self.inner.home.clone(), Arc::clone(tree));
        tokio::task::spawn_blocking(move || tree.plans.of(&home, &info)).await.map_err(broken)
    }

    pub(crate) fn home(&self) -> &Home {
        &self.inner.home
    }

    fn open_tree(&self, root: &TaskId) -> Option<Arc<Tree>> {
        let mut trees = self.inner.trees.lock();
        trees.retain(|_, tree| tree.strong_count() > 0);
        trees.get(root).and_then(Weak::upgrade)
    }

    /// Opens the workspace of a folder, with the settings of that folder.
    pub async fn workspace(&self, root: &Path) -> Result<AgentWorkspace> {
        let (workspaces, root) = (Arc::clone(&self.inner.workspaces), root.to_path_buf());
        tokio::task::spawn_blocking(move || workspaces.open(&root)).await.map_err(broken)?
    }

    /// Tells the user's hooks that a session is over, then closes it.
    pub async fn end_session(&self, task: &TaskId) {
        let session = self.session(task).ok().filter(|session| session.hook_agent().is_none());
        if let Some(told) = session.and_then(|session| session.take_hooks()) {
            let call = HookCall::SessionEnd { reason: "other".into() };
            told.hooks.fire(&told.facts, &call, &CancellationToken::new()).await;
        }
        self.close(task);
    }

    /// Closes a task: its followers end, its log is free for other processes, and what runs in its workspace ends unless
    /// another task or door uses it.
    pub fn close(&self, task: &TaskId) {
        let cell = self.inner.sessions.lock().remove(task);
        if let Some(session) = cell.as_ref().and_then(|cell| cell.get()) {
            session.cancel();
            session.close();
        }
    }

    /// Ends every run, keeps what was received, closes every task and ends what runs in their workspaces.
    pub async fn finish(&self) {
        let open: Vec<Arc<Session>> = {
            let sessions = self.inner.sessions.lock();
            sessions.values().filter_map(|cell| cell.get().cloned()).collect()
        };
        for session in open {
            session.cancel();
            // A run ends its tools within their grace.
            session.run_end().await;
            if let Some(services) = session.services() {
                services.activity.close().await;
            }
            self.end_session(&session.task).await;
        }
    }

    async fn create(&self, new: NewTask) -> Result<Arc<Session>> {
        let workspace = self.workspace(Path::new(&new.workspace)).await?;
        let settings = &workspace.settings;
        let (mode, start) = settings.starting_mode(new.mode);
        let of_mode = settings.mode(&mode)?.model.clone();
        let model = new.model.or(of_mode).or_else(|| settings.default_model.clone()).ok_or_else(no_model)?;
        // A wrong name is told before anything is made.
        workspace.models.connect(&model)?;
        let parent = new.parent.as_ref().map(|parent| self.session(parent)).transpose()?;
        let root = parent.as_ref().and_then(|session| {
            session.read_summary(|summary| summary.info.as_ref().map(|info| info.root.clone()))
        });
        let (home, title, agent) = (self.inner.home.clone(), new.title, new.agent.clone());
        let (task, parent_id, folder) = (new.task, new.parent, new.workspace);
        let of_task = title.clone();
        let created = tokio::task::spawn_blocking(move || {
            let info = TaskInfo {
                root: root.unwrap_or_else(|| task.clone()),
                parent: parent_id,
                forked_from: None,
                number: home.allocate_number()?,
                title: of_task,
                mode,
                agent,
                model,
                workspace: folder,
                created_at: Timestamp::now(),
                id: task,
            };
            TaskLog::create(&home, info)
        });
        let opened = created.await.map_err(broken)??;
        let history = ModelHistory::of(&opened.records);
        let summary = TaskSummary::of(&opened.records);
        let tree = self.tree_of(&summary, Some(&workspace)).await?;
        let hold = self.plan_hold(&summary, &tree).await?;
        let session = self.hold(opened.log, history, summary, (tree, hold), Some(&workspace));
        let cell = Arc::new(OnceCell::new_with(Some(Arc::clone(&session))));
        self.inner.sessions.lock().insert(session.task.clone(), cell);
        if let Some(permission_mode) = new.permission_mode {
            session.record(vec![Event::PermissionModeChanged { permission_mode }]).await?;
        }
        if start == Start::WithPlan {
            Keeper { session: &session }.begin(&title).await?;
        }
        if let Some(parent) = parent {
            let (number, title, mode) = session.read_summary(|summary| {
                let info = summary.info.as_ref();
                (info.map_or(0, |info| info.number), summary.title.clone(), summary.mode.clone())
            });
            let (task, agent, call_id) = (session.task.clone(), new.agent, new.call_id);
            parent.record(vec![Event::SubtaskStarted { task, number, title, mode, agent, call_id }]).await?;
        }
        Ok(session)
    }

    fn hold(
        &self,
        log: TaskLog,
        history: ModelHistory,
        summary: TaskSummary,
        (tree, hold): (Arc<Tree>, Arc<PlanHold>),
        workspace: Option<&AgentWorkspace>,
    ) -> Arc<Session> {
        let session = Arc::new(Session::new(SessionParts {
            home: self.inner.home.clone(),
            log,
            history,
            summary,
            tree,
            hold,
            list: Arc::clone(&self.inner.list),
            attendance: Arc::clone(&self.inner.attendance),
        }));
        if let Some(workspace) = workspace {
            session.tools.replace(workspace.settings.tools.clone());
            session.hold(Arc::clone(&workspace.services));
        }
        self.inner.list.changed(&session.task);
        session
    }
}

/// Whether a call without a result starts a sub-task. It is made again, and finds the sub-task if there is one already.
fn starts_subtask(workspaces: &dyn WorkspaceSource, folds: &TaskFolds, call: &ToolCall) -> bool {
    let summary = &folds.transcript.summary;
    if summary.open_subtasks.iter().any(|open| open.call_id == call.id) {
        return true;
    }
    let Some(info) = &summary.info else { return false };
    let Ok(workspace) = workspaces.open(Path::new(&info.workspace)) else { return false };
    let tool = workspace.services.executor.registry().get(&call.name);
    tool.is_some_and(|tool| tool.spec().category == Category::Subtasks)
}

/// What a task and its sub-tasks have used, by their logs. `own` is the task that is open and what it has used.
fn tree_usage(home: &Home, root: &TaskId, own_id: Option<&TaskId>, own: Usage) -> Usage {
    let mut used = own;
    let mut known: HashSet<TaskId> = own_id.cloned().into_iter().collect();
    let mut waiting = vec![root.clone()];
    let mut looked_at = HashSet::new();
    while let Some(task) = waiting.pop() {
        if !looked_at.insert(task.clone()) {
            continue;
        }
        // A task that was deleted has taken its books with it.
        let Ok(records) = stepwell_store::read_log(home, &task) else { continue };
        for record in &records {
            match &record.event {
                Event::Usage { usage, .. } if !known.contains(&task) => used += *usage,
                Event::SubtaskStarted { task, .. } => waiting.push(task.clone()),
                _ => {}
            }
        }
        known.insert(task);
    }
    used
}

fn no_model() -> Error {
    Error::Setup {
        message: "no model is chosen".into(),
        hint: Some(
            "give one with `--model PROVIDER/MODEL`, or set `model` in the settings; `stepwell models` lists what is reachable"
                .into(),
        ),
    }
}

/// The first line of the prompt, short enough for a list.
fn title_of(prompt: &[Part]) -> String {
    const LONGEST: usize = 80;
    let text = prompt.iter().find_map(|part| match part {
        Part::Text { text } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let line = text.and_then(|text| text.lines().next()).unwrap_or("untitled");
    let mut title: String = line.chars().take(LONGEST).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}
