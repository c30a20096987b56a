//! The loop: think, act, observe, until there is an answer.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use stepwell_llm::{Model, Overflow, Request, RequestOptions, StopReason, WindowSize, WindowSource};
use stepwell_protocol::{
    AgentState, AnswerOrigin, CondenseReason, ErrorKind, ErrorReport, Event, Message, Part, PermissionMode,
    Question, QuestionId, QuestionKind, QuestionOption, RunEnd, TaskState, ToolCall, ToolResult,
};
use stepwell_tool_runtime::{CallEnv, CallKey, HookCall, Host, Outcome, RefusedBy};
use stepwell_transcript::runs_a_program;
use tokio_util::sync::CancellationToken;

use crate::condense::{CondenseParts, Condensed, Condenser};
use crate::context::DoesNotFit;
use crate::engine::Engine;
use crate::environment::EnvironmentSettings;
use crate::error::Result;
use crate::host::SessionHost;
use crate::library::Library;
use crate::overview::PendingOverview;
use crate::plan;
use crate::request::{Built, RequestBuilder, RequestParts, SystemPrompt};
use crate::session::Session;
use crate::surroundings::Noticed;
use crate::turn::{self, Received, Turn};

/// The mode in which a failure is looked at before anything is changed.
const DEBUG_MODE: &str = "debug";
/// How often in a row a context the server finds too long is shortened before the run fails. Without numbers of the
/// server each request is half as long as the one before.
const SHORTENINGS: u32 = 8;
/// How often an empty answer is asked for again.
const EMPTY_ANSWERS: u32 = 2;
/// How often hooks may send the model back to work at the end of a run.
const STOP_HOOK_ROUNDS: u32 = 3;

/// What a turn is made with. It changes when the person or the model switches mode or model while the run goes on.
pub struct TurnSetup {
    pub mode: String,
    pub permission_mode: PermissionMode,
    pub model: Arc<dyn Model>,
    pub model_name: String,
    pub system: SystemPrompt,
}

/// What a run is made with.
pub struct Run {
    pub engine: Engine,
    pub session: Arc<Session>,
    pub setup: RwLock<Arc<TurnSetup>>,
    pub env: CallEnv,
    pub host: Arc<SessionHost>,
    /// Given once, with the first turn that finds it ready.
    pub overview: tokio::sync::Mutex<PendingOverview>,
    /// Commands, skills and nested instructions of the workspace.
    pub library: Arc<dyn Library>,
    pub environment_settings: EnvironmentSettings,
    pub(crate) noticed: Mutex<Noticed>,
    pub options: RequestOptions,
    pub max_turns: Option<u32>,
    /// The share of the window at which the context is condensed; 0 for never.
    pub condense_percent: u64,
    pub cancel: CancellationToken,
}

/// Why a run must end after a tool call.
enum Halt {
    Hook(String),
    Loop(String),
}

impl Halt {
    fn of(outcome: &Outcome) -> Option<Self> {
        let reason = outcome.stop.clone()?;
        let by_guard = outcome.refused.as_ref().is_some_and(|refusal| refusal.by == RefusedBy::LoopGuard);
        Some(if by_guard { Self::Loop(reason) } else { Self::Hook(reason) })
    }

    /// How a run ends for this reason.
    async fn end(self, run: &Run) -> Result<RunEnd> {
        match self {
            Self::Hook(reason) => {
                run.notices(vec![format!("a hook stopped the run: {reason}")]).await?;
                Ok(RunEnd::Paused)
            }
            Self::Loop(message) => {
                let number = run.session.number();
                let hint =
                    Some(format!("say what to do differently: `stepwell run --resume {number} \"...\"`"));
                Ok(RunEnd::Stopped { error: ErrorReport { kind: ErrorKind::Loop, message, hint } })
            }
        }
    }
}

