//! An engine over a temporary home, a model that plays a script, and tools that count their calls.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_agent::prompt::Instructions;
use stepwell_agent::subagent::SubtaskLimits;
use stepwell_agent::{
    AgentWorkspace, Budget, Engine, EngineOptions, EnvironmentSettings, ModelSource, NoLibrary, PlanApproval,
    RunSettings, Session, WorkspaceSource,
};
use stepwell_llm::{
    Delta, DeltaStream, Error, Model, ModelInfo, Overflow, Request, RequestOptions, StopReason, WindowSource,
};
use stepwell_protocol::{
    Command, ErrorClass, ErrorKind, ErrorReport, Event, EventRecord, ModelItem, Part, PermissionMode,
    Preview, Risk, RunEnd, Seq, TaskId, ToolCallId, Usage,
};
use stepwell_store::Home;
use stepwell_store::checkpoints::CheckpointLimits;
use stepwell_tool_runtime::{
    ArtifactWriter, Category, Executor, ExecutorOptions, Hooks, HostError, JudgeOptions, LoopLimits, Planned,
    Redactor, Registry, SubtaskRequest, SubtaskWorker, Tool, ToolContext, ToolError, ToolOutput, ToolSet,
    ToolSpec, WorkspaceLookup, WorkspacePolicy, WorkspaceServices,
};
use tokio::sync::{Barrier, Notify, watch};

/// One step of a script.
#[derive(Clone)]
pub enum Step {
    Give(Delta),
    Fail(Error),
    /// Waits for ever, after telling [`Harness::reached`].
    Hang,
    /// Waits for the others of the barrier.
    Meet(Arc<Barrier>),
    /// Does something.
    Then(Arc<dyn Fn() + Send + Sync>),
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Give(delta) => write!(f, "{delta:?}"),
            Self::Fail(error) => write!(f, "{error:?}"),
            Self::Hang => f.write_str("Hang"),
            Self::Meet(_) => f.write_str("Meet"),
            Self::Then(_) => f.write_str("Then"),
        }
    }
}

/// Chooses the script by the request; where it gives none, the next of the list is played.
pub type Answer = Arc<dyn Fn(&Request) -> Option<Vec<Step>> + Send + Sync>;

/// A model that plays one script per request and remembers what it was asked.
pub struct ScriptedModel {
    info: ModelInfo,
    turns: Mutex<VecDeque<Vec<Step>>>,
    answer: Option<Answer>,
    pub requests: Mutex<Vec<Request>>,
    hanging: Arc<Notify>,
    server: Option<CountingServer>,
    /// Delays the first delta of every request while set.
    held: watch::Sender<bool>,
}

impl ScriptedModel {
    /// Keeps every request unanswered until [`Self::release`].
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    pub fn release(&self) {
        self.held.send_replace(false);
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let refusal = self.server.as_ref().and_then(|server| server.refusal(&request));
        let chosen = self.answer.as_ref().and_then(|answer| answer(&request));
        self.requests.lock().push(request);
        if let Some(refusal) = refusal {
            return futures::stream::iter([Err(refusal)]).boxed();
        }
        let next = || self.turns.lock().pop_front().unwrap_or_else(|| say("the script is at its end"));
        let steps = chosen.unwrap_or_else(next);
        let hanging = Arc::clone(&self.hanging);
        let mut held = self.held.subscribe();
        let begin = async move {
            // The sender lives as long as the model.
            held.wait_for(|held| !held).await.ok();
            futures::stream::iter(steps)
        };
        futures::stream::once(begin)
            .flatten()
            .filter_map(move |step| {
                let hanging = Arc::clone(&hanging);
                async move {
                    match step {
                        Step::Give(delta) => Some(Ok(delta)),
                        Step::Fail(error) => Some(Err(error)),
                        Step::Hang => {
                            hanging.notify_one();
                            std::future::pending().await
                        }
                        Step::Meet(barrier) => {
                            barrier.wait().await;
                            None
                        }
                        Step::Then(act) => {
                            act();
                            None
                        }
                    }
                }
            })
            .boxed()
    }
}

