//! What a debugged program cannot do: read what is hidden, reach this machine, write outside; and who cannot reach it.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use stepwell_debug::Outcome;
use stepwell_debug::adapters::{AdapterKind, StartMode};
use stepwell_debug::session::Step;
use stepwell_workspace::process::listening;

use crate::HIDDEN;
use crate::lab::{Lab, Language, printed};

/// A user that owns nothing here.
const NOBODY: &str = "65534";

macro_rules! debuggers {
    ($($name:ident: $kind:ident $language:ident,)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn a_program_cannot_leave_its_sandbox() {
                leave(AdapterKind::$kind, Language::$language).await;
            }

            /// D05: no port and no socket of a debugger is open to others.
            #[tokio::test]
            async fn another_user_reaches_neither_debugger_nor_program() {
                reach(AdapterKind::$kind, Language::$language).await;
            }
        }
    )*};
}

debuggers! {
    debugpy: Debugpy Python,
    lldb_dap: LldbDap C,
    codelldb: CodeLldb C,
    gdb: Gdb C,
    delve: Delve Go,
    js_debug: JsDebug JavaScript,
    node: Node JavaScript,
}

/// The program's words: a hidden file, a port of this machine, a place outside, a place inside.
struct Temptation {
    words: Vec<String>,
    outside: PathBuf,
    listener: TcpListener,
}

impl Temptation {
    fn of(lab: &Lab, name: &str) -> Self {
        let workspace = lab.source.parent().unwrap();
        std::fs::write(workspace.join(HIDDEN), "a secret").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let outside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let words = vec![
            workspace.join(HIDDEN).to_string_lossy().into_owned(),
            listener.local_addr().unwrap().port().to_string(),
            outside.to_string_lossy().into_owned(),
            workspace.join("inside").to_string_lossy().into_owned(),
        ];
        Self { words, outside, listener }
    }
}

/// Steps through the program and hears what it could do. Run as the person's own, it can do everything.
async fn leave(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open_program(kind, language, "escape") else { return };
    let tempted = Temptation::of(&lab, &format!("{kind}"));
    let words: Vec<&str> = tempted.words.iter().map(String::as_str).collect();
    if let Some(mut plain) = unconfined(&lab) {
        let said = plain.args(&words).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert_eq!(said.matches("allowed").count(), 4, "{said}");
        std::fs::remove_file(&tempted.outside).unwrap();
        assert!(tempted.listener.accept().is_ok());
    }
    lab.debugger.set_breakpoint(lab.at("main")).await.unwrap();
    let session = lab.start_with(StartMode::Launch, lab.arguments_with(&words));
    let (session, report) = lab.report(&session).await;
    assert_eq!(report.line, Some(lab.line("main")), "{report:?}");
    for _ in 0..2 {
        session.step(None, Step::Over).await.unwrap();
        lab.stop(&session).await;
    }
    assert_eq!(lab.value(&session, "count").await, "2");
    session.resume(None).await.unwrap();
    let outcome = lab.outcome(&session).await;
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    let said: String = lab.debugger.sessions().iter().map(|session| printed(session)).collect();
    for line in ["read refused", "connect refused", "outside refused", "inside allowed", "end 2"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!tempted.outside.exists() && tempted.listener.accept().is_err());
    nothing_is_left();
}

/// Tests of the same process have programs of their own.
fn nothing_is_left() {
    if is_alone() {
        let left = descendants();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Whether no other test runs in this process, as with `cargo nextest`.
fn is_alone() -> bool {
    std::env::var_os("NEXTEST").is_some()
}

/// While the program is stopped, nothing of it listens where another user could connect.
async fn reach(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    if !is_alone() {
        println!("skipped: other tests run in this process; use `cargo nextest`");
        return;
    }
    if !rustix::process::geteuid().is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        crate::lab::skipped("only root with `setpriv` can be another user");
        return;
    }
    lab.debugger.set_breakpoint(lab.at("main")).await.unwrap();
    let session = lab.start("");
    let (_, _) = lab.stop(&session).await;
    let here = std::fs::read_link("/proc/self/ns/net").unwrap();
    let mut ports = BTreeSet::new();
    let mut is_inside = false;
    for pid in descendants() {
        let place = std::fs::read_link(format!("/proc/{pid}/ns/net")).unwrap_or_else(|_| here.clone());
        let heard = listening(pid);
        if place == here {
            assert!(heard.is_empty(), "process {pid} listens on {heard:?}");
        } else {
            is_inside = true;
            ports.extend(heard.into_iter().map(|address| address.port()));
        }
    }
    assert!(is_inside, "nothing runs in a sandbox");
    let as_nobody = |script: String| {
        let words = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "bash", "-c", &script];
        Command::new("setpriv").args(words).output().unwrap().status.success()
    };
    assert!(as_nobody("true".to_owned()));
    for port in ports {
        let is_taken = std::net::TcpListener::bind(("127.0.0.1", port)).is_err();
        // Somebody else on this machine may have the same port.
        assert!(is_taken || !as_nobody(format!("exec 3<>/dev/tcp/127.0.0.1/{port}")), "port {port}");
    }
    let sockets = std::fs::read_to_string("/proc/self/net/unix").unwrap();
    for path in sockets.lines().filter_map(|line| line.split(' ').next_back()) {
        if path.starts_with(&*std::env::temp_dir().to_string_lossy()) && path.contains("stepwell-") {
            assert!(!as_nobody(format!("test -e {path}")), "{path}");
        }
    }
    lab.debugger.end(&session).await;
    nothing_is_left();
}

/// The same program without a debugger; `None` where it must be built first.
fn unconfined(lab: &Lab) -> Option<Command> {
    let mut command = match lab.language {
        Language::Python => Command::new("python3"),
        Language::JavaScript => Command::new("node"),
        Language::C | Language::Cpp | Language::Rust => return Some(Command::new(&lab.program)),
        Language::Go => return None,
    };
    command.arg(&lab.program);
    Some(command)
}

/// Every process below this one.
fn descendants() -> Vec<u32> {
    let mut found = Vec::new();
    let mut left = vec![std::process::id()];
    while let Some(pid) = left.pop() {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            left.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        found.push(pid);
    }
    found.split_off(1)
}
