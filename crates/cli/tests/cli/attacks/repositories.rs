//! Repositories that name programs, lead elsewhere or hold odd names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use stepwell_test_support::{Turn, call as scripted};

use super::{call, is_untouched, world};
use crate::world::World;

/// Every way of asking Stepwell something that may have it look at the repository.
const LOOKS: &[&[&str]] = &[
    &["index", "build"],
    &["checkpoints", "list"],
    &["config", "show"],
    &["doctor"],
    &["tool", "call", "glob", r#"{"pattern": "**/*"}"#],
    &["tool", "call", "grep", r#"{"pattern": "harmless"}"#],
    &["tool", "call", "list", r#"{"path": ".", "recursive": true}"#],
];

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]);
    let done =
        command.args(words).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository whose file has changed since its commit.
fn repository(world: &World) {
    git(&world.work(), &["init", "-q", "-b", "main"]);
    git(&world.work(), &["add", "."]);
    git(&world.work(), &["commit", "-qm", "one"]);
    world.write("README.md", "harmless and new\n");
}

fn make_executable(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The agent looks at a repository in every way it has, changes a file and takes the change back. Returns whether the
/// payload's mark, which any of these would leave in the workspace, is absent.
fn nothing_runs(world: &World, folder: &str) -> bool {
    let marked = || world.work().join("MARK").exists() || !is_untouched(world);
    for words in LOOKS {
        world.output(words);
        if marked() {
            eprintln!("{words:?} ran the payload");
            return false;
        }
    }
    for command in ["git diff", "git log -p", "git status", "git show", "git branch", "git stash list"] {
        let (code, text) =
            call(world, "bash", &json!({"command": command, "working_dir": folder}), "dontAsk");
        if code != 3 || marked() {
            eprintln!("`{command}` was not refused: {code} {text}");
            return false;
        }
    }
    world.server.script([
        Turn::calls([scripted("write", json!({"file_path": "made.txt", "content": "x\n"}))]),
        Turn::text("done"),
    ]);
    let edited = world.output(&["run", "--quiet", "--permission-mode", "acceptEdits", "go"]);
    assert_eq!(edited.status.code(), Some(0), "{}", world.show(&edited));
    assert!(world.work().join("made.txt").exists());
    let undone = world.output(&["undo"]);
    assert_eq!(undone.status.code(), Some(0), "{}", world.show(&undone));
    !marked() && !world.work().join("made.txt").exists()
}

/// Settings that git runs only when it fetches, merges, commits or talks to a person, and hooks, which are switched off.
const NOT_BY_LOOKING: &[&str] = &[
    "alias.diff",
    "core.editor",
    "core.hooksPath",
    "core.sshCommand",
    "credential.helper",
    "credential.https://example.com.helper",
    "interactive.diffFilter",
    "merge.evil.driver",
    "remote.origin.uploadpack",
];

#[test]
fn g02_programs_that_a_repository_names_do_not_run() {
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.hooksPath",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "merge.evil.driver",
        "credential.helper",
        "credential.https://example.com.helper",
        "gpg.program",
        "gpg.ssh.program",
        "pager.log",
        "interactive.diffFilter",
        "include.path",
        "includeIf.gitdir:/.path",
        "remote.origin.uploadpack",
        "alias.diff",
    ] {
        let world = world();
        world.write(".gitattributes", "*.md filter=evil diff=evil merge=evil\n");
        repository(&world);
        let payload = world.work().join("payload");
        world.write("payload", "#!/bin/sh\ntouch MARK; cat\n");
        make_executable(&payload);
        let mut value = payload.display().to_string();
        if key == "core.hooksPath" {
            world.write("hooks/post-index-change", "#!/bin/sh\ntouch MARK\n");
            make_executable(&world.work().join("hooks/post-index-change"));
            value = world.work().join("hooks").display().to_string();
        }
        git(&world.work(), &["config", key, &value]);
        // What runs only when something is fetched, merged or written is nothing that a look is refused for.
        if NOT_BY_LOOKING.contains(&key) {
            for words in LOOKS {
                world.output(words);
            }
            for command in ["git status", "git diff", "git log -p", "git fetch", "git commit", "git pull"] {
                call(&world, "bash", &json!({"command": command, "timeout": 20}), "dontAsk");
            }
            assert!(!world.work().join("MARK").exists(), "{key}");
            continue;
        }
        assert!(nothing_runs(&world, "."), "{key}");
    }
    // The twin: a repository that names nothing is looked at without a question.
    let world = world();
    repository(&world);
    let (code, text) = call(&world, "bash", &json!({"command": "git diff"}), "dontAsk");
    assert!(code == 0 && text.contains("harmless and new"), "{text}");
}

#[test]
fn g03_a_folder_of_the_shape_of_a_repository_is_none() {
    let world = world();
    repository(&world);
    let sub = world.work().join("sub");
    git(&world.work(), &["init", "-q", "--bare", "sub"]);
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch MARK\"\n";
    std::fs::write(sub.join("config"), config).unwrap();
    assert!(nothing_runs(&world, "sub"));
    let (code, _) = call(&world, "bash", &json!({"command": "cd sub && git log"}), "dontAsk");
    assert_eq!(code, 3);
    let (code, text) = call(&world, "bash", &json!({"command": "git log --oneline"}), "dontAsk");
    assert!(code == 0 && text.contains("one"), "{text}");
}

#[test]
fn g05_a_submodule_is_neither_fetched_nor_checked_out() {
    for (url, path) in [
        ("ext::sh -c touch% MARK", "sub"),
        ("../out", "../../out"),
        ("-u./payload", "sub"),
        ("https://example.com/x.git", "-u./payload"),
    ] {
        let world = world();
        repository(&world);
        world.write("payload", "#!/bin/sh\ntouch MARK\n");
        make_executable(&world.work().join("payload"));
        world.write(
            ".gitmodules",
            &format!("[submodule \"sub\"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !touch MARK\n"),
        );
        for words in LOOKS {
            world.output(words);
        }
        for command in
            ["git submodule update --init", "git submodule foreach true", "git pull --recurse-submodules"]
        {
            assert_eq!(call(&world, "bash", &json!({"command": command}), "dontAsk").0, 3, "{command}");
        }
        // Where everything is allowed, git runs in the sandbox, and protocols that run programs stay closed.
        let update = "git submodule sync; git submodule update --init --recursive";
        call(&world, "bash", &json!({"command": update, "timeout": 20}), "bypassPermissions");
        assert!(!world.work().join("MARK").exists() && is_untouched(&world), "{url} {path}");
        let (code, _) = call(&world, "bash", &json!({"command": "git status --short"}), "dontAsk");
        assert_eq!(code, 0, "{url} {path}");
    }
}

#[test]
fn g06_a_git_file_that_leads_outside_is_not_followed() {
    let world = world();
    let evil = world.work().with_file_name("evil.git");
    git(world.work().parent().unwrap(), &["init", "-q", "--bare", "evil.git"]);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n\tfsmonitor = \"touch MARK\"\n",
        world.work().display()
    );
    std::fs::write(evil.join("config"), config).unwrap();
    world.write(".git", &format!("gitdir: {}\n", evil.display()));
    let before = crate::world::files_below(&evil);
    assert!(nothing_runs(&world, "."));
    let writes =
        "git add README.md; git config core.pager x; echo x > \"$(git rev-parse --git-dir)/hooks/x\"";
    call(&world, "bash", &json!({"command": writes}), "bypassPermissions");
    assert_eq!(crate::world::files_below(&evil), before);
    // The twin: a linked work tree that its repository knows of.
    let other = super::world();
    repository(&other);
    git(&other.work(), &["worktree", "add", "-q", "../tree"]);
    let tree = other.work().with_file_name("tree");
    let arguments = json!({"command": "git status --short"}).to_string();
    let words =
        ["tool", "call", "bash", &arguments, "--permission-mode", "dontAsk", "-C", tree.to_str().unwrap()];
    let output = other.output(&words);
    assert_eq!(output.status.code(), Some(0), "{}", other.show(&output));
}