impl Run {
    /// Runs the loop to its end and records how it ended.
    pub async fn go(&self) -> Result<RunEnd> {
        tracing::info!(task = %self.session.task, "run begins");
        self.session.set_state(TaskState::Running).await?;
        let end = self.turns().await?;
        tracing::info!(task = %self.session.task, end = end.task_state().name(), "run ends");
        if end != RunEnd::Answered {
            self.session.show(Event::AgentStateChanged { state: AgentState::Idle });
        }
        match &end {
            // Recorded with the answer itself.
            RunEnd::Answered => {}
            RunEnd::Stopped { error } => {
                let content = self.progress(error);
                self.session
                    .record(vec![
                        Event::Error { error: error.clone() },
                        Event::StateChanged { state: TaskState::Paused },
                        Event::Answer {
                            message_id: stepwell_protocol::MessageId::generate(),
                            content,
                            origin: AnswerOrigin::Stopped,
                        },
                    ])
                    .await?;
            }
            RunEnd::Paused => self.session.set_state(TaskState::Paused).await?,
            RunEnd::Cancelled => {
                let error = ErrorReport {
                    kind: ErrorKind::Cancelled,
                    message: "the run was cancelled; what was received is kept".into(),
                    hint: Some(format!("go on with `stepwell run --resume {}`", self.session.number())),
                };
                self.session
                    .record(vec![Event::Error { error }, Event::StateChanged { state: TaskState::Aborted }])
                    .await?;
            }
            RunEnd::Failed { error } => {
                self.session
                    .record(vec![
                        Event::Error { error: error.clone() },
                        Event::StateChanged { state: TaskState::Failed },
                    ])
                    .await?;
            }
        }
        Ok(end)
    }

    fn setup(&self) -> Arc<TurnSetup> {
        Arc::clone(&self.setup.read())
    }

    /// Makes the next turn with the mode, model and permission mode that were chosen since the last one.
    async fn renew_setup(&self) -> Result<()> {
        let setup = self.setup();
        let is_current = self.session.read_summary(|summary| {
            let permission_mode = summary.permission_mode.unwrap_or(setup.permission_mode);
            summary.mode == setup.mode
                && summary.model == setup.model_name
                && permission_mode == setup.permission_mode
        });
        if !is_current {
            let workspace = self.engine.workspace_of(&self.session).await?;
            *self.setup.write() = Arc::new(Engine::turn_setup(&self.session, &workspace)?);
        }
        Ok(())
    }

