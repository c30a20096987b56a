//! Reading and writing: only the workspace changes, and not what steers tools in it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::{canary_lives, fails, out, sandboxed, succeeds, told, world};
use stepwell_test_support::{Turn, call};

use crate::world::{World, files_below};

fn git(world: &World, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(world.work())
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn a_command_works_in_the_workspace_as_outside() {
    let world = world();
    world.write("a.txt", "hello\n");
    assert_eq!(
        succeeds(&world, "cat a.txt; pwd").replace(&world.work().display().to_string(), "WS"),
        "hello\nWS\n"
    );
    succeeds(
        &world,
        "echo new > b.txt; mkdir -p c/d; mv a.txt c/d/; rm -r c; chmod 700 b.txt; ln -s b.txt l",
    );
    assert_eq!(std::fs::read_to_string(world.work().join("b.txt")).unwrap(), "new\n");
    assert!(!world.work().join("c").exists());
    succeeds(
        &world,
        "test \"$TMPDIR\" = /tmp; echo x > $(mktemp); echo x > /var/tmp/x; echo x > /dev/null; echo x > /dev/shm/x",
    );
    succeeds(
        &world,
        "head -c 8 /dev/urandom | wc -c; ls /usr/bin > /dev/null; cat /proc/self/status; echo $((1+1))",
    );
    assert_eq!(told(&world, "exit 7").0, 7);
    assert_eq!(told(&world, "kill -9 $$").0, 137);
    assert_eq!(told(&world, "kill -TERM $$").0, 143);
    let mut child = world.command(&["sandbox", "run", "--", "cat"]);
    let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"through\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through\n");
    let missing = world.output(&["sandbox", "run", "--", "no-such-program"]);
    assert!(missing.status.code() == Some(125) && world.show(&missing).contains("no-such-program"));
}

