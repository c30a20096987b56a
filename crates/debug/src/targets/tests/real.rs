//! Real compilers, real builds, real processes.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::launch_config::tasks::{ProcessRunner, TaskCommand, TaskRun, TaskRunner};

/// Whether the program is there; in CI it has to be.
fn has(program: &str) -> bool {
    let found = stepwell_workspace::process::find_program(program, Path::new("/nowhere")).is_some();
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !in_ci, "{program} has to be installed in CI");
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

fn task_run() -> TaskRun {
    TaskRun {
        runner: Arc::new(ProcessRunner),
        time_limit: Duration::from_secs(300),
        cancel: CancellationToken::new(),
        on_output: Arc::new(|_| {}),
    }
}

async fn run(place: &Path, words: &[&str]) {
    let command = TaskCommand {
        program: words[0].to_owned(),
        arguments: words[1..].iter().map(|word| (*word).to_owned()).collect(),
        folder: place.to_path_buf(),
        environment: vec![("CARGO_TARGET_DIR".to_owned(), None)],
        shown: String::new(),
        background: None,
    };
    let mut output = String::new();
    let ending = ProcessRunner
        .run(&command, Duration::from_secs(300), &CancellationToken::new(), &mut |_, text| {
            output.push_str(text);
        })
        .await
        .unwrap();
    assert_eq!(ending, stepwell_workspace::process::Ending::Exited(0), "{words:?}: {output}");
}

