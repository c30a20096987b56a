//! The tools as a model meets them: calls through the executor on a real folder.

#![allow(clippy::expect_used, reason = "helpers of tests fail by panicking")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use expect_test::{Expect, expect};
use parking_lot::Mutex;
use serde_json::{Value, json};
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, PermissionMode, Question,
    QuestionAnswer, TodoItem, ToolCall,
};
use stepwell_tool_runtime::{
    CallEnv, Executor, ExecutorOptions, HookFacts, Hooks, Host, HostError, LoopGuard, LoopLimits, ModeJudge,
    Outcome, Redactor, Registry,
};
use stepwell_tools::catalog::{self, CatalogOptions};
use stepwell_tools::ports::{ArtifactFiles, HookProcesses};
use stepwell_workspace::process::{self, Environment, KeepOutput, ProgramCall};
use stepwell_workspace::{Workspace, files};
use tokio_util::sync::CancellationToken;

/// A host that remembers, answers with the first option, and has a folder for artifacts.
struct TestHost {
    artifacts: PathBuf,
    todo: Mutex<Vec<TodoItem>>,
    asked: Mutex<Vec<Question>>,
    approvals: Mutex<Vec<ApprovalRequest>>,
    live: Mutex<String>,
    completed: Mutex<Option<String>>,
}

#[async_trait]
impl Host for TestHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        self.approvals.lock().push(request);
        (ApprovalAnswer::No { reason: None }, ApprovalSource::Policy)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        let option = question.options.first().map(|option| option.id.clone());
        let by = if option.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody };
        self.asked.lock().push(question);
        QuestionAnswer { option, text: None, by }
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

struct Bench {
    folder: tempfile::TempDir,
    host: Arc<TestHost>,
    executor: Executor,
    env: CallEnv,
}

fn bench(mode: PermissionMode) -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    let (root, artifacts) = (folder.path().join("ws"), folder.path().join("artifacts"));
    for path in [&root, &artifacts] {
        files::create_private_dir(path).expect("made");
    }
    let workspace = Workspace::open(&root, &[]).expect("opened");
    let registry = Arc::new(Registry::new());
    // Every test has this variable: `cargo` sets it.
    let options = CatalogOptions { removed_variables: vec!["CARGO_PKG_NAME".to_owned()] };
    registry.register_all(catalog::builtin(&workspace, &options)).expect("registered");
    let host = Arc::new(TestHost {
        artifacts,
        todo: Mutex::default(),
        asked: Mutex::default(),
        approvals: Mutex::default(),
        live: Mutex::default(),
        completed: Mutex::default(),
    });
    let env = CallEnv {
        task: "t".into(),
        host: Arc::clone(&host) as Arc<dyn Host>,
        cancel: CancellationToken::new(),
        permission: Arc::new(ModeJudge::new(mode)),
        loop_guard: Arc::new(LoopGuard::new(LoopLimits::OFF)),
        hooks: Arc::new(Hooks::none()),
        hook_facts: HookFacts { cwd: root, ..HookFacts::default() },
        redactor: Arc::new(Redactor::new()),
    };
    let executor = Executor::new(registry, ExecutorOptions::standard(Arc::new(ArtifactFiles)));
    Bench { folder, host, executor, env }
}

fn free() -> Bench {
    bench(PermissionMode::BypassPermissions)
}

impl Bench {
    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    fn put(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        files::create_private_dir(path.parent().expect("a parent")).expect("made");
        files::write_atomic(&path, content, files::Privacy::Shared).expect("written");
    }

    fn content(&self, path: &str) -> String {
        files::read_to_string(&self.path(path)).expect("a file")
    }

    async fn call(&self, name: &str, arguments: Value) -> Outcome {
        let call = ToolCall { id: "c1".into(), name: name.into(), arguments, opaque: None };
        self.executor.execute(&call, &self.env).await
    }

    /// For text whose leading spaces matter, which `expect!` takes for indentation.
    async fn check_exact(&self, name: &str, arguments: Value, expected: &str) {
        assert_eq!(self.call(name, arguments).await.result.output, expected);
    }

    async fn check(&self, name: &str, arguments: Value, expected: Expect) {
        let outcome = self.call(name, arguments).await;
        let class = outcome.result.error.map_or(String::new(), |error| format!("{:?}: ", error.class));
        let place = self.folder.path().display().to_string();
        expected.assert_eq(&format!("{class}{}", outcome.result.output.replace(&place, "$TMP")));
    }
}

