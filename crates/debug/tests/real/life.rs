//! Programs that run before, during and after a session.

use std::process::{Child, Command, Stdio};

use serde_json::json;
use stepwell_debug::Outcome;
use stepwell_debug::adapters::{AdapterKind, How};
use stepwell_debug::session::Phase;

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
    let Outcome::Stopped(session, stop) = outcome else { panic!("{outcome:?}") };
    assert_eq!(stop.reason, "pause");
    assert!(!session.threads().await.unwrap().is_empty());
    lab.debugger.end(&session).await;
    if let Some(pid) = process {
        assert!(!std::path::Path::new(&format!("/proc/{pid}/cwd")).exists(), "{pid} is still there");
    }
}

pub async fn attach(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    let (mut child, _streams, arguments) = running(&lab);
    lab.debugger.set_breakpoint(lab.at("wait")).await.unwrap();
    let session = lab.start_with(How::Attach, arguments);
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
            command.arg("--inspect=127.0.0.1:0").arg(&lab.program);
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
        AdapterKind::Debugpy => json!({ "processId": pid }),
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
