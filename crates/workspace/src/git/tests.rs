//! Hostile repositories, each with a payload that would leave a mark: what is found runs nothing, and what is not
//! found does nothing under the quiet environment.

use std::path::Path;
use std::process::Command;

use super::*;

/// A repository with a changed file, in a folder of its own. The mark is what the payload writes.
struct Hostile {
    folder: tempfile::TempDir,
}

impl Hostile {
    fn new() -> Self {
        let hostile = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(hostile.work()).unwrap();
        for words in
            [&["init", "-q"][..], &["config", "user.email", "a@example.com"], &["config", "user.name", "a"]]
        {
            hostile.git(words);
        }
        hostile.write("a.txt", "one\n");
        hostile.git(&["add", "."]);
        hostile.git(&["commit", "-qm", "one"]);
        hostile.write("a.txt", "two\n");
        hostile
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("mark")
    }

    fn payload(&self) -> String {
        format!("touch {}; cat", self.mark().display())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn script(&self, path: &str) {
        self.write(path, &format!("#!/bin/sh\n{}\n", self.payload()));
        let path = self.work().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, folder: &Path, words: &[&str], quiet: bool) {
        let mut command = Command::new("git");
        command.args(words).current_dir(folder).env("HOME", self.folder.path()).env("GIT_PAGER", "cat");
        if quiet {
            command.envs(quiet_environment());
        }
        command.stdin(std::process::Stdio::null()).output().unwrap();
    }

    fn git(&self, words: &[&str]) {
        self.run(&self.work(), words, false);
    }
}

type Setup = fn(&Hostile);

/// What a repository can do, the folder git is started in, and what starts it.
const CASES: &[(&str, &str, &[&str], Setup)] = &[
    ("fsmonitor", ".", &["status"], |hostile| hostile.git(&["config", "core.fsmonitor", &hostile.payload()])),
    ("hook of the index", ".", &["status"], |hostile| {
        hostile.script(".git/hooks/post-index-change");
        let same = std::fs::read(hostile.work().join("a.txt")).unwrap();
        hostile.git(&["add", "."]);
        std::fs::remove_file(hostile.mark()).ok();
        std::fs::write(hostile.work().join("a.txt"), same).unwrap();
    }),
    ("clean filter", ".", &["diff"], |hostile| {
        hostile.write(".gitattributes", "*.txt filter=evil\n");
        hostile.git(&["config", "filter.evil.clean", &hostile.payload()]);
    }),
    ("textconv", ".", &["diff"], |hostile| {
        hostile.write(".gitattributes", "*.txt diff=evil\n");
        hostile.git(&["config", "diff.evil.textconv", &hostile.payload()]);
    }),
    ("textconv of show", ".", &["show"], |hostile| {
        hostile.write(".gitattributes", "*.txt diff=evil\n");
        hostile.git(&["config", "diff.evil.textconv", &hostile.payload()]);
    }),
    ("external diff of a driver", ".", &["diff"], |hostile| {
        hostile.write(".gitattributes", "*.txt diff=evil\n");
        hostile.git(&["config", "diff.evil.command", &hostile.payload()]);
    }),
    ("external diff", ".", &["diff"], |hostile| {
        hostile.git(&["config", "diff.external", &hostile.payload()]);
    }),
    ("included settings", ".", &["status"], |hostile| {
        hostile.write("more", &format!("[core]\n\tfsmonitor = \"{}\"\n", hostile.payload()));
        hostile.git(&["config", "include.path", "../more"]);
    }),
    ("settings of a work tree", ".", &["status"], |hostile| {
        hostile.git(&["config", "extensions.worktreeConfig", "true"]);
        hostile.write(".git/config.worktree", &format!("[core]\n\tfsmonitor = \"{}\"\n", hostile.payload()));
    }),
    ("program for signatures", ".", &["log", "--format=%G?"], |hostile| {
        hostile.git(&["config", "gpg.program", &hostile.payload()]);
        let signed = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
        let body =
            Command::new("git").args(["cat-file", "commit", "HEAD"]).current_dir(hostile.work()).output();
        let body =
            String::from_utf8(body.unwrap().stdout).unwrap().replacen("\n\n", &format!("\n{signed}\n\n"), 1);
        hostile.write(".git/signed", &body);
        hostile.git(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
        let id = Command::new("git")
            .args(["hash-object", "-t", "commit", ".git/signed"])
            .current_dir(hostile.work())
            .output();
        hostile.git(&["update-ref", "HEAD", String::from_utf8(id.unwrap().stdout).unwrap().trim()]);
        // Git runs one program, not a line for the shell.
        hostile.script(".git/verify");
        hostile.git(&["config", "gpg.program", &hostile.work().join(".git/verify").display().to_string()]);
    }),
    ("repository without .git", "bare", &["status"], |hostile| {
        hostile.run(hostile.folder.path(), &["init", "-q", "--bare", "work/bare"], false);
        hostile.write(
            "bare/config",
            &format!(
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"{}\"\n",
                hostile.payload()
            ),
        );
    }),
    ("gitdir file", "sub", &["status"], |hostile| {
        hostile.run(hostile.folder.path(), &["init", "-q", "work/inner"], false);
        std::fs::rename(hostile.work().join("inner/.git"), hostile.work().join("store")).unwrap();
        hostile.write("sub/.git", "gitdir: ../store\n");
        hostile.write(
            "store/config",
            &format!("[core]\n\tbare = false\n\tfsmonitor = \"{}\"\n", hostile.payload()),
        );
    }),
    ("lazy fetch", ".", &["show", "HEAD"], |hostile| {
        hostile.git(&["config", "extensions.partialClone", "evil"]);
        hostile.git(&["config", "core.repositoryFormatVersion", "1"]);
        hostile.git(&["config", "remote.evil.url", "file:///nowhere"]);
        hostile.git(&["config", "remote.evil.promisor", "true"]);
        hostile.git(&["config", "remote.evil.uploadpack", &hostile.payload()]);
        let blob = Command::new("git").args(["rev-parse", "HEAD:a.txt"]).current_dir(hostile.work()).output();
        let blob = String::from_utf8(blob.unwrap().stdout).unwrap();
        std::fs::remove_file(hostile.work().join(format!(
            ".git/objects/{}/{}",
            &blob[..2],
            blob[2..].trim()
        )))
        .unwrap();
    }),
    ("filter of a nested repository", ".", &["status"], |hostile| {
        hostile.run(hostile.folder.path(), &["init", "-q", "work/nested"], false);
        let nested = hostile.work().join("nested");
        hostile.write("nested/b.txt", "one\n");
        for words in [
            &["config", "user.email", "a@example.com"][..],
            &["config", "user.name", "a"],
            &["add", "."],
            &["commit", "-qm", "one"],
        ] {
            hostile.run(&nested, words, false);
        }
        hostile.git(&["add", "nested"]);
        hostile.run(&nested, &["config", "filter.evil.clean", &hostile.payload()], false);
        hostile.write("nested/.gitattributes", "*.txt filter=evil\n");
        hostile.write("nested/b.txt", "two\n");
    }),
];

#[test]
fn a_hostile_repository_is_found_before_git_runs() {
    for (name, folder, words, set_up) in CASES {
        let hostile = Hostile::new();
        let twin = hazard(&hostile.work());
        assert_eq!(twin, None, "{name}");
        set_up(&hostile);
        let folder = hostile.work().join(folder);
        // Without our care the payload runs; else the case would show nothing.
        std::fs::remove_file(hostile.mark()).ok();
        hostile.run(&folder, words, false);
        assert!(hostile.mark().exists(), "{name}: the payload does not run");
        assert!(hazard(&folder).is_some(), "{name}");
        assert!(call(&folder, words, Duration::from_secs(1)).is_err(), "{name}");
    }
}

/// Where a person allowed the command all the same, what has a fixed name does not run.
#[test]
fn the_quiet_environment_switches_off_what_has_a_fixed_name() {
    let by_name = ["filter", "textconv", "external diff"];
    for (name, folder, words, set_up) in CASES {
        if by_name.iter().any(|part| name.contains(part)) {
            continue;
        }
        let hostile = Hostile::new();
        set_up(&hostile);
        std::fs::remove_file(hostile.mark()).ok();
        hostile.run(&hostile.work().join(folder), words, true);
        assert!(!hostile.mark().exists(), "{name}");
    }
}

#[test]
fn ordinary_settings_run_nothing() {
    for text in [
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tfsmonitor = true\n",
        "[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
        "[branch \"main\"]\n\tremote = origin # [diff \"x\"]\n; [include] path = x\n[submodule \"a]b\"]\n\tactive = true\n",
        "[diff \"rust\"]\n\txfuncname = \"fn\"\n[alias]\n\tst = status\n[user]\n\tname = a\n",
        "",
    ] {
        assert_eq!(config::running_key(text), None, "{text}");
    }
    for (text, key) in [
        ("[core] fsmonitor = touch x", "core.fsmonitor"),
        ("[CORE]\nFsMonitor=\"touch x\"", "core.fsmonitor"),
        ("[core]\nfs\\\nmonitor = x", "core.fsmonitor"),
        ("[diff \"a\\\"]b\"]\n\ttextconv = x", "diff.a\\\"]b.textconv"),
        ("[diff.evil]\ncommand = x", "diff.evil.command"),
        ("\u{feff}[include]path=x", "include.path"),
        ("[includeIf \"gitdir:x\"]\n path = y", "includeif.gitdir:x.path"),
        ("[core", "[core"),
        ("[a][b \"c\"][filter \"d\"] process = e", "filter.d.process"),
    ] {
        assert_eq!(config::running_key(text).as_deref(), Some(key), "{text}");
    }
}

fn run_clone(hostile: &Hostile, url: &str, into: &Path) -> std::process::Output {
    let call = clone_call(url, None, into, Duration::from_secs(60)).unwrap();
    let mut command = Command::new(&call.program);
    command.args(&call.arguments).current_dir(&call.folder).envs(call.environment.set);
    // A template of the person whose hook would leave the mark.
    command.env("GIT_TEMPLATE_DIR", hostile.folder.path().join("template")).output().unwrap()
}

#[test]
// T10: what is fetched for a skill runs nothing.
fn a_fetched_repository_runs_nothing_and_brings_no_links() {
    let hostile = Hostile::new();
    let template = hostile.folder.path().join("template/hooks");
    std::fs::create_dir_all(&template).unwrap();
    let hook = template.join("post-checkout");
    std::fs::write(&hook, format!("#!/bin/sh\n{}\n", hostile.payload())).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", hostile.work().join("link")).unwrap();
    hostile.write("SKILL.md", "text\n");
    hostile.git(&["add", "."]);
    hostile.git(&["commit", "-qm", "two"]);
    let into = hostile.folder.path().join("fetched");
    let ran = run_clone(&hostile, &format!("file://{}", hostile.work().display()), &into);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_to_string(into.join("SKILL.md")).unwrap(), "text\n");
    assert!(into.join("link").symlink_metadata().unwrap().is_file());
    assert!(!hostile.mark().exists(), "a hook ran");
}

#[test]
fn only_https_and_plain_branches_are_fetched() {
    let into = Path::new("/tmp/never");
    let limit = Duration::from_secs(1);
    for url in [
        "http://example.org/a",
        "ssh://example.org/a",
        "ext::sh -c id",
        "git@example.org:a",
        "--upload-pack=x",
        "",
    ] {
        assert!(clone_call(url, None, into, limit).is_err(), "{url}");
    }
    for branch in ["", "--upload-pack=x", "a b", "$(id)"] {
        assert!(clone_call("https://example.org/a", Some(branch), into, limit).is_err(), "{branch}");
    }
    let call = clone_call("https://example.org/a", Some("main"), into, limit).unwrap();
    assert!(call.environment.set.contains(&("GIT_ALLOW_PROTOCOL".into(), "https".into())));
    assert_eq!(call.environment.set.iter().filter(|(name, _)| name == "GIT_ALLOW_PROTOCOL").count(), 1);
}
