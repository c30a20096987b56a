//! From a message to a run of the loop.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use stepwell_llm::RequestOptions;
use stepwell_protocol::{Event, Message, Part, Role, RunEnd};
use stepwell_tool_runtime::{CallEnv, CallSetup, HookCall, HookOutcome, RuleJudge};
use tokio_util::sync::CancellationToken;

use super::{Engine, no_model};
use crate::error::{Error, Result};
use crate::host::SessionHost;
use crate::mode::Mode;
use crate::overview::PendingOverview;
use crate::prompt::{Instruction, InstructionSource, PromptFacts, brief_prompt, system_prompt};
use crate::react::{Run, TurnSetup};
use crate::request::SystemPrompt;
use crate::session::{Session, SessionHooks};
use crate::subagent::Subagent;
use crate::workspace::AgentWorkspace;

impl Engine {
    /// Says something in a task: queued while it works, else the start of a run.
    pub(super) async fn say(&self, session: &Arc<Session>, parts: Vec<Part>) -> Result<()> {
        let parts = self.with_command(session, parts).await?;
        let message = Message::new(Role::User, parts);
        if session.is_running() {
            return session.record(vec![Event::MessageQueued { message }]).await;
        }
        self.start_run(session, Some(message)).await
    }

    /// Says the first words of a sub-task, whose run ends with the call that started it.
    pub(super) async fn say_within(
        &self,
        session: &Arc<Session>,
        parts: Vec<Part>,
        cancel: &CancellationToken,
    ) -> Result<()> {
        self.start_run_within(session, Some(Message::new(Role::User, parts)), Some(cancel)).await
    }

    /// Starts the loop, with a new message or without.
    pub(super) async fn start_run(&self, session: &Arc<Session>, message: Option<Message>) -> Result<()> {
        self.start_run_within(session, message, None).await
    }