#[tokio::test]
async fn read_shows_lines_and_says_what_is_left() {
    let bench = free();
    bench.put("a.txt", b"one\r\ntwo\nthree");
    bench
        .check_exact("read", json!({"file_path": "a.txt"}), "     1\tone\n     2\ttwo\n     3\tthree\n")
        .await;
    bench
        .check_exact(
            "read_file",
            json!({"path": "a.txt", "offset": "2", "limit": 1}),
            "     2\ttwo\n(more lines follow; go on with offset 3)",
        )
        .await;
    bench
        .check_exact(
            "read",
            json!({"file_path": "a.txt", "offset": 9}),
            "(the file has 3 lines; offset 9 lies behind its end)",
        )
        .await;
    bench.put("empty", b"");
    bench.check_exact("read", json!({"file_path": "empty"}), "(the file is empty)").await;
    bench.put("blob", &[1, 0, 2]);
    bench.check_exact("read", json!({"file_path": "blob"}), "(binary file, 3 bytes; not shown)").await;
    bench.put("latin", b"caf\xe9\n");
    bench
        .check_exact(
            "read",
            json!({"file_path": "latin"}),
            "     1\tcaf\u{fffd}\n(the file is not UTF-8; what could not be read is shown as \u{fffd})",
        )
        .await;
    bench.put("wide", "é".repeat(5000).as_bytes());
    let wide = bench.call("read", json!({"file_path": "wide"})).await.result.output;
    assert_eq!(wide.matches('é').count(), 2000);
}

#[tokio::test]
async fn read_shows_images_and_artifacts() {
    let bench = free();
    bench.put("dot.png", b"\x89PNG\r\n\x1a\n0000");
    let image = bench.call("read", json!({"file_path": "dot.png"})).await.result;
    assert_eq!(
        (image.output.as_str(), image.images[0].media_type.as_str()),
        ("(image/png, 12 bytes)", "image/png")
    );
    let artifact = bench.host.artifacts.join("art_1.txt");
    files::write_atomic(&artifact, b"kept", files::Privacy::Private).expect("written");
    bench.check_exact("read", json!({"file_path": artifact}), "     1\tkept\n").await;
}

#[tokio::test]
async fn a_cancel_ends_the_reading_of_a_huge_file() {
    let bench = free();
    bench.put("huge.log", &b"line\n".repeat(4000));
    // Reading this would take minutes; on the disk it has 20 KB.
    bench.call("bash", json!({"command": "truncate -s 1T huge.log"})).await;
    let read = bench.call("read", json!({"file_path": "huge.log", "offset": 5000}));
    let (outcome, ()) = tokio::join!(read, async { bench.env.cancel.cancel() });
    assert_eq!(outcome.result.output, "reading `huge.log` was stopped");
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let bench = free();
    bench.put("src/config.rs", b"x");
    bench
        .check(
            "read",
            json!({"file_path": "config.rs"}),
            expect!["ExecutionError: `config.rs` does not exist; similar files: src/config.rs"],
        )
        .await;
    bench
        .check(
            "read",
            json!({"file_path": "zzz.toml"}),
            expect![
                "ExecutionError: `zzz.toml` does not exist; list the folder or search for the file by name"
            ],
        )
        .await;
    bench
        .check(
            "read",
            json!({"file_path": "../artifacts/../x"}),
            expect!["PermissionError: `../artifacts/../x` lies outside the workspace ($TMP/ws); nothing outside it may be read or written"],
        )
        .await;
    bench
        .check(
            "read",
            json!({"file_path": "src"}),
            expect!["ValidationError: `$TMP/ws/src` is a folder; use `list` to see what is in it"],
        )
        .await;
    bench.check("write", json!({"file_path": "/etc/x", "content": ""}), expect!["PermissionError: `/etc/x` lies outside the workspace ($TMP/ws); nothing outside it may be read or written"]).await;
    bench
        .check(
            "bash",
            json!({"command": "ls", "cwd": ".."}),
            expect!["PermissionError: working_dir: `..` lies outside the workspace"],
        )
        .await;
}

