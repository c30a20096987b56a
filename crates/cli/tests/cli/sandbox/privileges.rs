//! What a command cannot become, and how it cannot leave.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{fails, has, succeeds, told, world};
use crate::world::World;

/// S08: nothing of the agent is seen.
#[test]
fn no_process_outside_is_seen_or_touched() {
    let world = world();
    let own = std::process::id();
    fails(&world, &format!("cat /proc/{own}/environ"));
    fails(&world, &format!("kill -9 {own}"));
    fails(&world, "strings /proc/$PPID/environ; cat /proc/1/environ");
    let (_, text) = told(&world, "ls -d /proc/[0-9]* | wc -l; kill -9 -1; kill -9 0");
    assert!(text.lines().next().unwrap().parse::<u32>().unwrap() < 10, "{text}");
    let (_, text) = told(&world, "kill -9 1; kill -STOP 1; cat /proc/1/mem; ls /proc/1/fd; echo still here");
    assert!(text.contains("still here"), "{text}");
    succeeds(&world, "sleep 60 & kill -9 $!; cat /proc/self/environ | tr '\\0' '\\n' | grep -q PATH");
    // E02: keys are not in the environment either.
    assert_eq!(
        succeeds(&world, "env | grep -cE '^(SSH_AUTH_SOCK|DBUS_|DISPLAY|XDG_RUNTIME_DIR)'; true").trim(),
        "0"
    );
}

#[test]
fn variables_that_lead_outside_are_gone() {
    let world = world();
    let names = [
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
        "DOCKER_HOST",
        "HTTPS_PROXY",
        "https_proxy",
    ];
    let mut command = world.command(&["sandbox", "run", "--", "env"]);
    for name in names {
        command.env(name, "/outside");
    }
    let output = command.env("KEPT", "yes").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        !text.contains("/outside") && text.contains("KEPT=yes") && text.contains("TMPDIR=/tmp"),
        "{text}"
    );
}

/// S09: no privileges, and no way to new ones.
#[test]
fn there_are_no_privileges() {
    let world = world();
    let status = succeeds(&world, "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status");
    for line in status.lines() {
        let (name, value) = line.split_once(":\t").unwrap();
        let expected = match name {
            "NoNewPrivs" => "1",
            "Seccomp" => "2",
            _ => "0000000000000000",
        };
        assert_eq!(value, expected, "{line}");
    }
    for script in [
        "su -c id nobody </dev/null",
        "unshare -Ur true",
        "unshare -m true",
        "unshare -Urm mount --bind / /mnt",
        "mount -t tmpfs none /mnt",
        "mount -o remount,rw /",
        "umount /proc",
        "chroot / true",
        "nsenter -t 1 -m true",
        "chown nobody . ",
        "hostname other",
        "date -s 2000-01-01",
    ] {
        fails(&world, script);
    }
    succeeds(&world, "id; nice true; bash -c 'ulimit -a' > /dev/null; setsid true");
}