/// A server that counts tokens in its own way and refuses what is too long.
#[derive(Clone, Copy, Debug)]
pub struct CountingServer {
    pub limit: u64,
    /// Whether a refusal names the limit and what was sent.
    pub tells_limit: bool,
    pub tells_sent: bool,
}

impl CountingServer {
    /// About twice what is estimated.
    pub fn count(request: &Request) -> u64 {
        let messages = request.messages.iter().flat_map(|message| &message.parts).map(|part| match part {
            Part::Text { text } => text.len(),
            Part::ToolCall { call } => call.arguments.to_string().len(),
            Part::ToolResult { result } => result.output.len(),
            _ => 0,
        });
        let tools =
            request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.to_string().len());
        (messages.chain(tools).sum::<usize>() + request.system.len()) as u64 / 2
    }

    fn refusal(self, request: &Request) -> Option<Error> {
        let sent = Self::count(request);
        (sent > self.limit).then(|| {
            let mut error = Error::new(ErrorKind::LlmContextTooLong, "the conversation is too long");
            error.overflow = Overflow {
                limit: self.tells_limit.then_some(self.limit),
                sent: self.tells_sent.then_some(sent),
            };
            error
        })
    }
}

/// A turn that only says something.
pub fn say(text: &str) -> Vec<Step> {
    vec![Step::Give(Delta::Text(text.into())), usage(10, 5), Step::Give(Delta::Stop(StopReason::EndTurn))]
}

/// A turn that calls tools.
pub fn call(calls: &[(&str, Value)]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, (name, arguments)) in calls.iter().enumerate() {
        steps.push(Step::Give(Delta::CallStart { index, id: ToolCallId::generate(), name: (*name).into() }));
        steps.push(Step::Give(Delta::CallArguments { index, json: arguments.to_string() }));
        steps.push(Step::Give(Delta::CallEnd { index, opaque: None }));
    }
    steps.push(usage(10, 5));
    steps.push(Step::Give(Delta::Stop(StopReason::ToolCalls)));
    steps
}

pub fn usage(input: u64, output: u64) -> Step {
    let cost = 0.001 * (input + output) as f64;
    Step::Give(Delta::Usage(Usage {
        input_tokens: input,
        output_tokens: output,
        cost_usd: Some(cost),
        ..Usage::default()
    }))
}

/// Gives back what it is given.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct EchoInput {
    pub text: String,
}

#[derive(Serialize, JsonSchema)]
pub struct EchoOutput {
    text: String,
}

impl ToolOutput for EchoOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

/// `look` reads, `touch` writes, `fail` fails, `finish` completes the task.
struct SmallTool {
    name: &'static str,
    risk: Risk,
    calls: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for SmallTool {
    type Input = EchoInput;
    type Plan = EchoInput;
    type Output = EchoOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name,
            aliases: &[],
            category: Category::Files,
            risk: self.risk,
            time_limit: Duration::from_secs(5),
            output_limit: 10_000,
        }
    }

    async fn plan(&self, _ctx: &ToolContext, input: EchoInput) -> Planned<EchoInput> {
        let preview = Preview { summary: format!("{} {}", self.name, input.text), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: EchoInput) -> Result<EchoOutput, ToolError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match self.name {
            "fail" => Err(ToolError::new(ErrorClass::ExecutionError, format!("cannot {}", input.text))),
            "finish" => {
                ctx.host.complete(input.text.clone());
                Ok(EchoOutput { text: "done".into() })
            }
            _ => Ok(EchoOutput { text: format!("saw {}", input.text) }),
        }
    }
}

/// `task` gives work to a sub-agent, `new_task` to a mode, as the tools of these names do.
struct SubtaskTool {
    name: &'static str,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct SubtaskInput {
    agent: Option<String>,
    mode: Option<String>,
    #[schemars(extend("x-aliases" = ["message"]))]
    prompt: String,
}