/// Everything in the workspace, by raw names.
fn picture(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    crate::world::files_below(folder).into_iter().collect()
}

#[test]
fn g09_odd_names_survive_a_checkpoint_and_are_found() {
    let names: Vec<Vec<u8>> = vec![
        b"new\nline.txt".to_vec(),
        b"tab\there.txt".to_vec(),
        b"quote\"and'one.txt".to_vec(),
        b"-rf".to_vec(),
        b"--help".to_vec(),
        b"back\\slash".to_vec(),
        b" leading and trailing ".to_vec(),
        b"not\xff\xfeutf8.txt".to_vec(),
        b"\x1b[31mred".to_vec(),
        b"$(touch MARK)".to_vec(),
        b"`touch MARK`".to_vec(),
        b"*".to_vec(),
        "e\u{301}\u{202e}.txt".as_bytes().to_vec(),
        vec![b'n'; 255],
        vec![0xff; 255],
    ];
    let world = World::new([
        Turn::calls([scripted(
            "bash",
            json!({"command": "for f in ./*; do echo changed > \"$f\"; done; rm -- ./-rf; mkdir d; mv -- ./--help d/"}),
        )]),
        Turn::text("done"),
    ]);
    git(&world.work(), &["init", "-q"]);
    for name in &names {
        std::fs::write(world.work().join(OsStr::from_bytes(name)), b"needle\n").unwrap();
    }
    git(&world.work(), &["add", "."]);
    git(&world.work(), &["commit", "-qm", "one"]);
    let plain = |files: BTreeMap<PathBuf, Vec<u8>>| -> BTreeMap<PathBuf, Vec<u8>> {
        files.into_iter().filter(|(path, _)| !path.starts_with(world.work().join(".git"))).collect()
    };
    let before = plain(picture(&world.work()));
    for (tool, arguments) in [
        ("grep", json!({"pattern": "needle"})),
        ("glob", json!({"pattern": "*"})),
        ("list", json!({"path": "."})),
        ("bash", json!({"command": "git status --short && git diff HEAD --stat"})),
    ] {
        let (code, text) = call(&world, tool, &arguments, "dontAsk");
        assert_eq!(code, 0, "{tool}: {text}");
        assert!(!text.contains("changed during the search"), "{tool}: {text:?}");
    }
    let (_, found) = call(&world, "grep", &json!({"pattern": "needle"}), "dontAsk");
    for part in ["quote\"and'one.txt", "-rf", "back\\slash", "$(touch MARK)"] {
        assert!(found.contains(part), "{part}: {found}");
    }
    let run = world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(run.status.code(), Some(0), "{}", world.show(&run));
    assert_ne!(plain(picture(&world.work())), before);
    let undone = world.output(&["undo"]);
    assert_eq!(undone.status.code(), Some(0), "{}", world.show(&undone));
    assert_eq!(plain(picture(&world.work())), before);
}