    async fn turns(&self) -> Result<RunEnd> {
        let mut builder = RequestBuilder::default();
        let mut turns = 0_u32;
        let mut shortenings = 0;
        let mut empty_answers = 0;
        let mut stop_rounds = 0;
        let mut condenser = Condenser::default();
        if let Some(halt) = self.finish_subtasks().await? {
            return halt.end(self).await;
        }
        let mut plan_turn = plan::Turn::First;
        loop {
            if self.cancel.is_cancelled() {
                return Ok(RunEnd::Cancelled);
            }
            if self.session.pause_requested() {
                return Ok(RunEnd::Paused);
            }
            self.session.deliver_queued().await?;
            if let Err(error) = self.renew_setup().await {
                return Ok(RunEnd::Failed { error: error.report() });
            }
            let setup = self.setup();
            if let Some(end) = self.advance_plan(plan_turn).await? {
                return Ok(end);
            }
            plan_turn = plan::Turn::Later;
            if let Some(text) = self.overview.lock().await.if_ready(&self.env) {
                let message_id = stepwell_protocol::MessageId::generate();
                self.session.record(vec![Event::EnvironmentDetails { message_id, text }]).await?;
            }
            self.note_surroundings().await?;
            if let Some(limit) = self.max_turns.filter(|limit| turns >= *limit) {
                return Ok(RunEnd::Stopped {
                    error: ErrorReport {
                        kind: ErrorKind::MaxIterations,
                        message: format!("stopped after {limit} turns, the most this run may take"),
                        hint: Some(format!("go on with `stepwell run --resume {}`", self.session.number())),
                    },
                });
            }
            if let Some(end) = self.check_budget().await {
                return Ok(end);
            }
            let reason = self.session.take_condense_request().then_some(CondenseReason::Person);
            if self.condense(&mut builder, &mut condenser, reason).await? == Condensed::Cancelled {
                return Ok(RunEnd::Cancelled);
            }
            let request = match self.request(&mut builder).await? {
                Ok(request) => request,
                Err(end) => return Ok(end),
            };
            self.session.show(Event::AgentStateChanged { state: self.thinking_state() });
            let mut turn =
                match turn::receive(&self.session, setup.model.stream(request), &self.cancel).await? {
                    Received::Whole(turn) => turn,
                    Received::Cancelled => return Ok(RunEnd::Cancelled),
                    Received::Failed(error)
                        if error.kind == ErrorKind::LlmContextTooLong && shortenings < SHORTENINGS =>
                    {
                        shortenings += 1;
                        builder.refused(error.overflow);
                        self.notices(vec![too_long(error.overflow)]).await?;
                        let reason = (shortenings == 1).then_some(CondenseReason::Overflow);
                        self.condense(&mut builder, &mut condenser, reason).await?;
                        continue;
                    }
                    Received::Failed(error) => return Ok(RunEnd::Failed { error: error.report() }),
                };
            // A request that the server refused or that got lost was no turn.
            turns += 1;
            shortenings = 0;
            if let Some(usage) = turn.usage {
                builder.answered(&usage);
                self.session.spend(usage);
                self.env.permission.spent(usage.cost_usd.unwrap_or(0.0));
            }
            if !turn.calls.is_empty() {
                if let Some(halt) = self.act(turn).await? {
                    return halt.end(self).await;
                }
                if self.cancel.is_cancelled() {
                    return Ok(RunEnd::Cancelled);
                }
                if self.answers_plan() {
                    if let Some(result) = self.session.take_completion()
                        && let Some(end) = self.plan_answered(result, None).await?
                    {
                        return Ok(end);
                    }
                } else if let Some(result) = self.session.take_completion()
                    && self.may_stop(&mut stop_rounds).await?
                {
                    return self.answer(Vec::new(), None, result).await;
                }
                continue;
            }
            if turn.says_nothing() {
                empty_answers += 1;
                if let Some(usage) = turn.usage {
                    self.session
                        .record(vec![Event::Usage { model: setup.model_name.clone(), usage }])
                        .await?;
                }
                if empty_answers > EMPTY_ANSWERS {
                    return Ok(RunEnd::Failed { error: empty_answer(turn.stop) });
                }
                continue;
            }
            if self.answers_plan() {
                let text = turn.text();
                if let Some(end) = self.plan_answered(text, Some(turn)).await? {
                    return Ok(end);
                }
                continue;
            }
            // A message that came meanwhile is not left unanswered, and a hook may find the work unfinished.
            let queued = self.session.read_summary(|summary| !summary.queued.is_empty());
            if queued || !self.may_stop(&mut stop_rounds).await? {
                self.record_thought(turn).await?;
                continue;
            }
            if turn.stop == Some(StopReason::MaxTokens) {
                let text = "the answer was cut off at the model's output limit".to_owned();
                self.session.record(vec![Event::Notice { text }]).await?;
            }
            let text = turn.take_text();
            return self.answer(self.books(&turn), Some(turn), text).await;
        }
    }

    /// Condenses the context where a reason is given or where it has reached its share of the window.
    async fn condense(
        &self,
        builder: &mut RequestBuilder,
        condenser: &mut Condenser,
        reason: Option<CondenseReason>,
    ) -> Result<Condensed> {
        let setup = self.setup();
        let window = tokio::select! {
            window = setup.model.window() => window,
            () = self.cancel.cancelled() => return Ok(Condensed::Cancelled),
        };
        let tokens = builder.size(&self.parts(&setup, window), &self.session.messages());
        let is_due = condenser.is_due(tokens, window.tokens, self.condense_percent);
        let Some(reason) = reason.or_else(|| is_due.then_some(CondenseReason::Window)) else {
            return Ok(Condensed::Nothing);
        };
        let before = self.session.messages();
        let parts = CondenseParts {
            session: &self.session,
            services: &self.env.services,
            model: &setup.model,
            model_name: &setup.model_name,
            // A server that finds the context too long has a smaller window than was thought.
            window: if reason == CondenseReason::Overflow {
                window.tokens.min(tokens)
            } else {
                window.tokens
            },
            tokens,
            reason,
            cancel: &self.cancel,
        };
        let condensed = condenser.condense(&parts).await?;
        match &condensed {
            Condensed::Done => {
                let after = self.session.messages();
                let is_left_out =
                    |message: &&Arc<Message>| !after.iter().any(|kept| Arc::ptr_eq(kept, message));
                let left_out: Vec<Arc<Message>> = before.iter().filter(is_left_out).cloned().collect();
                self.forget_calls(&left_out);
            }
            Condensed::Failed(reason) => {
                self.notices(vec![format!("the context could not be condensed: {reason}")]).await?;
            }
            Condensed::Nothing | Condensed::Cancelled => {}
        }
        Ok(condensed)
    }