#[tokio::test]
async fn binaries_are_known_by_their_sections() {
    let place = folder(&[
        ("a.c", "int main(void) { return 0; }"),
        ("gtest.c", "int _ZN7testing4TestE; int main(void) { return 0; }"),
        ("a.rs", "fn main() {}"),
        ("go/go.mod", "module x\n"),
        ("go/main.go", "package main\nfunc main() {}\n"),
    ]);
    let check = |name: &str, expected: expect_test::Expect| {
        let described = describe(&Description::CommandLine(format!("./{name} x")), &context(place.path()));
        let text = format!("{name}\n{}", told(described));
        expected.assert_eq(&text.replace(&place.path().display().to_string(), "/root"));
    };
    if has("cc") {
        run(place.path(), &["cc", "-g", "-o", "c-debug", "a.c"]).await;
        run(place.path(), &["cc", "-s", "-o", "c-plain", "a.c"]).await;
        run(place.path(), &["cc", "-g", "-o", "gtest", "gtest.c"]).await;
        check(
            "gtest",
            expect![[r#"
            gtest
              Run the tests of the program `gtest` under a native debugger.
              lldb-dap launch program="/root/gtest" args=["x"] cwd="/root"
        "#]],
        );
        check(
            "c-debug",
            expect![[r#"
                c-debug
                  Run the program `c-debug` under a native debugger.
                  lldb-dap launch program="/root/c-debug" args=["x"] cwd="/root"
            "#]],
        );
        check(
            "c-plain",
            expect![[r#"
                c-plain
                  Run the program `c-plain` under a native debugger.
                  lldb-dap launch program="/root/c-plain" args=["x"] cwd="/root"
                  # `c-plain` has no debug information, so lines and variables are unknown: compile it with `-g -O0`
            "#]],
        );
    }
    if has("rustc") {
        run(place.path(), &["rustc", "-g", "-o", "rs-debug", "a.rs"]).await;
        check(
            "rs-debug",
            expect![[r#"
                rs-debug
                  Run the Rust program `rs-debug` under a native debugger.
                  lldb-dap launch program="/root/rs-debug" args=["x"] cwd="/root"
            "#]],
        );
    }
    if has("go") {
        run(&place.path().join("go"), &["go", "build", "-o", "../go-debug", "."]).await;
        check(
            "go-debug",
            expect![[r#"
                go-debug
                  Run the Go program `go-debug` under delve.
                  go launch mode="exec" program="/root/go-debug" args=["x"] cwd="/root"
            "#]],
        );
    }
}

#[tokio::test]
async fn a_core_file_is_opened_and_nothing_is_run() {
    if !has("cc") {
        return;
    }
    let place = folder(&[("a.c", "int main(void) { return 0; }")]);
    run(place.path(), &["cc", "-g", "-o", "app", "a.c"]).await;
    // A header that says it is a core file, and nothing else.
    let mut header = vec![0; 64];
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    header[0x10] = 4;
    stepwell_workspace::files::write_atomic(
        &place.path().join("core"),
        &header,
        stepwell_workspace::files::Privacy::Private,
    )
    .unwrap();
    let mut all = String::new();
    for program in [Some("app"), None, Some("a.c")] {
        let description =
            Description::Core { core: "core".to_owned(), program: program.map(ToOwned::to_owned) };
        all.push_str(&format!("{program:?}\n{}", told(describe(&description, &context(place.path())))));
    }
    all.push_str(&format!(
        "command\n{}",
        told(describe(&Description::CommandLine("./core".to_owned()), &context(place.path())))
    ));
    expect![[r#"
        Some("app")
          Open the core file `core`; nothing is run.
          lldb-dap attach coreFile="/root/core" program="/root/app" cwd="/root"
        None
          Open the core file `core`; nothing is run.
          lldb-dap attach coreFile="/root/core" cwd="/root"
          # without the program that left it, a core file shows addresses and few names; name the program too
        Some("a.c")
          ! `/root/a.c` cannot be debugged: it is no program that could have left a core file
        command
          Open the core file `core`; nothing is run.
          lldb-dap attach coreFile="/root/core" cwd="/root"
          # without the program that left it, a core file shows addresses and few names; name the program too
    "#]]
    .assert_eq(&all.replace(&place.path().display().to_string(), "/root"));
}

#[tokio::test]
async fn cargo_builds_and_the_right_binary_is_found() {
    if !has("cargo") {
        return;
    }
    let place = folder(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/lib.rs", "#[cfg(test)] mod tests { #[test] fn adds() {} #[test] fn both() {} }"),
        ("src/bin/one.rs", "fn main() {}"),
        ("src/bin/two.rs", "fn main() {}"),
        ("tests/it.rs", "#[test] fn subtracts() {} #[test] fn both() {}"),
    ]);
    let target = place.path().join("target").display().to_string();
    let ctx = context(place.path());
    let mut all = String::new();
    for line in [
        "cargo run --bin two -- x",
        "cargo run",
        "cargo test adds",
        "cargo test subtracts",
        "cargo test both",
        "cargo test nothing_like_it",
        "cargo run --bin three",
    ] {
        let line_here = format!("CARGO_TARGET_DIR={target} {line}");
        let mut described = describe(&Description::CommandLine(line_here), &ctx).unwrap();
        let step = described.build.clone().unwrap();
        let outcome = match step.build(&mut described.resolved, &task_run()).await {
            Ok(warnings) => {
                let program = described.resolved.arguments["program"].as_str().unwrap().to_owned();
                let name = program.rsplit('/').next().unwrap().split('-').next().unwrap().to_owned();
                format!("{name} {} {warnings:?}", described.resolved.arguments["args"])
            }
            Err(error) => error.to_string().lines().next().unwrap().replace(&target, "TARGET"),
        };
        all.push_str(&format!("{line}: {outcome}\n"));
    }
    expect![[r#"
        cargo run --bin two -- x: two ["x"] []
        cargo run: what to debug could be several: `--bin one`, `--bin two`
        cargo test adds: shop ["adds","--nocapture"] []
        cargo test subtracts: it ["subtracts","--nocapture"] []
        cargo test both: what to debug could be several: `--test it`, `-p shop --lib`
        cargo test nothing_like_it: the build made no program to debug: no test matches `nothing_like_it`
        cargo run --bin three: task `cargo build --message-format=json-render-diagnostics --bin three` ended with exit code 101; the output ends with:
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn the_cargo_key_of_a_configuration_builds_too() {
    if !has("cargo") {
        return;
    }
    let place = folder(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/lib.rs", "#[test] fn adds() {}"),
        ("src/main.rs", "fn main() {}"),
    ]);
    let target = place.path().join("target").display().to_string();
    for (cargo, expected) in [
        (json!({"args": ["build"], "filter": {"kind": "bin"}}), "shop"),
        (json!({"args": ["test", "--lib"]}), "shop-"),
        (json!({"args": ["build", "--bin", "none"]}), "! "),
        (json!({"args": [1]}), "? "),
    ] {
        let mut written = json!({"name": "x", "type": "lldb", "request": "launch", "cargo": cargo});
        written["cargo"]["env"] = json!({"CARGO_TARGET_DIR": target});
        let ctx = context(place.path());
        let mut resolved =
            crate::launch_config::resolve_configuration(written.as_object().unwrap(), &[], &ctx).unwrap();
        let told = match BuildStep::of_configuration(&resolved) {
            Err(error) => format!("? {error}"),
            Ok(step) => match step.unwrap().build(&mut resolved, &task_run()).await {
                Ok(_) => {
                    resolved.arguments["program"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
                }
                Err(error) => format!("! {error}"),
            },
        };
        assert!(told.starts_with(expected), "{told}");
    }
}

#[test]
fn our_own_processes_are_listed_with_their_relation() {
    let all = processes("").unwrap();
    let ourselves = all.iter().find(|process| process.pid == std::process::id()).unwrap();
    assert_eq!(ourselves.relation, Relation::Ourselves);
    let parent = all.iter().find(|process| process.pid == ourselves.parent).unwrap();
    assert_eq!(parent.relation, Relation::Ancestor);
    assert!(processes("surely no process has this in its name").unwrap().is_empty());
}

#[tokio::test]
async fn a_process_of_ours_is_attached_to_and_its_parents_are_not() {
    let place = folder(&[]);
    let ctx = context(place.path());
    let command = TaskCommand {
        program: "/bin/sh".to_owned(),
        arguments: vec!["-c".to_owned(), "echo $$; exec sleep 600".to_owned()],
        folder: place.path().to_path_buf(),
        environment: Vec::new(),
        shown: String::new(),
        background: None,
    };
    let (sender, mut pids) = tokio::sync::mpsc::channel(1);
    let mut on_output = move |_, text: &str| sender.try_send(text.trim().parse::<u32>().unwrap()).unwrap();
    let cancel = CancellationToken::new();
    let child = ProcessRunner.run(&command, Duration::from_secs(60), &cancel, &mut on_output);
    let look = async {
        let pid = pids.recv().await.unwrap();
        let child = describe(&Description::Process { pid }, &ctx).unwrap();
        assert_eq!(child.resolved.arguments["pid"], pid);
        assert_eq!(child.resolved.request, Request::Attach);
        let listed = processes("").unwrap().into_iter().find(|process| process.pid == pid).unwrap();
        assert_eq!(listed.relation, Relation::Descendant);
        assert_eq!(check_attach(pid).unwrap(), Relation::Descendant);
        cancel.cancel();
    };
    let (ending, ()) = tokio::join!(child, look);
    ending.unwrap();
    let parent =
        processes("").unwrap().into_iter().find(|process| process.relation == Relation::Ancestor).unwrap();
    for refused in [std::process::id(), parent.pid] {
        let error = describe(&Description::Process { pid: refused }, &ctx).unwrap_err();
        assert!(error.to_string().contains("Stepwell itself"), "{error}");
        assert!(check_attach(refused).is_err());
    }
}