    /// Starts the loop, which is cancelled with `within` where it is given.
    pub(super) async fn start_run_within(
        &self,
        session: &Arc<Session>,
        message: Option<Message>,
        within: Option<&CancellationToken>,
    ) -> Result<()> {
        let queued = session.read_summary(|summary| !summary.queued.is_empty());
        if message.is_none() && !queued && session.messages().is_empty() {
            return Err(Error::Setup {
                message: format!("task `{}` has no message to go on from", session.task),
                hint: Some("say something in it, or start a new task".into()),
            });
        }
        let cancel = session.begin_run(within)?;
        let run = match self.prepare(session, cancel).await {
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
        let engine = self.clone();
        tokio::spawn(async move {
            let end = match run.go().await {
                Ok(end) => end,
                // The log itself failed: nothing more can be recorded, so it is only shown.
                Err(error) => {
                    let error = error.report();
                    run.session.show(Event::Error { error: error.clone() });
                    RunEnd::Failed { error }
                }
            };
            engine.tell_parent(&run.session, &end).await;
            run.session.end_run(Some(end));
        });
        Ok(())
    }

    /// Condenses the context of a task: before the next request where it works, else at once, in a run of its own.
    pub(super) async fn condense(&self, session: &Arc<Session>) -> Result<()> {
        if session.is_running() {
            session.request_condensing();
            return Ok(());
        }
        let cancel = session.begin_run(None)?;
        let run = match self.prepare(session, cancel).await {
            Ok(run) => run,
            Err(error) => {
                session.end_run(None);
                return Err(error);
            }
        };
        tokio::spawn(async move {
            let end = match run.condense_by_hand().await {
                Ok(()) => RunEnd::Paused,
                Err(error) => RunEnd::Failed { error: error.report() },
            };
            run.session.end_run(Some(end));
        });
        Ok(())
    }

    /// Puts the end of a sub-task's run into the log of its parent, where that is open.
    async fn tell_parent(&self, session: &Session, end: &RunEnd) {
        let parent =
            session.read_summary(|summary| summary.info.as_ref().and_then(|info| info.parent.clone()));
        let Some(parent) = parent.and_then(|parent| self.session(&parent).ok()) else { return };
        let event = Event::SubtaskEnded { task: session.task.clone(), end: end.clone() };
        // The sub-task's own log has it in any case.
        parent.record(vec![event]).await.ok();
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
        let overview = run.overview.lock().await.with_first_message(&run.env).await;
        message.parts.extend(overview.map(|text| Part::surroundings(&text)));
        let mut events = vec![Event::UserMessage { message }];
        events.extend(outcome.notices.into_iter().map(|text| Event::Notice { text }));
        run.session.record(events).await
    }

    /// Tells the user's hooks that a session begins, once.
    async fn session_started(&self, run: &Run) -> HookOutcome {
        let told = SessionHooks { hooks: Arc::clone(&run.env.hooks), facts: run.env.hook_facts.clone() };
        if !run.session.begin_hooks(told) {
            return HookOutcome::default();
        }
        let source = if run.session.messages().is_empty() { "startup" } else { "resume" };
        let call = match run.session.hook_agent() {
            Some(agent) => HookCall::SubagentStart { agent },
            None => HookCall::SessionStart { source: source.into() },
        };
        run.env.hooks.fire(&run.env.hook_facts, &call, &run.cancel).await
    }

    /// The workspace a task belongs to.
    pub(crate) async fn workspace_of(&self, session: &Session) -> Result<AgentWorkspace> {
        let root = session.read_summary(|summary| {
            summary.info.as_ref().map(|info| PathBuf::from(&info.workspace)).unwrap_or_default()
        });
        self.workspace(&root).await
    }

    /// What the next turn is made with, by the settings of the workspace and what was chosen for the task.
    pub(crate) fn turn_setup(session: &Session, workspace: &AgentWorkspace) -> Result<TurnSetup> {
        let AgentWorkspace { services, policy, settings, models, instructions, library } = workspace;
        let (mode, model_name, chosen) = session
            .read_summary(|summary| (summary.mode.clone(), summary.model.clone(), summary.permission_mode));
        if model_name.is_empty() {
            return Err(no_model());
        }
        let model = models.connect(&model_name)?;
        let permission_mode = chosen.unwrap_or(policy.judge.mode);
        let slug = mode;
        session.use_settings(settings);
        let subagent = session.read_summary(|summary| summary.info.as_ref()?.agent.clone());
        let (mode, tools) = if let Some(name) = &subagent {
            let subagent = settings.subagents.find(name)?;
            (Arc::new(subagent.mode()), subagent.tool_set(settings.tools.clone(), &settings.modes))
        } else {
            let mode = settings.mode(&slug)?;
            let tools = settings.tools.clone().showing(mode.shown_tools.iter().cloned());
            let tools = tools.speaking(mode.vocabulary);
            (Arc::clone(mode), tools.within_mode(settings.modes.limits(mode)))
        };
        let mode = &mode;
        let skills = library.skills().listing(&slug);
        let tools = match skills {
            Some(_) => tools,
            // Where there is no skill, the tool that loads them need not cost anything.
            None => tools.deferring([], ["skill_loader".to_owned()]),
        };
        session.tools.replace(tools);
        let mut instructions = instructions.instructions(&slug)?;
        instructions.items.extend(mode.instructions.as_ref().map(|text| Instruction {
            source: InstructionSource::Mode(mode.slug.clone()),
            text: text.clone(),
        }));
        let registry = services.executor.registry();
        let guidance = session.tools.guidance(registry);
        let can_switch = registry.get("switch_mode").is_some_and(|tool| session.tools.check(&tool).is_ok());
        let modes: Vec<Arc<Mode>> =
            if can_switch { settings.modes.all().cloned().collect() } else { Vec::new() };
        let can_delegate = registry.get("task").is_some_and(|tool| session.tools.check(&tool).is_ok());
        let subagents: Vec<Arc<Subagent>> =
            if can_delegate { settings.subagents.all().cloned().collect() } else { Vec::new() };
        let can_load = registry.get("skill_loader").is_some_and(|tool| session.tools.check(&tool).is_ok());
        let skills = skills.filter(|_| can_load);
        let facts = PromptFacts {
            mode,
            skills: skills.as_deref(),
            modes: &modes,
            subagents: &subagents,
            workspace: &services.root,
            extra_roots: &services.extra_roots,
            instructions: &instructions,
            guidance: &guidance,
            permission_mode,
            attended: session.is_attended(),
            date: &settings.date,
        };
        let system = SystemPrompt { full: system_prompt(&facts).into(), brief: brief_prompt(&facts).into() };
        Ok(TurnSetup { mode: slug, permission_mode, model, model_name, system })
    }

    async fn prepare(&self, session: &Arc<Session>, cancel: CancellationToken) -> Result<Run> {
        let workspace = self.workspace_of(session).await?;
        session.hold(Arc::clone(&workspace.services));
        let overview = PendingOverview::start(&workspace.services, &session.messages(), &cancel);
        let setup = Self::turn_setup(session, &workspace)?;
        let AgentWorkspace { services, policy, settings, library, .. } = workspace;
        let agent = session.read_summary(|summary| summary.info.as_ref()?.agent.clone());
        let max_turns = match agent {
            Some(name) => settings.subagents.find(&name)?.max_turns,
            None => None,
        };
        session.tree.ledger.set_budget(settings.budget);
        session.plan.use_approval(settings.plan_approval);
        let permission_mode = setup.permission_mode;
        let deadline = self.inner.options.approval_deadline;
        // Whoever follows the root of the tree is asked what its sub-tasks ask.
        let root = session.read_summary(|summary| summary.info.as_ref().map(|info| info.root.clone()));
        let asked = root.filter(|root| *root != session.task).and_then(|root| self.session(&root).ok());
        let host = Arc::new(SessionHost {
            engine: self.clone(),
            asked: asked.unwrap_or_else(|| Arc::clone(session)),
            session: Arc::clone(session),
            cancel: cancel.clone(),
            deadline,
        });
        // What the person allows for the session holds for the whole tree.
        let parent = session.parent().and_then(|parent| self.session(&parent).ok());
        let inherited =
            parent.and_then(|parent| parent.judge()).filter(|judge| judge.mode() == permission_mode);
        let permission = session.permission(|| {
            if let Some(judge) = inherited {
                return judge;
            }
            let mut options = policy.judge.clone();
            options.mode = permission_mode;
            Arc::new(RuleJudge::new(options))
        });
        let call_setup = CallSetup {
            task: session.task.clone(),
            host: host.clone(),
            cancel: cancel.clone(),
            permission,
            loop_guard: Arc::clone(&session.tree.loop_guard),
            hooks: policy.hooks,
            permission_mode,
            transcript_path: self.inner.home.log_path(&session.task)?,
            tools: Arc::clone(&session.tools),
        };
        Ok(Run {
            engine: self.clone(),
            session: Arc::clone(session),
            setup: RwLock::new(Arc::new(setup)),
            env: CallEnv::new(services, call_setup),
            host,
            overview: tokio::sync::Mutex::new(overview),
            library,
            environment_settings: settings.environment,
            noticed: Mutex::default(),
            options: RequestOptions { cache_key: Some(session.task.to_string()), ..settings.request },
            max_turns: max_turns.or(settings.max_turns),
            condense_percent: settings.condense_percent,
            cancel,
        })
    }
}