#[test]
fn nothing_outside_the_workspace_is_written() {
    let world = world();
    let outside = out(&world).display().to_string();
    for script in [
        format!("echo x > {outside}/new"),
        format!("echo x >> {outside}/canary.txt"),
        format!("rm -rf {outside}"),
        format!("ln -s {outside} link; echo x > link/new"),
        format!("mv {outside}/canary.txt ."),
        format!("ln {outside}/canary.txt hard && echo x > hard"),
        format!("chmod 000 {outside}/canary.txt"),
        format!("truncate -s0 {outside}/canary.txt"),
        format!("touch {outside}/canary.txt"),
        "echo x > $HOME/new".to_owned(),
        "echo x > ../new".to_owned(),
        "echo x > /etc/stepwell-test".to_owned(),
        "echo x > /usr/bin/stepwell-test".to_owned(),
        "echo x > /proc/sys/kernel/core_pattern".to_owned(),
        "echo x > /proc/sys/kernel/hostname".to_owned(),
        "echo x > /sys/kernel/uevent_helper".to_owned(),
        "echo x > /dev/new".to_owned(),
        "chmod 000 /dev/null /dev/zero /dev/tty".to_owned(),
        "chown nobody /dev/null; touch -d 2000-01-01 /dev/null".to_owned(),
        "echo x > /run/new".to_owned(),
    ] {
        let before = files_below(&out(&world));
        // Where the place is not even seen, some programs have nothing to complain about.
        told(&world, &script);
        assert!(canary_lives(&world) && files_below(&out(&world)) == before, "{script}");
    }
    for path in ["/etc/stepwell-test", "/usr/bin/stepwell-test"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    assert!(!out(&world).join("new").exists() && !world.work().with_file_name("new").exists());
    let null = std::fs::metadata("/dev/null").unwrap();
    assert_eq!((null.permissions().mode() & 0o777, null.uid()), (0o666, 0));
    // Another call finds nothing of what one left in its own places.
    succeeds(&world, "echo x > /tmp/left");
    assert!(!succeeds(&world, "ls /tmp").contains("left"));
}

/// S02 where nothing is there yet: none of these can be left behind, and the folder stays as it was.
#[test]
fn what_steers_tools_cannot_be_made() {
    let world = world();
    world.write("a.txt", "hello\n");
    git(&world, &["init", "-q"]);
    std::fs::remove_dir_all(world.work().join(".git/hooks")).unwrap();
    let before = files_below(&world.work());
    for script in [
        "mkdir -p .stepwell; echo '{}' > .stepwell/config.toml",
        "mkdir -p .agent; echo '{\"hooks\":1}' > .agent/settings.json",
        "mkdir -p .claude; echo '{}' > .claude/settings.json",
        "echo '{}' > .mcp.json",
        "echo '{}' > .MCP.json",
        "mkdir .vscode; echo '{}' > .vscode/tasks.json",
        "mkdir .Vscode",
        "mkdir x; echo '{}' > x/tasks.json; mv x .vscode",
        "mkdir .idea",
        "mkdir -p .git/hooks; echo 'id' > .git/hooks/post-checkout",
        "echo ../evil > .git/commondir",
        "echo x > .git/config.worktree",
        "echo '[submodule]' > .gitmodules",
        "echo 'id' > .envrc",
        "echo 'obey' > AGENTS.md",
        "echo 'obey' > claude.md",
        "ln -s a.txt AGENTS.md",
        "echo '{}' > a.code-workspace",
        "mkdir .husky; sleep 5",
    ] {
        let text = fails(&world, script);
        assert!(text.contains("steer tools"), "{script}: {text}");
        let left: Vec<_> = files_below(&world.work())
            .into_iter()
            .filter(|(path, _)| !path.ends_with("x/tasks.json"))
            .collect();
        assert_eq!(left, before, "{script}");
    }
    assert!(!world.work().join(".vscode").exists() && !world.work().join(".husky").exists());
    // What was made is kept for the person to look at, as far as the command got.
    let kept = Command::new("find").arg(world.data().join("withheld")).args(["-name", "AGENTS.md"]).output();
    assert!(!kept.unwrap().stdout.is_empty());
    succeeds(
        &world,
        "mkdir -p agent docs/.vscode; echo x > agent/settings.json; echo x > agents.txt; echo x > .gitignore",
    );
}

/// S02 and S03 where it is there: neither written nor replaced.
#[test]
fn what_steers_tools_stays_as_it_is() {
    let world = world();
    git(&world, &["init", "-q"]);
    world.write(".stepwell/config.toml", "max_turns = 5\n");
    world.write(".mcp.json", "{}");
    world.write("AGENTS.md", "be kind\n");
    world.write(".vscode/settings.json", "{}");
    world.write("nested/a.txt", "x");
    git(&world, &["init", "-q", "nested"]);
    world.write("app/one/AGENTS.md", "be kind here too\n");
    world.write("app/one/.vscode/tasks.json", "{}");
    world.write("app/two/three/a.txt", "x");
    git(&world, &["init", "-q", "app/two/three"]);
    world.write("editor/tasks.json", "{}");
    for (target, link) in [("AGENTS.md", "CLAUDE.md"), ("editor", ".idea"), ("/etc/passwd", ".envrc")] {
        std::os::unix::fs::symlink(target, world.work().join(link)).unwrap();
    }
    let outside = out(&world).display().to_string();
    let before = files_below(&world.work());
    for script in [
        "echo x > .stepwell/config.toml".to_owned(),
        "echo x > .stepwell/new".to_owned(),
        "rm -rf .stepwell".to_owned(),
        "mv .stepwell x".to_owned(),
        format!("mv .stepwell x && ln -s {outside} .stepwell"),
        "rm .mcp.json".to_owned(),
        "echo x > new; mv new .mcp.json".to_owned(),
        "echo x > new; ln -f new AGENTS.md".to_owned(),
        "sed -i s/kind/rude/ AGENTS.md".to_owned(),
        "python3 -c 'import os; os.truncate(\"AGENTS.md\", 0)'".to_owned(),
        "echo x > CLAUDE.md".to_owned(),
        "rm CLAUDE.md".to_owned(),
        "echo x > new; mv new CLAUDE.md".to_owned(),
        "echo x > editor/tasks.json".to_owned(),
        "mv editor x".to_owned(),
        "rm .envrc".to_owned(),
        "rm -rf .vscode".to_owned(),
        "mv .git .git2".to_owned(),
        format!("mv .git .git2 && ln -s {outside} .git"),
        "rm -rf .git".to_owned(),
        "echo id > .git/hooks/pre-commit".to_owned(),
        "git config core.fsmonitor ./evil".to_owned(),
        "mv .git/config .git/x".to_owned(),
        "mv .git/hooks .git/x; mkdir .git/hooks".to_owned(),
        "echo id > nested/.git/hooks/pre-commit".to_owned(),
        "git -C nested config core.fsmonitor ./evil".to_owned(),
        "echo x > app/one/AGENTS.md".to_owned(),
        "rm app/one/AGENTS.md".to_owned(),
        "echo x > new; mv new app/one/AGENTS.md".to_owned(),
        "echo x > app/one/.vscode/tasks.json".to_owned(),
        "mv app/one/.vscode x".to_owned(),
        "rm -rf app/one".to_owned(),
        "mv app away; r=1; echo x > away/one/AGENTS.md && r=0; mv away app; exit $r".to_owned(),
        "echo id > app/two/three/.git/hooks/pre-commit".to_owned(),
        "git -C app/two/three config core.fsmonitor ./evil".to_owned(),
    ] {
        fails(&world, &script);
        let steering = |files: Vec<(std::path::PathBuf, Vec<u8>)>| -> Vec<_> {
            files.into_iter().filter(|(path, _)| !path.ends_with("new") && !is_git_data(path)).collect()
        };
        assert_eq!(steering(files_below(&world.work())), steering(before.clone()), "{script}");
    }
}

/// Whether git itself may change a file while it works.
fn is_git_data(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.contains("/.git/") && !text.contains("/.git/hooks/") && !text.ends_with("/.git/config")
}

/// The twin of all that: git works.
#[test]
fn git_works_on_the_repository() {
    let world = world();
    git(&world, &["init", "-q", "-b", "main"]);
    world.write("a.txt", "one\n");
    let commit = "git -c user.name=a -c user.email=a@b commit -qm";
    succeeds(
        &world,
        &format!(
            "git add . && {commit} first && git checkout -qb side && echo two > a.txt && git diff --stat"
        ),
    );
    succeeds(
        &world,
        &format!(
            "{commit} second -a && git stash list && git checkout -q main && git merge -q side && git log --oneline"
        ),
    );
    succeeds(&world, "git tag t && git gc -q && git fsck && git status --short");
    // What others put into folders of packages is nobody's settings, and repositories can be made deeper down.
    world.write(".gitignore", "node_modules/\n");
    world.write("node_modules/x/.vscode/settings.json", "{}");
    world.write("node_modules/x/AGENTS.md", "");
    succeeds(
        &world,
        "rm -rf node_modules && mkdir -p node_modules/y/.vscode && git init -q deep/er && git -C deep/er status",
    );
    // A linked work tree writes to the repository it belongs to, and only there.
    git(&world, &["worktree", "add", "-q", "../tree"]);
    let tree = world.work().with_file_name("tree");
    let tree = tree.to_str().unwrap();
    let output = world.output(&[
        "sandbox",
        "run",
        "-C",
        tree,
        "--",
        "bash",
        "-c",
        &format!("echo x > b; git add b; {commit} third"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let output =
        world.output(&["sandbox", "run", "-C", tree, "--", "git", "config", "core.fsmonitor", "./evil"]);
    assert_ne!(output.status.code(), Some(0));
    // A file that names a repository which knows nothing of it opens nothing.
    let claim = world.work().with_file_name("claim");
    std::fs::create_dir(&claim).unwrap();
    std::fs::write(claim.join(".git"), format!("gitdir: {}/.git/worktrees/tree\n", world.work().display()))
        .unwrap();
    let output = world.output(&[
        "sandbox",
        "run",
        "-C",
        claim.to_str().unwrap(),
        "--",
        "touch",
        &format!("{}/.git/new", world.work().display()),
    ]);
    assert_ne!(output.status.code(), Some(0));
}

/// E02, E4 and the person's keys.
#[test]
fn what_is_hidden_cannot_be_read() {
    let world = world();
    let home = world.work().parent().unwrap().to_path_buf();
    for (path, text) in [
        (".ssh/id_rsa", "hidden-1"),
        (".aws/credentials", "hidden-2"),
        (".netrc", "hidden-3"),
        ("config/keys.toml", "hidden-4"),
        ("data/tasks/t/log", "hidden-5"),
        ("work/secret.env", "hidden-6"),
        ("work/private/deep/key", "hidden-7"),
        ("work/ignored/a.pem", "hidden-8"),
        ("work/.stepwellignore", "*.pem\n"),
    ] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    world.write("open.txt", "seen\n");
    std::os::unix::fs::symlink("secret.env", world.work().join("link")).unwrap();
    let run = |script: &str| {
        let output = world.output(&[
            "sandbox",
            "run",
            "--hide",
            "secret.env",
            "--hide",
            "private",
            "--",
            "bash",
            "-c",
            script,
        ]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for script in [
        "cat ~/.ssh/id_rsa ~/.aws/credentials ~/.netrc; ls -R ~/.ssh",
        "cat $STEPWELL_CONFIG/keys.toml; find $STEPWELL_HOME; cat $STEPWELL_HOME/tasks/t/log",
        "cat secret.env link private/deep/key; ls -R private",
        "grep -r hidden . ~ 2>&1",
        "cat ignored/a.pem; echo > .stepwellignore; cat ignored/*; mv ignored x; cat x/*",
        "cp secret.env copy; cat copy; tar c . 2>/dev/null | strings | grep hidden",
        "mv private moved; cat moved/deep/key; mv secret.env s; cat s; ln secret.env hard; cat hard",
        "chmod 777 secret.env private; cat secret.env; cat /proc/self/root/$PWD/secret.env",
        "umount secret.env private; cat secret.env",
    ] {
        let text = run(script);
        assert!(!text.contains("hidden-"), "{script}: {text}");
    }
    assert_eq!(run("cat open.txt"), "seen\n");
    assert_eq!(std::fs::read_to_string(home.join("work/secret.env")).unwrap(), "hidden-6");
    let around = world.output(&["sandbox", "run", "--hide", "..", "--", "true"]);
    assert!(around.status.code() == Some(1) && world.show(&around).contains("is to be hidden"));
}

/// S15: the sandbox of the tool is the same, and neither a project nor a folder that the model names opens it.
#[test]
fn the_bash_tool_is_confined_whatever_a_project_says() {
    let world = world();
    world.write(
        ".stepwell/config.toml",
        "[sandbox]\nenabled = false\nwritable = [\"../out\"]\nnetwork = [\"evil.test\"]\n",
    );
    let call = |command: &str| {
        let arguments = serde_json::json!({"command": command}).to_string();
        world.show(&world.output(&[
            "tool",
            "call",
            "bash",
            &arguments,
            "--permission-mode",
            "bypassPermissions",
        ]))
    };
    let text = call("echo x > ../out/new; cat /proc/self/status | grep NoNewPrivs");
    assert!(text.contains("../out/new: ") && text.contains("NoNewPrivs:\t1"), "{text}");
    assert!(!out(&world).join("new").exists());
    let text = call("echo fine > inside; cat inside");
    assert!(text.contains("fine"), "{text}");
    // S15: a folder the model names is never a writable root.
    for folder in ["/", "../out", "link"] {
        std::os::unix::fs::symlink(out(&world), world.work().join("link")).ok();
        let arguments = serde_json::json!({"command": "touch here", "working_dir": folder}).to_string();
        let output =
            world.output(&["tool", "call", "bash", &arguments, "--permission-mode", "bypassPermissions"]);
        assert_eq!(output.status.code(), Some(3), "{}", world.show(&output));
    }
    assert!(sandboxed(&world, "true").status.success());
}

/// The person can open it; the settings say how.
#[test]
fn the_person_opens_and_closes_the_sandbox() {
    let world = world();
    world.set_config("[sandbox]\nwritable = [\"~/out\"]\nhidden = [\"~/work/private\"]\n");
    world.write("private", "x");
    succeeds(&world, "echo x > ../out/new");
    assert!(out(&world).join("new").exists());
    fails(&world, "cat private");
    // A project that is not trusted may hide more, wherever Stepwell is started.
    world.write("sub/own", "x");
    world.write(".stepwell/config.toml", "[sandbox]\nhidden = [\"sub/own\"]\n");
    fails(&world, "cat sub/own");
    let work = world.work();
    let mut elsewhere =
        world.command(&["sandbox", "run", "-C", work.to_str().unwrap(), "--", "cat", "sub/own"]);
    assert!(!elsewhere.current_dir(out(&world)).status().unwrap().success());
    world.set_config("[sandbox]\nenabled = false\n");
    let output = world.output(&[
        "tool",
        "call",
        "bash",
        r#"{"command": "echo x > ../out/two"}"#,
        "--permission-mode",
        "bypassPermissions",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    for (settings, part) in [
        ("writable = [\"/\"]", "belongs to the system"),
        ("writable = [\"~/no\"]", "does not exist"),
        ("network = [\"*\"]", "no host name"),
    ] {
        world.set_config(&format!("[sandbox]\n{settings}\n"));
        let output = world.output(&["sandbox", "run", "--", "true"]);
        let shown = world.show(&output);
        assert!(
            output.status.code() != Some(0) && shown.contains(part) && shown.contains("hint:"),
            "{shown}"
        );
    }
}

/// What one command of a task leaves in `/tmp` is there for the next, and gone with the task.
#[test]
fn commands_of_a_task_share_temporary_files() {
    let bash = |command: &str| Turn::calls([call("bash", serde_json::json!({"command": command}))]);
    let world = World::new([bash("echo kept > /tmp/a; ls /var/tmp"), bash("cat /tmp/a"), Turn::text("done")]);
    let stale = world.data().join("sandbox/tmp-999999999-x");
    std::fs::create_dir_all(&stale).unwrap();
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "go"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let results = world.server.requests().last().unwrap().tool_results();
    assert_eq!(format!("{results:?}").matches("kept").count(), 1, "{results:?}");
    assert_eq!(
        std::fs::read_dir(world.data().join("sandbox")).unwrap().count(),
        0,
        "something was left behind"
    );
}
