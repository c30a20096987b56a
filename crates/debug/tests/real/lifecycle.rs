//! Programs that run before, during and after a session.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use stepwell_debug::adapters::{AdapterKind, StartMode};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::ids::ThreadId;
use stepwell_debug::session::Phase;
use stepwell_debug::{Outcome, StopReason};

use crate::lab::{Lab, Language, printed};

pub async fn output_and_exit(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    let session = lab.start("exit");
    let outcome = lab.outcome(&session).await;
    let Outcome::Completed(ending) = outcome else { panic!("{outcome:?}") };
    let all: String = lab.debugger.sessions().iter().map(|session| printed(session)).collect();
    assert!(all.contains("begin"), "{all:?}");
    // js-debug tells no exit code.
    if kind != AdapterKind::JsDebug {
        assert_eq!(ending.exit_code, Some(3), "{all}");
    }
    assert_eq!(session.phase(), Phase::Terminated);
}

pub async fn pause_and_kill(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("main")).await.unwrap();
    let session = lab.start("wait");
    let (session, _) = lab.stop(&session).await;
    let process = session.process_id();
    session.resume(None).await.unwrap();
    let outcome = lab.debugger.pause(&session, None, &lab.wait()).await.unwrap();
    let Outcome::Stopped(session, stop) = outcome else {
        let states: Vec<_> = lab.debugger.sessions().iter().map(|one| (one.phase(), one.stop())).collect();
        panic!("{outcome:?} {states:?} {}", printed(&session))
    };
    assert_eq!(stop.reason, StopReason::Pause);
    assert!(!session.threads().await.unwrap().is_empty());
    lab.debugger.end(&session).await;
    // In a sandbox the number counts inside alone.
    if let Some(pid) = process.filter(|_| lab.isolation.is_none()) {
        assert!(!std::path::Path::new(&format!("/proc/{pid}/cwd")).exists(), "{pid} is still there");
    }
}

pub async fn attach(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    let (mut child, _streams, arguments) = running(&lab);
    lab.debugger.set_breakpoint(lab.at("wait")).await.unwrap();
    let session = lab.start_with(StartMode::Attach, arguments);
    let mut stopped = lab.report(&session).await;
    // Some stop where they attached first.
    if stopped.1.line != Some(lab.line("wait")) {
        stopped.0.resume(None).await.unwrap();
        stopped = lab.report(&session).await;
    }
    let (_, report) = stopped;
    assert_eq!(report.line, Some(lab.line("wait")), "{report:?}");
    lab.debugger.end(&session).await;
    assert!(child.try_wait().unwrap().is_none(), "it runs on");
    child.kill().unwrap();
    child.wait().unwrap();
}

pub async fn restart(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("after")).await.unwrap();
    let session = lab.start("");
    let (session, stop) = lab.report(&session).await;
    assert_eq!(stop.line, Some(lab.line("after")), "{stop:?}");
    let again = lab.debugger.restart(&session, lab.patience()).await.unwrap();
    assert_ne!(again.id, session.id);
    let (_, stop) = lab.report(&again).await;
    assert_eq!(stop.line, Some(lab.line("after")), "{stop:?}");
    assert_eq!(session.phase(), Phase::Terminated);
}

/// Three threads come to the same line; each is a stop of its own or they stop together, and every one is seen there.
pub async fn threads(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    let condition = match language {
        Language::Python => "total == 1 and number < 3",
        Language::JavaScript => "total === 1 && number < 3",
        Language::C | Language::Cpp | Language::Rust | Language::Go => "total == 1 && number < 3",
    };
    let condition = condition.to_owned();
    let breakpoint = NewBreakpoint { condition: Some(condition), ..lab.at("add") };
    lab.debugger.set_breakpoint(breakpoint).await.unwrap();
    let session = lab.start("threads");
    let mut seen = BTreeSet::new();
    loop {
        let stopped = match lab.outcome(&session).await {
            Outcome::Stopped(stopped, _) => stopped,
            Outcome::Completed(_) => break,
            other => panic!("{other:?}"),
        };
        let stop = stopped.stopped().unwrap();
        let thread = stop.thread.unwrap();
        let names = stopped.threads().await.unwrap();
        assert!(names.iter().any(|one| one.id == thread), "{thread} is not among {names:?}");
        // In the loop of the main thread the sum is 1 once, with the number 2.
        for one in &names {
            let stack = stopped.stack(one.id, 0, 1).await.unwrap_or_default();
            let Some(frame) = stack.stack_frames.first() else { continue };
            if frame.line == lab.line("add") && frame.name.contains("add") {
                let number = stopped.evaluate("number", Some(frame.id), "watch").await.unwrap().value;
                seen.insert((one.id, number));
            }
        }
        stopped.resume(Some(thread)).await.unwrap();
    }
    if language == Language::JavaScript {
        // It has one, which comes here in its loop.
        assert_eq!(seen.len(), 1, "{seen:?}");
        return;
    }
    let numbers: BTreeSet<&str> = seen.iter().map(|(_, number)| number.as_str()).collect();
    assert_eq!(numbers, BTreeSet::from(["0", "1", "2"]), "{seen:?}");
    let threads: BTreeSet<ThreadId> = seen.iter().map(|(thread, _)| *thread).collect();
    assert!(threads.len() > 1, "{seen:?}");
}

