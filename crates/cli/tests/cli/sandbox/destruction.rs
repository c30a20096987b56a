//! Commands that would destroy the machine, run by the product in a machine that can be thrown away.
//!
//! The product runs in a root of its own in memory, built with `unshare` and `pivot_root`: should the sandbox fail,
//! nothing but that is lost, and the canaries in it tell. Each command is tried as a tool call in the permission mode
//! that lets everything pass, and once more in the sandbox alone, where no list of forbidden commands stands before it.

use std::fmt::Write;
use std::process::Command;

use super::has;

/// By their ids; each goes for everything.
const COMMANDS: &[(&str, &str)] = &[
    ("C01", "rm -r -f /"),
    ("C03", "rm -rf --no-preserve-root /"),
    ("C03", "rm   -fr    --no-preserve-root   /"),
    ("C04", "/bin/rm -rf --no-preserve-root /"),
    ("C06", "\\rm -rf --no-preserve-root /"),
    ("C07", "a=rm; $a -rf --no-preserve-root /"),
    ("C09", "$'\\x72\\x6d' -rf --no-preserve-root /"),
    ("C10", "echo cm0gLXJmIC0tbm8tcHJlc2VydmUtcm9vdCAv | base64 -d | sh"),
    ("C12", "perl -e 'system(\"rm -rf /*\")'; awk 'BEGIN{system(\"rm -rf /*\")}'"),
    ("C12", "node -e 'require(\"fs\").rmSync(\"/\", {recursive: true, force: true})'"),
    (
        "C12",
        "node -e 'for (const name of require(\"fs\").readdirSync(\"/\")) try { require(\"fs\").rmSync(\"/\" + name, {recursive: true}) } catch {}'",
    ),
    ("C13", "find / -delete ; find / -exec rm -rf {} +"),
    ("C15", "rm -rf /*"),
    ("C16", "rm -rf ~ ; rm -rf \"$HOME\"/*"),
    ("C18", "dd if=/dev/urandom of=/dev/sda count=1 ; cat /etc/passwd > /dev/sda ; shred /dev/sda"),
    ("C19", "mke2fs -F /dev/sda ; /sbin/mkfs.ext4 -F /dev/sda ; wipefs -a /dev/sda ; mke2fs -F /canary 64"),
    ("C21", "mkdir -p /tmp/empty ; rsync -a --delete /tmp/empty/ / ; find / -type f -exec truncate -s0 {} +"),
    ("C22", "chmod -R 000 / ; chown -R nobody /"),
    ("C24", "trap 'rm -rf /*' EXIT ; eval \"rm -rf /*\" ; env -i rm -rf /* ; nohup setsid rm -rf /* & wait"),
    ("C13", "mv /etc /home /canary /w/work/; cp /dev/null /canary"),
    ("C01", "rm -r -f --no-preserve-root / & wait"),
    ("C04", "/usr/bin/env -- /bin/rm -rf --no-preserve-root /"),
    ("C07", "x=-rf; y=/; rm $x --no-preserve-root $y"),
    ("C09", "r''m -rf --no-preserve-root /; r\\m -rf /*; $(printf '\\162\\155') -rf /*"),
    ("C10", "printf '%s' '726d202d7266202f2a' | perl -pe 's/(..)/chr(hex $1)/ge' | bash"),
    ("C13", "find / -xdev -type f -print0 | xargs -0 rm -f; find / -depth -exec rmdir {} +"),
    ("C16", "cd ~ && rm -rf .[!.]* *; rm -rf ~root ~person"),
    ("C18", "cp /dev/null /dev/sda; : > /dev/sda; perl -e 'truncate(\"/dev/sda\", 0)'"),
    ("C21", "for f in /* /*/*; do : > $f; done; mv /etc /usr /w/work"),
    ("C22", "find / -exec chmod 000 {} +; perl -e 'chmod 0, glob(\"/*\")'"),
    (
        "C24",
        "bash -c 'exec -a x rm -rf /*'; (setsid rm -rf /* &); timeout 9 nice rm -rf /*; xargs rm -rf <<< '/canary /etc'",
    ),
];

