//! Attacks on the workspace's boundary by paths, by their number, each with a harmless twin; and the boundary as a
//! property.

use std::os::unix::fs::symlink;

use proptest::prelude::*;
use serde_json::{Value, json};
use stepwell_workspace::files;

use crate::bench::{Bench, free};

/// A workspace with a secret beside it.
fn house() -> Bench {
    let bench = free();
    let out = bench.folder.path().join("out");
    files::create_private_dir(&out).expect("made");
    files::write_atomic(&out.join("canary.txt"), b"T0K3N-secret\n", files::Privacy::Shared).expect("written");
    bench.put("src/notes.txt", b"harmless\n");
    symlink(out.join("canary.txt"), bench.path("link.txt")).expect("link");
    symlink(&out, bench.path("folder")).expect("link");
    symlink("src/notes.txt", bench.path("inside.txt")).expect("link");
    bench
}

/// Every tool that takes a path to read.
fn reads(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read", json!({"file_path": path})),
        ("list", json!({"path": path})),
        ("grep", json!({"pattern": "T0K3N.s[e]cret|harmless", "path": path})),
        ("glob", json!({"pattern": "*.txt", "path": path})),
        ("preview_edit", json!({"file_path": path, "old_str": "T0K3N", "new_str": "x"})),
        ("bash", json!({"command": "cat canary.txt", "working_dir": path})),
    ]
}

async fn refused(bench: &Bench, path: &str) {
    for (tool, arguments) in reads(path) {
        let outcome = bench.call(tool, arguments).await.result;
        // Not found is as good as refused: the name means nothing outside.
        assert!(!outcome.is_success(), "{tool} {path}: {}", outcome.output);
        assert!(!outcome.output.contains("T0K3N-secret"), "{tool} {path}: {}", outcome.output);
    }
}

#[tokio::test]
async fn p01_p02_p04_dots_and_links_do_not_lead_out() {
    let bench = house();
    let root = bench.path("").display().to_string();
    for path in [
        "../out/canary.txt",
        "src/../../out/canary.txt",
        "./../out",
        "link.txt",
        "folder/canary.txt",
        "folder",
        "..",
        "/",
    ] {
        refused(&bench, path).await;
    }
    refused(&bench, &format!("{root}/src/../../out/canary.txt")).await;
    for path in ["src/../src/notes.txt", "./src/notes.txt", "inside.txt"] {
        let read = bench.call("read", json!({"file_path": path})).await.result;
        assert!(read.output.contains("harmless"), "{path}: {}", read.output);
    }
}

#[tokio::test]
async fn p13_nothing_is_expanded() {
    let bench = house();
    for path in [
        "~/.ssh/id_rsa",
        "$HOME/.ssh/id_rsa",
        "${HOME}",
        "file:///etc/passwd",
        "%2e%2e/out/canary.txt",
        "..\\out\\canary.txt",
        "src/notes.txt\0",
        "",
    ] {
        let outcome = bench.call("read", json!({"file_path": path})).await.result;
        assert!(!outcome.is_success(), "{path}: {}", outcome.output);
    }
    // As plain names they can be files of the workspace.
    bench.put("~/a.txt", b"a tilde is a name\n");
    let read = bench.call("read", json!({"file_path": "~/a.txt"})).await.result;
    assert!(read.output.contains("a tilde is a name"));
}

#[tokio::test]
async fn p14_aliases_of_the_kernel_are_refused() {
    let bench = house();
    for path in
        ["/proc/self/root/etc/passwd", "/proc/self/environ", "/proc/self/cwd/../out/canary.txt", "/dev/fd/3"]
    {
        refused(&bench, path).await;
    }
    symlink("/proc/self/environ", bench.path("environ")).expect("link");
    refused(&bench, "environ").await;
}

#[tokio::test]
async fn p17_devices_and_fifos_do_not_hang() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let bench = house();
    mknodat(CWD, bench.path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("made");
    symlink("/dev/zero", bench.path("zero")).expect("link");
    for path in ["fifo", "zero"] {
        for (tool, arguments) in [
            ("read", json!({"file_path": path})),
            ("write", json!({"file_path": path, "content": "x"})),
            ("edit", json!({"file_path": path, "old_str": "a", "new_str": "b"})),
            ("grep", json!({"pattern": "x", "path": path})),
        ] {
            let outcome = bench.call(tool, arguments).await.result;
            assert!(!outcome.is_success(), "{tool} {path}: {}", outcome.output);
        }
    }
    // Beside them a search goes on.
    let found = bench.call("grep", json!({"pattern": "harmless"})).await.result;
    assert!(found.output.contains("src/notes.txt"));
}

/// C33: what a workspace defines for shells is not read by ours.
#[tokio::test]
async fn c33_no_alias_or_function_of_the_workspace_shadows_a_program() {
    let bench = house();
    for name in [".bashrc", ".bash_profile", ".profile", ".envrc"] {
        bench.put(name, b"ls() { echo shadowed; }\nalias ls='echo shadowed'\n");
    }
    let listed = bench.call("bash", json!({"command": "ls src"})).await.result;
    assert_eq!(listed.output, "notes.txt\n");
}

/// A path of parts that lead up, down, nowhere, through links and to the kernel's aliases.
fn path() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "..",
        ".",
        "src",
        "out",
        "folder",
        "link.txt",
        "inside.txt",
        "canary.txt",
        "notes.txt",
        "ws",
        "~",
        "",
        "proc",
        "self",
        "root",
        "cwd",
        "\u{202e}",
        "%2e%2e",
        "..\\..",
        "new",
    ]);
    (prop::collection::vec(part, 1..7), any::<bool>())
        .prop_map(|(parts, absolute)| format!("{}{}", if absolute { "/" } else { "" }, parts.join("/")))
}

/// Whatever path a tool is given, nothing outside the workspace is read, written or run in.
#[test]
fn property_11_the_workspace_boundary_is_enforced() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = house();
    let root = bench.path("").display().to_string();
    let before = files::list_dir(&bench.folder.path().join("out")).unwrap();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) };
    proptest!(config, |(path in path(), below_root in any::<bool>())| {
        let path = if below_root { format!("{root}/{path}") } else { path };
        let mut calls = reads(&path);
        calls.push(("write", json!({"file_path": path, "content": "PWNED", "overwrite": true})));
        calls.push(("insert", json!({"file_path": path, "line": 0, "content": "PWNED"})));
        calls.push(("bash", json!({"command": "echo PWNED > made-here; rm made-here", "working_dir": path})));
        for (tool, arguments) in calls {
            let result = runtime.block_on(bench.call(tool, arguments)).result;
            prop_assert!(!result.output.contains("T0K3N-secret"), "{} {}: {}", tool, path, result.output);
        }
        let out = bench.folder.path().join("out");
        prop_assert_eq!(&files::list_dir(&out).unwrap(), &before);
        prop_assert_eq!(files::read_to_string(&out.join("canary.txt")).unwrap(), "T0K3N-secret\n");
    });
}