#[async_trait]
impl Tool for SubtaskTool {
    type Input = SubtaskInput;
    type Plan = SubtaskRequest;
    type Output = EchoOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name,
            aliases: &[],
            category: Category::Subtasks,
            risk: Risk::Execute,
            time_limit: Duration::MAX,
            output_limit: 10_000,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: SubtaskInput) -> Planned<SubtaskRequest> {
        let agent = input.agent.map(SubtaskWorker::Agent);
        let request = SubtaskRequest {
            call_id: ctx.call_id.clone(),
            worker: agent.or(input.mode.map(SubtaskWorker::Mode)).unwrap(),
            title: None,
            prompt: input.prompt,
            todos: Vec::new(),
        };
        match ctx.host.check_subtask(&request.call_id, &request.worker) {
            Ok(check) => {
                let within_rights = check.exceeds.is_none();
                Planned::ready(Preview { within_rights, ..Preview::default() }, request)
            }
            Err(error) => Planned::new(Preview::default(), Err(ToolError::validation(error.0))),
        }
    }

    async fn run(&self, ctx: &ToolContext, request: SubtaskRequest) -> Result<EchoOutput, ToolError> {
        let result = ctx.host.run_subtask(request).await.map_err(|error| ToolError::execution(error.0))?;
        let text = match result.end {
            RunEnd::Answered => result.text,
            RunEnd::Stopped { error } | RunEnd::Failed { error } => format!("has not finished: {error:?}"),
            RunEnd::Paused | RunEnd::Cancelled => return Err(ToolError::interrupted("cancelled")),
        };
        Ok(EchoOutput { text })
    }

    fn runs_side_by_side(&self) -> bool {
        true
    }
}

struct NoArtifacts;

#[async_trait]
impl ArtifactWriter for NoArtifacts {
    async fn write(&self, _path: &Path, _content: &[u8]) -> Result<(), HostError> {
        Ok(())
    }
}

/// Workspaces that all have the same tools.
struct TestWorkspaces {
    services: Arc<WorkspaceServices>,
    mode: PermissionMode,
    settings: RunSettings,
    models: Arc<OneModel>,
}

impl WorkspaceSource for TestWorkspaces {
    fn open(&self, _root: &Path) -> stepwell_agent::Result<AgentWorkspace> {
        Ok(AgentWorkspace {
            services: Arc::clone(&self.services),
            policy: WorkspacePolicy {
                judge: JudgeOptions::for_mode(self.mode),
                hooks: Arc::new(Hooks::none()),
            },
            settings: self.settings.clone(),
            models: Arc::clone(&self.models) as _,
            instructions: Arc::new(|_: &str| Ok(Instructions::default())),
            library: Arc::new(NoLibrary),
        })
    }
}

struct OneModel(Arc<ScriptedModel>);

#[async_trait]
impl ModelSource for OneModel {
    fn connect(&self, name: &str) -> Result<Arc<dyn Model>, Error> {
        if name.starts_with("unknown/") {
            return Err(Error::new(ErrorKind::LlmUnknownModel, format!("there is no `{name}`")));
        }
        Ok(self.0.clone())
    }

    async fn list(&self) -> Vec<ModelItem> {
        vec![ModelItem {
            name: "test/scripted".into(),
            context_window: self.0.info.context_window,
            window_assumed: false,
            images: true,
            input_price: None,
            output_price: None,
        }]
    }
}

/// How a run ended, with its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Answered(String),
    Stopped(ErrorReport),
    Paused,
    Cancelled,
    Failed(ErrorReport),
}