#[tokio::test]
async fn write_makes_folders_keeps_the_form_and_shows_the_change() {
    let bench = free();
    bench
        .check(
            "write",
            json!({"file_path": "a/b.txt", "content": "x\ny\n"}),
            expect!["created `a/b.txt` (2 lines)"],
        )
        .await;
    let outcome = bench.call("write", json!({"file_path": "a/b.txt", "content": "x\nz\n"})).await;
    assert_eq!(outcome.result.output, "wrote `a/b.txt` (2 lines; +1 -1)");
    let diff = outcome.result.detail.expect("detail")["diff"].as_str().expect("text").to_owned();
    expect![[r"
        --- a/a/b.txt
        +++ b/a/b.txt
        @@ -1,2 +1,2 @@
         x
        -y
        +z
    "]]
    .assert_eq(&diff);
    bench
        .check(
            "write",
            json!({"file_path": "a/b.txt", "content": "x\nz\n"}),
            expect!["`a/b.txt` had this content already (2 lines)"],
        )
        .await;
    bench.put("dos.txt", b"\xEF\xBB\xBFone\r\ntwo\r\n");
    bench.call("write", json!({"file_path": "dos.txt", "content": "1\n2\n"})).await;
    assert_eq!(bench.content("dos.txt"), "\u{feff}1\r\n2\r\n");
}

#[tokio::test]
async fn edit_is_exact_and_helps_when_it_cannot_be() {
    let bench = free();
    bench.put("m.rs", b"fn main() {\n    let a = 1;\n    let b = 1;\n}\n");
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "let a = 1", "new_str": "let a = 2"}),
            expect!["edited `m.rs` at line 2 (+1 -1)"],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"path": "m.rs", "old_string": "let ", "new_string": "let mut "}),
            expect!["ValidationError: `old_str` occurs 2 times in `m.rs`, at lines 2, 3; add lines around it until it is unique, or set `replace_all`"],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "  let b  = 1;\n}", "new_str": "x"}),
            expect![[r"
                ValidationError: `old_str` does not occur in `m.rs`; the nearest text is at line 3:
                    let b = 1;
                }
                copy it exactly, white space included"]],
        )
        .await;
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "let ", "new_str": "let mut ", "replace_all": "true"}),
            expect!["edited `m.rs` 2 times, first at line 2 (+2 -2)"],
        )
        .await;
    assert_eq!(bench.content("m.rs"), "fn main() {\n    let mut a = 2;\n    let mut b = 1;\n}\n");
    bench.put("dos.txt", b"one\r\ntwo\r\nthree");
    bench
        .check(
            "edit",
            json!({"file_path": "dos.txt", "old_str": "one\ntwo", "new_str": "1\n2\n2b"}),
            expect!["edited `dos.txt` at line 1 (+3 -2)"],
        )
        .await;
    assert_eq!(bench.content("dos.txt"), "1\r\n2\r\n2b\r\nthree");
    bench
        .check(
            "edit",
            json!({"file_path": "m.rs", "old_str": "x", "new_str": "x"}),
            expect!["ValidationError: `old_str` and `new_str` are the same"],
        )
        .await;
}

#[tokio::test]
async fn list_shows_what_is_there() {
    let bench = free();
    for (path, content) in [("a/b.txt", "12345"), ("c.txt", ""), (".gitignore", "out\n"), ("out/x", "")] {
        bench.put(path, content.as_bytes());
    }
    bench.check("list", json!({}), expect![".gitignore (4 B)\na/\nc.txt (0 B)\n"]).await;
    bench
        .check(
            "list_files",
            json!({"path": ".", "recursive": true}),
            expect![".gitignore (4 B)\na/\na/b.txt (5 B)\nc.txt (0 B)\n"],
        )
        .await;
    bench
        .check(
            "list",
            json!({"recursive": true, "limit": 1}),
            expect![".gitignore (4 B)\n(there is more; list a subfolder or raise the limit)"],
        )
        .await;
    bench
        .check("list", json!({"path": "c.txt"}), expect!["ValidationError: `$TMP/ws/c.txt` is no folder"])
        .await;
}

#[tokio::test]
async fn bash_gives_output_exit_code_and_live_text() {
    let bench = free();
    bench.check("bash", json!({"command": "echo hi; echo there >&2"}), expect!["hi\nthere\n"]).await;
    assert_eq!(*bench.host.live.lock(), "hi\nthere\n");
    bench.check("bash", json!({"command": "true"}), expect!["(no output)"]).await;
    bench.check("bash", json!({"command": "echo no; exit 3"}), expect!["no\n[exit code 3]"]).await;
    bench.check("bash", json!({"command": "kill -9 $$"}), expect!["[ended by signal 9]"]).await;
    bench
        .check("bash", json!({"command": "read x; echo $TERM $PAGER \"[$x]\""}), expect!["dumb cat []\n"])
        .await;
}

