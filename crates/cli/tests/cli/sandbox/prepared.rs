//! Sandboxes that are built before their command is known: as tight as others, and used only while they are.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use stepwell_protocol::OutputStream;
use stepwell_sandbox::{Limits, Network, Policy, PreparedSandbox, Sandbox, UnixSockets};
use stepwell_test_support::{Turn, call};
use stepwell_workspace::Denial;
use stepwell_workspace::process::{Ending, Environment, KeepOutput, OutputFilters, ProgramCall, TextFilter};
use tokio_util::sync::CancellationToken;

use crate::world::World;

struct AsItIs;

impl TextFilter for AsItIs {
    fn push(&mut self, text: &str) -> String {
        text.to_owned()
    }

    fn finish(&mut self) -> String {
        String::new()
    }
}

struct Lab {
    world: World,
    sandbox: Sandbox,
    policy: Policy,
}

impl Lab {
    fn new() -> Self {
        let world = super::world();
        for (path, text) in [("AGENTS.md", "rules\n"), ("secret.txt", "token\n"), ("a.txt", "a\n")] {
            world.write(path, text);
        }
        let workspace = world.work().canonicalize().unwrap();
        let policy = Policy {
            locked: Vec::new(),
            writable: vec![workspace.clone()],
            readable: Vec::new(),
            read_only: Vec::new(),
            denied: Denial::default(),
            hidden: vec![workspace.join("secret.txt")],
            temporary: None,
            network: Network::None,
            unix_sockets: UnixSockets::Inside,
            limits: Limits::for_this_machine(),
            withheld: Some(workspace.with_file_name("withheld")),
        };
        Self { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_stepwell"), &workspace), world, policy }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.world.work().join(name)
    }

    fn prepare(&self) -> PreparedSandbox {
        self.sandbox.prepare(&self.policy).unwrap().expect("this machine has all layers")
    }

    /// Runs a script; whether in the prepared sandbox, how it ended, and what it printed.
    async fn run(&self, prepared: PreparedSandbox, script: &str) -> (bool, Ending, String) {
        let call = ProgramCall {
            program: "/bin/bash".into(),
            arguments: ["-c", script].map(OsString::from).to_vec(),
            folder: self.world.work(),
            environment: Environment {
                removed: vec!["HOME".into()],
                set: vec![("GREETING".into(), "hello there".into())],
            },
            input: None,
            time_limit: Duration::from_secs(20),
            keep: KeepOutput { memory: 64 << 10, file: None, file_limit: 0 },
        };
        let call = self.sandbox.confine_prepared(Some(prepared), &self.policy, call).unwrap();
        let is_prepared = call.is_prepared();
        let filters = OutputFilters { stdout: Box::new(AsItIs), stderr: Box::new(AsItIs) };
        let mut text = String::new();
        let finished = call
            .run(filters, &CancellationToken::new(), |_: OutputStream, more| text.push_str(more))
            .await
            .unwrap();
        (is_prepared, finished.ending, text)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_sandbox_runs_its_command_as_any_other() {
    let lab = Lab::new();
    let script = "cat a.txt; echo $GREETING ${HOME-none}; wc -c < /dev/stdin; echo new > b.txt; exit 7";
    let (is_prepared, ending, text) = lab.run(lab.prepare(), script).await;
    assert!(is_prepared);
    assert_eq!((ending, text.as_str()), (Ending::Exited(7), "a\nhello there none\n0\n"));
    assert_eq!(std::fs::read_to_string(lab.path("b.txt")).unwrap(), "new\n");
    let (_, ending, _) = lab.run(lab.prepare(), "kill -TERM $$").await;
    assert_eq!(ending, Ending::Signalled(15));
    let long = format!("x={}; echo ${{#x}}", "y".repeat(120_000));
    assert_eq!(lab.run(lab.prepare(), &long).await.2, "120000\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_sandbox_is_as_tight_as_any_other() {
    let lab = Lab::new();
    let outside = super::out(&lab.world).display().to_string();
    for script in [
        "cat secret.txt",
        "echo x >> AGENTS.md",
        "rm AGENTS.md",
        "mv AGENTS.md other",
        &format!("echo x > {outside}/canary.txt"),
        "exec 3<>/dev/tcp/127.0.0.1/22",
        "cat /proc/1/environ",
        "unshare -Ur true",
    ] {
        let (is_prepared, ending, text) = lab.run(lab.prepare(), script).await;
        assert!(is_prepared, "{script}");
        assert!(ending != Ending::Exited(0), "{script}: {text}");
    }
    assert!(super::canary_lives(&lab.world));
    // What steers tools cannot be made either, and is moved away.
    let (_, ending, text) = lab.run(lab.prepare(), "echo x > CLAUDE.md; sleep 5").await;
    assert_eq!(ending, Ending::Exited(126), "{text}");
    assert!(!lab.path("CLAUDE.md").exists());
}

/// What the person changes while a sandbox waits is theirs, and the walls are built anew around it.
#[tokio::test(flavor = "multi_thread")]
async fn what_changes_before_the_command_makes_a_new_sandbox() {
    type Change = fn(&Path);
    let changes: [(&str, Change, bool); 6] = [
        ("nothing", |_| {}, true),
        ("a file that is of no concern", |root| std::fs::write(root.join("new.txt"), "x").unwrap(), true),
        ("a hidden file replaced", |root| replace(&root.join("secret.txt")), false),
        ("a protected file replaced", |root| replace(&root.join("AGENTS.md")), false),
        ("a protected file made", |root| std::fs::write(root.join("CLAUDE.md"), "x").unwrap(), false),
        ("a protected file gone", |root| std::fs::remove_file(root.join("AGENTS.md")).unwrap(), false),
    ];
    for (name, change, fits) in changes {
        let lab = Lab::new();
        let prepared = lab.prepare();
        change(&lab.world.work());
        let (is_prepared, ending, text) = lab
            .run(
                prepared,
                "cat secret.txt; for f in AGENTS.md CLAUDE.md; do test -e $f && echo y >> $f; done; true",
            )
            .await;
        assert_eq!((is_prepared, ending), (fits, Ending::Exited(0)), "{name}: {text}");
        assert!(!text.contains("token"), "{name}: {text}");
        for file in ["AGENTS.md", "CLAUDE.md"] {
            let content = std::fs::read_to_string(lab.path(file)).unwrap_or_default();
            assert!(!content.contains('y'), "{name}: {content}");
        }
        let is_kept = lab.path("CLAUDE.md").exists();
        assert_eq!(is_kept, name == "a protected file made", "{name}");
    }
}

fn replace(path: &Path) {
    let beside = path.with_extension("new");
    std::fs::copy(path, &beside).unwrap();
    std::fs::rename(beside, path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_not_used_leaves_nothing_behind() {
    let lab = Lab::new();
    let prepared = lab.prepare();
    let marker = lab.world.work().display().to_string();
    let launchers = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter(|entry| {
            let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("sandbox-init") && words.contains(&marker)
        })
        .count()
    };
    // On a busy machine the new process may not have its words yet.
    let began = async {
        while launchers() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), began).await.expect("the launcher begins");
    drop(prepared);
    let ended = async {
        while launchers() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the launcher ends");
}

/// Several commands of one task: each but the first finds its sandbox built, network or not.
#[test]
fn commands_of_a_task_stay_apart_in_prepared_sandboxes() {
    let world = World::new([
        Turn::calls([call(
            "bash",
            serde_json::json!({"command": "echo one; sleep 100 & echo $! > /tmp/pid"}),
        )]),
        Turn::calls([call(
            "bash",
            serde_json::json!({"command": "touch made; kill -0 $(cat /tmp/pid) || echo gone"}),
        )]),
        Turn::calls([call(
            "bash",
            serde_json::json!({"command": "ls made; cat /tmp/pid > /dev/null && echo shared"}),
        )]),
        Turn::text("done"),
    ]);
    let output = world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ndone\n");
    let results = world.server.last_request().tool_results();
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    assert!(texts[0].contains("one"), "{texts:?}");
    assert!(texts[1].contains("gone"), "{texts:?}");
    assert!(texts[2].contains("made") && texts[2].contains("shared"), "{texts:?}");
}
