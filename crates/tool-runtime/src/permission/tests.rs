//! Verdicts, as data: modes, rules, attacks with their harmless twins, grants.

use std::sync::Arc;

use expect_test::expect;
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn places() -> JudgePlaces {
    JudgePlaces { roots: vec!["/ws".into()], home: Some("/home/me".into()), ..JudgePlaces::default() }
}

fn command(text: &str) -> CallFacts {
    CallFacts {
        task: "t".into(),
        tool: "bash".into(),
        aliases: &["execute_command", "shell"],
        category: Category::Shell,
        risk: Risk::Execute,
        arguments: json!({"command": text}),
        preview: Preview { summary: "Run".into(), command: Some(text.to_owned()), ..Preview::default() },
        command: Some(Arc::new(crate::shell::analyse(text))),
    }
}

fn file(tool: &str, risk: Risk, path: &str) -> CallFacts {
    CallFacts {
        task: "t".into(),
        tool: tool.into(),
        aliases: if tool == "write" { &["write_to_file"] } else { &[] },
        category: Category::Files,
        risk,
        arguments: json!({"file_path": path}),
        preview: Preview { paths: vec![path.to_owned()], ..Preview::default() },
        command: None,
    }
}

fn rules(texts: &[(Effect, &str)], source: RuleSource) -> Vec<Rule> {
    texts.iter().map(|(effect, text)| Rule::parse(*effect, text, source, &places()).unwrap()).collect()
}

fn judge(mode: PermissionMode, rules: Vec<Rule>) -> RuleJudge {
    RuleJudge::new(JudgeOptions { mode, rules, places: places(), ..JudgeOptions::default() })
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

#[test]
fn a_rule_by_alias_means_the_same_as_by_name() {
    let alias = [
        ("read", &["read_file", "view", "cat", "Read", "READ_FILE"][..]),
        ("edit", &["search_and_replace", "str_replace", "edit_file", "search_replace", "Edit"]),
        ("bash", &["execute_command", "shell", "run_command", "terminal_command", "Bash"]),
    ];
    let calls = [
        file("read", Risk::Read, "secrets/key"),
        file("grep", Risk::Read, "secrets/key"),
        file("list", Risk::Read, "secrets/key"),
        file("write", Risk::Write, "secrets/key"),
        file("read", Risk::Read, "src/a"),
        file("write", Risk::Write, "src/a"),
        command("cat secrets/key"),
        command("cat < secrets/key"),
        command("echo x > secrets/key"),
        command("ls"),
    ];
    for (name, aliases) in alias {
        for spec in ["", "(secrets/**)", "(*)"] {
            for effect in [Effect::Deny, Effect::Ask, Effect::Allow] {
                let verdicts = |tool: &str| -> Vec<&'static str> {
                    let rules = rules(&[(effect, &format!("{tool}{spec}"))], RuleSource::User);
                    let judge = judge(PermissionMode::Default, rules);
                    calls.iter().map(|call| word(&judge.explain(call).verdict)).collect()
                };
                let denied = |tool: &str| {
                    let rules = rules(&[(effect, &format!("{tool}{spec}"))], RuleSource::User);
                    DeniedReads::of(&rules).and_then(|denied| denied.rule_for("/ws/secrets/key")).is_some()
                };
                for alias in aliases {
                    assert_eq!(verdicts(alias), verdicts(name), "{} {alias}{spec}", effect.name());
                    assert_eq!(denied(alias), denied(name), "{} {alias}{spec}", effect.name());
                }
            }
        }
    }
    let judge =
        judge(PermissionMode::Default, rules(&[(Effect::Deny, "read_file(secrets/**)")], RuleSource::User));
    let verdicts: Vec<&str> = calls.iter().map(|call| word(&judge.explain(call).verdict)).collect();
    assert_eq!(verdicts, ["deny", "deny", "deny", "ask", "allow", "ask", "deny", "deny", "ask", "allow"],);
}

