//! Servers for tests, the client that uses them, and a person who answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use stepwell_mcp::client::{
    LaunchProgram, Origin, ServerConfig, ServerEntry, ServerState, Servers, ServersOptions,
};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, PermissionMode, Question,
    QuestionAnswer, TaskId, TodoItem, ToolCall, ToolCallId,
};
use stepwell_tool_runtime::{
    ArtifactWriter, CallEnv, CallSetup, Executor, ExecutorOptions, Hooks, Host, HostError, JudgeOptions,
    JudgePlaces, LoopGuard, LoopLimits, Outcome, Redactor, Registry, RuleJudge, ToolGate, WorkspaceServices,
};
use stepwell_workspace::process::ProgramCall;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Waits are for events; this bounds those that do not come.
pub const DEADLINE: Duration = Duration::from_secs(30);

struct PlainLaunch;

impl LaunchProgram for PlainLaunch {
    fn prepare(&self, call: ProgramCall, _sandbox: bool) -> Result<ProgramCall, String> {
        Ok(call)
    }
}

/// A person who says yes, and answers questions with a fixed option.
#[derive(Default)]
pub struct Person {
    pub shown: parking_lot::Mutex<Vec<String>>,
    pub saw: Notify,
    pub approvals: parking_lot::Mutex<Vec<ApprovalRequest>>,
    pub questions: parking_lot::Mutex<Vec<Question>>,
    pub option: parking_lot::Mutex<Option<String>>,
    pub refuses: bool,
}

#[async_trait]
impl Host for Person {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        self.approvals.lock().push(request);
        let answer = if self.refuses { ApprovalAnswer::no(None) } else { ApprovalAnswer::yes() };
        (answer, ApprovalSource::Person)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        self.questions.lock().push(question);
        let option = self.option.lock().clone();
        let by = if option.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody };
        QuestionAnswer::new(option, None, by)
    }

    fn show(&self, event: Event) {
        if let Event::ToolProgress { text, .. } = event {
            self.shown.lock().push(text);
            self.saw.notify_one();
        }
    }

    async fn record(&self, _: Event) -> Result<(), HostError> {
        Ok(())
    }

    fn todo(&self) -> Vec<TodoItem> {
        Vec::new()
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        Err(HostError("there is none".into()))
    }

    fn artifact_added(&self, _: &Artifact) {}

    fn complete(&self, _: String) {}
}

struct NoArtifacts;

#[async_trait]
impl ArtifactWriter for NoArtifacts {
    async fn write(&self, _: &Path, _: &[u8]) -> Result<(), HostError> {
        Ok(())
    }
}

/// A workspace with the client, and nothing else.
pub struct ClientWorld {
    pub folder: tempfile::TempDir,
    pub registry: Arc<Registry>,
    pub servers: Arc<Servers>,
    pub services: Arc<WorkspaceServices>,
}

impl ClientWorld {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), stepwell_test_support::MCP_SERVER).unwrap();
        std::fs::write(folder.path().join("log"), "").unwrap();
        let registry = Arc::new(Registry::new());
        let options = ServersOptions {
            roots: vec![folder.path().to_path_buf()],
            launch: Arc::new(PlainLaunch),
            removed_variables: vec!["CARGO_MANIFEST_DIR".to_owned()],
            tokens: folder.path().join("tokens"),
            http: HttpClient::new(Timeouts::STANDARD),
            version: "0".to_owned(),
        };
        let servers = Servers::new(options, &registry);
        let executor = Executor::new(Arc::clone(&registry), ExecutorOptions::standard(Arc::new(NoArtifacts)));
        let services = WorkspaceServices::new(
            folder.path().to_path_buf(),
            Arc::new(executor),
            Arc::new(Redactor::new()),
        );
        Self { folder, registry, servers, services: Arc::new(services) }
    }

    /// The entry of a scripted server.
    pub fn entry(&self, script: &Value) -> ServerEntry {
        let path = |name: &str| self.folder.path().join(name).to_string_lossy().into_owned();
        let entry = json!({
            "command": "python3",
            "args": [path("server.py"), script.to_string(), path("log")],
            "startup_timeout": 20,
        });
        serde_json::from_value(entry).unwrap()
    }

    pub fn config(&self, name: &str, entry: &ServerEntry, origin: Origin) -> ServerConfig {
        entry.resolve(name, origin, self.folder.path(), |_| None).unwrap()
    }

    /// Starts one server of the person's own and waits until it is ready or will not be.
    pub async fn start(&self, script: Value) {
        self.servers.apply(vec![self.config("test", &self.entry(&script), Origin::User)]);
        self.servers.settled().await;
    }

    pub fn state(&self) -> ServerState {
        self.servers.statuses()[0].state.clone()
    }

    /// What the server received, a line each.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Waits until the log has a line that begins so, `count` times.
    pub async fn logged(&self, beginning: &str, count: usize) {
        let found = || self.log().lines().filter(|line| line.starts_with(beginning)).count() >= count;
        self.until(found).await;
    }

    /// Waits until something holds; what happens in another process sends no event here.
    pub async fn until(&self, holds: impl Fn() -> bool) {
        let waiting = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(10));
            while !holds() {
                ticks.tick().await;
            }
        };
        let met = tokio::time::timeout(DEADLINE, waiting).await;
        assert!(met.is_ok(), "it did not happen; the server's log:\n{}", self.log());
    }

    pub fn env(&self, person: &Arc<Person>, cancel: CancellationToken, rules: &str) -> CallEnv {
        let places = JudgePlaces {
            roots: vec![self.folder.path().to_string_lossy().into_owned()],
            ..JudgePlaces::default()
        };
        let rules: stepwell_tool_runtime::PermissionSettings = serde_json::from_str(rules).unwrap();
        let rules = rules.rules(stepwell_tool_runtime::RuleSource::User, &places).unwrap();
        let judge = JudgeOptions {
            mode: PermissionMode::Default,
            rules,
            auto_approve: stepwell_tool_runtime::AutoApprove::default(),
            asked_for: Vec::new(),
            places,
            keeper: None,
        };
        let setup = CallSetup {
            task: TaskId::generate(),
            host: Arc::clone(person) as _,
            cancel,
            permission: Arc::new(RuleJudge::new(judge)),
            loop_guard: Arc::new(LoopGuard::new(LoopLimits::OFF)),
            hooks: Arc::new(Hooks::none()),
            permission_mode: PermissionMode::Default,
            transcript_path: PathBuf::new(),
            tools: Arc::new(ToolGate::default()),
        };
        CallEnv::new(Arc::clone(&self.services), setup)
    }

    /// Calls a tool as the model would.
    pub async fn call(&self, person: &Arc<Person>, name: &str, arguments: Value) -> Outcome {
        self.call_with(self.env(person, CancellationToken::new(), "{}"), name, arguments).await
    }

    pub async fn call_with(&self, env: CallEnv, name: &str, arguments: Value) -> Outcome {
        let call = ToolCall { id: ToolCallId::generate(), name: name.to_owned(), arguments, opaque: None };
        let running = self.services.executor.execute(&call, &env);
        tokio::time::timeout(DEADLINE, running).await.expect("the call ends")
    }

    /// Calls a tool and gives its text.
    pub async fn text(&self, name: &str, arguments: Value) -> String {
        self.call(&Arc::default(), name, arguments).await.result.output
    }
}