/// What a test sets up differently.
pub struct Setup {
    pub turns: Vec<Vec<Step>>,
    pub answer: Option<Answer>,
    /// The mode of the task.
    pub task_mode: Option<&'static str>,
    pub mode: PermissionMode,
    /// How long a person who follows the task is waited for.
    pub approval_deadline: Duration,
    pub absence: Duration,
    pub max_turns: Option<u32>,
    pub plan_approval: PlanApproval,
    /// Whether the model has the plan tools.
    pub plans: bool,
    pub budget: Budget,
    pub window: u64,
    pub server: Option<CountingServer>,
    pub loop_limits: LoopLimits,
    pub subtasks: SubtaskLimits,
    /// Never by default.
    pub condense_percent: u64,
    /// What is known of the workspace's code; nothing by default.
    pub lookup: Option<Arc<dyn WorkspaceLookup>>,
    /// Whether the model is told what changed around it.
    pub environment: bool,
}

impl Setup {
    pub fn new(turns: Vec<Vec<Step>>) -> Self {
        Self {
            turns,
            answer: None,
            task_mode: None,
            mode: PermissionMode::BypassPermissions,
            approval_deadline: Duration::from_secs(60),
            absence: Duration::ZERO,
            max_turns: None,
            plan_approval: PlanApproval::Ask,
            plans: false,
            budget: Budget::default(),
            window: 100_000,
            server: None,
            loop_limits: LoopLimits::STANDARD,
            subtasks: SubtaskLimits::default(),
            condense_percent: 0,
            lookup: None,
            environment: false,
        }
    }
}

pub struct Harness {
    pub engine: Engine,
    pub model: Arc<ScriptedModel>,
    pub task: TaskId,
    pub calls: Arc<AtomicUsize>,
    /// Told when the model hangs.
    pub reached: Arc<Notify>,
    pub home: Home,
    pub folder: Arc<tempfile::TempDir>,
    pub workspaces: Arc<dyn WorkspaceSource>,
}

impl Harness {
    pub fn new(setup: Setup) -> Self {
        Self::in_folder(setup, Arc::new(tempfile::tempdir().unwrap()), TaskId::generate())
    }

    /// A second engine on the same home, as after a crash.
    pub fn restart(self, setup: Setup) -> Self {
        let (folder, task) = (Arc::clone(&self.folder), self.task.clone());
        self.engine.close(&task);
        drop(self);
        Self::in_folder(setup, folder, task)
    }

    /// An engine on what was on the disk at this instant, as after a crash of the machine.
    pub fn crash(self, setup: Setup) -> Self {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(self.folder.path(), copy.path());
        let task = self.task.clone();
        self.engine.close(&task);
        Self::in_folder(setup, Arc::new(copy), task)
    }

    pub fn in_folder(setup: Setup, folder: Arc<tempfile::TempDir>, task: TaskId) -> Self {
        let reached = Arc::new(Notify::new());
        let model = Arc::new(ScriptedModel {
            info: ModelInfo {
                provider: "test".into(),
                id: "scripted".into(),
                context_window: setup.window,
                window_source: WindowSource::Settings,
                max_output_tokens: Some(100),
                images: true,
                price: None,
            },
            turns: Mutex::new(setup.turns.into()),
            answer: setup.answer.clone(),
            requests: Mutex::default(),
            hanging: Arc::clone(&reached),
            server: setup.server,
            held: watch::Sender::new(false),
        });
        let calls = Arc::new(AtomicUsize::new(0));
        let registry = Arc::new(Registry::new());
        for (name, risk) in
            [("look", Risk::Read), ("touch", Risk::Write), ("fail", Risk::Read), ("finish", Risk::Control)]
        {
            registry.register(Arc::new(SmallTool { name, risk, calls: Arc::clone(&calls) })).unwrap();
        }
        let subtask_tools = if setup.answer.is_some() { &["task", "new_task"][..] } else { &[] };
        for name in subtask_tools {
            registry.register(Arc::new(SubtaskTool { name })).unwrap();
        }
        for name in crate::plan_tools::NAMES.into_iter().filter(|_| setup.plans) {
            registry.register(Arc::new(crate::plan_tools::PlanTool(name))).unwrap();
        }
        let home = Home::new(folder.path());
        let executor = Executor::new(registry, ExecutorOptions::standard(Arc::new(NoArtifacts)));
        let mut services =
            WorkspaceServices::new("/work".into(), Arc::new(executor), Arc::new(Redactor::new()));
        if let Some(lookup) = setup.lookup {
            services.lookup = lookup;
        }
        let workspaces = TestWorkspaces {
            services: Arc::new(services),
            mode: setup.mode,
            settings: RunSettings {
                default_model: Some("test/scripted".into()),
                default_mode: setup.task_mode.unwrap_or("code").into(),
                modes: Arc::default(),
                subagents: Arc::default(),
                subtasks: setup.subtasks,
                max_turns: setup.max_turns,
                condense_percent: setup.condense_percent,
                budget: setup.budget,
                request: RequestOptions::default(),
                loop_limits: setup.loop_limits,
                tools: ToolSet::all(),
                checkpoints: CheckpointLimits::default(),
                plan_approval: setup.plan_approval,
                in_force: Vec::new(),
                date: "2026-11-15".into(),
                environment: EnvironmentSettings { enabled: setup.environment, now: || "now".into() },
            },
            models: Arc::new(OneModel(Arc::clone(&model))),
        };
        let options = EngineOptions { approval_deadline: setup.approval_deadline, absence: setup.absence };
        let workspaces: Arc<dyn WorkspaceSource> = Arc::new(workspaces);
        let engine = Engine::new(home.clone(), Arc::clone(&workspaces), options);
        Self { engine, model, task, calls, reached, home, folder, workspaces }
    }