    /// Condenses the context once, because the person asked for it.
    pub async fn condense_by_hand(&self) -> Result<()> {
        let mut builder = RequestBuilder::default();
        let reason = Some(CondenseReason::Person);
        let condensed = self.condense(&mut builder, &mut Condenser::default(), reason).await?;
        if condensed == Condensed::Nothing {
            self.notices(vec!["there is nothing to condense yet".to_owned()]).await?;
        }
        Ok(())
    }

    fn parts<'p>(&'p self, setup: &'p TurnSetup, window: WindowSize) -> RequestParts<'p> {
        RequestParts {
            system: &setup.system,
            registry: self.env.services.executor.registry(),
            tools: &self.env.tools,
            options: &self.options,
            answer_limit: setup.model.info().max_output_tokens,
            window,
        }
    }

    /// Puts together the request, or says why there is none.
    async fn request(&self, builder: &mut RequestBuilder) -> Result<std::result::Result<Request, RunEnd>> {
        let setup = self.setup();
        let window = tokio::select! {
            window = setup.model.window() => window,
            () = self.cancel.cancelled() => return Ok(Err(RunEnd::Cancelled)),
        };
        let parts = self.parts(&setup, window);
        let history = self.session.messages();
        let detail = builder.detail();
        let built = match builder.build(&parts, &history) {
            Ok(built) => built,
            Err(misfit) => return Ok(Err(RunEnd::Failed { error: self.does_not_fit(&misfit, window) })),
        };
        let mut events = Vec::new();
        if builder.detail() != detail {
            let text = format!(
                "the window of `{}` has {} tokens; instructions and tools are told in short",
                setup.model_name, window.tokens
            );
            events.push(Event::Notice { text });
        }
        let Built { system, tools, options, fitted } = built;
        if fitted.clipped {
            let text = "a message is too long for the model's window; its middle is left out".to_owned();
            events.push(Event::Notice { text });
        }
        if fitted.moved && fitted.dropped > 0 {
            self.forget_calls(&history[..fitted.start]);
            events.push(Event::ContextTruncated {
                dropped_messages: fitted.dropped as u64,
                estimated_tokens: fitted.tokens,
            });
        }
        if !events.is_empty() {
            self.session.record(events).await?;
        }
        let deferred = self.env.tools.deferred_definitions(self.env.services.executor.registry());
        Ok(Ok(Request { system, messages: fitted.messages, tools, deferred, options }))
    }

    /// Tells the loop guard which results the model sees no more: it may ask for them again.
    fn forget_calls(&self, left_out: &[Arc<Message>]) {
        let registry = self.env.services.executor.registry();
        let calls = left_out.iter().flat_map(|message| message.tool_calls());
        let keys = calls.map(|call| {
            let tool = registry.get(&call.name);
            CallKey::new(tool.as_ref().map_or(&call.name, |tool| tool.name()), &call.arguments)
        });
        self.env.loop_guard.left_context(&self.env.task, &keys.collect());
    }

    fn does_not_fit(&self, misfit: &DoesNotFit, window: WindowSize) -> ErrorReport {
        let DoesNotFit { needed, room } = misfit;
        let (hint, assumed) = match window.source {
            WindowSource::Assumed => {
                ("set `context_window` of the model in the settings: its window is assumed", " (assumed)")
            }
            _ => ("send less at once, or choose a model with a larger window", ""),
        };
        ErrorReport {
            kind: ErrorKind::LlmContextTooLong,
            message: format!(
                "the newest messages alone need about {needed} tokens; `{}` has room for {room} of its window of \
                 {}{assumed}",
                self.setup().model_name,
                window.tokens
            ),
            hint: Some(hint.into()),
        }
    }

    /// What every turn puts into the books.
    pub(crate) fn books(&self, turn: &Turn) -> Vec<Event> {
        turn.usage
            .map(|usage| Event::Usage { model: self.setup().model_name.clone(), usage })
            .into_iter()
            .collect()
    }