/// A child of the same language is debugged too where the adapter can; elsewhere it runs, and its output is there.
pub async fn child_process(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("after")).await.unwrap();
    let session = lab.start("child");
    let follows = matches!(kind, AdapterKind::Debugpy | AdapterKind::JsDebug);
    let mut sessions = BTreeSet::new();
    for _ in 0..if follows { 2 } else { 1 } {
        let (stopped, stop) = lab.report(&session).await;
        assert_eq!(stop.line, Some(lab.line("after")), "{stop:?}");
        sessions.insert(stopped.id.clone());
        stopped.resume(None).await.unwrap();
    }
    let outcome = lab.outcome(&session).await;
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    assert_eq!(sessions.len(), if follows { 2 } else { 1 });
    let all: String = lab.debugger.sessions().iter().map(|session| printed(session)).collect();
    assert_eq!(all.matches("begin").count(), 2, "{all:?}");
}

/// Where the adapter can put the program on a terminal; the others say that nothing can be typed. The copy of CodeLLDB that the
/// tests have comes without its `codelldb-launch`, which it needs for that.
pub async fn input(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("main")).await.unwrap();
    let mut arguments = lab.launch_arguments("input");
    let wish = match kind {
        AdapterKind::LldbDap => ("runInTerminal", json!(true)),
        AdapterKind::CodeLldb => ("terminal", json!("integrated")),
        _ => ("console", json!("integratedTerminal")),
    };
    arguments[wish.0] = wish.1;
    let session = lab.start_with(StartMode::Launch, arguments);
    let (stopped, _) = lab.stop(&session).await;
    let reads = lab.debugger.tree(&session).into_iter().find(|session| session.takes_input());
    if kind == AdapterKind::CodeLldb {
        let error = session.send_input("Grace\n").await.unwrap_err();
        assert!(error.to_string().contains("reads no input"), "{error}");
        return;
    }
    stopped.resume(None).await.unwrap();
    reads
        .unwrap_or_else(|| {
            panic!("nothing takes input: {} {}", printed(&session), session.adapter_messages())
        })
        .send_input("Grace\n")
        .await
        .unwrap();
    let outcome = lab.outcome(&session).await;
    let all: String = lab.debugger.sessions().iter().map(|session| printed(session)).collect();
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?} {all}");
    assert!(all.contains("hello Grace"), "{all:?}");
}

/// The program, running by itself, and how to attach to it.
///
/// Its streams must be held: a program whose output nobody reads any more ends.
fn running(lab: &Lab) -> (Child, Vec<Box<dyn std::io::Read>>, serde_json::Value) {
    let mut command = match lab.language {
        Language::Python => {
            let mut command = Command::new("python3");
            command.arg(&lab.program);
            command
        }
        Language::JavaScript => {
            let mut command = Command::new("node");
            // js-debug is told a port; Node itself is asked to open one, which may not be the one that everybody uses.
            let flag = if lab.kind == AdapterKind::JsDebug { "--inspect" } else { "--inspect-port" };
            command.arg(format!("{flag}=127.0.0.1:0")).arg(&lab.program);
            command
        }
        Language::Go => {
            let built = lab.program.with_extension("bin");
            let status = Command::new("go")
                .args(["build", "-gcflags=all=-N -l", "-o"])
                .arg(&built)
                .arg(&lab.program)
                .current_dir(lab.program.parent().unwrap())
                .status()
                .unwrap();
            assert!(status.success());
            Command::new(built)
        }
        Language::C | Language::Cpp | Language::Rust => Command::new(&lab.program),
    };
    let stderr = if lab.language == Language::JavaScript { Stdio::piped() } else { Stdio::null() };
    let mut child = command.arg("wait").stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let mut streams: Vec<Box<dyn std::io::Read>> = vec![Box::new(out)];
    assert_eq!(line.trim(), "begin");
    let pid = child.id();
    let arguments = match lab.kind {
        AdapterKind::Debugpy | AdapterKind::Node => json!({ "processId": pid }),
        AdapterKind::JsDebug => {
            let mut said = String::new();
            let mut err = std::io::BufReader::new(child.stderr.take().unwrap());
            std::io::BufRead::read_line(&mut err, &mut said).unwrap();
            streams.push(Box::new(err));
            let port: u16 =
                said.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
            json!({ "port": port, "address": "127.0.0.1", "cwd": lab.program.parent() })
        }
        AdapterKind::Delve => json!({ "mode": "local", "processId": pid }),
        AdapterKind::LldbDap | AdapterKind::CodeLldb => {
            json!({ "pid": pid, "program": lab.program, "stopOnEntry": false })
        }
        _ => json!({ "pid": pid, "program": lab.program }),
    };
    (child, streams, arguments)
}