/// Calls that would open the walls, made directly: number, then what is expected.
/// S14: characters cannot be typed into the terminal of the person, among other calls that are refused.
#[test]
fn system_calls_that_open_walls_are_refused() {
    if !has("python3") || !cfg!(target_arch = "x86_64") {
        return;
    }
    let world = world();
    let script = r#"
import ctypes, errno, fcntl, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    print(name, result if result >= 0 else errno.errorcode[ctypes.get_errno()])
call("keyctl", 250, 0, -3, 0)
call("add_key", 248, b"user", b"x", b"y", 1, -3)
call("bpf", 321, 0, 0, 0)
call("perf_event_open", 298, 0, 0, -1, -1, 0)
call("userfaultfd", 323, 0)
call("mount", 165, b"x", b"/tmp", b"tmpfs", 0, 0)
call("fsopen", 430, b"tmpfs", 0)
call("open_tree", 428, -100, b"/", 1)
call("open_tree_attr", 467, -100, b"/", 1, 0, 0)
call("mount_setattr", 442, -100, b"/", 0, 0, 0)
call("unshare", 272, 0x10000000)
call("setns", 308, 0, 0)
call("clone newuser", 56, 0x10000000 | 17, 0, 0, 0, 0)
call("clone3", 435, 0, 0)
call("io_uring", 425, 1, 0)
call("open_by_handle_at", 304, -100, 0, 0)
call("second numbers", 0x40000000 + 165, b"x", b"/tmp", b"tmpfs", 0, 0)
call("reboot", 169, 0, 0, 0, 0)
call("init_module", 175, 0, 0, 0)
call("getpid", 39) if False else None
def sock(name, *arguments):
    try:
        socket.socket(*arguments).close(); print(name, "made")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
sock("vsock", 40, socket.SOCK_STREAM)
sock("packet", socket.AF_PACKET, socket.SOCK_RAW)
sock("raw", socket.AF_INET, socket.SOCK_RAW, 1)
sock("alg", 38, socket.SOCK_SEQPACKET)
sock("bluetooth", 31, socket.SOCK_RAW)
sock("unix", socket.AF_UNIX)
sock("inet", socket.AF_INET)
sock("netlink", socket.AF_NETLINK, socket.SOCK_RAW)
import pty
ours, theirs = pty.openpty()
for name, number in [("TIOCSTI", 0x5412), ("TIOCLINUX", 0x541c), ("TIOCSTI with high bits", 0x5412 | 1 << 40)]:
    ctypes.set_errno(0)
    result = libc.syscall(16, theirs, ctypes.c_ulong(number), b"x")
    print(name, result if result >= 0 else errno.errorcode[ctypes.get_errno()])
"#;
    world.write("calls.py", script);
    expect_test::expect![[r"
        keyctl EPERM
        add_key EPERM
        bpf EPERM
        perf_event_open EPERM
        userfaultfd EPERM
        mount EPERM
        fsopen EPERM
        open_tree EPERM
        open_tree_attr EPERM
        mount_setattr EPERM
        unshare EPERM
        setns EPERM
        clone newuser EPERM
        clone3 ENOSYS
        io_uring ENOSYS
        open_by_handle_at EPERM
        second numbers ENOSYS
        reboot EPERM
        init_module EPERM
        vsock EPERM
        packet EPERM
        raw EPERM
        alg EPERM
        bluetooth EPERM
        unix made
        inet made
        netlink made
        TIOCSTI EPERM
        TIOCLINUX EPERM
        TIOCSTI with high bits EPERM
    "]]
    .assert_eq(&succeeds(&world, "python3 calls.py"));
}

/// The product where the kernel allows no further user namespaces, with these programs and no others.
fn without_namespaces(world: &World, programs: &Path, arguments: &[&str]) -> Output {
    let own = env!("CARGO_BIN_EXE_stepwell");
    let script = r#"echo 0 > /proc/sys/user/max_user_namespaces && exec "$@""#;
    let inner = world.command(arguments);
    let mut command = Command::new("unshare");
    command
        .args(["-Ur", "sh", "-c", script, "sh", own])
        .args(arguments)
        .current_dir(world.work())
        .env_clear();
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    let path = std::env::join_paths([world.work(), programs.to_path_buf()]).unwrap();
    command.env("PATH", path).output().unwrap()
}

/// A folder with links to programs, and an attacker's program in the workspace.
fn programs(world: &World, names: &[&str]) -> PathBuf {
    let folder = world.work().with_file_name("programs");
    std::fs::create_dir(&folder).unwrap();
    for name in names {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(name))
            .find(|path| path.is_file());
        if let Some(found) = found {
            std::os::unix::fs::symlink(found.canonicalize().unwrap(), folder.join(name)).unwrap();
        }
    }
    world.write("bwrap", &format!("#!/bin/sh\ntouch {}/pwned\n", world.work().display()));
    std::fs::set_permissions(world.work().join("bwrap"), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// S11 and S12: no walls are said, nothing runs without a word, and no program of the workspace stands in.
#[test]
fn a_sandbox_that_cannot_be_made_is_said_and_never_skipped() {
    let world = world();
    let programs = programs(&world, &["sh", "bash", "touch", "python3", "unshare", "cat"]);
    let status = without_namespaces(&world, &programs, &["sandbox", "status"]);
    let shown = world.show(&status);
    if shown.contains("unshare: ") {
        assert!(!super::in_ci(), "{shown}");
        eprintln!("skipped: no user namespaces to switch off");
        return;
    }
    assert!(status.status.code() == Some(1) && shown.contains("Every command is asked about"), "{shown}");
    let output = without_namespaces(&world, &programs, &["sandbox", "run", "--", "touch", "ran"]);
    let shown = world.show(&output);
    assert!(output.status.code() == Some(1) && shown.contains("would not be confined"), "{shown}");
    assert!(!world.work().join("ran").exists());
    // What is left still holds, when the person wants to go on with it.
    let script = format!(
        "echo x > inside; echo x > $HOME/new || echo no outside; python3 -c 'import socket; socket.socket()' || echo no network; \
         unshare -Ur true || echo no namespace; cat {0}/canary.txt",
        super::out(&world).display()
    );
    let arguments = ["sandbox", "run", "--allow-missing", "--", "bash", "-c", &script];
    let output = without_namespaces(&world, &programs, &arguments);
    let shown = world.show(&output);
    assert!(["no network", "no namespace", "alive"].iter().all(|part| shown.contains(part)), "{shown}");
    assert!(world.work().join("inside").exists() && !world.work().join("pwned").exists());
    let bound = sandboxed_daemon(&world, &programs);
    assert!(bound.contains("done"), "{bound}");
}

/// Without a process namespace a daemon is found by its descent; its output ends when it does.
fn sandboxed_daemon(world: &World, programs: &Path) -> String {
    let script = "(bash -c 'while :; do read -t 100; done < <(:)' &) ; echo done";
    let arguments = ["sandbox", "run", "--allow-missing", "--", "bash", "-c", script];
    world.show(&without_namespaces(world, programs, &arguments))
}

/// Where only bubblewrap may make namespaces, it does, and the same holds.
#[test]
fn bubblewrap_stands_in() {
    let world = world();
    if !has("bwrap") {
        return;
    }
    let names = [
        "sh", "bash", "touch", "python3", "unshare", "cat", "bwrap", "grep", "git", "ls", "wc", "env",
        "sleep",
    ];
    let programs = programs(&world, &names);
    let shown = world.show(&without_namespaces(&world, &programs, &["sandbox", "status"]));
    if !shown.contains("made by ") {
        assert!(!super::in_ci(), "{shown}");
        eprintln!("skipped: bubblewrap cannot make namespaces here");
        return;
    }
    world.write("AGENTS.md", "be kind\n");
    world.write("secret", "hidden-1");
    let script = "echo x > inside; grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status; echo rude > AGENTS.md; cat secret; \
                  touch /etc/x || echo no outside; python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 80))' || echo no network; \
                  unshare -Ur true || echo no namespace; ls -d /proc/[0-9]* | wc -l; sleep 1000 & exit 5";
    // The folder of links lies in the machine's /tmp, which the command does not see.
    let script = format!("export PATH='{}'; {script}", std::env::var("PATH").unwrap());
    let arguments = ["sandbox", "run", "--hide", "secret", "--", "/bin/bash", "-c", &script];
    let output = without_namespaces(&world, &programs, &arguments);
    let shown = world.show(&output);
    assert_eq!(output.status.code(), Some(5), "{shown}");
    for part in [
        "CapEff:\t0000000000000000",
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
        "no outside",
        "no network",
        "no namespace",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(
        !shown.contains("hidden-1")
            && world.work().join("inside").exists()
            && !world.work().join("pwned").exists()
    );
    assert_eq!(std::fs::read_to_string(world.work().join("AGENTS.md")).unwrap(), "be kind\n");
}

/// A sandbox that stays open for a debugger and its program is made by bubblewrap too.
#[test]
fn debuggers_run_in_the_sandbox_of_bubblewrap() {
    let world = world();
    if !has("bwrap") || !has("node") {
        return;
    }
    let names = ["sh", "bash", "python3", "node", "bwrap", "env", "unshare"];
    let programs = programs(&world, &names);
    let shown = world.show(&without_namespaces(&world, &programs, &["sandbox", "status"]));
    if !shown.contains("made by ") {
        assert!(!super::in_ci(), "{shown}");
        eprintln!("skipped: bubblewrap cannot make namespaces here");
        return;
    }
    world.write("escape.py", "place = '/etc/stepwell-escaped'\nopen(place, 'w')\n");
    let pids = "require('fs').readdirSync('/proc').filter((name) => Number(name)).length";
    world.write("shop.js", &format!("const count = {pids}\nif (count < 9) debugger\n"));
    // The folder of links lies in the machine's /tmp, which programs do not see.
    let real = |name: &str| programs.join(name).canonicalize().unwrap().display().to_string();
    let call = |tool: &str, input: serde_json::Value| {
        let input = input.to_string();
        let words = ["tool", "call", tool, &input, "--permission-mode", "bypassPermissions"];
        world.show(&without_namespaces(&world, &programs, &words))
    };
    let shown =
        call("debug_failure", serde_json::json!({ "command": format!("{} escape.py", real("python3")) }));
    assert!(shown.contains("escape.py") && shown.contains("Error"), "{shown}");
    assert!(!Path::new("/etc/stepwell-escaped").exists(), "{shown}");
    // Node's inspector is reached inside, and the program sees its own processes alone.
    let shown = call(
        "start_debugging",
        serde_json::json!({ "command": format!("{} shop.js", real("node")), "timeout": 60 }),
    );
    assert!(shown.contains("shop.js") && shown.contains("stop_event_data"), "{shown}");
}

/// What whoever started Stepwell had open is not there for commands.
#[test]
fn no_descriptor_is_inherited() {
    let world = world();
    let canary = super::out(&world).join("canary.txt");
    let arguments = serde_json::json!({"command": "ls /proc/self/fd; cat <&7"}).to_string();
    for words in [
        vec!["sandbox", "run", "--", "bash", "-c", "ls /proc/self/fd; cat <&7"],
        vec!["tool", "call", "bash", &arguments, "--permission-mode", "bypassPermissions"],
    ] {
        let stepwell = world.command(&[]).get_program().to_owned();
        let mut command = world.command(&[]);
        let mut shell = Command::new("bash");
        shell.args(["-c", "exec 7<\"$1\" 8>>\"$1\"; shift; exec \"$@\"", "bash"]).arg(&canary).arg(stepwell);
        shell.args(words).current_dir(world.work()).env_clear();
        for (name, value) in command.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        let output = shell.stdin(std::process::Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!text.contains("alive") && !text.lines().any(|line| matches!(line, "7" | "8")), "{text}");
        assert!(text.contains('0') && text.contains("Bad file descriptor"), "{text}");
        command.env_clear();
    }
}

/// E02: a secret is known by the shape of its value too.
#[test]
fn secrets_are_not_in_the_environment_of_commands() {
    let world = world();
    let arguments = serde_json::json!({"command": "env"}).to_string();
    for words in [
        vec!["sandbox", "run", "--", "env"],
        vec!["tool", "call", "bash", &arguments, "--permission-mode", "bypassPermissions"],
    ] {
        let mut command = world.command(&words);
        for name in ["CREDS", "SENTRY_DSN", "STRIPE_SK", "DB_PASSWORD_1", "OPENAI_KEY2"] {
            command.env(name, "value-of-the-secret");
        }
        command.env("PLAIN", "postgres://app:value-of-the-secret@db.example.com/x");
        command.env("OTHER", "ghp_0123456789abcdefghijABCDEFGHIJ012345").env("KEPT", "yes");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.contains("value-of-the-secret") && !text.contains("ghp_"), "{text}");
        assert!(!text.contains("mock-key-value") && text.contains("KEPT=yes"), "{text}");
    }
}

/// Keys, letters and histories are hidden by their usual places and by their names.
#[test]
fn private_files_of_the_home_folder_are_hidden() {
    let world = world();
    // Not below `/tmp`, of which commands see nothing anyway.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = folder.path();
    let private = [
        ".config/git/credentials",
        ".config/containers/auth.json",
        ".config/sops/age/keys.txt",
        ".cache/huggingface/token",
        ".huggingface/token",
        ".oci/config",
        ".config/BraveSoftware/Cookies",
        ".local/share/fish/fish_history",
        ".config/fish/fish_history",
        ".sqlite_history",
        ".node_repl_history",
        ".lesshst",
        ".viminfo",
        ".local/share/atuin/history.db",
        ".my-service-credentials",
        ".config/some-tool-token",
        "vpn.ovpn",
        "id.pem",
        ".env.production",
    ];
    let open = [".config/fish/config.fish", "token-ring/readme", ".gitconfig", "notes.txt"];
    for path in private.iter().chain(&open) {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "contents").unwrap();
    }
    let finds = |path: &str| {
        let path = home.join(path).display().to_string();
        let mut command = world.command(&["sandbox", "run", "--", "grep", "-r", "contents", &path]);
        command.env("HOME", home).output().unwrap().status.success()
    };
    for path in private {
        assert!(!finds(path), "{path}");
    }
    for path in open {
        assert!(finds(path), "{path}");
    }
}
