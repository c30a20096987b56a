//! The one handle every door holds: commands in, events out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use stepwell_llm::{Model, RequestOptions};
use stepwell_protocol::{
    Command, Event, Message, Part, PermissionMode, Role, Seq, TaskId, TaskInfo, Timestamp,
};
use stepwell_store::{Home, ModelHistory, OnDamage, TaskLog, TaskSummary};
use stepwell_tool_runtime::{
    CallEnv, Checkpoints, Executor, HookCall, HookFacts, HookOutcome, Hooks, LoopGuard, LoopLimits,
    PermissionJudge, Redactor,
};
use tokio_util::sync::CancellationToken;

use crate::budget::{Budget, Ledger};
use crate::error::{Error, Result};
use crate::feed::Follower;
use crate::host::SessionHost;
use crate::prompt::{Instructions, PromptFacts, system_prompt};
use crate::react::{Run, RunEnd};
use crate::session::{Attendance, Session, SessionHooks};

/// Where models come from.
pub trait ModelSource: Send + Sync {
    /// Finds a model by its `PROVIDER/MODEL` name; nothing is sent yet.
    fn connect(&self, name: &str) -> std::result::Result<Arc<dyn Model>, stepwell_llm::Error>;
}

/// What the agent works with in one workspace.
pub struct Workbench {
    pub executor: Arc<Executor>,
    pub permission: Arc<dyn PermissionJudge>,
    pub permission_mode: PermissionMode,
    pub hooks: Arc<Hooks>,
    pub redactor: Arc<Redactor>,
    pub instructions: Instructions,
    pub extra_roots: Vec<PathBuf>,
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    pub overview: Option<Arc<dyn Overview>>,
}

/// What there is in a workspace, told with the first message of a task.
#[async_trait]
pub trait Overview: Send + Sync {
    /// Nothing where there is nothing to tell, or where it takes too long to find out.
    async fn overview(&self, cancel: &CancellationToken) -> Option<String>;
}

/// Where workbenches come from: the assembly knows the tools, the engine does not.
pub trait WorkbenchSource: Send + Sync {
    fn open(&self, workspace: &Path, mode: &str) -> Result<Workbench>;
}

/// Limits and defaults of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    pub attendance: Attendance,
    pub default_model: Option<String>,
    pub default_mode: String,
    pub known_modes: Vec<String>,
    pub max_turns: Option<u32>,
    pub budget: Budget,
    pub request: RequestOptions,
    pub loop_limits: LoopLimits,
    /// `2026-11-15`, for the prompt.
    pub date: String,
}

/// A cheap handle; clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    home: Home,
    models: Arc<dyn ModelSource>,
    workbenches: Arc<dyn WorkbenchSource>,
    options: EngineOptions,
    sessions: Mutex<HashMap<TaskId, Arc<Session>>>,
}

impl Engine {
    pub fn new(
        home: Home,
        models: Arc<dyn ModelSource>,
        workbenches: Arc<dyn WorkbenchSource>,
        options: EngineOptions,
    ) -> Self {
        Self { inner: Arc::new(Inner { home, models, workbenches, options, sessions: Mutex::default() }) }
    }

    /// Carries out a command. What takes long (a run) goes on after this returns; its events tell.
    pub async fn submit(&self, command: Command) -> Result<()> {
        match command {
            Command::StartTask { task, prompt, workspace, mode, model, parent } => {
                let session = self.create(task, &prompt, workspace, mode, model, parent)?;
                self.say(&session, prompt).await
            }
            Command::SendMessage { task, parts } => {
                let session = self.open(&task)?;
                self.say(&session, parts).await
            }
            Command::ResumeTask { task } => {
                let session = self.open(&task)?;
                self.start_run(&session, None).await
            }
            Command::Cancel { task } => {
                self.session(&task)?.cancel();
                Ok(())
            }
            Command::Pause { task } => {
                self.session(&task)?.request_pause();
                Ok(())
            }
            Command::Approve { task, approval, answer } => {
                self.session(&task)?.answer_approval(&approval, answer)
            }
            Command::AnswerQuestion { task, question, answer } => {
                self.session(&task)?.answer_question(&question, answer)
            }
            Command::ForkTask { task, new_task, message } => {
                stepwell_store::fork(&self.inner.home, &task, &new_task, message.as_ref())?;
                Ok(())
            }
            Command::EditMessage { task, message, parts } => {
                let session = self.open(&task)?;
                if session.is_running() {
                    return Err(Error::Working { task });
                }
                session.record(vec![Event::HistoryRewound { to_before: message }])?;
                self.say(&session, parts).await
            }
            Command::RenameTask { task, title } => {
                self.open(&task)?.record(vec![Event::TaskRenamed { title }])
            }
            Command::SetFavourite { task, favourite } => {
                self.open(&task)?.record(vec![Event::FavouriteChanged { favourite }])
            }
            Command::SetModel { task, model } => {
                self.inner.models.connect(&model)?;
                self.open(&task)?.record(vec![Event::ModelChanged { model }])
            }
            Command::DeleteTask { task } => {
                if let Some(session) = self.inner.sessions.lock().remove(&task) {
                    session.cancel();
                    session.close();
                }
                stepwell_store::delete_task(&self.inner.home, &task)?;
                Ok(())
            }
        }
    }