    pub(crate) async fn record_thought(&self, turn: Turn) -> Result<()> {
        let mut events = self.books(&turn);
        events.push(Event::Thought { message_id: turn.message_id, parts: turn.parts });
        self.session.record(events).await
    }

    /// Runs the calls of a turn. Neighbouring read-only calls run side by side; each group's results are on
    /// the disk before the next group starts. Says whether the run must end here.
    async fn act(&self, turn: Turn) -> Result<Option<Halt>> {
        let calls = turn.calls.clone();
        let mut events = self.books(&turn);
        let message_id = turn.message_id;
        events.push(Event::Thought { message_id: message_id.clone(), parts: turn.parts });
        events.extend(
            turn.calls.into_iter().map(|call| Event::Action { message_id: message_id.clone(), call }),
        );
        self.session.record(events).await?;
        self.run_calls(&calls).await
    }

    /// Makes the calls again that a crash has parted from their sub-tasks. All others got a result when the task was
    /// opened.
    async fn finish_subtasks(&self) -> Result<Option<Halt>> {
        let calls = self.session.open_calls();
        if calls.is_empty() { Ok(None) } else { self.run_calls(&calls).await }
    }

    /// Runs calls and records their results, group by group.
    async fn run_calls(&self, calls: &[ToolCall]) -> Result<Option<Halt>> {
        let mut stop = None;
        for group in self.groups(calls) {
            let tools = group.iter().map(|call| call.name.clone()).collect();
            self.session.show(Event::AgentStateChanged { state: AgentState::Acting { tools } });
            let outcomes = self.env.services.executor.execute_batch(group, &self.env).await;
            stop = stop.or_else(|| outcomes.iter().find_map(Halt::of));
            let unseen = self.changes_unseen(&outcomes);
            let observations =
                outcomes.into_iter().map(|outcome| Event::Observation { result: outcome.result }).collect();
            self.session.record(observations).await?;
            if unseen {
                self.notices(vec!["files were changed before anything was run or looked into".into()])
                    .await?;
            }
        }
        Ok(stop)
    }

    /// Whether files were changed for the first time, in the mode that looks first, although nothing was looked at.
    fn changes_unseen(&self, outcomes: &[Outcome]) -> bool {
        let changes = |result: &ToolResult| {
            result.is_success() && result.detail.as_ref().is_some_and(|detail| !detail.files().is_empty())
        };
        if self.setup().mode != DEBUG_MODE || !outcomes.iter().any(|outcome| changes(&outcome.result)) {
            return false;
        }
        let history = self.session.messages();
        let calls: Vec<&ToolCall> = history.iter().flat_map(|message| message.tool_calls()).collect();
        let results = || history.iter().flat_map(|message| message.tool_results());
        let looked = results()
            .any(|result| calls.iter().any(|call| call.id == result.call_id && runs_a_program(call, result)));
        !looked && !results().any(changes)
    }

