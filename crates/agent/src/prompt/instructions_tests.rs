//! Which files give instructions, and in which order.
#![allow(clippy::disallowed_methods, reason = "tests lay out their own files")]

use std::fs;

use expect_test::{Expect, expect};

use super::*;

/// Lays out files, loads from `workspace`, and shows the sources in order.
fn check(layout: &[&str], workspace: &str, expected: Expect) {
    let dir = tempfile::tempdir().unwrap();
    for path in layout {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("say {}", path.file_name().unwrap().display())).unwrap();
    }
    fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
    let workspace = dir.path().join(workspace);
    fs::create_dir_all(&workspace).unwrap();
    let found = load(&InstructionPlaces {
        config_dir: &dir.path().join("config"),
        user_home: Some(&dir.path().join("home")),
        workspace: &workspace,
        mode: "code",
        text: None,
        language: None,
        trusted: true,
        extra_roots: &[],
        hidden: HiddenBy::NOTHING,
    })
    .unwrap();
    let mut shown = String::new();
    for item in found.items.iter().chain(&found.replacement) {
        shown.push_str(&item.source.to_string().replace(&format!("{}/", dir.path().display()), ""));
        shown.push('\n');
    }
    expected.assert_eq(&shown);
}

#[test]
fn nearest_comes_last() {
    check(
        &["AGENTS.md", "repo/AGENTS.md", "repo/a/b/AGENTS.md", "config/AGENTS.md"],
        "repo/a/b",
        expect![[r"
            config/AGENTS.md
            repo/AGENTS.md
            repo/a/b/AGENTS.md
        "]],
    );
}

#[test]
fn claude_is_read_where_there_is_no_agents_file() {
    check(
        &["repo/AGENTS.md", "repo/CLAUDE.md", "repo/a/CLAUDE.md"],
        "repo/a",
        expect![[r"
            repo/AGENTS.md
            repo/a/CLAUDE.md
        "]],
    );
}

#[test]
fn rules_of_this_mode_and_of_all_modes() {
    check(
        &[
            "repo/.roo/rules/b.md",
            "repo/.roo/rules/a.md",
            "repo/.roo/rules-code/c.md",
            "repo/.roo/rules-ask/d.md",
            "home/.roo/rules/e.md",
            "repo/.stepwell/system-prompt-code.md",
        ],
        "repo",
        expect![[r"
            home/.roo/rules/e.md
            repo/.roo/rules/a.md
            repo/.roo/rules/b.md
            repo/.roo/rules-code/c.md
            repo/.stepwell/system-prompt-code.md
        "]],
    );
}

#[test]
fn links_that_lead_out_of_the_repository_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (repo, secret) = (dir.path().join("repo"), dir.path().join("secret"));
    fs::create_dir_all(repo.join(".git")).unwrap();
    fs::create_dir_all(repo.join("docs")).unwrap();
    fs::write(&secret, "the secret").unwrap();
    fs::write(repo.join("docs/rules.md"), "inside").unwrap();
    std::os::unix::fs::symlink(&secret, repo.join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("docs/rules.md", repo.join(".clinerules")).unwrap();
    let found = load(&InstructionPlaces {
        config_dir: dir.path(),
        user_home: None,
        workspace: &repo,
        mode: "code",
        text: None,
        language: None,
        trusted: false,
        extra_roots: &[],
        hidden: HiddenBy::NOTHING,
    })
    .unwrap();
    let texts: Vec<&str> = found.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, ["inside"]);
    assert!(found.skipped[0].contains("AGENTS.md"), "{:?}", found.skipped);
}

/// A repository with these files, each `path` and `text`; home is beside it.
fn layout(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    dir
}

/// The sources and what was skipped, with short paths.
fn shown(dir: &tempfile::TempDir, found: &Instructions) -> String {
    let mut shown = String::new();
    for item in &found.items {
        shown.push_str(&format!("{}\n", item.source));
    }
    for skipped in &found.skipped {
        shown.push_str(&format!("not read: {skipped}\n"));
    }
    let real = dir.path().canonicalize().unwrap();
    shown.replace(&format!("{}/", real.display()), "").replace(&format!("{}/", dir.path().display()), "")
}

fn with_places<T>(
    dir: &tempfile::TempDir,
    hidden: HiddenBy<'_>,
    read: impl FnOnce(&InstructionPlaces<'_>) -> T,
) -> T {
    read(&InstructionPlaces {
        config_dir: &dir.path().join("config"),
        user_home: Some(&dir.path().join("home")),
        workspace: &dir.path().join("repo"),
        extra_roots: &[],
        mode: "code",
        text: None,
        language: None,
        trusted: true,
        hidden,
    })
}

#[test]
fn imports_are_followed_within_bounds() {
    let dir = layout(&[
        ("home/.claude/CLAUDE.md", "Mine. @own.md @../.ssh/id_rsa"),
        ("home/.claude/own.md", "own"),
        ("home/.claude/.credentials.json", "key"),
        ("home/.ssh/id_rsa", "key"),
        (
            "repo/CLAUDE.md",
            "@docs/a.md, @../outside.md, @~/.claude/own.md, @~/.claude/.credentials.json, @.env, @team `@docs/code.md`",
        ),
        ("repo/docs/a.md", "@b.md @a.md @../CLAUDE.md"),
        ("repo/docs/b.md", "@c.md"),
        ("repo/docs/c.md", "@d.md"),
        ("repo/docs/d.md", "@e.md"),
        ("repo/docs/e.md", "too far"),
        ("repo/docs/code.md", "never"),
        ("repo/.env", "KEY=1"),
        ("outside.md", "outside"),
    ]);
    let hides = |path: &Path| path.ends_with(".env").then(|| "`.stepwellignore`".to_owned());
    let found = with_places(&dir, HiddenBy(&hides), |places| load(places).unwrap());
    expect![[r"
        home/.claude/CLAUDE.md
        home/.claude/own.md
        repo/CLAUDE.md
        repo/docs/a.md
        repo/docs/b.md
        repo/docs/c.md
        repo/docs/d.md
        not read: home/.claude/../.ssh/id_rsa (imported by home/.claude/CLAUDE.md): imports stay in the repository and in your own folders of instructions
        not read: repo/../outside.md (imported by repo/CLAUDE.md): imports stay in the repository and in your own folders of instructions
        not read: home/.claude/.credentials.json (imported by repo/CLAUDE.md): only Markdown files of your own folders can be imported
        not read: repo/docs/e.md: imports are followed over 4 files in a row and 50 in all
        not read: repo/.env: hidden by `.stepwellignore`
    "]]
    .assert_eq(&shown(&dir, &found));
}

#[test]
fn rules_are_read_recursively_by_name_without_what_programs_leave_behind() {
    let dir = layout(&[
        ("repo/.roo/rules/z/1-first.md", "a"),
        ("repo/.roo/rules/2-second.txt", "b"),
        ("repo/.roo/rules/.DS_Store", "x"),
        ("repo/.roo/rules/old.bak", "x"),
        ("repo/.roorules", "never: the folder is there"),
        ("repo/.clinerules-code/only.md", "c"),
        ("home/.roo/rules-code/g.md", "d"),
        ("repo/.claude/rules/always.md", "e"),
        ("repo/.claude/rules/api.md", "---\npaths: src/api/**/*.ts, \"**/*.proto\"\n---\nf"),
    ]);
    let found = with_places(&dir, HiddenBy::NOTHING, |places| load(places).unwrap());
    expect![[r"
        home/.roo/rules-code/g.md
        repo/.claude/rules/always.md
        repo/.roo/rules/z/1-first.md
        repo/.roo/rules/2-second.txt
        repo/.clinerules-code/only.md
    "]]
    .assert_eq(&shown(&dir, &found));
    let touched = |path: &str| {
        let touched = [dir.path().join("repo").join(path)];
        let found = with_places(&dir, HiddenBy::NOTHING, |places| nested(places, &touched).unwrap());
        shown(&dir, &found)
    };
    assert_eq!(touched("src/api/v1/a.ts"), "repo/.claude/rules/api.md\n");
    assert_eq!(touched("deep/down/a.proto"), "repo/.claude/rules/api.md\n");
    assert_eq!(touched("src/main.ts"), "");
}

#[test]
fn nested_instructions_end_with_the_nearest() {
    let dir = layout(&[
        ("repo/AGENTS.md", "known from the start"),
        ("repo/a/AGENTS.md", "outer"),
        ("repo/a/b/CLAUDE.md", "inner, see @more.md"),
        ("repo/a/b/more.md", "more"),
        ("repo/c/AGENTS.md", "elsewhere"),
        ("outside/AGENTS.md", "not ours"),
    ]);
    std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("repo/link")).unwrap();
    let touched = ["a/b/x.rs", "a/y.rs", "link/z.rs"].map(|path| dir.path().join("repo").join(path));
    let found = with_places(&dir, HiddenBy::NOTHING, |places| nested(places, &touched).unwrap());
    expect![[r"
        repo/a/AGENTS.md
        repo/a/b/CLAUDE.md
        repo/a/b/more.md
        not read: repo/link/AGENTS.md: a link that leads outside the repository
    "]]
    .assert_eq(&shown(&dir, &found));
}
