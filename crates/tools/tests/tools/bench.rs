//! A workspace with the built-in tools behind an executor, and a host that remembers.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use expect_test::Expect;
use parking_lot::Mutex;
use serde_json::Value;
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, PermissionMode, Question,
    QuestionAnswer, TodoItem, ToolCall,
};
use stepwell_tool_runtime::{
    CallEnv, CallSetup, Executor, ExecutorOptions, Hooks, Host, HostError, JudgeOptions, JudgePlaces,
    LoopGuard, LoopLimits, Outcome, Redactor, Registry, RuleJudge, WorkspaceServices,
};
use stepwell_tools::catalog::{self, CatalogOptions};
use stepwell_tools::ports::ArtifactFiles;
use stepwell_tools::{BackgroundCommands, Confinement};
use stepwell_workspace::{Workspace, files};
use tokio_util::sync::CancellationToken;

/// A host that remembers, answers with the first option, and has a folder for artifacts.
pub struct TestHost {
    pub artifacts: PathBuf,
    pub todo: Mutex<Vec<TodoItem>>,
    pub asked: Mutex<Vec<Question>>,
    pub approvals: Mutex<Vec<ApprovalRequest>>,
    pub live: Mutex<String>,
    pub completed: Mutex<Option<String>>,
}

#[async_trait]
impl Host for TestHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        self.approvals.lock().push(request);
        (ApprovalAnswer::no(None), ApprovalSource::Policy)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        let option = question.options.first().map(|option| option.id.clone());
        let by = if option.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody };
        self.asked.lock().push(question);
        QuestionAnswer::new(option, None, by)
    }

    fn show(&self, event: Event) {
        if let Event::ToolOutput { chunk, .. } = event {
            self.live.lock().push_str(&chunk);
        }
    }

    async fn record(&self, event: Event) -> Result<(), HostError> {
        if let Event::Todo { items } = event {
            *self.todo.lock() = items;
        }
        Ok(())
    }

    fn todo(&self) -> Vec<TodoItem> {
        self.todo.lock().clone()
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        Ok(self.artifacts.clone())
    }

    fn artifact_added(&self, _: &Artifact) {}

    fn complete(&self, result: String) {
        *self.completed.lock() = Some(result);
    }
}

pub struct Bench {
    pub folder: tempfile::TempDir,
    pub host: Arc<TestHost>,
    pub executor: Executor,
    pub env: CallEnv,
}

pub fn bench(mode: PermissionMode) -> Bench {
    bench_with(mode, |_| {})
}

/// A bench whose tools have other options.
pub fn bench_with(mode: PermissionMode, change: impl FnOnce(&mut CatalogOptions)) -> Bench {
    bench_around(mode, &[], change)
}

/// A bench whose folder has files before it is opened.
pub fn bench_around(
    mode: PermissionMode,
    content: &[(&str, &str)],
    change: impl FnOnce(&mut CatalogOptions),
) -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    let (root, artifacts) = (folder.path().join("ws"), folder.path().join("artifacts"));
    for path in [&root, &artifacts] {
        files::create_private_dir(path).expect("made");
    }
    for (name, text) in content {
        files::write_atomic(&root.join(name), text.as_bytes(), files::Privacy::Shared).expect("written");
    }
    let workspace = Workspace::open(&root, &[]).expect("opened");
    let registry = Arc::new(Registry::new());
    // Every test has this variable: `cargo` sets it.
    let mut options = CatalogOptions {
        removed_variables: vec!["CARGO_PKG_NAME".to_owned()],
        // The sandbox is tested through the product, whose binary is its launcher.
        code_indexes: folder.path().join("indexes"),
        language_servers: None,
        embeddings: None,
        unfinished_edits: folder.path().join("edits"),
        confinement: Confinement::Off { reason: "a test of the tools alone".into() },
        own_program: None,
        trusted: false,
        variables: None,
        test_results: folder.path().join("tests"),
        library: None,
        images: None,
    };
    change(&mut options);
    let debugger =
        stepwell_tools::DebugService::new(workspace.clone(), &stepwell_tools::DebugOptions::default());
    let code = catalog::code_service(&workspace, &options);
    registry
        .register_all(catalog::builtin(
            &workspace,
            &options,
            &debugger,
            &code,
            &BackgroundCommands::default(),
        ))
        .expect("registered");
    let host = Arc::new(TestHost {
        artifacts,
        todo: Mutex::default(),
        asked: Mutex::default(),
        approvals: Mutex::default(),
        live: Mutex::default(),
        completed: Mutex::default(),
    });
    let executor = Executor::new(registry, ExecutorOptions::standard(Arc::new(ArtifactFiles)));
    let services =
        WorkspaceServices::new(root.clone(), Arc::new(executor.clone()), Arc::new(Redactor::new()));
    let setup = CallSetup {
        task: "t".into(),
        host: Arc::clone(&host) as Arc<dyn Host>,
        cancel: CancellationToken::new(),
        permission: Arc::new(RuleJudge::new(JudgeOptions {
            places: JudgePlaces { roots: vec![root.display().to_string()], ..JudgePlaces::default() },
            ..JudgeOptions::for_mode(mode)
        })),
        loop_guard: Arc::new(LoopGuard::new(LoopLimits::OFF)),
        hooks: Arc::new(Hooks::none()),
        permission_mode: mode,
        transcript_path: PathBuf::new(),
        tools: Arc::default(),
    };
    let env = CallEnv::new(Arc::new(services), setup);
    Bench { folder, host, executor, env }
}

pub fn free() -> Bench {
    bench(PermissionMode::BypassPermissions)
}

impl Bench {
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub fn put(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        files::create_private_dir(path.parent().expect("a parent")).expect("made");
        files::write_atomic(&path, content, files::Privacy::Shared).expect("written");
    }

    pub fn content(&self, path: &str) -> String {
        files::read_to_string(&self.path(path)).expect("a file")
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Outcome {
        let call = ToolCall { id: "c1".into(), name: name.into(), arguments, opaque: None };
        self.executor.execute(&call, &self.env).await
    }

    /// Runs a command that must succeed, to set something up.
    pub async fn shell(&self, command: &str) {
        let result =
            self.call("bash", serde_json::json!({"command": format!("set -e\n{command}")})).await.result;
        assert!(result.error.is_none() && !result.output.contains("[exit code"), "{}", result.output);
    }

    /// For text whose leading spaces matter, which `expect!` takes for indentation.
    pub async fn check_exact(&self, name: &str, arguments: Value, expected: &str) {
        assert_eq!(self.call(name, arguments).await.result.output, expected);
    }

    pub async fn check(&self, name: &str, arguments: Value, expected: Expect) {
        let outcome = self.call(name, arguments).await;
        let class = outcome.result.error.map_or(String::new(), |error| format!("{:?}: ", error.class));
        let place = self.folder.path().display().to_string();
        expected.assert_eq(&format!("{class}{}", outcome.result.output.replace(&place, "$TMP")));
    }
}