    fn groups<'a>(&self, calls: &'a [ToolCall]) -> Vec<&'a [ToolCall]> {
        let executor = &self.env.services.executor;
        calls.chunk_by(|a, b| executor.may_run_beside(a) && executor.may_run_beside(b)).collect()
    }

    pub(crate) async fn answer(
        &self,
        mut events: Vec<Event>,
        turn: Option<Turn>,
        content: String,
    ) -> Result<RunEnd> {
        let (message_id, origin) = match turn {
            Some(turn) => {
                let reasoning: Vec<Part> =
                    turn.parts.into_iter().filter(|part| matches!(part, Part::Reasoning { .. })).collect();
                if !reasoning.is_empty() {
                    events.push(Event::Thought { message_id: turn.message_id.clone(), parts: reasoning });
                }
                (turn.message_id, AnswerOrigin::Text)
            }
            None => (stepwell_protocol::MessageId::generate(), AnswerOrigin::Completion),
        };
        events.push(Event::StateChanged { state: TaskState::Completed });
        // Last, so that the answer is the final event of a run that succeeded.
        events.push(Event::Answer { message_id, content, origin });
        self.session.show(Event::AgentStateChanged { state: AgentState::Idle });
        self.session.record(events).await?;
        Ok(RunEnd::Answered)
    }

    /// Whether the run may end here; a hook can send the model back with a reason.
    async fn may_stop(&self, rounds: &mut u32) -> Result<bool> {
        if *rounds >= STOP_HOOK_ROUNDS {
            return Ok(true);
        }
        let active = *rounds > 0;
        let call = match self.session.hook_agent() {
            Some(agent) => HookCall::SubagentStop { agent, active },
            None => HookCall::Stop { active },
        };
        if !self.env.hooks.listens(call.event()) {
            return Ok(true);
        }
        let outcome = self.env.hooks.fire(&self.env.hook_facts, &call, &self.cancel).await;
        self.notices(outcome.notices).await?;
        if !outcome.blocked {
            return Ok(true);
        }
        *rounds += 1;
        let reason = outcome.reason.unwrap_or_else(|| "the work is not finished".into());
        let message = Message::user(format!("[A hook of the user's asks you to go on] {reason}"));
        self.session.record(vec![Event::MessageQueued { message }]).await?;
        Ok(false)
    }

    async fn notices(&self, texts: Vec<String>) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        self.session.record(texts.into_iter().map(|text| Event::Notice { text }).collect()).await
    }

    /// Asks the person when the budget is used up; stops where nobody can answer. A sub-task that has used up its share
    /// stops without a question: its parent decides how to go on.
    async fn check_budget(&self) -> Option<RunEnd> {
        if let Err(exhausted) = self.session.check_share() {
            return Some(RunEnd::Stopped {
                error: ErrorReport {
                    kind: exhausted.kind(),
                    message: format!("the sub-task's share of the budget is used up: {exhausted}"),
                    hint: None,
                },
            });
        }
        let exhausted = self.session.tree.ledger.check().err()?;
        let question = Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Continue,
            text: format!("The budget is used up: {exhausted}. Go on with as much again?"),
            context: None,
            options: ["Go on", "Stop"]
                .into_iter()
                .zip(["continue", "stop"])
                .map(|(label, id)| QuestionOption {
                    id: id.into(),
                    label: label.into(),
                    ..QuestionOption::default()
                })
                .collect(),
            allow_custom: false,
            default_option: None,
            timeout_seconds: None,
            from: None,
        };
        let answer = self.host.ask(question).await;
        if answer.option.as_deref() == Some("continue") {
            self.session.tree.ledger.extend();
            return None;
        }
        Some(RunEnd::Stopped {
            error: ErrorReport {
                kind: exhausted.kind(),
                message: format!("the budget is used up: {exhausted}"),
                hint: Some(format!(
                    "raise it and go on with `stepwell run --resume {} {} AMOUNT`",
                    self.session.number(),
                    exhausted.option()
                )),
            },
        })
    }

    /// How far a stopped run came, in words.
    fn progress(&self, error: &ErrorReport) -> String {
        if let Some(text) = self.plan_progress(error) {
            return text;
        }
        let last_words = self.session.last_words();
        let totals = self.session.read_summary(|summary| summary.totals);
        let calls = if totals.tool_calls == 1 { "tool call" } else { "tool calls" };
        let done = format!("{} {calls} so far, {} failed.", totals.tool_calls, totals.tool_errors);
        match last_words {
            Some(text) => format!("{}\n\n{done} The last words of the model:\n\n{text}", error.message),
            None => format!("{}\n\n{done}", error.message),
        }
    }
}

/// What the person is told when a server finds the context too long.
fn too_long(overflow: Overflow) -> String {
    let numbers = match (overflow.sent, overflow.limit) {
        (Some(sent), Some(limit)) => format!(" ({sent} tokens for a window of {limit})"),
        (None, Some(limit)) => format!(" for its window of {limit} tokens"),
        (Some(sent), None) => format!(" ({sent} tokens)"),
        (None, None) => String::new(),
    };
    format!("the server finds the context too long{numbers}; it is shortened")
}

fn empty_answer(stop: Option<StopReason>) -> ErrorReport {
    let (message, hint) = match stop {
        Some(StopReason::Refusal) => ("the model refused to answer", "say the request differently"),
        Some(StopReason::MaxTokens) => (
            "the model used its whole output limit without an answer",
            "raise `max_output_tokens` or lower `effort`",
        ),
        _ => ("the model gave an empty answer several times", "try again, or choose another model"),
    };
    ErrorReport { kind: ErrorKind::LlmProtocol, message: message.into(), hint: Some(hint.into()) }
}