#[test]
fn every_mode_and_risk() {
    let mut table = String::new();
    for mode in PermissionMode::ALL {
        table.push_str(mode.name());
        for risk in [Risk::Control, Risk::Read, Risk::Write, Risk::Execute, Risk::Network] {
            table.push(' ');
            table.push_str(word(&by_mode(mode, risk)));
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

/// A command of the table with its shorthands written out.
fn written_out(text: &str) -> String {
    let text = text.replace('⏎', "\n").replace("␣×3000", &" ".repeat(3000));
    let text =
        text.replace("\\u{200b}", "\u{200b}").replace("\\u{440}", "\u{440}").replace("\\u{202e}", "\u{202e}");
    let text = text.replace("true;×60", &"true;".repeat(60));
    text.replace("true;×1500", &"true;".repeat(1500))
}

#[test]
fn the_table_of_verdicts() {
    let mut options = JudgeOptions { places: places(), ..JudgeOptions::default() };
    let (mut title, mut count, mut wrong) = ("", 0, Vec::new());
    for line in
        include_str!("tests/verdicts.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(next) = line.strip_prefix("== ") {
            (title, options) = (next, JudgeOptions { places: places(), ..JudgeOptions::default() });
        } else if let Some((verdict, text)) = line.split_once(" | ") {
            count += 1;
            let judge = RuleJudge::new(options.clone());
            let ruling = judge.explain(&command(&written_out(text)));
            if word(&ruling.verdict) != verdict {
                wrong.push(format!("{title}: `{text}` should be {verdict}: {:?}", ruling.verdict));
            }
        } else if let Some(mode) = line.strip_prefix("mode ") {
            options.mode = PermissionMode::ALL.into_iter().find(|known| known.name() == mode).unwrap();
        } else if let Some(class) = line.strip_prefix("auto ") {
            match class {
                "commands" => options.auto_approve.commands = true,
                "write" => options.auto_approve.write = true,
                "read" => options.auto_approve.read = true,
                other => panic!("{other}"),
            }
        } else {
            let (effect, text) = line.split_once(' ').unwrap();
            let effect =
                [Effect::Allow, Effect::Ask, Effect::Deny].into_iter().find(|known| known.name() == effect);
            options.rules.push(Rule::parse(effect.unwrap(), text, RuleSource::User, &places()).unwrap());
        }
    }
    assert!(count >= 150, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules, a command line of `start_debugging`, and its verdict.
type RuledLaunch<'a> = (&'a [(Effect, &'a str)], &'a str, &'a str);

#[test]
fn commands_that_debugger_tools_start_follow_the_rules_for_commands() {
    let rows: &[RuledLaunch<'_>] = &[
        (&[(Effect::Deny, "bash(curl *)")], "curl http://a", "deny"),
        (&[(Effect::Deny, "shell(curl *)")], "make; curl http://a", "deny"),
        (&[(Effect::Deny, "bash(curl *)"), (Effect::Allow, "start_debugging")], "curl http://a", "deny"),
        (&[(Effect::Ask, "bash(curl *)"), (Effect::Allow, "start_debugging")], "curl http://a", "ask"),
        (&[(Effect::Ask, "bash(curl *)"), (Effect::Allow, "start_debugging")], "./shop", "allow"),
        (&[(Effect::Allow, "bash(cargo test *)")], "cargo test shop", "allow"),
        (&[(Effect::Allow, "bash(cargo test *)")], "cargo test shop; ./shop", "ask"),
        // A rule about the tool is not undone by one about commands.
        (&[(Effect::Deny, "start_debugging"), (Effect::Allow, "bash(cargo *)")], "cargo test", "deny"),
        (&[(Effect::Ask, "start_debugging"), (Effect::Allow, "bash(cargo *)")], "cargo test", "ask"),
        (&[(Effect::Deny, "start_debugging(touch *)")], "touch a", "deny"),
        (&[(Effect::Deny, "debug_launch(touch *)")], "touch a", "deny"),
        (&[(Effect::Deny, "start_debugging(touch *)")], "/usr/bin/touch a", "deny"),
        (&[(Effect::Deny, "start_debugging(touch *)")], "./shop", "ask"),
        (&[(Effect::Allow, "start_debugging(./shop *)")], "./shop a", "allow"),
        (&[(Effect::Allow, "debug_failure(./shop *)")], "./shop a", "ask"),
        (&[(Effect::Deny, "bash")], "./shop", "deny"),
        (&[(Effect::Deny, "bash"), (Effect::Allow, "start_debugging")], "./shop", "allow"),
        (&[(Effect::Deny, "bash(curl *)")], "$(echo curl) http://a", "deny"),
        (&[], "./shop", "ask"),
    ];
    for (texts, line, expected) in rows {
        let mut facts = command(line);
        facts.tool = "start_debugging".into();
        facts.aliases = &["debug_launch"];
        let judge = judge(PermissionMode::Default, rules(texts, RuleSource::User));
        let verdict = judge.explain(&facts).verdict;
        assert_eq!(word(&verdict), *expected, "{texts:?} {line}: {verdict:?}");
    }
}

#[test]
fn the_reason_names_the_part_that_asks() {
    let judge = judge(PermissionMode::Default, rules(&[(Effect::Allow, "bash(echo *)")], RuleSource::User));
    let reason = |text: &str| match judge.explain(&command(text)).verdict {
        Verdict::Ask { reason } | Verdict::Deny { reason } => reason,
        Verdict::Allow => "allowed".into(),
    };
    expect!["default mode asks before commands: `touch x`"].assert_eq(&reason("echo ok && touch x"));
    expect!["it writes outside the workspace: `writes /out/x`"].assert_eq(&reason("echo ok > /out/x"));
    expect!["what it runs is given by a variable or another command's output: `$a b`"]
        .assert_eq(&reason("$a b"));
    expect!["it changes what steers tools and agents: `.git/config`; default mode asks before changes to files: `writes .git/config`"]
        .assert_eq(&reason("echo x > .git/config"));
    expect![[r#"the command could not be taken apart: it is no command line that is understood here: `"` is missing; default mode asks before commands: `make`"#]]
        .assert_eq(&reason("make; echo \"x"));
    expect!["this is never run: it removes everything below `/`"].assert_eq(&reason("echo x; sudo rm -rf /"));
}

#[test]
fn files_follow_rules_modes_and_protection_p11() {
    let rules = rules(
        &[
            (Effect::Allow, "edit(src/**)"),
            (Effect::Deny, "edit(src/generated/**)"),
            (Effect::Deny, "read(~/.ssh)"),
            (Effect::Ask, "Read(*.pem)"),
            (Effect::Deny, "write_to_file(docs/*)"),
        ],
        RuleSource::User,
    );
    let judge = judge(PermissionMode::Default, rules);
    for (tool, risk, path, expected) in [
        ("write", Risk::Write, "src/a.rs", "allow"),
        ("edit", Risk::Write, "src/deep/a.rs", "allow"),
        ("edit", Risk::Write, "src/../Cargo.toml", "ask"),
        ("edit", Risk::Write, "src/Generated/a.rs", "deny"),
        ("edit", Risk::Write, "Cargo.toml", "ask"),
        ("write", Risk::Write, "docs/a.md", "deny"),
        ("edit", Risk::Write, "docs/a.md", "ask"),
        ("read", Risk::Read, "docs/a.md", "allow"),
        ("read", Risk::Read, "~/.ssh/id_rsa", "deny"),
        ("read", Risk::Read, "deep/key.pem", "ask"),
        ("write", Risk::Write, "src/.git/x", "ask"),
        ("write", Risk::Write, "src/.GIT/hooks/post-checkout", "ask"),
        ("write", Risk::Write, "src/.Vscode/settings.json", "ask"),
    ] {
        assert_eq!(word(&judge.explain(&file(tool, risk, path)).verdict), expected, "{tool} {path}");
    }
    for (mode, expected) in [
        (PermissionMode::AcceptEdits, "ask"),
        (PermissionMode::DontAsk, "deny"),
        (PermissionMode::Plan, "deny"),
        (PermissionMode::BypassPermissions, "allow"),
    ] {
        judge.set_mode(mode);
        assert_eq!(
            word(&judge.explain(&file("write", Risk::Write, ".git/config")).verdict),
            expected,
            "{mode:?}"
        );
    }
}

#[test]
fn a_missing_sandbox_asks_whatever_rules_say() {
    let judge = judge(PermissionMode::Default, rules(&[(Effect::Allow, "bash")], RuleSource::User));
    let mut facts = command("ls");
    assert_eq!(word(&judge.explain(&facts).verdict), "allow");
    facts.preview.unconfined = Some("user namespaces are switched off".into());
    for (mode, expected) in [
        (PermissionMode::Default, "ask"),
        (PermissionMode::AcceptEdits, "ask"),
        (PermissionMode::Plan, "deny"),
        (PermissionMode::DontAsk, "deny"),
        (PermissionMode::BypassPermissions, "allow"),
    ] {
        judge.set_mode(mode);
        assert_eq!(word(&judge.explain(&facts).verdict), expected, "{mode:?}");
    }
    judge.set_mode(PermissionMode::Default);
    assert!(judge.insists(&facts), "no hook may lift it");
    assert_eq!(judge.offer(&facts), None);
}

#[test]
fn no_less_trusted_source_overrides_a_denial() {
    let mut all = rules(&[(Effect::Deny, "bash(git *)"), (Effect::Allow, "bash(make)")], RuleSource::User);
    all.extend(rules(
        &[(Effect::Allow, "bash(git push origin)"), (Effect::Deny, "bash(make install)")],
        RuleSource::Project,
    ));
    all.extend(rules(&[(Effect::Allow, "bash(git fetch)")], RuleSource::Managed));
    let judge = judge(PermissionMode::Default, all);
    for (text, expected) in [
        ("git push origin", "deny"),
        ("git fetch", "allow"),
        ("git log", "deny"),
        ("make install", "deny"),
        ("make test", "allow"),
    ] {
        assert_eq!(word(&judge.explain(&command(text)).verdict), expected, "{text}");
    }
}

#[test]
fn loopback_ports_are_opened_by_name_and_closed_by_any_other_rule() {
    for (texts, expected) in [
        (&[(Effect::Allow, "network(localhost:8080)")][..], &[8080][..]),
        (&[(Effect::Allow, "network(127.0.0.1:5432)"), (Effect::Allow, "network([::1]:80)")], &[80, 5432]),
        (&[(Effect::Allow, "network(LOCALHOST:8080)"), (Effect::Allow, "network(localhost:8080)")], &[8080]),
        (&[(Effect::Allow, "network(localhost)")], &[]),
        (&[(Effect::Allow, "network(*)")], &[]),
        (&[(Effect::Allow, "network(*:8080)")], &[]),
        (&[(Effect::Allow, "network(localhost:0)")], &[]),
        (&[(Effect::Allow, "network(example.com:8080)")], &[]),
        (&[(Effect::Ask, "network(localhost:8080)")], &[]),
        (&[(Effect::Allow, "network(localhost:8080)"), (Effect::Deny, "network(127.0.0.1)")], &[]),
        (&[(Effect::Allow, "network(localhost:8080)"), (Effect::Deny, "network(*)")], &[]),
        (&[(Effect::Allow, "network(localhost:8080)"), (Effect::Ask, "network(localhost:80)")], &[8080]),
    ] {
        let judge = judge(PermissionMode::Default, rules(texts, RuleSource::User));
        assert_eq!(judge.loopback_ports(), expected, "{texts:?}");
    }
}

#[test]
fn hosts_and_mcp_tools() {
    let network = |host: &str| CallFacts {
        tool: "network".into(),
        risk: Risk::Network,
        preview: Preview { hosts: vec![host.into()], ..Preview::default() },
        ..file("network", Risk::Network, "")
    };
    let texts = [
        (Effect::Allow, "network(example.com)"),
        (Effect::Allow, "WebFetch(domain:*.rust-lang.org)"),
        (Effect::Deny, "network(evil.rust-lang.org)"),
        (Effect::Allow, "network(localhost:8080)"),
        (Effect::Allow, "mcp__files"),
        (Effect::Deny, "mcp__files__delete"),
    ];
    let judge = judge(PermissionMode::Default, rules(&texts, RuleSource::User));
    for (host, expected) in [
        ("example.com:443", "allow"),
        ("EXAMPLE.com.:443", "allow"),
        ("example.com.evil.test:443", "ask"),
        ("evilexample.com:443", "ask"),
        ("docs.rust-lang.org:443", "allow"),
        ("rust-lang.org:443", "ask"),
        ("evil.rust-lang.org:443", "deny"),
        ("localhost:8080", "allow"),
        ("localhost:80", "ask"),
    ] {
        assert_eq!(word(&judge.explain(&network(host)).verdict), expected, "{host}");
    }
    let served = |host: &str| CallFacts {
        tool: "mcp__web__get".into(),
        category: Category::External,
        ..network(host)
    };
    assert_eq!(word(&judge.explain(&served("any.test:443")).verdict), "ask");
    assert_eq!(word(&judge.explain(&served("evil.rust-lang.org:443")).verdict), "deny");
    judge.set_mode(PermissionMode::BypassPermissions);
    for (facts, expected) in [
        (CallFacts { category: Category::External, ..network("any.test:443") }, "deny"),
        // The settings name the host of an MCP server.
        (served("any.test:443"), "allow"),
        (served("evil.rust-lang.org:443"), "deny"),
    ] {
        assert_eq!(word(&judge.explain(&facts).verdict), expected, "{facts:?}");
    }
    judge.set_mode(PermissionMode::Default);
    for (tool, expected) in [
        ("mcp__files__read", "allow"),
        ("mcp__files__delete", "deny"),
        ("mcp__filesystem__read", "ask"),
        ("mcp__other__read", "ask"),
    ] {
        let facts = CallFacts { preview: Preview::default(), ..file(tool, Risk::Execute, "") };
        assert_eq!(word(&judge.explain(&facts).verdict), expected, "{tool}");
    }
}

#[test]
fn examples_in_rules_are_checked() {
    let check = |text: &str| match toml_like(text).rules(RuleSource::User, &places()) {
        Ok(rules) => format!("{} rules", rules.len()),
        Err(problem) => problem,
    };
    expect!["1 rules"].assert_eq(&check(
        r#"{"rules": [{"effect": "allow", "tool": "bash", "command": "cargo test", "match": ["cargo test -p x"], "not_match": ["cargo testing", "cargo test; rm x"]}]}"#,
    ));
    expect!["the rule `bash(cargo test)` is not about its example `cargo build` in `match`"].assert_eq(&check(
        r#"{"rules": [{"effect": "allow", "tool": "bash", "command": "cargo test", "match": ["cargo build"]}]}"#,
    ));
    expect!["the rule `edit(src/**)` is about its example `src/x/y` in `not_match`"].assert_eq(&check(
        r#"{"rules": [{"effect": "deny", "tool": "edit", "path": "src/**", "match": ["src/a"], "not_match": ["x", "src/x/y"]}]}"#,
    ));
    expect!["the rule `bash(a | b)` cannot be used: `|` is no word of one command; give each command a rule of its own"]
        .assert_eq(&check(r#"{"allow": ["bash(a | b)"]}"#));
    expect!["the rule `bash(a` cannot be used: `)` is missing at the end"]
        .assert_eq(&check(r#"{"allow": ["bash(a"]}"#));
    expect!["the rule `network(http://x)` cannot be used: `http://x` is no host; write `example.com` or `*.example.com`"]
        .assert_eq(&check(r#"{"deny": ["network(http://x)"]}"#));
    expect!["the rule about `bash` cannot be used: give one of `command`, `exact`, `path` and `host`"]
        .assert_eq(&check(
            r#"{"rules": [{"effect": "allow", "tool": "bash", "command": "a", "path": "b"}]}"#,
        ));
}

fn toml_like(text: &str) -> PermissionSettings {
    serde_json::from_str(text).unwrap()
}

/// Keeps grants in memory.
#[derive(Default)]
struct Kept(Mutex<Vec<Grant>>);

impl GrantKeeper for Kept {
    fn keep(&self, grant: &Grant) -> Result<(), String> {
        self.0.lock().push(grant.clone());
        Ok(())
    }
}

#[tokio::test]
async fn what_is_offered_is_what_is_kept_and_what_holds() {
    for (text, offered, covered, not_covered) in [
        ("cargo test --all", "`bash(cargo test *)`", "cargo test -p x", "cargo build"),
        ("npm run build", "`bash(npm run build *)`", "npm run build -- x", "npm run evil"),
        ("pytest -q | tail -3", "`bash(pytest *)`", "pytest x", "pytestx"),
        ("make && pytest", "exactly `make && pytest`", "make && pytest", "make && pytest -q"),
        ("pytest && mypy .", "`bash(pytest *)`, `bash(mypy *)`", "mypy x; pytest", "mypy x; rm y"),
        ("rm -f a", "exactly `rm -f a`", "rm -f a", "rm -f b"),
        ("git push", "exactly `git push`", "git push", "git push --force"),
        ("git commit -m x", "`bash(git commit *)`", "git commit -m y", "git push"),
        (
            "python3 -c 'print(1)'",
            "exactly `python3 -c 'print(1)'`",
            "python3 -c 'print(1)'",
            "python3 -c 'print(2)'",
        ),
        ("pytest > out", "exactly `pytest > out`", "pytest > out", "pytest > other"),
        ("$x", "exactly `$x`", "$x", "$y"),
    ] {
        let kept = Arc::new(Kept::default());
        let keeper: Arc<dyn GrantKeeper> = Arc::clone(&kept) as _;
        let judge = RuleJudge::new(JudgeOptions {
            places: places(),
            keeper: Some(keeper),
            ..JudgeOptions::default()
        });
        let facts = command(text);
        assert_eq!(judge.offer(&facts).as_deref(), Some(offered), "{text}");
        judge.granted(&facts, &ApprovalAnswer::yes()).unwrap();
        assert_ne!(judge.judge(&facts).await, Verdict::Allow, "a plain yes is for one call: {text}");
        judge.granted(&facts, &ApprovalAnswer::always()).unwrap();
        assert_eq!(kept.0.lock().iter().map(ToString::to_string).collect::<Vec<_>>(), [offered]);
        assert_eq!(judge.judge(&facts).await, Verdict::Allow, "{text}");
        assert_eq!(judge.judge(&command(covered)).await, Verdict::Allow, "{covered}");
        assert_ne!(judge.judge(&command(not_covered)).await, Verdict::Allow, "{not_covered}");
        judge.set_mode(PermissionMode::Plan);
        assert!(
            matches!(judge.judge(&facts).await, Verdict::Deny { .. }),
            "no grant lifts plan mode: {text}"
        );
    }
    let judge = judge(PermissionMode::Default, Vec::new());
    judge.granted(&file("write", Risk::Write, "a"), &ApprovalAnswer::yes_for_session()).unwrap();
    assert_eq!(judge.judge(&file("write", Risk::Write, "b")).await, Verdict::Allow);
    assert_ne!(judge.judge(&file("edit", Risk::Write, "b")).await, Verdict::Allow);
    let protected = file("write", Risk::Write, ".git/config");
    assert_eq!(judge.offer(&protected), None, "a protected file is asked about every time");
    judge.granted(&protected, &ApprovalAnswer::always()).unwrap();
    assert_ne!(judge.judge(&protected).await, Verdict::Allow);
}

#[tokio::test]
async fn automatic_approval_has_limits() {
    let auto_approve =
        AutoApprove { write: true, max_requests: Some(2), max_cost_usd: Some(1.0), ..AutoApprove::default() };
    let judge = RuleJudge::new(JudgeOptions { auto_approve, places: places(), ..JudgeOptions::default() });
    let facts = file("write", Risk::Write, "a");
    assert_eq!(judge.judge(&facts).await, Verdict::Allow);
    assert_eq!(judge.judge(&facts).await, Verdict::Allow);
    let Verdict::Ask { reason } = judge.judge(&facts).await else { panic!("asks") };
    assert!(reason.contains("2 calls"), "{reason}");
    judge.granted(&facts, &ApprovalAnswer::yes()).unwrap();
    assert_eq!(judge.judge(&facts).await, Verdict::Allow, "the count begins anew");
    judge.spent(1.5);
    let Verdict::Ask { reason } = judge.judge(&facts).await else { panic!("asks") };
    assert!(reason.contains("$1"), "{reason}");
    // What a rule allows is not counted.
    assert_eq!(judge.judge(&file("read", Risk::Read, "a")).await, Verdict::Allow);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// However a command is put together: with a rule that allows `echo`, nothing runs unasked but readers and echo.
    #[test]
    fn nothing_slips_past_an_allowed_command(
        pieces in proptest::collection::vec(
            prop::sample::select(vec![
                "echo a", " && ", ";", "|", "$(", ")", "`", "\"", "'", " > ", "x", "evil", " & ", "\n", "(", "<(", "${x:-", "}", "\\", "#",
            ]),
            1..10,
        )
    ) {
        let text = format!("echo {}; evil --now", pieces.concat());
        let judge = judge(PermissionMode::Default, rules(&[(Effect::Allow, "bash(echo *)")], RuleSource::User));
        let analysis = crate::shell::analyse(&text);
        let quoted = analysis.problem.is_none() && !analysis.parts.iter().any(|part| part.name() == "evil");
        prop_assert!(quoted || judge.explain(&command(&text)).verdict != Verdict::Allow, "{}", text);
    }

    #[test]
    fn no_path_and_no_rule_makes_it_panic(path in "\\PC{0,30}", rule in "[a-z_]{0,6}\\(?\\PC{0,20}\\)?") {
        let judge = judge(PermissionMode::Default, Vec::new());
        judge.explain(&file("write", Risk::Write, &path));
        if let Ok(rule) = Rule::parse(Effect::Deny, &rule, RuleSource::User, &places()) {
            let judge = super::tests::judge(PermissionMode::Default, vec![rule]);
            judge.explain(&file("write", Risk::Write, &path));
            judge.explain(&command(&path));
        }
    }
}

#[test]
fn moving_a_program_whose_start_was_approved_does_not_ask_again() {
    let preview = Preview { continues_approved: true, ..Preview::default() };
    let step = CallFacts { category: Category::Debug, preview, ..file("step_execution", Risk::Execute, "") };
    for (mode, expected) in [
        (PermissionMode::Default, "allow"),
        (PermissionMode::AcceptEdits, "allow"),
        (PermissionMode::DontAsk, "allow"),
        (PermissionMode::Plan, "deny"),
    ] {
        assert_eq!(word(&judge(mode, Vec::new()).explain(&step).verdict), expected, "{mode:?}");
    }
    let deny = rules(&[(Effect::Deny, "step_execution")], RuleSource::User);
    let denied = judge(PermissionMode::Default, deny);
    assert_eq!(word(&denied.explain(&step).verdict), "deny");
}

/// Where somebody else asks about each call, the mode does not ask again; what goes beyond the call still asks.
#[test]
fn a_call_that_was_asked_for_elsewhere() {
    let judge = |mode: PermissionMode, texts: &[(Effect, &str)]| {
        RuleJudge::new(JudgeOptions {
            mode,
            rules: rules(texts, RuleSource::User),
            asked_for: vec![Category::Shell, Category::Files, Category::Debug],
            places: places(),
            ..JudgeOptions::default()
        })
    };
    let debug =
        |risk: Risk| CallFacts { category: Category::Debug, risk, ..file("start_debugging", risk, "/ws") };
    let host = CallFacts {
        category: Category::External,
        preview: Preview { hosts: vec!["example.com:443".into()], ..Preview::default() },
        ..file("network", Risk::Network, "/ws")
    };
    let unconfined = CallFacts {
        preview: Preview { unconfined: Some("no namespaces".into()), ..command("make").preview },
        ..command("make")
    };
    let table = [
        (command("cargo test"), "allow"),
        (command("echo hi > b.txt"), "allow"),
        (file("write", Risk::Write, "/ws/a.txt"), "allow"),
        (debug(Risk::Execute), "allow"),
        (command("touch /etc/x"), "ask"),
        (command("echo hi > /etc/x"), "ask"),
        (command("echo hi > .git/config"), "ask"),
        (command("$RUN"), "ask"),
        (file("write", Risk::Write, "/elsewhere/a.txt"), "ask"),
        (file("write", Risk::Write, "/ws/.vscode/tasks.json"), "ask"),
        (host, "ask"),
        (unconfined, "ask"),
        (CallFacts { category: Category::External, ..debug(Risk::Execute) }, "ask"),
        (command("rm -rf /"), "deny"),
    ];
    for (facts, expected) in table {
        let ruling = judge(PermissionMode::Default, &[]).explain(&facts);
        assert_eq!(word(&ruling.verdict), expected, "{facts:?}: {:?}", ruling.verdict);
    }
    let rules = [(Effect::Deny, "bash(cargo *)"), (Effect::Ask, "write")];
    let with_rules = judge(PermissionMode::Default, &rules);
    assert_eq!(word(&with_rules.explain(&command("cargo test")).verdict), "deny");
    assert_eq!(word(&with_rules.explain(&file("write", Risk::Write, "/ws/a.txt")).verdict), "ask");
    // Modes in which nobody is asked keep their word.
    for mode in [PermissionMode::Plan, PermissionMode::DontAsk] {
        assert_eq!(word(&judge(mode, &[]).explain(&command("cargo test")).verdict), "deny", "{mode:?}");
    }
}
