//! Plans as text, and real runs of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::launch_config::tests::{context, folder, object};
use crate::launch_config::{Context, LaunchError, Platform, TaskRef};

const TASKS: &str = r#"{
    "version": "2.0.0",
    "options": {"env": {"COMMON": "1", "BOTH": "common"}},
    "inputs": [{"id": "who", "type": "promptString", "default": "world"}],
    "tasks": [
        {"label": "shell", "type": "shell", "command": "echo", "args": ["hello ${input:who}", {"value": "$X", "quoting": "weak"}]},
        {"label": "line", "type": "shell", "command": "make -j4 && make test", "options": {"cwd": "${workspaceFolder}/sub", "env": {"BOTH": "own", "GONE": null}}},
        {"label": "process", "type": "process", "command": "gcc", "args": ["-g", "a b.c"], "group": {"kind": "build", "isDefault": true}},
        {"label": "bare", "command": "true"},
        {"label": "platform", "type": "shell", "command": "win", "args": ["a"], "linux": {"command": "lin", "args": ["b"], "options": {"cwd": "/lin"}}, "osx": {"command": "mac"}},
        {"label": "zsh", "type": "shell", "command": "x", "options": {"shell": {"executable": "/bin/zsh", "args": ["-l"]}}},
        {"type": "npm", "script": "build", "path": "web/"},
        {"type": "typescript", "tsconfig": "tsconfig.json", "option": "watch"},
        {"type": "cargo", "command": "build", "args": ["--all"], "label": "rust"},
        {"type": "cppbuild", "label": "C/C++: gcc", "command": "/usr/bin/gcc", "args": ["-g", "${file}"]},
        {"label": "after", "type": "shell", "command": "c", "dependsOn": ["shell", "process"]},
        {"label": "in order", "dependsOrder": "sequence", "dependsOn": ["after", "bare", {"type": "npm", "script": "build", "path": "web/"}]},
        {"label": "diamond", "dependsOn": ["after", "shell", "in order"]},
        {"label": "a", "dependsOn": "b"}, {"label": "b", "dependsOn": ["c"]}, {"label": "c", "dependsOn": ["a"]},
        {"label": "nothing", "type": "shell"}, {"label": "strange", "type": "extension.x"},
        {"label": "lost", "dependsOn": "nobody"}, {"label": "bad args", "command": "x", "args": "y"},
        {"label": "bad env", "command": "x", "options": {"env": {"A=B": "1"}}},
        {"label": "watch", "type": "shell", "command": "w", "isBackground": true, "problemMatcher": "$tsc-watch"}
    ]
}"#;

fn told(task: &TaskRef, ctx: &Context) -> String {
    let file = TaskFile::read(&ctx.folder).unwrap();
    let root = ctx.folder.display().to_string();
    let text = match plan_task(&file, task, ctx) {
        Ok(plan) => {
            let mut text = format!("== {}\n", plan.label);
            for (place, step) in plan.steps.iter().enumerate() {
                text.push_str(&format!("{place} {} after {:?}\n", step.label, step.after));
                if let Some(command) = &step.command {
                    let patterns =
                        command.background.as_ref().map(|found| format!(" background:{}", found.len()));
                    text.push_str(&format!(
                        "    {:?} {:?} in {}{}\n    {:?}\n",
                        command.program,
                        command.arguments,
                        command.folder.display(),
                        patterns.unwrap_or_default(),
                        command.environment,
                    ));
                }
            }
            for row in plan.runs() {
                text.push_str(&format!("  {}: {}\n", row.key, row.text));
            }
            text
        }
        Err(error) => format!("! {error}\n"),
    };
    text.replace(&root, "/root")
}

