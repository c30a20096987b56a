//! The executor from outside: calls in, results out, with a scripted host and small tools.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use parking_lot::Mutex;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, OutputStream, PermissionMode,
    Preview, Question, QuestionAnswer, TodoItem,
};

use super::*;
use crate::hooks::{HookExit, HookProcess, HookRunner};
use crate::{Category, HostError, JudgeOptions, LoopLimits, Planned, RuleJudge, Tool, ToolOutput, ToolSpec};

#[derive(Default)]
struct TestHost {
    approvals: Mutex<Vec<ApprovalRequest>>,
    answer: Mutex<Option<ApprovalAnswer>>,
    go_on: Mutex<bool>,
    questions: Mutex<Vec<String>>,
    shown: Mutex<Vec<Event>>,
    folder: Mutex<Option<PathBuf>>,
}

#[async_trait]
impl Host for TestHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        self.approvals.lock().push(request);
        match self.answer.lock().clone() {
            Some(answer) => (answer, ApprovalSource::Person),
            None => (ApprovalAnswer::no(None), ApprovalSource::Policy),
        }
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        self.questions.lock().push(question.text);
        let go_on = *self.go_on.lock();
        let by = if go_on { AnsweredBy::Person } else { AnsweredBy::Nobody };
        QuestionAnswer::new(go_on.then(|| "continue".to_owned()), None, by)
    }

    fn show(&self, event: Event) {
        self.shown.lock().push(event);
    }

    async fn record(&self, event: Event) -> Result<(), HostError> {
        self.shown.lock().push(event);
        Ok(())
    }

    fn todo(&self) -> Vec<TodoItem> {
        Vec::new()
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        self.folder.lock().clone().ok_or_else(|| HostError("no folder".into()))
    }

    fn artifact_added(&self, _: &Artifact) {}

    fn complete(&self, _: String) {}
}

struct Kept(Mutex<Vec<(PathBuf, usize)>>);

#[async_trait]
impl ArtifactWriter for Kept {
    async fn write(&self, path: &Path, content: &[u8]) -> Result<(), HostError> {
        self.0.lock().push((path.to_path_buf(), content.len()));
        Ok(())
    }
}

/// What a test tool does, by its argument.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct ActInput {
    act: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ActOutput {
    text: String,
}

impl ToolOutput for ActOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