    /// The task's events after `from`, then live ones, until the task is closed.
    pub fn follow(&self, task: &TaskId, from: Seq) -> Result<Follower> {
        self.open(task)?.follow(from)
    }

    /// The session of a task that is open here.
    pub fn session(&self, task: &TaskId) -> Result<Arc<Session>> {
        self.inner.sessions.lock().get(task).cloned().ok_or_else(|| Error::NotOpen { task: task.clone() })
    }

    /// Tells the user's hooks that a session is over, then closes it.
    pub async fn end_session(&self, task: &TaskId) {
        if let Some(told) = self.session(task).ok().and_then(|session| session.take_hooks()) {
            let call = HookCall::SessionEnd { reason: "other".into() };
            told.hooks.fire(&told.facts, &call, &CancellationToken::new()).await;
        }
        self.close(task);
    }

    /// Closes a task: its followers end, its log is free for other processes.
    pub fn close(&self, task: &TaskId) {
        if let Some(session) = self.inner.sessions.lock().remove(task) {
            session.cancel();
            session.close();
        }
    }

    fn create(
        &self,
        task: TaskId,
        prompt: &[Part],
        workspace: String,
        mode: Option<String>,
        model: Option<String>,
        parent: Option<TaskId>,
    ) -> Result<Arc<Session>> {
        let options = &self.inner.options;
        let mode = mode.unwrap_or_else(|| options.default_mode.clone());
        if !options.known_modes.contains(&mode) {
            return Err(Error::UnknownMode { mode, known: options.known_modes.join(", ") });
        }
        let model = model.or_else(|| options.default_model.clone()).ok_or_else(no_model)?;
        // A wrong name is told before anything is made.
        self.inner.models.connect(&model)?;
        let parent_session = parent.as_ref().map(|parent| self.session(parent)).transpose()?;
        let root = match &parent_session {
            Some(session) => {
                session.read_summary(|summary| summary.info.as_ref().map(|info| info.root.clone()))
            }
            None => None,
        };
        let info = TaskInfo {
            root: root.unwrap_or_else(|| task.clone()),
            parent,
            forked_from: None,
            number: self.inner.home.allocate_number()?,
            title: title_of(prompt),
            mode,
            model,
            workspace,
            created_at: Timestamp::now(),
            id: task,
        };
        let opened = TaskLog::create(&self.inner.home, info)?;
        let history = ModelHistory::of(&opened.records);
        let summary = TaskSummary::of(&opened.records);
        Ok(self.hold(opened.log, history, summary, parent_session.as_deref()))
    }

    /// Opens a task of the store, repairing what a crash left half done.
    pub fn open(&self, task: &TaskId) -> Result<Arc<Session>> {
        if let Ok(session) = self.session(task) {
            return Ok(session);
        }
        let resumed = stepwell_store::resume(&self.inner.home, task, OnDamage::Refuse)?;
        Ok(self.hold(resumed.log, resumed.folds.model, resumed.folds.summary, None))
    }

    fn hold(
        &self,
        log: TaskLog,
        history: ModelHistory,
        summary: TaskSummary,
        parent: Option<&Session>,
    ) -> Arc<Session> {
        let options = &self.inner.options;
        // A sub-task spends from its parent's purse and is watched by the same guard.
        let (ledger, guard) = match parent {
            Some(parent) => (Arc::clone(&parent.ledger), Arc::clone(&parent.loop_guard)),
            None => (
                Arc::new(Ledger::new(options.budget, stepwell_protocol::Usage::default())),
                Arc::new(LoopGuard::new(options.loop_limits)),
            ),
        };
        let session = Arc::new(Session::new(
            self.inner.home.clone(),
            log,
            history,
            summary,
            options.attendance,
            ledger,
            guard,
        ));
        self.inner.sessions.lock().insert(session.task.clone(), Arc::clone(&session));
        session
    }

    /// Says something in a task: queued while it works, else the start of a run.
    async fn say(&self, session: &Arc<Session>, parts: Vec<Part>) -> Result<()> {
        let message = Message::new(Role::User, parts);
        if session.is_running() {
            return session.record(vec![Event::MessageQueued { message }]);
        }
        self.start_run(session, Some(message)).await
    }