const PROGRAMS: &[&str] = &[
    "bash",
    "sh",
    "rm",
    "find",
    "chmod",
    "chown",
    "truncate",
    "base64",
    "env",
    "nohup",
    "setsid",
    "dd",
    "cat",
    "shred",
    "mv",
    "cp",
    "perl",
    "awk",
    "mount",
    "umount",
    "cut",
    "mkdir",
    "ls",
    "node",
    "rsync",
    "mke2fs",
    "mkfs.ext4",
    "wipefs",
    "timeout",
    "grep",
    "xargs",
    "nice",
    "rmdir",
];

#[test]
fn no_command_destroys_what_is_outside_the_workspace() {
    for program in ["unshare", "pivot_root", "ldd", "perl", "node", "rsync", "mke2fs", "wipefs"] {
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
    for (at, (id, command)) in COMMANDS.iter().enumerate() {
        for way in ["tool", "sandbox"] {
            assert!(text.contains(&format!("{way} {at}: intact\n")), "{id} {command}\n{text}\n{errors}");
        }
    }
    // The twin: in the workspace the same programs do what they are for.
    for twin in ["the workspace can be emptied", "a disk image can be made", "node removes", "rsync removes"]
    {
        assert!(text.contains(&format!("{twin}\n")), "{twin}\n{text}\n{errors}");
    }
}

/// A script that builds the machine and runs the commands in it.
fn machine(root: &str) -> String {
    let own = env!("CARGO_BIN_EXE_stepwell");
    let mut script = format!(
        r#"set -e
mount --make-rprivate /
mount -t tmpfs tmpfs {root}
cd {root}
mkdir -p bin dev etc home/person lib lib64 old proc root run sbin tmp usr/bin var/tmp w/config w/data w/work w/out
take() {{
    mkdir -p ".$(dirname "$1")"
    [ -e ".$1" ] || cp -L "$1" ".$1"
}}
for name in {programs}; do
    path=$(command -v "$name") || continue
    cp -L "$path" "bin/$name"
    ldd "$path" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do take "$library"; done
done
ln bin/* usr/bin/
ln bin/mkfs.ext4 sbin/
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
# A command may have done what it likes to the workspace, down to its rights.
fresh() {{ chmod 755 /w/work && find /w/work -mindepth 1 -delete; }}
set +e
cd /w/work
"#,
        programs = PROGRAMS.join(" "),
    );
    for (at, (_, command)) in COMMANDS.iter().enumerate() {
        let arguments =
            serde_json::json!({"command": command, "timeout": 60}).to_string().replace('\'', "'\\''");
        let words = command.replace('\'', "'\\''");
        for (way, call) in [
            ("tool", format!("tool call bash --permission-mode bypassPermissions '{arguments}'")),
            ("sandbox", format!("sandbox run -- timeout 60 bash -c '{words}'")),
        ] {
            writeln!(
                script,
                "fresh\n\
                 /stepwell {call} > /w/out/said 2>&1 < /dev/null\n\
                 if grep -q 'could not be made' /w/out/said; then echo '{way} {at}: NOT RUN'; cat /w/out/said\n\
                 elif intact; then echo '{way} {at}: intact'; else echo '{way} {at}: HARMED'; cat /w/out/said; fi"
            )
            .unwrap();
        }
    }
    script.push_str(
        r#"fresh
/stepwell sandbox run -- bash -c 'truncate -s 1M disk && mke2fs -q -F disk && wipefs -a disk' > /w/out/said 2>&1 && echo 'a disk image can be made' || cat /w/out/said
/stepwell sandbox run -- bash -c 'mkdir -p a/b && node -e "require(\"fs\").rmSync(\"a\", {recursive: true})" && [ ! -e a ]' > /w/out/said 2>&1 && echo 'node removes' || cat /w/out/said
/stepwell sandbox run -- bash -c 'mkdir -p empty full && echo x > full/x && rsync -a --delete empty/ full/ && [ ! -e full/x ]' > /w/out/said 2>&1 && echo 'rsync removes' || cat /w/out/said
echo x > /w/work/file
/stepwell tool call bash --permission-mode bypassPermissions '{"command": "mkdir -p a/b && echo x > a/b/c && rm -rf a && find . -delete; ls -A | cat"}'
[ -z "$(ls -A /w/work)" ] && intact && echo 'the workspace can be emptied'
"#,
    );
    script
}