fn check(task: &TaskRef, expected: Expect) {
    let place = folder(&[
        (".vscode/tasks.json", TASKS),
        ("package.json", r#"{"scripts": {"lint": "x"}}"#),
        ("yarn.lock", ""),
        ("tsconfig.json", "{}"),
    ]);
    let mut ctx = context();
    ctx.folder = place.path().to_path_buf();
    ctx.environment.insert("SHELL".to_owned(), "/bin/bash".to_owned());
    ctx.platform = Platform::Linux;
    expected.assert_eq(&told(task, &ctx));
}

fn label(label: &str) -> TaskRef {
    TaskRef::Label(label.to_owned())
}

#[test]
fn shell_tasks() {
    check(
        &label("shell"),
        expect![[r#"
        == shell
        0 shell after []
            "/bin/bash" ["-c", "echo 'hello world' \"$X\""] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          shell: COMMON=1 BOTH=common echo 'hello world' "$X" (in /root)
    "#]],
    );
    check(
        &label("line"),
        expect![[r#"
        == line
        0 line after []
            "/bin/bash" ["-c", "make -j4 && make test"] in /root/sub
            [("COMMON", Some("1")), ("BOTH", Some("own")), ("GONE", None)]
          line: COMMON=1 BOTH=own -GONE make -j4 && make test (in /root/sub)
    "#]],
    );
    check(
        &label("zsh"),
        expect![[r#"
        == zsh
        0 zsh after []
            "/bin/zsh" ["-l", "-c", "x"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          zsh: COMMON=1 BOTH=common x (in /root)
    "#]],
    );
    check(
        &label("platform"),
        expect![[r#"
            == platform
            0 platform after []
                "/bin/bash" ["-c", "lin b"] in /lin
                [("COMMON", Some("1")), ("BOTH", Some("common"))]
              platform: COMMON=1 BOTH=common lin b (in /lin)
        "#]],
    );
    check(
        &label("watch"),
        expect![[r#"
        == watch
        0 watch after []
            "/bin/bash" ["-c", "w"] in /root background:1
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          watch: COMMON=1 BOTH=common w (in /root)
    "#]],
    );
}

#[test]
fn tasks_of_other_types() {
    check(
        &TaskRef::DefaultBuild,
        expect![[r#"
        == process
        0 process after []
            "gcc" ["-g", "a b.c"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          process: COMMON=1 BOTH=common gcc -g 'a b.c' (in /root)
    "#]],
    );
    check(
        &label("bare"),
        expect![[r#"
        == bare
        0 bare after []
            "true" [] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          bare: COMMON=1 BOTH=common true (in /root)
    "#]],
    );
    check(
        &label("npm: build - web"),
        expect![[r#"
        == npm: build - web
        0 npm: build - web after []
            "/bin/bash" ["-c", "yarn run build"] in /root/web/
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          npm: build - web: COMMON=1 BOTH=common yarn run build (in /root/web/)
    "#]],
    );
    check(
        &label("npm: lint"),
        expect![[r#"
        == npm: lint
        0 npm: lint after []
            "/bin/bash" ["-c", "yarn run lint"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          npm: lint: COMMON=1 BOTH=common yarn run lint (in /root)
    "#]],
    );
    check(
        &TaskRef::Properties(object(json!({"type": "npm", "script": "any"}))),
        expect![[r#"
        == npm: any
        0 npm: any after []
            "/bin/bash" ["-c", "yarn run any"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          npm: any: COMMON=1 BOTH=common yarn run any (in /root)
    "#]],
    );
    check(
        &label("tsc: watch - tsconfig.json"),
        expect![[r#"
        == tsc: watch - tsconfig.json
        0 tsc: watch - tsconfig.json after []
            "/bin/bash" ["-c", "tsc -p tsconfig.json --watch"] in /root background:1
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          tsc: watch - tsconfig.json: COMMON=1 BOTH=common tsc -p tsconfig.json --watch (in /root)
    "#]],
    );
    check(
        &label("tsc: build - tsconfig.json"),
        expect![[r#"
        == tsc: build - tsconfig.json
        0 tsc: build - tsconfig.json after []
            "/bin/bash" ["-c", "tsc -p tsconfig.json"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          tsc: build - tsconfig.json: COMMON=1 BOTH=common tsc -p tsconfig.json (in /root)
    "#]],
    );
    check(
        &label("rust"),
        expect![[r#"
        == rust
        0 rust after []
            "cargo" ["build", "--all"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          rust: COMMON=1 BOTH=common cargo build --all (in /root)
    "#]],
    );
    check(
        &label("C/C++: gcc"),
        expect![[r#"
        == C/C++: gcc
        0 C/C++: gcc after []
            "/usr/bin/gcc" ["-g", "/work/shop/src/deep/cart.test.py"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          C/C++: gcc: COMMON=1 BOTH=common /usr/bin/gcc -g /work/shop/src/deep/cart.test.py (in /root)
    "#]],
    );
}

#[test]
fn dependencies_come_first_and_once() {
    check(
        &label("after"),
        expect![[r#"
        == after
        0 shell after []
            "/bin/bash" ["-c", "echo 'hello world' \"$X\""] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        1 process after []
            "gcc" ["-g", "a b.c"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        2 after after [0, 1]
            "/bin/bash" ["-c", "c"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
          shell: COMMON=1 BOTH=common echo 'hello world' "$X" (in /root)
          process: COMMON=1 BOTH=common gcc -g 'a b.c' (in /root)
          after: COMMON=1 BOTH=common c (in /root)
    "#]],
    );
    check(
        &label("diamond"),
        expect![[r#"
        == diamond
        0 shell after []
            "/bin/bash" ["-c", "echo 'hello world' \"$X\""] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        1 process after []
            "gcc" ["-g", "a b.c"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        2 after after [0, 1]
            "/bin/bash" ["-c", "c"] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        3 bare after [2]
            "true" [] in /root
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        4 npm: build - web after [2, 3]
            "/bin/bash" ["-c", "yarn run build"] in /root/web/
            [("COMMON", Some("1")), ("BOTH", Some("common"))]
        5 in order after [2, 3, 4]
        6 diamond after [0, 2, 5]
          shell: COMMON=1 BOTH=common echo 'hello world' "$X" (in /root)
          process: COMMON=1 BOTH=common gcc -g 'a b.c' (in /root)
          after: COMMON=1 BOTH=common c (in /root)
          bare: COMMON=1 BOTH=common true (in /root)
          npm: build - web: COMMON=1 BOTH=common yarn run build (in /root/web/)
    "#]],
    );
}

#[test]
fn what_is_wrong_with_a_task_is_said() {
    for (name, expected) in [
        ("a", "tasks wait for each other: a -> b -> c -> a"),
        ("nothing", "task `nothing` has no `command`"),
        ("strange", "is of type `extension.x`, which needs an extension"),
        ("lost", "there is no task `nobody`"),
        ("bad args", "has `args` that are no list"),
        ("bad env", "sets the variable `A=B`"),
        ("npm: none", "there is no task `npm: none`; there are `shell`, `line`"),
    ] {
        let place = folder(&[(".vscode/tasks.json", TASKS)]);
        let mut ctx = context();
        ctx.folder = place.path().to_path_buf();
        let told = told(&label(name), &ctx);
        assert!(told.contains(expected), "{told}");
    }
    let old = folder(&[(".vscode/tasks.json", r#"{"version": "0.1.0", "command": "tsc"}"#)]);
    assert!(TaskFile::read(old.path()).unwrap_err().to_string().contains("0.1.0"));
}

/// Runs a task of a folder whose tasks.json is `tasks`, and gives what was put out.
async fn run_in(place: &Path, name: &str, limit: Duration) -> (Result<RunningTasks, LaunchError>, String) {
    let environment = [("PATH", "/usr/bin:/bin"), ("SHELL", "/bin/sh")];
    let ctx =
        Context::new(place, environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    let plan = plan_task(&TaskFile::read(place).unwrap(), &label(name), &ctx).unwrap();
    let output = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&output);
    let run = TaskRun {
        runner: Arc::new(ProcessRunner),
        time_limit: limit,
        cancel: CancellationToken::new(),
        on_output: Arc::new(move |piece| sink.lock().push_str(&format!("{}: {}", piece.label, piece.text))),
    };
    let outcome = run_task(&plan, run).await;
    let output = output.lock().clone();
    (outcome, output)
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn steps_run_in_their_order_and_their_output_is_passed_on() {
    let place = folder(&[(
        ".vscode/tasks.json",
        r#"{"tasks": [
            {"label": "one", "type": "shell", "command": "echo 1 >> log; echo said $WORD", "options": {"env": {"WORD": "a b"}}},
            {"label": "two", "type": "process", "command": "sh", "args": ["-c", "cat log && echo 2 >> log"]},
            {"label": "all", "type": "shell", "command": "cat log", "dependsOn": ["one", "two"], "dependsOrder": "sequence"}]}"#,
    )]);
    let (outcome, output) = run_in(place.path(), "all", LONG).await;
    assert!(outcome.unwrap().labels().is_empty());
    expect![[r#"
        one: said a b
        two: 1
        all: 1
        2
    "#]]
    .assert_eq(&output);
}

#[tokio::test]
async fn a_failure_carries_the_end_of_the_output_and_stops_the_rest() {
    let place = folder(&[(
        ".vscode/tasks.json",
        r#"{"tasks": [
            {"label": "fails", "type": "shell", "command": "seq 1 10000; echo the reason >&2; exit 3"},
            {"label": "all", "type": "shell", "command": "touch ran", "dependsOn": "fails"},
            {"label": "missing", "type": "process", "command": "no-such-program-here"}]}"#,
    )]);
    let (outcome, _) = run_in(place.path(), "all", LONG).await;
    let error = outcome.unwrap_err();
    let LaunchError::TaskFailed { label, how, tail } = &error else { panic!("{error}") };
    assert_eq!((label.as_str(), how.as_str()), ("fails", "ended with exit code 3"));
    assert!(tail.ends_with("the reason\n") && tail.len() <= 4096, "{tail}");
    assert!(!place.path().join("ran").exists());
    let (outcome, _) = run_in(place.path(), "missing", LONG).await;
    assert!(outcome.unwrap_err().to_string().contains("no-such-program-here"));
}

#[tokio::test]
async fn a_background_task_is_ready_by_its_pattern_and_ends_with_the_guard() {
    // The file is held open by the whole process group; its lock is free once all of it is gone.
    let place = folder(&[(
        ".vscode/tasks.json",
        r#"{"tasks": [
            {"label": "watch", "type": "shell", "isBackground": true, "command": "exec 9>lock; flock 9; (sleep 600 & echo building; echo $! > child; echo 'done: ready'; wait)",
             "problemMatcher": {"background": {"activeOnStart": true, "beginsPattern": "building", "endsPattern": "^done: ready$"}}},
            {"label": "use", "type": "shell", "command": "cat child", "dependsOn": "watch"}]}"#,
    )]);
    let (outcome, output) = run_in(place.path(), "use", LONG).await;
    let running = outcome.unwrap();
    assert_eq!(running.labels(), ["watch"]);
    assert!(running.notes.is_empty());
    assert!(output.contains("watch: building\n") && output.contains("use: "), "{output}");
    let is_free = ["-w", "30", "lock", "true"];
    let busy = ["-n", "lock", "true"];
    assert!(!flock(place.path(), &busy).await, "the task lives as long as its guard");
    drop(running);
    assert!(flock(place.path(), &is_free).await, "the task and its children end with the guard");
}

/// Whether `flock` with these words succeeds.
async fn flock(place: &Path, words: &[&str]) -> bool {
    let command = TaskCommand {
        program: "flock".to_owned(),
        arguments: words.iter().map(|word| (*word).to_owned()).collect(),
        folder: place.to_path_buf(),
        environment: Vec::new(),
        shown: String::new(),
        background: None,
    };
    let ending = ProcessRunner.run(&command, LONG, &CancellationToken::new(), &mut |_, _| {}).await.unwrap();
    ending == stepwell_workspace::process::Ending::Exited(0)
}

#[tokio::test]
async fn a_background_task_that_ends_or_is_late_is_told() {
    let place = folder(&[(
        ".vscode/tasks.json",
        r#"{"tasks": [
            {"label": "dies", "type": "shell", "isBackground": true, "command": "echo oh no; exit 2", "problemMatcher": "$tsc-watch"},
            {"label": "last words", "type": "shell", "isBackground": true, "command": "echo Found 0 errors. Watching for file changes.; exit 2", "problemMatcher": "$tsc-watch"},
            {"label": "late", "type": "shell", "isBackground": true, "command": "echo waiting; sleep 600", "problemMatcher": "$tsc-watch"},
            {"label": "slow", "type": "shell", "command": "echo begun; sleep 600"},
            {"label": "mute", "type": "shell", "isBackground": true, "command": "sleep 600"}]}"#,
    )]);
    let (outcome, _) = run_in(place.path(), "dies", LONG).await;
    assert!(matches!(outcome.unwrap_err(), LaunchError::TaskFailed { tail, .. } if tail == "oh no\n"));
    assert!(run_in(place.path(), "last words", LONG).await.0.is_ok());
    let short = Duration::from_millis(300);
    let (outcome, _) = run_in(place.path(), "late", short).await;
    assert!(matches!(outcome.unwrap_err(), LaunchError::TaskTimedOut { awaited: "ready", .. }));
    let (outcome, _) = run_in(place.path(), "slow", short).await;
    assert!(matches!(outcome.unwrap_err(), LaunchError::TaskTimedOut { awaited: "done", .. }));
    let (outcome, _) = run_in(place.path(), "mute", LONG).await;
    let running = outcome.unwrap();
    assert_eq!(running.notes.len(), 1);
    running.stop().await;
}

#[tokio::test]
async fn cancelling_ends_what_runs() {
    let place = folder(&[(
        ".vscode/tasks.json",
        r#"{"tasks": [{"label": "slow", "type": "shell", "command": "echo begun; sleep 600"},
                      {"label": "watch", "type": "shell", "isBackground": true, "command": "echo begun; sleep 600", "problemMatcher": "$tsc-watch"}]}"#,
    )]);
    for name in ["slow", "watch"] {
        let ctx = Context::new(place.path(), std::collections::BTreeMap::new());
        let plan = plan_task(&TaskFile::read(place.path()).unwrap(), &label(name), &ctx).unwrap();
        let cancel = CancellationToken::new();
        let at_first_output = cancel.clone();
        let run = TaskRun {
            runner: Arc::new(ProcessRunner),
            time_limit: LONG,
            cancel,
            on_output: Arc::new(move |_| at_first_output.cancel()),
        };
        assert!(
            matches!(run_task(&plan, run).await.unwrap_err(), LaunchError::TaskCancelled { .. }),
            "{name}"
        );
    }
}
