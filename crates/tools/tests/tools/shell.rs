//! Commands, and hooks as processes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::ToolCall;
use stepwell_tool_runtime::{Hooks, Redactor};
use stepwell_tools::ports::HookProcesses;
use stepwell_workspace::files;

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

#[tokio::test]
async fn the_folder_is_kept_between_calls() {
    let bench = free();
    bench.put("sub/deep/file.txt", b"x");
    bench
        .check(
            "bash",
            json!({"command": "cd sub/deep && echo moved"}),
            expect![[r#"
        moved
        [in sub/deep now]"#]],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "ls; exit 3"}),
            expect![[r#"
        file.txt
        [exit code 3]
        [in sub/deep now]"#]],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "exec > ../log.txt; echo into the file; cd .."}),
            expect!["[in sub now]"],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "cat log.txt; cd /; pwd"}),
            expect![[r#"
        into the file
        /
    "#]],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "basename \"$PWD\""}),
            expect![[r#"
        sub
        [in sub now]"#]],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "basename \"$PWD\"", "working_dir": "."}),
            expect![[r#"
        ws
    "#]],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "fi"}),
            expect![[r#"
        bash: -c: line 1: syntax error near unexpected token `fi'
        bash: -c: line 1: `fi'
        [exit code 2]"#]],
        )
        .await;
    files::remove_dir_all(&bench.path("sub")).expect("removed");
    bench
        .check(
            "bash",
            json!({"command": "basename \"$PWD\""}),
            expect![[r#"
        ws
    "#]],
        )
        .await;
}

#[tokio::test]
async fn a_command_runs_on_in_the_background() {
    let bench = free();
    bench.check("process_read", json!({}), expect!["(no command runs in the background)"]).await;
    let started = json!({"command": "echo ready; while read line; do echo got $line; done; echo bye", "background": true});
    bench
        .check(
            "bash",
            started,
            expect![[r#"
        ready
        [runs in the background as 1; `process_read` shows what it says]"#]],
        )
        .await;
    bench
        .check(
            "process_input",
            json!({"id": 1, "text": "one\n", "wait": 20}),
            expect![[r#"
        got one
        [running]"#]],
        )
        .await;
    bench
        .check(
            "process_read",
            json!({"id": 1}),
            expect![[r#"
        (no new output)
        [running]"#]],
        )
        .await;
    bench
        .check(
            "process_read",
            json!({"id": 9}),
            expect!["ValidationError: there is no background command 9; known: 1"],
        )
        .await;
    bench
        .check(
            "process_kill",
            json!({"id": 1}),
            expect![[r#"
        (no new output)
        [ended by request]"#]],
        )
        .await;
    bench
        .check(
            "process_input",
            json!({"id": 1, "text": "late"}),
            expect!["ValidationError: command 1 has ended"],
        )
        .await;
    bench
        .check(
            "bash",
            json!({"command": "echo quick; exit 4", "background": true}),
            expect![[r#"
        quick
        [exit code 4]"#]],
        )
        .await;
}

#[tokio::test]
async fn a_long_command_moves_to_the_background_when_asked() {
    let bench = free();
    let call = json!({"command": "echo begun; sleep 600", "timeout": 1, "on_timeout": "background"});
    bench
        .check(
            "bash",
            call,
            expect![[r#"
        begun
        [runs in the background as 1; `process_read` shows what it says]"#]],
        )
        .await;
    bench
        .check(
            "process_kill",
            json!({"id": 1}),
            expect![[r#"
        (no new output)
        [ended by request]"#]],
        )
        .await;
}

#[tokio::test]
async fn a_terminal_is_given_when_asked() {
    let bench = free();
    bench
        .check(
            "bash",
            json!({"command": "test -t 1 && test -t 0 || echo none"}),
            expect![[r#"
        none
    "#]],
        )
        .await;
    let call = json!({"command": "test -t 0 && test -t 1 && printf '\\033[1mbold\\033[0m\\n'; tput cols", "pty": true});
    bench
        .check(
            "bash",
            call,
            expect![[r#"
        bold
        120
    "#]],
        )
        .await;
    let reads =
        json!({"command": "read -p 'name? ' name; echo hello $name", "pty": true, "background": true});
    bench
        .check("bash", reads, expect!["[runs in the background as 2; `process_read` shows what it says]"])
        .await;
    bench.call("process_input", json!({"id": 2, "text": "you\n", "wait": 1})).await;
    let mut said = String::new();
    for _ in 0..20 {
        let read = bench.call("process_read", json!({"id": 2, "wait": 20})).await.result.output;
        said.push_str(&read);
        if read.contains("exit code 0") {
            break;
        }
    }
    assert!(said.contains("exit code 0"), "{said}");
}

/// Property 10: whatever a command prints, both streams are in the result.
#[test]
fn property_10_command_output_is_captured() {
    use proptest::prelude::*;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = free();
    let text = "[a-z0-9 .,;:_/@%+=-]{0,60}";
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) };
    proptest!(config, |(out in text, err in text, code in 0_u8..3)| {
        let command = format!("printf '%s\\n' '{out}'; printf '%s\\n' '{err}' >&2; exit {code}");
        let outcome = runtime.block_on(bench.call("bash", json!({ "command": command })));
        let output = outcome.output.clone().unwrap_or_default();
        prop_assert_eq!(output["exit_code"].as_i64(), Some(i64::from(code)));
        let mut lines: Vec<&str> = output["output"].as_str().unwrap_or_default().split('\n').collect();
        lines.sort_unstable();
        let mut expected = vec![out.as_str(), err.as_str(), ""];
        expected.sort_unstable();
        prop_assert_eq!(lines, expected);
    });
}