struct Act {
    name: &'static str,
    risk: Risk,
    runs: Arc<AtomicUsize>,
    together: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for Act {
    type Input = ActInput;
    type Plan = ActInput;
    type Output = ActOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name,
            aliases: &[],
            category: Category::Files,
            risk: self.risk,
            time_limit: Duration::from_secs(2),
            output_limit: 400,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview { summary: input.act.clone(), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<ActOutput, ToolError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        match input.act.as_str() {
            "panic" => panic!("on purpose"),
            "hang" => std::future::pending().await,
            "until cancelled" => {
                ctx.cancel.cancelled().await;
                return Err(ToolError::interrupted("so far: 42"));
            }
            "unreachable" if run < 4 => return Err(ToolError::new(ErrorClass::ConnectionError, "refused")),
            "fail with hunter2-hunter2" => return Err(ToolError::execution("hunter2-hunter2")),
            act if act.starts_with("connect ") => {
                let host = act.trim_start_matches("connect ");
                let mut answers = Vec::new();
                for port in [443, 443, 80] {
                    answers.push(
                        ctx.network.admit(host, port).await.err().unwrap_or_else(|| "connected".to_owned()),
                    );
                }
                return Ok(ActOutput { text: answers.join("; ") });
            }
            "look too" => {
                let outcome = ctx.invoker.invoke(&call("look", "a")).await;
                return Ok(ActOutput { text: outcome.result.output });
            }
            "long" => return Ok(ActOutput { text: "0123456789\n".repeat(100) }),
            "secret" => {
                for chunk in ["key hunter", "2-hunter2\n", "rest"] {
                    let chunk = chunk.to_owned();
                    ctx.host.show(Event::ToolOutput {
                        call_id: ctx.call_id.clone(),
                        stream: OutputStream::Stdout,
                        chunk,
                    });
                }
                return Ok(ActOutput { text: "key hunter2-hunter2".to_owned() });
            }
            "meet" => {
                // Ends only when another call runs at the same time.
                self.together.fetch_add(1, Ordering::SeqCst);
                while self.together.load(Ordering::SeqCst) < 2 {
                    tokio::task::yield_now().await;
                }
            }
            _ => {}
        }
        Ok(ActOutput { text: format!("{} did {}", self.name, input.act) })
    }
}

struct Bench {
    executor: Executor,
    env: CallEnv,
    host: Arc<TestHost>,
    runs: Arc<AtomicUsize>,
    kept: Arc<Kept>,
}

fn bench(mode: PermissionMode) -> Bench {
    let registry = Arc::new(Registry::new());
    let runs = Arc::new(AtomicUsize::new(0));
    let together = Arc::new(AtomicUsize::new(0));
    for (name, risk) in [("look", Risk::Read), ("change", Risk::Write), ("start", Risk::Execute)] {
        let tool = Act { name, risk, runs: Arc::clone(&runs), together: Arc::clone(&together) };
        registry.register(Arc::new(tool)).expect("registered");
    }
    let host = Arc::new(TestHost::default());
    let kept = Arc::new(Kept(Mutex::default()));
    let options = ExecutorOptions::standard(Arc::clone(&kept) as Arc<dyn ArtifactWriter>);
    let executor = Executor::new(registry, options);
    let redactor = Redactor::with_secrets([("PASSWORD".to_owned(), "hunter2-hunter2".to_owned())]);
    let services = WorkspaceServices::new("/w".into(), Arc::new(executor.clone()), Arc::new(redactor));
    let setup = CallSetup {
        task: "t".into(),
        host: Arc::clone(&host) as Arc<dyn Host>,
        cancel: CancellationToken::new(),
        permission: Arc::new(RuleJudge::new(JudgeOptions::for_mode(mode))),
        loop_guard: Arc::new(LoopGuard::new(LoopLimits::STANDARD)),
        hooks: Arc::new(Hooks::none()),
        permission_mode: mode,
        transcript_path: PathBuf::new(),
        tools: Arc::default(),
    };
    Bench { executor, env: CallEnv::new(Arc::new(services), setup), host, runs, kept }
}

fn call(name: &str, act: &str) -> ToolCall {
    ToolCall { id: "c1".into(), name: name.into(), arguments: json!({"act": act}), opaque: None }
}

impl Bench {
    async fn run(&self, name: &str, act: &str) -> String {
        shown(&self.executor.execute(&call(name, act), &self.env).await)
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn hooks(&mut self, settings: Value, exits: &[(i32, &str, &str)]) {
        let runner = ScriptedHooks(
            exits.iter().map(|(code, out, err)| (*code, (*out).into(), (*err).into())).collect(),
        );
        self.env.hooks = Arc::new(Hooks::from_json(&settings, Arc::new(runner)).expect("hooks"));
    }
}

fn shown(outcome: &Outcome) -> String {
    let class = outcome.result.error.as_ref().map_or(String::new(), |error| format!("{:?}: ", error.class));
    let by = outcome.refused.as_ref().map_or(String::new(), |refusal| format!(" [{:?}]", refusal.by));
    format!("{class}{}{by}", outcome.result.output)
}

/// Hooks whose command is the index of their scripted end.
struct ScriptedHooks(Vec<(i32, String, String)>);

#[async_trait]
impl HookRunner for ScriptedHooks {
    async fn run(&self, process: HookProcess) -> HookExit {
        let index: usize = process.command.parse().expect("an index");
        let (code, stdout, stderr) = self.0[index].clone();
        HookExit::Exited { code, stdout, stderr }
    }
}

#[tokio::test]
async fn a_call_runs_and_is_counted() {
    let bench = bench(PermissionMode::Default);
    expect!["look did x"].assert_eq(&bench.run("look", "x").await);
    expect!["look did x"].assert_eq(&bench.run("LOOK", "x").await);
    let statistics = bench.executor.registry().statistics();
    assert_eq!(statistics["look"].calls, 2);
    assert_eq!(statistics["look"].errors, 0);
}

#[tokio::test]
async fn unknown_and_disabled_tools_never_run() {
    let bench = bench(PermissionMode::BypassPermissions);
    expect!["ParameterError: there is no tool `lok`; did you mean `look`?"]
        .assert_eq(&bench.run("lok", "x").await);
    expect!["ParameterError: there is no tool `launch_rocket`; tools: change, look, start"]
        .assert_eq(&bench.run("launch_rocket", "x").await);
    bench.executor.registry().disable("look").expect("known");
    expect!["ParameterError: the tool `look` is switched off here"].assert_eq(&bench.run("look", "x").await);
    assert_eq!(bench.runs(), 0);
}

#[tokio::test]
async fn permission_is_asked_with_the_arguments_that_run_and_fails_closed() {
    let bench = bench(PermissionMode::Default);
    expect!["PermissionError: nobody can be asked here, so this call is refused; do not try it again in another way [Nobody]"]
        .assert_eq(&bench.run("change", "x").await);
    *bench.host.answer.lock() = Some(ApprovalAnswer::no(Some("not on Sundays".into())));
    expect!["PermissionError: the person refused this call: not on Sundays [Person]"]
        .assert_eq(&bench.run("change", "y").await);
    assert_eq!(bench.runs(), 0);
    *bench.host.answer.lock() = Some(ApprovalAnswer::yes_for_session());
    let text = ToolCall { arguments: json!("{act: 'z'}"), ..call("Change", "") };
    expect!["change did z"].assert_eq(&shown(&bench.executor.execute(&text, &bench.env).await));
    let asked = bench.host.approvals.lock().last().cloned().expect("asked");
    assert_eq!((asked.call.name.as_str(), &asked.call.arguments), ("change", &json!({"act": "z"})));
    let before = bench.host.approvals.lock().len();
    expect!["change did other"].assert_eq(&bench.run("change", "other").await);
    assert_eq!(bench.host.approvals.lock().len(), before, "granted for the session");
}

#[tokio::test]
async fn an_invalid_call_is_never_asked_about() {
    let bench = bench(PermissionMode::Default);
    let wrong = ToolCall { arguments: json!({"ac": "x"}), ..call("change", "") };
    let text = shown(&bench.executor.execute(&wrong, &bench.env).await);
    assert!(text.starts_with("ParameterError: the arguments do not fit: `act` is required"), "{text}");
    assert!(bench.host.approvals.lock().is_empty());
}

#[tokio::test]
async fn plan_mode_is_enforced_here() {
    let bench = bench(PermissionMode::Plan);
    expect!["PermissionError: not allowed: plan mode allows no commands: only read, and describe what you would do [Policy]"]
        .assert_eq(&bench.run("start", "x").await);
    expect!["look did x"].assert_eq(&bench.run("look", "x").await);
    assert_eq!(bench.runs(), 1);
}

#[tokio::test]
async fn a_panic_is_a_failure_of_the_tool_alone() {
    let bench = bench(PermissionMode::Default);
    expect!["ExecutionError: the tool `look` broke, which is a bug in it: on purpose"]
        .assert_eq(&bench.run("look", "panic").await);
    expect!["look did x"].assert_eq(&bench.run("look", "x").await);
}

#[tokio::test(start_paused = true)]
async fn time_limits_hold_and_what_a_tool_saves_is_kept() {
    let mut bench = bench(PermissionMode::BypassPermissions);
    bench.executor.options.retry = RetryPolicy::NEVER;
    expect!["TimeoutError: `look` was stopped at its time limit of 2 s"]
        .assert_eq(&bench.run("look", "hang").await);
    expect![[r"
        TimeoutError: `start` was stopped at its time limit of 2 s
        so far: 42"]]
    .assert_eq(&bench.run("start", "until cancelled").await);
}

#[tokio::test(start_paused = true)]
async fn connection_errors_are_retried_only_where_nothing_changes() {
    let bench = bench(PermissionMode::BypassPermissions);
    expect!["look did unreachable"].assert_eq(&bench.run("look", "unreachable").await);
    assert_eq!(bench.runs(), 4);
    let retries =
        bench.host.shown.lock().iter().filter(|event| matches!(event, Event::Retrying { .. })).count();
    assert_eq!(retries, 3);
    bench.runs.store(0, Ordering::SeqCst);
    expect!["ConnectionError: refused"].assert_eq(&bench.run("change", "unreachable").await);
    assert_eq!(bench.runs(), 1);
}

#[tokio::test]
async fn a_loop_is_refused_without_a_person_and_goes_on_with_one() {
    let bench = bench(PermissionMode::Default);
    for _ in 0..2 {
        bench.run("look", "x").await;
    }
    let refused = bench.run("look", "x").await;
    assert!(refused.starts_with("PermissionError: this is call number 3 of `look`"), "{refused}");
    assert!(refused.ends_with("[LoopGuard]"), "{refused}");
    assert_eq!(bench.runs(), 2);
    let question = bench.host.questions.lock().first().cloned().unwrap_or_default();
    assert!(question.contains("for the 3rd time"), "{question}");
    *bench.host.go_on.lock() = true;
    expect!["look did x"].assert_eq(&bench.run("look", "x").await);
}

#[tokio::test]
async fn what_never_works_is_a_loop_too_and_ends_the_run() {
    let unknown = |number: usize| call("nowhere", &number.to_string());
    let invalid = |_| ToolCall { arguments: json!({"ac": "x"}), ..call("change", "") };
    let makers: [&dyn Fn(usize) -> ToolCall; 2] = [&unknown, &invalid];
    for make in makers {
        let bench = bench(PermissionMode::BypassPermissions);
        let mut seen = Vec::new();
        for number in 0..5 {
            let outcome = bench.executor.execute(&make(number), &bench.env).await;
            seen.push((outcome.refused.map(|refusal| refusal.by), outcome.stop));
        }
        let guard = Some(RefusedBy::LoopGuard);
        let stop = "the same call was repeated 3 times although it was refused".to_owned();
        assert_eq!(seen, [(None, None), (None, None), (guard, None), (guard, None), (guard, Some(stop))]);
    }
}

#[tokio::test]
async fn long_output_is_cut_and_kept_whole() {
    let bench = bench(PermissionMode::Default);
    *bench.host.folder.lock() = Some(PathBuf::from("/artifacts"));
    let outcome = bench.executor.execute(&call("look", "long"), &bench.env).await;
    assert!(outcome.result.output.len() <= 400);
    let artifact = outcome.result.artifacts.first().expect("an artifact");
    assert!(outcome.result.output.contains(&artifact.path), "{}", outcome.result.output);
    assert_eq!(bench.kept.0.lock().first().map(|(_, bytes)| *bytes), Some(1100));
    assert_eq!(outcome.output.expect("typed")["text"].as_str().map(str::len), Some(1100));
}

#[tokio::test]
async fn secrets_reach_neither_the_model_nor_the_screen() {
    let bench = bench(PermissionMode::Default);
    expect!["key [redacted:PASSWORD]"].assert_eq(&bench.run("look", "secret").await);
    let live: String = bench
        .host
        .shown
        .lock()
        .iter()
        .filter_map(|event| match event {
            Event::ToolOutput { chunk, .. } => Some(chunk.clone()),
            _ => None,
        })
        .collect();
    expect![[r"
        key [redacted:PASSWORD]
        rest"]]
    .assert_eq(&live);
}

#[tokio::test]
async fn what_hooks_say_is_redacted_too() {
    let mut bench = bench(PermissionMode::Default);
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "0"}]}]}});
    bench.hooks(settings.clone(), &[(2, "", "no hunter2-hunter2")]);
    expect!["PermissionError: a hook refused the call: no [redacted:PASSWORD] [Hook]"]
        .assert_eq(&bench.run("look", "a").await);
    let context = r#"{"hookSpecificOutput": {"additionalContext": "ctx hunter2-hunter2"}}"#;
    bench.hooks(settings.clone(), &[(0, context, "")]);
    expect![[r"
        look did a

        ctx [redacted:PASSWORD]"]]
    .assert_eq(&bench.run("look", "a").await);
    bench.hooks(settings, &[(0, r#"{"continue": false, "stopReason": "hunter2-hunter2"}"#, "")]);
    let outcome = bench.executor.execute(&call("look", "b"), &bench.env).await;
    assert_eq!(outcome.stop.as_deref(), Some("[redacted:PASSWORD]"));
    assert_eq!(outcome.refused.map(|refusal| refusal.reason).as_deref(), Some("[redacted:PASSWORD]"));

    bench.env.hooks = Arc::new(Hooks::none());
    bench.run("look", "fail with hunter2-hunter2").await;
    let statistics = bench.executor.registry().statistics();
    assert_eq!(statistics["look"].last_error.as_deref(), Some("[redacted:PASSWORD]"));
}

#[tokio::test]
async fn a_hook_that_stops_a_call_within_a_call_stops_the_run() {
    let mut bench = bench(PermissionMode::BypassPermissions);
    let settings = json!({"hooks": {"PostToolUse": [{"matcher": "look", "hooks": [{"command": "0"}]}]}});
    bench.hooks(settings, &[(0, r#"{"continue": false, "stopReason": "enough"}"#, "")]);
    let outcome = bench.executor.execute(&call("change", "look too"), &bench.env).await;
    assert_eq!((outcome.result.output.as_str(), outcome.stop.as_deref()), ("look did a", Some("enough")));
}

/// Allows, and cancels the run at the same moment.
struct CancellingJudge(CancellationToken);

#[async_trait]
impl PermissionJudge for CancellingJudge {
    async fn judge(&self, _: &crate::CallFacts) -> crate::Verdict {
        self.0.cancel();
        crate::Verdict::Allow
    }

    fn granted(&self, _: &crate::CallFacts, _: &ApprovalAnswer) -> Result<(), String> {
        Ok(())
    }

    fn mode(&self) -> PermissionMode {
        PermissionMode::Default
    }

    fn set_mode(&self, _: PermissionMode) {}
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_is_judged_never_begins() {
    let mut bench = bench(PermissionMode::Default);
    bench.env.permission = Arc::new(CancellingJudge(bench.env.cancel.clone()));
    expect!["Interrupted: the call was cancelled before it ran"].assert_eq(&bench.run("change", "a").await);
    assert_eq!(bench.runs(), 0);
}

#[tokio::test]
async fn hooks_may_deny_change_and_add_but_never_lift_a_denial() {
    let mut bench = bench(PermissionMode::Default);
    let before = |matcher: &str| json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [{"type": "command", "command": "0"}]}]}});
    bench.hooks(before("look"), &[(2, "", "no looking\n")]);
    expect!["PermissionError: a hook refused the call: no looking [Hook]"]
        .assert_eq(&bench.run("look", "a").await);
    expect!["PermissionError: nobody can be asked here, so this call is refused; do not try it again in another way [Nobody]"]
        .assert_eq(&bench.run("change", "a").await);

    let allow = r#"{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"act": "b"}, "additionalContext": "ctx"}}"#;
    bench.hooks(before("*"), &[(0, allow, "")]);
    expect![[r#"
        change did b

        note: a hook changed the arguments to {"act":"b"}

        ctx"#]]
    .assert_eq(&bench.run("change", "a").await);
    bench.env.permission = Arc::new(RuleJudge::new(JudgeOptions::for_mode(PermissionMode::Plan)));
    assert!(bench.run("change", "c").await.ends_with("[Policy]"));

    bench.hooks(before(""), &[(1, "", "broken hook")]);
    expect!["look did d"].assert_eq(&bench.run("look", "d").await);
    let notices: Vec<String> = bench
        .host
        .shown
        .lock()
        .iter()
        .filter_map(|event| match event {
            Event::Notice { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    expect!["the hook `0` ended with exit code 1: broken hook"].assert_eq(&notices.join("\n"));

    let after = json!({"hooks": {"PostToolUse": [{"hooks": [{"command": "0"}]}]}});
    bench.hooks(
        after,
        &[(
            0,
            r#"{"decision": "block", "reason": "run the linter", "continue": false, "stopReason": "enough"}"#,
            "",
        )],
    );
    let outcome = bench.executor.execute(&call("look", "e"), &bench.env).await;
    assert_eq!(outcome.result.output, "look did e\n\na hook objects: run the linter");
    assert_eq!(outcome.stop.as_deref(), Some("enough"));
}

#[tokio::test]
async fn reads_run_side_by_side_and_results_keep_their_order() {
    let bench = bench(PermissionMode::BypassPermissions);
    let calls = [
        call("look", "meet"),
        call("look", "meet"),
        call("change", "x"),
        call("nowhere", "x"),
        call("look", "y"),
    ];
    let calls: Vec<ToolCall> = calls
        .into_iter()
        .enumerate()
        .map(|(index, call)| ToolCall { id: format!("c{index}").into(), ..call })
        .collect();
    let run = bench.executor.execute_batch(&calls, &bench.env);
    let outcomes = tokio::time::timeout(Duration::from_secs(10), run).await.expect("side by side");
    let ids: Vec<&str> = outcomes.iter().map(|outcome| outcome.result.call_id.as_str()).collect();
    assert_eq!(ids, ["c0", "c1", "c2", "c3", "c4"]);
    assert!(!outcomes[3].result.is_success());
}

#[tokio::test]
async fn a_cancel_ends_what_runs_and_what_waits() {
    let bench = bench(PermissionMode::BypassPermissions);
    let calls = [call("start", "until cancelled"), call("change", "x"), call("look", "x"), call("look", "y")];
    let cancel = bench.env.cancel.clone();
    let runs = Arc::clone(&bench.runs);
    let canceller = async {
        while runs.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (outcomes, ()) = tokio::join!(bench.executor.execute_batch(&calls, &bench.env), canceller);
    let shown: Vec<String> = outcomes.iter().map(shown).collect();
    expect![[r"
        Interrupted: so far: 42
        Interrupted: the call was cancelled before it ran
        Interrupted: the call was cancelled before it ran
        Interrupted: the call was cancelled before it ran"]]
    .assert_eq(&shown.join("\n"));
    assert_eq!(bench.runs(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Property 3: an action's tool is one of the registered ones, or nothing runs.
    #[test]
    fn property_3_action_tool_must_exist(name in "[a-zA-Z_]{0,12}", act in "[a-z]{1,5}") {
        let bench = bench(PermissionMode::BypassPermissions);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let outcome = runtime.block_on(bench.executor.execute(&call(&name, &act), &bench.env));
        let known = bench.executor.registry().get(&name).is_some();
        prop_assert_eq!(outcome.result.is_success(), known);
        prop_assert_eq!(bench.runs() == 1, known);
    }
}

#[tokio::test]
async fn a_host_is_judged_like_a_call_and_remembered() {
    let bench = bench(PermissionMode::Default);
    let refused = bench.run("look", "connect a.example").await;
    assert!(refused.starts_with("connecting to a.example:443: nobody can be asked here"), "{refused}");
    assert_eq!(bench.host.approvals.lock().len(), 2, "the same host and port is asked about once in a call");

    *bench.host.answer.lock() = Some(ApprovalAnswer::yes());
    assert_eq!(bench.run("look", "connect b.example").await, "connected; connected; connected");
    let before = bench.host.approvals.lock().len();
    assert_eq!(bench.run("look", "connect b.example").await, "connected; connected; connected");
    assert!(bench.host.approvals.lock().len() > before, "a plain yes is for one call");

    *bench.host.answer.lock() = Some(ApprovalAnswer::yes_for_session());
    bench.run("look", "connect C.example.").await;
    let asked = bench.host.approvals.lock().last().cloned().expect("asked");
    assert_eq!(asked.grant.as_deref(), Some("`network(c.example)`"));
    *bench.host.answer.lock() = None;
    let before = bench.host.approvals.lock().len();
    assert_eq!(bench.run("look", "connect c.example").await, "connected; connected; connected");
    assert_eq!(bench.host.approvals.lock().len(), before);

    for wrong in ["", "evil.test\u{0}.example.com", "exa mple.com", "ex\u{430}mple.com"] {
        let refused = bench.run("look", &format!("connect {wrong}")).await;
        assert!(refused.contains("is no name of a host"), "{wrong:?}: {refused}");
    }
}

/// T13: the answer holds for exactly what was shown.
#[tokio::test]
async fn an_approval_is_bound_to_the_call_it_was_given_for() {
    let bench = bench(PermissionMode::Default);
    *bench.host.answer.lock() = Some(ApprovalAnswer::yes());
    expect!["change did one"].assert_eq(&bench.run("change", "one").await);
    *bench.host.answer.lock() = None;
    let refused = bench.run("change", "two").await;
    assert!(refused.ends_with("[Nobody]"), "another argument is asked about anew: {refused}");
    let refused = bench.run("change", "one").await;
    assert!(refused.ends_with("[Nobody]"), "and so is the same call, later: {refused}");
    let shown: Vec<Value> =
        bench.host.approvals.lock().iter().map(|request| request.call.arguments.clone()).collect();
    assert_eq!(shown, [json!({"act": "one"}), json!({"act": "two"}), json!({"act": "one"})]);
    assert_eq!(bench.runs(), 1);
}
