//! Commands that would destroy the machine, run by the product in a machine that can be thrown away.
//!
//! The product runs in a root of its own in memory, built with `unshare` and `pivot_root`: should the sandbox fail,
//! nothing but that is lost, and the canaries in it tell. The sandbox alone is tried here: the permission mode
//! lets everything pass.

use std::fmt::Write;
use std::process::Command;

use super::has;

/// C01 to C24: each goes for everything.
const COMMANDS: &[&str] = &[
    "rm -r -f /",
    "rm -rf --no-preserve-root /",
    "rm   -fr    --no-preserve-root   /",
    "/bin/rm -rf --no-preserve-root /",
    "\\rm -rf --no-preserve-root /",
    "a=rm; $a -rf --no-preserve-root /",
    "$'\\x72\\x6d' -rf --no-preserve-root /",
    "echo cm0gLXJmIC0tbm8tcHJlc2VydmUtcm9vdCAv | base64 -d | sh",
    "perl -e 'system(\"rm -rf /*\")'; awk 'BEGIN{system(\"rm -rf /*\")}'",
    "find / -delete ; find / -exec rm -rf {} +",
    "rm -rf /*",
    "rm -rf ~ ; rm -rf \"$HOME\"/*",
    "dd if=/dev/urandom of=/dev/sda count=1 ; cat /etc/passwd > /dev/sda ; shred /dev/sda",
    "find / -type f -exec truncate -s0 {} +",
    "chmod -R 000 / ; chown -R nobody /",
    "trap 'rm -rf /*' EXIT ; eval \"rm -rf /*\" ; env -i rm -rf /* ; nohup setsid rm -rf /* & wait",
    "mv /* /w/work/; cp /dev/null /canary",
];

const PROGRAMS: &[&str] = &[
    "bash", "sh", "rm", "find", "chmod", "chown", "truncate", "base64", "env", "nohup", "setsid", "dd",
    "cat", "shred", "mv", "cp", "perl", "awk", "mount", "umount", "cut", "mkdir", "ls",
];

#[test]
fn no_command_destroys_what_is_outside_the_workspace() {
    for program in ["unshare", "pivot_root", "ldd"] {
        if !has(program) {
            return;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let script = folder.path().join("machine.sh");
    std::fs::write(&script, machine(root.to_str().unwrap())).unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "bash"])
        .arg(&script)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if text.is_empty() && errors.contains("unshare") {
        assert!(!super::in_ci(), "{errors}");
        eprintln!("skipped: {errors}");
        return;
    }
    for (at, command) in COMMANDS.iter().enumerate() {
        assert!(text.contains(&format!("case {at}: intact\n")), "{command}\n{text}\n{errors}");
    }
    // The twin: in the workspace the same programs do what they are for.
    assert!(text.contains("the workspace can be emptied\n"), "{text}\n{errors}");
}

/// A script that builds the machine and runs the commands in it.
fn machine(root: &str) -> String {
    let own = env!("CARGO_BIN_EXE_stepwell");
    let mut script = format!(
        r#"set -e
mount --make-rprivate /
mount -t tmpfs tmpfs {root}
cd {root}
mkdir -p bin dev etc home/person lib lib64 old proc root run tmp usr/bin var/tmp w/config w/data w/work w/out
take() {{
    mkdir -p ".$(dirname "$1")"
    [ -e ".$1" ] || cp -L "$1" ".$1"
}}
for name in {programs}; do
    path=$(command -v "$name") || continue
    cp -L "$path" "bin/$name"
    ldd "$path" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do take "$library"; done
done
cp bin/* usr/bin/
ldd {own} | grep -o '/[^ ]*' | while read -r library; do take "$library"; done
touch stepwell && mount --bind {own} stepwell
for name in null zero urandom random tty; do touch "dev/$name" && mount --bind "/dev/$name" "dev/$name" && mount -o remount,bind,ro "dev/$name"; done
mount -t proc proc proc
echo root:x:0:0::/root:/bin/bash > etc/passwd
for place in canary etc/canary home/person/canary dev/sda w/out/canary usr/canary var/canary; do echo alive > "$place"; done
pivot_root . old
cd /
umount -l /old
export PATH=/bin:/usr/bin HOME=/home/person STEPWELL_CONFIG=/w/config STEPWELL_HOME=/w/data
canaries="canary etc/canary home/person/canary dev/sda w/out/canary usr/canary var/canary bin/rm"
intact() {{
    for place in $canaries; do
        [ -s "/$place" ] && [ "$(ls -ld "/$place" | cut -c2-4)" != "---" ] || return 1
    done
}}
set +e
cd /w/work
"#,
        programs = PROGRAMS.join(" "),
    );
    for (at, command) in COMMANDS.iter().enumerate() {
        let arguments =
            serde_json::json!({"command": command, "timeout": 60}).to_string().replace('\'', "'\\''");
        writeln!(
            script,
            "/stepwell tool call bash --permission-mode bypassPermissions '{arguments}' > /w/out/said 2>&1\n\
             if intact; then echo 'case {at}: intact'; else echo 'case {at}: HARMED'; cat /w/out/said; fi"
        )
        .unwrap();
    }
    script.push_str(
        r#"/stepwell tool call bash --permission-mode bypassPermissions '{"command": "mkdir -p a/b && echo x > a/b/c && rm -rf a && find . -delete; ls -A | cat"}'
[ -z "$(ls -A /w/work)" ] && intact && echo 'the workspace can be emptied'
"#,
    );
    script
}