#[tokio::test]
async fn commands_do_not_see_the_variables_the_settings_name() {
    let bench = free();
    assert!(std::env::var("CARGO_PKG_NAME").is_ok());
    let command = "echo [$CARGO_PKG_NAME]; env | grep -c '^CARGO_PKG_NAME='; true";
    bench.check("bash", json!({"command": command}), expect!["[]\n0\n"]).await;
}

#[tokio::test]
async fn bash_stops_at_its_limit_with_what_there_was() {
    let bench = free();
    let start = Instant::now();
    bench
        .check(
            "execute_command",
            json!({"command": "echo begun; sleep 28.31", "timeout": 1}),
            expect![[r"
                TimeoutError: the command was stopped after 1 s; it and its children were ended
                output so far:
                begun
            "]],
        )
        .await;
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn bash_keeps_long_output_where_read_finds_it() {
    let bench = free();
    let outcome = bench.call("bash", json!({"command": "seq 1 40000"})).await.result;
    assert!(outcome.output.len() <= 50 * 1024, "{}", outcome.output.len());
    assert!(outcome.output.starts_with("1\n2\n") && outcome.output.ends_with("39999\n40000\n"));
    let artifact = outcome.artifacts.first().expect("an artifact");
    assert!(outcome.output.contains(&artifact.path));
    let read =
        bench.call("read", json!({"file_path": artifact.path, "offset": 20000, "limit": 1})).await.result;
    assert!(read.output.starts_with(" 20000\t20000\n"), "{}", read.output);
}

#[tokio::test]
async fn a_secret_that_a_command_prints_reaches_neither_disk_nor_model_nor_screen() {
    let mut bench = free();
    let secret = ("MY_KEY".to_owned(), "hunter2-hunter2-42".to_owned());
    bench.env.redactor = Arc::new(Redactor::with_secrets([secret]));
    // In two writes with the other stream between them, and where the output is cut for the model.
    let command = "printf 'a hunter2-'; sleep 0.05; echo noise >&2; echo 'hunter2-42 b'; seq 1 20000; \
                   for i in {1..2000}; do echo hunter2-hunter2-42; done; seq 20001 40000";
    let outcome = bench.call("bash", json!({"command": command})).await.result;
    let artifact = outcome.artifacts.first().expect("an artifact");
    let kept = files::read_to_string(artifact.path.as_ref()).expect("kept");
    assert!(kept.contains("a [redacted:MY_KEY] b\n"), "{}", &kept[..200]);
    assert_eq!(kept.matches("[redacted:MY_KEY]").count(), 2001);
    assert!(kept.contains("\n1\n2\n") && kept.contains("39999\n40000\n"));
    assert_eq!(kept.len() as u64, artifact.bytes);
    let live = bench.host.live.lock().clone();
    for text in [&kept, &outcome.output, &live] {
        assert!(!text.contains("hunter2"), "a secret got through");
    }
}

#[tokio::test]
async fn output_that_is_no_text_is_cut_like_any_other() {
    let bench = free();
    let command = "head -c 60000 /dev/zero | tr '\\0' '\\377'; echo; echo end";
    let outcome = bench.call("bash", json!({"command": command})).await.result;
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(outcome.output.contains("bytes left out") && outcome.output.ends_with("end\n"));
}

#[tokio::test]
async fn a_cancelled_command_says_so() {
    let bench = free();
    let cancel = bench.env.cancel.clone();
    let call = bench.call("bash", json!({"command": "echo begun; sleep 28.32"}));
    let canceller = async {
        while bench.host.live.lock().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call, canceller);
    assert_eq!(
        outcome.result.output,
        "the command was cancelled; it and its children were ended\noutput so far:\nbegun\n"
    );
}

#[tokio::test]
async fn the_todo_list_takes_both_forms() {
    let bench = free();
    let list = json!({"todos": [{"content": "one", "status": "completed"}, "two"]});
    bench.check("todowrite", list, expect!["[x] 1. one\n[ ] 2. two"]).await;
    bench.check("todoread", json!({"status": "Pending"}), expect!["[ ] 2. two"]).await;
    bench
        .check(
            "update_todo_list",
            json!({"todos": "[x] one\n[-] two\n[ ] three"}),
            expect!["[x] 1. one\n[-] 2. two\n[ ] 3. three"],
        )
        .await;
    bench.check("todowrite", json!({"todos": []}), expect!["the todo list is empty"]).await;
}

#[tokio::test]
async fn questions_reach_the_person_in_every_form() {
    let bench = free();
    bench
        .check(
            "ask_clarification",
            json!({"question": "Which cache?", "clarification_type": "approach", "options": [{"id": "redis", "label": "Redis", "recommended": true}, {"label": "Memory"}]}),
            expect!["Redis (option `redis`)"],
        )
        .await;
    bench
        .check(
            "ask_followup_question",
            json!({"question": "Which?", "follow_up": [{"text": "This one", "mode": null}, "That one"]}),
            expect!["This one (option `option_1`)"],
        )
        .await;
    bench.check("ask_clarification", json!({"question": "Why?"}), expect!["nobody can answer. Choose the safest reading yourself and say which one you chose, or end the task if no choice is safe"]).await;
    bench
        .check(
            "request_decision",
            json!({"question": "Delete?", "decision_type": "confirmation", "options": [{"id": "cancel", "label": "Cancel"}], "default_option": "cancle"}),
            expect!["ValidationError: `default_option` must be the id of an option (cancel), got `cancle`; did you mean `cancel`?"],
        )
        .await;
    bench
        .check(
            "request_decision",
            json!({"question": "Delete?", "options": [{"id": "cancel", "label": "Cancel", "risks": "none"}], "default_option": "cancel", "timeout": 60}),
            expect!["Cancel (option `cancel`)"],
        )
        .await;
    let asked = bench.host.asked.lock();
    assert_eq!(asked.last().and_then(|question| question.timeout_seconds), Some(60));
    assert_eq!(asked.last().map(|question| question.options[0].risks.clone()), Some(vec!["none".to_owned()]));
}

#[tokio::test]
async fn completion_reaches_the_host() {
    let bench = free();
    bench.check("attempt_completion", json!({"result": "done"}), expect!["the task is complete"]).await;
    assert_eq!(bench.host.completed.lock().as_deref(), Some("done"));
}

#[tokio::test]
async fn a_chain_runs_as_one_call_and_each_step_is_judged() {
    let bench = free();
    bench.put("docs/a.txt", b"hello\n");
    let steps = json!({"steps": [
        {"tool": "list", "arguments": {"path": "docs"}},
        {"tool": "bash", "arguments": {}, "transform": {"extract_path": "entries[0].path", "field_mapping": {}}, "into": "command"}
    ]});
    bench
        .check("tool_chain", steps, expect!["bash: line 1: a.txt: command not found\n[exit code 127]"])
        .await;
    let copy = json!({"steps": [
        {"tool": "bash", "arguments": {"command": "echo hello"}},
        {"tool": "write", "arguments": {"file_path": "copy.txt"}, "transform": {"field_mapping": {"output": "content"}}}
    ]});
    bench.check("tool_chain", copy.clone(), expect!["created `copy.txt` (1 lines)"]).await;
    assert_eq!(bench.content("copy.txt"), "hello\n");
    bench
        .check(
            "tool_chain",
            json!({"steps": [{"tool": "list"}, {"tool": "read"}]}),
            expect!["ValidationError: step 2: the output of `list` does not fit `read`: the required `file_path` is missing"],
        )
        .await;
    let asking = crate::bench(PermissionMode::Plan);
    asking
        .check(
            "tool_chain",
            copy,
            expect!["PermissionError: step 1 (`bash`) failed: not allowed: plan mode allows no commands: only read, and describe what you would do"],
        )
        .await;
}

#[tokio::test]
async fn what_a_person_is_shown_before_a_change() {
    let bench = bench(PermissionMode::Default);
    bench.put("a.txt", b"old\n");
    bench.call("edit", json!({"file_path": "a.txt", "old_str": "old", "new_str": "new"})).await;
    bench.call("bash", json!({"command": "cargo test\nrm x"})).await;
    bench.call("bash", json!({"command": "r\u{200b}m -rf x"})).await;
    let approvals = bench.host.approvals.lock();
    let shown: Vec<String> = approvals
        .iter()
        .map(|request| {
            let preview = &request.preview;
            let change = preview.diff.as_ref().or(preview.command.as_ref()).cloned().unwrap_or_default();
            format!("{} ({})\n{change}", preview.summary, request.reason)
        })
        .collect();
    expect![[r"
        Edit `a.txt` (default mode asks before changes to files)
        --- a/a.txt
        +++ b/a.txt
        @@ -1 +1 @@
        -old
        +new

        Run `cargo test …` (default mode asks before commands)
        cargo test
        rm x
        Run `r\u{200b}m -rf x` (default mode asks before commands)
        r<hidden>m -rf x"]]
    .assert_eq(&shown.join("\n").replace('\u{200b}', "<hidden>"));
    drop(approvals);
    assert_eq!(bench.content("a.txt"), "old\n");
}

#[tokio::test]
async fn hooks_run_as_processes() {
    let mut bench = free();
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "grep -q '\"command\":\"echo stop\"' && { echo 'not that' >&2; exit 2; }; exit 0"},
        {"type": "command", "command": "sleep 28.33", "timeout": 0.2}
    ]}]}});
    bench.env.hooks = Arc::new(Hooks::from_json(&settings, Arc::new(HookProcesses)).expect("hooks"));
    bench.check("bash", json!({"command": "echo go"}), expect!["go\n"]).await;
    bench
        .check(
            "bash",
            json!({"command": "echo stop"}),
            expect!["PermissionError: a hook refused the call: not that"],
        )
        .await;
}