    /// Another engine on the same store, as another process would have.
    pub fn engine_beside(&self) -> Engine {
        Engine::new(self.home.clone(), Arc::clone(&self.workspaces), EngineOptions::default())
    }

    pub async fn start(&self, prompt: &str) -> Arc<Session> {
        self.start_in(prompt, None).await
    }

    /// Starts the task in a mode.
    pub async fn start_in(&self, prompt: &str, mode: Option<&str>) -> Arc<Session> {
        let command = Command::StartTask {
            task: self.task.clone(),
            prompt: vec![Part::text(prompt)],
            workspace: "/work".into(),
            mode: mode.map(str::to_owned),
            model: None,
            permission_mode: None,
            parent: None,
        };
        self.engine.submit(command).await.unwrap();
        self.engine.session(&self.task).unwrap()
    }

    /// Starts the task, waits for its end, and gives the end and every event, transient ones too.
    pub async fn run(&self, prompt: &str) -> (Ended, Vec<EventRecord>) {
        // The model waits for the follower, so that every token is seen.
        self.model.hold();
        let session = self.start(prompt).await;
        let mut follower = self.engine.follow(&self.task, Seq(0)).await.unwrap();
        self.model.release();
        let end = self.run_end(&session).await.unwrap();
        session.close();
        let mut events = Vec::new();
        while let Some(record) = follower.next().await.unwrap() {
            events.push(EventRecord::clone(&record));
        }
        (end, events)
    }

    /// Waits for the end of the run; the answer is the log's.
    pub async fn run_end(&self, session: &Session) -> Option<Ended> {
        let end = session.run_end().await?;
        Some(match end {
            RunEnd::Answered => Ended::Answered(self.last_answer()),
            RunEnd::Stopped { error } => Ended::Stopped(error),
            RunEnd::Paused => Ended::Paused,
            RunEnd::Cancelled => Ended::Cancelled,
            RunEnd::Failed { error } => Ended::Failed(error),
        })
    }

    fn last_answer(&self) -> String {
        let answer = self.log().into_iter().rev().find_map(|event| match event {
            Event::Answer { content, .. } => Some(content),
            _ => None,
        });
        answer.expect("an answer in the log")
    }

    /// The durable events, from the disk.
    pub fn log(&self) -> Vec<Event> {
        stepwell_store::read_log(&self.home, &self.task)
            .unwrap()
            .into_iter()
            .map(|record| record.event)
            .collect()
    }
}

#[allow(clippy::disallowed_methods, reason = "tests lay out their own files")]
fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

pub fn text_argument(text: &str) -> Value {
    json!({ "text": text })
}