    /// Starts the loop, with a new message or without.
    async fn start_run(&self, session: &Arc<Session>, message: Option<Message>) -> Result<()> {
        let queued = session.read_summary(|summary| !summary.queued.is_empty());
        if message.is_none() && !queued && session.messages().is_empty() {
            return Err(Error::Setup {
                message: format!("task `{}` has no message to go on from", session.task),
                hint: Some("say something in it, or start a new task".into()),
            });
        }
        let cancel = session.begin_run()?;
        let run = match self.prepare(session, cancel) {
            Ok(run) => run,
            Err(error) => {
                session.end_run(None);
                return Err(error);
            }
        };
        if let Err(error) = self.accept(&run, message).await {
            session.end_run(None);
            return Err(error);
        }
        tokio::spawn(async move {
            let end = match run.go().await {
                Ok(end) => end,
                // The log itself failed: nothing more can be recorded, so it is only shown.
                Err(error) => {
                    let error = error.report();
                    run.session.show(Event::Error { error: error.clone() });
                    RunEnd::Failed(error)
                }
            };
            run.session.end_run(Some(end));
        });
        Ok(())
    }

    /// Records the message that starts a run, once the user's hooks let it pass.
    async fn accept(&self, run: &Run, message: Option<Message>) -> Result<()> {
        let started = self.session_started(run).await;
        let Some(mut message) = message else { return Ok(()) };
        let call = HookCall::UserPromptSubmit { prompt: message.text() };
        let mut outcome = run.env.hooks.fire(&run.env.hook_facts, &call, &run.cancel).await;
        outcome.additional_context.splice(0..0, started.additional_context);
        outcome.notices.splice(0..0, started.notices);
        if outcome.blocked {
            let reason = outcome.reason.unwrap_or_else(|| "it gave no reason".into());
            return Err(Error::Setup {
                message: format!("a hook refused the message: {reason}"),
                hint: Some("the hooks are listed by `stepwell config show`".into()),
            });
        }
        message.parts.extend(outcome.additional_context.into_iter().map(Part::text));
        if let Some(overview) = run.overview.as_ref().filter(|_| run.session.messages().is_empty()) {
            let overview = overview.overview(&run.cancel).await;
            message.parts.extend(overview.map(|text| Part::surroundings(&run.env.redactor.redact(&text))));
        }
        let mut events = vec![Event::UserMessage { message }];
        events.extend(outcome.notices.into_iter().map(|text| Event::Notice { text }));
        run.session.record(events)
    }

    /// Tells the user's hooks that a session begins, once.
    async fn session_started(&self, run: &Run) -> HookOutcome {
        let told = SessionHooks { hooks: Arc::clone(&run.env.hooks), facts: run.env.hook_facts.clone() };
        if !run.session.begin_hooks(told) {
            return HookOutcome::default();
        }
        let source = if run.session.messages().is_empty() { "startup" } else { "resume" };
        let call = HookCall::SessionStart { source: source.into() };
        run.env.hooks.fire(&run.env.hook_facts, &call, &run.cancel).await
    }

    fn prepare(&self, session: &Arc<Session>, cancel: CancellationToken) -> Result<Run> {
        let inner = &self.inner;
        let (workspace, mode, model_name) = session.read_summary(|summary| {
            let info = summary.info.as_ref();
            (
                info.map(|info| PathBuf::from(&info.workspace)).unwrap_or_default(),
                summary.mode.clone(),
                summary.model.clone(),
            )
        });
        // An imported task may not say which model it was made with.
        let model_name = if model_name.is_empty() {
            inner.options.default_model.clone().ok_or_else(no_model)?
        } else {
            model_name
        };
        let model = inner.models.connect(&model_name)?;
        let bench = inner.workbenches.open(&workspace, &mode)?;
        let system = system_prompt(&PromptFacts {
            mode: &mode,
            workspace: &workspace,
            extra_roots: &bench.extra_roots,
            instructions: &bench.instructions,
            attended: inner.options.attendance != Attendance::Headless,
            date: &inner.options.date,
        });
        let host = Arc::new(SessionHost { session: Arc::clone(session), cancel: cancel.clone() });
        let env = CallEnv {
            task: session.task.clone(),
            host: host.clone(),
            cancel: cancel.clone(),
            permission: session.permission(bench.permission),
            loop_guard: Arc::clone(&session.loop_guard),
            hooks: bench.hooks,
            hook_facts: HookFacts {
                session_id: session.task.to_string(),
                transcript_path: inner.home.log_path(&session.task)?,
                cwd: workspace.clone(),
                permission_mode: bench.permission_mode,
            },
            redactor: bench.redactor,
            checkpoints: bench.checkpoints,
        };
        Ok(Run {
            session: Arc::clone(session),
            model,
            model_name,
            executor: bench.executor,
            env,
            host,
            system: system.into(),
            options: RequestOptions {
                cache_key: Some(session.task.to_string()),
                ..inner.options.request.clone()
            },
            max_turns: inner.options.max_turns,
            overview: bench.overview,
            cancel,
        })
    }
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
