//! The table of modes, and what a yes for the session covers.

use expect_test::expect;

use super::*;

fn facts(tool: &str, risk: Risk, command: Option<&str>) -> CallFacts {
    CallFacts {
        task: "t".into(),
        tool: tool.into(),
        category: Category::Shell,
        risk,
        arguments: Value::Null,
        preview: Preview { command: command.map(str::to_owned), ..Preview::default() },
    }
}

#[test]
fn every_mode_and_risk() {
    let mut table = String::new();
    for mode in PermissionMode::ALL {
        table.push_str(mode.name());
        for risk in [Risk::Control, Risk::Read, Risk::Write, Risk::Execute, Risk::Network] {
            table.push_str(match by_mode(mode, risk) {
                Verdict::Allow => " allow",
                Verdict::Deny { .. } => " deny",
                Verdict::Ask { .. } => " ask",
            });
        }
        table.push('\n');
    }
    expect![[r"
        default allow allow ask ask ask
        acceptEdits allow allow allow ask ask
        plan allow allow deny deny deny
        dontAsk allow allow deny deny deny
        bypassPermissions allow allow allow allow allow
    "]]
    .assert_eq(&table);
}

#[tokio::test]
async fn a_yes_for_the_session_covers_the_program_and_nothing_around_it() {
    let judge = ModeJudge::new(PermissionMode::Default);
    judge.granted(&facts("bash", Risk::Execute, Some("cargo test --all")), &ApprovalAnswer::YesForSession);
    for (command, allowed) in [
        ("cargo test", true),
        ("cargo test -p x --release", true),
        ("cargo install evil", false),
        ("cargo --config=x.toml test", false),
        ("cargo test && rm -rf x", false),
        ("cargo test; ls", false),
        ("cargo $(touch x)", false),
        ("cargo test > out", false),
        ("cargo test\nls", false),
        ("PATH=. cargo test", false),
        ("cargofoo", false),
        ("/tmp/cargo test", false),
        ("ls", false),
    ] {
        let verdict = judge.judge(&facts("bash", Risk::Execute, Some(command))).await;
        assert_eq!(verdict == Verdict::Allow, allowed, "{command}");
    }
    judge.granted(&facts("bash", Risk::Execute, Some("rm -f a")), &ApprovalAnswer::YesForSession);
    assert_ne!(judge.judge(&facts("bash", Risk::Execute, Some("rm -rf b"))).await, Verdict::Allow);
    assert_eq!(judge.judge(&facts("bash", Risk::Execute, Some("rm -f a"))).await, Verdict::Allow);
}

#[tokio::test]
async fn a_yes_to_git_covers_one_subcommand_without_options() {
    let judge = ModeJudge::new(PermissionMode::Default);
    judge.granted(&facts("bash", Risk::Execute, Some("git diff")), &ApprovalAnswer::YesForSession);
    for (command, allowed) in [
        ("git diff", true),
        ("git diff src/main.rs", true),
        ("git push", false),
        ("git diff --ou=/tmp/x", false),
        ("git diff --outp /tmp/x", false),
        ("git -c core.fsmonitor=./x diff", false),
    ] {
        let verdict = judge.judge(&facts("bash", Risk::Execute, Some(command))).await;
        assert_eq!(verdict == Verdict::Allow, allowed, "{command}");
    }
}

#[tokio::test]
async fn a_plain_yes_is_for_one_call_and_no_grant_lifts_a_denial() {
    let judge = ModeJudge::new(PermissionMode::Default);
    judge.granted(&facts("write", Risk::Write, None), &ApprovalAnswer::Yes);
    assert_ne!(judge.judge(&facts("write", Risk::Write, None)).await, Verdict::Allow);
    judge.granted(&facts("write", Risk::Write, None), &ApprovalAnswer::YesForSession);
    assert_eq!(judge.judge(&facts("write", Risk::Write, None)).await, Verdict::Allow);
    assert_ne!(judge.judge(&facts("edit", Risk::Write, None)).await, Verdict::Allow);
    judge.set_mode(PermissionMode::Plan);
    assert!(matches!(judge.judge(&facts("write", Risk::Write, None)).await, Verdict::Deny { .. }));
}
