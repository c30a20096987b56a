//! Commands, and hooks as processes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::ToolCall;
use stepwell_tool_runtime::{Hooks, Redactor, Registry};
use stepwell_tools::Confinement;
use stepwell_tools::catalog::{self, CatalogOptions};
use stepwell_tools::ports::HookProcesses;
use stepwell_workspace::process::{self, Environment, KeepOutput, ProgramCall};
use stepwell_workspace::{Workspace, files};

use crate::bench::free;

#[tokio::test]
async fn an_output_that_was_cut_is_not_called_full() {
    let bench = free();
    let outcome =
        bench.call("bash", json!({"command": "yes 0123456789abcdef | head -c 17000000"})).await.result;
    assert_eq!(outcome.artifacts[0].label, "the first 16 MB of the output of bash");
    assert!(
        outcome.output.contains("the first 16 MB of the output are in "),
        "{}",
        &outcome.output[24_000..26_000]
    );
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
                TimeoutError: the command was stopped after 1 s; its process group was ended
                output so far:
                begun
            "]],
        )
        .await;
    assert!(start.elapsed() < Duration::from_secs(25), "it waited for the command");
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
        "the command was cancelled; its process group was ended\noutput so far:\nbegun\n"
    );
}

#[tokio::test]
async fn hooks_run_as_processes() {
    let mut bench = free();
    let mut hook = |hook: Value| {
        let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
        bench.env.hooks = Arc::new(Hooks::from_json(&settings, Arc::new(HookProcesses)).expect("hooks"));
        bench.env.clone()
    };
    let guard = "grep -q '\"command\":\"echo stop\"' && { echo 'not that' >&2; exit 2; }; exit 0";
    for (settings, command, expected) in [
        (json!({"command": guard}), "echo go", "go\n"),
        (json!({"command": guard}), "echo stop", "a hook refused the call: not that"),
        (json!({"command": "exit 1"}), "echo go", "go\n"),
        (
            json!({"command": "sleep 28.33", "timeout": 0.2}),
            "echo go",
            "a hook refused the call: the hook `sleep 28.33` ran into its time limit and was stopped",
        ),
        (
            json!({"command": "/no/guard"}),
            "echo go",
            "a hook refused the call: the hook `/no/guard` ended with exit code 127: bash: line 1: /no/guard: No such \
             file or directory",
        ),
        (
            json!({"command": "kill -SEGV $$"}),
            "echo go",
            "a hook refused the call: the hook `kill -SEGV $$` could not be run: it was ended by signal 11",
        ),
    ] {
        let env = hook(settings);
        let arguments = json!({"command": command});
        let call = ToolCall { id: "c1".into(), name: "bash".into(), arguments, opaque: None };
        assert_eq!(bench.executor.execute(&call, &env).await.result.output, expected);
    }
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
    let options = CatalogOptions {
        removed_variables: Vec::new(),
        confinement: Confinement::Off { reason: String::new() },
    };
    registry.register_all(catalog::builtin(&workspace, &options)).expect("registered");
    let registered = start.elapsed();
    registry.definitions();
    println!("catalog registered in {registered:?}, definitions made after {:?}", start.elapsed());
    let start = Instant::now();
    bench.call("bash", json!({"command": "seq 1 2700000 | tee >(wc -c >&2)"})).await;
    println!("20 MB of output, redacted and kept, in {:?}", start.elapsed());
}