/// `cargo nextest run -p stepwell-tools --run-ignored all latency --no-capture`
#[tokio::test]
#[ignore = "prints numbers"]
async fn latency_of_a_command_through_the_executor() {
    const ROUNDS: usize = 300;
    let bench = free();
    let (mut times, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let call = ProgramCall {
            program: "bash".into(),
            arguments: ["--norc", "--noprofile", "-c", "echo hi"].map(Into::into).to_vec(),
            folder: bench.path("."),
            environment: Environment::default(),
            input: None,
            time_limit: Duration::from_secs(10),
            keep: KeepOutput { memory: 1024, file: None, file_limit: 0 },
        };
        let start = Instant::now();
        process::run(call, &bench.env.cancel, |_, _| {}).await.expect("ran");
        plain.push(start.elapsed());
        let start = Instant::now();
        assert_eq!(bench.call("bash", json!({"command": "echo hi"})).await.result.output, "hi\n");
        times.push(start.elapsed());
    }
    times.sort();
    plain.sort();
    println!(
        "median of {ROUNDS}: process {:?}, through the executor {:?}",
        plain[ROUNDS / 2],
        times[ROUNDS / 2]
    );
    let workspace = Workspace::open(bench.folder.path(), &[]).expect("opened");
    let start = Instant::now();
    let registry = Registry::new();
    let options = CatalogOptions { removed_variables: Vec::new() };
    registry.register_all(catalog::builtin(&workspace, &options)).expect("registered");
    let registered = start.elapsed();
    registry.definitions();
    println!("catalog registered in {registered:?}, definitions made after {:?}", start.elapsed());
    let start = Instant::now();
    bench.call("bash", json!({"command": "seq 1 2700000 | tee >(wc -c >&2)"})).await;
    println!("20 MB of output, redacted and kept, in {:?}", start.elapsed());
}

#[test]
fn the_definitions_stay_small_and_hide_nothing_of_ours() {
    let bench = free();
    let definitions = bench.executor.registry().definitions();
    let text = serde_json::to_string(&definitions).expect("JSON");
    println!("{} bytes of definitions", text.len());
    assert!(text.len() < 8 * 1024, "{} bytes", text.len());
    assert!(!text.contains("x-aliases") && !text.contains("$schema"));
    for definition in definitions.iter() {
        assert!(!definition.description.is_empty(), "{}", definition.name);
        assert_eq!(definition.input_schema["type"], "object", "{}", definition.name);
    }
    let bash = definitions.iter().find(|definition| definition.name == "bash").expect("bash");
    expect![[r#"{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer","minimum":0,"description":"Seconds until it is stopped; 300 by default, at most 600."},"working_dir":{"type":"string","description":"Folder to run in, within the workspace."}},"required":["command"]}"#]]
        .assert_eq(&bash.input_schema.to_string());
}
