//! The git tools on real repositories, also on those that were made to run something.

use expect_test::expect;
use serde_json::json;
use stepwell_protocol::PermissionMode;

use crate::bench::{Bench, bench, bench_around, bench_with, free};

const SETUP: &str = "git init -q -b main . && git config user.name Ada && git config user.email ada@example.org \
                     && export GIT_AUTHOR_DATE='2026-01-02T03:04:05+00:00' GIT_COMMITTER_DATE='2026-01-02T03:04:05+00:00'";

async fn repository(bench: &Bench, more: &str) {
    bench.put("shop.py", b"def pay(x):\n    return x\n\n\ndef other():\n    return 1\n");
    bench.put("notes.txt", b"one\ntwo\n");
    bench.shell(&format!("{SETUP}\ngit add -A\ngit commit -qm 'shop: Add the shop'\n{more}")).await;
}

#[tokio::test]
async fn git_diff_counts_first_and_names_what_is_untracked() {
    let bench = free();
    repository(&bench, "printf 'one\\n2\\n' > notes.txt; printf 'x\\n' > new.txt").await;
    bench
        .check(
            "git_diff",
            json!({}),
            expect![[r#"
                1 file, 1 line added, 1 deleted
                +1 -1	notes.txt
                untracked	new.txt

                diff --git a/notes.txt b/notes.txt
                index 814f4a4..99b356d 100644
                --- a/notes.txt
                +++ b/notes.txt
                @@ -1,2 +1,2 @@
                 one
                -two
                +2
            "#]],
        )
        .await;
    bench
        .check(
            "git_diff",
            json!({"staged": true}),
            expect![[r"
        no changes
    "]],
        )
        .await;
    bench.shell("git add -A").await;
    bench
        .check(
            "git_diff",
            json!({"staged": true, "stat": true}),
            expect![[r"
                2 files, 2 lines added, 1 deleted
                +1 -0	new.txt
                +1 -1	notes.txt
            "]],
        )
        .await;
    bench
        .check(
            "git_diff",
            json!({"path": "shop.py"}),
            expect![[r"
        no changes
    "]],
        )
        .await;
}

#[tokio::test]
async fn git_diff_and_log_understand_ranges() {
    let bench = free();
    let more = "git checkout -qb topic; git mv notes.txt words.txt; git commit -qm 'shop: Rename notes'
        git checkout -q main; echo more >> shop.py; git commit -qam 'shop: Add more' -m 'It was missing.'";
    repository(&bench, more).await;
    let stat = |revision: &str| json!({"revision": revision, "stat": true});
    bench
        .check(
            "git_diff",
            stat("main...topic"),
            expect![[r"
            1 file, 0 lines added, 0 deleted
            +0 -0	words.txt (was notes.txt)
        "]],
        )
        .await;
    bench
        .check(
            "git_diff",
            stat("HEAD~1"),
            expect![[r"
            1 file, 1 line added, 0 deleted
            +1 -0	shop.py
        "]],
        )
        .await;
    let log = bench.call("git_log", json!({"details": true})).await.result.output;
    let hashes = without_hashes(&log);
    expect![[r"
        # 2026-01-02 Ada (HEAD -> main): shop: Add more
            It was missing.
            M shop.py
        # 2026-01-02 Ada: shop: Add the shop
            A notes.txt
            A shop.py
    "]]
    .assert_eq(&hashes);
    let graph =
        bench.call("git_log", json!({"graph": true, "limit": 1, "revision": "topic"})).await.result.output;
    assert!(graph.starts_with("* ") && graph.contains("shop: Rename notes"), "{graph}");
    let followed =
        bench.call("git_log", json!({"path": "words.txt", "revision": "topic"})).await.result.output;
    assert_eq!(followed.lines().count(), 2, "{followed}");
    let one = bench.call("git_log", json!({"limit": 1})).await.result.output;
    assert!(one.ends_with("[only the newest 1; raise `limit`]\n"), "{one}");
    for bad in ["--output=/tmp/x", "nothere", "a b", "-n1"] {
        let result = bench.call("git_diff", json!({"revision": bad})).await.result;
        assert!(result.error.is_some(), "{bad}: {}", result.output);
    }
}

/// The lines with every short hash as `#`.
fn without_hashes(text: &str) -> String {
    let line = |line: &str| match line.split_once(' ') {
        Some((hash, rest)) if hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("# {rest}\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[tokio::test]
async fn git_tools_say_when_there_is_no_repository() {
    let bench = free();
    for tool in ["git_diff", "git_log", "generate_commit"] {
        let result = bench.call(tool, json!({})).await.result;
        assert!(result.output.contains("not a git repository"), "{tool}: {}", result.output);
    }
    bench.shell(SETUP).await;
    bench.check("git_log", json!({}), expect!["there is no commit yet"]).await;
    bench.put("a.txt", b"a\n");
    bench.shell("git add a.txt").await;
    let first = bench.call("git_diff", json!({})).await.result.output;
    assert!(first.starts_with("1 file, 1 line added"), "{first}");
    let committed = bench.call("generate_commit", json!({})).await.result.output;
    assert!(committed.contains("Add a.txt"), "{committed}");
}

/// H: settings and hooks of a repository that somebody else made run nothing, whatever tool looks at it.
#[tokio::test]
async fn a_hostile_repository_runs_nothing() {
    let hostile = [
        "git config core.fsmonitor 'touch PWNED; echo'",
        "git config diff.external 'touch PWNED #'",
        "git config diff.evil.textconv 'touch PWNED; cat'; echo '*.txt diff=evil' > .gitattributes",
        "git config filter.evil.clean 'touch PWNED; cat'; echo '*.txt filter=evil' > .gitattributes",
        "git config core.pager 'touch PWNED; cat'; git config pager.diff true",
        "git config alias.diff '!touch PWNED'; git config alias.log '!touch PWNED'; git config alias.commit '!touch PWNED'",
        "git config gpg.program 'touch PWNED;'; git config commit.gpgsign true; git config log.showSignature true",
        "git config core.sshCommand 'touch PWNED'; git config credential.helper '!touch PWNED'",
        "git config core.editor 'touch PWNED'; git config commit.template /etc/passwd",
        "for hook in pre-commit prepare-commit-msg commit-msg post-commit post-index-change; do printf '#!/bin/sh\\ntouch PWNED\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done",
        "mkdir hooks; printf '#!/bin/sh\\ntouch PWNED\\n' > hooks/pre-commit; chmod +x hooks/pre-commit; git config core.hooksPath hooks",
        "printf '[include]\\n\\tpath = ../evil.config\\n' >> .git/config; printf '[core]\\n\\tfsmonitor = touch PWNED\\n' > evil.config",
    ];
    for setup in hostile {
        let bench = free();
        repository(&bench, &format!("echo changed >> notes.txt\n{setup}")).await;
        for (tool, arguments) in [
            ("git_diff", json!({})),
            ("git_diff", json!({"staged": true})),
            ("git_diff", json!({"revision": "HEAD"})),
            ("git_log", json!({"details": true, "graph": true})),
            ("generate_commit", json!({"staged_only": false})),
        ] {
            bench.call(tool, arguments).await;
            assert!(!bench.path("PWNED").exists(), "{tool} ran: {setup}");
        }
    }
}

#[tokio::test]
async fn files_that_are_hidden_are_counted_but_not_shown() {
    let ignore = [(".stepwellignore", "hidden.txt\n")];
    let bench = bench_around(PermissionMode::BypassPermissions, &ignore, |_| {});
    repository(&bench, "echo secret-word > hidden.txt; git add -A; git commit -qm x; echo 'secret-word 2' > hidden.txt; echo 3 >> notes.txt").await;
    let shown = bench.call("git_diff", json!({})).await.result.output;
    assert!(!shown.contains("secret-word") && shown.contains("1 changed file hidden from you"), "{shown}");
    let named = bench.call("git_diff", json!({"path": "hidden.txt"})).await.result;
    assert!(named.error.is_some() && !named.output.contains("secret-word"), "{}", named.output);
}

#[tokio::test]
async fn generate_commit_keeps_the_style_and_leaves_untracked_files() {
    let bench = free();
    let edit = "python3 - <<'E'\ntext = open('shop.py').read()\nopen('shop.py', 'w').write(text + '\\n\\ndef total(x):\\n    return x\\n')\nE\necho private > .env.local";
    repository(&bench, edit).await;
    let proposed = bench.call("generate_commit", json!({"commit": false})).await.result.output;
    assert!(
        proposed.contains("shop: Add total in shop.py")
            && proposed.contains("style of earlier commits: `area: ...`"),
        "{proposed}"
    );
    let committed = bench.call("generate_commit", json!({})).await.result.output;
    assert!(
        committed.starts_with("committed ") && committed.contains("shop: Add total in shop.py"),
        "{committed}"
    );
    bench
        .check(
            "bash",
            json!({"command": "git status --short; git log -1 --format='%an %s'"}),
            expect![[r"
        ?? .env.local
        Ada shop: Add total in shop.py
    "]],
        )
        .await;
    let nothing = bench.call("generate_commit", json!({})).await.result.output;
    assert!(nothing.contains("nothing to commit"), "{nothing}");
    bench.shell("git add .env.local").await;
    let given =
        bench.call("generate_commit", json!({"message": "shop: Keep it\n\nWhy not."})).await.result.output;
    assert!(given.contains("shop: Keep it\n\nWhy not."), "{given}");
}

#[tokio::test]
async fn generate_commit_asks_and_commits_nothing_where_that_is_refused() {
    let bench = bench(PermissionMode::Default);
    let other = free();
    repository(&other, "echo 3 >> notes.txt").await;
    // The bench that asks cannot run commands, so the other one fills its folder.
    other.shell(&format!("cp -r . {}", bench.path("").display())).await;
    let refused = bench.call("generate_commit", json!({})).await;
    assert!(refused.result.error.is_some());
    let asked = bench.host.approvals.lock().pop().expect("a question");
    assert!(asked.preview.summary.starts_with("Commit 1 file as `"), "{}", asked.preview.summary);
    assert!(asked.preview.diff.expect("the message").contains("+1 -0\tnotes.txt"));
    let log = bench.call("git_log", json!({})).await.result.output;
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[tokio::test]
async fn hooks_run_in_a_trusted_folder_alone() {
    let hooks = "printf '#!/bin/sh\\ngrep -q WRONG notes.txt && { echo not like this; exit 1; }\\ntouch HOOKED\\n' > .git/hooks/pre-commit
        printf '#!/bin/sh\\necho \"Change-Id: I1\" >> \"$1\"\\n' > .git/hooks/commit-msg
        chmod +x .git/hooks/pre-commit .git/hooks/commit-msg; echo 3 >> notes.txt";
    let strange = free();
    repository(&strange, hooks).await;
    let told = strange.call("generate_commit", json!({})).await.result.output;
    assert!(
        told.contains("hooks that did not run, because the folder is not trusted: pre-commit, commit-msg"),
        "{told}"
    );
    assert!(!strange.path("HOOKED").exists());

    let trusted = bench_with(PermissionMode::BypassPermissions, |options| options.trusted = true);
    repository(&trusted, hooks).await;
    trusted.shell("echo WRONG >> notes.txt").await;
    let refused = trusted.call("generate_commit", json!({})).await.result;
    assert!(refused.error.is_some() && refused.output.contains("not like this"), "{}", refused.output);
    trusted.shell("git reset -q --hard; echo 4 >> notes.txt").await;
    let told = trusted.call("generate_commit", json!({})).await.result.output;
    assert!(
        told.contains("Change-Id: I1") && told.contains("hooks that ran: pre-commit, commit-msg"),
        "{told}"
    );
    assert!(trusted.path("HOOKED").exists());
}

#[tokio::test]
async fn a_repository_does_not_choose_the_program_that_signs() {
    let trusted = bench_with(PermissionMode::BypassPermissions, |options| options.trusted = true);
    let home = trusted.folder.path().display().to_string();
    // A stand-in for gpg that answers as git expects.
    let gpg = format!("{home}/gpg");
    repository(&trusted, "echo 3 >> notes.txt").await;
    trusted
        .shell(&format!(
            "printf '#!/bin/sh\\ncat >/dev/null\\necho SIGNED\\necho \"[GNUPG:] SIG_CREATED \" >&2\\n' > {gpg}; chmod +x {gpg}"
        ))
        .await;
    // The repository may ask to sign; which program does it is for the person's settings alone.
    trusted.shell(&format!("git config gpg.program {gpg}; git config commit.gpgsign true")).await;
    let refused = trusted.call("generate_commit", json!({})).await.result;
    assert!(refused.output.contains("gpg.program"), "{}", refused.output);
}
